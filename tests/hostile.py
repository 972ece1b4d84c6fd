"""Files that look like something else: what each looks like, what it is, and what is asked.

Each is of people by sex and town, few of them men in Birch: whoever takes the file for something
else may call a release safe which is not.
"""

import itertools
import re
from typing import NamedTuple

import numpy as np
import pandas as pd

TRUE = {("m", "Ash"): 12, ("m", "Birch"): 2, ("f", "Ash"): 15, ("f", "Birch"): 9}
CELLS = pd.DataFrame([(*cell, n) for cell, n in TRUE.items()], columns=["Sex", "Town", "n"])
PEOPLE = (
    CELLS.loc[CELLS.index.repeat(CELLS["n"]), ["Sex", "Town"]]
    .sample(frac=1, random_state=1)
    .reset_index(drop=True)
)

COUNT = (
    r"--count \S+, or --records|count='.*, or records=True|if these are cells"  # cells as people
)
CROSSTAB = r"--crosstab NAME|crosstab='NAME'"  # a cross-tab taken for people
SHARES = r"percentages or shares"
BELOW = r"counts and shares stand below one another"
TOTALS = r"is that row a total\?"  # among people
CODED = r"has 'Total' in 'Town' among people"  # by the label of a code
SUMS = r"rows that are sums of others|looks like a total"  # among cells
NOBODY = r"classif(y|ies) nobody|would be released as"
NO_COUNT = r"counts are whole numbers|separator of thousands"
TWICE = r"add its rows up first"
NESTED = r"is said to lie within"
NAMED_NEST = r"'Town' is said to lie within"  # of columns that are named


class Hostile(NamedTuple):
    """What a file looks like, what it is, what is asked, its content, and what was typed."""

    looks: str
    is_: str
    asks: str
    content: str
    options: tuple[str, ...] = ()
    codebook: str = ""
    labels: dict | None = None  # of codes, as files of SPSS have them
    names: tuple[str, str] | None = None  # two that a door names, if others than the usual ones

    @property
    def with_people(self):
        """With one more column, of 100 people throughout."""
        first, *lines = self.content.splitlines()
        mark = next((one for one in ",;\t" if one in first), ",")
        return "".join(
            f"{line}\n"
            for line in [first + mark + "people"] + [one + mark + "100" for one in lines]
        )

    @property
    def columns(self):
        """Two that a door can name."""
        if self.names:
            return self.names
        line = self.content.splitlines()[0]
        names = [name.strip(' "') for name in re.split("[,;\t]", line)]
        return ("Sex", "Town") if "Sex" in names and "Town" in names else tuple(names[:2])


def text(frame, **options):
    return frame.to_csv(index=False, lineterminator="\n", **options)


def renamed(name):
    return text(CELLS.rename(columns={"n": name}))


def beside(**more):
    return text(CELLS.assign(**more))


def crosstab(**more):
    return text(CELLS.pivot(index="Town", columns="Sex", values="n").reset_index().assign(**more))


def added(*rows):
    return text(PEOPLE) + "".join(row + "\n" for row in rows)


def nested(seed=1, present=1.0, name="ant", towns=40, more=False):
    """Of the shape of SSBtools' sosialFiktiv: towns in counties, by kind and month."""
    rng = np.random.default_rng(seed)
    county = np.sort(rng.integers(1, 9, towns))
    rows = [
        (f"{101 + t}", f"{county[t]}", f"g{county[t] % 3}", kind, month, "Q1")
        for t, kind, month in itertools.product(range(towns), "abcd", ("m01", "m02", "m03"))
        if rng.random() < present
    ]
    frame = pd.DataFrame(rows, columns=["Town", "County", "Group", "Sex", "Month", "Quarter"])
    frame[name] = rng.poisson(rng.gamma(0.6, 6, len(frame)))
    if more:
        frame["paid"] = frame[name] * 1_000 + rng.integers(0, 999, len(frame))
    return text(frame)


def grid(name="amount", sizes=(4, 5)):
    rows = [(f"s{i}", f"t{j}", (7 * i * j + 3 * i + j) % 11) for i, j in np.ndindex(*sizes)]
    return text(pd.DataFrame(rows, columns=["Sex", "Town", name]))


NAMES = [
    "N",
    "Count",
    "freq",
    "Anzahl",
    "Häufigkeit",
    "effectif",
    "frecuencia",
    "conteggio",
    "contagem",
    "aantal",
    "antal",
    "antall",
    "ant",
    "lkm",
    "liczba",
    "počet",
    "szám",
    "broj",
    "число",
    "人数",
    "n_obs",
    "cell_count",
]
LONE = ["value", "persons", "cases", "population", "antall_personer", "personnes"]

FILES: dict[str, Hostile] = {
    **{
        f"count called {name}": Hostile("people with a number", "cells", COUNT, renamed(name))
        for name in (*NAMES, *LONE)
    },
    "count in tabs": Hostile("people", "cells", COUNT, text(CELLS, sep="\t")),
    "count by semicolons": Hostile("people", "cells", COUNT, text(CELLS, sep=";")),
    "count in capitals with blanks": Hostile("people", "cells", COUNT, renamed(" COUNT ")),
    "hidden counts": Hostile(
        "people with remarks", "cells", COUNT, beside(n=["12", "<5", "15", ""])
    ),
    "counts of thousands": Hostile(
        "people with prices", "cells", COUNT, beside(n=["1,200", "2", "1,500", "9"])
    ),
    "counts with words": Hostile(
        "people with remarks", "cells", COUNT, beside(n=[f"{n} persons" for n in CELLS["n"]])
    ),
    "counts with stars": Hostile(
        "people with marks", "cells", COUNT, beside(n=[f"{n}*" for n in CELLS["n"]])
    ),
    "counts as 12.0": Hostile("people with scores", "cells", COUNT, beside(n=CELLS["n"] * 1.0)),
    "row numbers and counts": Hostile(
        "people with an id", "cells", COUNT, text(CELLS.reset_index(names="rownames"))
    ),
    "percentages beside counts": Hostile(
        "people with scores", "cells", COUNT, beside(percent=(CELLS["n"] / 0.38).round(1))
    ),
    "a grid without a name": Hostile("people with amounts", "cells", COUNT, grid()),
    "a grid with a score": Hostile("people with a score", "cells", COUNT, grid("score", (3, 7))),
    "a grid of numbers": Hostile(
        "people in codes",
        "cells",
        COUNT,
        grid()
        .replace("s", "")
        .replace("t", "")
        .replace("Sex,Town,amoun", "Sex,Town,amount")
        .replace("Sex,Town,amountt", "Sex,Town,amount"),
    ),
    "cells in nested columns": Hostile("people", "cells by ant", COUNT, nested()),
    "nested, not every cell": Hostile("people", "cells by ant", COUNT, nested(present=0.7)),
    "nested without a name": Hostile("people", "cells", COUNT, nested(name="xyz")),
    "nested, some, without a name": Hostile("people", "cells", COUNT, nested(2, 0.7, "xyz")),
    "nested, counts and amounts": Hostile(
        "people with amounts", "cells with sums", COUNT, nested(3, name="xyz", more=True)
    ),
    "cells that stand twice": Hostile(
        "people who are alike", "cells of two months", COUNT, text(pd.concat([CELLS, CELLS]))
    ),
    "a cross-tab": Hostile("towns with numbers", "a cross-tab", CROSSTAB, crosstab()),
    "a cross-tab with sums": Hostile(
        "towns with numbers", "a cross-tab", CROSSTAB, crosstab(Total=[27, 11])
    ),
    "a cross-tab with sums both ways": Hostile(
        "towns with numbers",
        "a cross-tab",
        CROSSTAB,
        "Town,m,f,Total\nAsh,12,15,27\nBirch,2,9,11\nTotal,14,24,38\n",
    ),
    "a cross-tab by years": Hostile(
        "a series",
        "a cross-tab",
        CROSSTAB,
        "Town,2023,2024,2025\nAsh,12,15,11\nBirch,2,9,4\nCedar,5,5,1\n",
    ),
    "a cross-tab by age": Hostile(
        "people by age",
        "a cross-tab",
        CROSSTAB,
        "Age,m,f\n" + "".join(f"{age},{age % 3 + 1},{age % 4 + 2}\n" for age in range(20, 28)),
    ),
    "a cross-tab with hidden cells": Hostile(
        "towns with marks", "a cross-tab", CROSSTAB, "Town,m,f\nAsh,12,15\nBirch,x,9\nCedar,5,x\n"
    ),
    "a cross-tab with shares beside": Hostile(
        "towns with scores", "a cross-tab", CROSSTAB, crosstab(share=[71.1, 28.9])
    ),
    "percentages by cell": Hostile(
        "people with scores",
        "cells of shares",
        SHARES,
        text(CELLS.assign(n=(CELLS["n"] / 0.38).round(1)).rename(columns={"n": "percent"})),
    ),
    "percent signs": Hostile(
        "people with remarks",
        "cells of shares",
        SHARES,
        text(CELLS.assign(n=[f"{n / 0.38:.1f}%" for n in CELLS["n"]]).rename(columns={"n": "of"})),
    ),
    "a cross-tab of shares": Hostile(
        "towns with scores",
        "a cross-tab of shares",
        SHARES,
        "Town,m,f\nAsh,31.6,39.5\nBirch,5.3,23.6\n",
    ),
    "a share without a name": Hostile(
        "people with scores",
        "cells of shares",
        SHARES,
        text(CELLS.assign(n=(CELLS["n"] / 38).round(4)).rename(columns={"n": "proportion"})),
    ),
    "counts above shares": Hostile(
        "people with a number",
        "counts and shares below one another",
        BELOW,
        text(
            pd.concat(
                [
                    CELLS.assign(of="Count"),
                    CELLS.assign(of="Percent", n=(CELLS["n"] / 0.38).round()),
                ]
            )
        ),
    ),
    "a total among people": Hostile(
        "people", "people and a row of sums", TOTALS, added("Total,Ash")
    ),
    "everybody among people": Hostile("people", "people and sums", TOTALS, added("m,All", "f,All")),
    "a sum in German": Hostile("people", "people and sums", TOTALS, added("m,Insgesamt")),
    "a sum in Spanish": Hostile("people", "people and sums", TOTALS, added("m,Todos")),
    "a sum in brackets": Hostile("people", "people and sums", TOTALS, added("m,(all)")),
    "a sum of SDMX": Hostile("people", "people and sums", TOTALS, added("_T,Ash")),
    "a total behind a code": Hostile(
        "people in codes",
        "people and a row of sums",
        CODED,
        text(PEOPLE.replace({"Ash": 1, "Birch": 2})) + "m,9\nf,9\n",
        labels={"Town": {1: "Ash", 2: "Birch", 9: "Total"}},
    ),
    "an id among people": Hostile(
        "people", "people with numbers", NOBODY, text(PEOPLE.assign(id=range(501, 539)))
    ),
    "remarks among people": Hostile(
        "people",
        "people with free text",
        NOBODY,
        text(PEOPLE.assign(remark=[f"came on day {i} and left a note" for i in range(38)])),
    ),
    "towns in two counties": Hostile(
        "towns in counties",
        "a wrong nesting",
        NESTED,
        text(PEOPLE.assign(County=["A", "B"] * 19)),
        codebook='[variables.Town]\nwithin = "County"\n',
    ),
}

FILES["counties that share towns"] = FILES["towns in two counties"]._replace(
    asks=NAMED_NEST, names=("Town", "County")
)

CELLS_SAID = ("--count", "n")
FILES |= {
    name: Hostile(looks, is_, asks, content, CELLS_SAID)
    for name, (looks, is_, asks, content) in {
        "a sum among cells": ("cells", "cells and a sum", SUMS, text(CELLS) + "Total,Total,38\n"),
        "sums of one variable": (
            "cells",
            "cells and sums",
            SUMS,
            text(CELLS) + "m,All,14\nf,All,24\n",
        ),
        "sums by ROLLUP": ("cells", "cells and sums", SUMS, text(CELLS) + "m,,14\nf,,24\n,,38\n"),
        "sums under their own name": (
            "cells",
            "cells and sums",
            SUMS,
            text(CELLS) + "m,Shire,14\nf,Shire,24\n",
        ),
        "sums that do not add up": ("cells", "wrong sums", SUMS, text(CELLS) + "Total,Ash,26\n"),
        "row numbers beside cells": (
            "cells by three",
            "cells by two",
            NOBODY,
            text(CELLS.reset_index(names="rownames")),
        ),
        "weighted counts beside cells": (
            "cells by three",
            "cells by two",
            NOBODY,
            beside(weight=CELLS["n"] * 10.5),
        ),
        "a second count": ("cells by three", "cells by two", NOBODY, beside(cases=[3, 0, 4, 1])),
        "counts above shares, counted": (
            "cells",
            "counts and shares below one another",
            BELOW,
            text(pd.concat([CELLS.assign(of="Count"), CELLS.assign(of="Percent")])),
        ),
        "a count that is missing": ("cells", "hidden counts", NO_COUNT, beside(n=[12, "", 15, 9])),
        "a count below zero": ("cells", "differences", NO_COUNT, beside(n=[12, -2, 15, 9])),
        "shares as counts": ("cells", "shares", NO_COUNT, beside(n=[31.6, 5.3, 39.5, 23.6])),
        "points in thousands": ("cells", "cells", NO_COUNT, beside(n=["1.000", "2", "15", "9"])),
        "a cell twice": ("cells", "cells", TWICE, text(pd.concat([CELLS, CELLS[:1]]))),
    }.items()
}
