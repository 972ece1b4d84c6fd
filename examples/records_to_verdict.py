"""From a file of records, one line a person, to a verdict."""

import random
import tempfile
from pathlib import Path

import discreet as dc

CODEBOOK = """
missing_values = ["?"]
[variables.Town]
role = "identifying"
hierarchy = { Birch = "Birch or Cedar", Cedar = "Birch or Cedar" }

[variables.Age]
role = "identifying"
categories = ["under 30", "30-59", "60 and over"]
hierarchy = { "under 30" = "under 60", "30-59" = "under 60" }

[variables.Ill]
role = "sensitive"
sensitive = ["yes"]
"""

rng = random.Random(1986)
towns = rng.choices(["Ash", "Birch", "Cedar"], [60, 39, 1], k=600)
ages = rng.choices(["under 30", "30-59", "60 and over", "?"], k=600)
ills = rng.choices(["no", "yes"], [9, 1], k=600)
lines = ["Town,Age,Ill", *map(",".join, zip(towns, ages, ills, strict=True))]

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder)
    (path / "people.csv").write_text("\n".join(lines))
    (path / "people.toml").write_text(CODEBOOK)
    people = dc.Microdata.read(path / "people.csv", codebook=path / "people.toml")
    table = people.table()

print(people, table, sep="\n")
print(dc.assess(table, "Town*Age + Age*Ill + Town*Ill"))
