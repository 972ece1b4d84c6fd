"""Small random sheets, and every table of whole numbers that was printed so, one by one."""

import numpy as np

from discreet.data.codebook import Variable
from discreet.release.printed import Printed
from discreet.sheets.grouping import Grouping
from discreet.sheets.sheet import Sheet
from discreet.sheets.system import System

MANY = 100_000


def variables(*sizes):
    return [
        Variable(name, tuple(f"{name}{i}" for i in range(size)))
        for name, size in zip("ABCDE", sizes, strict=False)
    ]


def crossed(*sizes, total=True):
    """One sheet of all variables, with totals."""
    sheet = Sheet("1", tuple(Grouping.of(v, total=total) for v in variables(*sizes)))
    return System.of([sheet])


def two_codings():
    """A variable cut in two ways that lie across each other, by another one."""
    a, b = variables(4, 2)
    one = Grouping.cut(a, {"x": ["A0", "A1"], "y": ["A2", "A3"]})
    other = Grouping.cut(a, {"u": ["A0"], "v": ["A1", "A2"], "w": ["A3"]})
    return System.of(
        [Sheet("1", (one, Grouping.of(b))), Sheet("2", (other, Grouping.of(b, total=False)))]
    )


def linked():
    """Two sheets that share a variable, in two parts that agree."""
    a, b, c = variables(2, 2, 2)
    return System.of(
        [Sheet("1", (Grouping.of(a), Grouping.of(b))), Sheet("2", (Grouping.of(b), Grouping.of(c)))]
    )


KINDS = {
    "two ways": lambda: crossed(3, 3),
    "three ways": lambda: crossed(2, 2, 2),
    "two codings": two_codings,
    "linked": linked,
}


def counted(system, rng, mean=0.9):
    """Fine cells of a random table, and the printed values."""
    names = list(dict.fromkeys(name for part in system.parts for name in part.names))
    sizes = {g.name: g.variable.size for sheet in system.sheets for g in sheet.groupings}
    shape = [sizes[name] for name in names]
    table = rng.poisson(mean, shape)
    codes = {name: at.ravel() for name, at in zip(names, np.indices(shape), strict=True)}
    fine = system.fine(codes, table.ravel()).astype(float)
    return fine, system.sums @ fine


def published(system, rng, *, floor, share=0.5):
    """A random table of which a random share of the cells is hidden; zeros are not if floor 1."""
    fine, values = counted(system, rng)
    hidden = rng.random(system.cells) < share
    if floor:
        hidden &= values >= floor
    printed = Printed.suppressed(system, values, hidden, floor=floor)
    shown = system.sums[~hidden]
    if not (np.asarray(shown.sum(0)).ravel() > 0).all():  # else nothing ends the enumeration
        printed = Printed(system, printed.lower, printed.upper, most=float(fine.max() + 2))
    return fine, values, printed


def every_table(printed):
    """All fine tables of whole numbers that fit, as rows, column after column; none if many."""
    system = printed.system
    rows = np.vstack([system.sums.toarray(), system.agree.toarray()])
    zero = np.zeros(system.agree.shape[0])
    low, high = np.r_[printed.lower, zero], np.r_[printed.upper, zero]
    least = np.broadcast_to(printed.least, system.columns)
    most = np.broadcast_to(printed.most, system.columns)
    plus = (rows >= 0).all(1)
    last = np.array([np.flatnonzero(row).max() for row in rows])
    found, sums = np.zeros((1, 0)), np.zeros((1, len(rows)))
    for column in range(system.columns):
        here = plus & (rows[:, column] > 0)
        room = np.minimum((high[here] - sums[:, here]).min(1, initial=np.inf), most[column])
        assert np.isfinite(room).all()
        pieces = []
        for value in np.arange(least[column], room.max(initial=-1) + 1):
            chosen = room >= value
            pieces.append(
                (
                    np.column_stack([found[chosen], np.full(chosen.sum(), value)]),
                    sums[chosen] + value * rows[:, column],
                )
            )
        found = np.vstack([p[0] for p in pieces])
        sums = np.vstack([p[1] for p in pieces])
        over = last == column
        fits = (sums[:, over] >= low[over]).all(1) & (sums[:, over] <= high[over]).all(1)
        found, sums = found[fits], sums[fits]
        if len(found) > MANY:
            return None
    return found
