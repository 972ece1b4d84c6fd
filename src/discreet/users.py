"""Those who use a release, what they want to know, and which mask serves them best.

Dobra, Fienberg & Trottini 2003, section 3.
"""

from discreet.decision.users.choose import Choice, choose
from discreet.decision.users.targets import (
    Target,
    cell_targets,
    function_target,
    table_target,
)
from discreet.decision.users.users import (
    Measured,
    Outlook,
    Threshold,
    User,
    data_utility,
    disclosure_risk,
    identified,
    own_loss,
    tightness,
    true_table,
)
from discreet.intruder.posterior.whole_table import Model, TableBelief
from discreet.utility.requests import Requests, share_frame

__all__ = [
    "Choice", "Measured", "Model", "Outlook", "Requests", "TableBelief", "Target", "Threshold",
    "User", "cell_targets", "choose", "data_utility", "disclosure_risk", "function_target",
    "identified", "own_loss", "share_frame", "table_target", "tightness", "true_table",
]  # fmt: skip
