"""What users import: every name is there, shows an example, and is found where it lives."""

import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import discreet as dc

PAGE = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")
PLACES = ("core", *dc.MODULES)
NAMES = [(place, name) for place in PLACES for name in import_module(f"discreet.{place}").__all__]
RELEASE = "Race*Income + Income*Gender"


def refuses(table, request):
    return 1 in table.counts


OF_RELEASE = {
    "bounds": (dc.bounds, ()),
    "count": (dc.count, ()),
    "posterior": (dc.posterior, ()),
    "average_posterior": (dc.beliefs.average_posterior, ()),
    "evidence": (dc.beliefs.evidence, (RELEASE,)),
    "log_marginal": (dc.beliefs.log_marginal, ()),
    "prior_sensitivity": (dc.beliefs.prior_sensitivity, ()),
    "refusal_posterior": (dc.beliefs.refusal_posterior, ("Race*Gender", refuses)),
}
OF_TABLE = {
    "alternatives": (dc.alternatives, ("Race",)),
    "assess": (dc.assess, ("Race",)),
    "decide": (dc.decide, ("Race",)),
    "frontier": (dc.frontier, ()),
    "tradeoff": (dc.frontiers.tradeoff, ([3],)),
    "widths": (dc.widths, ()),
}


@pytest.fixture(scope="module")
def tract():
    return dc.load("example:tract")


@pytest.fixture(scope="module")
def release(tract):
    return dc.Release.margins(tract, RELEASE)


@pytest.mark.parametrize("place", PLACES)
def test_names_are_sorted_and_there_once(place):
    module = import_module(f"discreet.{place}")
    assert module.__doc__
    assert list(module.__all__) == sorted(set(module.__all__))


@pytest.mark.parametrize(("place", "name"), NAMES, ids=[".".join(pair) for pair in NAMES])
def test_every_name_shows_an_example(place, name):
    found = getattr(import_module(f"discreet.{place}"), name)
    assert callable(found)
    assert ">>>" in (found.__doc__ or ""), f"give {found.__module__}.{name} one"


def test_a_name_means_one_thing():
    found = {}
    for place, name in NAMES:
        value = getattr(import_module(f"discreet.{place}"), name)
        assert found.setdefault(name, value) is value


def test_the_front_door_is_small():
    names = dir(dc)
    modules = [name for name in names if isinstance(getattr(dc, name), ModuleType)]
    assert sorted(modules) == sorted(dc.MODULES)
    assert len(names) <= 42
    assert len(names) - len(modules) <= 28


def test_no_name_at_the_door_hides_behind_a_module():
    core = import_module("discreet.core")
    assert not [name for name in core.__all__ if find_spec(f"discreet.{name}")]


@pytest.mark.parametrize(
    "place", ["frontiers.tradeoff", "users.choose", "linkage.Intruder", "server.Desk"]
)
def test_a_name_of_a_module_is_said_to_be_there(place):
    name = place.split(".")[1]
    with pytest.raises(AttributeError, match=re.escape(f"write dc.{place}.")):
        getattr(dc, name)


def test_an_unknown_name_is_told_what_there_is():
    with pytest.raises(AttributeError, match=r"has no 'guess'; it has .*bounds.*users"):
        dc.guess  # noqa: B018


def test_the_import_is_light():
    code = "import sys, discreet\nprint(*({'numpy', 'pandas', 'numba'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_every_module_can_be_imported_first():
    """Imports that only work after others would break `from discreet.results import Widths`."""
    code = """
import sys
from importlib import import_module
for place in sys.argv[1:]:
    for name in [name for name in sys.modules if name.split(".")[0] == "discreet"]:
        del sys.modules[name]
    import_module(f"discreet.{place}")
"""
    done = subprocess.run([sys.executable, "-c", code, *PLACES], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_page_names_what_there_is():
    called = re.findall(r"\bdc((?:\.\w+)+)\(", PAGE)
    assert len(called) >= 11
    for path in called:
        found = dc
        for name in path[1:].split("."):
            found = getattr(found, name)
        assert callable(found), path
    linked = re.findall(r"\[`(\w+)`\]\[([\w.]+)\]", PAGE)
    assert len(linked) >= 11
    for shown, path in linked:
        module, name = path.rsplit(".", 1)
        assert shown == name
        assert getattr(import_module(module), name) is getattr(dc.results, name)


def test_the_page_has_a_part_for_each_module():
    assert sorted(re.findall(r"<!-- names of discreet\.(\w+) -->", PAGE)) == sorted(PLACES)


def test_bounds_of_a_table_and_a_formula(tract, release):
    cells = tract.small()
    given, same = dc.bounds(tract, RELEASE, cells=cells), dc.bounds(release, cells=cells)
    assert given.upper.tolist() == [1, 2, 2, 2]
    assert np.array_equal(given.lower, same.lower)
    assert np.array_equal(given.upper, same.upper)


def test_count_of_a_table_and_a_formula(tract, release):
    assert dc.count(tract, RELEASE).tables == dc.count(release).tables == 59_400


def test_posterior_of_a_table_and_a_formula(tract, release):
    given, same = dc.posterior(tract, RELEASE), dc.posterior(release)
    assert len(given) == 18
    assert np.array_equal(given.mass, same.mass)
    assert np.array_equal(given.starts, same.starts)


@pytest.mark.parametrize("name", OF_RELEASE)
def test_a_table_alone_is_no_release(tract, name):
    function, _ = OF_RELEASE[name]
    with pytest.raises(dc.DisclosureError, match=f"^{name} asks about a release: say what is"):
        function(tract)


@pytest.mark.parametrize("name", OF_RELEASE)
def test_what_is_neither_release_nor_table_is_refused(name):
    function, further = OF_RELEASE[name]
    with pytest.raises(dc.DisclosureError, match=f"^{name} asks .* not about str; begin with"):
        function("example:tract", *further)


@pytest.mark.parametrize("name", OF_TABLE)
def test_a_release_has_no_table(release, name):
    function, further = OF_TABLE[name]
    with pytest.raises(dc.DisclosureError, match=f"^{name} needs the table itself, not Release"):
        function(release, *further)
