"""An empty database of each kind, and a PostgreSQL server that lives as long as the tests."""

import itertools

import psycopg
import pytest

from discreet.server.ledger.database import migrate, open_database

NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def spare_databases():
    """URLs of empty PostgreSQL databases, to be used again."""
    return []


@pytest.fixture
def new_postgres(request, spare_databases):
    """Makes URLs of empty PostgreSQL databases."""
    server, used = request.getfixturevalue("postgres"), []

    def make():
        if spare_databases:
            url = spare_databases.pop()
        else:
            name = f"ledger_{next(NUMBERS)}"
            with psycopg.connect(server, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}")
            url = f"{server.rpartition('/')[0]}/{name}"
        used.append(url)
        return url

    yield make
    for url in used:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
        spare_databases.append(url)


@pytest.fixture
def new_sqlite(tmp_path):
    return lambda: f"sqlite:///{tmp_path}/ledger-{next(NUMBERS)}.db"


@pytest.fixture(params=["sqlite", "postgres"])
def new_url(request):
    """Makes URLs of empty databases of one kind."""
    return request.getfixturevalue(f"new_{request.param}")


@pytest.fixture
def url(new_url):
    """Of a database that has the schema."""
    made = new_url()
    migrate(made)
    return made


@pytest.fixture
def database(url):
    opened = open_database(url)
    yield opened
    opened.close()
