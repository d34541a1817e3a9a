"""Site and command line give the same mark: every item of the bank; right, wrong, unreadable, blank."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from starlette.testclient import TestClient

from engine.answers import kind_of, right_responses, wrong_responses
from engine.course import Course
from engine.errors import ResponseFormatError
from engine.grading import grade_answers
from engine.hand_ins import FilledQuiz
from engine.items.bank import builtin_bank
from engine.model import GradeReport, Mode, Outcome, Part, Quiz, QuizQuestion, Response
from engine.quiz import fill_in_text, grade_quiz
from engine.quiz import rules as quiz_rules
from engine.quiz.quiz_file import read_filled
from engine.web.application import application
from engine.web.site import Site
from engine.web.visit import SESSION_COOKIE
from tests.web.browsing import PageForm, draw, form_to, form_with, open_page
from tests.web.conftest import ADDRESS

HOW = ("right", "wrong", "malformed", "blank")
ITEMS_AT_ONCE = 8


def answer_items() -> list[str]:
    bank = builtin_bank()
    return sorted(item.id for item in bank.summaries()[0] if item.kind != "code")


ITEMS = answer_items()
GROUPS = [ITEMS[start : start + ITEMS_AT_ONCE] for start in range(0, len(ITEMS), ITEMS_AT_ONCE)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("same") / "course"
    Course.init(folder, "Attention")
    (folder / "roster.csv").write_text("id\n" + "\n".join(HOW) + "\n", encoding="utf-8")
    with Course.open(folder).open_store() as store:
        yield Site(folder, store, ADDRESS)


def browser_of(site: Site, student: str) -> TestClient:
    now = quiz_rules.now()
    cookie = site.store.sessions.begin(student, way="mail", now=now, lasts=timedelta(hours=1))
    browser = TestClient(application(site), base_url=ADDRESS, follow_redirects=False)
    browser.cookies.set(SESSION_COOKIE, cookie)
    return browser


def typed(part: Part, how: str) -> str:
    """What a student types for a part, at the command line."""
    if how == "right":
        return right_responses(part)[0]
    if how == "wrong":
        known = [text for text, mistake in wrong_responses(part) if mistake] or [
            text for text, _ in wrong_responses(part)
        ]
        return known[0] if known else right_responses(part)[0]
    return "∎ nothing of the kind ∎" if how == "malformed" else ""


def enter(form: PageForm, part: Part, text: str) -> None:
    """Enter the same answer into the site's form, by the inputs that it has."""
    if f"text.{part.id}" in form.names():
        form.fill(f"text.{part.id}", text)
        return
    try:
        answer = kind_of(part.type).parse(text, part) if text else None
    except ResponseFormatError:
        # No list offers what can't be read; a forged form can still send it.
        form.fields = [pair for pair in form.fields if f".{part.id}" not in pair[0] or "revision" in pair[0]]
        form.fields.append((f"text.{part.id}", text))
        return
    if answer is None:
        return
    if part.prompts:
        for number, letter in answer.items():
            form.fill(f"pair.{part.id}.{number}", letter)
    elif isinstance(answer, tuple):
        for place, letter in enumerate(answer, start=1):
            form.fill(f"place.{part.id}.{place}", letter)
    else:
        form.fill(f"pick.{part.id}", *([answer] if isinstance(answer, str) else sorted(answer)))


def comparable(report: GradeReport) -> tuple[object, ...]:
    return report.outcome, report.score, report.max_score, report.checks, report.diagnosis, report.notes


def submitted(question: QuizQuestion, how: str, student: str) -> GradeReport:
    """The report of ``grade submit``."""
    answers = {part.id: typed(part, how) for part in question.variant.parts}
    return grade_answers(question.variant, Response(answers), mode=Mode.MARKS, student=student)


def filed(quiz: Quiz, how: str, folder: Path) -> list[GradeReport]:
    """The reports of a fill-in file, as it is written, filled in and read back."""
    answers = {q.number: {part.id: typed(part, how) for part in q.variant.parts} for q in quiz.questions}
    path = folder / f"{quiz.name}-{how}.yaml"
    path.write_text(fill_in_text(quiz, answers), encoding="utf-8")
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["quiz"] == quiz.id
    filled: FilledQuiz = read_filled(path)
    return grade_quiz(filled, quiz, mode=Mode.MARKS)


@pytest.mark.parametrize("items", GROUPS, ids=lambda items: items[0])
def test_every_item_is_marked_alike(site: Site, tmp_path: Path, items: list[str]) -> None:
    name = f"all-{items[0]}"
    blueprint = (
        f"title: All\nattempts: 1\nshow_before: feedback\nsections:\n  - items: [{', '.join(items)}]\n"
    )
    quizzes = {quiz.student: quiz for quiz in draw(site, blueprint, name, HOW)}
    for how in HOW:
        quiz, browser = quizzes[how], browser_of(site, how)
        expected = {q.number: submitted(q, how, how) for q in quiz.questions}
        for question, report in zip(quiz.questions, filed(quiz, how, tmp_path), strict=True):
            assert comparable(report) == comparable(expected[question.number])
        for question in quiz.questions:
            page = open_page(browser, f"/quiz/{name}/{question.number}")
            form = form_with(page, "save")
            for part in question.variant.parts:
                enter(form, part, typed(part, how))
            assert form.send(browser, "hand_in").status_code == 303
        if how == "blank":
            form_to(open_page(browser, f"/quiz/{name}/hand-in"), "/hand-in").send(browser)
        stored = {
            a.item: a.report for a in site.store.attempts(student=how, mode=Mode.MARKS) if a.quiz == quiz.id
        }
        for question in quiz.questions:
            report = expected[question.number]
            if report.outcome is Outcome.FORMAT_ERROR:
                assert question.variant.item not in stored
                page = open_page(browser, f"/quiz/{name}/{question.number}")
                assert 'class="error" id="fault-' in page
            else:
                assert comparable(stored[question.variant.item]) == comparable(report), question.variant.item


def test_all_types_are_among_the_items(site: Site) -> None:
    kinds = {
        part.type
        for quiz in site.store.quizzes(student="right")
        for q in quiz.questions
        for part in q.variant.parts
    }
    assert len(ITEMS) > 100
    assert {
        "single_choice", "multiple_choice", "number", "vector", "matrix", "ordering", "matching", "token"
    } <= kinds  # fmt: skip
