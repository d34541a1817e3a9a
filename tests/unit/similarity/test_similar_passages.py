"""Passages: the longest runs, each token once, with the exchange of names that makes them the same."""

from __future__ import annotations

import random
from collections.abc import Collection, Hashable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.similarity.fingerprints import all_grams, normal_form
from engine.similarity.gather import ComparedFile, FilePair
from engine.similarity.passages import SharedPassage, detail, ranges
from engine.similarity.passages import passages as of_forms
from tests.unit.similarity.disguises import everything
from tests.unit.similarity.measure import solutions


def passages(first: str, second: str, usual: Collection[Hashable] = ()) -> tuple[SharedPassage, ...]:
    return of_forms(normal_form(first), normal_form(second), usual=usual)


ONE = """import numpy as np

def softmax(x, axis=-1):
    shifted = x - x.max(axis=axis, keepdims=True)
    e = np.exp(shifted)
    return e / e.sum(axis=axis, keepdims=True)
"""
OTHER = """import numpy as np

# mine
def softmax(scores, axis=-1):
    top = scores.max(axis=axis, keepdims=True)

    w = np.exp(scores - top)
    return w / w.sum(axis=axis, keepdims=True)
"""
STARTER = "import numpy as np\n\ndef softmax(x, axis=-1):\n    raise NotImplementedError('write me')\n"


def test_a_renamed_copy_is_one_passage_with_its_names() -> None:
    (found,) = passages(ONE, OTHER, usual=all_grams(normal_form(STARTER)))
    assert found.first == (3, 4, 5, 6)
    assert found.second == (4, 5, 7, 8)
    assert found.tokens == 4 + 11 + 9
    assert found.names == {"x": "scores", "axis": "axis", "e": "w"}


def test_what_is_usual_is_no_passage() -> None:
    assert passages(ONE, ONE, usual=all_grams(normal_form(ONE))) == ()
    assert passages(ONE, STARTER, usual=all_grams(normal_form(STARTER))) == ()
    assert len(passages(ONE, STARTER)) == 1


def test_two_functions_in_another_order_are_two_passages() -> None:
    head, tail = "def f(a):\n    return g(a, 1, 2, 3)\n", "def h(b):\n    return k(b + 4, b * 5)\n"
    found = passages(head + tail, tail + head)
    assert [(p.first, p.second) for p in found] == [((1, 2), (3, 4)), ((3, 4), (1, 2))]


def test_one_name_can_not_stand_for_two() -> None:
    found = passages("y = f(a) - g(b) * h(a)\n", "y = f(a) - g(b) * h(b)\n")
    assert all(len(set(p.names.values())) == len(p.names) for p in found)
    assert max(p.tokens for p in found) < len(normal_form("y = f(a) - g(b) * h(a)").statements[0].tokens)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(["x = f(a, b, 1)", "y = g(x) - x", "return h(y, 2) + 1", "if a < b: x = k(a)"]),
        max_size=8,
    ),
    st.randoms(),
)
def test_no_token_is_in_two_passages(lines: list[str], chance: random.Random) -> None:
    other = list(lines)
    chance.shuffle(other)
    found = passages("\n".join(lines), "\n".join(other))
    tokens = sum(len(s.tokens) for s in normal_form("\n".join(lines)).statements)
    assert sum(passage.tokens for passage in found) <= tokens
    assert all(passage.tokens >= 4 for passage in found)


@pytest.mark.parametrize("item", ["sdpa", "decoder-step"])
def test_a_copy_in_all_disguises_is_covered_by_few_passages(item: str) -> None:
    for name, source in solutions(item).items():
        found = passages(source, everything(source, random.Random(name)))
        tokens = sum(len(s.tokens) for s in normal_form(source).statements)
        assert sum(passage.tokens for passage in found) > 0.85 * tokens, name


def test_hostile_files_take_no_time() -> None:
    same = "x = x + x + x + x + x + x\n" * 3_000
    found = passages(same, same.replace("x", "y"))
    assert found[0].tokens == len(normal_form(same).statements[0].tokens) * len(normal_form(same).statements)
    assert len(passages("x = f(1, 2)\n" * 2_000, "x = f(1, 2); g(3, 4)\n" * 2_000)) <= 40


def test_lines_carry_their_passage_and_where_it_begins() -> None:
    found = detail(
        FilePair(ComparedFile("a", ONE), ComparedFile("b", OTHER), 1, 1.0, 1.0, 9.0),
        all_grams(normal_form(STARTER)),
    )
    assert [(line.number, line.passage, line.begins) for line in found.second] == [
        (1, 0, ()),
        (2, 0, ()),
        (3, 0, ()),
        (4, 1, (1,)),
        (5, 1, ()),
        (6, 0, ()),
        (7, 1, ()),
        (8, 1, ()),
    ]
    assert found.longest == 24
    assert found.left == (0, 0) and found.notes == ("", "")


def test_long_files_and_lines_are_cut_on_the_page() -> None:
    source = "# " + "x" * 900 + "\n" + "y = 1\n" * 4_000
    found = detail(FilePair(ComparedFile("a", source), ComparedFile("b", ONE), 0, 0, 0, 0), ())
    assert len(found.first) == 3_000 and found.left == (1_001, 0)
    assert len(found.first[0].text) < 520
    broken = detail(
        FilePair(ComparedFile("a", "def f(:\n"), ComparedFile("b", "#" * 300_000), 0, 0, 0, 0), ()
    )
    assert "can't read this file" in broken.notes[0] and "only its beginning" in broken.notes[1]


@pytest.mark.parametrize(
    ("lines", "text"),
    [((3, 4, 5, 9), "3–5, 9"), ((1,), "1"), ((), ""), ((2, 4, 6), "2, 4, 6"), ((7, 8), "7–8")],
)
def test_ranges(lines: tuple[int, ...], text: str) -> None:
    assert ranges(lines) == text
