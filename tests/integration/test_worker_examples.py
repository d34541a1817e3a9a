"""Workers as docs/scaling.md starts them: systemd runs the unit and SLURM the job; the deployment is read.

The image is built and run by tests/sweep/worker_in_container.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.test_cluster_command import (
    EXAMPLE,
    GRADE,
    PATIENCE_S,
    ROOT,
    grade,
    started,
)
from tests.live.hosts import Host, need_program, network
from tests.live.postgres import ServerOnHost, server_on

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers and their services run on Linux")

PAGE = (ROOT / "docs/scaling.md").read_text(encoding="utf-8")
STUDENTS = ("s01", "s02", "s03")  # two programs of each
SLURM = """
ClusterName=test
SlurmctldHost=node
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName=node CPUs=8 RealMemory=20000 State=UNKNOWN
PartitionName=all Nodes=node Default=YES MaxTime=INFINITE State=UP
"""

# A machine whose first process is systemd; its disk is this one's, and what it changes is kept in memory.
BOOT = r"""
set -eu
hierarchy=/sys/fs/cgroup
mountpoint -q $hierarchy || mount -t tmpfs softmark-test $hierarchy
mkdir -p {folder}/cgroup
mount -t cgroup2 softmark-test {folder}/cgroup
mkdir -p {folder}/cgroup/{group}
echo $$ > {folder}/cgroup/{group}/cgroup.procs
cat > {folder}/first <<'END'
set -eu
root={folder}/machine/root
mkdir -p {folder}/machine
mount -t tmpfs softmark-test {folder}/machine
mkdir $root {folder}/machine/upper {folder}/machine/work
layers=lowerdir=/,upperdir={folder}/machine/upper,workdir={folder}/machine/work
mount -t overlay -o $layers softmark-test $root
for place in {places}; do mkdir -p "$root$place"; mount --rbind "$place" "$root$place"; done
mount -t proc proc $root/proc
# What a kernel has once isn't this machine's to set.
mount --bind $root/proc/sys $root/proc/sys
mount -o remount,bind,ro $root/proc/sys
mount -t sysfs -o ro sysfs $root/sys
mount -t cgroup2 softmark-test $root/sys/fs/cgroup
mount -t tmpfs -o mode=755 softmark-test $root/dev
mount -t tmpfs -o mode=755 softmark-test $root/run
for name in null zero full random urandom tty; do
  touch $root/dev/$name
  mount --bind /dev/$name $root/dev/$name
done
mkdir $root/dev/shm
ln -s /proc/self/fd $root/dev/fd
# Nothing of what this machine would start, and its /tmp stays.
rm -rf $root/etc/systemd/system/*.wants $root/etc/systemd/system/*.requires $root/etc/machine-id
touch $root/etc/machine-id
hostname > $root/etc/hostname
ln -sf /dev/null $root/etc/tmpfiles.d/tmp.conf
chmod 755 $root/root
mkdir -p $root/mnt
cd $root
pivot_root . mnt
umount -l /mnt
exec env -i container=softmark-test PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot . \
  /lib/systemd/systemd --unit=multi-user.target --log-target=console --show-status=false
END
exec unshare --mount --pid --cgroup --ipc --fork --kill-child bash {folder}/first
"""


def listing(kind: str, begin: str) -> str:
    """Return the listing of the page that begins so."""
    (text,) = re.findall(rf"^```{kind}\n({re.escape(begin)}.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert isinstance(text, str)
    return text


def test_the_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    need_program("systemd-analyze", "systemd")
    unit = tmp_path / "softmark-worker.service"
    text = listing("ini", "[Unit]")
    unit.write_text(
        text.replace("/opt/softmark/bin/grade", sys.executable).replace("softmark\n", "root\n", 1)
    )
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
    assert done.returncode == 0 and str(unit) not in done.stderr, done.stderr
    unit.write_text(text.replace("Restart=on-failure", "Restarts=on-failure"))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
    assert "Restarts" in done.stderr


class Machine:
    """A host with systemd as its first process, and Softmark where the page installs it."""

    def __init__(self, host: Host, folder: Path) -> None:
        self.host = host
        self.folder = folder
        code = GRADE[2].replace("'", '"')
        (folder / "grade").write_text(
            f"#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -c '{code}' \"$@\"\n"
        )
        (folder / "grade").chmod(0o755)
        places = " ".join(shlex.quote(str(place)) for place in (ROOT, sys.prefix, sys.base_prefix, folder))
        script = folder / "boot"
        script.write_text(
            BOOT.replace("{folder}", str(folder)).replace("{places}", places).replace("{group}", folder.name)
        )
        self._boot = host.start(["bash", script])
        self.until(lambda: self.run("systemctl is-system-running", wanted=None).strip() == "running")

    def run(self, script: str, *, wanted: int | None = 0) -> str:
        """Run what root types there."""
        number = self._boot.pid
        enter = f'nsenter --all --target "$(tr -d " " < /proc/{number}/task/{number}/children)"'
        clean = ["env", "-i", "PATH=/opt/softmark/bin:/usr/sbin:/usr/bin:/sbin:/bin", "COLUMNS=200"]
        words = ["bash", "-c", f'{enter} "$@"', "enter", *clean, "bash", "-euo", "pipefail", "-c", script]
        return self.host.run(words, wanted=wanted, timeout=PATIENCE_S)

    def until(self, holds: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < end, self._boot.said()[-2000:] + self.log()
            time.sleep(0.2)

    def log(self) -> str:
        """Return what the service said, by systemd's journal."""
        return self.run("journalctl --no-pager --output=cat --unit softmark-worker", wanted=None)

    def show(self, name: str) -> str:
        return self.run(f"systemctl show --value --property={name} softmark-worker").strip()

    def close(self) -> None:
        """Switch it off, and take its control groups away."""
        self._boot.kill()
        self._boot.wait()
        top = self.host.path(self.folder / "cgroup" / self.folder.name)

        def removed() -> bool:
            for place, _, _ in os.walk(top, topdown=False):
                with contextlib.suppress(OSError):  # its processes still end
                    os.rmdir(place)
            return not top.exists()

        end = time.monotonic() + PATIENCE_S
        while not removed():
            assert time.monotonic() < end
            time.sleep(0.1)


@pytest.fixture
def machine_and_server(tmp_path: Path) -> Iterator[tuple[Machine, ServerOnHost]]:
    need_program("systemctl", "systemd")
    with network(tmp_path) as net, tempfile.TemporaryDirectory(prefix="softmark-systemd-") as folder:
        Path(folder).chmod(0o755)
        db, host = net.host("db"), net.host("node")
        with server_on(db) as server:
            machine = Machine(host, Path(folder))
            try:
                yield machine, server
            finally:
                machine.close()


def test_systemd_runs_the_unit_as_printed(
    machine_and_server: tuple[Machine, ServerOnHost], tmp_path: Path
) -> None:
    machine, server = machine_and_server
    address = server.new_database()
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

    name = address.partition("@/")[2].partition("?")[0]
    setting = listing("", "SOFTMARK_STORE=").replace(
        "db.example.org/attention", f"{server.host.address}/{name}"
    )
    (machine.folder / "worker.env").write_text(setting)
    (machine.folder / "softmark-worker.service").write_text(listing("ini", "[Unit]"))
    shutil.copy(server.certificate, machine.folder / "ca.crt")
    (machine.folder / "pgpass").write_text(f"{server.host.address}:5432:{name}:grader1:PASSWORD\n")
    (account,) = re.findall(r"^useradd --system.*softmark$", PAGE, re.MULTILINE)
    machine.run(f"""
        {account}
        install -D {machine.folder}/grade /opt/softmark/bin/grade
        install -D --mode 644 {machine.folder}/worker.env /etc/softmark/worker.env
        install -D --mode 644 {machine.folder}/ca.crt /etc/softmark/ca.crt
        install --owner softmark --mode 600 {machine.folder}/pgpass /var/lib/softmark/.pgpass
        install --mode 644 {machine.folder}/softmark-worker.service /etc/systemd/system/""")
    (attempt,) = re.findall(r"^\$ (systemd-run .*)$", PAGE, re.MULTILINE)
    assert "0 programs graded in 0 chunks" in machine.run(attempt)

    machine.run(listing("bash", "systemctl daemon-reload"))
    words = ("batch", handed_in, *where, "--out", tmp_path / "out", "--cluster", "--json")
    with started(*words) as batch:
        printed, said = batch.communicate(timeout=PATIENCE_S)
    assert batch.returncode == 0 and json.loads(printed)["graded"] == 6, said + machine.log()
    assert (tmp_path / "out/gradebook.csv").read_text() == (
        tmp_path / "of one machine/gradebook.csv"
    ).read_text()
    # All that it says is in the journal: which sandbox, and what it graded.
    events = [json.loads(line) for line in machine.log().splitlines() if line.startswith("{")]
    assert events[0]["event"] == "begins" and events[0]["tier"] == "T1"
    assert sum(event["graded"] for event in events if event["event"] == "chunk") == 6
    assert machine.run(f"ps -o user= -p {machine.show('MainPID')}").strip() == "softmark"

    # Killed, it comes back by itself; told to end, it hands in and stays away.
    first = machine.show("MainPID")
    machine.run(f"kill -9 {first}")
    machine.until(lambda: machine.show("MainPID") not in ("0", first))
    machine.until(lambda: machine.log().count('"begins"') == 2)
    assert machine.show("NRestarts") == "1"
    machine.run("systemctl stop softmark-worker")
    assert machine.show("Result") == "success" and "0 programs graded in 0 chunks" in machine.log()
    machine.run("systemctl start softmark-worker")
    machine.until(lambda: machine.log().count('"begins"') == 3)
    grade("queue", "drain", "node", *where)
    machine.until(lambda: machine.show("ActiveState") == "inactive")
    # A wrong option doesn't mend itself, so it isn't tried again.
    machine.run("""
        sed -i 's/grade worker$/& --no-such-option/' /etc/systemd/system/softmark-worker.service
        systemctl daemon-reload
        systemctl start softmark-worker""")
    machine.until(lambda: machine.show("ActiveState") == "failed")
    assert machine.show("ExecMainStatus") == "2" and machine.show("NRestarts") == "0"


def test_the_deployment_is_one_that_kubernetes_takes() -> None:
    import kubernetes_validate

    deployment = yaml.safe_load(listing("yaml", "apiVersion: apps/v1"))
    assert kubernetes_validate.validate(deployment, "1.35", strict=True)
    command, *arguments = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    assert command == "grade"
    # What it names in the secret is what the page puts there.
    (secret,) = re.findall(r"^    kubectl create secret (.*?)\n\n", PAGE, re.DOTALL | re.MULTILINE)
    keys = {piece.removeprefix("ca.crt=") for piece in re.findall(r"--from-\w+=(ca\.crt|\w+)", secret)}
    assert keys == {"SOFTMARK_STORE", "PGPASSWORD", "ca.crt"} and keys == set(keys_of(deployment))
    assert run_words("worker", *arguments[1:], "--help").returncode == 0
    deployment["spec"]["template"]["spec"]["terminationGracePeriod"] = 120
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, "1.35", strict=True)


def keys_of(part: Any) -> Iterator[str]:
    """Yield every key of a secret that a deployment asks for."""
    if isinstance(part, dict):
        if isinstance(part.get("key"), str):
            yield part["key"]
        for value in part.values():
            yield from keys_of(value)
    elif isinstance(part, list):
        for value in part:
            yield from keys_of(value)


def run_words(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*GRADE, *words], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S)


@dataclass
class SlurmNode:
    """A host that is a cluster of one node, with its daemons started by hand."""

    host: Host
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"SLURM_CONF": str(self.folder / "slurm.conf"), "HOME": str(self.folder)}

    def start(self) -> None:
        (self.folder / "slurm.conf").write_text(SLURM.format(folder=self.folder))
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o400)
        files = [f"--{name}-file={self.folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
        self.host.start(["munged", "--foreground", f"--socket={self.folder}/munge.socket", *files])
        self.until(lambda: (self.folder / "munge.socket").exists())
        # Copies of the lines in /etc/hosts: names of a test's hosts are nobody else's.
        for daemon in (["slurmctld", "-D"], ["slurmd", "-D", "-N", "node"]):
            self.host.start(daemon, environment=self.environment)
        self.until(lambda: "idle" in self.say("sinfo", "--noheader", "--format=%T", wanted=None))

    def say(self, *words: str, wanted: int | None = 0, more: dict[str, str] | None = None) -> str:
        return self.host.run(
            words, wanted=wanted, environment=self.environment | (more or {}), folder=self.folder,
            timeout=PATIENCE_S,
        )  # fmt: skip

    def until(self, holds: Any) -> None:
        end = time.monotonic() + PATIENCE_S
        while not holds():
            logs = [path.read_text(errors="replace")[-2000:] for path in self.folder.glob("*.log")]
            assert time.monotonic() < end, "\n".join(logs)
            time.sleep(0.1)


@pytest.fixture
def node_and_server(tmp_path: Path) -> Iterator[tuple[SlurmNode, ServerOnHost]]:
    for name in ("sbatch", "slurmctld", "slurmd", "munged"):
        need_program(name, "slurmctld slurmd slurm-client munge")
    with network(tmp_path) as net, tempfile.TemporaryDirectory(prefix="softmark-slurm-") as folder:
        Path(folder).chmod(0o755)
        db, host = net.host("db"), net.host("node")
        hosts = Path(folder) / "hosts"
        hosts.write_text(f"127.0.0.1 localhost\n{host.address} node\n")
        host.run(["mount", "--bind", hosts, "/etc/hosts"])
        with server_on(db) as server:
            node = SlurmNode(host, Path(folder))
            node.start()
            yield node, server


def test_slurm_runs_the_job_as_printed(
    node_and_server: tuple[SlurmNode, ServerOnHost], tmp_path: Path
) -> None:
    node, server = node_and_server
    address = server.new_database()
    course, handed_in = tmp_path / "course", tmp_path / "in"
    grade("init", course)
    shutil.copytree(EXAMPLE / "problems", course / "problems", dirs_exist_ok=True)
    for student in STUDENTS:
        shutil.copytree(EXAMPLE / "submissions" / student, handed_in / student)
    server.sql("CREATE ROLE grader1 LOGIN PASSWORD 'PASSWORD'")
    where = ("--course", course, "--store", address)
    grade("worker", "allow", "grader1", *where)
    text = listing("bash", "#!/bin/bash\n#SBATCH")
    begin, store, end = re.split(r"(?<=^export SOFTMARK_STORE=)(.*)$", text, flags=re.MULTILINE)
    assert "grader1@" in store and "sslrootcert=$HOME/ca.crt" in store
    shutil.copy(server.certificate, node.folder / "ca.crt")
    url = server.network_url(address, user="grader1", password="PASSWORD")
    script = node.folder / "job.sh"
    script.write_text(begin + '"' + re.sub(r"sslrootcert=.*", "sslrootcert=$HOME/ca.crt", url) + '"' + end)
    programs = node.folder / "bin"
    programs.mkdir()
    (programs / "grade").write_text(
        f'#!/bin/sh\ncd {ROOT} && exec {sys.executable} -c \'import sys; sys.argv[0] = "grade"; '
        'from cli import main; main()\' "$@"\n'
    )
    (programs / "grade").chmod(0o755)
    path = {"PATH": f"{programs}:{os.environ['PATH']}"}
    words = ("batch", handed_in, *where, "--out", tmp_path / "out", "--cluster", "--json")
    with started(*words) as batch:
        waits = "SELECT count(*) FROM softmark_queue.programs"
        name = address.partition("@/")[2].partition("?")[0]
        node.until(lambda: server.sql(waits, name) == [(6,)])
        node.say("sbatch", "--array=1-2", str(script), more=path)
        printed, said = batch.communicate(timeout=PATIENCE_S)
    assert batch.returncode == 0, said
    assert json.loads(printed)["graded"] == 6
    outputs = lambda: [path.read_text() for path in sorted(node.folder.glob("slurm-*.out"))]  # noqa: E731
    node.until(lambda: len(outputs()) == 2 and all("graded in" in text for text in outputs()))
    assert sum(int(re.findall(r"^(\d+) program", text, re.MULTILINE)[0]) for text in outputs()) == 6
    # Before its time is over it is told so, and ends in order.
    script.write_text(script.read_text().replace(" --until-empty", ""))
    said = node.say("sbatch", "--array=1", "--output=told.out", str(script), more=path)
    told = node.folder / "told.out"
    node.until(lambda: told.exists() and '"begins"' in told.read_text())
    node.say("scancel", "--batch", "--signal=TERM", said.split()[-1])
    node.until(lambda: "0 programs graded in 0 chunks" in told.read_text())


def instructions(dockerfile: str) -> dict[str, list[str]]:
    """Return what a Dockerfile says, by its instructions."""
    found: dict[str, list[str]] = {}
    for line in re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", dockerfile, flags=re.MULTILINE)).splitlines():
        word, _, rest = line.partition(" ")
        found.setdefault(word, []).append(rest)
    return found


def test_the_image_is_a_worker_of_the_user_that_the_page_names() -> None:
    """Its lines are read by the shell and by click; tests/sweep/worker_in_container.py builds it."""
    said = instructions((ROOT / "examples/worker/Dockerfile").read_text())
    assert set(said) == {"FROM", "RUN", "ARG", "USER", "WORKDIR", "ENTRYPOINT", "CMD"}
    assert said["ARG"] == ["SOFTMARK=softmark[cluster]"]
    for line in said["RUN"]:
        assert subprocess.run(["sh", "-nc", line]).returncode == 0
    install, softmark = said["RUN"]
    assert re.search(r"install .*libseccomp2 tini ", install) and said["ENTRYPOINT"] == ['["tini", "--"]']
    (user,), (home,) = said["USER"], said["WORKDIR"]
    assert f"useradd --uid {user} --create-home --home-dir {home} " in softmark
    assert f"chown {user} pgpass" in PAGE
    command = json.loads(said["CMD"][0])
    assert command[0] == "grade" and run_words(*command[1:], "--help").returncode == 0
