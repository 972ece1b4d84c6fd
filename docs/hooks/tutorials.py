"""Runs the tutorials as the site is built: their words, code and what it shows become pages.

A notebook is kept without outputs, so that nothing in it is older than the program.
"""

from __future__ import annotations

import ast
import json
import os
from base64 import b64encode
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from html import escape
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

FOLDER = Path(__file__).parents[1] / "tutorials"
UNRUN = "DISCREET_TUTORIALS_UNRUN"  # in the environment: pages without what cells show


class Ran(NamedTuple):
    """A cell, what it printed, the value of its last line, and what was logged beside it."""

    kind: str
    source: str
    printed: str = ""
    value: Any = None
    logged: str = ""


def run(path: Path, folder: Path, namespace: dict[str, Any]) -> Iterator[Ran]:
    """Every cell in order, in one namespace and one folder, as a kernel would."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield Ran("markdown", source)
            continue
        if os.environ.get(UNRUN):
            yield Ran("code", source)
            continue
        with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as log, chdir(folder):
            value = execute(source, f"{path.name}:{cell['id']}", namespace)
        yield Ran("code", source, out.getvalue(), value, log.getvalue())


def execute(source: str, name: str, namespace: dict[str, Any]) -> Any:
    """The value of the last line, if it has one."""
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec", dont_inherit=True), namespace)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), name, "eval", dont_inherit=True), namespace)


def page(path: Path) -> str:
    """A notebook as Markdown, with what its cells show."""
    with TemporaryDirectory() as folder:
        parts = [part for ran in run(path, Path(folder), {}) for part in shown(ran)]
    title, _, rest = "\n\n".join(parts).partition("\n")
    return f"{title}\n\n[Download this notebook]({path.name})\n{rest}\n"


def shown(ran: Ran) -> Iterator[str]:
    if ran.kind == "markdown":
        yield ran.source
        return
    yield f"```python\n{ran.source}\n```"
    if ran.printed.strip():
        yield f"```text\n{ran.printed.rstrip()}\n```"
    if ran.value is not None:
        yield output(ran.value)


def output(value: Any) -> str:
    """As a notebook shows it: a picture, HTML, or text."""
    if hasattr(value, "_repr_mimebundle_"):
        found = value._repr_mimebundle_()
        data = b64encode(found["image/svg+xml"].encode()).decode()
        words = escape(found["text/plain"])
        picture = f'<img alt="{words}" src="data:image/svg+xml;base64,{data}" />'
        return f'<div class="shown">{picture}</div>'
    if hasattr(value, "_repr_html_"):
        return f'<div class="shown">{value._repr_html_()}</div>'
    return f"```text\n{value!r}\n```"


def on_files(files: Any, config: Any) -> Any:
    """A page for each notebook; the notebook itself lies beside it."""
    from mkdocs.structure.files import File

    for path in sorted(FOLDER.glob("*.ipynb")):
        name = f"tutorials/{path.stem}.md"
        files.append(File.generated(config, name, content=page(path)))
    return files
