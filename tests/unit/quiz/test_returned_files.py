"""A quiz file as it comes back: the answers as they were meant, or what is wrong with the file."""

from __future__ import annotations

import pytest

from engine.answers import right_response
from engine.errors import QuizError
from engine.items import builtin_bank
from engine.model import Mode, Quiz
from engine.quiz import compose, fill_in_text, read_filled
from engine.quiz.blueprint import Blueprint, PlacedBlueprint
from engine.quiz.hand_in import grade_quiz

HEAD = "quiz: abc\nquestions:\n"


def answer(typed: str) -> str:
    return read_filled(f"{HEAD}- number: 1\n  answer: {typed}\n").answers[1]["answer"]


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("no", "no"),
        ("NO", "NO"),
        ("on", "on"),
        ("true", "true"),
        ("1:30", "1:30"),
        ("0o17", "0o17"),
        ("017", "017"),
        ("1_000", "1_000"),
        (".5", ".5"),
        ("5.", "5."),
        ("+.5e-3", "+.5e-3"),
        ("1e999", "1e999"),
        ("9" * 200, "9" * 200),
        ("2026-01-02", "2026-01-02"),
        (".nan", ".nan"),
        ("0.50 # rounded", "0.50"),
        ("~", ""),
        ("null", ""),
        ("", ""),
        ("'~'", "~"),
        ("'null'", "null"),
        ("[0.1, 0.20]", "[0.1, 0.20]"),
        ("{1: b, 2: a}", "1: b, 2: a"),
        ("{a, c}", "a, c"),
        ("\n  - a\n  - c", "a, c"),
        ("\n  - [1, 2]\n  - [3, 4]", "[1, 2]; [3, 4]"),
        ("|\n    1 2\n    3 4", "1 2\n3 4\n"),
    ],
)
def test_answers_are_read_as_typed(typed: str, read: str) -> None:
    assert answer(typed) == read


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("quiz: abc\n", "there is no question in the file"),
        ("quiz: abc\nquestions:\n", "there is no question in the file"),
        ("quiz: abc\nquestions: []\n", "there is no question in the file"),
        (HEAD + "- number: 1\n- number: '1'\n", "question 1 appears twice"),
        (HEAD + "- number: 1\n  parts:\n  - part: a\n  - part: a\n    answer: 3\n", "part a appears twice"),
        (HEAD + "- number: true\n", "lost its number"),
        (HEAD + "- number: [1]\n", "lost its number"),
        (HEAD + "- number: 1\n  retry: x\n", "`retry` must be the number"),
    ],
)
def test_a_damaged_file_isnt_marked(body: str, what: str) -> None:
    with pytest.raises(QuizError) as refused:
        read_filled(body, "week.yaml")
    assert what in str(refused.value)
    assert "week.yaml" in str(refused.value)


@pytest.fixture(scope="module")
def quiz() -> Quiz:
    sections = [{"items": ["softmax-weights", "softmax-shift"], "points": 1}]
    plan = PlacedBlueprint(Blueprint.model_validate({"title": "T", "sections": sections}))
    (drawn,) = compose(plan, builtin_bank(), ["ada"], secret=b"s" * 32, name="q")
    return drawn


def test_questions_that_are_gone_count_as_blank_and_are_told(quiz: Quiz) -> None:
    right = right_response(quiz.questions[0].variant.parts[0])
    filled = read_filled(f"quiz: {quiz.id}\nquestions:\n- number: 1\n  answer: '{right}'\n")
    first, second = grade_quiz(filled, quiz, mode=Mode.MARKS)
    assert (first.score, second.score) == (1, 0)
    assert "question 2 is missing in the file and counts as left blank" in second.notes
    assert not any("missing" in note for note in first.notes)


def test_a_stem_that_is_wrapped_inside_a_word_is_unchanged() -> None:
    plan = Blueprint.model_validate({"title": "t", "sections": [{"items": ["lstm-limits"]}]})
    (quiz,) = compose(PlacedBlueprint(plan), builtin_bank(), ["ada"], secret=b"x" * 32, name="q")
    text = fill_in_text(quiz)
    assert "with far-\n    apart words" in text
    (report,) = grade_quiz(read_filled(text), quiz, mode=Mode.MARKS)
    assert report.notes == ()
    (report,) = grade_quiz(read_filled(text.replace("far-\n", "near\n")), quiz, mode=Mode.MARKS)
    assert report.notes == ("the stem of question 1 was changed in the file; the stored one counts",)
