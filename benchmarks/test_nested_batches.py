"""Batches by nested and precoded columns: nothing passes that somebody can work out.

`python benchmarks/nested_run.py --many 300 --out FILE` writes each batch, with its seed.
"""

from nested_run import outcomes, table, unsafe

MANY = 300


def test_nothing_unsafe_passes_of_nested_batches():
    every = list(outcomes(0, MANY))
    print(f"\n{table(every)}")
    wrong = {one.seed: (unsafe(one), one.wrong) for one in every if unsafe(one)}
    assert not wrong
    assert not [one.said for one in every if "crash" in (one.assess, one.masked, one.check)]
    passed = sum(one.masked == one.check == "PASS" for one in every)
    assert passed > MANY // 3  # or it proves little
