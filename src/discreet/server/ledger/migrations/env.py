"""How alembic runs the migrations: on the connection that `migrate` hands over."""

from __future__ import annotations

from alembic import context

from discreet.server.ledger.schema import Base


def run() -> None:
    connection = context.config.attributes["connection"]
    # one transaction for all, of SQLite too: the schema is read behind the lock, not before it
    context.configure(connection=connection, target_metadata=Base.metadata, transactional_ddl=True)
    with context.begin_transaction():
        context.run_migrations()


if __name__ == "env_py":  # the name under which alembic loads this file
    run()
