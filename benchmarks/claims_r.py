"""Rivals in R: timed inside R, so that its start does not count."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from claims_session import Claiming

HEAD = """
timed <- function(work, times) {{
  work()
  min(sapply(seq_len(times), function(k) {{
    gc(FALSE); start <- proc.time()[["elapsed"]]
    for (again in seq_len({loops})) work()
    (proc.time()[["elapsed"]] - start) / {loops}
  }}))
}}
"""


def needs_r(claim: Claiming, *packages: str) -> None:
    """Skips the test, and names what is absent, unless R and its packages are here."""
    if shutil.which("Rscript") is None:
        claim.absent("R", "`apt-get install --no-install-recommends r-base-core`")
    for package in packages:
        asked = f"quit(status = !requireNamespace('{package}', quietly = TRUE))"
        if subprocess.run(["Rscript", "-e", asked], capture_output=True).returncode:
            claim.absent(f"{package} (R)", f"in R `install.packages('{package}')`")


def in_r(code: str, folder: Path, loops: int = 1) -> list[str]:
    """The lines that R prints, run in a folder; `timed(work, times)` there gives the best time.

    R's clock has milliseconds, so that short work is done `loops` times.
    """
    done = subprocess.run(
        ["Rscript", "--vanilla", "-"], input=HEAD.format(loops=loops) + code, cwd=folder,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
