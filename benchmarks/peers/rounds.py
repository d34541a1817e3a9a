"""One round of each peer over the class: seconds and verdicts per submission.

Every submission is graded in a fresh process, as each peer does in production; nothing is left out of
the time, not even the start of the interpreter, except where a peer itself does that once per class.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from classes.table import ClassSubmission

__all__ = ["PEERS", "PeerFolder", "PeerGrade", "lay_out"]

HERE = Path(__file__).parent
STATUS = {True: "passed", False: "failed"}


@dataclass(frozen=True, slots=True)
class PeerGrade:
    """One submission graded by one peer.

    Parameters
    ----------
    seconds : float
        All of it.
    verdicts : dict of str to str
        Check → ``"passed"`` or ``"failed"``.
    check_seconds : float
        What of it the checks themselves took, the student's calls included.
    """

    seconds: float
    verdicts: dict[str, str]
    check_seconds: float


@dataclass(frozen=True, slots=True)
class PeerFolder:
    """A folder with one submission and the peer's tests beside it."""

    folder: Path
    handed: ClassSubmission
    tests: Path

    @property
    def times(self) -> Path:
        """Where the checks write what they took."""
        return self.folder / "check-seconds"

    def environ(self) -> dict[str, str]:
        """Return the environment of a peer's process: the shared checks can be imported."""
        return {**os.environ, "PYTHONPATH": str(self.tests.parent), "CHECK_SECONDS": str(self.times)}

    def took(self) -> float:
        """Return and forget the seconds that the checks wrote."""
        text = self.times.read_text(encoding="ascii") if self.times.exists() else ""
        self.times.unlink(missing_ok=True)
        return sum(map(float, text.split()))


def lay_out(peer: str, folder: Path, known: Sequence[ClassSubmission]) -> list[PeerFolder]:
    """Write the submissions and the peer's tests into `folder`.

    The checks lie once beside all of them, so that their bytecode is compiled once, like a library's.
    """
    shutil.copytree(HERE / "checks", folder / "checks", ignore=shutil.ignore_patterns("__pycache__"))
    tests = folder / "tests"
    shutil.copytree(HERE / peer, tests, ignore=shutil.ignore_patterns("__pycache__"))
    places = []
    for number, handed in enumerate(known):
        own = folder / f"{number:02d}"
        own.mkdir()
        (own / "submission.py").write_bytes(handed.path.read_bytes())
        test = tests / f"test_{handed.item}.py"
        if test.exists():  # discovered beside the submission
            shutil.copy(test, own)
        places.append(PeerFolder(own, handed, tests))
    return places


def _timed(place: PeerFolder, command: Sequence[str | Path], read: Callable[[], dict[str, str]]) -> PeerGrade:
    begun = time.perf_counter()
    subprocess.run(
        [str(part) for part in command],
        cwd=place.folder,
        env=place.environ(),
        capture_output=True,
        check=False,  # a status other than 0 only says that a check failed
    )
    seconds = time.perf_counter() - begun
    return PeerGrade(seconds, read(), place.took())


# --- pytest ------------------------------------------------------------------------------


def run_pytest(python: Path, places: Sequence[PeerFolder]) -> list[PeerGrade]:
    """Grade with a fresh ``python -m pytest`` per submission."""
    graded = []
    for place in places:
        report = place.folder / "report.xml"
        report.unlink(missing_ok=True)
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir=."]
        command += [f"--junitxml={report.name}", f"test_{place.handed.item}.py"]
        graded.append(_timed(place, command, lambda report=report: read_junit(report)))  # type: ignore[misc]
    return graded


def read_junit(path: Path) -> dict[str, str]:
    """Return check → verdict of a JUnit report; of one that isn't there, nothing."""
    if not path.exists():
        return {}
    cases = ElementTree.parse(path).iter("testcase")
    named = ((check_id(case.get("name", "")), case) for case in cases)
    return {name: STATUS[not len(case)] for name, case in named}


def check_id(test: str) -> str:
    """Return the check that a test is called after: ``test_perm_eq`` → ``perm-eq``."""
    return test.split(" ")[0].removeprefix("test_").replace("_", "-")


# --- gradescope-utils --------------------------------------------------------------------


def run_gradescope(python: Path, places: Sequence[PeerFolder]) -> list[PeerGrade]:
    """Grade as a Gradescope ``run_autograder`` does: a fresh process that writes ``results.json``."""
    graded = []
    for place in places:
        results = place.folder / "results.json"
        results.unlink(missing_ok=True)
        command = [python, place.tests / "run_tests.py"]
        graded.append(_timed(place, command, lambda results=results: read_gradescope(results)))  # type: ignore[misc]
    return graded


def read_gradescope(path: Path) -> dict[str, str]:
    """Return check → verdict of a ``results.json``; of one that isn't there, nothing."""
    try:
        tests = json.loads(path.read_text(encoding="utf-8"))["tests"]
    except (OSError, ValueError):
        return {}
    return {check_id(test["name"]): test["status"] for test in tests}


# --- otter-grader ------------------------------------------------------------------------


def run_otter(python: Path, places: Sequence[PeerFolder]) -> list[PeerGrade]:
    """Grade with ``otter.api.grade_submission``, one process for the class, one kernel per submission.

    The start of that process and otter's import are shared out over the submissions.
    """
    archives = {item: _autograder(places[0], item) for item in {place.handed.item for place in places}}
    job = [
        [str(place.folder / "submission.py"), str(archives[place.handed.item]), str(place.times)]
        for place in places
    ]
    begun = time.perf_counter()
    done = subprocess.run(
        [str(python), str(places[0].tests / "grade_class.py")],
        input=json.dumps(job),
        cwd=places[0].tests.parent,
        env=places[0].environ(),
        capture_output=True,
        text=True,
        check=False,
    )
    total = time.perf_counter() - begun
    if done.returncode != 0:
        raise RuntimeError(f"otter-grader failed: {done.stderr[-2000:]}")
    rows = json.loads(done.stdout.splitlines()[-1])
    shared = (total - sum(seconds for seconds, _ in rows)) / len(rows)
    return [
        PeerGrade(seconds + shared, _otter_verdicts(passed.items()), place.took())
        for place, (seconds, passed) in zip(places, rows, strict=True)
    ]


def _otter_verdicts(passed: Iterable[tuple[str, bool]]) -> dict[str, str]:
    return {check_id(name): STATUS[bool(good)] for name, good in passed}


def _autograder(place: PeerFolder, item: str) -> Path:
    """Write the zip that ``otter generate`` makes, as far as grading without a container reads it."""
    path = place.tests.parent / f"{item}.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(place.tests / f"{item}.py", f"tests/{item}.py")
        archive.writestr("otter_config.json", json.dumps({"pdf": False, "print_summary": False}))
    return path


PEERS: dict[str, tuple[str, Callable[[Path, Sequence[PeerFolder]], list[PeerGrade]]]] = {
    "pytest": ("for_pytest", run_pytest),
    "gradescope-utils": ("for_gradescope", run_gradescope),
    "otter-grader": ("for_otter", run_otter),
}
