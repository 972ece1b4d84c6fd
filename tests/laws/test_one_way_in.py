"""One way in: whatever takes data asks the same of a file that looks like something else.

A door is a command or a function; each gets files that take each guard to task, and every file goes
through several doors. No door may answer.
"""

import json
import os
import re
import zlib

import pandas as pd
import pyreadstat
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import main
from discreet.errors import DataError
from discreet.server.launch import DataSpec
from hostile import (
    BELOW,
    CODED,
    COUNT,
    CROSSTAB,
    FILES,
    NAMED_NEST,
    NESTED,
    NO_COUNT,
    NOBODY,
    SHARES,
    SUMS,
    TOTALS,
    TWICE,
)

PEOPLE = {COUNT, CROSSTAB, SHARES, BELOW, TOTALS, CODED}  # what is asked where people are taken
CELLS = {SUMS, NO_COUNT, BELOW, TWICE}  # and where cells are taken, too
ALL = PEOPLE | CELLS | {NOBODY, NESTED, NAMED_NEST}

NAMED = ALL - {NOBODY, NESTED}  # columns are named: what else there is, is not looked at
FILE = PEOPLE | {NOBODY, NESTED, NAMED_NEST}  # records that are masked
# the arguments of a command, and the guards that it has
COMMANDS = {
    "assess --release": ("assess {data} --release {a}*{b}", ALL),
    "assess --tables": ("assess {data} --tables {tables}", NAMED),
    "mask --tables": ("mask {data} --tables {tables}", NAMED),
    "mask --release": ("mask {data} --release {a}*{b} --method round", NAMED),
    "mask of records": (
        "mask {data} --method sample --with share=0.5 --keys {a},{b}", FILE
    ),
    "compare of records": ("compare {data} --masks {masks}", FILE),
    "compare of a table": ("compare {data} --masks {of_table}", ALL),
    "bounds": ("bounds {data} --release {a}*{b}", ALL),
    "count": ("count {data} --release {a}*{b}", ALL),
    "posterior": ("posterior {data} --release {a}*{b} --model saturated", ALL),
    "widths": ("widths {data}", ALL),
    "frontier": ("frontier {data}", ALL),
    "choose": ("choose {data} --users {masks} --limit 0.1 --release {a}*{b}", ALL),
    "knowledge": ("knowledge {data} --target {a} --limit 0.1", ALL),
    "knowledge --prior-from": (
        "knowledge {right} --target {a} --limit 0.5 --prior-from {data} --prior-worth 5", PEOPLE
    ),
    "together": ("together {data} --released {folder}", ALL),
    "uniques": ("uniques {data} --keys {a},{b}", NAMED),
    "publish --domain": (
        "publish {domains} --domain {a} --population people --cell-count {b}=x --alpha 1 --beta 1",
        PEOPLE,
    ),
    "identify, the source": (
        "identify --source {data} --released {right} --intruder {intruder}", PEOPLE
    ),
    "identify, the released": (
        "identify --source {right} --released {data} --intruder {intruder}", PEOPLE
    ),
    "check --against": ("check {folder} --against {data}", NAMED - {NAMED_NEST}),
    "look": ("look {data} --json", ALL),
}  # fmt: skip


# the same of functions, which take the data, two columns, and how they are read
FUNCTIONS = {
    "load": (lambda d, a, b, **how: dc.load(d, **how), ALL),
    "Microdata.read": (
        lambda d, a, b, **how: dc.Microdata.read(d, **how).table(), FILE
    ),
    "Table.read": (lambda d, a, b, **how: dc.Table.read(d, **how), CELLS | {NOBODY}),
    "describe": (lambda d, a, b, **how: _raised(dc.describe(d, **how)), ALL),
    "uniques": (lambda d, a, b, **how: dc.uniques(d, [a, b], **how), NAMED),
    "k_anonymity": (
        lambda d, a, b, **how: dc.anonymity.k_anonymity(d, [a, b], **how), NAMED
    ),
    "diversity": (
        lambda d, a, b, **how: dc.anonymity.diversity(d, [a], b, **how), NAMED
    ),
    "special_uniques": (
        lambda d, a, b, **how: dc.anonymity.special_uniques(d, [a, b], **how), NAMED
    ),
    "read_file": (lambda d, a, b, **how: dc.files.read_file(d, **how), FILE),
    "compare": (
        lambda d, a, b, **how: dc.compare(d, {"keys": [a], "masks": [SAMPLE]}, **how),
        FILE,
    ),
    "read_records": (
        lambda d, a, b, **how: dc.linkage.read_records(d, _right(a, b), _exact(a, b), **how),
        PEOPLE,
    ),
    "read_domains": (
        lambda d, a, b, **how: dc.survey.read_domains(
            d.replace("data.", "domains."),
            sample_size=None,
            population="people",
            cell_count=f"{b}=x",
            domain=a,
            **how,
        ),
        PEOPLE,
    ),
    "formula_sheets": (
        lambda d, a, b, **how: dc.office.formula_sheets(d, f"`{a}`*`{b}`", **how), NAMED
    ),
    "a data set of the server": (lambda d, a, b, **how: DataSpec("x", d, **how).read(), ALL),
}  # fmt: skip
SAMPLE = {"method": "sample", "share": 0.5}


def _raised(found):
    if found.stops:
        raise DataError(found.stops[0].sentence)


def _right(a, b):
    """People who are what they look like."""
    return pd.DataFrame({a: ["x", "x", "y"] * 5, b: ["x", "x", "y"] * 5})


def _keys(a, b):
    """What tells people apart; the second column of a cross-tab is a count."""
    return (a, b) if b == "Town" else (a,)


def _exact(a, b):
    keys = {name: {"kind": "exact"} for name in _keys(a, b)}
    return dc.linkage.Intruder.of({"keys": keys})


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a release of Sex by Town."""
    folder = tmp_path_factory.mktemp("one")
    table = dc.Table.of([[20, 30], [40, 50]], Sex=["m", "f"], Town=["Ash", "Birch"])
    records, sheets = dc.office.formula_sheets(table, "Sex*Town")
    made = dc.office.mask(records, sheets, method="round", base=5, seed=1)
    made.write(folder / "release", force=True)
    return folder


def _files(place, name, hostile):
    """The file, and what doors need beside it, with the names of its columns."""
    a, b = hostile.columns
    folder = place / re.sub(r"\W+", "-", name)
    if not folder.exists():
        (folder / "out").mkdir(parents=True)
        manifest = (place / "release" / "manifest.json").read_text()
        manifest = manifest.replace('"Sex"', json.dumps(a)).replace('"Town"', json.dumps(b))
        (folder / "out" / "manifest.json").write_text(manifest)
        _write(folder / "data.csv", hostile.content, hostile.labels)
        (folder / "book.toml").write_text(hostile.codebook)
        (folder / "tables.txt").write_text(f"`{a}`*`{b}`\n")
        mask = '[[masks]]\nmethod = "{}"\n'
        keys = json.dumps([a, b])
        (folder / "masks.toml").write_text(
            f"keys = {keys}\n" + mask.format("sample") + "share = 0.5\n"
        )
        (folder / "table.toml").write_text(
            'of = "table"\n' + mask.format("margins") + f"release = {json.dumps(f'`{a}`')}\n"
        )
        keyed = [f"[keys.{json.dumps(one)}]\nkind = 'exact'\n" for one in _keys(a, b)]
        (folder / "intruder.toml").write_text("".join(keyed))
        _write(folder / "domains.csv", hostile.with_people, hostile.labels)
        _right(a, b).to_csv(folder / "right.csv", index=False)
    names = {"masks": "masks.toml", "of_table": "table.toml", "folder": "out"}
    names |= {"domains": "domains.csv", "right": "right.csv"}
    names |= {"data": "data.csv", "tables": "tables.txt", "intruder": "intruder.toml"}
    if hostile.labels:
        names |= {"data": "data.sav", "domains": "domains.sav"}
    found = {key: str(folder / path) for key, path in names.items()}
    return found | {"a": a, "b": b}, folder / "book.toml"


def _write(path, content, labels):
    path.write_text(content)
    if labels:
        frame = pd.read_csv(path)
        pyreadstat.write_sav(frame, path.with_suffix(".sav"), variable_value_labels=labels)


def _typed(door, place, name, hostile):
    """What a command says, and its exit code."""
    words, _ = COMMANDS[door]
    given, book = _files(place, name, hostile)
    more = [*hostile.options, *(["--codebook", str(book)] if hostile.codebook else [])]
    done = CliRunner().invoke(main, [*(word.format(**given) for word in words.split()), *more])
    if door == "look" and done.exit_code == 0:
        return 2, " ".join(json.loads(done.stdout)["stops"])
    return done.exit_code, done.output


def _called(door, place, name, hostile):
    """What a function says."""
    call, _ = FUNCTIONS[door]
    given, book = _files(place, name, hostile)
    how = dict(
        zip([o.strip("-") for o in hostile.options[::2]], hostile.options[1::2], strict=True)
    )
    how |= {"codebook": str(book)} if hostile.codebook else {}
    try:
        found = call(given["data"], given["a"], given["b"], **how)
    except dc.DisclosureError as error:
        return 2, str(error)
    return 0, repr(found)


DOORS = {door: (_typed, guards) for door, (_, guards) in COMMANDS.items()}
DOORS |= {f"dc, {door}": (_called, guards) for door, (_, guards) in FUNCTIONS.items()}
MATRIX = [
    (door, name)
    for door, (_, guards) in DOORS.items()
    for name, one in FILES.items()
    if one.asks in guards and (not one.options or guards >= CELLS)
]


def _chosen():
    """Each door once for each guard, and each file at two doors at least; all with EVERY_DOOR."""
    if "EVERY_DOOR" in os.environ:
        return MATRIX
    pairs, filled, times = [], set(), dict.fromkeys(FILES, 0)
    for door, name in sorted(MATRIX, key=lambda pair: zlib.crc32(repr(pair).encode())):
        cell = door, FILES[name].asks
        if cell not in filled or times[name] < 2:
            filled.add(cell)
            times[name] += 1
            pairs.append((door, name))
    return sorted(pairs)


@pytest.mark.parametrize("door", DOORS)
def test_no_door_answers(door, place):
    """The same question, or a refusal of the same kind, and exit code 2."""
    say, _ = DOORS[door]
    answered = []
    for name in [name for other, name in _chosen() if other == door]:
        code, said = say(door.removeprefix("dc, "), place, name, FILES[name])
        if code != 2 or not re.search(FILES[name].asks, said):
            answered.append((name, code, said.strip().splitlines()[-1:]))
    assert not answered
