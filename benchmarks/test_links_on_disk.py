"""Links of files whose candidate pairs do not fit in memory, and beside splink.

A district that is released as it is, with a thousand people, a number with noise and a category of
which 5% change: a hundred people of the district are near enough to be each released record.
"""

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from discreet.intruder.linkage.model import Intruder
from discreet.intruder.linkage.records import read_records
from discreet.risk.linkage.identification import identify

DISTRICT, LABELS, KEEP, SPREAD = 1_000, 4, 0.95, 0.0145
SIZES = [100_000, 300_000, 1_000_000]
MEMORY, LIMIT = "2 GiB", 4 << 10  # for the program; MiB that its process takes at most
BYTES = 80  # for a pair, in memory or on disk


def files(records, district=DISTRICT, seed=1):
    """A source and its masked copy in another order."""
    rng = np.random.default_rng(seed)
    home, kind = np.arange(records) // district, rng.integers(0, LABELS, records)
    value, order = rng.random(records), rng.permutation(records)
    moved = rng.random(records) >= KEEP
    seen = (kind[order] + moved * rng.integers(1, LABELS, records)) % LABELS
    noisy = value[order] + SPREAD * rng.normal(size=records)
    source = pd.DataFrame({"id": np.arange(records), "home": home, "kind": kind, "value": value})
    masked = pd.DataFrame({"id": order, "home": home[order], "kind": seen, "value": noisy})
    return source, masked


def intruder():
    keys = {
        "home": {"kind": "exact"},
        "kind": {"kind": "category", "keep": KEEP},
        "value": {"kind": "normal", "spread": SPREAD},
    }
    return Intruder.of({"keys": keys})


def linked(records):
    """Seconds, processor seconds and what was found, in this process."""
    person = intruder()
    tables = files(records)
    start, used = time.perf_counter(), time.process_time()
    found = identify(read_records(*tables, person, id="id"), person)
    p, right = found.links.perceived, found.correct
    seconds, used = time.perf_counter() - start, time.process_time() - used
    middle = (p >= 0.5) & (p < 0.9)
    many = max(1, int(middle.sum()))
    told = hashlib.sha256()
    for part in (found.links.chances, found.links.places, p, found.links.null):
        told.update(np.ascontiguousarray(part).data)
    peak = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
    return {
        "seconds": seconds, "used": used, "pairs": len(found.links.places),
        "peak": int(peak) / 1024, "answer": told.hexdigest(),
        "said": float(p[middle].sum() / many), "right": float(right[middle].sum() / many),
        "middle": int(middle.sum()), "links": repr(found),
    }  # fmt: skip


def in_a_process(records, memory):
    """The same in a process of its own that may take so much memory."""
    done = subprocess.run(
        [sys.executable, __file__, str(records)],
        env=os.environ | {"DISCREET_MEMORY": memory},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def shown(records, found):
    gib = found["pairs"] * BYTES / 2**30
    print(
        f"\n{records:,} by {records:,}: {found['pairs']:,} pairs ({gib:.1f} GiB), "
        f"{found['seconds']:.0f} s, {found['used']:.0f} s of processors, {found['peak']:,.0f} MiB; "
        f"said .5 to .9: {found['said']:.3f}, right {found['right']:.3f} of {found['middle']:,}; "
        f"{found['links']}",
        end="",
    )


def test_on_disk_as_in_memory():
    """Easy: 10 million pairs, which fit; with room for a fiftieth of them they lie on disk."""
    records = SIZES[0]
    there, here = in_a_process(records, "32 MiB"), in_a_process(records, "8 GiB")
    for found in (there, here):
        shown(records, found)
    assert there["answer"] == here["answer"]
    assert there["peak"] < here["peak"] / 1.5


@pytest.mark.large
def test_a_million_by_a_million(claim):
    """Hard: 100 million pairs of 80 bytes, four times what the program may take; every record is
    entangled with all of its district, so that no pair can be weighed by itself.
    """
    growth = []
    for records in SIZES:
        found = in_a_process(records, MEMORY)
        shown(records, found)
        growth.append((records, found["seconds"]))
        error = 2 / np.sqrt(found["middle"])
        assert abs(found["said"] - found["right"]) < error + 0.01
        assert found["peak"] < LIMIT
    assert found["pairs"] * BYTES > 3.5 * 2**30
    claim(
        "links", "Links of a million by a million records, pairs on disk", ours=found["seconds"],
        size=f"{found['pairs']:,} pairs, {MEMORY} allowed", memory=found["peak"], growth=growth,
        why="No rival sums over all ways to give records to people; splink's pairs are apart.",
    )  # fmt: skip


def splink_links(source, masked, district, threads):
    """Best matches by splink on DuckDB: the same blocks, kind by equality, value by levels of its
    noise; u by random pairs and m by EM, as its manual trains them.
    """
    import duckdb
    import splink.comparison_level_library as levels
    import splink.comparison_library as comparisons
    from splink import Linker, SettingsCreator
    from splink.blocking_rule_library import block_on
    from splink.internals.duckdb.database_api import DuckDBAPI

    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    api = DuckDBAPI(connection)
    own = source.rename(columns={"id": "unique_id"})
    other = masked.drop(columns="id").assign(unique_id=np.arange(len(masked)))
    near = [levels.AbsoluteDifferenceLevel("value", k * SPREAD) for k in (0.25, 0.5, 1, 1.5, 2, 3)]
    value = comparisons.CustomComparison(
        [levels.NullLevel("value"), *near, levels.ElseLevel()], output_column_name="value"
    )
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=[comparisons.ExactMatch("kind"), value],
        blocking_rules_to_generate_predictions=[block_on("home")],
        probability_two_random_records_match=1 / district,  # of pairs within a block
        retain_matching_columns=False,
    )
    linker = Linker([api.register(own), api.register(other)], settings, log_level=None)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    linker.training.estimate_parameters_using_expectation_maximisation(
        block_on("home"), fix_probability_two_random_records_match=True
    )
    found = linker.inference.predict(threshold_match_probability=0.01).as_pandas_dataframe()
    best = found.sort_values("match_probability").groupby("unique_id_l").tail(1)
    return best["unique_id_l"].to_numpy(), best["unique_id_r"].to_numpy(), best["match_probability"]


@pytest.mark.parametrize("district", [100, 1_000])
def test_beside_splink(claim, district):
    """Both on the pairs within districts. Easy for splink, which weighs each pair by itself: levels
    of agreement in one SQL query. Hard for us, the more so the larger a district is: whoever is
    given one record cannot have another, and that is what makes a probability right.
    """
    pytest.importorskip("splink")
    records = 20_000
    source, masked = files(records, district)
    person, parents = intruder(), masked["id"].to_numpy()
    identify(read_records(*files(2_000, district), person, id="id"), person)  # compiles
    start, used = time.perf_counter(), time.process_time()
    found = identify(read_records(source, masked, person, id="id"), person)
    ours, p, right = found.links, found.links.perceived, found.correct
    seconds, used = time.perf_counter() - start, time.process_time() - used
    start, theirs_used = time.perf_counter(), time.process_time()
    left, there, chance = splink_links(source, masked, district, os.cpu_count())
    theirs, theirs_used = time.perf_counter() - start, time.process_time() - theirs_used
    hit = parents[there] == left
    pairs = records * district
    said = {}
    for name, stated, held in (("discreet", p, right), ("splink", chance.to_numpy(), hit)):
        middle = (stated >= 0.5) & (stated < 0.9)
        many = max(1, int(middle.sum()))  # in large districts nobody is sure of anybody
        said[name] = (stated[middle].sum() / many, held[middle].sum() / many, int(middle.sum()))
        print(
            f"\n{name}: best links right {held.sum():,.0f}; said .5 to .9: "
            f"{said[name][0]:.3f}, right {said[name][1]:.3f} of {said[name][2]:,}",
            end="",
        )
    print(
        f"\nprocessor seconds {used:.1f} and {theirs_used:.1f}, by pair within a district "
        f"{used / pairs * 1e9:.0f} and {theirs_used / pairs * 1e9:.0f} ns; "
        f"{len(ours.places):,} pairs kept",
        end="",
    )
    for stated, held, many in (said["discreet"],):
        assert abs(stated - held) < 2 / np.sqrt(max(many, 1)) + 0.01
    assert right.sum() >= hit.sum() * 0.98
    claim(
        "links", f"Links of 20,000 by 20,000 records in districts of {district:,}", ours=seconds,
        rival="splink 5 on DuckDB", theirs=theirs, size=f"{pairs:,} pairs in districts",
        why=f"splink weighs each pair by itself in one SQL query; we weigh all ways to give "
        f"records to people: where it says {said['splink'][0]:.2f}, {said['splink'][1]:.2f} are "
        f"right, where we say {said['discreet'][0]:.2f}, {said['discreet'][1]:.2f}.",
    )  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(linked(int(sys.argv[1]))))
