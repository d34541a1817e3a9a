"""A course with three small items of its own, and a keyboard that types lines."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from engine.answers import right_response
from engine.course import Course
from engine.model import Quiz, Variant

HEAD = "source: {document: background}\ndifficulty: 2\nbloom: apply\n"
ITEMS = {
    "t-sum": HEAD
    + """id: t-sum
title: A sum
topics: [t-numbers]
parameters:
  a: {kind: integer, range: [1, 99]}
  b: {kind: integer, range: [1, 99]}
stem: "Add {{ a }} and {{ b }}. Give a whole number."
answer: {type: number, key: a + b, decimals: 0}
misconceptions:
  - {id: m-difference, expr: a - b, feedback: This is the difference.}
hints: [Begin with the ones., "Then the tens of {{ a }}."]
solution: "The sum is {{ key }}."
""",
    "t-pick": HEAD
    + """id: t-pick
title: A choice
topics: [t-choices]
parameters:
  a: {kind: decimal, range: [1, 50], step: 0.5}
stem: "What is twice {{ a }}?"
answer: {type: single_choice, key: 2 * a, decimals: 1, distractors: [m-half, m-square, m-neg]}
misconceptions:
  - {id: m-half, expr: a / 2}
  - {id: m-square, expr: a * a + 1}
  - {id: m-neg, expr: -2 * a}
hints: [Double it.]
solution: "It is {{ key }}."
""",
    "t-only": HEAD
    + """id: t-only
title: A choice with one variant
topics: [t-choices]
variants: 1
stem: Which word is first?
answer:
  type: single_choice
  options:
    - {text: alpha, correct: true}
    - {text: beta, misconception: m-neg}
    - {text: gamma, misconception: m-half}
    - {text: delta, misconception: m-square}
""",
}
REGISTRY = """m-difference: It is the difference.
m-half: It is half.
m-square: It is the square.
m-neg: It has the wrong sign.
"""


class Classroom:
    """A course folder, and what the tests ask of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def plan(self, text: str, name: str = "week") -> None:
        """Write a blueprint."""
        (self.folder / "blueprints" / f"{name}.yaml").write_text(text, encoding="utf-8")

    def file(self, student: str, name: str = "week") -> Path:
        """Return a student's fill-in file."""
        return self.folder / "quizzes" / name / f"{name}-{student}.yaml"

    def quiz(self, student: str, name: str = "week") -> Quiz:
        """Return the stored quiz."""
        with Course.open(self.folder).open_store() as store:
            return next(quiz for quiz in store.quizzes(name) if quiz.student == student)

    def variants(self, student: str, number: int, name: str = "week") -> list[Variant]:
        """Return every variant of a question that was drawn for a student."""
        with Course.open(self.folder).open_store() as store:
            quiz = next(quiz for quiz in store.quizzes(name) if quiz.student == student)
            return store.sittings.variants(quiz, number)

    def key(self, student: str, number: int, retry: int = 0) -> str:
        """Return the right answer to a question with one field."""
        return right_response(self.variants(student, number)[retry].parts[0])

    def wrong(self, student: str, number: int, retry: int = 0) -> str:
        """Return a wrong answer to a question with one field."""
        part = self.variants(student, number)[retry].parts[0]
        if part.options:
            return next(option.id for option in part.options if not option.correct)
        return "-1"

    def scores(self, student: str) -> list[tuple[str, float | None, float]]:
        """Return (item, score, credit) of every attempt, oldest first."""
        with Course.open(self.folder).open_store() as store:
            found = store.attempts(student=student)
            return [(a.item, a.report.score, a.report.credit) for a in found]

    def answer_file(self, student: str, answers: dict[int, str], to: str) -> Path:
        """Write a copy of a student's file with answers in it."""
        document = yaml.safe_load(self.file(student).read_text(encoding="utf-8"))
        for question in document["questions"]:
            question["answer"] = answers.get(question["number"], "")
        Path(to).write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
        return Path(to)


@pytest.fixture
def classroom(grade) -> Classroom:
    assert grade("init", "course", "--title", "Attention").code == 0
    folder = Path("course")
    (folder / "roster.csv").write_text("id,name\n007,James\ns2,Zoë\n", encoding="utf-8")
    for name, text in ITEMS.items():
        (folder / "problems" / f"{name}.yaml").write_text(text, encoding="utf-8")
    (folder / "problems" / "misconceptions.yaml").write_text(REGISTRY, encoding="utf-8")
    return Classroom(folder)


@pytest.fixture
def typing(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the next command read these lines and then the end of the input."""

    def lines(*said: str) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(line + "\n" for line in said)))

    return lines
