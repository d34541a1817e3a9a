"""A class in the middle of its course: everything that can be looked up exists, for two students."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from engine.answers import right_response, wrong_responses
from engine.course.people import Role
from engine.grading import grade_answers
from engine.marks.rubric_marking import RubricMarking
from engine.model import CodeSubmission, Mode, Part, Quiz, Response, Variant
from engine.quiz.rules import now
from engine.store import HandMark
from engine.store.drafts import DraftField
from engine.store.sql_tables import metadata
from engine.store.student_requests import RequestKind
from engine.web.routes import WebRoute, all_routes
from engine.web.site import Site
from engine.web.visit import path_segment
from tests.unit.marks.free_text_class import hand_in as hand_in_words
from tests.unit.marks.free_text_class import item_variant
from tests.web.browsing import draw
from tests.web.course_work import hand_in_code
from tests.web.scanned_sheets import EXAM, SINGLE, print_exam

__all__ = ["ABOVE", "PEOPLE", "FilledClass", "fill_class", "text_of"]

# Who asks, with the role; None is nobody. ada's own objects are asked for, and bob is the other student.
PEOPLE: Mapping[str | None, Role | None] = {
    None: None,
    "ada": Role.STUDENT,
    "bob": Role.STUDENT,
    "mia": Role.MARKER,
    "ivy": Role.INSTRUCTOR,
}
ABOVE = ("mia", "ivy")
OPEN_QUIZ = """
title: Open
attempts: 2
hint_cost: 0.25
show_before: nothing
sections:
  - title: All
    items: [softmax-temperature, greedy-trace-order, scale-symbol, claims-solve-or-mitigate]
"""
DONE_QUIZ = """
title: Done
attempts: 1
sections:
  - title: All
    items: [greedy-path, chain-rule-probability]
"""


def text_of(student: str, what: str) -> str:
    """Return a text that stands nowhere but in what a student did, or what was done for that student."""
    return f"zq{what}zq{student}"


@dataclass
class FilledClass:
    """The class, and the values of parameters in addresses."""

    site: Site
    quizzes: list[Quiz]
    own: Mapping[str, str]
    """Values of ada's, by parameter or by ``route.parameter``; of things that are nobody's too."""
    foreign: Mapping[str, str]
    """Values of bob's, for the parameters that name something of one student."""

    @property
    def variants(self) -> list[Variant]:
        """All variants that are out."""
        return [question.variant for quiz in self.quizzes for question in quiz.questions]

    def path(self, route: WebRoute, values: Mapping[str, str] | None = None) -> str:
        """Return the path of a route with ada's values, or with others."""
        names = route.path.split("{")[1:]
        chosen = {}
        for name in (piece.split("}")[0] for piece in names):
            key = f"{route.name}.{name}"
            table = self.own if values is None else {**self.own, **values}
            chosen[name] = path_segment(table.get(key, table.get(name, "")))
        return route.path.format_map(chosen)

    def has_values(self, route: WebRoute) -> bool:
        """Return whether each parameter of a route has a value here."""
        names = [piece.split("}")[0] for piece in route.path.split("{")[1:]]
        return all(f"{route.name}.{name}" in self.own or name in self.own for name in names)

    def foreign_routes(self) -> list[tuple[WebRoute, dict[str, str]]]:
        """Return students' routes that name something of one student, with bob's values."""
        routes = []
        for route in all_routes():
            names = [piece.split("}")[0] for piece in route.path.split("{")[1:]]
            keys = [f"{route.name}.{name}" if f"{route.name}.{name}" in self.own else name for name in names]
            values = {key: self.foreign[key] for key in keys if key in self.foreign}
            if values and route.least is Role.STUDENT:
                routes.append((route, values))
        return routes


def fill_class(site: Site, folder: Path) -> FilledClass:
    """Fill the site's store."""
    store, moment = site.store, now()
    open_quizzes = draw(site, OPEN_QUIZ, "open")
    done = draw(site, DONE_QUIZ, "done")
    draw(site, DONE_QUIZ, "secret-quiz", is_published=False)
    for quiz in open_quizzes:
        part = quiz.questions[0].variant.parts[0]
        store.drafts.save(quiz, [DraftField(1, part.id, text_of(quiz.student, "draft"), 0)], now=moment)
    for quiz in done:
        _hand_in(site, quiz, is_right=quiz.student == "ada")
    variant = item_variant(folder)
    requests, waiting, receipts = {}, {}, {}
    for student in ("ada", "bob"):
        hand_in_words(store, variant, student, text_of(student, "words"))
        receipts[student] = hand_in_code(site, student, f"# {text_of(student, 'code')}\n", score=2.5)
        code = CodeSubmission(f"# {text_of(student, 'queued')}\n", "softmax.py", student[0] * 64, {})
        waiting[student] = store.waiting.add(student, "softmax", code, Mode.MARKS, moment)
        request = store.requests.ask(
            student, RequestKind.REGRADE, "softmax", text_of(student, "asked"), moment
        )
        requests[student] = request.id
        store.hand_marks.add(
            HandMark(student, "masked-softmax", 1.5, False, text_of(student, "marked"), "ivy", moment)
        )
        _insert(
            site, "code_comments", student=student, item="softmax", submission=receipts[student],
            file="softmax.py", line=1, text=text_of(student, "comment"), by="mia", at=moment,
        )  # fmt: skip
        _insert(
            site, "allowances", student=student, assignment="open", kind="deadline",
            due="2126-12-10 23:59", reason=text_of(student, "allowed"), by="ivy", at=moment,
        )  # fmt: skip
    _insert(site, "saved_comments", item="softmax", text="zqsavedzqstaff", points=None, by="mia", at=moment)
    sheets = print_exam(site)
    sheets.scan("ada", {}, unsure={SINGLE: "a"})
    marking = RubricMarking(store, site.mode, site.course.secret())
    field = marking.field("week-1/why-weights/reason")
    assert field is not None
    answer = next(answer.id for answer in marking.answers(field) if answer.student == "ada")
    own = {
        "student": "ada", "quiz": "open", "number": "1", "item": "softmax", "form": "py", "name": "done",
        "column": "softmax", "field": field.id, "answer": str(answer), "request": str(requests["ada"]),
        "code.state.number": str(waiting["ada"]), "token": "no-such-token", "job": "no-such-job",
        "exam": EXAM, "place": f"1/{SINGLE}/answer",
        "file": "no-such-file", "folder": "no-such-folder", "instructor.course.file.file": "roster.csv",
    }  # fmt: skip
    foreign = {"request": str(requests["bob"]), "code.state.number": str(waiting["bob"])}
    return FilledClass(site, [*open_quizzes, *done], own, foreign)


def _hand_in(site: Site, quiz: Quiz, *, is_right: bool) -> None:
    answers = {}
    for question in quiz.questions:
        answers[question.number] = {
            part.id: right_response(part)
            if is_right
            else next((text for text, _ in wrong_responses(part)), "0.123")
            for part in question.variant.parts
        }
    reports = [
        grade_answers(q.variant, Response(answers[q.number]), mode=Mode.MARKS, student=quiz.student)
        for q in quiz.questions
    ]
    site.store.record_quiz(quiz, answers, reports)


def _wrong(part: Part) -> str:
    return next((text for text, _ in wrong_responses(part)), "0.123")


def _insert(site: Site, table: str, **values: object) -> None:
    with site.store._database.write() as connection:
        connection.execute(sa.insert(metadata.tables[table]), values)
