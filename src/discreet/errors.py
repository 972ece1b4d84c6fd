"""What can go wrong, said so that it can be repaired."""


class DisclosureError(Exception):
    """Wrong input: one sentence that names the value and the repair."""


class DataError(DisclosureError):
    """Records or cells that cannot be read as they are."""


class CodebookError(DisclosureError):
    """A codebook, hierarchy or category that does not fit the data."""


class FormulaError(DisclosureError):
    """A release formula that cannot be read."""


class InconsistentRelease(DisclosureError):
    """Published values that no table has."""


class PolicyError(DisclosureError):
    """A policy file with a wrong key, value or an attempt on a locked key."""


class SolverError(DisclosureError):
    """A program that could not be solved within its limits."""


class LedgerError(DisclosureError):
    """A ledger that cannot be opened, is not empty where it must be, or was tampered with."""


class OutputError(DisclosureError):
    """A file that cannot be written."""


class ConvergenceWarning(UserWarning):
    """Draws that are not yet what they should be."""
