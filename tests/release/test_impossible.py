"""A release knows what is impossible in its table."""

import numpy as np

from discreet.release.release import Known, Release
from discreet.table.table import Table


def table():
    found = Table.of(
        [[[100, 80], [0, 0]], [[1, 1], [90, 70]]],
        Age50=["<50", "50+"], Age51=["<51", "51+"], Region=["N", "S"],
    )  # fmt: skip
    return found.excluding([{"Age50": "<50", "Age51": "51+"}])


ZERO = Known((("Age50", "<50"), ("Age51", "51+")), 0, 0, "structural zero")


def test_margins_bring_it_along():
    release = Release.margins(table(), "Age50*Region + Age51*Region")
    assert release.known == (ZERO,)
    assert release.ranges == ()
    assert [(names, codes.tolist()) for names, codes in release.zeros] == [
        (("Age50", "Age51"), [[0, 1]])
    ]
    closed = release.closed(table().all().codes).reshape(2, 2, 2)
    assert closed[0, 1].all()
    assert np.count_nonzero(closed) == 2


def test_a_margin_that_shows_it_says_enough():
    assert Release.margins(table(), "Age50*Age51 + Region").known == ()


def test_releases_add_up():
    first, second = (Release.margins(table(), f) for f in ("Age50*Region", "Age51*Region"))
    assert (first + second).known == (ZERO,)
    both = Release.of([table().margin("Age50*Region"), table().margin("Age51*Region")])
    assert both.known == ()
    assert both.excluding(table()).known == (ZERO,)
