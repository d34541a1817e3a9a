"""Variants for retries and hints that were taken: added once, kept apart by student and mode."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.model import Mode, Part, Quiz, QuizQuestion, RenderedText, Variant
from engine.store import Store, open_store

WORD = RenderedText("w", "w", "w")


def variant(name: str) -> Variant:
    return Variant(name, "item", "v", "Title", WORD, (Part("answer", "token", 1.0, key_ids=(name,)),))


def quiz(student: str = "007", quiz_id: str = "q", name: str = "week") -> Quiz:
    questions = (QuizQuestion(1, variant("a"), 1.0), QuizQuestion(2, variant("b"), 1.0))
    return Quiz(quiz_id, name, "T", student, questions)


@pytest.fixture
def store(target: str | Path):
    with open_store(target) as opened:
        opened.save_quizzes([quiz(), quiz("s2", "q2"), replace(quiz(quiz_id="q3"), attempt=1)])
        yield opened


def test_variants_come_back_in_order(store: Store) -> None:
    assert store.sittings.variants(quiz(), 1) == [variant("a")]
    assert store.sittings.retries(quiz()) == {}
    for retry, name in enumerate("xyz", start=1):
        assert store.sittings.add_variant(quiz(), 1, retry, variant(name)) == variant(name)
    assert store.sittings.variants(quiz(), 1) == [variant(name) for name in "axyz"]
    assert store.sittings.variants(quiz(), 2) == [variant("b")]
    assert store.sittings.retries(quiz()) == {1: 3}
    assert store.sittings.retries(quiz("s2", "q2")) == {}


def test_the_first_variant_of_a_retry_stays(store: Store) -> None:
    store.sittings.add_variant(quiz(), 1, 1, variant("x"))
    assert store.sittings.add_variant(quiz(), 1, 1, variant("y")) == variant("x")
    assert store.sittings.variants(quiz(), 1)[1:] == [variant("x")]


def test_hints_are_counted_by_question_and_mode(store: Store) -> None:
    for hint in (1, 2, 2, 1):  # taken twice is taken once
        store.sittings.take_hint(quiz(), 1, Mode.MARKS, hint)
    store.sittings.take_hint(quiz(), 2, Mode.PRACTICE, 1)
    assert store.sittings.hints(quiz(), Mode.MARKS) == {1: 2}
    assert store.sittings.hints(quiz(), Mode.PRACTICE) == {2: 1}
    assert store.sittings.hints(quiz("s2", "q2"), Mode.MARKS) == {}


def test_draws_of_one_name_are_one_quiz_for_marks(store: Store) -> None:
    assert store.sittings.ids_alike(quiz(), Mode.MARKS) == {"q", "q3"}
    assert store.sittings.ids_alike(quiz(), Mode.PRACTICE) == {"q"}
    assert store.quiz_names() == ["week"]
    assert list(store.sittings.quiz_titles()) == ["week"]


def test_nothing_of_a_quiz_that_is_not_stored_is_kept(store: Store) -> None:
    from engine.errors import StoreError

    with pytest.raises(StoreError):
        store.sittings.take_hint(quiz(quiz_id="none"), 1, Mode.MARKS, 1)
