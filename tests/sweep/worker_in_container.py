"""The image of examples/worker is built and run by podman, as docs/scaling.md prints it.

`make sweep` runs this. No registry is asked for the image that it starts from: packages of Debian stand in
for it. Without the programs this fails and says how to get them: a check that is left out in silence proves
nothing.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.test_cluster_command import EXAMPLE, PATIENCE_S, ROOT, grade, started
from tests.integration.test_worker_examples import PAGE, STUDENTS, instructions, listing
from tests.live.hosts import Host, network
from tests.live.postgres import ServerOnHost, server_on

PROGRAMS = ("debootstrap", "podman", "buildah", "crun")
DOCKERFILE = ROOT / "examples/worker/Dockerfile"
USER = 10001
BUILD_S = 1800.0  # most of it pip's
# What stands in for Docker: its words, and what a machine needs that may change neither limits nor groups.
DOCKER = """#!/bin/bash
set -eu
storage=(--root {images} --runroot {folder}/run --storage-driver overlay)
case $1 in
build) exec buildah "${{storage[@]}}" bud --isolation chroot --network host --pull-never {mounts} "${{@:2}}";;
run) set -- run --network host --cgroups=disabled {limits} "${{@:2}}";;
esac
exec podman "${{storage[@]}}" --cgroup-manager cgroupfs --events-backend file --runtime crun "$@"
"""


def download(folder: Path) -> None:
    """Put what the image installs into a folder: our wheel, and its requirements as they are here."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT], check=True)
    (wheel,) = folder.glob("softmark-*.whl")
    wanted = [*pip, "download", "-c", ROOT / "constraints.txt", "--dest", folder, f"{wheel}[cluster]"]
    subprocess.run(wanted, check=True)


def base_image(folder: Path) -> None:
    """Make the files of the image that the Dockerfile starts from: Debian with a Python of pip's own."""
    # The last two are what the Dockerfile installs: the host on which the image is built reaches no packages.
    packages = "--include=python3.11,python3-pip,ca-certificates,libseccomp2,tini"
    command = ["debootstrap", "--variant=minbase", packages, "bookworm", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (folder / "usr/lib/python3.11/EXTERNALLY-MANAGED").unlink()
    for name in ("python", "python3"):
        (folder / "usr/local/bin" / name).symlink_to("/usr/bin/python3.11")


class Docker:
    """A host with what stands in for Docker, and the image."""

    def __init__(self, host: Host, folder: Path, images: Path) -> None:
        self.host = host
        self.folder = folder
        wheels = folder / "wheels"
        wheels.mkdir()
        download(wheels)
        (folder / "pip.conf").write_text("[global]\nno-index = true\nfind-links = /wheels\n")
        mounts = f"--volume {wheels}:/wheels:ro --volume {folder}/pip.conf:/etc/pip.conf:ro"
        # No more than this machine allows itself; podman would ask for more.
        names = {"nofile": resource.RLIMIT_NOFILE, "nproc": resource.RLIMIT_NPROC}
        hard = {name: resource.getrlimit(number)[1] for name, number in names.items()}
        limits = " ".join(f"--ulimit {name}={limit}:{limit}" for name, limit in hard.items())
        tools = folder / "tools"
        tools.mkdir()
        text = DOCKER.format(images=images, folder=folder, mounts=mounts, limits=limits)
        (tools / "docker").write_text(text)
        (tools / "docker").chmod(0o755)
        self._path = f"{tools}:{os.environ['PATH']}"

    def run(self, script: str, *, wanted: int | None = 0, timeout: float = PATIENCE_S) -> str:
        """Run what an administrator types on the host."""
        script = script.replace(" examples/worker", f" {DOCKERFILE.parent}")
        return self.host.run(
            ["bash", "-euo", "pipefail", "-c", script], wanted=wanted, timeout=timeout, folder=self.folder,
            environment={"PATH": self._path},
        )  # fmt: skip


def until(holds: Callable[[], bool], said: Callable[[], str]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, said()
        time.sleep(0.2)


@pytest.fixture(scope="module")
def docker_and_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Docker, ServerOnHost]]:
    lacking = [name for name in PROGRAMS if shutil.which(name) is None]
    if lacking:
        pytest.fail(f"no {', '.join(lacking)}: make containers installs them (Debian and Ubuntu, as root)")
    logs = tmp_path_factory.mktemp("logs")
    with network(logs) as net, tempfile.TemporaryDirectory(prefix="softmark-docker-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        images = folder / "images"
        db, node = net.host("db"), net.host("node")
        hierarchy = "/sys/fs/cgroup"
        node.run(["bash", "-c", f"umount -R {hierarchy} || true; mount -t cgroup2 softmark-test {hierarchy}"])
        node.run(["mount", "-t", "tmpfs", "softmark-test", "/run"])
        docker = Docker(node, folder, images)
        base_image(folder / "base")
        (start,) = instructions(DOCKERFILE.read_text())["FROM"]
        docker.run(f"tar -C base -c . | docker import - docker.io/library/{start}")
        shutil.rmtree(folder / "base")
        with server_on(db) as server:
            yield docker, server


@pytest.fixture(scope="module")
def image(docker_and_server: tuple[Docker, ServerOnHost]) -> str:
    """Build the image with the line of the page, in the versions of this machine; return what was printed."""
    docker, _ = docker_and_server
    (line,) = re.findall(r"^    (docker build (?:.*\\\n)*.*)$", PAGE, re.MULTILINE)
    line, count = re.subn(
        r"(softmark\[cluster\]|numpy|torch)==[\d.]+",
        lambda found: f"{found[1]}=={version(found[1].partition('[')[0]).partition('+')[0]}",
        line,
    )
    assert count == 3
    return docker.run(line, timeout=BUILD_S)


def test_the_image_is_built_as_printed(image: str) -> None:
    for library in ("softmark", "numpy", "torch"):
        assert re.search(
            rf"^Successfully installed .* {library}-{re.escape(version(library))}", image, re.MULTILINE
        )


def printed_runs() -> tuple[str, str]:
    """Return the page's two lines that start a container: a trial of the sandbox, and a worker."""
    found = re.findall(r"^    (docker run (?:.*\\\n)*.*)$", PAGE, re.MULTILINE)
    trial, worker = found
    return trial, worker


def test_the_sandbox_keeps_its_promises_as_the_page_says(
    docker_and_server: tuple[Docker, ServerOnHost], image: str
) -> None:
    docker, _ = docker_and_server
    said = docker.run(printed_runs()[0])
    assert re.search(r"^tier +T2$", said, re.MULTILINE) and "T2 keeps its promises" in said
    assert re.search(r"^user +the grader's own user$", said, re.MULTILINE)
    # What it advises leads to T1.
    (advice,) = re.findall(r"and with ((?:--security-opt \S+ ?)+), or use T2", " ".join(said.split()))
    said = docker.run(printed_runs()[0].replace("--rm ", f"--rm {advice} "))
    assert "T1 keeps its promises" in said
    # A capability more makes it no weaker.
    said = docker.run(printed_runs()[0].replace("--rm ", "--rm --cap-add NET_RAW "))
    assert "T2 keeps its promises" in said
    said = docker.run(printed_runs()[0].replace("--rm ", "--rm --user 0 "))
    assert "T2 keeps its promises" in said


def options_of(security: dict[str, Any]) -> str:
    """Return a manifest's security settings as words of `docker run`.

    Where a manifest asks for no filter of system calls, Kubernetes sets none.
    """
    security = dict(security)
    assert security.pop("runAsNonRoot") is True  # the image's user is a number, by which it is checked
    assert security.pop("allowPrivilegeEscalation") is False
    dropped = security.pop("capabilities")
    assert dropped == {"drop": ["ALL"]} and not security
    return "--cap-drop ALL --security-opt no-new-privileges --security-opt seccomp=unconfined"


DEPLOYMENT = yaml.safe_load(listing("yaml", "apiVersion: apps/v1"))
(CONTAINER,) = DEPLOYMENT["spec"]["template"]["spec"]["containers"]


@pytest.mark.parametrize(
    ("options", "command", "tier"),
    [("", "", "T2"), (options_of(CONTAINER["securityContext"]), shlex.join(CONTAINER["args"]), "T1")],
    ids=["docker run", "the deployment's settings"],
)
def test_a_class_gets_the_marks_of_one_machine(
    docker_and_server: tuple[Docker, ServerOnHost],
    image: str,
    tmp_path: Path,
    options: str,
    command: str,
    tier: str,
) -> None:
    docker, server = docker_and_server
    address = server.new_database()
    name = address.partition("@/")[2].partition("?")[0]
    if not server.sql("SELECT 1 FROM pg_roles WHERE rolname = 'grader1'"):
        server.sql("CREATE ROLE grader1 LOGIN PASSWORD 'PASSWORD'")
    course, handed_in = tmp_path / "course", tmp_path / "in"
    grade("init", course)
    shutil.copytree(EXAMPLE / "problems", course / "problems", dirs_exist_ok=True)
    for student in STUDENTS:
        shutil.copytree(EXAMPLE / "submissions" / student, handed_in / student)
    alone = shutil.copytree(course, tmp_path / "alone")
    grade("batch", handed_in, "--course", alone, "--out", tmp_path / "of one machine")
    where = ("--course", course, "--store", address)
    grade("worker", "allow", "grader1", *where)

    setting = listing("", "SOFTMARK_STORE=").replace(
        "db.example.org/attention", f"{server.host.address}/{name}"
    )
    (docker.folder / "worker.env").write_text(setting.replace('"', ""))
    (docker.folder / "pgpass").write_text(f"{server.host.address}:5432:{name}:grader1:PASSWORD\n")
    shutil.copy(server.certificate, docker.folder / "ca.crt")
    docker.run(f"chmod 600 pgpass; chown {USER} pgpass; docker rm --force --ignore worker")
    line = printed_runs()[1].replace("run ", f"run --name worker {options} ", 1) + f" {command}"
    logs = lambda: docker.run("docker logs worker")  # noqa: E731
    with started("batch", handed_in, *where, "--out", tmp_path / "out", "--cluster", "--json") as batch:
        docker.run(line)
        printed, said = batch.communicate(timeout=PATIENCE_S)
    assert batch.returncode == 0 and json.loads(printed)["graded"] == 6, said + logs()
    assert (tmp_path / "out/gradebook.csv").read_text() == (
        tmp_path / "of one machine/gradebook.csv"
    ).read_text()
    events = [json.loads(line) for line in logs().splitlines() if line.startswith("{")]
    assert events[0]["event"] == "begins" and events[0]["tier"] == tier
    assert sum(event["graded"] for event in events if event["event"] == "chunk") == 6

    # An ordinary user with nothing more; what the sandboxes leave is waited for by the first process.
    status = docker.run("docker exec worker sh -c 'cat /proc/[0-9]*/status'")
    assert set(re.findall(r"^Uid:\t(\d+)", status, re.MULTILINE)) == {str(USER)}
    assert set(re.findall(r"^CapEff:\t(\w+)", status, re.MULTILINE)) == {"0" * 16}
    assert "State:\tZ" not in status
    # Killed, it comes back by itself.
    docker.run("kill -9 $(docker inspect --format '{{.State.Pid}}' worker)")
    until(lambda: logs().count('"begins"') == 2, logs)
    docker.run("docker stop --time 60 worker")
    assert "0 programs graded in 0 chunks" in logs()
    assert docker.run("docker inspect --format '{{.State.ExitCode}}' worker").strip() == "0"
