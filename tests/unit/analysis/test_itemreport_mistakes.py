"""Options over shuffled letters, mistakes and who holds them, and variants of a family."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.analysis.class_report import ItemReport, build
from engine.analysis.first_attempts import collect
from engine.analysis.mistakes import KnownMistakes
from engine.analysis.statistics import LogisticTrend, NoTrend
from engine.items.bank import builtin_bank
from engine.model import Mode, Verdict
from engine.store import Store, open_store
from tests.unit.analysis.classes import choice, code, hand_in

KNOWN = KnownMistakes({"m-no-scale": "Scores must be scaled."}, {"softmax": frozenset({"m-no-shift"})})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as opened:
        yield opened


def report_of(store: Store) -> ItemReport:
    collected = collect(store, Mode.MARKS, title_of=str)
    return build(collected, KNOWN, title="Class", mode="marks", title_of=lambda test: test.id)


def test_options_are_matched_by_what_is_behind_them(store: Store) -> None:
    rng = random.Random(1)
    chosen: Counter[str] = Counter()
    by_third: Counter[tuple[str, int]] = Counter()
    for at in range(30):
        numbers = f"[{at}, 1]"  # the text of the mistake's option is this student's own
        words = rng.choice(["key", numbers, "plain"])
        name = "mistake" if words == numbers else words
        chosen[name] += 1
        wrong = {numbers: "m-no-scale", "plain": "", "idle": ""}
        able = at % 3  # right in 0, 1 or 2 of the other two items
        by_third[name, able] += 1
        hand_in(
            store,
            f"s{at:02}",
            "week",
            [
                (
                    choice("a", "key", wrong, turn=at),
                    {"answer": words},
                ),
                (choice("b", "y", {"n": ""}), {"answer": "y" if able >= 1 else "n"}),
                (choice("c", "y", {"n": ""}), {"answer": "y" if able >= 2 else "n"}),
            ],
        )
    (options,) = report_of(store).tests[0].items[0].options
    rows = {row.choice.option: row.choice for row in options.rows}
    assert set(rows) == {"key:key", "mistake:m-no-scale", "other:plain", "other:idle"}
    assert options.texts["mistake:m-no-scale"] == "Scores must be scaled."
    assert options.texts["other:plain"] == "plain"
    assert all(row.thirds == (10, 10, 10) and row.offered == 30 for row in options.rows)
    for code_, name in (("key:key", "key"), ("mistake:m-no-scale", "mistake"), ("other:plain", "plain")):
        assert rows[code_].students == chosen[name]
        assert rows[code_].by_group == tuple(by_third[name, able] for able in range(3))
    assert rows["other:idle"].students == 0
    assert [code_ for code_, row in rows.items() if row.is_key] == ["key:key"]


def test_the_same_words_may_be_right_here_and_wrong_there(store: Store) -> None:
    for at in range(4):
        key, other = ("rows", "columns") if at % 2 else ("columns", "rows")
        hand_in(store, f"s{at}", "week", [(choice("a", key, {other: ""}), {"answer": "rows"})])
    (options,) = report_of(store).tests[0].items[0].options
    assert [
        (row.choice.option, row.choice.students, row.offered, row.choice.share) for row in options.rows
    ] == [
        ("key:columns", 0, 2, 0.0),
        ("key:rows", 2, 2, 1.0),
        ("other:columns", 0, 2, 0.0),
        ("other:rows", 2, 2, 1.0),
    ]


def test_texts_of_many_variants_are_one_row(store: Store) -> None:
    for at in range(20):
        hand_in(store, f"s{at:02}", "week", [(choice("a", f"{at}", {f"-{at}": ""}), {"answer": f"{at}"})])
    (options,) = report_of(store).tests[0].items[0].options
    assert [(options.texts[row.choice.option], row.choice.students) for row in options.rows] == [
        ("the right answer (its text differs)", 20),
        ("other wrong options (their texts differ)", 0),
    ]


def test_who_holds_a_mistake_where_and_of_how_many_chances(store: Store) -> None:
    def quiz(student: str, first: str, second: str) -> None:
        wrong = {"w": "m-no-scale"}
        hand_in(
            store,
            student,
            "week",
            [(choice("a", "k", wrong), {"answer": first}), (choice("b", "k", wrong), {"answer": second})],
        )

    quiz("ada", "w", "w")
    quiz("bob", "k", "w")
    quiz("cleo", "k", "k")
    code(store, "ada", "softmax", {"values": Verdict.FAILED}, mistakes=["m-no-shift"])
    code(store, "dan", "softmax", {"values": Verdict.PASSED})
    scale, shift = report_of(store).mistakes
    assert (scale.id, scale.sentence, scale.exposed) == ("m-no-scale", "Scores must be scaled.", 3)
    assert [(h.student, h.items, h.chances) for h in scale.holders] == [
        ("ada", ("a", "b"), 2),
        ("bob", ("b",), 2),
    ]
    assert scale.items == (("b", 2), ("a", 1))
    # it isn't in the registry: what the student was told stands for it
    assert (shift.id, shift.sentence, shift.exposed) == ("m-no-shift", "about m-no-shift", 2)
    assert [(h.student, h.items, h.chances) for h in shift.holders] == [("ada", ("softmax",), 1)]


def test_a_mistake_that_nothing_declares_could_have_shown_wherever_it_was_seen(store: Store) -> None:
    for student, mistakes in {"ada": ["rounding"], "bob": [], "cleo": []}.items():
        code(store, student, "context", {"values": Verdict.FAILED}, mistakes=mistakes)
    code(store, "cleo", "sdpa", {"values": Verdict.FAILED})
    (rounding,) = report_of(store).mistakes
    assert (len(rounding.holders), rounding.exposed) == (1, 3)
    assert rounding.holders[0].chances == 1


def test_the_bank_tells_the_mistakes_that_a_code_exercise_can_name() -> None:
    known = KnownMistakes.of_bank(builtin_bank(), ["softmax", "softmax-weights", "was-deleted"])
    assert "m-base2" in known.sentences
    assert "m-base2" in known.of_code["softmax"] and not known.of_code["softmax-weights"]
    assert "was-deleted" not in known.of_code


def test_unequal_variants_and_the_number_behind_them(store: Store) -> None:
    right = {"2": 38, "4": 30, "8": 12}  # of 40 each
    for n, many in right.items():
        for at in range(40):
            one = choice("scaled", "y", {"n": ""}, turn=at, values={"d": n})
            fair = choice("fair", "y", {"n": ""}, values={"d": n})
            hand_in(
                store,
                f"s{n}-{at:02}",
                "week",
                [
                    (one, {"answer": "y" if at < many else "n"}),
                    (fair, {"answer": "y" if at % 2 else "n"}),
                ],
            )
    items = {item.item: item for item in report_of(store).tests[0].items}
    family = items["scaled"].family
    assert family is not None and family.test is not None
    assert {row.variant: (row.right, row.students) for row in family.variants} == {
        "d = 2": (38, 40),
        "d = 4": (30, 40),
        "d = 8": (12, 40),
    }
    assert family.is_unequal and "variants unequal" in items["scaled"].flags
    (trend,) = family.trends
    assert isinstance(trend.trend, LogisticTrend)
    assert trend.number == "d" and trend.trend.interval[1] < 0 and (trend.q or 1) < 0.001
    fair_family = items["fair"].family
    assert fair_family is not None and not fair_family.is_unequal
    assert [row.share for row in fair_family.variants] == [0.5, 0.5, 0.5]


def test_variants_of_one_student_each_say_nothing_one_by_one(store: Store) -> None:
    for at in range(20):
        one = choice("a", "y", {"n": ""}, values={"d": f"{at}"})
        hand_in(store, f"s{at:02}", "week", [(one, {"answer": "n"})])
    family = report_of(store).tests[0].items[0].family
    assert family is not None and family.test is None and family.variants == ()
    assert family.reason == "20 students had 20 variants: too few each to compare them"
    (trend,) = family.trends
    assert trend.trend == NoTrend("no answer is right")
    assert not family.is_unequal
