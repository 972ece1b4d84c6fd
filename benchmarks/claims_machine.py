"""The machine in words, and the versions of what ran on it: no names, no paths."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = (
    "discreet", "numpy", "numba", "scipy", "highspy", "networkx", "pandas", "polars", "duckdb",
    "pyarrow", "pyspark", "distributed", "deltalake", "pycanon", "splink",
)  # fmt: skip
COMMANDS = {  # the words after a command that make it say its version
    "4ti2": ("4ti2-markov", "--version"),
    "normaliz": ("normaliz", "--version"),
    "R": ("Rscript", "--version"),
    "PostgreSQL": ("psql", "--version"),
    "Java": ("java", "-version"),
}
IN_R = ("GaussSuppression", "sdcMicro", "cat")


def machine() -> dict[str, Any]:
    """Cores that may be used, memory in GiB, and the processor's family."""
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        "cores": len(os.sched_getaffinity(0)),
        "memory": round(pages * size / 2**30),
        "processor": processor(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def processor() -> str:
    """The model as the system calls it, with its family where that is a number."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    said = {name.strip(): value.strip() for name, _, value in (at.partition(":") for at in lines)}
    model = said.get("model name", platform.machine())
    family = said.get("cpu family")
    return f"{model}, family {family}" if family else model


def versions() -> dict[str, str]:
    """Of Python and every package and command here that may be a rival."""
    found = {"Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    for name, words in COMMANDS.items():
        said = command_version(*words)
        if said:
            found[name] = said
    return found | r_versions()


def r_versions() -> dict[str, str]:
    """Of the packages of R that may be rivals."""
    if shutil.which("Rscript") is None:
        return {}
    asked = (
        f"for (one in c({str(IN_R)[1:-1]})) if (requireNamespace(one, quietly = TRUE)) "
        "cat(one, as.character(packageVersion(one)), '\\n')"
    )
    done = subprocess.run(["Rscript", "-e", asked], capture_output=True, text=True, timeout=60)
    pairs = (line.split() for line in done.stdout.splitlines())
    return {f"{name} (R)": version for name, version in pairs}


def command_version(*words: str) -> str | None:
    """The first number with a dot in what a command says of itself."""
    if shutil.which(words[0]) is None:
        return None
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    number = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
    return number.group() if number else "of unknown version"
