"""What every result has: a notebook shows it, and those with a page write it."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from discreet.look.pages import write_page
from discreet.look.words import printable

MOST = 20  # rows that a notebook shows


class Result:
    """A result that is a frame of rows; its repr is one line."""

    def to_frame(self, kind: str = "pandas") -> Any:
        """The rows, as a frame of pandas or polars."""
        raise NotImplementedError

    def _first(self, most: int) -> Any:
        """The first rows, as a pandas frame."""
        return self.to_frame().head(most)

    def _repr_html_(self) -> str:
        shown = self._first(MOST).to_html(index=False)
        return f"<p>{escape(printable(repr(self)))}</p>{shown}"


class Paged(Result):
    """A result with a page of its own."""

    def to_html(self, path: str | Path, **options: Any) -> None:
        """Write its page as one HTML file, whole or not at all; what is in it is confidential."""
        write_page(self, path, **options)
