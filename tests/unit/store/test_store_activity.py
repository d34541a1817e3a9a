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
    moment, students, _ = store.activity.since(StoreMoment())
    assert students == set(PEOPLE)
    assert moment.finished is not None
    later = moment.finished + timedelta(days=1)
    old = next(store.attempts(student="7"))
    quiet = replace(moment, finished=later)  # as if nothing had been graded for a while
    assert store.activity.since(quiet)[1:] == (frozenset(), False)
    # an attempt that is graded again keeps its number
    new = replace(old, finished=later, report=replace(old.report, notes=("again",)))
    store.regrades.replace([(old, new)], run="r", by="x", at=later, cause="")
    after, students, others = store.activity.since(quiet)
    assert (students, others, after.finished) == ({"7"}, False, later)
    store.hand_marks.add(HandMark("007", "softmax", 1.0, False, "", "x", NOW))
    assert "007" in store.activity.since(after)[1]


def test_other_rules_concern_everybody(store: Store) -> None:
    moment, _, _ = store.activity.since(StoreMoment())
    given = store.allowances.add(Allowance("007", AllowanceKind.EXCUSE, "x", NOW, "softmax"))
    after, _, others = store.activity.since(moment)
    assert others
    assert not store.activity.since(after)[2]
    store.allowances.withdraw(given.id, NOW)
    assert store.activity.since(after)[2]


def test_versions_of_items(store: Store) -> None:
    fill(store)
    versions = store.activity.item_versions(Mode.MARKS)
    assert versions == {
        (attempt.item, attempt.report.item_version) for attempt in store.attempts(mode=Mode.MARKS)
    }
