"""How often and how soon code may be handed in, and what is shown before hidden checks are."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.course.policies import Policies
from engine.errors import InputError
from engine.items import builtin_bank
from engine.marks.class_results import class_results
from engine.marks.hand_in_limits import hides_checks, may_hand_in, when_shown, without_hidden_checks
from engine.marks.late_work import StudentDeadlines, terms_of
from engine.model import Check, CodeSubmission, Counterexample, Diagnosis, GradeReport, Mode, Outcome, Verdict
from engine.pages.feedback import feedback_entry, feedback_page, feedback_view
from engine.store import Attempt, open_store
from engine.text.yaml import validate

ZONE = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 11, 2, 12, 0, tzinfo=ZONE)
MINUTE = timedelta(minutes=1)


def terms(rules: dict[str, Any] | None = None, **limits: Any) -> StudentDeadlines:
    course = {"timezone": "Europe/Berlin", "assignments": {"softmax": {**(rules or {}), "limits": limits}}}
    return terms_of(Policies.model_validate(course), "ada", "softmax")


def test_without_limits_nothing_is_said() -> None:
    allowed = may_hand_in(terms(), [NOON] * 100, NOON)
    assert allowed.is_open and allowed.sentence == ""


def test_so_many_a_day_of_the_courses_calendar() -> None:
    rules = terms(per_day=2)
    evening = datetime(2026, 11, 1, 23, 59, tzinfo=ZONE)
    assert may_hand_in(rules, [evening, NOON], NOON).sentence == "1 of 2 hand-ins is left today."
    full = may_hand_in(rules, [NOON, NOON], NOON + MINUTE)
    assert not full.is_open
    assert full.again == datetime(2026, 11, 3, tzinfo=ZONE)
    assert full.sentence == "2 hand-ins a day count: the next one is possible from Tue 3 Nov 2026, 00:00 on."
    # A hand-in of yesterday evening in UTC is one of today in Berlin.
    late = datetime(2026, 11, 1, 23, 30, tzinfo=UTC)
    assert not may_hand_in(rules, [late, late], NOON).is_open


def test_a_pause_after_each() -> None:
    rules = terms(cool_down=10)
    wait = may_hand_in(rules, [NOON - 4 * MINUTE, NOON - 30 * MINUTE], NOON)
    assert wait.again == NOON + 6 * MINUTE
    assert wait.sentence == (
        "After a hand-in you wait 10 minutes: the next one is possible from Mon 2 Nov 2026, 12:06 on."
    )
    assert may_hand_in(rules, [NOON - 10 * MINUTE], NOON).is_open


def test_no_time_is_promised_after_the_exercise_has_closed() -> None:
    rules = terms({"closes": "2026-11-02T18:00"}, per_day=1)
    full = may_hand_in(rules, [NOON], NOON + MINUTE)
    assert (full.is_open, full.again) == (False, None)
    assert full.sentence.endswith("the exercise closes Mon 2 Nov 2026, 18:01: nothing more can be handed in.")
    assert may_hand_in(rules, [], NOON + timedelta(days=1)).again is None
    early = terms({"opens": "2026-11-05"})
    assert may_hand_in(early, [], NOON).sentence.endswith("it opens Thu 5 Nov 2026, 00:00.")


@given(
    st.lists(st.integers(-3000, 0), max_size=8),
    st.integers(1, 4),
    st.integers(0, 120),
)
def test_what_is_promised_is_kept(minutes: list[int], per_day: int, cool_down: int) -> None:
    """Whoever comes at the moment that was named may hand in, and a moment before may not."""
    rules = terms(per_day=per_day, cool_down=cool_down)
    handed = [NOON + n * MINUTE for n in minutes]
    answer = may_hand_in(rules, handed, NOON)
    if answer.is_open:
        return
    assert answer.again is not None and answer.again > NOON
    assert not may_hand_in(rules, handed, answer.again - timedelta(microseconds=1)).is_open
    after = may_hand_in(rules, handed, answer.again)
    # A day may have begun within the pause.
    assert after.is_open or (after.again is not None and after.again > answer.again)


REPORT = GradeReport(
    "softmax", "v1", Outcome.PARTIAL, 3.0, 6.0,
    checks=(
        Check("shape", Verdict.PASSED, 1.0, 1.0), Check("values", Verdict.PASSED, 2.0, 2.0),
        Check("large", Verdict.FAILED, 0.0, 3.0, "inf"),
    ),
    diagnosis=(Diagnosis("no-max", "The maximum isn't subtracted."),),
    counterexample=Counterexample("softmax([1000])", "nan", "1"),
)  # fmt: skip


def test_a_report_tells_nothing_of_hidden_checks() -> None:
    seen = without_hidden_checks(REPORT, {"large"}, "once the exercise is due")
    assert [check.id for check in seen.checks] == ["shape", "values"]
    assert (seen.score, seen.diagnosis, seen.counterexample) == (None, (), None)
    assert seen.notes[-1] == "1 more check is shown once the exercise is due."
    # Right or wrong where it is hidden: the same is seen.
    right = replace(
        REPORT,
        outcome=Outcome.RIGHT,
        score=6.0,
        checks=(
            *REPORT.checks[:2],
            replace(REPORT.checks[2], verdict=Verdict.PASSED, points=3.0, message=""),
        ),
        diagnosis=(),
        counterexample=None,
    )
    assert without_hidden_checks(right, {"large"}, "once the exercise is due") == seen


def test_what_fails_in_the_open_is_explained() -> None:
    seen = without_hidden_checks(REPORT, {"shape"}, "later")
    assert seen.outcome is Outcome.PARTIAL and seen.diagnosis and seen.counterexample
    ungraded = replace(REPORT, outcome=Outcome.UNGRADED, score=None)
    assert without_hidden_checks(ungraded, {"large"}, "later") is ungraded
    assert without_hidden_checks(REPORT, set(), "later") is REPORT


def test_hidden_checks_are_shown_when_the_rule_says() -> None:
    rules = {"due": "2026-11-05", "closes": "2026-11-10", "grace": 30}
    due, closes = terms(rules, hidden_checks="after due"), terms(rules, hidden_checks="after closes")
    days = [NOON + timedelta(days=n) for n in (0, 4, 9)]
    assert [hides_checks(due, day) for day in days] == [True, False, False]
    assert [hides_checks(closes, day) for day in days] == [True, True, False]
    assert not hides_checks(terms(rules), NOON)
    assert when_shown(closes) == "once the exercise is closed (Wed 11 Nov 2026, 00:00)"
    # A student with more time waits longer: the others' answers could be passed on anyway, not the student's
    # own.
    course = {"assignments": {"softmax": {**rules, "limits": {"hidden_checks": "after due"}}}}
    course["extensions"] = [{"student": "ada", "days": 5}]
    assert hides_checks(terms_of(Policies.model_validate(course), "ada", "softmax"), days[1])


def test_the_bank_says_which_checks_are_hidden() -> None:
    bank = builtin_bank()
    spec = bank.load("softmax")
    hidden = bank.hidden_checks("softmax")
    assert hidden == {check.id for check in spec.answer.checks if not check.public}
    assert bank.hidden_checks("softmax-weights") == bank.hidden_checks("nothing") == frozenset()


@pytest.mark.parametrize(
    "limits", [{"per_day": 0}, {"cool_down": -1}, {"hidden_checks": "later"}, {"a_day": 3}]
)
def test_limits_that_cannot_be_meant_are_refused(limits: dict[str, Any]) -> None:
    from engine.text.yaml import read_yaml

    document = read_yaml(f"assignments:\n  softmax:\n    limits: {limits}\n".encode(), "course.yaml")
    with pytest.raises(InputError):
        validate(document, Policies)


def test_a_page_shows_the_public_checks_and_no_points(tmp_path: Path) -> None:
    course = {"assignments": {"softmax": {"due": "2100-01-01", "limits": {"hidden_checks": "after due"}}}}
    report = replace(
        REPORT, mode=Mode.MARKS, checks=(*REPORT.checks[:2], replace(REPORT.checks[2], id="hidden"))
    )
    with open_store(tmp_path / "store.db") as store:
        store.record(Attempt.of_code("ada", CodeSubmission("", "a.py", "0" * 64), report, started=NOON))
        (results,) = class_results(
            store, mode=Mode.MARKS, title_of=str, policies=Policies.model_validate(course),
            hidden_checks_of=lambda item: frozenset({"hidden"}),
        )  # fmt: skip
    (item,) = results.items
    assert not item.shows_score and item.mark is not None and item.mark.adjusted == 3.0
    view = feedback_view(results)
    (entry,) = view.entries
    assert (entry.points, entry.mark, entry.provisional) == (
        None,
        None,
        "2 of 2 checks that are shown passed",
    )
    assert entry.report is not None and "Sat 2 Jan 2100, 00:00" in entry.report.notes[-1]
    assert (view.total.hidden, view.total.points) == (1, 0)
    page = feedback_page(results, title="Attention")
    assert "The maximum isn" not in page and "inf" not in page and "3 of 6" not in page
    assert feedback_entry("ada", item, solutions=True).points == 3.0, "staff see everything"


def test_a_program_counts_once_and_only_if_it_could_be_read(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        for n, outcome in enumerate((Outcome.RIGHT, Outcome.FORMAT_ERROR, Outcome.UNGRADED)):
            report = replace(
                REPORT, mode=Mode.MARKS, outcome=outcome, score=6.0 if outcome is Outcome.RIGHT else None
            )
            code = CodeSubmission("", "a.py", f"{n}" * 64)
            store.record(Attempt.of_code("ada", code, report, started=NOON))
        waits = CodeSubmission("", "a.py", "9" * 64)
        store.waiting.add("ada", "softmax", waits, Mode.MARKS, NOON + MINUTE)
        store.waiting.add("bob", "softmax", waits, Mode.MARKS, NOON)
        times = store.waiting.times("ada", "softmax", Mode.MARKS)
        assert times == [NOON, NOON + MINUTE]
        assert store.waiting.times("ada", "softmax", Mode.MARKS, other_than=waits.sha256) == [NOON]
