"""A million records of 53 variables: widths up to order 3, a greedy and a decomposable frontier.

Hard because nothing dense fits, nearly every record is a small cell of its own, and nearly 20,000
margins and 200,000 sets of four with all their faces released bear on each of them; easy in that
margins of three variables have at most 512 counts. There is no rival at this size: the shuttle
needs 10^38 sums. The job runs in a process of its own, compiling included, so that its memory is
measured. `DISCREET_RECORDS` sets another size.

The second test draws what each part costs by records and by variables, in benchmarks/out.
"""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

RECORDS = int(os.environ.get("DISCREET_RECORDS", 1_000_000))
VARIABLES = 53
BETA = 3
MOST_SECONDS, MOST_MIB = 600, 8 * 1024
SEARCH = 120.0
HERE = Path(__file__).parent
OUT = HERE / "out"
PARTS = {
    "count": "counting the records",
    "widths": "critical widths up to order 3",
    "greedy": "greedy frontier",
    "decomposable": "decomposable frontier of pairs",
}


def job(path, search, max_order):
    """Every part by itself, with its seconds and what it found."""
    from discreet.decision.frontier.decomposable import decomposable_frontier
    from discreet.decision.frontier.list_start import list_start
    from discreet.decision.frontier.widths import widths
    from discreet.table.microdata import Microdata

    seconds, begun = {}, time.perf_counter()

    def lap(part):
        nonlocal begun
        now = time.perf_counter()
        seconds[part], begun = now - begun, now

    table = Microdata.read(path).table()
    lap("count")
    known = widths(table, max_order=3, beta=BETA)
    keep = {s for s, w in zip(known.sets, known.width, strict=True) if w >= BETA}
    ordered = [s for s in known.ordered() if s in keep]
    lap("widths")
    cells = table.small()
    start = list_start(table, ordered, cells, BETA)
    lap("greedy")
    found = decomposable_frontier(table, beta=BETA, restarts=2, seconds=search, max_order=max_order)
    lap("decomposable")
    return {
        "cells": len(table),
        "small": len(cells),
        "computed": len(known),
        "by_order": {
            str(d): [int((known.width[known.order == d] >= BETA).sum()), spread.margins]
            for d, spread in known.by_order().items()
        },
        "wide": len(ordered),
        "listed": start.listed,
        "greedy_width": start.width,
        "decomposable": found.released,
        "decomposable_by_order": found.by_order,
        "decomposable_width": found.min_width,
        "steps": sum(run.steps for run in found.restarts),
        "finished": found.finished,
        "seconds": seconds,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def measured(folder, records, variables, search, max_order=None):
    """The job in a process of its own."""
    path = folder / f"latent-{records}-{variables}.parquet"
    size = ["--records", str(records), "--variables", str(variables)]
    subprocess.run(
        [sys.executable, HERE / "latent.py", path, *size, "--seed", "0"],
        check=True, capture_output=True,
    )  # fmt: skip
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, __file__, path, json.dumps([search, max_order])],
        check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    path.unlink()
    return json.loads(done.stdout) | {"wall": time.perf_counter() - start}


@pytest.mark.large
def test_a_million_records(tmp_path, claim):
    found = measured(tmp_path, RECORDS, VARIABLES, SEARCH)
    seconds = found["seconds"]
    wide = ", ".join(f"{n:,} of {m:,} of order {d}" for d, (n, m) in found["by_order"].items())
    orders = ", ".join(f"{n:,} of order {d}" for d, n in found["decomposable_by_order"].items())
    print(
        f"\n{RECORDS:,} records, {VARIABLES} variables, {found['small']:,} small of "
        f"{found['cells']:,} cells, counted in {seconds['count']:.1f} s"
        f"\n{found['computed']:,} critical widths in {seconds['widths']:.1f} s; at least {BETA}: "
        f"{wide}"
        f"\ngreedy: {found['listed']:,} of {found['wide']:,} listed margins, narrowest width "
        f"{found['greedy_width']} by outer bounds, in {seconds['greedy']:.1f} s"
        f"\ndecomposable: {found['decomposable']:,} margins ({orders}), narrowest width "
        f"{found['decomposable_width']}, {found['steps']:,} steps in "
        f"{seconds['decomposable']:.1f} s"
        f"\nin all {found['wall']:.0f} s (under {MOST_SECONDS}), peak memory "
        f"{found['peak']:,.0f} MiB (under {MOST_MIB:,})"
    )
    claim(
        "frontiers", "Widths to order 3, greedy and decomposable frontier of 53 variables",
        ours=found["wall"], size=f"{RECORDS:,} records", memory=found["peak"],
        why="No rival holds the data: the shuttle would need 10^38 sums. Compiling included.",
    )  # fmt: skip
    assert found["wall"] < MOST_SECONDS
    assert found["peak"] < MOST_MIB
    assert found["greedy_width"] >= BETA
    assert found["decomposable_width"] >= BETA
    assert 0 < found["listed"] <= found["wide"] < found["computed"]


@pytest.mark.large
def test_what_it_costs_by_records_and_variables(tmp_path, claim):
    """Of the decomposable searches only that for pairs ends by itself, at what is proven best."""
    OUT.mkdir(exist_ok=True)
    studies = {
        "records": [(RECORDS >> halved, VARIABLES) for halved in (4, 3, 2, 1, 0)],
        "variables": [(RECORDS // 4, variables) for variables in (10, 20, 30, 40, 53)],
    }
    known = {}
    for by, sizes in studies.items():
        rows = []
        for size in sizes:
            found = known[size] = known.get(size) or measured(tmp_path, *size, SEARCH, 2)
            assert found["finished"]
            at = dict(zip(("records", "variables"), size, strict=True))[by]
            rows += [{"at": at, "part": p, "seconds": found["seconds"][p]} for p in PARTS]
            shown = ", ".join(f"{part} {found['seconds'][part]:.2f} s" for part in PARTS)
            print(f"\n{size[0]:,} records, {size[1]} variables: {shown}, {found['peak']:,.0f} MiB")
        widths = [(row["at"], row["seconds"]) for row in rows if row["part"] == "widths"]
        claim(
            "widths", f"Critical widths up to order 3, by {by}", ours=widths[-1][1], growth=widths,
            size=f"up to {widths[-1][0]:,} {by}", why="No rival holds the data.",
        )  # fmt: skip
        chart = cost_chart(rows, by, sizes)
        chart.save(OUT / f"cost-by-{by}.svg")
        lines = [f"{row['at']},{row['part']},{row['seconds']:.3f}" for row in rows]
        (OUT / f"cost-by-{by}.csv").write_text("\n".join([f"{by},part,seconds", *lines, ""]))


def cost_chart(rows, by, sizes):
    """Seconds of each part on logarithmic axes, a line a part."""
    import altair as alt

    from discreet.look.palette import LIGHT
    from discreet.look.theme import WIDE, finish

    left, right = 60, 230
    colours = [LIGHT.muted, LIGHT.released, LIGHT.fail, LIGHT.belief]
    ticks = sorted({row["at"] for row in rows})
    xs = alt.Scale(type="log", domain=[ticks[0], ticks[-1]], range=[0, WIDE - left - right])
    x = alt.X("at:Q", scale=xs, axis=alt.Axis(title=by.capitalize(), values=ticks, format=",d"))
    y = alt.Y(
        "seconds:Q",
        scale=alt.Scale(type="log", nice=True),
        axis=alt.Axis(title="Seconds", grid=True, format="~g", values=[0.1, 1, 10, 100, 1000]),
    )
    shade = alt.Color("part:N", legend=None, scale=alt.Scale(domain=list(PARTS), range=colours))
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y, color=shade)
    ends = [row | {"words": PARTS[row["part"]]} for row in rows if row["at"] == ticks[-1]]
    words = alt.Chart(alt.InlineData(values=ends)).mark_text(align="left", dx=8, fontSize=12)
    other = f"{sizes[0][1]} variables" if by == "records" else f"{sizes[0][0]:,} records"
    slowest = max(ends, key=lambda row: row["seconds"])
    return finish(
        [
            base.mark_line(strokeWidth=2),
            base.mark_point(filled=True, size=40, opacity=1),
            words.encode(x=x, y=y, color=shade, text="words:N"),
        ],
        title=f"With {ticks[-1]:,} {by} the longest part takes {slowest['seconds']:,.0f} seconds",
        key=f"Seconds on two cores, {other}, both axes logarithmic.",
        notes=[
            "Latent class data with 2 to 8 categories a variable; compiled code is in the cache."
        ],
        left=left,
        width=WIDE,
        height=280,
    )


if __name__ == "__main__":
    print(json.dumps(job(sys.argv[1], *json.loads(sys.argv[2]))))
