"""Marks on their way to a learning system: which, when, once, and until they are taken."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.course.policies import Policies
from engine.lti.grade_sender import GradeSender, SentMarks
from engine.lti.marks_for_lms import MarkCollector, MarkSource, assignment_mark
from engine.marks import StudentResults, class_results
from engine.model import (
    CodeSubmission,
    GradeReport,
    Mode,
    Outcome,
    Part,
    Quiz,
    QuizQuestion,
    QuizRules,
    RenderedText,
    ResultDisclosure,
    Variant,
)
from engine.quiz import rules as quiz_rules
from engine.store import Attempt, HandMark, Store
from engine.store.lti import LtiLink, LtiPerson, LtiPlatform
from tests.live.lms import Lms, LmsFault

NOW = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
WORD = RenderedText("w", "w", "w")


@dataclass
class Course:
    """A class with its learning system, and a clock that tests move."""

    store: Store
    lms: Lms
    platform: LtiPlatform
    policies: Policies = field(default_factory=Policies)
    now: datetime = NOW
    mode: Mode = Mode.MARKS

    def __post_init__(self) -> None:
        self.collector = MarkCollector()
        self.sender = GradeSender(self.store, clock=lambda: self.now)

    def results(self, only: Collection[str] | None = None) -> Iterator[StudentResults]:
        return class_results(
            self.store,
            mode=self.mode,
            title_of=str,
            policies=self.policies,
            points_of=self.points,
            only=only,
        )

    def points(self, item: str) -> float | None:
        return 10.0 if item in ("softmax", "attention") else None

    @property
    def source(self) -> MarkSource:
        return MarkSource(self.store, self.mode, self.results, self.points, str)

    def round(self, *, minutes: float = 1) -> SentMarks:
        """Do what the site does every few seconds."""
        self.now += minutes * MINUTE
        self.sender.find_columns(self.source)
        self.collector.collect(self.source, self.policies, self.now)
        return self.sender.send()

    def code(self, student: str, score: float | None, item: str = "softmax") -> None:
        outcome = Outcome.UNGRADED if score is None else Outcome.PARTIAL
        report = GradeReport(item, "v", outcome, score, 10.0, mode=self.mode)
        code = CodeSubmission(f"# {self.now} {score}", "a.py", f"{hash((student, self.now)):064x}"[-64:], {})
        self.store.record(Attempt.of_code(student, code, report, started=self.now))

    def link(self, assignment: str, number: str = "1", *, scopes: tuple[str, ...] = ()) -> LtiLink:
        address = f"{self.lms.address}/items/{number}"
        self.lms.items[number] = {"id": address, "scoreMaximum": 10, "label": assignment}
        link = LtiLink(
            self.platform.id, "d", f"r{number}", assignment, "c", assignment, address, None, scopes, None, NOW
        )
        self.store.lti.put_link(link)
        return link

    def people(self, *names: str, context: str = "c") -> None:
        self.store.lti.put_people(
            [LtiPerson(self.platform.id, context, f"u-{n}", n, n, "", self.now) for n in names]
        )

    def received(self) -> list[tuple[str, float | None, float, str]]:
        return [
            (m["userId"], m.get("scoreGiven"), m["scoreMaximum"], m["gradingProgress"])
            for m in self.lms.received
        ]


@pytest.fixture
def course(store: Store, lms: Lms, platform: LtiPlatform, monkeypatch: pytest.MonkeyPatch) -> Course:
    made = Course(store, lms, platform)
    monkeypatch.setattr(quiz_rules, "now", lambda: made.now)
    made.people("ada", "bob")
    return made


def quiz(student: str, rules: QuizRules | None = None) -> Quiz:
    def question(number: int, item: str, points: float) -> QuizQuestion:
        part = Part("answer", "token", points, key_ids=("a",))
        return QuizQuestion(number, Variant(f"v-{item}", item, "v", item, WORD, (part,)), points)

    questions = (question(1, "one", 2.0), question(2, "two", 3.0))
    return Quiz(f"q-{student}", "week-1", "Week 1", student, questions, rules=rules or QuizRules())


def answer(course: Course, made: Quiz, scores: dict[int, float | None]) -> None:
    from engine.model import Response

    attempts = []
    for question in made.questions:
        if question.number not in scores:
            continue
        score = scores[question.number]
        outcome = Outcome.UNGRADED if score is None else Outcome.PARTIAL
        item = question.variant.item
        report = GradeReport(item, "v", outcome, score, question.points, mode=Mode.MARKS)
        typed = Response({"answer": f"{score} {course.now}"})
        attempts.append(
            Attempt.of_answer(made.student, question, typed, report, quiz=made.id, started=course.now)
        )
    course.store.record_all(attempts)


def test_a_mark_of_code_is_sent_once_and_again_when_it_changes(course: Course) -> None:
    course.link("softmax")
    course.code("ada", 20 / 3)
    assert course.round().sent == 1
    assert course.received() == [("u-ada", pytest.approx(6.666667), 10.0, "FullyGraded")]
    assert course.lms.received[0]["activityProgress"] == "Completed"
    assert course.round().sent == 0
    course.now += MINUTE
    course.code("ada", 9.0)
    course.round()
    course.store.hand_marks.add(HandMark("ada", "softmax", 9.5, False, "well explained", "prof", course.now))
    course.round()
    assert [mark[1] for mark in course.received()] == [pytest.approx(6.666667), 9.0, 9.5]
    assert course.lms.received[-1]["comment"] == "Set by prof: 9.5 of 10. Well explained."
    times = [mark["timestamp"] for mark in course.lms.received]
    assert times == sorted(set(times))


def test_a_quiz_is_sent_as_its_page_sums_it_with_unanswered_questions_in_the_maximum(course: Course) -> None:
    course.link("week-1")
    for student in ("ada", "bob"):
        course.store.save_quiz(quiz(student))
    answer(course, quiz("ada"), {1: 1.1, 2: 2.2})
    answer(course, quiz("bob"), {1: 2.0})
    course.round()
    assert sorted(course.received()) == [
        ("u-ada", 3.3, 5.0, "FullyGraded"),
        ("u-bob", 2.0, 5.0, "FullyGraded"),
    ]
    rows = {results.student: results.row() for results in course.results()}
    assert rows["ada"].total() == 3.3


def test_what_is_ungraded_is_pending_and_has_no_score(course: Course) -> None:
    course.link("week-1")
    course.store.save_quiz(quiz("ada"))
    answer(course, quiz("ada"), {1: 1.0, 2: None})
    course.round()
    assert course.received() == [("u-ada", None, 5.0, "Pending")]
    assert course.lms.received[0]["activityProgress"] == "Submitted"
    (waiting,) = [a for a in course.store.attempts(student="ada") if a.report.score is None]
    graded = replace(waiting.report, outcome=Outcome.PARTIAL, score=2.5)
    course.now += MINUTE
    course.store.record(replace(waiting, report=graded, finished=datetime.now(UTC)))
    course.round()
    assert course.received()[-1] == ("u-ada", 3.5, 5.0, "FullyGraded")


def test_nothing_leaves_before_it_may_be_shown(course: Course) -> None:
    course.link("week-1")
    course.link("softmax", "2")
    until = course.now + timedelta(hours=1)
    hidden = QuizRules(
        deadline=until, show_before=ResultDisclosure.NOTHING, show_after=ResultDisclosure.SCORE
    )
    course.store.save_quiz(quiz("ada", hidden))
    answer(course, quiz("ada", hidden), {1: 1.0, 2: 3.0})
    course.policies = Policies.model_validate({"assignments": {"softmax": {"release": "never"}}})
    course.code("ada", 5.0)
    assert course.round().sent == 0 and course.received() == []
    course.round(minutes=61)  # the deadline is over: nobody has done anything
    assert course.received() == [("u-ada", 4.0, 5.0, "FullyGraded")]
    course.policies = Policies.model_validate({"assignments": {"softmax": {"release": "immediately"}}})
    course.round()
    assert course.received()[-1] == ("u-ada", 5.0, 10.0, "FullyGraded")


def test_practice_is_never_sent(course: Course) -> None:
    course.link("softmax")
    course.mode = Mode.PRACTICE
    course.code("ada", 5.0)
    assert course.round().sent == 0


def test_excused_columns_have_no_points_on_either_side(course: Course) -> None:
    course.store.save_quiz(quiz("ada"))
    answer(course, quiz("ada"), {1: 1.0, 2: 3.0})
    course.store.hand_marks.add(HandMark("ada", "week-1/two", None, True, "", "prof", NOW))
    (results,) = course.results(["ada"])
    mark = assignment_mark(results, "week-1", 5.0)
    assert mark is not None and (mark.score, mark.maximum) == (1.0, 2.0)
    course.store.hand_marks.add(HandMark("ada", "week-1/one", None, True, "", "prof", NOW))
    (results,) = course.results(["ada"])
    assert assignment_mark(results, "week-1", 5.0) is None
    assert assignment_mark(results, "week-2", 5.0) is None


def excuse(course: Course, student: str) -> None:
    for item in ("one", "two"):
        mark = HandMark(student, f"week-1/{item}", None, True, "", "prof", course.now)
        course.store.hand_marks.add(mark)


def test_work_excused_after_its_mark_was_sent_clears_the_mark(course: Course) -> None:
    course.link("week-1")
    for student in ("ada", "bob"):
        course.store.save_quiz(quiz(student))
    answer(course, quiz("ada"), {1: 1.0, 2: 3.0})
    excuse(course, "bob")
    course.round()
    assert course.received() == [("u-ada", 4.0, 5.0, "FullyGraded")], "bob has nothing to be taken back"
    excuse(course, "ada")
    course.round()
    assert course.received()[1:] == [("u-ada", None, 5.0, "NotReady")]
    assert course.lms.received[-1]["activityProgress"] == "Initialized"
    assert course.lms.received[-1]["comment"] == "Excused."
    assert course.round().sent == 0, "once"
    course.store.hand_marks.add(HandMark("ada", "week-1/one", 1.5, False, "", "prof", course.now))
    course.round()
    assert course.received()[-1] == ("u-ada", 1.5, 2.0, "FullyGraded")


def test_marks_go_to_the_users_of_the_links_own_course(course: Course) -> None:
    course.link("softmax")
    course.people("cyd", context="another")
    for student in ("ada", "cyd"):
        course.code(student, 5.0)
    course.round()
    assert [mark[0] for mark in course.received()] == ["u-ada"]


def test_a_student_who_comes_later_gets_marks_that_were_there_already(course: Course) -> None:
    course.link("softmax")
    course.code("cyd", 8.0)
    course.round()
    course.now += MINUTE
    course.people("cyd")
    course.round()
    assert [mark[:2] for mark in course.received()] == [("u-cyd", 8.0)]


def test_a_missing_column_is_made(course: Course) -> None:
    scope = "https://purl.imsglobal.org/spec/lti-ags/scope/lineitem"
    link = course.link("softmax", scopes=(scope,))
    course.lms.items.clear()
    items = f"{course.lms.address}/items"
    course.store.lti.put_link(replace(link, line_item=None, line_items=items))
    course.code("ada", 5.0)
    course.lms.faults.append(LmsFault("/items", 500, times=1))
    course.round()
    assert course.received() == []
    course.round(minutes=3)
    assert course.lms.items["1"]["label"] == "softmax" and course.lms.items["1"]["scoreMaximum"] == 10
    assert course.received() == [("u-ada", 5.0, 10.0, "FullyGraded")]


def test_while_the_system_is_away_marks_wait_and_the_newest_arrives_once(course: Course) -> None:
    course.link("softmax")
    course.lms.faults.append(LmsFault("/items/.*", 503))
    course.code("ada", 5.0)
    course.code("bob", 6.0)
    outcome = course.round()
    assert (outcome.sent, outcome.failed) == (0, 1)  # the second one isn't even tried
    assert len([r for r in course.lms.requests if "scores" in r]) == 1
    course.now += MINUTE
    course.code("ada", 7.0)
    course.round()
    assert course.store.lti_outbox.counts()["failed"] >= 1
    course.lms.faults.clear()
    for _ in range(3):
        course.round(minutes=30)
    assert sorted(mark[:2] for mark in course.received()) == [("u-ada", 7.0), ("u-bob", 6.0)]
    assert course.store.lti_outbox.counts() == {"sent": 2, "waiting": 0, "failed": 0}


def test_pauses_grow_and_end_at_six_hours_and_the_systems_own_wish_holds(course: Course) -> None:
    course.link("softmax")
    course.code("ada", 5.0)
    course.lms.faults.append(LmsFault("/items/.*", 500))
    pauses = []
    for _ in range(14):
        course.sender.send() if pauses else course.round()
        (row,) = course.store.lti_outbox.rows(waiting=True)
        assert row.next_try is not None
        pauses.append(row.next_try - course.now)
        course.now = row.next_try
    assert pauses[0] == timedelta(seconds=10) and pauses[1] == timedelta(seconds=20)
    assert pauses == sorted(pauses) and pauses[-1] == timedelta(hours=6)
    course.lms.faults[:] = [LmsFault("/items/.*", 429, headers={"Retry-After": "90000"})]
    course.store.lti_outbox.retry_all(course.now)
    course.sender.send()
    (row,) = course.store.lti_outbox.rows(waiting=True)
    assert row.next_try == course.now + timedelta(hours=6)


def test_what_only_people_can_change_is_listed_and_tried_rarely(course: Course) -> None:
    course.link("softmax")
    course.code("ada", 5.0)
    course.lms.items.clear()
    outcome = course.round()
    assert outcome.reasons == {
        "Test LMS doesn't answer about a mark: status 404: it no longer has this column or course"
    }
    (row,) = course.store.lti_outbox.rows(waiting=True)
    assert row.next_try == course.now + 5 * MINUTE and row.reason in outcome.reasons


def test_an_answer_that_is_lost_doubles_nothing(course: Course) -> None:
    course.link("softmax")
    course.code("ada", 5.0)
    course.lms.faults.append(LmsFault("/items/1/scores", drop=True, times=1))
    assert course.round().failed == 1
    assert course.round().sent == 1
    assert len(course.lms.marks) == 1 and {mark[1] for mark in course.received()} == {5.0}
    canvas = "https://canvas.instructure.com/lti/submission"
    assert [mark[canvas]["new_submission"] for mark in course.lms.received] == [True, False]


def test_disabled_systems_get_nothing_until_they_are_enabled(course: Course) -> None:
    course.link("softmax")
    course.code("ada", 5.0)
    course.store.lti.enable_platform(course.platform.id, disabled=course.now)
    course.round()
    assert course.received() == []
    course.store.lti.enable_platform(course.platform.id, disabled=None)
    course.store.lti_outbox.retry_all(course.now)
    course.round()
    assert len(course.received()) == 1


_KILLED = """
    import sys
    from datetime import UTC, datetime, timedelta
    from engine.lti.grade_sender import GradeSender
    from engine.store import open_store

    with open_store(sys.argv[1]) as store:
        now = datetime.fromisoformat(sys.argv[2])
        GradeSender(store, clock=lambda: now).send()
"""


def test_a_kill_between_sending_and_noting_sends_the_same_mark_again(course: Course, tmp_path: Path) -> None:
    course.link("softmax")
    course.code("ada", 5.0)
    course.collector.collect(course.source, course.policies, course.now)
    script = tmp_path / "send.py"
    script.write_text(textwrap.dedent(_KILLED))
    command = [sys.executable, str(script), course.store.where, course.now.isoformat()]
    root = str(Path(__file__).parents[3])
    environment = {"SOFTMARK_CRASH_AT": "lti-mark-sent", "PYTHONPATH": root, "PATH": "/usr/bin"}
    killed = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert killed.returncode not in (0, 1), killed.stderr
    assert len(course.received()) == 1
    (row,) = course.store.lti_outbox.rows(waiting=True)
    assert course.sender.send().sent == 0  # the lease of the one that was killed
    course.now += 3 * MINUTE
    assert course.sender.send().sent == 1
    assert len(course.lms.marks) == 1
    assert {mark[1] for mark in course.received()} == {5.0}
    assert course.store.lti_outbox.rows()[0].is_sent and row.sent is None
