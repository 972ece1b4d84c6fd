"""`discreet posterior` on counts of 10^8 and more: an answer or a sentence, soon and small."""

import subprocess
import sys
from itertools import product

import pytest

PEAK = """
import sys
from discreet.cli import main
try:
    main(sys.argv[1:])
finally:
    status = open("/proc/self/status").read().split("VmHWM:")[1]
    print("PEAK", int(status.split()[0]), file=sys.stderr)
"""
PAIRS = "A*B + A*C + B*C"
needs_proc = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")

LONG = ("--limit", "250")  # a busy machine answers too


def asked(path, counts, release, model, *more):
    """The exit code, what was said, and the peak in kilobytes."""
    cells = zip(product("ab", "cd", "ef"), counts, strict=True)
    path.write_text("\n".join(["A,B,C,n", *(f"{','.join(c)},{n}" for c, n in cells)]))
    words = ["--count", "n", "--release", release, "--model", model, "--limit", "5", *more]
    done = subprocess.run(
        [sys.executable, "-c", PEAK, "posterior", str(path), *words],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    said, _, peak = done.stderr.rpartition("PEAK")
    return done.returncode, done.stdout, said, int(peak)


@needs_proc
@pytest.mark.parametrize(
    ("release", "model", "size"),
    [
        (PAIRS, "average", 10**9),
        ("A*B + B*C", "uniform", 10**8),
        ("A*B + B*C", "A*B + B*C", 10**9),  # 10^8 are drawn
    ],
)
def test_what_is_too_large_is_refused_in_a_sentence(tmp_path, release, model, size):
    counts = [2, *(size + 17 * n for n in range(7))]
    code, out, said, peak = asked(tmp_path / "t.csv", counts, release, model)
    assert code == 2
    assert not out
    assert said.startswith("discreet: ")
    assert "Traceback" not in said
    assert peak < 1_000_000


@needs_proc
def test_small_cells_among_large_ones_are_answered(tmp_path):
    """Two small cells leave six tables, however large the others are."""
    counts = [2, 3, 10**8, 10**8 + 7, 2 * 10**8, 10**8, 3 * 10**8, 9 * 10**8]
    code, out, _, peak = asked(tmp_path / "t.csv", counts, PAIRS, "uniform", "--small", "3", *LONG)
    assert code == 0
    assert "exact, 6 tables" in out
    assert "0.1667" in out
    assert peak < 1_000_000


@needs_proc
def test_large_tables_are_drawn_by_how_many_of_each_kind(tmp_path):
    counts = [2, *(10**8 + 17 * n for n in range(7))]
    model = "A*B + B*C"
    for draws, more in (("50", ("--draws", "50")), ("1,000", ())):
        code, out, said, peak = asked(tmp_path / "t.csv", counts, model, model, *more, *LONG)
        assert code == 0, said
        assert f"{draws} independent draws" in out
        assert peak < 1_000_000
