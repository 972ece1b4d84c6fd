"""Marks, the trail of accounts, second factors, other logins, notices, descriptions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

GUARDED = ("update", "delete")


def upgrade() -> None:
    op.add_column("datasets", sa.Column("about", sa.Text(), nullable=True))
    for name in ("email", "second_factor", "issuer", "subject", "codes_from", "vouched_at"):
        op.add_column("users", sa.Column(name, sa.Text(), nullable=True))
    for name in ("last_step", "wrong_codes"):
        op.add_column("users", sa.Column(name, sa.Integer(), nullable=True))
    for name in ("passed_at", "offer"):
        op.add_column("sessions", sa.Column(name, sa.Text(), nullable=True))
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
    op.create_table(
        "tokens",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("value", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_tokens_user_id"),
    )
    op.create_index("ix_tokens_user_id", "tokens", ["user_id"])
    op.create_table(
        "notices",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("recipient", sa.Text(), nullable=True),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_notices"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "rates",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("client", "what")),
        sa.Column("slot", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("client", "what", "slot", "worker", name="pk_rates"),
    )
    op.create_table(
        "meters",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("worker", "name", "labels")),
        sa.Column("value", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("worker", "name", "labels", name="pk_meters"),
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
