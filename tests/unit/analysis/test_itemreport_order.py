"""Whatever order work comes in, and whoever it comes from, the figures are the same."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.analysis.class_report import build
from engine.analysis.first_attempts import (
    FirstAttempts,
    ItemAttempt,
    ItemTest,
    ItemTestKind,
    OptionChosen,
    OptionSeen,
)
from engine.analysis.mistakes import KnownMistakes
from engine.analysis.report_tables import as_json
from engine.course import StudentLabels

KNOWN = KnownMistakes({"m-one": "One.", "m-two": "Two."}, {})
SEEN = (
    OptionSeen("key", True, ""),
    OptionSeen("first", False, "m-one"),
    OptionSeen("second", False, "m-two"),
    OptionSeen("third", False, ""),
)


def work(student: str, item: str, chosen: int, turn: int, variant: int) -> ItemAttempt:
    """Return an answer to a choice whose letters are turned; chosen 4 is blank."""
    shown = SEEN[turn:] + SEEN[:turn]
    own = SEEN[chosen] if chosen < len(SEEN) else None
    mistakes = {own.misconception: "told"} if own and own.misconception else {}
    return ItemAttempt(
        student=student,
        item=item,
        title=item.upper(),
        number="abc".index(item) + 1,
        share=1.0 if own and own.correct else 0.0,
        full=2.0,
        is_blank=own is None,
        diagnoses=mistakes,
        possible=frozenset({"m-one", "m-two"}),
        variant=f"d = {variant}",
        numbers={"d": float(variant)},
        choices=(OptionChosen("answer", shown, () if own is None else (shown.index(own),)),),
    )


ANSWERS = st.dictionaries(
    st.tuples(st.sampled_from("stuvwxyz"), st.sampled_from("abc")),
    st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(1, 2)),
    min_size=1,
)


def document(works: list[ItemAttempt]) -> dict[str, Any]:
    collected = FirstAttempts({ItemTest(ItemTestKind.QUIZ, "week"): works}, {}, 0)
    report = build(collected, KNOWN, title="Class", mode="marks", title_of=lambda test: test.id)
    return as_json(report, StudentLabels({}))


@given(ANSWERS, st.randoms(use_true_random=False))
def test_the_order_of_work_changes_nothing(answers: dict[Any, Any], rng: Any) -> None:
    works = [work(*who, *what) for who, what in answers.items()]
    mixed = list(works)
    rng.shuffle(mixed)
    assert document(mixed) == document(works)


@given(ANSWERS)
def test_letters_change_nothing(answers: dict[Any, Any]) -> None:
    works = [work(*who, *what) for who, what in answers.items()]
    straight = [work(*who, chosen, 0, variant) for who, (chosen, _, variant) in answers.items()]
    assert document(works) == document(straight)


@given(ANSWERS)
def test_counts_are_those_of_the_answers(answers: dict[Any, Any]) -> None:
    found = document([work(*who, *what) for who, what in answers.items()])
    (test,) = found["tests"]
    for item in test["items"]:
        own = Counter(what[0] for (_, name), what in answers.items() if name == item["item"])
        assert item["students"] == own.total()
        assert item["right"] == own[0] and item["blank"] == own[4]
        told = {choice["option"]: choice["students"] for choice in item["options"][0]["choices"]}
        assert told == {"key": own[0], "first": own[1], "second": own[2], "third": own[3]} | (
            {None: own[4]} if own[4] else {}
        )
    held = {mistake["id"]: mistake for mistake in found["misconceptions"]}
    for place, mistake in ((1, "m-one"), (2, "m-two")):
        holders = Counter(student for (student, _), what in answers.items() if what[0] == place)
        chances = Counter(student for student, _ in answers)
        assert (mistake in held) == bool(holders)
        for holder in held.get(mistake, {}).get("holders", ()):
            assert holder["times"] == holders[holder["student"]]
            assert holder["chances"] == chances[holder["student"]]
