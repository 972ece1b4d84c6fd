"""The container: built and run by a builder where one works, else its steps in a root of their own.

Without a builder the two stages are two overlays of this machine's root, in which the RUN lines are
run as they stand; the server starts in the second as the image would start it: another user, no
rights, nothing to write to but the volume.
"""

import os
import shlex
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

import containerfile
from server.deployed import DEPLOY, ROOT, Process, environment, free_port

IMAGE = containerfile.read(DEPLOY / "Containerfile")
SERVED = ("example:tract", "--set", "server.rule=myopic", "--set", "server.slot=0")
NAME = "discreet-of-the-tests"
BUILD = 900  # seconds
LONGEST_STOP = 35  # 30 for requests under way


def builder():
    """docker or podman, if one is at hand and has what the first line asks for."""
    base = IMAGE.steps[0][1].split()[0]
    for name in ("podman", "docker"):
        if (
            shutil.which(name)
            and not subprocess.run([name, "info"], capture_output=True).returncode
        ):
            pulled = subprocess.run([name, "pull", base], capture_output=True, timeout=BUILD)
            if pulled.returncode == 0:
                return name
    return None


def _succeeds(words):
    return subprocess.run(words, capture_output=True, timeout=BUILD).returncode == 0


@contextmanager
def built(name, folder):
    """The image, run as the docs say."""
    subprocess.run([name, "build", "-t", NAME, "-f", DEPLOY / "Containerfile", ROOT],
                   check=True, timeout=BUILD)  # fmt: skip
    port, log = free_port(), folder / "server.log"
    words = [name, "run", "--rm", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "all",
             "--security-opt", "no-new-privileges", "--ulimit", "core=0", "--name", NAME,
             "-v", f"{NAME}:{IMAGE.last('VOLUME')}", "-p", f"127.0.0.1:{port}:8000",
             NAME, *SERVED]  # fmt: skip
    with log.open("w") as file:
        yield Process(subprocess.Popen(words, stdout=file, stderr=file), port, log)
    subprocess.run([name, "volume", "rm", "-f", NAME], capture_output=True)


STAGES = """
set -eu
new_root() {{  # NAME: this machine's root, with changes of its own
  mkdir -p {folder}/$1/upper {folder}/$1/work {folder}/$1/root
  mount -t overlay overlay {folder}/$1/root \\
    -o lowerdir=/,upperdir={folder}/$1/upper,workdir={folder}/$1/work
  for name in proc dev sys; do mount --rbind /$name {folder}/$1/root/$name; done
  chroot {folder}/$1/root sh -c 'path={base}
    while [ "$path" != / ]; do chmod a+rx "$path"; path=$(dirname "$path"); done
    [ -e {base}/bin/python ] || ln -s python3 {base}/bin/python'
}}
{steps}
"""
START = """
mkdir -p {folder}/volume
chown {user} {folder}/volume
mount --bind {folder}/volume {root}{volume}
mount -o remount,ro {root}
mount -t tmpfs tmpfs {root}/tmp
cd {root}{volume}
exec chroot {root} setpriv --reuid {user} --regid {user} --clear-groups --no-new-privs \\
  --bounding-set=-all --inh-caps=-all env -C {volume} -i {environment} {command}
"""


def script(folder, port):
    """The steps of the Containerfile as a shell script."""
    lines, stages, root = [], {}, ""
    for word, value in IMAGE.steps:
        match word:
            case "FROM":
                name = value.split()[-1] if " AS " in value else "final"
                stages[name] = root = f"{folder}/{name}/root"
                lines.append(f"new_root {name}")
            case "COPY" if value.startswith("--from="):
                source, *paths = value.removeprefix("--from=").split()
                lines += [f"mkdir -p {root}{Path(paths[1]).parent}",
                          f"rm -rf {root}{paths[1]}",
                          f"cp -a {stages[source]}{paths[0]} {root}{paths[1]}"]  # fmt: skip
            case "COPY":
                target = value.split()[1]
                names = " ".join(str(ROOT / name) for name in containerfile.sent(ROOT))
                lines += [f"mkdir -p {root}{target}", f"cp -a {names} {root}{target}"]
            case "RUN":
                path = f"PATH={sys.base_prefix}/bin:/usr/sbin:/usr/bin:/sbin:/bin"
                lines.append(f"chroot {root} env -C / {path} sh -c {shlex.quote(value)}")
    variables = IMAGE.environment | {"DISCREET_PORT": port}
    lines.append(START.format(
        root=root, folder=folder, volume=IMAGE.last("VOLUME"), user=IMAGE.last("USER"),
        environment=" ".join(f"{name}={value}" for name, value in variables.items()),
        command=shlex.join([*IMAGE.entrypoint, *SERVED]),
    ))  # fmt: skip
    return STAGES.format(folder=folder, base=sys.base_prefix, steps="\n".join(lines))


@contextmanager
def stepped(folder):
    """The steps without a builder; the mounts end with the process."""
    port, log = free_port(), folder / "server.log"
    path = folder / "steps.sh"
    path.write_text(script(folder, port))
    words = ["unshare", "--mount", "--propagation", "private", "bash", path]
    with log.open("w") as file:
        running = subprocess.Popen(words, stdout=file, stderr=file, env=environment())
    try:
        yield Process(running, port, log)
    finally:
        for name in ("build", "final"):
            shutil.rmtree(folder / name, ignore_errors=True)


def can_mount(folder):
    """Root, and overlays are allowed here."""
    if os.geteuid() != 0 or shutil.which("unshare") is None or shutil.which("setpriv") is None:
        return False
    for name in ("upper", "work", "root"):
        (folder / name).mkdir()
    options = f"lowerdir=/,upperdir={folder}/upper,workdir={folder}/work"
    words = ["unshare", "-m", "mount", "-t", "overlay", "overlay", "-o", options, folder / "root"]
    return subprocess.run(words, capture_output=True).returncode == 0


def wait(process):
    """Until it is ready; it is built first."""
    end = time.monotonic() + BUILD
    while time.monotonic() < end:
        assert process.running.poll() is None, process.log.read_text()[-3_000:]
        try:
            httpx.get(f"{process.address}/readyz", trust_env=False, timeout=5).raise_for_status()
            return
        except httpx.HTTPError:
            time.sleep(0.5)
    raise AssertionError(process.log.read_text()[-3_000:])


def test_the_container_is_built_runs_and_stops(tmp_path):
    name = builder()
    if name is None and not can_mount(tmp_path):
        pytest.skip("no docker or podman that works, and no right to mount: nothing to build with")
    start = time.monotonic()
    way = built(name, tmp_path) if name else stepped(tmp_path)
    with way as process:
        try:
            wait(process)
            ready = time.monotonic() - start
            check_answers(process)
            check_health(process)
            if name is None:
                check_rights(process)
        finally:
            begun = time.monotonic()
            good = process.stop()
            stopped = time.monotonic() - begun
    assert good, process.log.read_text()[-3_000:]
    assert stopped < LONGEST_STOP
    print(
        f"\n{name or 'its steps'}: ready {ready:.0f} s after the first, stopped in {stopped:.1f} s"
    )


def check_answers(process):
    with httpx.Client(base_url=f"{process.address}/api/v1", trust_env=False, timeout=60) as http:
        assert http.get("/datasets/tract/tables/Race").json()["total"] == 742
        asked = http.post("/datasets/tract/requests", json={"variables": ["Gender", "Income"]})
        assert asked.json()["outcome"] == "granted"
        assert http.get("/datasets/tract/tables/Gender*Income").json()["total"] == 742


def check_health(process):
    """The image's own check, from here."""
    words = [word.replace(":8000", f":{process.port}") for word in IMAGE.healthcheck]
    assert subprocess.run([sys.executable, *words[1:]]).returncode == 0


def check_rights(process):
    """Another user, without capabilities, who can write to the volume alone."""
    status = Path(f"/proc/{process.running.pid}/status").read_text()
    found = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert set(found["Uid"].split()) == {IMAGE.last("USER")}
    assert {found[name].strip("0") for name in ("CapEff", "CapPrm", "CapBnd")} == {""}
    assert found["NoNewPrivs"] == "1"
    inside = Path(f"/proc/{process.running.pid}/root")
    volume = inside / IMAGE.last("VOLUME").lstrip("/")
    assert {"discreet.db", "discreet.db.secret"} <= {path.name for path in volume.iterdir()}
    for name in ("discreet.db", "discreet.db.secret"):
        assert (volume / name).stat().st_mode & 0o077 == 0
    with pytest.raises(OSError, match="Read-only"):
        (inside / "etc" / "written").write_text("")
    packages = next((inside / "opt/discreet/lib").glob("python*/site-packages"))
    assert (packages / "discreet" / "cli").is_dir(), "installed, and not linked to the checkout"
