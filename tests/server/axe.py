"""axe-core, the checker of accessibility: fetched from npm once, kept in the user's cache."""

import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest

VERSION = "4.10.3"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "discreet-tests"
RUN = "rules => axe.run({runOnly: rules}).then(found => found.violations)"


def axe_source():
    """The script, or a skipped test where npm cannot get it."""
    kept = CACHE / f"axe-{VERSION}.js"
    if not kept.exists():
        if shutil.which("npm") is None:
            pytest.skip("npm is not installed: no axe-core to check pages with")
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            words = ["npm", "pack", "--silent", f"axe-core@{VERSION}"]
            try:
                subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=120)
            except (subprocess.SubprocessError, OSError):
                pytest.skip(f"npm cannot get axe-core {VERSION}: no checker of accessibility")
            with tarfile.open(Path(folder) / f"axe-core-{VERSION}.tgz") as packed:
                script = packed.extractfile("package/axe.min.js").read()
            part = Path(folder) / "axe.js"
            part.write_bytes(script)
            part.replace(kept)
    return kept.read_text(encoding="utf-8")


def violations(page, source):
    """What is wrong with a page, one line each: rule, where, and what to do."""
    page.evaluate(source)
    return [
        f"{found['id']}: {node['html']} {node['failureSummary']}"
        for found in page.evaluate(RUN, RULES)
        for node in found["nodes"]
    ]
