"""What a head of a column means in a student's quiz."""

from __future__ import annotations

import pytest

from engine.errors import QuizError
from engine.intake.question_heads import QuizQuestions
from engine.intake.row_hand_ins import answer_quiz
from engine.model import Part, Quiz, QuizQuestion, RenderedText, Variant


def question(number: int, item: str, title: str, *parts: str) -> QuizQuestion:
    fields = tuple(Part(part, "number", 1.0) for part in parts or ("answer",))
    variant = Variant(f"v{number}", item, "1", title, RenderedText("", "", ""), fields)
    return QuizQuestion(number, variant, 1.0)


QUIZ = Quiz(
    "q1",
    "week-1",
    "Week 1",
    "ada",
    (
        question(1, "softmax-weights", "Softmax of two scores"),
        question(2, "full-pass", "A full pass", "scores", "weights", "context"),
        question(3, "lettered", "Lettered parts", "b", "a"),
        question(4, "twin-one", "Twins"),
        question(5, "twin-two", "Twins"),
        question(12, "version-2.weights", "3. Last"),
    ),
)


@pytest.mark.parametrize(
    ("head", "place"),
    [
        ("1", (1, "answer")),
        ("01", (1, "answer")),
        ("q1", (1, "answer")),
        ("Q1.", (1, "answer")),
        ("Question 1", (1, "answer")),
        ("question-1", (1, "answer")),
        ("Response 1", (1, "answer")),
        ("12", (12, "answer")),
        ("softmax-weights", (1, "answer")),
        (" Softmax-Weights ", (1, "answer")),
        ("week-1/softmax-weights", (1, "answer")),
        ("Week-1/1", (1, "answer")),
        ("softmax  of two\nscores", (1, "answer")),
        ("1. Softmax of two scores", (1, "answer")),
        ("Question 1: what are the weights?", (1, "answer")),
        ("1a", (1, "answer")),
        ("1.answer", (1, "answer")),
        ("2.scores", (2, "scores")),
        ("2.Weights", (2, "weights")),
        ("2a", (2, "scores")),
        ("2 b", (2, "weights")),
        ("Q2(c)", (2, "context")),
        ("2.c", (2, "context")),
        ("full-pass.context", (2, "context")),
        ("A full pass.b", (2, "weights")),
        ("3b", (3, "b")),
        ("3.a", (3, "a")),
        ("4", (4, "answer")),
        ("twin-two", (5, "answer")),
        ("version-2.weights", (12, "answer")),
        ("3. Last", (12, "answer")),
    ],
)
def test_heads(head: str, place: tuple[int, str]) -> None:
    assert QuizQuestions(QUIZ).find(head) == place


@pytest.mark.parametrize(
    ("head", "what", "step"),
    [
        ("softmax-weight", "the quiz has no such question", "did you mean softmax-weights?"),
        ("A full past", "the quiz has no such question", "did you mean full-pass?"),
        ("6", "no such question", "the questions are 1 to 6: head a column with its number or its item's id"),
        ("Comments", "no such question", "the questions are"),
        ("week-2/softmax-weights", "no such question", "did you mean softmax-weights?"),
        ("3 things I liked", "no such question", "the questions are"),
        ("2", "question 2 has the parts scores, weights, context", "2.scores, 2.weights, 2.context"),
        ("2d", "question 2 has no part 'd'", "its parts are scores, weights, context"),
        ("2.weight", "question 2 has no part 'weight'", "its parts are"),
        ("3c", "question 3 has no part 'c'", "its parts are b, a"),
        ("1b", "question 1 has no part 'b'", "its parts are answer"),
        ("Twins", "questions 4 and 5 have this title", "head the column with the number"),
        ("2. Softmax of two scores", "the number means question 2, but question 1 has this title", "alone"),
    ],
)
def test_what_is_no_field(head: str, what: str, step: str) -> None:
    with pytest.raises(QuizError) as caught:
        QuizQuestions(QUIZ).find(head)
    assert what in caught.value.what and step in str(caught.value.next_step)


def test_only_what_has_a_column_is_asked() -> None:
    found = answer_quiz(QUIZ, {"1": "0.5", "2a": "1", "twin-one": ""})
    assert found.filled.answers == {1: {"answer": "0.5"}, 2: {"scores": "1"}, 4: {"answer": ""}}
    assert found.filled.questions == {1, 2, 4} and found.filled.quiz == "q1"
    assert not found.problems and not found.strange and not found.is_blank
    assert answer_quiz(QUIZ, {"1": "", "9": "x"}).is_blank


def test_a_damaged_answer_isnt_marked() -> None:
    found = answer_quiz(QUIZ, {"1": "01.Feb", "2a": "0.5", "2b": "=1/3", "4": "2"})
    assert found.filled.answers == {4: {"answer": "2"}} and found.filled.questions == {4}
    assert [what for what, _ in found.problems] == [
        "question 1: a spreadsheet has made a date or time of it (01.Feb)",
        "question 2: the cell holds a formula (=1/3): formulas aren't computed",
    ]


@pytest.mark.parametrize("order", [("1", "Q1"), ("Q1", "1")])
def test_two_columns_for_one_question(order: tuple[str, str]) -> None:
    first, second = order
    assert answer_quiz(QUIZ, {first: "0.5", second: "0.5"}).filled.answers == {1: {"answer": "0.5"}}
    assert answer_quiz(QUIZ, {first: "0.5", second: ""}).filled.answers == {1: {"answer": "0.5"}}
    assert answer_quiz(QUIZ, {first: "", second: "0.5"}).filled.answers == {1: {"answer": "0.5"}}
    found = answer_quiz(QUIZ, {first: "0.5", second: "0.6"})
    assert found.filled.questions == frozenset()
    assert found.problems == ((f"question 1 is answered twice, at {first!r} and {second!r}", "keep one"),)
