"""Dobra, Erosheva & Fienberg 2002, in the paper's order."""

from register.entry import Entry

ENTRIES: list[Entry] = []
