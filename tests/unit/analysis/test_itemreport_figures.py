"""Figures of a small class, each worked out by hand or counted one student at a time."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import mean

import pytest

from engine.analysis.class_report import ItemReport, build
from engine.analysis.first_attempts import collect
from engine.analysis.item_figures import ItemFigures
from engine.analysis.mistakes import KnownMistakes
from engine.model import Mode, Verdict
from engine.store import Store, open_store
from tests.unit.analysis.classes import choice, code, hand_in, single, variant

P, F, S = Verdict.PASSED, Verdict.FAILED, Verdict.SKIPPED


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as opened:
        yield opened


def report_of(store: Store, known: KnownMistakes | None = None, **more: object) -> ItemReport:
    collected = collect(store, Mode.MARKS, title_of=str)
    return build(
        collected,
        known or KnownMistakes({}, {}),
        title="Class",
        mode="marks",
        title_of=lambda test: test.id,
        **more,  # type: ignore[arg-type]
    )


def items_of(report: ItemReport) -> Mapping[str, ItemFigures]:
    return {item.item: item for test in report.tests for item in test.items}


def pearson(first: list[float], second: list[float]) -> float:
    a, b = mean(first), mean(second)
    top = sum((x - a) * (y - b) for x, y in zip(first, second, strict=True))
    return top / math.sqrt(sum((x - a) ** 2 for x in first) * sum((y - b) ** 2 for y in second))


# right answers of six students to three items
RIGHT = {
    "ada": (1, 1, 1),
    "bob": (1, 1, 0),
    "cleo": (1, 0, 1),
    "dan": (1, 0, 0),
    "eve": (0, 0, 0),
    "fay": (0, 1, 0),
}


def small_class(store: Store) -> None:
    for at, (student, row) in enumerate(RIGHT.items()):
        questions = [
            (choice(name, "yes", {"no": ""}, turn=at), {"answer": "yes" if right else "no"})
            for name, right in zip("abc", row, strict=True)
        ]
        hand_in(store, student, "week", questions)


def test_a_class_of_six_by_hand(store: Store) -> None:
    small_class(store)
    report = report_of(store)
    (test,) = report.tests
    items = items_of(report)
    assert test.total == (pytest.approx(9 / 6), pytest.approx(math.sqrt(5.5 / 5)))
    # totals 3 2 2 1 0 1; variances of the items 4/15 · 3/10 · 4/15, of the total 5.5/5
    assert test.reliability.alpha == pytest.approx(3 / 2 * (1 - (4 / 15 + 3 / 10 + 4 / 15) / (5.5 / 5)))
    assert test.histogram.counts == (1, 2, 2, 1)
    for column, name in enumerate("abc"):
        own = [float(row[column]) for row in RIGHT.values()]
        rest = [float(sum(row) - row[column]) for row in RIGHT.values()]
        assert items[name].statistics.mean_share == pytest.approx(mean(own))
        assert items[name].statistics.item_rest == pytest.approx(pearson(own, rest))
    # Wilson's interval of 4 of 6, from the formula with z = 1.959964
    z = 1.959964
    middle = (4 / 6 + z * z / 12) / (1 + z * z / 6)
    half = z / (1 + z * z / 6) * math.sqrt(4 / 6 * 2 / 6 / 6 + z * z / 144)
    assert items["a"].mean_interval == pytest.approx((middle - half, middle + half), abs=1e-6)
    assert all(item.flags == () for item in items.values())  # under 10 students nothing is flagged


def test_partial_credit_and_different_points_are_shares(store: Store) -> None:
    for student, words in {"ada": ("p", "u"), "bob": ("p", "w"), "cleo": ("q", "w")}.items():
        parts = [
            single("p", {"q": ""}, part="scores", points=3.0),
            single("u", {"w": ""}, part="weights", points=1.0),
        ]
        hand_in(
            store,
            student,
            "week",
            [
                (variant("steps", parts), dict(zip(("scores", "weights"), words, strict=True))),
                (choice("other", "yes", {"no": ""}), {"answer": "no" if student == "cleo" else "yes"}),
            ],
        )
    items = items_of(report_of(store))
    steps = items["steps"]
    assert steps.full == 4.0
    assert steps.statistics.mean_share == pytest.approx((1 + 0.75 + 0) / 3)
    assert steps.statistics.right == 1
    assert [(part.part, part.students, part.mean_share) for part in steps.parts] == [
        ("scores", 3, pytest.approx(2 / 3)),
        ("weights", 3, pytest.approx(1 / 3)),
    ]
    # with the other item: points 1 1 0 against 1 1 0, and 1 0 0 against 1 1 0
    assert steps.parts[0].item_rest == pytest.approx(1.0)
    assert steps.parts[1].item_rest == pytest.approx(pearson([1, 0, 0], [1, 1, 0]))
    assert items["other"].parts == ()


def test_items_that_not_all_have_are_compared_pairwise(store: Store) -> None:
    rng = random.Random(5)
    given: dict[str, dict[str, int]] = {}
    for at in range(30):
        row = {"common": rng.randrange(2), f"own-{at % 3}": rng.randrange(2)}
        given[f"s{at:02}"] = row
        questions = [
            (choice(name, "yes", {"no": ""}), {"answer": "yes" if right else "no"})
            for name, right in row.items()
        ]
        hand_in(store, f"s{at:02}", "week", questions, own_family=True)
    report = report_of(store)
    (test,) = report.tests
    assert not test.is_common and test.total is None
    items = items_of(report)
    assert {name: item.statistics.students for name, item in items.items()} == {
        "common": 30,
        **{f"own-{n}": 10 for n in range(3)},
    }
    # the one other item that they have is common to those ten students
    own = [float(row["own-1"]) for row in given.values() if "own-1" in row]
    rest = [float(row["common"]) for row in given.values() if "own-1" in row]
    assert items["own-1"].statistics.item_rest == pytest.approx(pearson(own, rest))
    index = {name: at for at, name in enumerate(test.pairs.items)}
    assert test.pairs.count[index["own-0"], index["own-1"]] == 0
    assert test.pairs.count[index["common"], index["own-1"]] == 10
    assert test.reliability.unseen_pairs == 3


def test_one_item_is_shown_against_its_whole_test(store: Store) -> None:
    small_class(store)
    whole, only = report_of(store), report_of(store, items=["b"])
    assert [item.item for item in only.tests[0].items] == ["b"]
    assert only.tests[0].items[0] == items_of(whole)["b"]
    assert only.tests[0].reliability == whole.tests[0].reliability


def test_a_class_in_which_nobody_differs(store: Store) -> None:
    for at in range(12):
        hand_in(store, f"s{at:02}", "week", [(choice("a", "yes", {"no": ""}), {"answer": "yes"})])
    report = report_of(store)
    (item,) = report.tests[0].items
    assert item.flags == ("nearly all right", "all have the same points")
    assert report.tests[0].reliability.alpha is None
    assert item.statistics.item_rest is None


def test_one_student_and_an_empty_store(store: Store) -> None:
    assert report_of(store).tests == ()
    hand_in(store, "ada", "week", [(choice("a", "yes", {"no": ""}), {"answer": "yes"})])
    (test,) = report_of(store).tests
    assert test.items[0].statistics.mean_share == 1.0
    assert test.total is None and test.irt.preferred is None


def test_flags_of_items_that_were_made_odd(store: Store) -> None:
    rng = random.Random(8)
    for at in range(200):
        able = at % 2
        said = {
            "good": able if rng.random() < 0.9 else 1 - able,
            "other": able if rng.random() < 0.8 else 1 - able,
            "third": able if rng.random() < 0.8 else 1 - able,
            "turned": 1 - able if rng.random() < 0.8 else able,  # the key is wrong
            "hard": int(rng.random() < 0.02),
            "easy": int(rng.random() < 0.99),
        }
        questions = []
        for name, right in said.items():
            wrong = {"lure": "", "never": ""} if name == "turned" else {"lure": ""}
            questions.append((choice(name, "key", wrong, turn=at), {"answer": "key" if right else "lure"}))
        hand_in(store, f"s{at:03}", "week", questions)
    flags = {name: item.flags for name, item in items_of(report_of(store)).items()}
    assert flags["good"] == flags["third"] == flags["other"] == ()
    assert flags["turned"] == (
        "negative discrimination: key wrong?",
        "alpha rises without it",
        "an option nobody picks",
        "a wrong option draws able students",
    )
    assert flags["hard"][0] == "too hard"
    assert flags["easy"][0] == "nearly all right"


def test_code_checks_count_who_reached_them(store: Store) -> None:
    code(store, "ada", "softmax", {"loads": P, "values": P, "stable": P})
    code(store, "bob", "softmax", {"loads": P, "values": P, "stable": F}, mistakes=["m-no-shift"])
    code(store, "cleo", "softmax", {"loads": P, "values": F, "stable": S}, mistakes=["m-base-two"])
    code(store, "dan", "softmax", {"loads": P, "values": Verdict.TIMED_OUT, "stable": S})
    code(store, "eve", "softmax", {"loads": Verdict.CRASHED, "values": S, "stable": S})
    softmax = items_of(report_of(store))["softmax"]
    exercise = softmax.exercise
    assert exercise is not None
    assert (exercise.students, exercise.passed_all, exercise.unexplained) == (5, 1, 2)
    assert softmax.diagnoses == (("m-base-two", 1), ("m-no-shift", 1))
    told = [(check.check, check.not_passed, check.reached) for check in exercise.checks]
    assert told == [("values", 2, 4), ("stable", 1, 2), ("loads", 1, 5)]
    assert exercise.checks[0].counts == {P: 2, F: 1, Verdict.TIMED_OUT: 1, S: 1}
    low, high = exercise.checks[1].interval
    assert 0 < low < 0.5 < high < 1 and low == pytest.approx(1 - high)
