"""Backups of a server at work, restored into the other kind of database: nothing told is lost."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import combinations, permutations

import httpx
import pytest

from discreet.server.ledger import store
from discreet.server.ledger.backup import backup, restore
from discreet.server.ledger.chain import verify_all
from discreet.server.ledger.database import open_database
from server.deployed import serving

NAMES = "ABCDEF"
WORDS = ("example:czech", "--http", *(
    word
    for change in ("server.rule=myopic", "server.slot=0", "bounds.proof=outer",
                   "attribute.check=false", "server.approval=never")
    for word in ("--set", change)
))  # fmt: skip
MARGINS = [list(margin) for n in (2, 3, 4, 5) for margin in combinations(NAMES, n)][::2]
LATER = [list(margin) for n in (3, 4) for margin in combinations(NAMES, n)][1::5]
SECRET = "carried from one place to the other"
KINDS = list(permutations(("sqlite", "postgres")))


def ask(address, margin):
    """What is told, and when."""
    with httpx.Client(trust_env=False, timeout=60) as http:
        answer = http.post(f"{address}/api/v1/datasets/czech/requests", json={"variables": margin})
    assert answer.status_code == 200, answer.text
    return answer.json(), time.monotonic()


def looks(address):
    """The status of tables, and the counts of those that are out."""
    with httpx.Client(trust_env=False, timeout=60, base_url=f"{address}/api/v1") as http:
        found = {}
        for n in (1, 2, 3):
            for margin in combinations(NAMES, n):
                status = http.get("/datasets/czech/status", params={"variables": ",".join(margin)})
                said = status.json()
                table = None
                if said["status"] == "released":
                    shown = http.get(f"/datasets/czech/tables/{'*'.join(margin)}").json()
                    table = shown["values"], shown["source"]["entry"]
                found[margin] = said["status"], said["why"], table
    return found


@pytest.mark.parametrize(("kind", "other"), KINDS, ids=lambda kind: kind)
def test_what_was_told_is_in_the_backup_and_is_decided_on_alike(kind, other, tmp_path, request):
    here, there = (request.getfixturevalue(f"new_{name}")() for name in (kind, other))
    many = {"secret": SECRET, "requests_per_minute": 10**6, "decisions_per_minute": 10**6}
    begun = {}
    with serving(tmp_path, *WORDS, database=here, **many) as server:
        with closing(open_database(here)) as database, ThreadPoolExecutor(4) as threads:
            asked = [threads.submit(ask, server.address, margin) for margin in MARGINS]
            while not all(future.done() for future in asked):
                file = tmp_path / f"during-{len(begun)}"
                begun[file] = time.monotonic()
                backup(database, file)
                time.sleep(0.2)
            told = [future.result() for future in asked]
            backup(database, tmp_path / "after")
        before = looks(server.address)
        later = [ask(server.address, margin)[0] for margin in LATER]
        assert server.stop()
    assert {said["outcome"] for said, _ in told} == {"granted", "refused"}
    for file in list(begun)[:: max(1, len(begun) // 4)]:
        check_told(file, [said for said, at in told if at < begun[file]], tmp_path)
    restore(tmp_path / "after", there)
    with serving(tmp_path, *WORDS, database=there, **many) as server:
        assert looks(server.address) == before
        assert [ask(server.address, margin)[0] for margin in LATER] == later
    with closing(open_database(there)) as database, database.read() as session:
        assert all(one.holds for one in verify_all(session))


def check_told(file, told, folder):
    """Everything that was told before the backup began is in it."""
    url = f"sqlite:///{folder}/{file.name}.db"
    restore(file, url)
    with closing(open_database(url)) as database, database.read() as session:
        (dataset,) = store.datasets(session)
        kept = {entry.number: entry for entry in store.entries(session, dataset)}
    for said in told:
        entry = kept[said["entry"]]
        assert (entry.outcome, entry.why) == (said["outcome"], said["why"])
