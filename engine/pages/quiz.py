"""A student's quiz as a page to read and print: stems, options and blanks, never a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.model import ChoiceOption, Part, Quiz, QuizQuestion, RenderedText
from engine.pages.render import render
from engine.quiz.answer_key import QuizKey
from engine.quiz.release import rules_text

__all__ = ["key_page", "quiz_page"]

_LINES = {"matrix": 3}


@dataclass(frozen=True, slots=True)
class _Choice:
    id: str
    text: RenderedText


@dataclass(frozen=True, slots=True)
class _Part:
    """What a page may know of a part: it has no field for a key, so a template can't show one."""

    id: str
    kind: str
    points: float
    prompt: RenderedText | None
    hint: str
    options: tuple[_Choice, ...]
    prompts: tuple[_Choice, ...]
    lines: int


@dataclass(frozen=True, slots=True)
class _Question:
    number: int
    title: str
    points: float
    stem: RenderedText
    notes: tuple[RenderedText, ...]
    parts: tuple[_Part, ...]


def quiz_page(quiz: Quiz, *, student: str | None = None) -> str:
    """Return the printable page of one student's quiz.

    Parameters
    ----------
    quiz : Quiz
        With its keys, none of which is used.
    student : str, optional
        Name to show; the student's id by default.
    """
    questions = [_question(question) for question in quiz.questions]
    return render(
        "quiz.html.j2",
        quiz=quiz,
        student=student or quiz.student,
        questions=questions,
        rules=rules_text(quiz.rules, on_file=True),
        total=sum(question.points for question in questions),
    )


def _question(question: QuizQuestion) -> _Question:
    variant = question.variant
    return _Question(
        number=question.number,
        title=variant.title,
        points=question.points,
        stem=variant.stem,
        notes=variant.notes,
        parts=tuple(_part(part) for part in variant.parts),
    )


def _part(part: Part) -> _Part:
    from engine.answers import blank_hint

    return _Part(
        id=part.id,
        kind=part.type,
        points=part.points,
        prompt=part.prompt,
        hint=blank_hint(part),
        options=_choices(part.options),
        prompts=_choices(part.prompts),
        lines=_LINES.get(part.type, 1),
    )


def _choices(options: tuple[ChoiceOption, ...]) -> tuple[_Choice, ...]:
    return tuple(_Choice(option.id, option.text) for option in options)


# ----------------------------------------------------------------------------------------------------
# The keys of a quiz as one page, for the instructor alone.


def key_page(keys: Sequence[QuizKey], *, names: Mapping[str, str] | None = None) -> str:
    """Return one page with the keys of these students' quizzes (at least one).

    Parameters
    ----------
    keys : sequence of QuizKey
    names : mapping of str to str, optional
        Names by student id.
    """
    return render("key.html.j2", keys=keys, names=names or {})
