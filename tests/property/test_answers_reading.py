"""What is typed is read exactly, or refused with one clear error, whatever it is."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.answers import answer_type, answer_types
from engine.answers.reading_numbers import read_numbers
from engine.errors import ResponseFormatError
from engine.model import ChoiceOption, FloatArray, KnownWrong, Part, RenderedText, Verdict

SIGNS = st.sampled_from(["-", "\u2212", "\u2013", ""])


@st.composite
def numerals(draw):
    """Return a text and its exact value."""
    sign = draw(SIGNS)
    whole = draw(st.integers(0, 10**6))
    fraction = draw(st.text("0123456789", max_size=6))
    text, value = f"{whole}.{fraction}" if fraction or draw(st.booleans()) else str(whole), Fraction(whole)
    if fraction:
        value += Fraction(int(fraction), 10 ** len(fraction))
        if whole == 0 and draw(st.booleans()):
            text = f".{fraction}"
    if draw(st.booleans()):
        exponent = draw(st.integers(-20, 20))
        text += f"{draw(st.sampled_from('eE'))}{exponent}"
        value *= Fraction(10) ** exponent
    if draw(st.integers(0, 4)) == 0:
        below = draw(st.integers(1, 99))
        text, value = f"{text}/{below}", value / below
    return sign + text, -value if sign else value


MATRICES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(numerals(), min_size=width, max_size=width), min_size=1, max_size=4)
)
LAYOUTS = {
    "python": lambda rows: "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]",
    "numpy": lambda rows: "[" + "\n ".join("[" + " ".join(row) + "]" for row in rows) + "]",
    "semicolons": lambda rows: "; ".join(", ".join(row) for row in rows),
    "lines": lambda rows: "\n".join("  ".join(row) for row in rows),
    "matlab": lambda rows: "[" + "; ".join(" ".join(row) for row in rows) + "]",
    "tuples": lambda rows: " ".join("(" + ",".join(row) + ")" for row in rows),
    "array": lambda rows: "array([" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "])",
}


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
@given(rows=MATRICES)
def test_every_layout_is_read_exactly(layout, rows):
    text = LAYOUTS[layout]([[text for text, _ in row] for row in rows])
    assert [list(row) for row in read_numbers(text).rows] == [[value for _, value in row] for row in rows]


# --- anything at all --------------------------------------------------------------------


def words(text):
    return RenderedText(text, text, text)


SAID = {"plain": "said", "html": "<p>said</p>", "latex": "said"}
NUMERIC = {
    "decimals": 2,
    "significant": None,
    "working_decimals": 2,
    "tolerance": None,
    "decimal_comma": True,
    "simplex": True,
    "near_credit": 0.5,
    "partial": "per-entry",
    "unit": "m",
}
OPTIONS = tuple(
    ChoiceOption(c, words(f"option {c}"), correct=c == "a", value=FloatArray((2,), (1.0, 2.0))) for c in "abc"
)


def numeric(kind, shape, key):
    settings = {
        **NUMERIC,
        "places": [2] * len(key),
        "lower": [f"{x - 0.005:.3f}" for x in key],
        "upper": [f"{x + 0.005:.3f}" for x in key],
    }
    wrong = (KnownWrong("m-neg", "Signs.", FloatArray(shape, tuple(-x for x in key))),)
    return Part("answer", kind, 1.0, key=FloatArray(shape, key), known_wrong=wrong, settings=settings)


RUBRIC = {
    "rubric": [
        {"id": name, "title": SAID, "text": SAID, "points": points, "step": 0.5, "levels": []}
        for name, points in (("spread", 1.0), ("softmax", 2.0))
    ],
    "sample": SAID,
    "max_words": 9,
}
PARTS = {
    "number": numeric("number", (), (0.5,)),
    "vector": numeric("vector", (2,), (0.25, 0.75)),
    "matrix": numeric("matrix", (2, 2), (0.25, 0.75, 0.5, 0.5)),
    "single_choice": Part(
        "answer", "single_choice", 1.0, key_ids=("a",), options=OPTIONS, settings={"decimals": 2}
    ),
    "multiple_choice": Part("answer", "multiple_choice", 1.0, key_ids=("a",), options=OPTIONS),
    "ordering": Part("answer", "ordering", 1.0, key_ids=("b", "a", "c"), options=OPTIONS),
    "matching": Part(
        "answer",
        "matching",
        1.0,
        key_ids=("a", "b"),
        options=OPTIONS,
        prompts=(ChoiceOption("1", words("p")), ChoiceOption("2", words("q"))),
    ),
    "free_text": Part("answer", "free_text", 3.0, settings=RUBRIC),
    "token": Part(
        "answer", "token", 1.0, key_ids=("A B",), known_wrong=(KnownWrong("m-x", "X.", text="B B"),)
    ),
}
PIECES = st.sampled_from(
    [
        "0",
        "1",
        "0.5",
        "a",
        "b",
        "c",
        "A",
        ",",
        ";",
        " ",
        "\n",
        "[",
        "]",
        "(",
        ")",
        "-",
        "/",
        "e",
        ".",
        "1-a",
        "nan",
        "ᵀ",
        "array(",
        "%",
        "\u0000",
        "٣",
        "½",
        "and",
        "→",
        "{",
        "}",
        "^T",
        "=",
        "\x1b[0m",
        "m",
    ]
)
ANYTHING = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join))


def test_every_type_is_tried():
    assert set(PARTS) == set(answer_types())


@pytest.mark.parametrize("kind", sorted(PARTS))
@given(text=ANYTHING)
def test_any_text_is_marked_or_refused_with_one_clear_error(kind, text):
    part = PARTS[kind]
    try:
        result = answer_type(kind).grade(part, text)
    except ResponseFormatError as error:
        message = "\n".join(error.lines())
        assert error.what
        assert len(message) < 800
        assert not any(c < " " and c != "\n" for c in message)
        answer_type(kind).observe(part, text)
    else:
        assert 0 <= result.points <= result.max_points
        assert (result.checks[0].verdict is Verdict.PASSED) == result.is_full
        assert result.checks[0].id.split(".")[0] == "answer"  # each criterion of a rubric has a check


@given(text=ANYTHING)
def test_no_numeric_answer_is_right_by_shape_alone(text):
    """Only numbers within the interval earn marks: nothing is broadcast."""
    part = PARTS["matrix"]
    try:
        result = answer_type("matrix").grade(part, text)
    except ResponseFormatError:
        return
    if result.points:
        assert len(read_numbers(text, decimal_comma=True).entries) == 4
