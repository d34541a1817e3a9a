"""A class whose marks go to a learning system, with a clock that tests move."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from engine.course import Roster, Student
from engine.course.policies import Policies
from engine.lti.grade_sender import GradeSender, SentMarks
from engine.lti.marks_for_lms import MarkCollector, MarkSource
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
    Response,
    Variant,
)
from engine.store import Attempt, HandMark, Store
from engine.store.lti import LtiLink, LtiPerson, LtiPlatform
from tests.live.lms import Lms

__all__ = ["MINUTE", "NOW", "LinkedClass", "answer", "excuse", "quiz"]

NOW = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
WORD = RenderedText("w", "w", "w")


@dataclass
class LinkedClass:
    """A class with its learning system, and a clock that tests move."""

    store: Store
    lms: Lms
    platform: LtiPlatform
    policies: Policies = field(default_factory=Policies)
    now: datetime = NOW
    mode: Mode = Mode.MARKS
    roster: Roster | None = None

    def __post_init__(self) -> None:
        self.collector = MarkCollector()
        self.sender = GradeSender(self.store, clock=lambda: self.now)

    def results(self, only: Collection[str] | None = None) -> Iterator[StudentResults]:
        return class_results(
            self.store,
            mode=self.mode,
            title_of=str,
            roster=self.roster,
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

    def code(
        self,
        student: str,
        score: float | None,
        item: str = "softmax",
        *,
        notes: tuple[str, ...] = (),
        handed: datetime | None = None,
    ) -> None:
        outcome = Outcome.UNGRADED if score is None else Outcome.PARTIAL
        report = GradeReport(item, "v", outcome, score, 10.0, mode=self.mode, notes=notes)
        code = CodeSubmission(f"# {self.now} {score}", "a.py", f"{hash((student, self.now)):064x}"[-64:], {})
        attempt = Attempt.of_code(student, code, report, started=self.now)
        self.store.record(replace(attempt, handed=handed))

    def link(self, assignment: str, number: str = "1", *, scopes: tuple[str, ...] = ()) -> LtiLink:
        address = f"{self.lms.address}/items/{number}"
        self.lms.items[number] = {"id": address, "scoreMaximum": 10, "label": assignment}
        link = LtiLink(
            self.platform.id, "d", f"r{number}", assignment, "c", assignment, address, None, scopes, None, NOW
        )
        self.store.lti.put_link(link)
        return link

    def enrol(self, *names: str) -> None:
        """Have the roster list these students and nobody else."""
        self.roster = Roster(tuple(Student(name, name) for name in names))

    def people(self, *names: str, context: str = "c") -> None:
        self.store.lti.put_people(
            [LtiPerson(self.platform.id, context, f"u-{n}", n, n, "", self.now) for n in names]
        )

    def received(self) -> list[tuple[str, float | None, float, str]]:
        return [
            (m["userId"], m.get("scoreGiven"), m["scoreMaximum"], m["gradingProgress"])
            for m in self.lms.received
        ]


def quiz(student: str, rules: QuizRules | None = None) -> Quiz:
    def question(number: int, item: str, points: float) -> QuizQuestion:
        part = Part("answer", "token", points, key_ids=("a",))
        return QuizQuestion(number, Variant(f"v-{item}", item, "v", item, WORD, (part,)), points)

    questions = (question(1, "one", 2.0), question(2, "two", 3.0))
    return Quiz(f"q-{student}", "week-1", "Week 1", student, questions, rules=rules or QuizRules())


def answer(course: LinkedClass, made: Quiz, scores: dict[int, float | None]) -> None:
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


def excuse(course: LinkedClass, student: str) -> None:
    for item in ("one", "two"):
        mark = HandMark(student, f"week-1/{item}", None, True, "", "prof", course.now)
        course.store.hand_marks.add(mark)
