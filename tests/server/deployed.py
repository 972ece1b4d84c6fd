"""A server as an office runs it: `discreet serve` in a process, and nginx with TLS before it."""

import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
HOST = "tables.example.org"
START = 120  # seconds: loops may have to be compiled
STOP = 45  # seconds, as in the unit


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(**settings):
    """Without whatever settings the tests are run with."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("DISCREET_")}
    return own | {f"DISCREET_{name.upper()}": str(value) for name, value in settings.items()}


def discreet(*words, given="", **settings):
    """What a command prints; it must succeed."""
    done = subprocess.run(
        [sys.executable, "-m", "discreet", *map(str, words)],
        env=environment(**settings),
        input=given,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@dataclass
class Process:
    """A server in a process of its own."""

    running: subprocess.Popen
    port: int
    log: Path

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    def wait(self, until="/readyz"):
        """Until it is ready, or answers at another address."""
        end = time.monotonic() + START
        with httpx.Client(trust_env=False, timeout=5) as http:
            while time.monotonic() < end:
                assert self.running.poll() is None, self.log.read_text()
                try:
                    if http.get(f"{self.address}{until}").status_code == 200:
                        return
                except httpx.TransportError:
                    pass
                time.sleep(0.1)
        raise AssertionError(f"not ready after {START} s: {self.log.read_text()}")

    def stop(self):
        """By SIGTERM; did it end in good order?"""
        if self.running.poll() is None:
            self.running.send_signal(signal.SIGTERM)
        try:
            code = self.running.wait(STOP)
        except subprocess.TimeoutExpired:
            self.running.kill()
            raise
        return code in (0, -signal.SIGTERM) and '"event": "stopped"' in self.log.read_text()


SERVE = (sys.executable, "-m", "discreet", "serve")


def started(folder, *words, command=SERVE, **settings):
    """`discreet serve`, perhaps not ready yet."""
    port, log = free_port(), Path(folder) / "server.log"
    with log.open("a") as file:
        running = subprocess.Popen(
            [*command, *map(str, words)],
            env=environment(port=port, **settings),
            cwd=folder,
            stdout=file,
            stderr=file,
        )
    return Process(running, port, log)


@contextmanager
def serving(
    folder,
    *words,
    command=SERVE,
    until="/readyz",
    **settings,
):
    """`discreet serve`, ready, on a port of this machine."""
    process = started(folder, *words, command=command, **settings)
    try:
        process.wait(until)
        yield process
    finally:
        process.stop()


def find_nginx():
    """Where nginx and openssl are, or a skipped test."""
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if found is None or shutil.which("openssl") is None:
        pytest.skip("nginx or openssl is not installed: apt-get install nginx openssl")
    return found


def site_file(backend, http, https, folder, quick=True):
    """deploy/nginx.conf with other ports and paths; `quick`: slow clients are cut after 1 s."""
    text = (DEPLOY / "nginx.conf").read_text()
    changes = {
        "listen 80;": f"listen 127.0.0.1:{http};",
        "listen 443 ssl;": f"listen 127.0.0.1:{https} ssl;",
        "http://127.0.0.1:8000;": f"http://127.0.0.1:{backend};",
        "/etc/ssl/tables": f"{folder}/tables",
    }
    if quick:
        changes |= {"_timeout 10s;": "_timeout 1s;"}
    for old, new in changes.items():
        assert old in text, f"deploy/nginx.conf has no {old!r}"
        text = text.replace(old, new)
    return text


MAIN = """
{user}
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_processes 1;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""


@dataclass
class Front:
    """nginx with TLS on a port of this machine, for a name that is not in the DNS."""

    port: int
    plain: int
    folder: Path

    @property
    def address(self):
        return f"https://127.0.0.1:{self.port}"

    def tls(self):
        """Trusts the certificate of this front, and no other."""
        return ssl.create_default_context(cafile=str(self.folder / "tables.pem"))

    def client(self, **more):
        """Asks 127.0.0.1 for the host that nginx serves."""
        return httpx.Client(
            transport=Named(self),
            base_url=f"https://{HOST}",
            trust_env=False,
            timeout=60,
            **more,
        )

    def socket(self):
        raw = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        return self.tls().wrap_socket(raw, server_hostname=HOST)


class Named(httpx.HTTPTransport):
    """Connects to nginx whatever the host is called, and checks the certificate for that name."""

    def __init__(self, front):
        super().__init__(verify=front.tls())
        self.front = front

    def handle_request(self, request):
        sent = httpx.Request(
            request.method,
            request.url.copy_with(host="127.0.0.1", port=self.front.port),
            headers=request.headers,
            stream=request.stream,
            extensions=dict(request.extensions) | {"sni_hostname": request.url.host},
        )
        return super().handle_request(sent)


@contextmanager
def fronted(folder, backend, quick=True):
    """nginx as `deploy/nginx.conf` says, before a server on a port."""
    nginx, folder = find_nginx(), Path(folder)
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30",
         "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}",
         "-keyout", folder / "tables.key", "-out", folder / "tables.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    http, https = free_port(), free_port()
    (folder / "site.conf").write_text(site_file(backend, http, https, folder, quick))
    (folder / "main.conf").write_text(MAIN.format(folder=folder, user=_user()))
    words = [nginx, "-p", folder, "-e", folder / "error.log", "-c", folder / "main.conf"]
    checked = subprocess.run([*words, "-t"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    running = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    try:
        _wait_for(https, running)
        yield Front(https, http, folder)
    finally:
        running.terminate()
        running.wait(10)


def _user():
    """Workers must enter the folder of a test, which only its owner may."""
    return "user root;" if os.geteuid() == 0 else ""


def _wait_for(port, running):
    for _ in range(200):
        assert running.poll() is None, "nginx ended"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("nginx does not listen")
