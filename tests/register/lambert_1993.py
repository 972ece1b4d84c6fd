"""Lambert 1993: every numbered example, table and recommendation, in the paper's order."""

from register.entry import Entry
from register.lambert_1993_harm import HARM
from register.lambert_1993_risk import RISK

ENTRIES: list[Entry] = [*RISK, *HARM]
