"""What the data mean: its text with each data set, its hash with each entry."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    for table in ("datasets", "entries"):
        op.add_column(table, sa.Column("meaning", sa.Text(), nullable=True))


def downgrade() -> None:
    raise NotImplementedError("a ledger is not taken apart; restore a backup instead.")
