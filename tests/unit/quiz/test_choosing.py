"""Which items a quiz gets: possible whenever it can be, the same for all, or one's own."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import QuizError
from engine.items import builtin_bank
from engine.quiz.blueprint import Blueprint, PlacedBlueprint
from engine.quiz.choose import ItemChoice, assign, choose_items

SECRET = b"s" * 32
BANK = builtin_bank()  # read once: it takes a second


def brute_force(wishes: list[list[str]]) -> int:
    """Return the most slots that can be filled, by trying every order."""
    best = 0
    for order in permutations(range(len(wishes))):

        def fill(at: int, taken: frozenset[str], order: tuple[int, ...] = order) -> int:
            if at == len(order):
                return 0
            free = [item for item in wishes[order[at]] if item not in taken]
            return max([fill(at + 1, taken), *(1 + fill(at + 1, taken | {item}) for item in free)])

        best = max(best, fill(0, frozenset()))
    return best


@given(st.lists(st.lists(st.sampled_from("abcd"), unique=True, max_size=4), max_size=4))
def test_as_many_slots_are_filled_as_can_be(wishes: list[list[str]]) -> None:
    found = assign(wishes)
    assert len(found) == brute_force(wishes)
    assert len(set(found.values())) == len(found)
    assert all(item in wishes[slot] for slot, item in found.items())


def test_the_first_wish_counts_where_nobody_is_in_the_way() -> None:
    assert assign([["a", "b"], ["c", "a"], ["a", "d"]]) == {0: "a", 1: "c", 2: "d"}


def plan(*sections: dict) -> PlacedBlueprint:
    return PlacedBlueprint(Blueprint.model_validate({"title": "T", "sections": list(sections)}))


def chosen(choice: ItemChoice, student: str = "ada") -> list[str]:
    return [question.item for question in choice.of(student)]


def test_entries_that_want_the_same_items_never_fail_by_chance() -> None:
    # every vector item that is also on the context vector, and then one of these by name
    specs, _ = BANK.readable()
    pool = [s.id for s in specs if "context-vector" in s.topics and s.kind == "vector"]
    wide = {"count": len(pool) - 1, "topics": ["context-vector"], "types": ["vector"], "points": 1}
    for number in range(20):
        name = f"q{number}"
        choice = choose_items(plan(wide, {"items": [pool[0]]}), BANK, SECRET, name)
        assert sorted(chosen(choice)) == sorted(pool)


def test_everybody_gets_the_same_items_by_default() -> None:
    choice = choose_items(plan({"count": 5, "types": ["vector", "number"]}), BANK, SECRET, "q")
    assert chosen(choice, "ada") == chosen(choice, "alan")
    other = choose_items(plan({"count": 5, "types": ["vector", "number"]}), BANK, SECRET, "q2")
    assert chosen(choice) != chosen(other), "another name, another choice"


def test_families_per_student_differ_and_the_rest_is_common() -> None:
    sections = (
        {"items": ["softmax-weights"]},
        {"count": 2, "types": ["vector", "number"], "points": 1, "per_student": True},
        {"count": 2, "types": ["vector"], "points": 1},
    )
    choice = choose_items(plan(*sections), BANK, SECRET, "q")
    rows = [choice.of(f"s{number}") for number in range(40)]
    assert len({tuple(q.item for q in row if not q.own_family) for row in rows}) == 1
    assert [q.own_family for q in rows[0]] == [False, True, True, False, False]
    own = Counter(q.item for row in rows for q in row if q.own_family)
    assert len(own) >= 6
    assert all(len({q.item for q in row}) == 5 for row in rows), "no item twice in anybody's quiz"
    assert [q.item for q in choice.of("s7")] == [q.item for q in rows[7]]


def test_draws_are_even() -> None:
    draw = {
        "count": 1,
        "topics": ["softmax", "context-vector"],
        "points": 1,
        "per_student": True,
    }
    # Answers in words are asked only where a section names them: a person must mark them.
    kinds = {s.id: s.kind for s in BANK.readable()[0] if set(s.topics) & set(draw["topics"])}
    matching = {item for item, kind in kinds.items() if kind not in ("code", "free_text")}
    choice = choose_items(plan(draw), BANK, SECRET, "q")
    often = Counter(chosen(choice, f"s{number}")[0] for number in range(100 * len(matching)))
    assert set(often) == matching and len(matching) >= 3
    # binomial with mean 100: five standard deviations
    assert all(50 < count < 150 for count in often.values()), often


def test_without_a_file_a_fault_is_told_in_words() -> None:
    with pytest.raises(QuizError, match="too few items") as caught:
        choose_items(plan({"count": 90, "types": ["matrix"]}), BANK, SECRET, "q")
    assert caught.value.diagnostics == ()
