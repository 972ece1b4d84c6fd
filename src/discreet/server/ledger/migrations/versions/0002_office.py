"""Marks, the trail of who did what with accounts, second factors, other logins, descriptions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

GUARDED = ("update", "delete")


def upgrade() -> None:
    op.add_column("datasets", sa.Column("about", sa.Text(), nullable=True))
    for name in ("email", "second_factor", "issuer", "subject"):
        op.add_column("users", sa.Column(name, sa.Text(), nullable=True))
    op.add_column("users", sa.Column("last_step", sa.Integer(), nullable=True))
    op.create_index("ix_users_subject", "users", ["issuer", "subject"], unique=True)
    op.create_table(
        "marks",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_marks"),
    )
    op.create_table(
        "trail",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("at", "kind", "actor")),
        *(sa.Column(name, sa.Text(), nullable=True) for name in ("about", "address", "note")),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("previous", "hash")),
        sa.PrimaryKeyConstraint("number", name="pk_trail"),
    )
    sqlite = op.get_bind().dialect.name == "sqlite"
    for verb in GUARDED:
        name, when = f"trail_is_not_{verb.rstrip('e')}ed", f"BEFORE {verb.upper()}"
        refuse = (
            "BEGIN SELECT RAISE(ABORT, 'the trail is append-only'); END"
            if sqlite
            else "EXECUTE FUNCTION refuse_change()"
        )
        op.execute(f"CREATE TRIGGER {name} {when} ON trail FOR EACH ROW {refuse}")
    if not sqlite:
        op.execute(
            "CREATE TRIGGER trail_is_not_truncated BEFORE TRUNCATE ON trail "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )


def downgrade() -> None:
    raise NotImplementedError("a ledger is not taken apart; restore a backup instead.")
