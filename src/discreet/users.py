"""Those who use a release, what they want to know, and which mask serves them best.

Dobra, Fienberg & Trottini 2003, section 3.
"""

from discreet.decision.users.candidates import candidates, nothing_released
from discreet.decision.users.choose import Choice, choose
from discreet.decision.users.functions import odds_target, share_target
from discreet.decision.users.measured import Measured, data_utility, disclosure_risk
from discreet.decision.users.measures import identified, tightness, true_table
from discreet.decision.users.outlook import Outlook
from discreet.decision.users.targets import (
    Target,
    cell_targets,
    function_target,
    margin_target,
    table_target,
)
from discreet.decision.users.threshold import Threshold
from discreet.decision.users.users import User, own_loss
from discreet.decision.users.usersfile import Users
from discreet.intruder.posterior.whole_table import Model, TableBelief
from discreet.utility.requests import Requests, share_frame

__all__ = [
    "Choice", "Measured", "Model", "Outlook", "Requests", "TableBelief", "Target", "Threshold",
    "User", "Users", "candidates", "cell_targets", "choose", "data_utility", "disclosure_risk",
    "function_target", "identified", "margin_target", "nothing_released", "odds_target",
    "own_loss", "share_frame", "share_target", "table_target", "tightness", "true_table",
]  # fmt: skip
