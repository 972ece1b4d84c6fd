"""axe-core in a page: what it finds wrong, in a line each.

The script comes from npm into a folder of pytest's cache, once; where there is no npm, or it finds
nothing, tests that need it are skipped.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

VERSION = "4.10.3"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# what colours and widths can change of a page that was looked at before
STYLED = ["color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable",
          "aria-hidden-focus", "button-name", "link-name"]  # fmt: skip
RUN = """async only => {
    const found = await axe.run(document, { runOnly: only });
    return found.violations.map(one => [one.id, one.help, one.nodes.map(node => node.html)]);
}"""


def axe_script(cache):
    """The path of axe.min.js; `cache` is pytest's."""
    folder = Path(cache.mkdir("axe-core"))
    script = folder / VERSION / "axe.min.js"
    if not script.exists():
        _install(script)
    return script


def _install(script):
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm to install axe-core with")
    script.parent.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=script.parent.parent) as place:
        command = [npm, "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund",
                   "--prefix", place, f"axe-core@{VERSION}"]  # fmt: skip
        made = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        source = Path(place) / "node_modules" / "axe-core" / "axe.min.js"
        if not source.exists():
            pytest.skip(f"npm did not install axe-core {VERSION}: {made.stderr.strip()[-200:]}")
        script.parent.mkdir(exist_ok=True)
        ready = Path(place) / "axe.min.js"
        shutil.copy(source, ready)
        os.replace(ready, script)  # at once, for whoever else is testing


def violations(page, script, *, styled=False):
    """What axe finds wrong in a page of playwright; `styled`: by another look of the same page."""
    if not styled:
        page.evaluate(script.read_text(encoding="utf-8"))
    only = {"type": "rule", "values": STYLED} if styled else {"type": "tag", "values": TAGS}
    return [
        f"{rule}: {says}\n    " + "\n    ".join(html[:200] for html in nodes[:3])
        for rule, says, nodes in page.evaluate(RUN, only)
    ]
