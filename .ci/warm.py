"""Keep between runs what a run compiles: bytecode, compiled loops, what mypy found.

A fresh checkout has fresh times on its files, by which Python, numba and mypy tell that a file has
changed. So every source gets a time that follows from its content, and what was compiled from the
same content is put back beside it.
"""

import hashlib
import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "discreet-tests"
KERNELS = Path("src", "discreet", "_kernels", "__pycache__")
TREES = ("src", "tests", "benchmarks")
MOST_KEPT = 4  # sets of compiled loops


def digest(*parts: bytes) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "little") + part)
    return found.hexdigest()


def stamp_sources() -> None:
    """A time that follows from the content, within what a file of bytecode can hold."""
    for tree in TREES:
        for path in (ROOT / tree).rglob("*.py"):
            time = int(digest(path.read_bytes())[:7], 16) + 1_000_000_000
            os.utime(path, (time, time))


def kernels() -> Path:
    """Where the loops of exactly these sources are kept: one loop may call one of another file."""
    sources = sorted((ROOT / KERNELS).parent.glob("*.py"))
    lock = (ROOT / "constraints.txt").read_bytes()
    return HOME / "kernels" / digest(sys.version.encode(), lock, *(p.read_bytes() for p in sources))


def bytecode() -> Path:
    """Bytecode names the file that it is of, so it is kept for each checkout."""
    return HOME / "bytecode" / digest(str(ROOT).encode(), sys.version.encode())


def folders() -> list[Path]:
    """All folders of bytecode."""
    return [f.relative_to(ROOT) for tree in TREES for f in (ROOT / tree).rglob("__pycache__")]


def copy(source: Path, target: Path, pattern: str) -> None:
    """Copies what is there, each file whole or not at all."""
    target.mkdir(parents=True, exist_ok=True)
    for path in source.glob(pattern):
        part = target / f".{path.name}.{os.getpid()}"
        shutil.copy2(path, part)
        part.replace(target / path.name)


def restore() -> None:
    stamp_sources()
    copy(kernels(), ROOT / KERNELS, "*.nb*")
    kept = bytecode()
    for folder in kept.rglob("__pycache__"):
        if (ROOT / folder.relative_to(kept)).parent.is_dir():
            copy(folder, ROOT / folder.relative_to(kept), "*.pyc")
    if (HOME / "mypy").is_dir():
        shutil.copytree(HOME / "mypy", ROOT / ".mypy_cache", dirs_exist_ok=True)


def keep() -> None:
    copy(ROOT / KERNELS, kernels(), "*.nb*")
    shutil.rmtree(bytecode(), ignore_errors=True)
    for folder in folders():
        copy(ROOT / folder, bytecode() / folder, "*.pyc")
    if (ROOT / ".mypy_cache").is_dir():
        shutil.rmtree(HOME / "mypy", ignore_errors=True)
        shutil.copytree(ROOT / ".mypy_cache", HOME / "mypy")
    for name in ("kernels", "bytecode"):
        newest = sorted((HOME / name).iterdir(), key=lambda path: path.stat().st_mtime)
        for old in newest[:-MOST_KEPT]:
            shutil.rmtree(old, ignore_errors=True)


if __name__ == "__main__":
    {"restore": restore, "keep": keep}[sys.argv[1]]()
