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
lines = ["Town,Age,Ill"]
for _ in range(600):
    town = rng.choices(["Ash", "Birch", "Cedar"], [60, 39, 1])[0]
    age = rng.choice(["under 30", "30-59", "60 and over", "?"])
    lines.append(f"{town},{age},{rng.choices(['no', 'yes'], [9, 1])[0]}")

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder)
    (path / "people.csv").write_text("\n".join(lines))
    (path / "people.toml").write_text(CODEBOOK)
    people = dc.Microdata.read(path / "people.csv", codebook=path / "people.toml")
    print(people)
    table = people.table()

print(table)
print(dc.assess(table, "Town*Age + Age*Ill + Town*Ill"))
