"""A business survey as an office has it: 12 variables, weights, turnover, owners."""

from __future__ import annotations

import numpy as np
import pandas as pd

SECTORS = {
    "A": ["01", "02", "03"],
    "B": ["05", "06"],
    "C": ["10", "13", "16", "20", "24", "26", "29"],
    "F": ["41", "42", "43"],
    "G": ["45", "46", "47"],
    "H": ["49", "50", "52"],
    "J": ["58", "61", "62"],
}
REGIONS = {"North": ["N1", "N2", "N3"], "South": ["S1", "S2", "S3", "S4"], "West": ["W1", "W2"]}


def survey(records: int = 50_000, seed: int = 17) -> pd.DataFrame:
    """Records with the dependence that makes small cells where offices have them."""
    rng = np.random.default_rng(seed)
    groups = [f"{d}{k}" for letter in SECTORS.values() for d in letter for k in (1, 2, 3)]
    regions = [r for part in REGIONS.values() for r in part]
    appeal = rng.dirichlet(np.full(len(groups), 0.9))
    sector = rng.choice(len(groups), records, p=appeal)
    taste = rng.dirichlet(np.full(len(regions), 2.0), len(groups))
    region = (rng.random(records)[:, None] > np.cumsum(taste, 1)[sector]).sum(1)
    size = np.minimum(rng.geometric(0.55, records) - 1, 4)
    legal = np.minimum(rng.geometric(0.5, records) - 1 + (size > 2), 4)
    age = np.clip(rng.normal(48, 11, records).round(), 18, 80).astype(int)
    staff = np.maximum(1, np.exp(rng.normal(1.2 + 0.9 * size, 0.8))).round()
    turnover = np.round(staff * np.exp(rng.normal(4.2, 1.1, records)), 1)
    owner = np.where(rng.random(records) < 0.04, rng.integers(0, 300, records), -1)
    return pd.DataFrame(
        {
            "Sector": np.array(groups)[sector],
            "Region": np.array(regions)[region.clip(max=len(regions) - 1)],
            "Size": np.array(["0-9", "10-49", "50-249", "250-999", "1000+"])[size],
            "Legal": np.array(["sole", "partners", "limited", "public", "other"])[legal],
            "OwnerAge": age,
            "Sex": rng.choice(["f", "m"], records, p=[0.31, 0.69]),
            "Export": rng.choice(["no", "EU", "world"], records, p=[0.7, 0.2, 0.1]),
            "Family": rng.choice(["yes", "no"], records, p=[0.6, 0.4]),
            "Training": rng.choice(["none", "some", "much"], records, p=[0.4, 0.4, 0.2]),
            "Debt": rng.choice(["no", "yes"], records, p=[0.83, 0.17]),
            "Founded": rng.choice(["<1990", "1990s", "2000s", "2010s", "2020s"], records),
            "Insolvent": rng.choice(["no", "yes"], records, p=[0.97, 0.03]),
            "Turnover": turnover,
            "Weight": np.round(1 + rng.gamma(2.0, 0.8, records) * (size < 3), 2),
            "Owner": [f"H{o}" if o >= 0 else "" for o in owner],
        }
    )


CODEBOOK = f"""
missing = "category"

[variables.Sector]
role = "identifying"
hierarchy = {{ {
    ", ".join(
        [f'"{d}{k}" = "{d}"' for letter in SECTORS.values() for d in letter for k in (1, 2, 3)]
        + [f'"{d}" = "{letter}"' for letter, ds in SECTORS.items() for d in ds]
    )
} }}

[variables.Region]
role = "identifying"
hierarchy = {{ {", ".join(f'"{r}" = "{part}"' for part, rs in REGIONS.items() for r in rs)} }}

[variables.Size]
role = "identifying"
categories = ["0-9", "10-49", "50-249", "250-999", "1000+"]

[variables.Legal]
role = "identifying"

[variables.OwnerAge]
role = "identifying"

[variables.Sex]
role = "identifying"

[variables.Export]
role = "neither"

[variables.Family]
role = "neither"

[variables.Training]
role = "neither"

[variables.Debt]
role = "sensitive"
sensitive = ["yes"]

[variables.Founded]
role = "identifying"

[variables.Insolvent]
role = "sensitive"
sensitive = ["yes"]
"""

NAMES = ("Sector", "Region", "Size", "Legal", "OwnerAge", "Sex", "Export", "Family", "Training")


def tables() -> str:
    """The year's forty tables, as `tables.toml`: counts, weighted counts, turnover."""
    parts = [
        '[codings.Age79]\nvariable = "OwnerAge"\ncuts = [79]\n',
        '[codings.Age80]\nvariable = "OwnerAge"\ncuts = [80]\n',
    ]
    pairs = [
        "Sector*Region", "Sector*Size", "Region*Size", "Region*Legal", "Size*Legal", "Region*Sex",
        "Size*Sex", "Legal*Sex", "Region*Export", "Size*Export", "Region*Family", "Size*Family",
        "Region*Training", "Size*Training", "Region*Debt", "Size*Debt", "Region*Founded",
        "Size*Founded", "Legal*Founded", "Founded*Sex", "Size*Insolvent",
    ]  # fmt: skip
    counts = [(f"C{i}", v, "") for i, v in enumerate(pairs, 1)]
    counts += [
        ("C22", "Region*Age79", ""),
        ("C23", "Region*Age80", ""),
        ("C24", "Region*Size*Legal", "levels = { Region = 1 }"),
        ("C25", "Sector*Size*Sex", "levels = { Sector = 1 }"),
        ("C26", "Region*Size", 'where = { Sex = ["f"] }'),
    ]
    weighted = [
        (f"H{i}", v, 'weight = "Weight"')
        for i, v in enumerate(
            ("Sector*Region", "Region*Size", "Size*Legal", "Region*Export", "Size*Training"), 1
        )
    ]
    money = 'value = "Turnover"\nholding = "Owner"'
    sums = [
        ("T1", "Sector*Region", money),
        ("T2", "Sector*Size", money),
        ("T3", "Region*Size", money),
        ("T4", "Region*Legal", money),
        ("T5", "Size*Legal", money),
        ("T6", "Sector*Legal", f"{money}\nlevels = {{ Sector = 2 }}"),
        ("T7", "Region*Export", money),
        ("T8", "Size*Export", money),
        ("T9", "Region*Size", f'{money}\nweight = "Weight"'),
    ]
    for name, variables, more in [*counts, *weighted, *sums]:
        shown = variables.replace("*", " by ").lower()
        title = f"{'Turnover' if 'value' in more else 'Businesses'}: {shown}"
        parts.append(
            f'[[tables]]\nname = "{name}"\ntitle = "{title}"\nvariables = "{variables}"\n{more}\n'
        )
    return "\n".join(parts)
