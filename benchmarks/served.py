"""A real server in its own process, for benchmarks: started, asked, killed."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

QUIET = {
    "DISCREET_REQUESTS_PER_MINUTE": "1000000",
    "DISCREET_DECISIONS_PER_MINUTE": "1000000",
    "DISCREET_SECRET": "of these benchmarks, which nobody else has",
}


class Served:
    """`discreet serve` on a free port."""

    def __init__(self, *arguments, database, workers=1, env=()):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.command = [
            sys.executable, "-m", "discreet", "serve", *arguments, "--http",
            "--database", database, "--port", str(self.port), "--workers", str(workers),
        ]  # fmt: skip
        self.env = os.environ | QUIET | dict(env)
        self.log = Path(tempfile.gettempdir()) / f"served-{self.port}.log"
        self.process = None

    def start(self, seconds=300):
        """Until it is ready."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.command, env=self.env, stdout=log, stderr=log, start_new_session=True
            )
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(self.log.read_text()[-3000:])
            try:
                if httpx.get(f"{self.url}/readyz", timeout=5).status_code == 200:
                    return self
            except httpx.HTTPError:
                pass
            time.sleep(0.02)
        self.kill()
        raise TimeoutError(self.log.read_text()[-3000:])

    def kill(self):
        """-9, all of it, at once."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """As an operator would."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(40)
            except subprocess.TimeoutExpired:
                self.kill()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


def ask(client, slug, names):
    """The outcome of a request."""
    answer = client.post(f"/api/v1/datasets/{slug}/requests", json={"variables": list(names)})
    assert answer.status_code in (200, 202), (answer.status_code, answer.text)
    return answer.json()


def status(client, slug, names):
    found = client.get(f"/api/v1/datasets/{slug}/status", params={"variables": ",".join(names)})
    assert found.status_code == 200, found.text
    return found.json()["status"]


def write_specs(path, specs):
    """A TOML file of data sets."""
    lines = []
    for spec in specs:
        lines.append("[[datasets]]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in spec.items()]
        lines.append("")
    path.write_text("\n".join(lines))
    return path
