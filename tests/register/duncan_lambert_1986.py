"""Duncan & Lambert 1986: every numbered example, table and recommendation, in the paper's order."""

from register.entry import Entry

ENTRIES: list[Entry] = [
    Entry(
        "section 3",
        "the value of an estate of which nothing else is known",
        ".728 .138 .134",
        "(table.counts / table.total).round(3)",
        [0.728, 0.138, 0.134],
        given="table = dc.load('example:estates').margin('Estate')",
    ),
    Entry(
        "section 3",
        "uncertainty of an estate in the Northeast, loss 0 or 1",
        "",
        "discreet knowledge example:estates --target Estate --group Region --limit 0.1",
        0.2679,
        pick="targets.1.knowledge",
    ),
]
