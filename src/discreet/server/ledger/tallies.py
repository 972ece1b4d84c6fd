"""Rows that count: added to, or made."""

from __future__ import annotations

from typing import Any

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from discreet.server.ledger.schema import Base


def add(session: Session, model: type[Base], column: str, more: float, **key: Any) -> None:
    """`more` in a row's column. Within `Database.write`."""
    _upsert(session, model, column, more, key, lambda old, new: old + new)


def keep(session: Session, model: type[Base], column: str, value: float, **key: Any) -> None:
    """The row's column is this from now on. Within `Database.write`."""
    _upsert(session, model, column, value, key, lambda old, new: new)


def _upsert(
    session: Session, model: type[Base], column: str, value: float, key: dict[str, Any], then: Any
) -> None:
    dialect = sqlite if session.get_bind().dialect.name == "sqlite" else postgresql
    insert = dialect.insert(model).values({**key, column: value})
    new = then(getattr(model, column), insert.excluded[column])
    session.execute(insert.on_conflict_do_update(index_elements=list(key), set_={column: new}))
