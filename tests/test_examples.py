"""Every example in a docstring runs, and says what it prints."""

import doctest
import importlib
from pathlib import Path

import pytest

import discreet

PACKAGE = Path(discreet.__file__).parent
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
# found by their text, so that nothing is imported only to be looked at
SHOWN = sorted(path for path in PACKAGE.rglob("*.py") if ">>> " in path.read_text("utf-8"))


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_examples_run(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    module = importlib.import_module(".".join(p for p in parts if p != "__init__"))
    tests = [t for t in doctest.DocTestFinder().find(module) if t.examples]
    assert tests, f"{path.name} has no example that is found"
    runner, said = doctest.DocTestRunner(optionflags=FLAGS), []
    for test in tests:
        runner.run(test, out=said.append)
    assert not runner.failures, "".join(said)
