"""What single students were allowed counts exactly as the same entry in course.yaml."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.course.allowance_rules import with_allowances
from engine.course.policies import Policies
from engine.errors import UsageError
from engine.marks.late_work import terms_of
from engine.store.allowances import Allowance, AllowanceKind

NOW = datetime(2026, 11, 2, tzinfo=UTC)
KINDS = {
    "extensions": AllowanceKind.DEADLINE,
    "excused": AllowanceKind.EXCUSE,
    "extra_time": AllowanceKind.TIME,
}
COURSE: dict[str, Any] = {
    "timezone": "Europe/Berlin",
    "assignments": {
        "default": {"late": {"percent": 10}},
        "week-1": {"due": "2026-10-24", "closes": "2026-11-01T12:00"},
        "softmax": {"due": "2026-10-25T02:30"},
    },
    "extensions": [{"student": "ada", "assignment": "week-1", "days": 2}],
}
STUDENTS, ASSIGNMENTS = st.sampled_from(["ada", "007"]), st.sampled_from(["week-1", "softmax"])
DATES = st.dates(datetime(2026, 10, 1).date(), datetime(2026, 12, 1).date()).map(str)
TIMES = st.builds("{}T{:02d}:{:02d}".format, DATES, st.integers(0, 23), st.integers(0, 59))


@st.composite
def entries(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """An entry of course.yaml under its key."""
    key = draw(st.sampled_from(sorted(KINDS)))
    entry: dict[str, Any] = {"student": draw(STUDENTS)}
    if key == "excused" or draw(st.booleans()):
        entry["assignment"] = draw(ASSIGNMENTS)
    if key == "extra_time":
        entry["percent"] = draw(st.integers(1, 4000)) / 4
    elif key == "extensions":
        entry |= draw(st.one_of(
            st.builds(lambda n: {"days": n}, st.integers(1, 30)), st.builds(lambda d: {"due": d}, DATES |
            TIMES)
        ))  # fmt: skip
    return key, entry


def allowance(key: str, entry: dict[str, Any], number: int = 1) -> Allowance:
    return Allowance(kind=KINDS[key], by="prof", at=NOW, id=number, **entry)


@given(st.lists(entries(), max_size=6))
def test_allowances_are_what_course_yaml_would_say(added: list[tuple[str, dict[str, Any]]]) -> None:
    course = {**COURSE, "extensions": list(COURSE["extensions"])}
    for key, entry in added:
        course.setdefault(key, []).append(entry)
    written = Policies.model_validate(course)
    merged = with_allowances(
        Policies.model_validate(COURSE), [allowance(key, entry, n) for n, (key, entry) in enumerate(added)]
    )
    assert merged == written
    assert merged.touch_marks == written.touch_marks
    for student in ("ada", "007", "alan"):
        for name in ("week-1", "softmax", "other"):
            assert terms_of(merged, student, name) == terms_of(written, student, name)


def test_rules_that_were_looked_up_before_do_not_hide_an_allowance() -> None:
    policies = Policies.model_validate(COURSE)
    before = terms_of(policies, "007", "week-1")
    after = terms_of(
        with_allowances(policies, [allowance("extensions", {"student": "007", "days": 3})]), "007", "week-1"
    )
    assert before.extended is None and str(after.extended) == "2026-10-27"
    assert terms_of(policies, "007", "week-1") == before


def test_what_was_withdrawn_counts_no_more() -> None:
    policies = Policies.model_validate(COURSE)
    gone = Allowance("007", AllowanceKind.EXCUSE, "prof", NOW, "week-1", withdrawn=NOW)
    assert with_allowances(policies, [gone]) is policies


@pytest.mark.parametrize(
    "entry",
    [
        {"kind": AllowanceKind.DEADLINE, "due": "2026-02-30"},
        {"kind": AllowanceKind.DEADLINE, "due": "2026-11-20T18:00+01:00"},
        {"kind": AllowanceKind.DEADLINE},
        {"kind": AllowanceKind.DEADLINE, "due": "2026-11-20", "days": 2},
        {"kind": AllowanceKind.EXCUSE},
        {"kind": AllowanceKind.TIME, "percent": 0.0},
    ],
)
def test_what_course_yaml_could_not_say_cannot_be_allowed(entry: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="this can't be allowed"):
        with_allowances(Policies(), [Allowance(student="007", by="prof", at=NOW, **entry)])
