"""Whatever a public function returns, a notebook shows: short, escaped, without any network."""

import dataclasses
import inspect
import re
import typing
from enum import Enum
from functools import cache
from html import unescape
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.look.notebook import CONFIDENTIAL, MOST, NO_FORMULAS, Item, Rows, card
from discreet.look.palette import LIGHT
from discreet.look.result import Result, Shown
from laws.test_results import made
from paged import check_tags

PLACES = ("core", *dc.MODULES)
MOST_HTML = 20_000
BUILT_IN = (Enum, tuple, BaseException)  # these show themselves in a line


def parts(kind):
    """The classes in a type: those of the arguments, where it has some."""
    if typing.get_origin(kind) is None:
        yield kind
    for argument in typing.get_args(kind):
        yield from parts(argument)


def returned(function):
    """The classes of ours that a function says it returns."""
    try:
        kind = typing.get_type_hints(function).get("return")
    except NameError:  # a name that is imported for type checkers alone
        return
    for found in parts(kind):
        if inspect.isclass(found) and found.__module__.startswith("discreet."):
            yield found


def public():
    """Every public class, and what public functions and methods return."""
    for place in PLACES:
        module = import_module(f"discreet.{place}")
        for name in module.__all__:
            found = getattr(module, name)
            if not inspect.isclass(found):
                yield from returned(found)
                continue
            yield found
            for each, value in vars(found).items():
                method = getattr(value, "fget", getattr(value, "func", value))
                method = getattr(method, "__func__", method)
                if not each.startswith("_") and inspect.isfunction(method):
                    yield from returned(method)


def test_all_that_public_functions_return_is_shown():
    kinds = {kind for kind in public() if not issubclass(kind, BUILT_IN)}
    plain = {
        kind.__name__
        for kind in kinds
        if not issubclass(kind, Shown) and not getattr(kind, "_is_protocol", False)
    }
    assert len(kinds) > 150
    assert plain == {"Settings"}  # pydantic's: it hides its secrets by itself


@cache
def shown():
    """One of each class that is shown: results, what they hold, and what they are made from."""
    found = {}
    for result in [*made().values(), *more()]:
        gather(result, found, depth=4)
    return found


def gather(value, found, depth):
    if isinstance(value, Shown):
        found.setdefault(type(value).__name__, value)
    if depth and dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            gather(getattr(value, field.name), found, depth - 1)
    elif depth and isinstance(value, tuple | list | dict):
        for each in list(value.values() if isinstance(value, dict) else value)[:3]:
            gather(each, found, depth - 1)


def more():
    people = pd.DataFrame({"town <b>": [*"AABB"], "ill": [1, 0, 0, 0], "people": [8, 8, 9, 9]})
    tract = dc.load("example:tract")
    yield dc.Microdata.read(people, records=True)
    yield dc.Codebook.of({"town <b>": {"role": "identifying", "categories": ["A <b>", "B"]}})
    yield dc.Policy.of({"small.width": 5})
    yield dc.server.Desk(tract, dc.Policy.of({"server.rule": "myopic"})).ask("Gender*Race*Income")
    yield dc.server.Desk(tract, dc.Policy.of({"server.rule": "myopic"}))
    yield dc.server.DataSpec("tract", "example:tract", title="A <b>tract</b>")
    yield dc.files.RecordFile(people)
    yield dc.files.mask_of("noise", {"columns": "people", "spread": 0.2})
    yield dc.linkage.Intruder.of({"keys": {"people": {"kind": "normal", "spread": 2}}})
    yield dc.survey.read_domains(
        people, sample_size=None, population="people", cell_count="ill", domain="town <b>"
    )
    yield from (dc.uncertainty.Entropy(), dc.uncertainty.Gamma(2, 3))
    yield dc.beliefs.CellWeights.uniform()


def test_many_kinds_are_looked_at():
    assert len(shown()) > 120
    assert {"Policy", "Release", "Formula", "Reason", "Answer", "Microdata"} <= {*shown()}


def test_it_is_short_escaped_and_needs_no_network():
    for name, value in shown().items():
        source = value._repr_html_()
        check_tags(source)
        assert source.startswith(f'<div class="{NO_FORMULAS}"><p>'), name
        assert len(source) < MOST_HTML, name
        for word in ("<b>", "<i>", "<script", "http:", "https:", "src=", "<style", "\n", "\x1b"):
            assert word not in source, (name, word)


def test_it_begins_with_the_verdict_and_the_line():
    for name, value in shown().items():
        source = value._repr_html_()
        line = " ".join(value._shown_line().split())[:40]
        first = " ".join(unescape(re.sub(r"<[^>]*>", "", source)).split())
        verdict = getattr(value, "verdict", None)
        if isinstance(verdict, str):
            assert first.startswith(f"{dc.Verdict(verdict).symbol} {verdict} {line}"), name
        else:
            assert first.startswith(line), name


def test_what_holds_unpublished_counts_says_confidential():
    for name, value in shown().items():
        says = CONFIDENTIAL in value._repr_html_()
        assert says == value._unpublished, name
    public = {name for name, value in shown().items() if not value._unpublished}
    assert {"Policy", "Formula", "Release", "Codebook", "Answer"} <= public
    held = {name for name, value in shown().items() if isinstance(value, Result)}
    assert {"Table", "CellBounds", "Posterior", "Identification", "Widths"} <= held - public


def test_a_decision_is_a_list_of_reasons():
    found = dc.assess(dc.load("example:tract"), "Race*Income + Income*Gender")
    source = found._repr_html_()
    assert "<table" not in source
    assert source.count("<li>") == len(found.decision.reasons) + len(found.alternatives) == 5
    for reason in found.decision.reasons:
        assert reason.text.split("$")[0] in unescape(source)


def test_of_many_rows_the_first_are_shown_and_the_rest_counted():
    source = dc.widths(dc.load("example:czech"))._repr_html_()
    assert source.count("<tr>") == MOST + 1
    assert f"{63 - MOST} more rows: see to_frame()." in source
    wide = card("x", rows=Rows({f"c{k}": [k] for k in range(20)}, 1))
    assert "8 more columns: see to_frame()." in wide


def test_a_page_of_any_colour_can_be_read():
    """Only the verdict is coloured, on a ground of its own; W3C's contrast is 4.5 or more."""
    source = card(
        "x", verdict="FAIL", items=[Item("a", "PASS")], rows=Rows({"a": [1]}, 1), note="n"
    )
    rest = re.sub(r"background:#[0-9a-f]{6};color:#fff;", "", source)
    assert not re.search(r"color|background|#[0-9a-f]{3}", rest)
    for verdict in dc.Verdict:
        assert 1.05 / (luminance(LIGHT[verdict]) + 0.05) >= 4.5


def luminance(colour):
    values = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def test_values_are_written_as_they_are_read():
    rows = Rows({"n": [1.0, float("nan"), 0.123456789], "cell": [{"a": "x"}, None, "<b>"]}, 3)
    source = card("x", rows=rows)
    assert re.findall(r"<td[^>]*>([^<]*)</td>", source) == [
        "1",
        "x",
        "",
        "",
        "0.123457",
        "&lt;b&gt;",
    ]


@pytest.mark.parametrize("width", [340, 660])
def test_a_chart_is_a_picture_that_fetches_nothing(width):
    chart = dc.assess(dc.load("example:tract"), "Race*Income").plot(width=width)
    found = chart._repr_mimebundle_()
    assert set(found) == {"image/svg+xml", "text/plain"}
    addresses = re.findall(r'(?:href|src|xmlns[:\w]*)="([^"]*)"', found["image/svg+xml"])
    assert all(address.startswith("http://www.w3.org/") for address in addresses)
    assert "<script" not in found["image/svg+xml"]
    assert not hasattr(chart, "_repr_html_")
    assert repr(chart).startswith("Chart(")
