"""Dobra, Fienberg & Trottini 2003: every numbered example, table and recommendation, in the paper's order."""

from register.entry import Entry

ENTRIES: list[Entry] = []
