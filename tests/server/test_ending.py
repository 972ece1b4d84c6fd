"""SIGTERM ends the server in time, whatever is being computed."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

SCRIPT = """
import sys, time
from discreet.server import launch
from discreet.server.deciding.counter import Counter
from discreet.server.showing import perturbed

work, port, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
if hasattr(launch, "GRACE"):
    from discreet.server.operation import ending

    launch.GRACE = 1
    ending.ending_in_time.__wrapped__.__defaults__ = (5.0,)


def long(*given, **more):
    with open(f"{folder}/begun", "w"):
        pass
    time.sleep(300)


if work == "draw":
    perturbed._drawn = long
else:
    Counter.request = long
terms = ("server.rule=myopic", "bounds.proof=outer", "server.slot=0", "server.perturbed=true")
spec = launch.DataSpec("tract", "example:tract", set=terms)
settings = launch.Settings(
    database=f"sqlite:///{folder}/tables.db", port=port, cookies_over_http=True
)
launch.serve(settings, [spec])
"""


@pytest.mark.parametrize("work", ["draw", "decision"])
def test_sigterm_ends_it_whatever_runs(tmp_path, work):
    """With shorter times than in use: seconds instead of 28."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with open(tmp_path / "log", "wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, work, str(port), str(tmp_path)],
            stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        url = f"http://127.0.0.1:{port}"
        until(lambda: is_ready(url), server, tmp_path)
        path = f"{url}/api/v1/datasets/tract"
        sent = {
            "draw": ("GET", f"{path}/perturbed/4/Gender*Race*Income", None),
            "decision": ("POST", f"{path}/requests", {"variables": ["Gender", "Race"]}),
        }
        method, address, body = sent[work]
        with pytest.raises(httpx.TimeoutException):
            httpx.request(method, address, json=body, timeout=1.0)
        until((tmp_path / "begun").exists, server, tmp_path)
        server.send_signal(signal.SIGTERM)
        server.wait(30)
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def is_ready(url):
    try:
        return httpx.get(f"{url}/readyz", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


def until(holds, server, folder, seconds=120):
    end = time.monotonic() + seconds
    while not holds():
        assert server.poll() is None, Path(folder / "log").read_text()
        assert time.monotonic() < end
        time.sleep(0.05)
