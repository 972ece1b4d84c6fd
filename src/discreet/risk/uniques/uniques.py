"""Who stands out in a file of records: all that is counted about its keys, in one result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from discreet.data.reading import How
from discreet.errors import DataError
from discreet.look.result import Paged
from discreet.look.words import plural
from discreet.risk.uniques.anonymity import Diversity, KAnonymity, diversity
from discreet.risk.uniques.classes import KeyClasses, MissingKey, key_classes
from discreet.risk.uniques.individual import HouseholdRisk, IndividualRisk, Sampling
from discreet.risk.uniques.population import PopulationUniques, population_uniques
from discreet.risk.uniques.suda import SpecialUniques, special_of
from discreet.table.cells import frame

MOST = 20


@dataclass(frozen=True, eq=False)
class Uniques(Paged):
    """k-anonymity, individual risk, population and special uniques of one choice of keys.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"Sex": ["f", "m", "f", "m"], "Age": [30, 30, 30, 40]})
    >>> found = dc.uniques(people, "Sex,Age", population=40)
    >>> found.anonymity
    KAnonymity(1: 4 records in 3 classes of Sex, Age, 2 uniques)
    >>> found.risk
    IndividualRisk(4 records, population 40: 0.6771 expected to be linked, highest risk 0.2558)
    """

    classes: KeyClasses
    anonymity: KAnonymity
    risk: IndividualRisk
    special: SpecialUniques
    population: PopulationUniques | None = None
    diversity: Diversity | None = None
    households: HouseholdRisk | None = None

    @property
    def risk_by_model(self) -> float:
        """Records expected to be linked rightly if the uniques are judged by the population model,
        all others by their individual risk; without a model, by individual risk alone."""
        if self.population is None:
            return self.risk.expected
        classes = self.classes
        others = classes.frequency != 1
        counts = classes.table.counts
        return self.population.tau2 + float((counts * self.risk.risk)[others].sum())

    @property
    def to_sign(self) -> tuple[float, str]:
        """The number of records expected to be linked rightly that an officer signs, and whether
        the file, the sampling or the model says so: of two estimates the larger one."""
        if not self.risk.sampling.known:
            return self.risk.expected, "file"
        if self.risk_by_model > self.risk.expected:
            return self.risk_by_model, "model"
        return self.risk.expected, "sampling"

    @property
    def not_computed(self) -> dict[str, str]:
        """What was not looked at, and why: none of it is 0."""
        why = {
            "population": "not computed: the population is not known, and the file is taken for it",
            "diversity": "not computed: no sensitive column is named",
            "households": "not computed: no column of households is named",
        }
        return {name: text for name, text in why.items() if getattr(self, name) is None}

    def exposed(self, most: int | None = MOST) -> dict[str, Any]:
        """Columns of the most exposed classes, by risk, then score: the row of their first record,
        if records have an order, and nothing that says who it is."""
        classes = self.classes
        score, dis = np.zeros(len(classes)), np.zeros(len(classes))
        alone = classes.table.counts == 1
        score[alone], dis[alone] = self.special.scores, self.special.dis
        tie = np.arange(len(classes)) if classes.first is None else classes.first
        order = np.lexsort((tie, -score, -self.risk.risk))[:most]
        columns: dict[str, Any] = {} if classes.first is None else {"row": classes.first[order]}
        return columns | {
            "alike": classes.frequency[order], "risk": self.risk.risk[order], "score": score[order],
            "dis": dis[order],
        }  # fmt: skip

    def __repr__(self) -> str:
        return (
            f"Uniques({plural(self.classes.records, 'record')} by "
            f"{', '.join(self.classes.keys)}: k {self.anonymity.k}, "
            f"{plural(self.anonymity.uniques, 'unique')}, {self.risk.expected:,.4g} expected to be "
            "linked)"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a class, the most exposed first."""
        return frame(self.exposed(None), kind)

    def to_json(self, *, most: int = MOST) -> dict[str, Any]:
        found = self.exposed(most)
        rows = [
            dict(zip(found, line, strict=True))
            for line in zip(*(column.tolist() for column in found.values()), strict=True)
        ]
        return {
            "records": self.classes.records, "keys": list(self.classes.keys),
            "missing": str(self.classes.missing), "anonymity": self.anonymity.to_json(),
            "risk": self.risk.to_json(),
            "to_sign": dict(zip(("expected", "by"), self.to_sign, strict=True)),
            "population": None if self.population is None else self.population.to_json(),
            "special": self.special.to_json(),
            "diversity": None if self.diversity is None else self.diversity.to_json(),
            "households": None if self.households is None else self.households.to_json(),
            "not_computed": self.not_computed,
            "exposed": rows,
        }  # fmt: skip

    def plot(self, **options: Any) -> Any:
        """The distribution of individual risk."""
        return self.risk.plot(**options)


def uniques(
    data: object,
    keys: str | Iterable[str],
    *,
    weights: str | None = None,
    population: int | None = None,
    fraction: float | None = None,
    sensitive: str | None = None,
    household: str | None = None,
    missing: str = MissingKey.OWN,
    model: str | None = None,
    largest: int = 3,
    **reading: Unpack[How],
) -> Uniques:
    """All about the keys of a file. The population is known by survey `weights`, its size, or the
    `fraction` sampled; without, the file is taken for the population. The other arguments are those
    of `key_classes`.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"Sex": ["f", "m", "f", "m"], "Age": [30, 30, 30, 40]})
    >>> uniques(people, "Sex,Age", population=40)
    Uniques(4 records by Sex, Age: k 1, 2 uniques, 0.6771 expected to be linked)
    """
    classes = key_classes(data, keys, missing=missing, weights=weights, rows=True, **reading)
    sampling = Sampling.of(classes, population, fraction)
    if model is not None and not sampling.known:
        raise DataError(
            f"the model {model!r} is of a population beyond the file; give weights, the "
            "population, or the fraction sampled."
        )
    risk = IndividualRisk.of(classes, sampling)
    values = None
    if sensitive is not None:
        reading["records"] = classes.source is not None  # looked at already
        values = diversity(data, keys, sensitive, missing=missing, **reading)
    return Uniques(
        classes,
        KAnonymity.of(classes),
        risk,
        special_of(classes, largest=largest, fraction=sampling.overall),
        population_uniques(classes, sampling, model=model) if sampling.known else None,
        values,
        None if household is None else risk.households(household),
    )
