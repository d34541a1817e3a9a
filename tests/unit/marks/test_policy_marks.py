"""What one student's attempts count, and the sentences that say why."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engine.course.policies import Policies
from engine.marks import disclosure_now, student_marks, terms_of
from engine.marks.class_table import ColumnMark, TableColumn
from engine.model import GradeReport, Outcome, ResultDisclosure
from engine.store import Attempt, HandMark

NOW = datetime(2026, 12, 24, 12, tzinfo=UTC)
DUE = datetime(2026, 11, 6, 23, tzinfo=UTC)  # the end of 6 November in Berlin
CODE = TableColumn("~", 0, "softmax", "Softmax", 10.0)
LATE = {"late": {"percent": 10}}
DAY = timedelta(days=1)


def rules(assignment: dict[str, Any] | None = None, **more: Any) -> Policies:
    own = {"due": "2026-11-06"} | (assignment or {})
    return Policies.model_validate({"timezone": "Europe/Berlin", "assignments": {"softmax": own}} | more)


def at(score: float | None, handed: datetime | None = DUE - DAY, *, late: bool = False, full: float = 10.0):
    outcome = Outcome.UNGRADED if score is None else Outcome.RIGHT if score == full else Outcome.PARTIAL
    report = GradeReport("softmax", "v", outcome, score, full)
    # Graded long after: that must make nothing late.
    return Attempt("ada", "a", report, NOW, NOW, handed=handed, marked_late=late)


def mark(
    policies: Policies, *attempts: Attempt, hand: HandMark | None = None, now: datetime = NOW
) -> ColumnMark:
    by_hand = {"softmax": hand} if hand else {}
    found = student_marks("ada", {CODE: attempts}, policies, by_hand, now)
    (counted,) = found.columns.values()
    return counted.mark


def by_hand(score: float | None = None, *, excused: bool = False, comment: str = "") -> HandMark:
    return HandMark("ada", "softmax", score, excused, comment, "prof", NOW)


@pytest.mark.parametrize(
    ("rule", "handed", "counts", "why"),
    [
        (LATE, DUE - timedelta(seconds=1), 10, ()),
        (LATE, DUE, 9, ("1 day late: 10 % off, 9 of 10",)),
        (LATE, DUE + DAY, 8, ("2 days late: 20 % off, 8 of 10",)),
        (LATE, DUE + 30 * DAY, 0, ("31 days late: 100 % off, 0 of 10",)),
        (LATE | {"grace": 30}, DUE + timedelta(minutes=29), 10, ()),
        (LATE | {"grace": 30}, DUE + timedelta(minutes=30), 9, ("1 day late: 10 % off, 9 of 10",)),
        ({"late": {"percent": 10, "cap": 25}}, DUE + 4 * DAY, 7.5, ("5 days late: 25 % off, 7.5 of 10",)),
        (
            {"late": {"percent": 30, "floor": 50}},
            DUE + 4 * DAY,
            5,
            ("5 days late: 100 % off, but 50 % are kept, 5 of 10",),
        ),
        (
            {"late": {"per": "hour", "percent": 2.5}},
            DUE + timedelta(hours=3),
            9,
            ("4 hours late: 10 % off, 9 of 10",),
        ),
        ({}, DUE + 30 * DAY, 10, ()),
        (LATE, None, 10, ()),
        (
            LATE | {"closes": "2026-11-10"},
            DUE + 4 * DAY - timedelta(seconds=1),
            6,
            ("4 days late: 40 % off, 6 of 10",),
        ),
        (
            LATE | {"closes": "2026-11-10"},
            DUE + 4 * DAY,
            None,
            ("handed in when it wasn't open: doesn't count",),
        ),
        (
            LATE | {"opens": "2026-11-06T08:00"},
            DUE - DAY,
            None,
            ("handed in when it wasn't open: doesn't count",),
        ),
    ],
)
def test_late_work(
    rule: dict[str, Any], handed: datetime | None, counts: float | None, why: tuple[str, ...]
) -> None:
    assert mark(rules(rule), at(10, handed)) == ColumnMark(10, counts, why)


def test_percent_of_the_full_points() -> None:
    rule = {"late": {"percent": 10, "of": "points"}}
    why = ("3 days late: 30 % of the full points off, 3 of 10",)
    assert mark(rules(rule), at(6, DUE + 2 * DAY)) == ColumnMark(6, 3, why)


def test_a_file_that_is_only_marked_as_late() -> None:
    told = ("1 day late, as the learning system marked it: 10 % off, 9 of 10",)
    marked = at(10, None, late=True)
    assert mark(rules(LATE, marked_late={"days": 1}), marked) == ColumnMark(10, 9, told)
    assert mark(rules(LATE, marked_late="ignore"), marked) == mark(rules(LATE), marked) == ColumnMark(10, 10)
    # Where the time is known it alone tells; the system knows nothing of an extension.
    assert mark(rules(LATE, marked_late={"days": 1}), at(10, DUE - DAY, late=True)) == ColumnMark(10, 10)
    more = [{"student": "ada", "days": 2}]
    assert mark(rules(LATE, marked_late={"days": 1}, extensions=more), marked) == ColumnMark(10, 10)


THREE = (at(4, DUE - 3 * DAY), at(10, DUE - 2 * DAY), at(7, DUE - DAY))


@pytest.mark.parametrize(
    ("rule", "raw", "counts", "why"),
    [
        ({}, 10, 10, ()),
        ({"which": "last"}, 7, 7, ("the last of 3 attempts counts",)),
        ({"which": "first"}, 4, 4, ("the first of 3 attempts counts",)),
        ({"which": "average"}, 10, 7, ("average of 3 attempts (4, 10, 7): 7 of 10",)),
        (
            {"which": "decaying", "shares": [1, 0.8, 0.5]},
            10,
            8,
            ("attempt 2 counts 80 %, 8 of 10",),
        ),
        ({"count": 1}, 4, 4, ("only the first of 3 attempts counts",)),
        (
            {"count": 2, "which": "last"},
            10,
            10,
            ("only the first 2 of 3 attempts count", "the last of 2 attempts counts"),
        ),
    ],
)
def test_attempts(rule: dict[str, Any], raw: float, counts: float, why: tuple[str, ...]) -> None:
    # The order of the store doesn't matter, that of handing in does.
    assert mark(rules({"attempts": rule}), *reversed(THREE)) == ColumnMark(raw, counts, why)


def test_the_best_is_the_best_after_the_penalty() -> None:
    made = mark(rules(LATE), at(8, DUE - DAY), at(10, DUE + 2 * DAY))
    assert made == ColumnMark(8, 8, ())
    made = mark(rules(LATE | {"attempts": {"which": "average"}}), at(8, DUE - DAY), at(10, DUE + 4 * DAY))
    assert made == ColumnMark(10, 6.5, ("average of 2 attempts (8, 10), 1 of them late: 6.5 of 10",))


def test_an_ungraded_attempt_leaves_open_what_it_could_change() -> None:
    waits = at(None, DUE - timedelta(hours=1))
    assert mark(rules(), at(7), waits) == ColumnMark(None, None)
    assert mark(rules(), at(10), waits) == ColumnMark(10, 10)
    assert mark(rules({"attempts": {"which": "first"}}), at(7), waits).adjusted == 7
    assert mark(rules({"attempts": {"which": "last"}}), at(10), waits) == ColumnMark(None, None)
    too_late = at(None, DUE + 9 * DAY)
    assert mark(rules({"closes": "2026-11-08"}), at(7), too_late).adjusted == 7


def test_an_extension_moves_due_date_and_closing_time() -> None:
    rule = LATE | {"closes": "2026-11-08"}
    for more in ({"days": 3}, {"due": "2026-11-09"}, {"assignment": "softmax", "days": 3}):
        given = rules(rule, extensions=[{"student": "ada", **more}])
        assert mark(given, at(10, DUE + 3 * DAY - timedelta(seconds=1))) == ColumnMark(10, 10)
        assert mark(given, at(10, DUE + 3 * DAY)).why == ("1 day late: 10 % off, 9 of 10",)
        assert mark(given, at(10, DUE + 5 * DAY)).adjusted is None
    for other in ({"student": "bob", "days": 3}, {"student": "ada", "assignment": "attention", "days": 3}):
        assert mark(rules(rule, extensions=[other]), at(10, DUE)).adjusted == 9


def test_an_extension_never_takes_time_away_and_the_latest_holds() -> None:
    shorter = {"student": "ada", "due": "2026-11-01"}
    assert mark(rules(LATE, extensions=[shorter]), at(10, DUE - DAY)) == ColumnMark(10, 10)
    several = [{"student": "ada", "days": 1}, {"student": "ada", "days": 4}, {"student": "ada", "days": 2}]
    assert mark(rules(LATE, extensions=several), at(10, DUE + 3 * DAY)) == ColumnMark(10, 10)


def test_excused_missing_and_set_by_hand() -> None:
    excused = rules(excused=[{"student": "ada", "assignment": "softmax"}])
    assert mark(excused, at(4)) == ColumnMark(4, None, ("excused",), excused=True)
    assert mark(excused) == ColumnMark(None, None, ("excused",), excused=True)
    zero = ColumnMark(None, 0.0, ("nothing was handed in by the due date: counts as 0",))
    assert mark(rules(missing="zero")) == zero
    assert student_marks("ada", {CODE: ()}, rules(), {}, NOW).columns == {}
    before = DUE - timedelta(seconds=1)
    assert student_marks("ada", {CODE: ()}, rules(missing="zero"), {}, before).columns == {}
    closed = mark(rules({"closes": "2026-11-06"}, missing="zero"), at(9, DUE))
    assert closed == ColumnMark(
        9,
        0.0,
        (
            "handed in when it wasn't open: doesn't count",
            "nothing that counts was handed in by the due date: counts as 0",
        ),
    )


def test_a_person_stands_above_rules_and_grading() -> None:
    late = at(10, DUE + DAY)
    assert mark(rules(LATE), late, hand=by_hand(7, comment="talk")) == ColumnMark(
        10, 7, ("set by prof: 7 of 10",), comment="talk", by_hand=True
    )
    assert mark(rules(LATE), at(None), hand=by_hand(7)) == ColumnMark(
        None, 7, ("set by prof: 7 of 10",), by_hand=True
    )
    assert mark(rules(), hand=by_hand(7)) == ColumnMark(None, 7, ("set by prof: 7 of 10",), by_hand=True)
    assert mark(rules(), late, hand=by_hand(excused=True)) == ColumnMark(
        10, None, ("excused by prof",), excused=True
    )
    told = ("2 days late: 20 % off, 8 of 10",)
    assert mark(rules(LATE), late, hand=by_hand(comment="see me")) == ColumnMark(
        10, 8, told, comment="see me"
    )
    excused = rules(excused=[{"student": "ada", "assignment": "softmax"}])
    assert mark(excused, late, hand=by_hand(3)) == ColumnMark(10, 3, ("set by prof: 3 of 10",), by_hand=True)


# --- several assignments ---


def quiz(name: str, number: int = 1, full: float = 10.0) -> TableColumn:
    return TableColumn(name, number, f"item-{number}", "", full)


def several(policies: Policies, given: dict[TableColumn, tuple[Attempt, ...]], now: datetime = NOW):
    found = student_marks("ada", given, policies, {}, now)
    return {column.id: counted.mark for column, counted in found.columns.items()}, found.percent


def test_late_days_are_used_in_the_order_of_due_dates_where_they_earn_something() -> None:
    due = {"a": "2026-11-06", "b": "2026-11-04", "c": "2026-11-05"}
    policies = Policies.model_validate(
        {
            "timezone": "Europe/Berlin",
            "late_days": 3,
            "assignments": {"default": LATE, **{name: {"due": day} for name, day in due.items()}},
        }
    )
    marks, _ = several(
        policies,
        {
            quiz("a"): (at(10, DUE + DAY),),  # 2 days late, due last
            quiz("b"): (at(10, DUE - DAY - timedelta(seconds=1)),),  # 1 day late, due first
            quiz("c"): (at(0, DUE + DAY),),  # late, but a 0 gains nothing
        },
    )
    assert {name: (m.adjusted, m.why) for name, m in marks.items()} == {
        "a/item-1": (10, ("2 days late, 2 late days used: nothing off",)),
        "b/item-1": (10, ("1 day late, 1 late day used: nothing off",)),
        "c/item-1": (0, ()),
    }
    marks, _ = several(policies, {quiz("a"): (at(10, DUE + DAY),), quiz("b"): (at(10, DUE - DAY),)})
    assert [m.why for m in marks.values()] == [
        ("2 days late, 1 late day used: 10 % off, 9 of 10",),
        ("2 days late, 2 late days used: nothing off",),
    ]


GROUPED = {
    "timezone": "Europe/Berlin",
    "groups": {"quizzes": {"drop_lowest": 1, "weight": 40}, "code": {"weight": 60}},
    "assignments": {
        "default": {"due": "2026-11-06", "group": "quizzes"},
        "softmax": {"group": "code"},
        **{name: {} for name in ("a", "b", "c")},
    },
}


def test_the_lowest_assignment_of_a_group_is_dropped_as_a_whole() -> None:
    policies = Policies.model_validate(GROUPED)
    marks, percent = several(
        policies,
        {
            quiz("a"): (at(8),),
            quiz("b", 1): (at(10),),
            quiz("b", 2): (at(1),),
            quiz("c"): (at(6),),
            CODE: (at(5),),
        },
    )
    told = ("not counted: only the best 2 of 3 count",)
    assert {name: (m.dropped, m.why) for name, m in marks.items()} == {
        "a/item-1": (False, ()),
        "b/item-1": (True, told),
        "b/item-2": (True, told),
        "c/item-1": (False, ()),
        "softmax": (False, ()),
    }
    assert percent == 40 * 14 / 20 + 60 * 5 / 10


def test_missing_work_is_dropped_first_and_ungraded_work_drops_nothing() -> None:
    policies = Policies.model_validate(GROUPED)
    given: dict[TableColumn, tuple[Attempt, ...]] = {quiz("a"): (at(8),), quiz("b"): (), quiz("c"): (at(6),)}
    marks, percent = several(policies, given)
    assert [name for name, m in marks.items() if m.dropped] == ["b/item-1"]
    assert percent == 70, "groups in which nothing counts are left out"
    before = DUE - timedelta(hours=1)
    marks, _ = several(policies, given, before)
    assert [name for name, m in marks.items() if m.dropped] == ["c/item-1"], "b isn't due yet"
    marks, percent = several(policies, given | {quiz("b"): (at(None),)})
    assert not any(m.dropped for m in marks.values()) and percent is None


# --- release ---


@pytest.mark.parametrize(
    ("release", "shown_before_due", "shown_after_due", "shown_after_closes"),
    [
        ("immediately", True, True, True),
        ("at due", False, True, True),
        ("2026-11-07T10:00", False, False, True),
        ("after closes", False, False, True),
        ("never", False, False, False),
    ],
)
def test_release(
    release: str, shown_before_due: bool, shown_after_due: bool, shown_after_closes: bool
) -> None:
    terms = terms_of(rules({"release": release, "closes": "2026-11-08"}), "ada", "softmax")
    for now, shown in (
        (DUE - timedelta(seconds=1), shown_before_due),
        (DUE, shown_after_due),
        (DUE + 2 * DAY, shown_after_closes),
    ):
        expected = ResultDisclosure.VERDICT if shown else ResultDisclosure.NOTHING
        assert disclosure_now(terms, ResultDisclosure.VERDICT, now) is expected


def test_without_the_date_that_it_waits_for_nothing_is_released() -> None:
    for release in ("at due", "after closes"):
        open_ended = Policies.model_validate({"assignments": {"softmax": {"release": release}}})
        assert (
            disclosure_now(terms_of(open_ended, "ada", "softmax"), ResultDisclosure.FEEDBACK, NOW)
            is ResultDisclosure.NOTHING
        )


@pytest.mark.parametrize(
    ("decimals", "score", "counts", "why"),
    [
        (None, 2 / 3, 0.666667, ()),
        (2, 0.666667, 0.67, ()),  # what people see stays the same
        (1, 0.525, 0.5, ("rounded to 1 decimal",)),
        (1, 0.55, 0.6, ("rounded to 1 decimal",)),  # halves go up, as people round
        (0, 6.5, 7, ("rounded to whole points",)),
        (0, 10, 10, ()),
    ],
)
def test_marks_are_rounded_where_the_course_says_so(decimals, score, counts, why) -> None:
    policies = rules(round=decimals) if decimals is not None else rules()
    found = mark(policies, at(score))
    assert (found.adjusted, found.why) == (pytest.approx(counts), why)


def test_a_mark_by_hand_is_never_rounded() -> None:
    assert mark(rules(round=0), at(3), hand=by_hand(6.25)).adjusted == 6.25
