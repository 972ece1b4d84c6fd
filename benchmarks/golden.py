"""What every command of the tests says and writes, recorded and compared.

    PYTHONPATH=benchmarks python -m pytest -p golden tests/cli tests/test_docs.py   # records
    python benchmarks/golden.py BEFORE AFTER                                        # compares

`GOLDEN` names the folder to record in. A test may run several commands: they are numbered, so that
a command whose options were renamed is compared with what it was called before.
"""

import hashlib
import json
import os
import re
import sys
from collections import Counter
from pathlib import Path

SECRET = (
    (r"/tmp/[^\s'\",:]*", "FOLDER"),
    (r"\d+(\.\d+)? (s|seconds?|ms)\b", "SECONDS"),
    (r"\b[0-9a-f]{16,64}\b", "HASH"),
    (r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|\+00:00)?)?", "DAY"),
)
LARGEST = 200_000  # bytes of a file whose text is kept


def plain(text: str) -> str:
    """Without what differs from run to run."""
    for pattern, name in SECRET:
        text = re.sub(pattern, name, text)
    return text


def files(folder: Path) -> dict[str, str]:
    """The text of every file below a folder, or its hash."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.stat().st_size > 50_000_000:
            continue
        content = path.read_bytes()
        try:
            text = plain(content.decode()) if len(content) <= LARGEST else None
        except UnicodeDecodeError:
            text = None
        found[str(path.relative_to(folder))] = text or hashlib.sha256(content).hexdigest()
    return found


def pytest_configure(config):
    from click.testing import CliRunner

    folder = Path(os.environ.get("GOLDEN", "golden"))
    folder.mkdir(parents=True, exist_ok=True)
    invoke, numbers = CliRunner.invoke, Counter()

    def recording(self, cli, args=None, **options):
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        here = Path.cwd()
        before = files(here) if here.is_relative_to("/tmp") else {}
        result = invoke(self, cli, args, **options)
        after = files(here) if here.is_relative_to("/tmp") else {}
        numbers[test] += 1
        entry = {
            "test": f"{test} {numbers[test]}",
            "args": args if isinstance(args, str) else list(map(str, args or ())),
            "code": result.exit_code,
            "stdout": plain(result.stdout),
            "stderr": plain(result.stderr),
            "files": {name: text for name, text in after.items() if before.get(name) != text},
        }
        with (folder / f"{os.getpid()}.jsonl").open("a") as out:
            out.write(json.dumps(entry) + "\n")
        return result

    CliRunner.invoke = recording


def read(folder: str) -> dict[str, dict]:
    """What was recorded, by test and number."""
    lines = [line for path in Path(folder).glob("*.jsonl") for line in path.open()]
    return {entry["test"]: entry for entry in map(json.loads, lines)}


def differences(before: dict, after: dict):
    """What a command says or writes otherwise."""
    for test in sorted(before.keys() & after.keys()):
        old, new = before[test], after[test]
        for key in ("code", "stdout", "stderr", "files"):
            if old[key] != new[key]:
                yield test, key, old, new


def main(before: str, after: str) -> int:
    old, new = read(before), read(after)
    found = list(differences(old, new))
    for test, key, was, now in found:
        print(f"--- {test}: {key}\n  $ {was['args']}\n  $ {now['args']}")
        if key == "files":
            names = sorted(was[key].keys() | now[key].keys())
            print("  " + ", ".join(n for n in names if was[key].get(n) != now[key].get(n)))
        else:
            print(f"  was {was[key]!r}\n  is  {now[key]!r}"[:4_000])
    gone, come = old.keys() - new.keys(), new.keys() - old.keys()
    print(f"{len(old)} commands before, {len(new)} after, {len(gone)} gone, {len(come)} new")
    print(f"{len({test for test, *_ in found})} differ")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
