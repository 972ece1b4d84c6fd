"""What the documentation shows is run, what exists is documented, and the site needs no network."""

from __future__ import annotations

import dataclasses
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from click.testing import CliRunner

from discreet.cli import main
from discreet.data.codebook import Codebook, Entry
from discreet.data.encode import MOST_CATEGORIES
from discreet.data.examples import EXAMPLES
from discreet.data.readers import READERS
from discreet.decision.frontier.frontier import frontier
from discreet.decision.law.assess import assess
from discreet.decision.law.policy import Policy
from discreet.intruder.bounds.methods import METHODS
from discreet.intruder.bounds.opencells import MOST_CELLS, MOST_OPEN
from discreet.server.formats import Format
from discreet.table.load import load

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```[ ]*$", re.MULTILINE | re.DOTALL)
SHELLS = ("console", "bash", "sh", "shell")


class Block(NamedTuple):
    language: str
    title: str
    body: str
    line: int
    after: str  # the text between the block before and this one


def blocks(page: Path) -> Iterator[Block]:
    text, last = page.read_text(encoding="utf-8"), 0
    for match in FENCE.finditer(text):
        indent, head, body = match.groups()
        title = re.search(r'title="([^"]+)"', head)
        body = re.sub(f"^{indent}", "", body, flags=re.MULTILINE)
        line = text.count("\n", 0, match.start()) + 2
        language = head.split()[0] if head.split() else ""
        yield Block(language, title[1] if title else "", body, line, text[last : match.start()])
        last = match.end()


def squash(text: str) -> str:
    return " ".join(text.split())


def check_shown(shown: str, real: str, where: str) -> None:
    """The shown lines occur in the real output, in this order; `...` stands for anything."""
    output, place = squash(real), 0
    for line in shown.splitlines():
        for part in filter(None, map(squash, line.split("..."))):
            found = output.find(part, place)
            assert found >= 0, f"{where} shows {part!r}, but the output is\n{real}"
            place = found + len(part)


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """Each command of a shell block and what is shown below it."""
    body = block.body.replace("\\\n", " ")
    if block.language == "console":
        for piece in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            command, _, shown = piece.partition("\n")
            yield command.strip(), shown
    else:
        for line in body.splitlines():
            yield line.removeprefix("$ ").strip(), ""


def run(command: str) -> tuple[int, str]:
    """The exit code and the output of `discreet ...`, which may go to a file."""
    words = shlex.split(command, comments=True)
    target = None
    if ">" in words:
        target = words[words.index(">") + 1]
        words = words[: words.index(">")]
    result = CliRunner().invoke(main, words[1:])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if target:
        Path(target).write_text(result.stdout, encoding="utf-8")
    return result.exit_code, result.output


def run_commands(block: Block, where: str) -> None:
    """A shown verdict states the exit code, 0 or 1; output without one states 0, or `echo $?`."""
    code, stated = 0, True
    for command, shown in commands(block):
        if command == "echo $?":
            assert int(shown) == code, f"{where}: the exit code is {code}"
            stated = True
        elif command.startswith("discreet ") and "|" not in command:
            assert stated, f"{where}: a command ended with {code}; show `echo $?` below it"
            code, output = run(command)
            check_shown(shown, output, f"{where} ({command})")
            verdict = re.search(r'^(?:\W*|.*"verdict": ")(PASS|REVIEW|FAIL)\b', shown, re.MULTILINE)
            stated = code == (0 if verdict is None or verdict[1] == "PASS" else 1)
            stated |= not shown.strip() and code == 1
    assert stated, f"{where}: a command ended with {code}; show `echo $?` below it"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_a_page_shows_is_true(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In order: files that the page shows are written, Python and commands are run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("DISCREET_DATA", raising=False)
    monkeypatch.setattr("uvicorn.run", lambda *app, **options: None)  # up to listening
    namespace: dict[str, Any] = {"__name__": "__docs__"}
    printed = None
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        if block.title:
            Path(block.title).write_text(block.body, encoding="utf-8")
        elif block.language == "python":
            out = io.StringIO()
            with redirect_stdout(out):
                exec(compile(block.body, where, "exec", dont_inherit=True), namespace)
            printed = out.getvalue()
            continue
        elif block.language in SHELLS:
            run_commands(block, where)
        elif block.language == "text" and printed is not None and not block.after.strip():
            check_shown(block.body, printed, where)
        printed = None


@pytest.mark.parametrize(
    ("script", "prints"),
    [
        ("first_verdict.py", ["FAIL", "can be narrowed to 0-1", "merge Race"]),
        ("bounds_of_a_release.py", ["closed form, sharp", "linear, sharp, narrowest width 0"]),
        ("records_to_verdict.py", ["600 in", "FAIL", "Instead: merge Town"]),
        ("policy_of_an_office.py", ["width = 5", "FAIL", "Refused: small.width is locked at 5"]),
    ],
)
def test_an_example_runs(script: str, prints: list[str], tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    result = subprocess.run(
        [sys.executable, ROOT / "examples" / script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert result.returncode == 0, result.stderr
    for text in prints:
        assert text in result.stdout
    assert not list(tmp_path.iterdir())


def test_every_example_is_short_tested_and_public() -> None:
    scripts = sorted((ROOT / "examples").glob("*.py"))
    tested = next(m for m in test_an_example_runs.pytestmark if m.name == "parametrize").args[1]
    assert {script.name for script in scripts} == {name for name, _ in tested}
    for script in scripts:
        text = script.read_text(encoding="utf-8")
        assert len(text.splitlines()) < 40
        assert "from discreet" not in text
        assert "import discreet." not in text


def section(page: str, heading: str) -> str:
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.search(rf"^## {heading}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"{page} has no section {heading!r}"
    return found[1]


def test_every_policy_key_is_documented_with_its_default() -> None:
    guide = (DOCS / "guide.md").read_text(encoding="utf-8")
    for key, value in Policy().to_dict().items():
        row = re.search(rf"^\| `{re.escape(key)}` \| `([^`]+)` \|", guide, re.MULTILINE)
        assert row, f"guide.md does not document {key}"
        shown = f'"{value}"' if isinstance(value, str) else str(value)
        assert row[1] == (shown.lower() if isinstance(value, bool) else shown)


def test_limits_are_documented() -> None:
    guide = (DOCS / "guide.md").read_text(encoding="utf-8")
    assert f"up to {MOST_CATEGORIES:,} categories" in guide
    assert f"up to {MOST_OPEN:,} cells open" in guide
    assert f"up to {MOST_CELLS // 10**6} million cells" in guide


def test_every_codebook_key_is_documented() -> None:
    guide = (DOCS / "guide.md").read_text(encoding="utf-8")
    general = {field.name for field in dataclasses.fields(Codebook)} - {"entries", "documents"}
    own = {field.name for field in dataclasses.fields(Entry)} | {"categories"}
    for key in [*general, *(f"variables.NAME.{name}" for name in own)]:
        assert f"| `{key}` |" in guide, f"guide.md does not document {key}"


def parameters(command: click.Command) -> list[click.Parameter]:
    """Of a command, and of those below it."""
    below = command.commands.values() if isinstance(command, click.Group) else ()
    return [*command.params, *(p for one in below for p in parameters(one))]


@pytest.mark.parametrize("name", sorted(main.commands))
def test_every_option_is_documented(name: str) -> None:
    text = section("commands.md", name)
    if "DATA" in text:
        text += section("commands.md", "DATA")
    for parameter in parameters(main.commands[name]):
        if isinstance(parameter, click.Option):
            option = max((*parameter.opts, *parameter.secondary_opts), key=len)
            assert f"`{option}" in text, f"commands.md does not document {option} of {name}"


def test_no_option_is_documented_that_is_not_there() -> None:
    known = {"--help", "--version"} | {
        option
        for command in main.commands.values()
        for parameter in parameters(command)
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    shown = set()
    for page in ("commands.md", "guide.md", "index.md", "concepts.md"):
        shown |= set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", (DOCS / page).read_text("utf-8")))
    assert shown <= known


def test_the_keys_of_the_json_documents_are_documented() -> None:
    document = assess(load("example:tract"), "Gender*Income + Race").to_json()
    text = section("commands.md", "assess")
    for key in [*document, *document["risk"]]:
        assert f"`{key}`" in text, f"commands.md does not document the key {key} of assess"


def test_every_key_of_frontier_is_documented() -> None:
    text = section("commands.md", "frontier")
    for key in frontier(load("example:tract")).to_json():
        assert f"`{key}`" in text, f"commands.md does not document the key {key} of frontier"


def test_every_example_is_listed() -> None:
    text = section("commands.md", "examples")
    for example in EXAMPLES:
        assert f"example:{example.name}" in text


def test_the_sections_of_the_report_are_explained() -> None:
    folder = ROOT / "src/discreet/report"
    templates = [folder / f"{name}.html.j2" for name in ("assessment", "judged", "page")]
    text = "".join(template.read_text(encoding="utf-8") for template in templates)
    there = re.findall(r'<h2 id="[^"]*">([^<{]+)</h2>', text)
    told = re.findall(r"^\| \*\*(.+?)\*\* \|", section("index.md", "Reading the report"), re.M)
    assert sorted(there) == sorted(told)


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in PAGES:
        for target in re.findall(r"\bmake ([a-z]+)`", page.read_text(encoding="utf-8")):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{page.name}: make {target}"


def test_every_file_that_contributing_names_is_there() -> None:
    """NAME and CODE stand for what is added: there the folder is."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|tests|docs|deploy|benchmarks|\.ci)/[^`\s]*|\w+\.toml)`", text)
    assert len(named) > 20
    for name in named:
        path = ROOT / name
        if re.search(r"\b(NAME|CODE)\b", path.name):
            path = path.parent
        assert path.exists() or "<" in name, f"CONTRIBUTING.md names {name}"


def test_what_registries_hold_is_documented() -> None:
    """Methods for bounds, formats of the server, kinds of files."""
    guide = (DOCS / "guide.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| `bounds.method` \|.*$", guide, re.MULTILINE)
    (option,) = re.findall(
        r"^\| `--method M` \|.*$", section("commands.md", "bounds"), re.MULTILINE
    )
    for method in METHODS:
        assert f"`{method}`" in row
        assert f"`{method}`" in option
    formats = section("server-public.md", "Formats")
    for kind in Format:
        assert re.search(rf"^\| [^|]*`{kind}`", formats, re.MULTILINE), kind
    for suffix in READERS:
        assert f"`{suffix}`" in guide, f"guide.md does not say that {suffix} is read"


def test_no_page_has_a_path_of_somebodys_machine() -> None:
    for page in PAGES:
        assert not re.search(r"/(home|root|work|Users)/|\.\./shared", page.read_text("utf-8"))


class Assets(HTMLParser):
    """Addresses that a browser fetches by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag in ("script", "img", "iframe", "source", "video", "audio"):
            self.found.append(values.get("src") or "")
        elif tag == "link" and values.get("rel") not in ("canonical", "prev", "next"):
            self.found.append(values.get("href") or "")


def test_the_site_builds_and_asks_nothing_of_the_network(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)],
        cwd=ROOT,
        # what tutorials show is tested with them
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "DISCREET_TUTORIALS_UNRUN": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    pages = sorted(tmp_path.rglob("*.html"))
    assert len(pages) >= len(list(DOCS.rglob("*.md")))
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assets = Assets()
        assets.feed(text)
        for address in assets.found:
            assert not re.match(r"(https?:)?//", address), f"{page.name} fetches {address}"
        assert "fonts.g" not in text
        assert 'class="mermaid"' not in text  # the theme would fetch a script for it
    for style in tmp_path.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert not re.search(r"(url\(|@import )[\"']?(https?:)?//", text), style.name
    assert (tmp_path / "search" / "search_index.json").is_file()
