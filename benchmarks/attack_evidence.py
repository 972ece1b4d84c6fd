"""What an intruder with the keys of everybody makes of a masked file, by laws written down anew.

Nothing here is the program's: each mask's law is stated from its description, a mask that can be
repeated is repeated, and links are balanced so that every released record has one source.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from attacked_files import Trial
from pandas.api.types import is_numeric_dtype as is_number

import discreet as dc

Floats = np.ndarray
FIXED = ("recode", "blank", "top-code", "microaggregate", "univariate")
TENTHS = 10


@dataclass(frozen=True, eq=False)
class Seen:
    """A release, as an intruder sees it. `rows` is for the referee alone."""

    trial: Trial
    data: pd.DataFrame
    masked: Any
    rows: np.ndarray

    @property
    def source(self) -> pd.DataFrame:
        return self.trial.of.data


def columns_of(step: dict[str, Any]) -> list[str]:
    named = step.get("columns", step.get("block", ()))
    return [named] if isinstance(named, str) else list(named)


def labels(column: pd.Series) -> np.ndarray:
    """Values as text, "" where one is missing; 3.0 is 3."""
    found = column.astype(object).where(column.notna(), "")
    return np.array(
        [str(int(v)) if isinstance(v, float) and v == int(v) else str(v) for v in found], object
    )


def joined(frame: pd.DataFrame, columns: Any) -> pd.Series:
    """The values of several columns as one text."""
    columns = list(columns)
    parts = [labels(frame[name]) for name in columns]
    return pd.Series(
        ["|".join(row) for row in zip(*parts, strict=True)] if columns else "", frame.index
    )


def repeated(seen: Seen) -> tuple[pd.DataFrame, dict[str, list[dict[str, Any]]]]:
    """What every person's keys became by the steps that anybody can repeat, and the random steps
    that came after these by column.
    """
    now, of = seen.source.copy(), seen.trial.of
    chance: dict[str, list[dict[str, Any]]] = {}
    sampled = False
    said = seen.masked.parameters
    each = said.get("steps", [said])
    for step, told in zip(seen.trial.steps, each, strict=True):
        sampled |= step["method"] == "sample" and step.get("share", 1) < 1
        mine = [name for name in columns_of(step) if name in of.keys]
        if step["method"] not in FIXED:
            for name in mine:
                chance.setdefault(name, []).append(step)
            continue
        if not mine:
            continue
        if step["method"] == "recode" and (sampled or "sensitive" in step):
            step = {k: v for k, v in step.items() if k in ("method", "columns", "cuts")}
            step["levels"] = told["levels"]
        options = {k: v for k, v in step.items() if k != "method"}
        mask = dc.files.mask_of(step["method"], options)
        trees = {k: v for k, v in of.trees.items() if k in now}
        now = mask.apply(dc.files.RecordFile(now, trees), np.random.default_rng(0)).data
    return now, chance


def evidence(seen: Seen, *, repeats: bool = True) -> Floats:
    """log P[released keys | true keys], a row for each person; -inf where it cannot be."""
    now, chance = repeated(seen)
    total = np.zeros((len(now), len(seen.data)))
    done: set[str] = set()
    for name in seen.trial.of.keys:
        if name in done:
            continue
        laws = chance.get(name, [])
        true, shown = labels(now[name]), labels(seen.data[name])
        if not laws:
            if any(s["method"] == "recode" for s in seen.trial.steps):  # blanks that nobody repeats
                total += np.where(
                    (true[:, None] == shown) | (shown == "")[None] & (true != "*")[:, None],
                    0,
                    -np.inf,
                )
                total += np.where((shown == "")[None] & (true != "")[:, None], -9.0, 0)
            else:
                total += np.where(true[:, None] == shown, 0, -np.inf)
            continue
        (law,) = laws
        method = law["method"]
        if method == "pram":
            total += pram_law(true, shown, seen.masked.keys[name].matrix)
        elif method == "noise":
            names = [n for n in columns_of(law) if n in seen.trial.of.keys]
            done |= set(names)
            total += noise_law(now[names].to_numpy(float), seen.data[names].to_numpy(float), law)
        elif method == "rank-swap":
            total += rank_law(
                now[name].to_numpy(float), seen.data[name].to_numpy(float), law["window"]
            )
        elif method == "swap":
            total += swap_law(now, true, shown, law)
        elif method == "synthesise":
            done |= {n for n in columns_of(law) if n in seen.trial.of.keys}
            total += model_law(now, seen.data, law)
        else:
            raise AssertionError(method)
    if repeats:
        total += copies_law(seen)
    return total


def copies_law(seen: Seen) -> Floats:
    """Released columns, and blanks, that follow from a key, or sum up to one: they are keys too."""
    of, total = seen.trial.of, np.zeros((len(seen.source), len(seen.data)))
    touched = {name for step in seen.trial.steps for name in columns_of(step)}
    if of.weight is not None:  # as frequent as among people with the same known categories
        known = joined(seen.source, (name for name in of.keys if name not in of.numbers))
        shares = pd.crosstab(known, seen.source[of.weight], normalize="index")
        with np.errstate(divide="ignore"):
            total += np.log(shares.loc[known, seen.data[of.weight]].to_numpy())
    spare = [n for n in seen.data if n not in (*of.keys, of.sensitive, *touched, of.weight, "home")]
    numbers = [n for n in spare if is_number(seen.data[n])]
    for key in (name for name in of.keys if name in touched):
        for name in spare:
            for sight in (labels, lambda column: column.isna().to_numpy()):
                mine, theirs = sight(seen.source[name]), sight(seen.data[name])
                if (pd.Series(mine).groupby(labels(seen.source[key])).nunique() == 1).all():
                    total += np.where(mine[:, None] == theirs, 0, -np.inf)
                    break
        if key not in of.numbers:
            continue
        for place, one in enumerate(numbers):
            for other in numbers[place + 1 :]:
                if (seen.source[one] + seen.source[other] == seen.source[key]).all():
                    both = (seen.data[one] + seen.data[other]).to_numpy(float)
                    total += np.where(seen.source[key].to_numpy(float)[:, None] == both, 0, -np.inf)
    return total


def pram_law(true: np.ndarray, shown: np.ndarray, matrix: Any) -> Floats:
    froms, tos = sorted({*true}), sorted({*shown})
    table = np.array([[matrix.get(a, {}).get(b, float(a == b == "")) for b in tos] for a in froms])
    with np.errstate(divide="ignore"):
        logs = np.log(table)
    return logs[np.searchsorted(froms, true)][:, np.searchsorted(tos, shown)]


def noise_law(true: Floats, shown: Floats, law: dict[str, Any]) -> Floats:
    if law.get("kind") == "multiplicative":
        true, shown = np.log(true), np.log(np.maximum(shown, 1e-300))
        spread = np.full(true.shape[1], law["spread"])
    else:
        spread = law["spread"] * true.std(0, ddof=1)
    many = true.shape[1]
    tie = (
        np.corrcoef(true.T).reshape(many, many) if law.get("kind") == "correlated" else np.eye(many)
    )
    root = np.linalg.inv(np.linalg.cholesky(tie))
    a, b = (true / spread) @ root.T, (shown / spread) @ root.T
    return -((a**2).sum(1)[:, None] + (b**2).sum(1)[None] - 2 * a @ b.T) / 2


def moves(many: int, window: float) -> Floats:
    """How a rearrangement in which nothing moves further than the window moves each rank."""
    reach = max(1, int(window * many + 1e-9))
    gap = np.abs(np.subtract.outer(np.arange(many), np.arange(many)))
    table = (gap <= reach).astype(float)
    for _ in range(30):
        table /= table.sum(1, keepdims=True)
        table /= table.sum(0)
    return table


def rank_table(values: Floats, window: float) -> tuple[np.ndarray, Floats]:
    """The values, and the chance that a record of one gets another."""
    kinds, counts = np.unique(values, return_counts=True)
    first = np.cumsum(counts) - counts
    table = np.add.reduceat(np.add.reduceat(moves(len(values), window), first, 0), first, 1)
    return kinds, table / counts[:, None]


def rank_law(true: Floats, shown: Floats, window: float) -> Floats:
    kinds, table = rank_table(true, window)
    with np.errstate(divide="ignore"):
        return np.log(table)[np.searchsorted(kinds, true)][:, np.searchsorted(kinds, shown)]


def swap_law(now: pd.DataFrame, true: np.ndarray, shown: np.ndarray, law: dict[str, Any]) -> Floats:
    """One stays with 1 - rate, or else moves where people of the same match columns live."""
    alike = joined(now, law["match"])
    share = pd.crosstab(alike, true, normalize="index").reindex(
        columns=sorted({*true, *shown}), fill_value=0
    )
    away = share.loc[alike].to_numpy(copy=True)
    names = share.columns.to_numpy()
    away[np.arange(len(true)), np.searchsorted(names, true)] = 0
    away /= np.maximum(away.sum(1, keepdims=True), 1e-12)
    rate = min(max(law["rate"], 0.05), 0.98)
    chance = rate * away
    chance[np.arange(len(true)), np.searchsorted(names, true)] += 1 - rate
    with np.errstate(divide="ignore"):
        return np.log(chance)[:, np.searchsorted(names, shown)]


def model_law(now: pd.DataFrame, shown: pd.DataFrame, law: dict[str, Any]) -> Floats:
    """A value as frequent as among those with the same columns that the model is given."""
    made, given = columns_of(law), list(law["given"])
    shares = pd.crosstab(joined(now, given), joined(now, made), normalize="index")
    some = joined(shown, made)
    shares = (
        0.95 * shares.reindex(columns=sorted({*shares.columns, *some}), fill_value=0)
        + 0.05 / shares.shape[1]
    )
    return np.log(shares.loc[joined(now, given)].to_numpy()[:, shares.columns.get_indexer(some)])


def balanced(logs: Floats, rounds: int = 60) -> tuple[Floats, Floats]:
    """Chances of links where every released record has one source, and of not being released."""
    n, m = logs.shape
    top = logs.max(1, keepdims=True)
    weights = np.exp(logs - np.where(np.isfinite(top), top, 0))
    spare = (n - m) / n
    rows, columns = np.ones(n), np.ones(m)
    for _ in range(rounds):
        rows = 1 / np.maximum(spare + weights @ columns, 1e-300)
        columns = 1 / np.maximum(rows @ weights, 1e-300)
    rows = 1 / np.maximum(spare + weights @ columns, 1e-300)
    links = rows[:, None] * weights * columns
    return links, np.clip(1 - links.sum(1), 0, 1)


def classes(true: Floats, values: Any) -> tuple[np.ndarray, np.ndarray]:
    """A secret's class: a category, or a tenth of the true file. Also the classes' shares."""
    if not is_number(true):
        names = sorted(set(labels(true)))
        found = np.array([names.index(v) if v in names else -1 for v in labels(pd.Series(values))])
        return found, np.array([(labels(true) == one).mean() for one in names])
    cuts = np.unique(np.quantile(true, np.arange(1, TENTHS) / TENTHS))
    shares = np.bincount(np.searchsorted(cuts, true, side="right"), minlength=len(cuts) + 1) / len(
        true
    )
    values = pd.to_numeric(pd.Series(values), errors="coerce").to_numpy(float)
    return np.where(np.isnan(values), -1, np.searchsorted(cuts, values, side="right")), shares


def secrets(seen: Seen) -> tuple[np.ndarray, Floats, Floats]:
    """Everybody's true class, what each released record says of its own, and the shares of all."""
    name, true = seen.trial.of.sensitive, seen.source[seen.trial.of.sensitive]
    truth, prior = classes(true, true)
    shown, _ = classes(true, seen.data[name])
    said = np.eye(len(prior))[np.maximum(shown, 0)]
    said[shown < 0] = prior
    others = [
        n for n in seen.data if n not in (name, *seen.trial.of.keys) and is_number(seen.data[n])
    ]
    for one, other in itertools.combinations(others, 2):
        if is_number(true) and (seen.source[one] + seen.source[other] == true).all():
            return (
                truth,
                np.eye(len(prior))[classes(true, seen.data[one] + seen.data[other])[0]],
                prior,
            )
    for step in (s for s in seen.trial.steps if name in columns_of(s)):
        method = step["method"]
        if method == "blank":
            absent = np.array([not (shown == c).any() for c in range(len(prior))], float)
            said[shown < 0] = absent / absent.sum() if absent.any() else prior
        elif method == "pram":
            names = sorted(set(labels(true)))
            law = seen.masked.keys[name].matrix
            table = np.array([[law[a].get(b, 0) for b in names] for a in names])
            said = prior * table.T[shown]
            said /= said.sum(1, keepdims=True)
        elif method in ("noise", "rank-swap"):
            y, x = true.to_numpy(float), seen.data[name].to_numpy(float)
            logs = (
                rank_law(y, x, step["window"])
                if method == "rank-swap"
                else noise_law(y[:, None], x[:, None], step)
            )
            each = np.exp(logs - logs.max(0)).T @ np.eye(len(prior))[truth]
            said = each / each.sum(1, keepdims=True)
    return truth, said, prior
