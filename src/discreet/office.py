"""Tables as an office prints them: read from a list, judged together, masked, written, checked."""

from discreet.decision.batch.judge import judge_batch
from discreet.decision.batch.judged import Batch
from discreet.decision.batch.masking import MaskedBatch, mask
from discreet.decision.together.together import Together, together
from discreet.decision.together.told import Told
from discreet.intruder.sums.audit import audit
from discreet.intruder.sums.intervals import intervals
from discreet.intruder.sums.protection import Protection
from discreet.masks.cellkey.files import read_ptable
from discreet.masks.cellkey.keys import record_keys, row_keys
from discreet.masks.cellkey.perturb import cell_key
from discreet.masks.cellkey.ptable import PTable, count_ptable
from discreet.masks.masked import Masked
from discreet.masks.perturb.drawing import perturb, perturb_release
from discreet.masks.perturb.perturbed import Perturbed
from discreet.masks.rounding.controlled import Rounding, controlled
from discreet.masks.rounding.simple import conventional, random_rounding
from discreet.masks.suppress.suppress import Suppression, suppress
from discreet.release.printed import Printed
from discreet.report.checked import Checked, check, values_from
from discreet.report.written.writing import write
from discreet.sheets.batch import read_batch
from discreet.sheets.columns import read_wide
from discreet.sheets.grouping import Grouping
from discreet.sheets.reading import formula_sheets, read_sheets
from discreet.sheets.released import read_released
from discreet.sheets.sheet import Sheet, Status
from discreet.sheets.system import System

__all__ = [
    "Batch", "Checked", "Grouping", "Masked", "MaskedBatch", "PTable", "Perturbed", "Printed",
    "Protection", "Rounding", "Sheet", "Status", "Suppression", "System", "Together", "Told",
    "audit", "cell_key", "check", "controlled", "conventional", "count_ptable",
    "formula_sheets", "intervals", "judge_batch", "mask", "perturb", "perturb_release",
    "random_rounding", "read_batch", "read_ptable", "read_released", "read_sheets",
    "read_wide", "record_keys", "row_keys", "suppress", "together", "values_from", "write",
]  # fmt: skip
