"""One piece of work on a folder of cells, in a process of its own: its answer, seconds, memory.

python benchmarks/stored_job.py PEOPLE.cells widths
"""

import argparse
import json
import resource
import time

from discreet.decision.frontier import decomposable_stored
from discreet.decision.frontier.decomposable import decomposable_frontier
from discreet.decision.frontier.widths import widths
from discreet.table import stored_table
from discreet.table.stored_table import StoredTable


def critical(table):
    """Critical widths to order 3."""
    found = widths(table, max_order=3)
    return {
        "widths": found.width.tolist(),
        "margins": [list(found.margin(s)) for s in found.sets],
        "small_cells": found.small_cells,
    }


def search(table):
    """The decomposable release, searched on disk whatever its size; seconds by part."""
    spent = {}

    def timed(owner, name):
        plain = getattr(owner, name)

        def run(*given, **options):
            start = time.perf_counter()
            try:
                return plain(*given, **options)
            finally:
                spent[name] = spent.get(name, 0.0) + time.perf_counter() - start

        setattr(owner, name, run)

    stored_table.MOST_BYTES = 0
    timed(decomposable_stored, "_counted")
    timed(decomposable_stored.Facts, "count")
    timed(decomposable_stored._Rounds, "_anneal")
    timed(decomposable_stored, "narrowest_width")
    found = decomposable_frontier(table, beta=3, restarts=2)
    return {
        "released": found.released,
        "by_order": found.by_order,
        "cliques": [list(margin) for margin in found.formula.margins],
        "width": found.min_width,
        "parts": spent,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("work", choices=["widths", "search"])
    asked = parser.parse_args()
    table = StoredTable.open(asked.folder)
    start = time.perf_counter()
    answer = {"widths": critical, "search": search}[asked.work](table)
    answer["seconds"] = time.perf_counter() - start
    answer["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
