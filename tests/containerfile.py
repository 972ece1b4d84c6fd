"""A Containerfile, read as far as ours goes."""

import fnmatch
import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

KNOWN = {"FROM", "COPY", "RUN", "USER", "WORKDIR", "ENV", "VOLUME", "EXPOSE", "HEALTHCHECK",
         "STOPSIGNAL", "ENTRYPOINT"}  # fmt: skip


@dataclass
class Image:
    """What the last stage says, and the steps of all of them in order."""

    steps: list[tuple[str, str]] = field(default_factory=list)

    def last(self, word):
        return [value for name, value in self.steps if name == word][-1]

    @property
    def environment(self):
        words = [w for name, value in self.steps if name == "ENV" for w in shlex.split(value)]
        return dict(word.split("=", 1) for word in words)

    @property
    def entrypoint(self):
        return json.loads(self.last("ENTRYPOINT"))

    @property
    def healthcheck(self):
        return json.loads(self.last("HEALTHCHECK").removeprefix("CMD "))


def read(path):
    """Its instructions; unknown ones raise."""
    text = re.sub(r"\\\n", " ", Path(path).read_text(encoding="utf-8"))
    image = Image()
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        word, _, value = line.partition(" ")
        if word not in KNOWN:
            raise ValueError(f"{path}: {word} is not known here")
        image.steps.append((word, value.strip()))
    return image


def sent(root):
    """The names at the top of the checkout that .dockerignore lets into the image."""
    lines = (Path(root) / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    kept = []
    for path in sorted(Path(root).iterdir()):
        inside = True
        for rule in rules:
            if fnmatch.fnmatch(path.name, rule.removeprefix("!")):
                inside = rule.startswith("!")
        if inside:
            kept.append(path.name)
    return kept
