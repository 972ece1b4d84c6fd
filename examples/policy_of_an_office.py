"""An office fixes thresholds; a unit may be stricter, but cannot touch what is locked."""

import tempfile
from pathlib import Path

import discreet as dc

OFFICE = """
name = "The office"
locked = ["small.width"]

[small]
width = 5
"""

UNIT = """
extends = "office.toml"
name = "The health unit"

[small]
most = 3

[attribute]
share = 0.8
"""

with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "office.toml").write_text(OFFICE)
    (Path(folder) / "unit.toml").write_text(UNIT)
    policy = dc.Policy.read(Path(folder) / "unit.toml")

print(policy.to_toml())
print(dc.decide(dc.load("example:estates"), "Region*Estate", policy))

try:
    policy.set(["small.width=2"])
except dc.DisclosureError as error:
    print("Refused:", error)
