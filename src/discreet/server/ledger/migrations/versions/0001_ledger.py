"""Data sets, entries, publications and accounts; triggers that forbid to change the ledger."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

# table, name of the trigger, when it refuses
REFUSED = [
    ("entries", "entries_are_not_updated", "BEFORE UPDATE", ""),
    ("entries", "entries_are_not_deleted", "BEFORE DELETE", ""),
    (
        "publications",
        "publications_are_not_updated",
        "BEFORE UPDATE OF dataset_id, entry_number, margin, counts, table_hash",
        "",
    ),
    (
        "publications",
        "publications_are_withdrawn_once",
        "BEFORE UPDATE",
        "WHEN (OLD.withdrawn_at IS NOT NULL)",
    ),
    ("publications", "publications_are_not_deleted", "BEFORE DELETE", ""),
    ("datasets", "datasets_are_not_deleted", "BEFORE DELETE", ""),
]


def upgrade() -> None:
    _ledger()
    _accounts()
    if op.get_bind().dialect.name == "sqlite":
        for table, name, when, condition in REFUSED:
            op.execute(
                f"CREATE TRIGGER {name} {when} ON {table} FOR EACH ROW {condition} BEGIN "
                "SELECT RAISE(ABORT, 'the ledger is append-only'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$"
    )
    for table, name, when, condition in REFUSED:
        op.execute(
            f"CREATE TRIGGER {name} {when} ON {table} FOR EACH ROW {condition} "
            "EXECUTE FUNCTION refuse_change()"
        )
    for table in ("entries", "publications", "datasets"):
        op.execute(
            f"CREATE TRIGGER {table}_are_not_truncated BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )


def downgrade() -> None:
    raise NotImplementedError("a ledger is not taken apart; restore a backup instead.")


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=null)


def _whole(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), autoincrement=False, nullable=null)


def _id() -> sa.Column[int]:
    return sa.Column("id", sa.Integer(), autoincrement=True, nullable=False)


def _ledger() -> None:
    op.create_table(
        "datasets",
        _id(),
        _text("slug"),
        _text("title"),
        _text("opened_at"),
        _text("fingerprint"),
        _text("policy"),
        _whole("policy_version"),
        _text("frontier", null=True),
        _text("listed", null=True),
        _text("variables"),
        _whole("previous", null=True),
        _text("closed_at", null=True),
        _whole("head_number"),
        _text("head_hash"),
        sa.PrimaryKeyConstraint("id", name="pk_datasets"),
        sa.UniqueConstraint("slug", name="uq_datasets_slug"),
        sa.ForeignKeyConstraint(["previous"], ["datasets.id"], name="fk_datasets_previous"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "entries",
        _whole("dataset_id"),
        _whole("number"),
        _text("at"),
        _text("kind"),
        _text("actor"),
        _whole("about", null=True),
        _text("margin", null=True),
        _text("outcome", null=True),
        _text("why", null=True),
        _text("note", null=True),
        _whole("policy_version"),
        _text("state"),
        _text("terms", null=True),
        _text("table_hash", null=True),
        _text("previous"),
        _text("hash"),
        sa.PrimaryKeyConstraint("dataset_id", "number", name="pk_entries"),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name="fk_entries_dataset_id"),
    )
    op.create_table(
        "publications",
        _whole("dataset_id"),
        _whole("entry_number"),
        _text("margin"),
        sa.Column("counts", sa.LargeBinary(), nullable=False),
        _text("table_hash"),
        _text("withdrawn_at", null=True),
        _text("withdrawn_why", null=True),
        sa.PrimaryKeyConstraint("dataset_id", "entry_number", name="pk_publications"),
        sa.ForeignKeyConstraint(
            ["dataset_id", "entry_number"],
            ["entries.dataset_id", "entries.number"],
            name="fk_publications_dataset_id",
        ),
    )
    op.create_table(
        "uses",
        _whole("dataset_id"),
        _text("day"),
        _text("what"),
        _whole("n"),
        sa.PrimaryKeyConstraint("dataset_id", "day", "what", name="pk_uses"),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name="fk_uses_dataset_id"),
    )


def _accounts() -> None:
    op.create_table(
        "users",
        _id(),
        _text("name"),
        _text("role"),
        _text("password_hash", null=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        _text("created_at"),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("name", name="uq_users_name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "api_keys",
        _id(),
        _whole("user_id"),
        _text("name"),
        _text("key_hash"),
        _text("created_at"),
        _text("revoked_at", null=True),
        _text("last_used_at", null=True),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
        sa.UniqueConstraint("key_hash", name="uq_api_keys_key_hash"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_api_keys_user_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_api_keys_user_id", "api_keys", ["user_id"])
    op.create_table(
        "sessions",
        _text("id"),
        _whole("user_id"),
        _text("created_at"),
        _text("expires_at"),
        _text("csrf"),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_sessions_user_id"),
    )
    op.create_index("ix_sessions_user_id", "sessions", ["user_id"])
