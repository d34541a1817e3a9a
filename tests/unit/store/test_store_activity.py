"""What has changed in a store since somebody looked, on both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from engine.model import Mode
from engine.store import HandMark, Store
from engine.store.activity import StoreMoment
from engine.store.allowances import Allowance, AllowanceKind
from tests.unit.store.filled import NOW, PEOPLE, fill


def test_whose_work_changed(store: Store) -> None:
    fill(store)
    old = next(store.attempts(student="7"))
    later = max(attempt.finished for attempt in store.attempts()) + timedelta(days=1)
    quiet, students, _ = store.activity.since(StoreMoment(), later)
    assert students == set(PEOPLE)
    assert store.activity.since(quiet, later)[1:] == (frozenset(), False)
    # an attempt that is graded again keeps its number
    new = replace(old, finished=later, report=replace(old.report, notes=("again",)))
    store.regrades.replace([(old, new)], run="r", by="x", at=later, cause="")
    after, students, others = store.activity.since(quiet, later + timedelta(seconds=5))
    assert (students, others) == ({"7"}, False)
    store.hand_marks.add(HandMark("007", "softmax", 1.0, False, "", "x", NOW))
    assert store.activity.since(after, later + timedelta(days=1))[1] == {"7", "007"}


def test_other_rules_concern_everybody(store: Store) -> None:
    moment, _, _ = store.activity.since(StoreMoment(), NOW)
    given = store.allowances.add(Allowance("007", AllowanceKind.EXCUSE, "x", NOW, "softmax"))
    after, _, others = store.activity.since(moment, NOW)
    assert others
    assert not store.activity.since(after, NOW)[2]
    store.allowances.withdraw(given.id, NOW)
    assert store.activity.since(after, NOW)[2]


def test_versions_of_items(store: Store) -> None:
    fill(store)
    versions = store.activity.item_versions(Mode.MARKS)
    assert versions == {
        (attempt.item, attempt.report.item_version) for attempt in store.attempts(mode=Mode.MARKS)
    }
