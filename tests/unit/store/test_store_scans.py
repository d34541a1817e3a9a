"""Scanned pages and decisions about them: whose they are, and what holds once a decision is undone."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from engine.model import GradeReport, Mode, Outcome, Part, QuizQuestion, RenderedText, Response, Variant
from engine.store import Attempt, Store, open_store
from engine.store.scans import ScanDecision, ScannedPage
from tests.live.postgres import server
from tests.unit.store.filled import NOW


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store.db")


def page(copy: int, student: str | None, number: int = 5, content: str = "c") -> ScannedPage:
    return ScannedPage("K7", copy, number, student, content * 64, "a.pdf", (), (), (), {}, NOW)


def test_pages_and_owners_of_copies(store: Store) -> None:
    for scanned in (page(1, "ada"), page(2, None), page(3, "bob"), page(3, "bob", 6)):
        assert store.scans.add_page(scanned)
    assert store.scans.owners("K7") == {1: "ada", 2: None, 3: "bob"}
    store.scans.name_student("K7", 2, "eve")
    # A page that is scanned later doesn't know yet whose the spare copy is.
    store.scans.add_page(page(2, None, 6))
    assert store.scans.owners("K7") == {1: "ada", 2: "eve", 3: "bob"}
    assert [(p.copy, p.page) for p in store.scans.pages("K7", [3, 1])] == [(1, 5), (3, 5), (3, 6)]
    assert store.scans.pages("K7", []) == [] and len(store.scans.pages("K7")) == 5


def test_a_decision_that_is_withdrawn_stays_in_the_history(store: Store) -> None:
    decision = ScanDecision("K7", 1, "ada", "1/answer", "b", "prof", NOW)
    store.scans.decide(decision, replace(decision, copy=2))
    with store.one_transaction():
        store.scans.hold("K7", 1)
        store.scans.decide(replace(decision, text="", withdrawn=True))
    assert [(d.text, d.withdrawn) for d in store.scans.decisions("K7", 1)] == [("b", False), ("", True)]
    assert decision.subject == "print K7, copy 1, 1/answer"


def test_answers_on_paper_are_stored_as_such_and_are_not_blank(store: Store) -> None:
    plain = RenderedText("Why?", "Why?", "Why?")
    variant = Variant("v", "why", "1", "Why", plain, (Part("answer", "free_text", 1.0),))
    response = Response({"answer": "on paper: copy 1, page 5"}, {"answer": "K7/1/1/answer"})
    report = GradeReport("why", "1", Outcome.UNGRADED, None, 1.0, student="ada", mode=Mode.MARKS)
    question = QuizQuestion(1, variant, 1.0)
    store.record(Attempt.of_answer("ada", question, response, report, quiz=None, started=NOW))
    (stored,) = store.attempts(student="ada")
    assert stored.response == response and not stored.is_blank
    # What an older version stored has no such field.
    assert Response({"answer": "x"}).on_paper == {}


def test_who_decides_about_a_copy_keeps_others_waiting_on_a_server() -> None:
    place, order = server().new_store(), []
    with open_store(place) as first, open_store(place) as second:
        first.scans.add_page(page(1, "ada"))
        begun = threading.Event()

        def other() -> None:
            begun.set()
            with second.one_transaction():
                second.scans.hold("K7", 1)
                order.append(len(second.scans.decisions("K7")))

        with first.one_transaction():
            first.scans.hold("K7", 1)
            thread = threading.Thread(target=other)
            thread.start()
            begun.wait(60)
            time.sleep(0.3)  # it would have read the store by now
            first.scans.decide(ScanDecision("K7", 1, "ada", "1/answer", "b", "prof", NOW))
            assert order == []
        thread.join(30)
    assert order == [1], "the second one sees what the first decided"
