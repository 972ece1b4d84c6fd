"""Answers by a cluster of two are those of one machine, also if a worker dies."""

import os
import signal
import warnings

import numpy as np
import pandas as pd
import pytest

from discreet.decision.compare import compare as comparing
from discreet.decision.compare.compare import compare
from discreet.decision.frontier import small_sums
from discreet.decision.frontier.decomposable import decomposable_frontier
from discreet.decision.frontier.widths import widths
from discreet.intruder.linkage import blocking
from discreet.intruder.linkage.links import link
from discreet.intruder.linkage.model import Intruder
from discreet.intruder.linkage.records import read_records
from discreet.intruder.posterior.chains.chains import chain_posterior
from discreet.models.latent import LatentClasses
from discreet.release.release import Release
from discreet.risk.linkage.calibration import calibration
from discreet.spreading import spread, workers
from discreet.table.load import load

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    how = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with (
        distributed.LocalCluster(**how) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def czech():
    return load("example:czech")


def same(client, answer):
    """The answer of everybody."""
    here = answer()
    with workers(1):
        assert answer() == here
    with workers(client):
        assert answer() == here
    return here


def test_the_decomposable_search(client, czech):
    found = same(client, lambda: decomposable_frontier(czech, beta=3, restarts=3, seed=1).restarts)
    assert len(found) == 3


def test_chains(client, czech):
    release = Release.margins(czech, "A*B*C + B*D*E + C*D*F + A*E")

    def believed():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = chain_posterior(release, czech.small(), effort=0.02, seed=3)
        return found.mass.tolist(), found.effective.tolist()

    mass, _ = same(client, believed)
    assert len(mass) > 3


def test_widths(client, monkeypatch):
    monkeypatch.setattr(small_sums, "FAR", 1 << 12)
    rng = np.random.default_rng(0)
    records = pd.DataFrame({f"v{i}": rng.geometric(0.6, 900).clip(max=4) for i in range(6)})
    table = load(records, records=True)
    for maps in (1 << 40, 0):
        monkeypatch.setattr(small_sums, "WORTH_MAPS", maps)
        assert len(same(client, lambda: widths(table).width.tolist())) == 63


def drawn_files():
    rng = np.random.default_rng(1)
    people = pd.DataFrame({"id": range(400), "age": rng.normal(50, 15, 400).round(1)})
    masked = people.assign(age=(people.age + rng.normal(0, 1, 400)).round(1)).sample(
        300, random_state=1
    )
    intruder = Intruder.of({"keys": {"age": {"kind": "normal", "spread": 1}}})
    return read_records(people, masked, intruder, id="id"), intruder


def test_links_and_simulated_files(client, monkeypatch):
    monkeypatch.setattr(blocking, "PIECE", 1 << 9)
    records, intruder = drawn_files()
    same(client, lambda: link(records, intruder, dense=0).perceived.tolist())
    chance = same(client, lambda: calibration(records, intruder, files=3).chance.tolist())
    assert len(chance) == 3


def test_starts_of_a_model(client, czech):
    rng = 5
    same(
        client,
        lambda: LatentClasses.fit(
            czech, 2, rng=np.random.default_rng(rng), starts=3, trial=10
        ).responses.tolist(),
    )


def test_compare_with_a_worker_killed_in_the_middle(client, monkeypatch):
    masks = [{"name": f"to {base}", "method": "round", "base": base} for base in (3, 5, 7, 9)]
    plan = {"of": "table", "seed": 1, "masks": masks}

    def found():
        return compare("example:tract", plan).to_frame().to_dict()

    here, kept, killed = found(), comparing._Drawer.put, []

    def put(*given):
        """A result has come, and others are under way."""
        if not killed:
            killed.append(min(client.run(os.getpid).values()))
            os.kill(killed[0], signal.SIGKILL)
        return kept(*given)

    monkeypatch.setattr(comparing._Drawer, "put", put)
    with workers(client):
        assert found() == here
    assert killed


def test_what_is_nested_stays_where_it_is(client):
    with workers(client):
        assert list(spread(_nested, range(3))) == [[0], [0, 1], [0, 1, 4]]


def _nested(number):
    return list(spread(_square, range(number + 1), threads=True))


def _square(number):
    return number * number
