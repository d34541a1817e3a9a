"""The same program gets the same report on the site and from ``grade batch``, in the real sandbox."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from engine.commands import run
from engine.course import Course
from engine.model import GradeReport, Outcome
from engine.quiz import rules as quiz_rules
from engine.store import open_store
from engine.text.words import plain_points, points_text
from engine.web.application import application
from engine.web.site import Site
from engine.web.visit import SESSION_COOKIE
from tests.web.conftest import ADDRESS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of marks runs on Linux")

BANK = Path(__file__).parents[2] / "problems/code"
SOFTMAX = (BANK / "softmax/solution_numpy.py").read_text(encoding="utf-8")
HEAD = "import numpy as np\n\ndef softmax(x, axis=-1):\n"
PROGRAMS = {
    "right": SOFTMAX,
    "torch": (BANK / "softmax/solution_torch.py").read_text(encoding="utf-8"),
    "wrong": HEAD + "    e = np.exp(x)\n    return e / e.sum(axis=axis, keepdims=True)\n",
    "nothing": "x = 1\n",
    "syntax": "def softmax(x:\n",
    "raises": HEAD + "    raise KeyError('no')\n",
    "crash": HEAD + "    import os\n    os._exit(7)\n",
    "memory": HEAD + "    return np.ones((2**40,))\n",
    "loop": HEAD + "    while True: pass\n",
    "fork": HEAD + "    import os\n    while True:\n        os.fork()\n",
    "prints": HEAD + "    print('x' * 10**6)\n    return x\n",
    "exits": "import sys\nsys.exit(0)\n" + SOFTMAX,
}
PATIENCE_S = 400


def bank_programs() -> Iterator[Path]:
    """Yield of every exercise of the bank the file to start from, and a solution, each library's by turns.

    With ``SOFTMARK_MARKS=all`` (`make sweep`) it is every solution.
    """
    is_whole = os.environ.get("SOFTMARK_MARKS") == "all"
    for number, starter in enumerate(sorted(BANK.glob("*/starter.py"))):
        solutions = sorted(starter.parent.glob("solution*.py"))
        yield starter
        yield from solutions if is_whole else [solutions[number % len(solutions)]]


# By student: item and program.
WORK = {name: ("softmax", source) for name, source in PROGRAMS.items()} | {
    f"{path.parent.name}-{path.stem}": (path.parent.name, path.read_text(encoding="utf-8"))
    for path in bank_programs()
}
# How many children a fork bomb made before it was stopped, and when a loop was, differs from run to run.
UNLIKE = ("fork", "loop", "memory")

Both = tuple[dict[str, GradeReport], dict[str, GradeReport], dict[str, str]]


class Class:
    """A course of which the site grades one copy of the programs and ``grade batch`` another one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.course = folder / "course"
        Course.init(self.course, "Marks")
        roster = "id,name,email\n" + "".join(f"{name},{name},{name}@example.edu\n" for name in WORK)
        (self.course / "roster.csv").write_text(roster, encoding="utf-8")

    def by_batch(self) -> dict[str, GradeReport]:
        for name, (item, source) in WORK.items():
            place = self.folder / "in" / name
            place.mkdir(parents=True)
            (place / f"{item}.py").write_text(source, encoding="utf-8")
        store = self.folder / "batch.db"
        words = ["batch", self.folder / "in", "--course", self.course, "--out", self.folder / "out"]
        assert run([str(word) for word in [*words, "--store", store, "--workers", 2]]) in (0, 1)
        with open_store(store) as opened:
            return {attempt.student: attempt.report for attempt in opened.attempts()}

    def by_site(self) -> tuple[dict[str, GradeReport], dict[str, str]]:
        """Hand everything in at once; return the reports and the pages with the feedback."""
        with Course.open(self.course).open_store() as store:
            site = Site(self.course, store, ADDRESS)
            site.hand_in_desk.slots = 2
            with TestClient(application(site), base_url=ADDRESS, follow_redirects=False) as browser:
                addresses = {name: self._hand_in(browser, site, name) for name in WORK}
                end = time.monotonic() + PATIENCE_S
                while any(store.waiting.of_student(name)[0].is_open for name in WORK):
                    assert time.monotonic() < end
                    time.sleep(0.1)
                pages = {name: self._get(browser, site, name, addresses[name]) for name in WORK}
            return {attempt.student: attempt.report for attempt in store.attempts()}, pages

    def _hand_in(self, browser: TestClient, site: Site, name: str) -> str:
        item, source = WORK[name]
        page = self._get(browser, site, name, f"/code/{item}")
        sent = {"csrf": re.search(r'name="csrf" value="(\w+)"', page)[1], "way": "files"}  # type: ignore[index]
        files = {"files": (f"{item}.py", source.encode())}
        answer = browser.post(f"/code/{item}/hand-in", data=sent, files=files)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    def _get(self, browser: TestClient, site: Site, name: str, address: str) -> str:
        cookie = site.store.sessions.begin(name, way="mail", now=quiz_rules.now(), lasts=timedelta(hours=1))
        browser.cookies.clear()
        browser.cookies.set(SESSION_COOKIE, cookie)
        page = browser.get(address)
        assert page.status_code == 200
        return page.text


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    a_class = Class(tmp_path_factory.mktemp("marks"))
    by_site, pages = a_class.by_site()
    return a_class.by_batch(), by_site, pages


@pytest.mark.parametrize("name", WORK)
def test_one_report(both: Both, name: str) -> None:
    by_batch, by_site, pages = both
    here, there = by_site[name], by_batch[name]
    assert (here.score, here.outcome) == (there.score, there.outcome)
    if name not in UNLIKE:
        assert replace(here, tier=None) == replace(there, tier=None)
    assert here.outcome is not Outcome.UNGRADED
    assert here.score is None or f"{plain_points(here.score)} of {points_text(here.max_score)}" in pages[name]
    assert "Traceback" not in pages[name]


def test_these_are_what_they_are_called(both: Both) -> None:
    _, by_site, _ = both
    outcomes = {name: report.outcome for name, report in by_site.items()}
    # Statements beside the function may fail.
    assert {outcomes[name] for name in ("right", "torch", "exits")} == {Outcome.RIGHT}
    assert outcomes["wrong"] is Outcome.PARTIAL and outcomes["syntax"] is Outcome.FORMAT_ERROR
    assert by_site["loop"].score == by_site["fork"].score == by_site["crash"].score == 0
    solutions = {outcome for name, outcome in outcomes.items() if "-solution" in name}
    starters = {outcome for name, outcome in outcomes.items() if name.endswith("-starter")}
    assert solutions == {Outcome.RIGHT} and Outcome.RIGHT not in starters
