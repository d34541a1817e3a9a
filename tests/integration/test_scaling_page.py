"""docs/scaling.md takes an administrator from one machine to four, with its listings as printed.

Four hosts with folders of their own (/etc, /var, /opt, /home) and Debian's PostgreSQL. Only what installs
packages and what speaks to systemd, which no host has, is a stand-in: `STAND_INS`.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.integration.test_cluster_command import EXAMPLE, GRADE, PATIENCE_S, ROOT, grade
from tests.integration.test_commands_in_docs import matches
from tests.live.hosts import Host, Network, need_program, network

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="hosts are Linux's")

PAGE = (ROOT / "docs/scaling.md").read_text(encoding="utf-8")
HOSTS = ("main", "lab-1", "lab-2", "lab-3")
LAYERS = ("etc", "var", "opt", "home", "root")
FIRST = "s01"  # handed in, and graded, while there was one machine

# {here} is a folder that all hosts see, {exports} what `main` shows to the others.
STAND_INS = {
    "apt-get": """case "$*" in *postgresql*)
    pg_createcluster --start "$(ls /usr/lib/postgresql | tail -1)" main;;
esac""",
    "python3": """mkdir -p /opt/softmark/bin
cp {here}/grade /opt/softmark/bin
ln -s /bin/true /opt/softmark/bin/pip""",
    "createuser": """printf 'PASSWORD\\nPASSWORD\\n' | /usr/bin/createuser "$@" """,
    "scp": """cp "{exports}/$(basename "${{1#main:}}")" "$2" """,
    "systemctl": """case "$*" in
  "restart postgresql") pg_ctlcluster "$(ls /usr/lib/postgresql | tail -1)" main restart;;
  daemon-reload) ;;
  "enable --now softmark-worker")
    setsid {python} {here}/service.py /etc/systemd/system/softmark-worker.service \
      > /var/log/softmark-worker.log 2>&1 < /dev/null & ;;
  *) echo "no stand-in for $*"; exit 64;;
esac""",
    "systemd-run": """set -a; . /etc/softmark/worker.env; set +a
test "$1 $2 $3 $4 $5" = "--pipe --wait --uid softmark --property" || exit 64
shift 6; exec runuser --user softmark -- env HOME=/var/lib/softmark "$@" """,
}
SERVICE = '''"""What systemd does with a unit, as far as this one asks for it."""
import configparser, os, pwd, shlex, subprocess, sys, time
unit = configparser.ConfigParser(interpolation=None, strict=False)
unit.optionxform = str
unit.read(sys.argv[1])
service = unit["Service"]
words = [line for line in open(service["EnvironmentFile"]).read().splitlines() if line.strip()]
user = pwd.getpwnam(service["User"])
environment = dict(shlex.split(line)[0].split("=", 1) for line in words)
environment |= {"HOME": user.pw_dir, "USER": user.pw_name, "PATH": "/usr/local/bin:/usr/bin:/bin"}
while True:
    code = subprocess.run(shlex.split(service["ExecStart"]), env=environment, cwd="/", user=user.pw_uid,
                          group=user.pw_gid, extra_groups=[]).returncode
    print("ended", code, flush=True)
    if code in (0, int(service["RestartPreventExitStatus"])) or service["Restart"] != "on-failure":
        break
    time.sleep(float(service["RestartSec"]))
'''


@dataclass(frozen=True)
class Listing:
    """What an administrator types or writes: where, as whom, and the text."""

    hosts: tuple[str, ...]
    user: str
    kind: str
    file: str | None
    text: str


def listings(section: str) -> list[Listing]:
    """Return the listings of a section; places and users are those that the text before them names last."""
    found = []
    hosts: tuple[str, ...] = ()
    user = ""
    pieces = re.split(r"^```(\w*)\n(.*?)^```$", section, flags=re.DOTALL | re.MULTILINE)
    for said, kind, text in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=False):
        file = None
        for word in re.finditer(
            r"(on each of the four)|(on `main`)|as (root)|as `(\w+)`|"
            r"as the server's user \(`sudo -iu (\w+)`\)|user `(\w+)`|(The lecturer's)|^`([~/][^`]*)`$",
            said,
            re.IGNORECASE | re.MULTILINE,
        ):
            if word[1] or word[2]:
                hosts = HOSTS if word[1] else ("main",)
            elif word[7]:
                user = "lecturer"
            elif word[8]:
                file = word[8]
            else:
                user = word[3] or word[4] or word[5] or word[6]
        found.append(Listing(hosts, user, kind, file, text))
    return found


class Department:
    """Four hosts, and an administrator who goes from one to the next."""

    def __init__(self, net: Network, folder: Path) -> None:
        self.folder = folder
        self.exports = folder / "exports"
        self.exports.mkdir()
        self._tools = folder / "tools"
        self._tools.mkdir()
        places = {"here": folder, "exports": self.exports, "python": sys.executable}
        for name, text in STAND_INS.items():
            self._script(self._tools / name, "#!/bin/bash\n" + text.format(**places) + "\n")
        (folder / "service.py").write_text(SERVICE)
        code = GRADE[2].replace("'", '"')
        self._script(
            folder / "grade", f"#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -c '{code}' \"$@\"\n"
        )
        self.hosts = {name: net.host(name) for name in HOSTS}
        for host in self.hosts.values():
            self._set_up(host)

    def _script(self, place: Path, text: str) -> None:
        place.write_text(text)
        place.chmod(0o755)

    def _set_up(self, host: Host) -> None:
        names = "".join(f"{each.address} {name}\n" for name, each in self.hosts.items())
        names += f"127.0.0.1 localhost\n{self.hosts['main'].address} db.example.org\n"
        # A layer's own folder is open to everybody: this Python may be in root's home.
        lines = ["mount -t tmpfs softmark-test /mnt"]
        for name in LAYERS:
            layers = f"lowerdir=/{name},upperdir=/mnt/{name}.upper,workdir=/mnt/{name}.work"
            lines += [f"mkdir /mnt/{name}.upper /mnt/{name}.work"]
            lines += [f"mount -t overlay -o {layers} softmark-test /{name}"]
        # Whatever server this machine itself has, none is installed on a host.
        for place in ("/run/postgresql", "/var/lib/postgresql", "/etc/postgresql"):
            lines += [f"mkdir -p {place}", f"mount -t tmpfs softmark-test {place}"]
            lines += [f"chown postgres:postgres {place}"]
        lines += [f"printf '{names}' > /etc/hosts"]
        host.run(["bash", "-euc", "\n".join(lines)])

    def run(self, host: str, user: str, script: str, *, wanted: int | None = 0) -> str:
        """Run what somebody types on a host, in their home."""
        home = {"root": "/root", "postgres": "/var/lib/postgresql"}.get(user, f"/home/{user}")
        path = f"{self._tools}:/opt/softmark/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        environment = ["env", "-i", f"HOME={home}", f"PATH={path}", "LANG=C.UTF-8", "COLUMNS=200"]
        words = ["runuser", "--user", user, "--", *environment, "bash", "-euo", "pipefail", "-c"]
        return self.hosts[host].run([*words, f"cd\n{script}"], wanted=wanted, timeout=PATIENCE_S)

    def follow(self, listing: Listing) -> None:
        """Do what a listing says, and compare what is printed."""
        assert listing.hosts and listing.user, listing
        for name in listing.hosts:
            if listing.file is not None:
                self.write(name, listing)
            elif listing.kind == "yaml":
                self.set_store(listing.text)
            elif listing.kind == "bash":
                self.run(name, listing.user, listing.text)
            else:
                self.talk(name, listing)
        for place in self.hosts["main"].path(Path("/var/lib/postgresql")).glob("ca.crt"):
            shutil.copy(place, self.exports)

    def write(self, name: str, listing: Listing) -> None:
        file = str(listing.file).replace("~", f"/home/{listing.user}")
        place = self.hosts[name].path(Path(file))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(listing.text)
        if place.name == ".pgpass":
            self.run(name, "root", f"chown {listing.user} {file}; chmod 600 {file}")

    def set_store(self, line: str) -> None:
        place = self.hosts["main"].path(Path("/home/lecturer/attention-2026/course.yaml"))
        text, count = re.subn(r"^store:.*\n", lambda _: line, place.read_text(), flags=re.MULTILINE)
        assert count == 1
        place.write_text(text)

    def talk(self, name: str, listing: Listing) -> None:
        for piece in re.split(r"^\$ ", listing.text, flags=re.MULTILINE)[1:]:
            command, _, shown = piece.partition("\n")
            # 1: a file of the class can't be read.
            wanted = 1 if " batch " in command else 0
            said = self.run(name, listing.user, command, wanted=wanted)
            end = time.monotonic() + PATIENCE_S
            # Workers have been started, and are not there yet.
            while command.startswith("grade queue --") and not matches(shown.strip("\n"), said):
                assert time.monotonic() < end, said
                said = self.run(name, listing.user, command, wanted=wanted)
            assert matches(shown.strip("\n"), said), f"{command}: shown is\n{shown}\nprinted was\n{said}"

    def until_logged(self, name: str, words: str) -> None:
        log = self.hosts[name].path(Path("/var/log/softmark-worker.log"))
        end = time.monotonic() + PATIENCE_S
        while words not in log.read_text():
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)


@pytest.fixture
def department(tmp_path: Path) -> Iterator[Department]:
    # Not in pytest's own folder, which other users may not enter.
    with network(tmp_path) as net, tempfile.TemporaryDirectory(prefix="softmark-department-") as name:
        need_program("pg_createcluster", "postgresql")
        Path(name).chmod(0o755)
        yield Department(net, Path(name))


def class_of_one_machine(folder: Path) -> tuple[Path, str]:
    """Return a course whose first student was graded, and the gradebook of one machine for the class."""
    course = folder / "attention-2026"
    grade("init", course, "--title", "Attention 2026")
    shutil.copytree(EXAMPLE / "problems", course / "problems", dirs_exist_ok=True)
    shutil.copy(EXAMPLE / "roster.csv", course / "roster.csv")
    first = folder / "first"
    shutil.copytree(EXAMPLE / "submissions" / FIRST, first / FIRST)
    grade("batch", first, "--course", course, "--out", folder / "first results")
    alone = folder / "alone"
    shutil.copytree(course, alone)
    grade("batch", EXAMPLE / "submissions", "--course", alone, "--out", folder / "results", code=1)
    return course, (folder / "results" / "gradebook.csv").read_text()


def test_from_one_machine_to_four_as_printed(department: Department, tmp_path: Path) -> None:
    course, alone = class_of_one_machine(tmp_path)
    main = department.hosts["main"]
    department.run("main", "root", "useradd --create-home lecturer")
    home = main.path(Path("/home/lecturer"))
    shutil.copytree(course, home / "attention-2026")
    shutil.copytree(EXAMPLE / "submissions", home / "handed-in")
    department.run("main", "root", "chown -R lecturer: /home/lecturer")
    walk = PAGE.split("## From one machine to four\n")[1].split("\n## ")[0]
    steps, taken_out = walk.split("### Taking a machine out")
    done = listings(steps)
    assert len(done) == 18
    for listing in done:
        department.follow(listing)
    assert (home / "results" / "gradebook.csv").read_text() == alone
    where = "--course attention-2026"
    queue = json.loads(department.run("main", "lecturer", f"grade queue {where} --json"))
    assert sum(worker["graded"] for worker in queue["workers"]) == 34
    assert {worker["name"].partition("/")[0] for worker in queue["workers"]} == set(HOSTS)
    # Nobody gets in without encryption, and a worker's account may look after nothing.
    plain = "postgresql://lecturer@db.example.org/attention?sslmode=disable"
    said = department.run("main", "lecturer", f"grade store check --store '{plain}'", wanted=3)
    assert "the database server takes encrypted connections only" in said
    setting = "set -a; . /etc/softmark/worker.env; PGPASSFILE=/var/lib/softmark/.pgpass"
    said = department.run(
        "lab-1", "root", f"{setting}; grade queue", wanted=3,
    )  # fmt: skip
    assert "this account may grade, and not look after the queue" in said
    drain, withdraw = (
        Listing(("main",), "lecturer", listing.kind, None, listing.text) for listing in listings(taken_out)
    )
    department.follow(drain)
    department.until_logged("lab-3", "ended 0")  # and stays away: no restart
    department.follow(withdraw)
    department.until_logged("lab-1", "this account may grade for no course")
