"""Backups of a server at work, restored into the other kind of database: nothing told is lost."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import combinations, permutations

import pytest
from pydantic import SecretStr

from discreet.server.launch import DataSpec, build_services, prepare
from discreet.server.ledger import store
from discreet.server.ledger.backup import backup, restore
from discreet.server.ledger.chain import verify_all
from discreet.server.ledger.database import open_database
from discreet.server.settings import Settings

NAMES = "ABCDEF"
SPEC = DataSpec(
    "czech",
    "example:czech",
    set=(
        "server.rule=myopic",
        "bounds.proof=outer",
        "attribute.check=false",
        "server.approval=never",
        "small.width=60",
    ),
)
MARGINS = [list(margin) for n in (2, 3, 4, 5) for margin in combinations(NAMES, n)][::2]
LATER = [list(margin) for n in (3, 4) for margin in combinations(NAMES, n)][1::5]
SECRET = "carried from one place to the other"
KINDS = list(permutations(("sqlite", "postgres")))


@contextmanager
def started(url):
    """What `discreet serve` starts, before it listens."""
    site = build_services(prepare(Settings(database=url, secret=SecretStr(SECRET))), [SPEC])
    with closing(site.database):
        yield site


def ask(site, margin):
    """What is told, and when."""
    return site.counter.request("czech", margin), time.monotonic()


def looks(site):
    """How every table stands, and the counts of those that are out."""
    found = {}
    for n in range(1, len(NAMES) + 1):
        for margin in combinations(NAMES, n):
            standing = site.counter.standing("czech", margin)
            table = None
            if standing.status == "released":
                table = site.catalogue.published("czech", margin).counts.tolist()
            found[margin] = standing.status, standing.why, table
    return found


@pytest.mark.parametrize(("kind", "other"), KINDS, ids=lambda kind: kind)
def test_what_was_told_is_in_the_backup_and_is_decided_on_alike(kind, other, tmp_path, request):
    here, there = (request.getfixturevalue(f"new_{name}")() for name in (kind, other))
    begun = {}
    with started(here) as site:
        with closing(open_database(here)) as database, ThreadPoolExecutor(4) as threads:
            asked = [threads.submit(ask, site, margin) for margin in MARGINS]
            while not all(future.done() for future in asked):
                file = tmp_path / f"during-{len(begun)}"
                begun[file] = time.monotonic()
                backup(database, file)
            told = [future.result() for future in asked]
            backup(database, tmp_path / "after")
        before = looks(site)
        later = [ask(site, margin)[0] for margin in LATER]
    assert {decided.outcome for decided, _ in told} == {"granted", "refused"}
    for file in list(begun)[:: max(1, len(begun) // 4)]:
        check_told(file, [decided for decided, at in told if at < begun[file]], tmp_path)
    restore(tmp_path / "after", there)
    with started(there) as site:
        assert looks(site) == before
        assert [ask(site, margin)[0] for margin in LATER] == later
        with site.database.read() as session:
            assert all(one.holds for one in verify_all(session))


def check_told(file, told, folder):
    """Everything that was told before the backup began is in it."""
    url = f"sqlite:///{folder}/{file.name}.db"
    restore(file, url)
    with closing(open_database(url)) as database, database.read() as session:
        (dataset,) = store.datasets(session)
        kept = {entry.number: entry for entry in store.entries(session, dataset)}
    for decided in told:
        entry = kept[decided.number]
        assert (entry.outcome, entry.why) == (decided.outcome, decided.why)
