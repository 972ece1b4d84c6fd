"""Dobra, Fienberg & Trottini 2003, in the paper's order."""

from register.entry import Entry

ENTRIES: list[Entry] = []
