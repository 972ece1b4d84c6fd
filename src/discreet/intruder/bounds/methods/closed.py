"""The closed form: what is not made up of released margins is refused."""

from __future__ import annotations

from discreet.errors import DataError
from discreet.intruder.bounds.method import Asked
from discreet.intruder.bounds.part import Found, Part

SPLITS = True


def bound(part: Part, asked: Asked) -> Found:
    exact = part.exact(asked.names, asked.codes)
    if exact is None:
        raise DataError(
            f"{part.release.formula} is not decomposable over {'*'.join(asked.names)}, so it has "
            "no closed form; use the method auto."
        )
    return exact
