"""PostgreSQL goes away while a class works: every page says so, and nothing is lost or doubled."""

from __future__ import annotations

import html
import itertools
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from engine.course import Course
from engine.model import Mode
from engine.store.waiting import HandInState
from tests.integration.test_cluster_command import started
from tests.live.code_visitor import CodeVisitor
from tests.live.postgres import server
from tests.live.quiz_visitor import QUIZ, QuizVisitor, publish_quiz
from tests.live.site import LiveSite, new_course

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of marks runs on Linux")

ROOT = Path(__file__).parents[2]
RIGHT = (ROOT / "problems/code/softmax/solution_numpy.py").read_text(encoding="utf-8")
WRITERS = ("zada", "zbob")
CODERS = ("zcat", "zdan")
PATIENCE_S = 120.0
# By hand: 30 s, as a server takes to be started anew.
AWAY_S = float(os.environ.get("SOFTMARK_DATABASE_AWAY_S", "5"))
SENTENCE = re.compile(r"[Tt]he (database server can't be reached|connection to the database server was lost)")


@contextmanager
def at_work(*work: Callable[[], None]) -> Iterator[None]:
    """Do things again and again in threads while the block runs."""
    stop = threading.Event()
    errors: list[BaseException] = []

    def repeat(each: Callable[[], None]) -> None:
        while not stop.is_set():
            try:
                each()
            except BaseException as error:
                errors.append(error)
                return
            stop.wait(0.1)

    threads = [threading.Thread(target=repeat, args=(each,)) for each in work]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(PATIENCE_S)
    assert not errors, errors


class Typist:
    """Saves one text after the other, and a text again until it is confirmed."""

    def __init__(self, site: LiveSite, student: str) -> None:
        self.visitor = QuizVisitor(site, student)
        self.confirmed = 0
        self.refused = 0
        self._numbers = itertools.count(1)

    def type(self) -> None:
        text = f"0.{next(self._numbers):04}"
        answer = self.visitor.save(text)
        if answer.status_code != 200:
            assert answer.status_code == 503, answer.text
            assert SENTENCE.search(answer.json()["error"]), answer.text
            self.refused += 1
            return
        self.confirmed += self.visitor.confirmed.get("text") == text


class Programmer:
    """Hands in one program after the other."""

    def __init__(self, site: LiveSite, student: str) -> None:
        self.visitor = CodeVisitor(site, student)
        self.visitor.token()
        self.student = student
        self.taken: list[str] = []
        self.unsure: list[str] = []
        self._numbers = itertools.count(1)

    def hand_in(self) -> None:
        source = f"{RIGHT}\n# {self.student}, {next(self._numbers)}\n"
        answer = self.visitor.client.post(
            "/code/softmax/hand-in",
            data={"csrf": self.visitor.token(), "way": "typed", "code": source},
        )
        if answer.status_code == 303:
            self.taken.append(source)
        elif answer.status_code == 400:  # twenty of theirs wait
            assert "wait" in answer.text
        else:
            assert answer.status_code == 503 and SENTENCE.search(html.unescape(answer.text)), answer.text
            self.unsure.append(source)
        time.sleep(0.4)


def test_a_class_at_work(tmp_path: Path) -> None:
    people = [*WRITERS, *CODERS]
    lines = tuple(f"{name},Zoe {name},{name}@example.edu" for name in people)
    course = new_course(tmp_path / "course", students=lines, store=server().new_store())
    publish_quiz(course, *WRITERS)
    log = tmp_path / "site.log"
    with LiveSite(course, "--processes", "2", "--workers", "1", "--log", str(log)) as site:
        writers = [Typist(site, name) for name in WRITERS]
        coders = [Programmer(site, name) for name in CODERS]
        staff, nobody = site.browser("ivy"), site.browser()
        with at_work(*(each.type for each in writers), *(each.hand_in for each in coders)):
            see_them_go_on(writers, coders)
            server().stop(at_once=True)
            try:
                see_it_away(staff, nobody)
            finally:
                server().start()
            await_ready(nobody)
            assert all(each.refused for each in writers), "nobody was told"
            see_them_go_on(writers, coders)
        assert len(re.findall("end-sittings", log.read_text())) < 4 * (AWAY_S + 10)
        see_what_is_stored(course, writers, coders)
        assert [page.status_code for page in (staff.get("/staff/class"), nobody.get("/"))] == [200, 200]
        for client in (staff, nobody, *(each.visitor.client for each in (*writers, *coders))):
            client.close()
        ended = site.stop()
    assert ended == 0
    # The link for the first instructor is what it prints; nothing else is about anybody.
    for text in (log.read_text(encoding="utf-8"), site.complaints()):
        assert not re.search(r"zada|zbob|zcat|zdan|zoe|ivy|example\.edu|def softmax", text, re.IGNORECASE)
        assert "Traceback" not in text


def test_hand_ins_in_the_queue_of_several_machines(tmp_path: Path) -> None:
    """No hand-in is lost, none is graded twice, and the pages say what is the case."""
    lines = tuple(f"{name},Zoe {name},{name}@example.edu" for name in CODERS)
    course = new_course(tmp_path / "course", students=lines, store=server().new_store())
    address = str(Course.open(course).store_place)
    with LiveSite(course, "--cluster") as site:
        visitors = {name: CodeVisitor(site, name) for name in CODERS}
        pages = {name: each.hand_in("softmax", f"{RIGHT}\n# {name}\n") for name, each in visitors.items()}
        first = visitors[CODERS[0]]
        state = re.search(r'data-state="([^"]+)"', first.client.get(pages[CODERS[0]]).text)
        assert state is not None
        assert "No machine is grading" in first.client.get(state[1]).json()["text"]
        server().stop(at_once=True)
        try:
            end = time.monotonic() + AWAY_S
            while time.monotonic() < end:
                away = first.client.get(state[1], headers={"Accept": "application/json"})
                assert away.status_code == 503, away.text
                assert SENTENCE.search(html.unescape(away.text)), away.text
                time.sleep(0.5)
        finally:
            server().start()
        began = time.monotonic()
        with started("worker", "--store", address, "--slots", 1, "--heartbeat", 0.5):
            for name, each in visitors.items():
                assert "10 of 10 points" in each.feedback("softmax", pages[name])
        # What waited in the queue wasn't given up: nothing rests after a fault that was nobody's.
        assert time.monotonic() - began < PATIENCE_S
        for each in visitors.values():
            each.client.close()
        assert site.stop() == 0
        assert "Traceback" not in site.complaints()
    with Course.open(course).open_store() as store:
        attempts = [*store.attempts(mode=Mode.MARKS)]
        assert sorted(each.student for each in attempts) == sorted(CODERS)
        assert {each.report.score for each in attempts} == {10}
        assert {each.tries for each in store.waiting.in_state([HandInState.DONE])} == {0}


def see_them_go_on(writers: list[Typist], coders: list[Programmer]) -> None:
    """Wait until each has got further by some steps."""
    aims = [
        *((each, each.confirmed + 3) for each in writers),
        *((each, len(each.taken) + 1) for each in coders),
    ]
    end = time.monotonic() + PATIENCE_S
    while any((each.confirmed if isinstance(each, Typist) else len(each.taken)) < aim for each, aim in aims):
        assert time.monotonic() < end, "they don't get on"
        time.sleep(0.1)


def see_it_away(staff: httpx.Client, nobody: httpx.Client) -> None:
    end = time.monotonic() + AWAY_S
    while time.monotonic() < end:
        for browser, path in (
            (staff, "/staff/class"),
            (staff, "/account"),
            (nobody, "/sign-in"),
            (nobody, "/"),
        ):
            began = time.monotonic()
            page = browser.get(path)
            assert time.monotonic() - began < 30, path
            if path == "/staff/class" or page.status_code != 200:  # what needs no store goes on
                assert page.status_code == 503, (path, page.text)
                main = html.unescape(page.text).partition("<main")[2]
                assert len(SENTENCE.findall(main)) == 1 and "nothing that was saved" in main, page.text
                assert not re.search(r"psycopg|postgresql|socket", page.text), page.text
        assert nobody.get("/health/live").status_code == 200
        ready = nobody.get("/health/ready")
        assert ready.status_code == 503 and ready.json()["status"] == "unavailable"
        time.sleep(0.2)


def await_ready(browser: httpx.Client) -> None:
    """Wait until both processes are ready: each connection may be another one's."""
    end, times = time.monotonic() + PATIENCE_S, 0
    while times < 10:
        assert time.monotonic() < end, "it isn't ready again"
        times = times + 1 if browser.get("/health/ready").status_code == 200 else 0


def see_what_is_stored(course: Path, writers: list[Typist], coders: list[Programmer]) -> None:
    with Course.open(course).open_store() as store:
        for writer in writers:
            (quiz,) = store.quizzes(QUIZ, writer.visitor.student)
            (draft,) = store.drafts.of_quiz(quiz)
            # The last confirmed text, or a later one whose confirmation was lost.
            assert draft.revision >= writer.visitor.confirmed["revision"] >= writer.confirmed
            assert draft.text >= writer.visitor.confirmed["text"]
        end = time.monotonic() + PATIENCE_S
        while store.waiting.in_state([HandInState.WAITING, HandInState.RUNNING]):
            assert time.monotonic() < end, "hand-ins wait for ever"
            time.sleep(0.2)
        attempts = [(each.student, each.source) for each in store.attempts(mode=Mode.MARKS)]
        assert len(set(attempts)) == len(attempts), "graded twice"
        taken = {(each.student, source) for each in coders for source in each.taken}
        unsure = {(each.student, source) for each in coders for source in each.unsure}
        assert taken <= set(attempts) <= taken | unsure
        assert all(each.report.score == 10 for each in store.attempts(mode=Mode.MARKS))
        assert store.upkeep.check().faults == ()
