"""Zaslavsky & Horton 1998: every numbered example, table and recommendation, in the paper's order."""

from register.entry import Entry

ENTRIES: list[Entry] = []
