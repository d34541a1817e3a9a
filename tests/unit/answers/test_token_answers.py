"""Short texts: words, a sequence of tokens, and several sequences, however people write them."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.answers import answer_type
from engine.errors import ResponseFormatError
from engine.model import KnownWrong, Part


def part(*accepted, wrong=(), **settings):
    known = tuple(KnownWrong(name, f"This is {name}.", text=text) for name, text in wrong)
    return Part("answer", "token", 1.0, key_ids=accepted, known_wrong=known, settings=settings)


def grade(field, text):
    return answer_type("token").grade(field, text)


@pytest.mark.parametrize(
    "text",
    [
        "A B A",
        "A B A\u200b",
        "ABA",
        "A-B-A",
        "A - B - A",
        "A, B, A",
        "A,B,A",
        "A → B → A",
        "A->B->A",
        "a b a",
        "aba",
        "[A, B, A]",
        "(A B A)",
        '"ABA"',
        "A B A.",
        "A–B–A",
        "A\u2212B\u2212A",
        "A > B > A",
        "  A  B\tA ",
        "'A', 'B', 'A'",
        "A·B·A",
        "A\nB\nA",
        "“A B A”.",
        "A B and A",
        "A_B_A",
        "A => B => A",
    ],
)
def test_a_sequence_is_read_as_people_write_it(text):
    assert grade(part("A B A"), text).is_full
    assert grade(part("ABA"), text).is_full
    assert not grade(part("A B B"), text).is_full
    assert not grade(part("A B A B"), text).is_full


@pytest.mark.parametrize(
    "text",
    [
        "AA, BA",
        "AA,BA",
        "A A, B A",
        "AA BA",
        "AA; BA",
        "A-A, B-A",
        "A → A, B → A",
        "AA and BA",
        "AA und BA",
        "aa, ba",
        "AA BA.",
        "[AA, BA]",
        "(A, A), (B, A)",
        "AA\nBA",
        "AA & BA",
        '"AA", "BA"',
        "A-A B-A",
        "[AA] [BA]",
        "[[A, A], [B, A]]",
    ],
)
def test_several_sequences_are_read_as_people_write_them(text):
    assert grade(part("AA, BA"), text).is_full
    assert not grade(part("BA, AA"), text).is_full
    assert not grade(part("AA, BB"), text).is_full


@pytest.mark.parametrize("text", ["A, B", "A B", "A and B", "a,b", "A; B", "(A, B)", "A & B", "A\nB"])
def test_sequences_of_one_token(text):
    assert grade(part("A, B"), text).is_full
    assert not grade(part("B, A"), text).is_full


@pytest.mark.parametrize("text", ["AABA", "A A B A", "A, A, B, A", "AA", "AA - BA", "A"])
def test_where_sequences_end_must_be_seen(text):
    with pytest.raises(ResponseFormatError) as caught:
        grade(part("AA, BA"), text)
    assert "comma between them" in str(caught.value.expected)


@pytest.mark.parametrize("text", ["I think ABA", "first A", "A B Z", "hello", "A1B2", "A B A?", "A <eos>"])
def test_what_is_no_token_costs_nothing(text):
    with pytest.raises(ResponseFormatError):
        grade(part("A B A"), text)


@pytest.mark.parametrize(
    "text",
    [
        "A B <eos>",
        "A B </s>",
        "AB<eos>",
        "A B eos",
        "A, B, EOS",
        "A-B-<EOS>",
        "a b <end>",
        "A → B → [EOS]",
        "A B end",
        "A B ⟨eos⟩",
        "A B < eos >.",
    ],
)
@pytest.mark.parametrize("key", ["A B <eos>", "A B </s>", "A B eos"])
def test_the_end_token_is_read_in_every_spelling(text, key):
    assert grade(part(key), text).is_full
    assert not grade(part("A B A", wrong=[("m-end", key)]), text).is_full


def test_words_keep_their_hyphens_and_their_length():
    assert grade(part("sequence to sequence"), "Sequence-to-sequence.").is_full
    assert grade(part("Sequence-to-Sequence"), "sequence–to–sequence").is_full is False
    assert grade(part("end"), "End.").is_full
    assert grade(part("GRU"), "gru").is_full
    assert not grade(part("softmax"), "soft max").is_full
    assert grade(part("3"), "3.").is_full


def test_every_known_mistake_with_this_text_is_named():
    field = part("AA, BA", wrong=[("m-order", "BA, AA"), ("m-last", "BA, AA"), ("m-best", "AA, AB")])
    assert [d.misconception for d in grade(field, "B A; A A").diagnosis] == ["m-order", "m-last"]
    assert [d.misconception for d in grade(field, "AA AB").diagnosis] == ["m-best"]


def test_the_right_set_in_another_order_earns_its_share():
    field = part("AA, BA", order_credit=0.5)
    assert grade(field, "BA, AA").points == 0.5
    assert grade(field, "AA, BA").points == 1
    assert grade(field, "BA, AB").points == 0
    assert grade(part("AA, BA"), "BA, AA").points == 0
    assert "50 %" in answer_type("token").policy(field)


tokens = st.lists(st.sampled_from("ABC"), min_size=1, max_size=5)
glues = st.sampled_from([" ", "", "-", ", ", ",", " → ", "->", " - ", "  ", ";", " \u2013 "])
frames = st.sampled_from(["{}", "[{}]", "({})", '"{}"', " {} ", "{}.", "({})."])


@given(tokens, tokens, glues, frames)
def test_no_spelling_changes_what_was_answered(key, answer, glue, frame):
    text = frame.format(glue.join(answer))
    assert grade(part(" ".join(key)), text).is_full is (key == answer)


@given(
    st.lists(st.text("ABC", min_size=2, max_size=2), min_size=2, max_size=3),
    st.lists(st.text("ABC", min_size=2, max_size=2), min_size=2, max_size=3),
    st.sampled_from([", ", ",", "; ", " and ", "\n"]),
    st.sampled_from(["", " ", "-", " → "]),
    frames,
)
def test_no_spelling_of_sequences_changes_what_was_answered(key, answer, between, within, frame):
    text = frame.format(between.join(within.join(sequence) for sequence in answer))
    assert grade(part(", ".join(key)), text).is_full is (key == answer)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text):
    for field in (part("A B A"), part("AA, BA"), part("two words")):
        with contextlib.suppress(ResponseFormatError):
            grade(field, text)
