"""`assess`, `mask` and `check` of random batches by the command line, and what an audit finds.

python benchmarks/nested_run.py --first 0 --many 300 --out audit.jsonl
"""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner
from nested_audit import Audit, Auditor, Shown, as_it_is
from nested_batches import Asked, Batch, draw

from discreet.cli.main import main

REFUSED = "refused"


@dataclass
class Outcome:
    """What the program says of a batch, and what an intruder works out."""

    seed: int
    kind: str
    mask: str
    assess: str
    masked: str
    check: str
    part: str
    said: dict[str, str] = field(default_factory=dict)
    audits: dict[str, str] = field(default_factory=dict)
    wrong: dict[str, list[str]] = field(default_factory=dict)
    steps: dict[str, list[str]] = field(default_factory=dict)
    hidden: int = 0
    guarded: int = 0
    seconds: float = 0.0


def invoke(*words: str) -> tuple[str, dict[str, Any], str]:
    """The verdict, the document, and what was said: REFUSED with the sentence of an error."""
    found = CliRunner().invoke(main, [*words, "--json"])
    try:
        document = json.loads(found.stdout)
        return document["verdict"], document, ""
    except (ValueError, KeyError):
        text = found.output.strip() or repr(found.exception)
        crash = found.exception and not isinstance(found.exception, SystemExit)
        return ("crash" if crash else REFUSED), {}, f"{found.exit_code}: {text[-400:]}"


def reasons(document: dict[str, Any]) -> str:
    judged = document.get("judged") or document.get("together") or {}
    return " | ".join(
        f"{r['verdict']} {r['rule']}: {r['text']}"
        for r in judged.get("reasons", [])
        if r["verdict"] != "PASS"
    )[:700]


def released(batch: Batch, folder: Path) -> list[Shown]:
    """What a folder prints, and what a gap or a rounded number leaves open."""
    found = []
    for table in batch.tables:
        file = folder / f"table-{table.name}.csv"
        with file.open(encoding="utf-8", newline="") as lines:
            head, *rows = list(csv.reader(lines))
        place = [head.index(column) for column in table.columns]
        held = [batch.lines(table, column) for column in table.columns]
        where = {c: frozenset(chosen) for c, chosen in (table.where or {}).items()}
        for row in rows:
            labels = [row[at] for at in place]
            cell = {
                column: lines[label]
                for column, lines, label in zip(table.columns, held, labels, strict=True)
            }
            low, high = _ends(batch, table, row[-1])
            found.append(Shown(table, {**cell, **where}, low, high))
    return found


def _ends(batch: Batch, table: Asked, text: str) -> tuple[float, float]:
    if text == "x":
        zeros = batch.policy["attribute.check"] and batch.policy["attribute.exclusion"]
        count = table.measure == (None, None)
        return (1.0 if count and not zeros else 0.0), np.inf
    value = float(text)
    if "round" in batch.mask:
        base = int(batch.mask[-1])
        return max(0.0, value - base + 1), value + base - 1
    return value, value


def run(batch: Batch) -> Outcome:
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = batch.write(folder)
        common = [files["data.csv"], "--codebook", files["book.toml"]]
        listed = ["--tables", files["tables.toml"], *batch.settings()]
        assessed, judged, why = invoke("assess", *common, *listed)
        out = folder / "release"
        masked, made, other = invoke(
            "mask", *common, *listed, *batch.mask, "--out", str(out), "--force"
        )
        checked, _, third = "none", {}, ""
        if out.exists():
            checked, _, third = invoke(
                "check", str(out), "--against", files["data.csv"], "--codebook", files["book.toml"]
            )
        part = judged.get("part") or {}
        outcome = Outcome(
            batch.seed, batch.kind, batch.mask[1] if batch.mask else "suppress",
            assessed, masked, checked, str(part.get("verdict", "")),
        )  # fmt: skip
        outcome.said = {
            "assess": why or reasons(judged), "mask": other or reasons(made), "check": third
        }  # fmt: skip
        outcome.hidden = made.get("hidden", 0)
        looked: dict[str, Audit] = {}
        if judged:
            looked["assess"] = Auditor(batch, as_it_is(batch)).audit()
            names = set(part.get("tables", ()))
            if outcome.part == "PASS" and names and len(names) < len(batch.tables):
                fewer = tuple(t for t in batch.tables if t.name in names)
                less = replace(batch, tables=fewer)
                looked["part"] = Auditor(less, as_it_is(less)).audit()
        if out.exists():
            looked["mask"] = Auditor(batch, released(batch, out)).audit()
    for name, audit in looked.items():
        outcome.audits[name] = audit.verdict
        outcome.guarded += audit.guarded
        first = {
            (f.step, f.alone, f.rule == "zeros", "joint" in f.rule): f
            for f in reversed(audit.findings)
        }
        outcome.wrong[name] = [one.said() for one in first.values()]
        outcome.steps[name] = sorted({f.step + "+alone" * f.alone for f in audit.findings})
        if audit.undecided:
            outcome.said[f"{name} undecided"] = audit.undecided[0]
    outcome.seconds = time.perf_counter() - begun
    return outcome


def unsafe(outcome: Outcome) -> list[str]:
    """The doors at which something unsafe passed."""
    found = []
    if outcome.assess == "PASS" and outcome.audits.get("assess") == "unsafe":
        found.append("assess")
    if outcome.part == "PASS" and outcome.audits.get("part") == "unsafe":
        found.append("part")
    if outcome.masked == outcome.check == "PASS" and outcome.audits.get("mask") == "unsafe":
        found.append("mask")
    return found


def table(outcomes: list[Outcome]) -> str:
    """Verdicts of each door by what the audit says, as Markdown."""
    audits = ("safe", "unsafe", "joint", "undecided")
    lines = [f"| door | verdict | batches | {' | '.join(audits)} |", "| --- " * 7 + "|"]
    for door in ("assess", "part", "mask", "check"):
        verdicts: Counter[tuple[str, str]] = Counter()
        for one in outcomes:
            verdict = {"mask": one.masked}.get(door, getattr(one, door, ""))
            audit = one.audits.get("mask" if door == "check" else door, "")
            if door != "part" or "part" in one.audits:
                verdicts[verdict, audit] += 1
        for verdict in sorted({v for v, _ in verdicts}):
            row = " | ".join(str(verdicts[verdict, audit]) for audit in audits)
            every = sum(n for (v, _), n in verdicts.items() if v == verdict)
            lines.append(f"| {door} | {verdict} | {every} | {row} |")
    return "\n".join(lines)


def outcomes(first: int, many: int) -> Iterator[Outcome]:
    for seed in range(first, first + many):
        yield run(draw(seed))


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--many", type=int, default=300)
    parser.add_argument("--out", required=True)
    given = parser.parse_args()
    with Path(given.out).open("w", encoding="utf-8") as file:
        every = []
        for one in outcomes(given.first, given.many):
            every.append(one)
            file.write(json.dumps(vars(one)) + "\n")
            file.flush()
            if at := unsafe(one):
                print(one.seed, one.kind, one.mask, at, one.steps, one.wrong, flush=True)
    print(table(every))


if __name__ == "__main__":
    _main()
