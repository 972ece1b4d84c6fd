"""Dobra, Erosheva & Fienberg 2002: every numbered example, table and recommendation, in the paper's order."""

from register.entry import Entry

ENTRIES: list[Entry] = []
