"""The page of a run: its text follows from its data alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from claims import Claim, Run
from claims_charts import growth_chart, ratio_chart, times

from discreet.look.words import number, plural, rounded

HEADS = "what", "size", "ours", "rival", "its time", "times as quick", "memory", "growth"
AGAIN = """\
`make page` measures every row but the largest; `make page LARGE=1` all of them, which is what this
page is written from once it has large rows; `make bench` all benchmarks and slow proofs. Rows of
one page are of one run: a run of some of them writes to `benchmarks/out` instead. Rivals come with
`pip install -c constraints.txt -e ".[bench]"`, and from Debian with
`apt-get install --no-install-recommends 4ti2 normaliz r-base-core`. Nothing else should run on the
machine."""
FAIR = """\
Rival and own work have the same data in memory, or in the same file where reading is part of it;
programs of their own read a small file. Short work is warmed up and the best of several times
counts; what takes many seconds is timed once. Code that is compiled once is in the cache. Answers
are compared before a time counts: they are equal, or, where they are drawn or not unique, held to
the same promise; where a rival ends with less, its row says so. *Times as quick* is the rival's
time by ours: below 1 the rival is quicker. Memory is our peak. *Growth* is how our time grows when
the size doubles."""


def seconds(value: float) -> str:
    """A time in three figures.

    >>> seconds(0.000123), seconds(0.0123), seconds(1.234), seconds(754.2)
    ('123 µs', '12.3 ms', '1.23 s', '754 s')
    """
    for unit, name in ((1e-6, "µs"), (1e-3, "ms")):
        if value < 999.5 * unit:
            return f"{rounded(value / unit, 3)} {name}"
    return f"{rounded(value, 3)} s"


def memory(mebibytes: float | None) -> str:
    """A peak of memory.

    >>> memory(512), memory(3 * 1024), memory(None)
    ('512 MiB', '3 GiB', '')
    """
    if mebibytes is None:
        return ""
    if mebibytes < 1024:
        return f"{rounded(mebibytes, 3)} MiB"
    return f"{rounded(mebibytes / 1024, 2)} GiB"


def growth(claim: Claim) -> str:
    """The measured sizes and times, and what a doubling costs."""
    if claim.power is None:
        return ""
    told = ", ".join(f"{number(size)}: {seconds(took)}" for size, took in claim.growth)
    return f"× {2**claim.power:.2g} a doubling ({told})"


def sentence(words: str) -> str:
    """The words with a capital and a full stop.

    >>> sentence("it is easy")
    'It is easy.'
    """
    return words[0].upper() + words[1:].rstrip(".") + "."


def row(claim: Claim) -> str:
    why = f"<br><small>{sentence(claim.why)}</small>" if claim.why else ""
    theirs = "" if claim.theirs is None else seconds(claim.theirs)
    ratio = "" if claim.ratio is None else f"**{times(claim.ratio)}**"
    cells = (
        claim.what + why, claim.size, seconds(claim.ours), claim.rival or "none", theirs, ratio,
        memory(claim.memory), growth(claim),
    )  # fmt: skip
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def tables(run: Run) -> Iterator[str]:
    """A heading and a table a topic."""
    for topic, rows in groupby(run.claims, key=lambda claim: claim.topic):
        yield f"### {topic[0].upper()}{topic[1:]}\n"
        yield f"| {' | '.join(HEADS)} |"
        yield "|" + " --- |" * len(HEADS)
        yield from map(row, rows)
        yield ""


def busy(run: Run) -> Iterator[str]:
    """A warning where others worked on the machine."""
    if run.busy:
        yield (
            f"**The machine was busy**: {run.load:g} processes wanted its "
            f"{plural(run.machine['cores'], 'core')} when the run began. Times are too long, and "
            "ratios of work on one core and on several are off.\n"
        )


def changes(run: Run) -> Iterator[str]:
    """What became slower since the run that was stored before."""
    yield "## Since the last run\n"
    if not run.compared:
        yield "There is no earlier run to compare with.\n"
    elif not run.slower:
        yield f"No row became slower by more than a third since the run of {run.compared}.\n"
    else:
        known = plural(len(run.slower), "row")
        yield f"{known} became slower by more than a third since the run of {run.compared}:\n"
        yield from (f"- {one}" for one in run.slower)
        yield ""


def page(run: Run) -> str:
    """The whole page, in Markdown."""
    machine = run.machine
    lost = [claim for claim in run.claims if claim.ratio and claim.ratio < 1]
    said = [
        "# Benchmarks\n",
        f"One run of {run.date}: {plural(len(run.claims), 'row')}, beside rivals where there are, "
        "each used as its authors would, on one machine of "
        f"{plural(machine['cores'], 'core')} ({machine['processor']}) with {machine['memory']} GiB "
        f"of memory, {machine['system']}. The data are in [benchmarks.json](benchmarks.json).\n",
        *busy(run),
        FAIR + "\n",
        "![How many times as quick as each rival](img/benchmarks-ratios.svg)\n",
    ]
    if any(claim.power for claim in run.claims):
        said.append("![How our time grows with size](img/benchmarks-growth.svg)\n")
    said += ["## Rows\n", *tables(run), "## Where a rival is quicker\n"]
    said += [
        f"- {claim.what}: {claim.rival} is {times(1 / claim.ratio)} times as quick. "
        f"{sentence(claim.why)}"
        for claim in lost
    ] or ["In no row of this run."]
    said += ["", *changes(run)]
    if run.absent:
        said += ["## Rivals that were not there\n"]
        said += [f"- {rival}: {install}" for rival, install in run.absent.items()] + [""]
    if run.left_out:
        tests = dict.fromkeys(test.partition("[")[0] for test in run.left_out)
        names = ", ".join(f"`{test}`" for test in tests)
        said += ["## Not in this run\n", f"{names}.\n"]
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    said += ["## Versions\n", versions + ".\n", "## Run it again\n", AGAIN]
    return "\n".join(said) + "\n"


def write_page(run: Run, folder: Path) -> None:
    """The page, its data beside it, its charts in img."""
    (folder / "img").mkdir(parents=True, exist_ok=True)
    (folder / "benchmarks.json").write_text(run.to_json(), encoding="utf-8")
    (folder / "benchmarks.md").write_text(page(run), encoding="utf-8")
    if any(claim.ratio for claim in run.claims):
        ratio_chart(run).save(folder / "img" / "benchmarks-ratios.svg")
    grown = [claim for claim in run.claims if claim.power is not None]
    if grown:
        growth_chart(grown).save(folder / "img" / "benchmarks-growth.svg")
