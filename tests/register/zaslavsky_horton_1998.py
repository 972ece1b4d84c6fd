"""Zaslavsky & Horton 1998, in the paper's order."""

from register.entry import Entry

ENTRIES: list[Entry] = []
