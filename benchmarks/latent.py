"""Records from a latent class model: many categorical variables that depend on each other.

Within a class the variables are independent; the classes differ, so the variables depend. Common
categories are much more common than rare ones: some pairs and triples of rare categories have one
record or two, most margins of few categories have none so small.

    python benchmarks/latent.py OUT.parquet --records 1000000 --variables 53 --seed 0
"""

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FEWEST, MOST = 2, 8  # categories
RARER = 0.3, 1.2  # how much rarer, in logs, each category is than the one before it
APART = 0.8  # spread of the logs of a category's probability between classes
CHUNK = 100_000


def records(n, variables=53, classes=12, seed=0):
    """A code for each record (row) and variable (column), and how many categories each has.

    The model depends on the seed and the number of classes alone: more variables or more records
    leave those before them as they are.
    """
    shares = np.random.default_rng(seed).dirichlet(np.full(classes, 2.0))
    parts = [
        np.random.default_rng([seed, 0, start]).choice(classes, min(CHUNK, n - start), p=shares)
        for start in range(0, n, CHUNK)
    ]
    group = np.concatenate(parts)
    codes = np.empty((n, variables), np.uint8, order="F")
    sizes = [FEWEST + v % (MOST - FEWEST + 1) for v in range(variables)]
    for v, size in enumerate(sizes):
        rng = np.random.default_rng([seed, 1, v])
        rarer = rng.uniform(*RARER)
        logs = -rarer * np.arange(size) + APART * rng.standard_normal((classes, size))
        chance = np.exp(logs - np.log(np.exp(logs).sum(1, keepdims=True)))
        ends = np.cumsum(chance, 1)[:, :-1]
        luck = rng.random(n)
        codes[:, v] = (luck[:, None] > ends[group]).sum(1)
    return codes, sizes


def write(path, n, variables=53, classes=12, seed=0):
    """The records as a Parquet file, a column a variable."""
    codes, _ = records(n, variables, classes, seed)
    names = [f"v{v:02}" for v in range(variables)]
    columns = [pa.array(codes[:, v]) for v in range(variables)]
    pq.write_table(pa.table(columns, names=names), path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--variables", type=int, default=53)
    parser.add_argument("--classes", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    write(asked.out, asked.records, asked.variables, asked.classes, asked.seed)
    print(f"{asked.out}: {asked.records:,} records, {asked.variables} variables")


if __name__ == "__main__":
    main()
