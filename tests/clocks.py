"""Clocks that do not keep time, so that tests of limits do not depend on the machine."""

from types import SimpleNamespace


def set_clock(monkeypatch, step):
    """Every look at the clock is so many seconds later than the last."""
    now = 0.0

    def look():
        nonlocal now
        now += step
        return now

    monkeypatch.setattr("discreet.effort.time", SimpleNamespace(monotonic=look))
