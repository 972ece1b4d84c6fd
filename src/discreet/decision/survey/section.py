"""The section of a policy on cells of a survey."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.data.settings import key


@dataclass(frozen=True)
class Publish:
    """Cells of a survey: what publishing and suppressing cost, and where publishing ends."""

    disclosure_loss: str = key("uniques:10", "what publishing may cost, as --disclosure-loss")
    nonpublication_loss: str = key("records", "what not publishing costs, as --nonpublication-loss")
    rule: str = key(
        "bayes",
        "bayes: expected losses; plug-in: losses at an estimate of the population count",
        choices=("bayes", "plug-in"),
    )
    estimator: str = key(
        "combined",
        "plug-in: weighted (by the sample), synthetic (share of all domains), combined (E Y)",
        choices=("weighted", "synthetic", "combined"),
    )
    floor: float = key(
        -1.0, "plug-in: publish where the estimate is above this; below 0 switches it off", least=-1
    )
    cut: str = key(
        "ratio", "which of the next three ends publishing", choices=("ratio", "share", "risk")
    )
    ratio: float = key(1.0, "publish where R1 < this times R0")
    share: float = key(1.0, "publish at least this share of the data", most=1)
    risk: float = key(1.0, "take at most this share of the risk of publishing everything", most=1)
    edge: str = key(
        "whole",
        "to meet a share or a risk: whole configurations, the best set of whole cells, or one cell "
        "at random",
        choices=("whole", "best", "random"),
    )
    combine: bool = key(False, "are suppressed cells joined with rows next to them?")
    totals: str = key(
        "", "totals of the class that are published besides: all, or columns; empty: none may be"
    )
    known: bool = key(
        True, "are losses, prior and cut known, so that suppression itself tells something?"
    )
    secondary: bool = key(True, "are more cells suppressed where totals give one back?")
    width: int = key(
        1, "a suppressed count stays open by at least this, if totals are out", least=1
    )

    @property
    def limit(self) -> str:
        """The key that ends publishing."""
        return "floor" if self.rule == "plug-in" and self.floor >= 0 else self.cut

    def replaced_by(self, other: Publish) -> str | None:
        """What takes the place of the limit, or of the expected losses that it is a limit of."""
        if other.limit != self.limit:
            return f"a {other.limit}"
        return "the plug-in rule" if other.rule != self.rule == "bayes" else None
