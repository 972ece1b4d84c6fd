"""What every result has: a notebook shows it, and those with a page write it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from discreet.look.notebook import CONFIDENTIAL, MOST, Item, Rows, card
from discreet.look.pages import write_page


class Shown:
    """What a notebook shows by its verdict, its one line, and what is worth a look."""

    __slots__ = ()
    _unpublished: ClassVar[bool] = False  # is it made from what is not public?

    def _shown_line(self) -> str:
        return repr(self)

    def _shown_items(self) -> Iterable[Item]:
        """Sentences: the reasons, if it has a verdict."""
        reasons = getattr(self, "reasons", ())
        return [
            Item(f"{reason.rule}: {reason.text}", str(reason.verdict))
            for reason in (reasons if isinstance(reasons, tuple) else ())
            if hasattr(reason, "rule")
        ]

    def _shown_rows(self, most: int) -> Rows | None:
        """The first rows; none where the line says it all."""
        if not hasattr(self, "to_frame"):
            return None
        found = self.to_frame()
        return first_rows(found, len(found), most)

    def _repr_html_(self) -> str:
        verdict = getattr(self, "verdict", "")
        return card(
            self._shown_line(),
            verdict=str(verdict) if isinstance(verdict, str) else "",
            items=self._shown_items(),
            rows=self._shown_rows(MOST),
            note=CONFIDENTIAL if self._unpublished else "",
        )


class Unpublished(Shown):
    """Shown as confidential: made from what is not public."""

    __slots__ = ()
    _unpublished: ClassVar[bool] = True


class Result(Unpublished):
    """A result that is a frame of rows; its repr is one line."""

    def to_frame(self, kind: str = "pandas") -> Any:
        """The rows, as a frame of pandas or polars."""
        raise NotImplementedError


class Paged(Result):
    """A result with a page of its own."""

    def to_html(self, path: str | Path, **options: Any) -> None:
        """Write its page as one HTML file, whole or not at all; what is in it is confidential."""
        write_page(self, path, **options)


def first_rows(frame: Any, of: int, most: int) -> Rows:
    """The first rows of a pandas frame that stands for `of` rows."""
    head = frame.head(most)
    return Rows({str(name): head[name].tolist() for name in head.columns}, of)
