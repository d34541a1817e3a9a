"""Drafts of answers: windows that are out of date overwrite nothing, and nothing is taken after the end."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.store import Store, open_store
from engine.store.drafts import DraftField, SaveState
from tests.unit.store.test_store_sittings import quiz

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
END = NOW + timedelta(minutes=45)


@pytest.fixture
def filled(store: Store) -> Store:
    store.save_quizzes([quiz(), quiz("s2", "q2")])
    return store


def field(text: str, revision: int = 0, **more) -> DraftField:
    return DraftField(1, "answer", text, revision, **more)


def save(store: Store, *fields: DraftField, ends: datetime | None = None) -> list[str]:
    return [str(done.state) for done in store.drafts.save(quiz(), fields, now=NOW, ends=ends)]


def texts(store: Store) -> list[str]:
    return [draft.text for draft in store.drafts.of_quiz(quiz())]


def test_a_field_is_saved_and_changed(filled: Store) -> None:
    assert save(filled, field("0.2")) == ["saved"]
    assert save(filled, field("0.25", 1), DraftField(2, "answer", "b", 0)) == ["saved", "saved"]
    assert texts(filled) == ["0.25", "b"]
    assert filled.drafts.of_quiz(quiz())[0].revision == 2
    assert filled.drafts.of_quiz(quiz("s2", "q2")) == []


def test_an_older_window_gets_the_newer_text_back(filled: Store) -> None:
    save(filled, field("first"))
    save(filled, field("second", 1))
    (done,) = filled.drafts.save(quiz(), [field("late", 1)], now=NOW)
    assert (done.state, done.draft and done.draft.text) == (SaveState.CONFLICT, "second")
    assert texts(filled) == ["second"]


def test_the_same_request_twice_is_saved_once(filled: Store) -> None:
    assert save(filled, field("x")) == save(filled, field("x")) == ["saved"]
    assert [draft.revision for draft in filled.drafts.of_quiz(quiz())] == [1]


def test_a_form_that_sends_what_it_has_not_changed_conflicts_with_nothing(filled: Store) -> None:
    save(filled, field("old"))
    save(filled, field("new", 1))
    assert save(filled, field("old", 1, before="old")) == ["saved"]
    assert texts(filled) == ["new"]


def test_what_is_cleared_is_not_written_back(filled: Store) -> None:
    save(filled, field("x"))
    filled.drafts.clear(quiz(), 1, NOW)
    assert save(filled, field("xy", 1)) == ["conflict"]
    assert texts(filled) == [""]


def test_variants_have_fields_of_their_own(filled: Store) -> None:
    save(filled, field("for the first"))
    assert save(filled, field("for the second", retry=1)) == ["saved"]
    assert [(d.retry, d.text) for d in filled.drafts.of_quiz(quiz())] == [
        (0, "for the first"),
        (1, "for the second"),
    ]


def test_odd_text_is_kept_as_far_as_databases_can(filled: Store) -> None:
    assert save(filled, field("\0a\ud800 \u202eb")) == ["saved"]
    assert "a" in texts(filled)[0]


def test_an_end_begins_the_sitting_and_nothing_is_taken_once_it_is_ended(filled: Store) -> None:
    assert save(filled, field("x"), ends=END) == ["saved"]
    (sitting,) = filled.timed.not_handed_in()
    assert (sitting.started, sitting.ends, sitting.ended) == (NOW, END, None)
    filled.timed.end([(quiz(), END)], END)
    assert save(filled, field("y", 1), ends=END) == ["closed"]
    assert texts(filled) == ["x"]
    filled.timed.reopen(quiz(), END + timedelta(minutes=5))
    assert save(filled, field("y", 1)) == ["saved"]


def test_a_sitting_begins_once(filled: Store) -> None:
    first = filled.timed.begin(quiz(), NOW, END)
    assert filled.timed.begin(quiz(), NOW + timedelta(minutes=5), END + timedelta(minutes=5)) == first
    assert filled.timed.of_quiz(quiz()) == first
    assert filled.timed.of_quiz(quiz("s2", "q2")) is None


def test_two_windows_that_begin_at_once_have_one_sitting(filled: Store) -> None:
    with ThreadPoolExecutor(4) as pool:
        begun = list(
            pool.map(lambda n: filled.timed.begin(quiz(), NOW + timedelta(seconds=n), END), range(8))
        )
    assert len(set(begun)) == 1


def test_what_was_ended_early_and_not_handed_in_is_found(filled: Store) -> None:
    filled.timed.begin(quiz(), NOW, END)
    filled.timed.end([(quiz(), END)], NOW + timedelta(minutes=1))
    (sitting,) = filled.timed.not_handed_in()
    assert sitting.ended_early
    filled.timed.note_handed_in([quiz()], NOW + timedelta(minutes=1))
    assert filled.timed.not_handed_in() == []


def test_many_windows_at_once_lose_nothing(filled: Store) -> None:
    """Each thread adds a letter to what it has read, until it gets through: all letters are there."""

    def add(letter: str) -> None:
        while True:
            stored = next(iter(filled.drafts.of_quiz(quiz())), None)
            text, revision = (stored.text, stored.revision) if stored else ("", 0)
            if save(filled, field(text + letter, revision)) == ["saved"]:
                return

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, "abcdefgh"))
    assert sorted(texts(filled)[0]) == list("abcdefgh")


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abc"), st.booleans()), max_size=12))
def test_a_conflict_never_loses_a_newer_text(steps: list[tuple[int, str, bool]]) -> None:
    """What was saved last stays until a window that has seen it changes it."""
    with TemporaryDirectory() as folder, open_store(Path(folder) / "store.db") as store:
        store.save_quiz(quiz())
        seen = dict.fromkeys(range(3), 0)
        text, revision = "", 0
        for window, new, reads in steps:
            if reads:
                seen[window] = revision
            (done,) = store.drafts.save(quiz(), [field(new, seen[window])], now=NOW)
            if new == text:
                assert done.state is SaveState.SAVED
            elif seen[window] == revision:
                assert done.state is SaveState.SAVED
                text, revision = new, revision + 1
                seen[window] = revision
            else:
                assert done.state is SaveState.CONFLICT
                assert done.draft is not None
                assert (done.draft.text, done.draft.revision) == (text, revision)
            assert texts(store) == ([text] if revision else [])
