"""What masked data are worth: margins, models, estimates, moments, a scientist's own target."""

from discreet.utility.close import ModelsClose, models_close
from discreet.utility.coarse import fine_of
from discreet.utility.distances import ByOrder, by_order
from discreet.utility.kept import KeptMargins, margins_kept
from discreet.utility.moments import Moments, moments
from discreet.utility.overlap import Overlap, estimates, interval_overlap
from discreet.utility.propensity import Propensity, pmse
from discreet.utility.regression import linear, logistic, mean, proportion
from discreet.utility.summary import Worth, worth
from discreet.utility.target import TargetLoss, target_loss

__all__ = [
    "ByOrder", "KeptMargins", "ModelsClose", "Moments", "Overlap", "Propensity", "TargetLoss",
    "Worth", "by_order", "estimates", "fine_of", "interval_overlap", "linear", "logistic",
    "margins_kept", "mean", "models_close", "moments", "pmse", "proportion", "target_loss",
    "worth",
]  # fmt: skip
