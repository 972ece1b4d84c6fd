"""A PostgreSQL server that lives as long as the tests."""

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

import pytest

PASSWORD = "p@ss/w:rd"


@pytest.fixture(scope="session")
def postgres():
    """The URL of an empty database, with a password that has to be quoted."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = found[-1] if found else shutil.which("initdb")
    if initdb is None:
        pytest.skip("PostgreSQL is not installed: no initdb in /usr/lib/postgresql or on the PATH")
    bin_ = Path(initdb).parent
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # not below pytest's own folder, which the user postgres may not enter
    folder = Path(tempfile.mkdtemp(prefix="discreet-postgres-"))
    (folder / "password").write_text(PASSWORD)
    start = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -F"
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
            shutil.chown(folder / "password", "postgres")
        _run(
            bin_ / "initdb",
            "-D",
            folder / "data",
            "-U",
            "ann",
            "-A",
            "scram-sha-256",
            f"--pwfile={folder / 'password'}",
            "--no-sync",
            "-E",
            "UTF8",
        )
        _run(
            bin_ / "pg_ctl", "-D", folder / "data", "-o", start, "-l", folder / "log", "-w", "start"
        )
        try:
            yield f"postgresql://ann:{quote(PASSWORD, safe='')}@127.0.0.1:{port}/postgres"
        finally:
            _run(bin_ / "pg_ctl", "-D", folder / "data", "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(*command):
    """As the user postgres where we are root: the server refuses to run as root."""
    prefix = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    subprocess.run([*prefix, *map(str, command)], check=True, cwd="/", capture_output=True)
