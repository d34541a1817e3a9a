"""What an attempt counts, with the store in between: attempts, blanks, eliminations, modes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.answers import right_response
from engine.hand_ins import FilledQuiz
from engine.items import builtin_bank
from engine.model import Mode, Quiz, QuizRules
from engine.quiz import compose, hand_in
from engine.quiz.blueprint import Blueprint, PlacedBlueprint
from engine.quiz.quiz_progress import next_variant, sitting_of
from engine.store import Store, open_store

SECRET = b"s" * 32
NUMBER, CHOICE = "softmax-weights", "advantages-limitations"
BANK = builtin_bank()


def quiz_with(rules: QuizRules, name: str = "q", attempt: int = 0) -> Quiz:
    plan = PlacedBlueprint(
        Blueprint.model_validate({"title": "T", "sections": [{"items": [NUMBER, CHOICE], "points": 2}]})
    )
    (quiz,) = compose(plan, BANK, ["ada"], secret=SECRET, name=name, attempt=attempt)
    return replace(quiz, rules=rules)


@pytest.fixture
def store(tmp_path: Path):
    with open_store(tmp_path / "store.db") as opened:
        yield opened


def give(
    store: Store,
    quiz: Quiz,
    answers: dict[int, str],
    mode: Mode = Mode.MARKS,
    retries: dict[int, int] | None = None,
) -> list[tuple[float | None, float]]:
    filled = FilledQuiz(quiz.id, {n: {"answer": text} for n, text in answers.items()}, {}, retries or {})
    handed = hand_in(store, quiz, filled, mode=mode)
    assert handed.recorded
    return [(report.score, report.credit) for report in handed.reports]


def key(quiz: Quiz, number: int) -> str:
    return right_response(quiz.questions[number - 1].variant.parts[0])


RULES = QuizRules(attempts=2, credit=(1.0, 0.5))


@pytest.mark.slow
def test_attempts_count_in_the_order_in_which_they_come(store: Store) -> None:
    quiz = quiz_with(RULES)
    store.save_quiz(quiz)
    assert give(store, quiz, {1: "0.2 0.3 0.5"})[0] == (0, 1)
    assert give(store, quiz, {1: key(quiz, 1)})[0] == (1.0, 0.5)
    # a third one earns nothing, and takes nothing away
    other = key(quiz, 1) + " "
    assert give(store, quiz, {1: other})[0] == (0, 0)
    progress = sitting_of(store, quiz, Mode.MARKS, BANK).progress[1]
    assert (progress.best, progress.left) == (1.0, 0)


def test_the_same_submission_again_is_no_attempt(store: Store) -> None:
    quiz = quiz_with(RULES)
    store.save_quiz(quiz)
    for _ in range(5):
        assert give(store, quiz, {1: "0.2 0.3 0.5"})[0] == (0, 1)
    assert give(store, quiz, {1: key(quiz, 1)})[0] == (1.0, 0.5)


def test_blanks_and_unreadable_answers_use_no_attempt(store: Store) -> None:
    quiz = quiz_with(RULES)
    store.save_quiz(quiz)
    give(store, quiz, {})
    give(store, quiz, {1: "   "})
    filled = FilledQuiz(quiz.id, {1: {"answer": "nan"}}, {})
    assert not hand_in(store, quiz, filled, mode=Mode.MARKS).recorded
    assert hand_in(store, quiz, filled, mode=Mode.MARKS, keep_unreadable=True).recorded
    assert give(store, quiz, {1: key(quiz, 1)})[0] == (2.0, 1.0)


def test_striking_out_options_earns_nothing_and_uses_no_attempt(store: Store) -> None:
    quiz = quiz_with(QuizRules(attempts=3, credit=(1.0, 0.5, 0.5)))
    store.save_quiz(quiz)
    wrong = next(o.id for o in quiz.questions[1].variant.parts[0].options if not o.correct)
    give(store, quiz, {2: wrong})
    assert give(store, quiz, {2: key(quiz, 2)})[1] == (0, 0)
    progress = sitting_of(store, quiz, Mode.MARKS, BANK).progress[2]
    assert (len(progress.attempts), progress.left) == (1, 2)
    question = next_variant(store, BANK, SECRET, quiz, progress)
    assert question is not None and question.retry == 1
    answered = replace(quiz, questions=(quiz.questions[0], question))
    assert give(store, quiz, {2: key(answered, 2)}, retries={2: 1})[1] == (1.0, 0.5)


def test_practice_and_marks_never_meet(store: Store) -> None:
    quiz = quiz_with(replace(RULES, hint_cost=0.5))
    store.save_quiz(quiz)
    store.sittings.take_hint(quiz, 1, Mode.PRACTICE, 1)
    assert give(store, quiz, {1: "0.2 0.3 0.5"}, Mode.PRACTICE)[0] == (0, 0.5)
    assert give(store, quiz, {1: key(quiz, 1)}, Mode.PRACTICE)[0] == (0.5, 0.25)
    assert give(store, quiz, {1: key(quiz, 1)}, Mode.MARKS)[0] == (2.0, 1.0)
    assert [best.score for best in store.best_scores(Mode.MARKS) if best.item == NUMBER] == [2.0]


def test_for_marks_draws_of_one_name_share_their_attempts(store: Store) -> None:
    first, second = quiz_with(RULES), quiz_with(RULES, attempt=1)
    store.save_quizzes([first, second])
    for mode, credit in ((Mode.MARKS, 0.5), (Mode.PRACTICE, 1.0)):
        give(store, first, {1: "0.2 0.3 0.5"}, mode)
        assert give(store, second, {1: key(second, 1)}, mode)[0] == (2 * credit, credit)


def test_another_quiz_has_attempts_of_its_own(store: Store) -> None:
    first, second = quiz_with(RULES), quiz_with(RULES, "other")
    store.save_quizzes([first, second])
    give(store, first, {1: "0.2 0.3 0.5"})
    assert give(store, second, {1: key(second, 1)})[0] == (2.0, 1.0)


def test_without_rules_the_best_of_all_counts_in_full(store: Store) -> None:
    quiz = quiz_with(QuizRules())
    store.save_quiz(quiz)
    for wrong in ("0.2 0.3 0.5", "0.1 0.3 0.6", "0.1 0.2 0.7"):
        assert give(store, quiz, {1: wrong})[0] == (0, 1)
    assert give(store, quiz, {1: key(quiz, 1)})[0] == (2.0, 1.0)


def test_a_partly_right_answer_earns_its_part_of_the_share(store: Store) -> None:
    quiz = quiz_with(QuizRules(attempts=2, credit=(0.9, 0.5)))
    store.save_quiz(quiz)
    right = quiz.questions[1].variant.parts[0].key_ids
    score, credit = give(store, quiz, {2: right[0]})[1]
    assert credit == 0.9 and score == pytest.approx(2 * 0.9 / len(right))
    (attempt,) = [a for a in store.attempts(item=CHOICE) if not a.is_blank]
    assert "This counts 90 % (attempt 1 of 2)." in attempt.report.notes


def test_attempts_at_the_same_moment_are_counted_one_after_another(store: Store) -> None:
    quiz = quiz_with(QuizRules(attempts=4, credit=(1.0, 0.7, 0.4, 0.2)))
    store.save_quiz(quiz)
    answers = [f"0.{n} 0.3 0.{7 - n}" for n in range(1, 7)]
    with ThreadPoolExecutor(6) as pool:
        earned = list(pool.map(lambda text: give(store, quiz, {1: text})[0][1], answers))
    assert sorted(earned, reverse=True) == [1.0, 0.7, 0.4, 0.2, 0.0, 0.0]


@settings(max_examples=25)
@given(
    st.lists(st.sampled_from(["right", "wrong", "blank", "hint"]), max_size=8),
    st.integers(1, 3),
    st.sampled_from([None, 0.0, 0.3, 1.0]),
)
@pytest.mark.slow
def test_no_way_of_taking_it_earns_more_than_the_points(
    steps: list[str], attempts: int, cost: float | None
) -> None:
    quiz = quiz_with(QuizRules(attempts=attempts, credit=(1.0, 0.6, 0.3)[:attempts], hint_cost=cost))
    with TemporaryDirectory() as folder, open_store(Path(folder) / "store.db") as store:
        store.save_quiz(quiz)
        hints = 0
        for number, step in enumerate(steps):
            if step == "hint":
                hints += 1
                store.sittings.take_hint(quiz, 1, Mode.MARKS, hints)
            else:
                text = {"right": key(quiz, 1) + " " * number, "wrong": f"0.{number} 1 2", "blank": ""}[step]
                give(store, quiz, {1: text})
            sitting = sitting_of(store, quiz, Mode.MARKS, BANK)
            progress = sitting.progress[1]
            assert 0 <= progress.best <= quiz.questions[0].points
            assert 0 <= progress.share <= 1 and progress.left >= 0
            assert sitting.score <= sitting.maximum
        first_right = steps.index("right") if "right" in steps else None
        if first_right is not None and "wrong" not in steps[:first_right]:
            assert progress.best == pytest.approx(
                2 * max(0.0, 1 - (cost or 0) * steps[:first_right].count("hint"))
            )
