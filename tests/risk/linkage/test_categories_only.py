"""`discreet identify` on files whose keys are all categories, against all assignments.

What is expected here is computed by hand, and shares no code with the program.
"""

import json
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

from discreet.cli import main
from discreet.errors import DataError
from discreet.linkage import Costs, Intruder, Records, harm, identify, matching

CASES = 100
LABELS = {"sex": "fm", "town": "abc", "job": "uvwx"}
COSTS = {"FN": 1, "TN": 2, "FF": 11, "FT": 6, "TF": 8, "TT": 5}


def case(seed):
    """Files, an intruder, weights of the distance, and q: what the released illness is worth."""
    rng = np.random.default_rng(seed)
    names = list(LABELS)[: int(rng.integers(1, 4))]
    sources = int(rng.integers(2, 7))
    released = int(rng.integers(1, min(sources, 4) + 1))
    people = [{n: str(rng.choice(list(LABELS[n]))) for n in names} for _ in range(sources)]
    who = rng.permutation(sources)[:released].tolist()
    keep = {n: float(rng.choice([0.6, 0.75, 0.9])) for n in names}
    masked = []
    for j in who:
        masked.append(
            {n: v if rng.random() < keep[n] else str(rng.choice(list(LABELS[n])))
             for n, v in people[j].items()}
        )  # fmt: skip
    for row in (*people, *masked):  # some are missing
        for n in names[1:]:
            row[n] = "" if rng.random() < 0.08 else row[n]
    ill = rng.choice(["no", "yes"], sources).tolist()
    shown = [ill[j] if rng.random() < 0.85 else "no" for j in who]
    weights = {n: float(rng.choice([0.5, 1, 2])) for n in names}
    act, q = float(rng.choice([0.0, 0.3, 0.5])), float(rng.choice([0.85, 1.0]))
    return people, masked, who, keep, (ill, shown), weights, act, q


def chance(name, y, x, keep, people, masked):
    """P[released x | source y]: missing tells nothing, a missing source is as those released."""
    if x == "":
        return 1.0
    shown = [row[name] for row in masked if row[name]]
    if y == "":
        return shown.count(x) / len(shown)
    size = len({row[name] for row in (*people, *masked)} - {""})
    if size == 1:
        return 1.0
    return keep if x == y else (1 - keep) / (size - 1)


def links_of(people, masked, keep):
    """Equation (1), one assignment after the other."""
    f = np.array(
        [[np.prod([chance(n, p[n], x[n], keep[n], people, masked) for n in keep]) for x in masked]
         for p in people]
    )  # fmt: skip
    links, total = np.zeros(f.shape), 0.0
    for chosen in permutations(range(len(people)), len(masked)):
        value = np.prod([f[j, i] for i, j in enumerate(chosen)])
        total += value
        for i, j in enumerate(chosen):
            links[j, i] += value
    return links / total if total > 0 else None


def believed(shown, q):
    """Of a released value that it is true; the prior from shares of what is released."""
    share = shown.count("yes") / len(shown)
    yes = share if q == 1 else min(1.0, max(0.0, (share - (1 - q)) / (2 * q - 1)))
    found = {}
    for value, prior in (("yes", yes), ("no", 1 - yes)):
        whole = q * prior + (1 - q) * (1 - prior)
        found[value] = q * prior / whole if whole > 0 else prior
    return found


def harm_of(j, i, who, values, q):
    """Of one respondent j who is linked to the released record i."""
    ill, shown = values
    truth = believed(shown, q)
    seen = shown[i]
    other = {"yes": "no", "no": "yes"}[seen]
    held = {seen: truth[seen], other: 1 - truth[seen]}
    sure = [v for v in held if held[v] >= 0.9 - 1e-12]
    side = "T" if who[i] == j else "F"
    if not sure:
        return COSTS[f"{side}N"]
    return COSTS[side + ("T" if sure[0] == ill[j] else "F")]


def matches_of(people, masked, who, weights):
    """Released records whose own source is nearer than all others."""
    found = 0
    for i, x in enumerate(masked):
        away = [sum(w for n, w in weights.items() if p[n] != x[n]) for p in people]
        own = away[who[i]]
        found += all(other > own for j, other in enumerate(away) if j != who[i])
    return found


def refused(people, masked, keep):
    """Whether no assignment is possible, or a key tells nothing."""
    alike = all(len({row[n] for row in (*people, *masked)}) == 1 for n in keep)
    return alike or nothing_shared(people, masked) or links_of(people, masked, keep) is None


def columns(rows, ids, values):
    found = {n: pa.array([row[n] for row in rows]) for n in rows[0]}
    return found | {"id": pa.array([str(k) for k in ids]), "ill": pa.array(values)}


@pytest.mark.parametrize("seed", range(CASES))
def test_against_all_assignments(seed):
    """Perceived and true identification, matching with weights, harm."""
    people, masked, who, keep, values, weights, act, q = asked = case(seed)
    intruder = Intruder.of({"keys": {n: {"kind": "category", "keep": k} for n, k in keep.items()}})
    records = Records(
        columns(people, range(len(people)), values[0]),
        columns(masked, who, values[1]),
        len(people),
        len(masked),
        np.array(who),
    )
    if refused(people, masked, keep):
        with pytest.raises(DataError):
            identify(records, intruder, act=act)
        return
    found = identify(records, intruder, act=act)
    near = matching(records, intruder, found.data, weights=weights)
    felt = harm(records, found, Costs("ill", COSTS, q=q))
    parts = {"matching": near.to_json(), "harm": felt.to_json()}
    check(found.to_json() | parts, *asked)


def csv(rows, ids, values):
    heads = ["id", *rows[0], "ill"]
    lines = [[str(k), *row.values(), v] for k, row, v in zip(ids, rows, values, strict=True)]
    return "\n".join(",".join(line) for line in [heads, *lines]) + "\n"


@pytest.mark.parametrize("seed", range(8))
def test_command(seed, tmp_path, monkeypatch):
    """The same by the command, with `--id`, `--weight` and `--harm`."""
    monkeypatch.chdir(tmp_path)
    people, masked, who, keep, values, weights, act, q = asked = case(seed)
    (tmp_path / "people.csv").write_text(csv(people, range(len(people)), values[0]))
    (tmp_path / "masked.csv").write_text(csv(masked, who, values[1]))
    text = "".join(f'[keys.{n}]\nkind = "category"\nkeep = {k}\n' for n, k in keep.items())
    (tmp_path / "who.toml").write_text(text)
    costs = "\n".join(f"{name} = {value}" for name, value in COSTS.items())
    (tmp_path / "harm.toml").write_text(f'sensitive = "ill"\nq = {q}\n[costs]\n{costs}\n')
    given = [part for n, w in weights.items() for part in ("--weight", f"{n}={w}")]
    result = CliRunner().invoke(
        main,
        ["identify", "--source", "people.csv", "--released", "masked.csv", "--id", "id",
         "--intruder", "who.toml", "--harm", "harm.toml", "--act", str(act), "--json", *given],
    )  # fmt: skip
    if refused(people, masked, keep):
        assert result.exit_code == 2, result.output
        assert len(result.stderr.strip().splitlines()) == 1
        return
    assert result.exit_code == 0, result.output
    check(json.loads(result.stdout), *asked)


def check(said, people, masked, who, keep, values, weights, act, q):
    """A JSON document of `identify` against all assignments."""
    links = links_of(people, masked, keep)
    best = links.max(1)
    seen = said["perceived"]
    assert seen["exact"] == 1
    assert seen["pessimistic"] == pytest.approx(best.max(), abs=1e-9)
    assert seen["average"] == pytest.approx(best.mean(), abs=1e-9)
    linked = [j for j in range(len(people)) if best[j] >= act - 1e-9 and best[j] > 0]
    assert seen["linked"] == len(linked)
    ties = [int((links[j] >= best[j] * (1 - 1e-9)).sum()) for j in range(len(people))]
    mine = {j: i for i, j in enumerate(who)}
    right = [
        1 / ties[j] if j in mine and links[j, mine[j]] >= best[j] * (1 - 1e-9) else 0.0
        for j in range(len(people))
    ]
    assert said["true"]["correct"] == pytest.approx(sum(right[j] for j in linked))
    assert said["true"]["correct_best_links"] == pytest.approx(sum(right))
    assert said["true"]["risk"] == pytest.approx(sum(right[j] for j in linked) / len(masked))
    assert said["matching"]["matched"] == matches_of(people, masked, who, weights)
    taken = {row["row"] - 1: row["released_row"] - 1 for row in seen["most_exposed"]}
    for j, i in taken.items():
        assert links[j, i] == pytest.approx(best[j], abs=1e-9)
    felt = sum(harm_of(j, taken[j], who, values, q) for j in linked)
    assert said["harm"]["total"] == pytest.approx(felt)


def nothing_shared(people, masked):
    """A key without a category in common is refused."""
    return any(
        any(row[n] for row in masked)
        and not {row[n] for row in people} & {row[n] for row in masked} - {""}
        for n in people[0]
    )
