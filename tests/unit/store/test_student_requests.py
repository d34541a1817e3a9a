"""What is asked, allowed and published: each once, decided once, and kept apart by student."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from engine.errors import InputError, QuizError
from engine.store import Store
from engine.store.allowances import Allowance, AllowanceKind
from engine.store.student_requests import LONGEST_REQUEST, MOST_A_DAY, MOST_OPEN, RequestKind, RequestState
from tests.unit.store.test_store_sittings import quiz

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
REGRADE, EXTENSION = RequestKind.REGRADE, RequestKind.EXTENSION
DAYS = Allowance("007", AllowanceKind.DEADLINE, "prof", NOW, "week", days=3, reason="ill")


def test_a_request_is_asked_and_granted_with_what_it_asks_for(store: Store) -> None:
    request = store.requests.ask("007", EXTENSION, "week", "I was ill ½ of the week.", NOW)
    assert store.requests.all(RequestState.OPEN) == [request]
    granted = store.requests.decide(
        request.id, granted=True, answer="Get well.", by="prof", now=NOW, allowance=DAYS
    )
    assert (granted.state, granted.answer) == (RequestState.GRANTED, "Get well.")
    assert store.requests.find(request.id) == granted
    assert [a.days for a in store.allowances.current("007")] == [3]
    assert store.requests.all(RequestState.OPEN) == []


def test_a_request_is_decided_once(store: Store) -> None:
    request = store.requests.ask("007", EXTENSION, "week", "ill", NOW)
    store.requests.decide(request.id, granted=False, answer="No.", by="prof", now=NOW)
    with pytest.raises(InputError, match="refused already by prof"):
        store.requests.decide(request.id, granted=True, answer="", by="other", now=NOW, allowance=DAYS)
    assert store.allowances.current() == [], "nothing is given with a decision that isn't taken"


def test_two_people_who_decide_at_once_give_one_extension(store: Store) -> None:
    request = store.requests.ask("007", EXTENSION, "week", "ill", NOW)

    def decide(by: str) -> bool:
        try:
            store.requests.decide(request.id, granted=True, answer="", by=by, now=NOW, allowance=DAYS)
        except InputError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(decide, "abcd")) == 1
    assert len(store.allowances.current()) == 1


def test_one_open_request_for_each_subject_and_kind(store: Store) -> None:
    first = store.requests.ask("007", REGRADE, "softmax", "why?", NOW)
    assert store.requests.ask("007", REGRADE, "softmax", " why? ", NOW) == first, "a double click"
    with pytest.raises(InputError, match="you have asked for this already"):
        store.requests.ask("007", REGRADE, "softmax", "another reason", NOW)
    store.requests.ask("007", EXTENSION, "softmax", "another kind", NOW)
    store.requests.ask("7", REGRADE, "softmax", "another student", NOW)
    store.requests.withdraw(first.id, "007", NOW)
    again = store.requests.ask("007", REGRADE, "softmax", "another reason", NOW)
    assert [r.state for r in store.requests.of_student("007")] == [
        RequestState.OPEN, RequestState.OPEN, RequestState.WITHDRAWN,
    ]  # fmt: skip
    assert store.requests.of_student("007")[0] == again


def test_nobody_withdraws_what_somebody_else_asked(store: Store) -> None:
    request = store.requests.ask("007", REGRADE, "softmax", "why?", NOW)
    with pytest.raises(InputError, match="there is no request"):
        store.requests.withdraw(request.id, "7", NOW)
    assert store.requests.find(request.id) == request
    assert store.requests.find(99) is None


@pytest.mark.parametrize("text", ["", " \n", "x" * (LONGEST_REQUEST + 1)])
def test_a_request_says_something_and_not_too_much(store: Store, text: str) -> None:
    with pytest.raises(InputError):
        store.requests.ask("007", REGRADE, "softmax", text, NOW)
    assert store.requests.all() == []


def test_open_requests_of_a_student_are_bounded(store: Store) -> None:
    for n in range(MOST_OPEN):
        store.requests.ask("007", REGRADE, f"item-{n}", "why?", NOW)
    with pytest.raises(InputError, match="20 open requests"):
        store.requests.ask("007", REGRADE, "one-more", "why?", NOW)


def test_asking_and_withdrawing_ends_somewhere(store: Store) -> None:
    for n in range(MOST_A_DAY):
        at = NOW + timedelta(minutes=n)
        request = store.requests.ask("007", REGRADE, "softmax", f"why? {n}", at)
        store.requests.withdraw(request.id, "007", at)
    with pytest.raises(InputError, match="40 requests within a day"):
        store.requests.ask("007", REGRADE, "softmax", "why?", NOW + timedelta(hours=12))
    assert store.requests.ask("bob", REGRADE, "softmax", "why?", NOW + timedelta(hours=12)).id
    assert store.requests.ask("007", REGRADE, "softmax", "why?", NOW + timedelta(hours=25)).id


def test_an_allowance_is_withdrawn_once_and_stays_listed(store: Store) -> None:
    allowance = store.allowances.add(DAYS)
    later = datetime(2026, 11, 3, tzinfo=UTC)
    assert store.allowances.withdraw(allowance.id, later) == store.allowances.withdraw(allowance.id, NOW)
    assert store.allowances.current() == []
    assert [entry.withdrawn for entry in store.allowances.history("007")] == [later]
    assert store.allowances.history("7") == []
    with pytest.raises(InputError, match="there is no allowance 99"):
        store.allowances.withdraw(99, NOW)


def test_a_quiz_is_published_once_and_only_when_it_was_drawn(store: Store) -> None:
    with pytest.raises(QuizError, match="was not drawn"):
        store.published.publish("week", "prof", NOW)
    store.save_quiz(quiz())
    first = store.published.publish("week", "prof", NOW)
    assert store.published.publish("week", "other", datetime(2026, 12, 1, tzinfo=UTC)) == first
    assert store.published.all() == {"week": first}
    assert store.published.withdraw("week")
    assert not store.published.withdraw("week")
    assert store.published.all() == {}
