"""Numbers as people type them, and what can't be read."""

from __future__ import annotations

from fractions import Fraction

import pytest

from engine.answers.reading_numbers import read_numbers, read_numeral
from engine.errors import ResponseFormatError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.5", Fraction(1, 2)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("-.5", Fraction(-1, 2)),
        ("+2", Fraction(2)),
        ("1/3", Fraction(1, 3)),
        ("-1/3", Fraction(-1, 3)),
        ("0.5/2", Fraction(1, 4)),
        ("1e-3", Fraction(1, 1000)),
        ("5E+2", Fraction(500)),
        ("007", Fraction(7)),
        ("9.9e307", Fraction(99) * Fraction(10) ** 306),
        ("-0", Fraction(0)),
        ("0.1", Fraction(1, 10)),
    ],
)
def test_one_number(text, value):
    assert read_numeral(text) == value


REFUSED = [
    ("nan", "isn't a number"), ("NaN", "isn't a number"), ("-inf", "isn't a number"),
    ("Infinity", "isn't a number"), ("∞", "isn't a number"), ("None", "isn't a number"),
    ("true", "isn't a number"),
    ("0x10", "hexadecimal"), ("1_000", "underscore"), ("50%", "percent"), ("1e309", "exponents"),
    ("1e-400", "exponents"), ("1e308", "beyond"), ("99e307", "beyond"), ("1/0", "below its bar"),
    ("1/3/4", "expressions"),
    ("2*3", "expressions"), ("2+3", "expressions"), ("sqrt(2)", "expressions"), ("e^2", "letters"),
    ("√2", "expressions"), ("5×10^-1", "powers of ten"), ("1.2.3", "one decimal point"), ("abc", "letters"),
    ("１．７", "type 1.7"), ("½", "type 1/2"), ("٣", "aren't the ones on the keyboard"), ("²", "keyboard"),
    ("--1", "this isn't a number"), ("+", "this isn't a number"), ("1e", "letters"), ("e5", "letters"),
    ("1" * 61, "60 characters"), ("$5", "this isn't a number"), ("0,5", "decimal mark"), ("1e5.5", "letters"),
    ("=1+1", "expressions"), ("\x001", "this isn't a number"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_no_number_says_what_it_looks_like(text, reason):
    with pytest.raises(ResponseFormatError) as caught:
        read_numeral(text)
    assert reason in caught.value.what
    assert caught.value.exit_code == 2
    assert "costs no attempt" in (caught.value.next_step or "")
    assert len(caught.value.got or "") < 120


def rows(text, **options):
    return [[float(x) for x in row] for row in read_numbers(text, **options).rows]


LAYOUTS = [
    ("0.1, 0.2", [[0.1, 0.2]]),
    ("0.1 0.2", [[0.1, 0.2]]),
    ("0.1,0.2", [[0.1, 0.2]]),
    ("[0.1, 0.2]", [[0.1, 0.2]]),
    ("(0.1 0.2)", [[0.1, 0.2]]),
    ("{0.1; 0.2}", [[0.1], [0.2]]),
    ("[0.1 0.2]", [[0.1, 0.2]]),
    ("0.1; 0.2", [[0.1], [0.2]]),
    ("0.1\n0.2", [[0.1], [0.2]]),
    ("0.1\r\n0.2\r\n", [[0.1], [0.2]]),
    ("1 2; 3 4", [[1, 2], [3, 4]]),
    ("1, 2\n3, 4", [[1, 2], [3, 4]]),
    ("1, 2,\n3, 4", [[1, 2, 3, 4]]),
    ("[1 2; 3 4]", [[1, 2], [3, 4]]),
    ("[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
    ("[[1 2]\n [3 4]]", [[1, 2], [3, 4]]),
    ("[[1., 2.],\n [3., 4.]]", [[1, 2], [3, 4]]),
    ("[1, 2], [3, 4]", [[1, 2], [3, 4]]),
    ("(1, 2) (3, 4)", [[1, 2], [3, 4]]),
    ("[1,2];[3,4]", [[1, 2], [3, 4]]),
    ("array([0.1, 0.2])", [[0.1, 0.2]]),
    ("np.array([[1, 2], [3, 4]])", [[1, 2], [3, 4]]),
    ("tensor([0.1, 0.2], dtype=torch.float64)", [[0.1, 0.2]]),
    ("torch.tensor([[1, 2]])", [[1, 2]]),
    ("[[1, 2]]", [[1, 2]]),
    ("[1, 2]ᵀ", [[1], [2]]),
    ("[[1, 2], [3, 4]]^T", [[1, 3], [2, 4]]),
    ("1/3 2/3", [[1 / 3, 2 / 3]]),
    ("1 / 3, 2 /3", [[1 / 3, 2 / 3]]),
    ("−1, –2", [[-1, -2]]),
    ("- 1, - 2", [[-1, -2]]),
    ("[- 1 -2]", [[-1, -2]]),
    ("\u00a01\u00a02\u2003", [[1, 2]]),
    ("5e−1", [[0.5]]),
    ("  7  ", [[7]]),
    ("[7]", [[7]]),
    ("1;2;", [[1], [2]]),
]


@pytest.mark.parametrize(("text", "expected"), LAYOUTS)
def test_layouts(text, expected):
    assert rows(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0,5", [[0.5]]),
        ("0,1 0,2", [[0.1, 0.2]]),
        ("0,1; 0,2", [[0.1], [0.2]]),
        ("0,1, 0,2", [[0.1, 0.2]]),
        ("[0,1; 0,2]", [[0.1], [0.2]]),
        ("0.1,0.2", [[0.1, 0.2]]),
        ("0.1, 0.2", [[0.1, 0.2]]),
        ("1, 2", [[1, 2]]),
        ("-0,5", [[-0.5]]),
        ("1,5e-1", [[0.15]]),
        (".5,.5", [[0.5, 0.5]]),
    ],
)
def test_decimal_commas_where_the_item_allows_them(text, expected):
    assert rows(text, decimal_comma=True) == expected


@pytest.mark.parametrize("text", ["1,2,3", "0,1,0,2", "[1,2,3]"])
def test_ambiguous_commas_are_refused(text):
    with pytest.raises(ResponseFormatError, match="two ways"):
        read_numbers(text, decimal_comma=True)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1,,2", "missing"),
        (",1", "missing"),
        ("1,", "missing after"),
        ("[1, 2", "isn't closed"),
        ("1, 2]", "don't match"),
        ("(1, 2]", "don't match"),
        ("[]", "no numbers"),
        ("[[1, 2], []]", "no numbers"),
        ("[[[1]]]", "nested deeper"),
        ("[[1], [[2]]]", "nested deeper"),
        ("1 [2, 3]", "outside the brackets"),
        ("[1, 2],, [3, 4]", "row is missing"),
        ("1;;2", "row is empty"),
        (";", "row is empty"),
        ("[1, 2; 3], [4]", "inside the brackets"),
        ("c = [1, 2]", "c is outside the brackets"),
        ("[1, x]", "letters"),
        ("1 2 … 9", "this isn't a number"),
        ("[0.1 ... 0.9]", "one decimal point"),
        ("1 " * 1200, "1000 numbers"),
        ("9" * 10_000_000, "characters; at most"),
        ("[" * 5000, "isn't closed"),
        ("print(1)", "expressions"),
        ("2 * (3 + 4)", "outside the brackets"),
        ("[[1, 2], [3]]ᵀ", "differ in length"),
    ],
    ids=range(25),
)
def test_faulty_layouts_say_what_is_wrong(text, reason):
    with pytest.raises(ResponseFormatError) as caught:
        read_numbers(text)
    assert reason in caught.value.what
    assert len("\n".join(caught.value.lines())) < 600


def test_what_was_read_is_shown_without_its_control_characters():
    with pytest.raises(ResponseFormatError) as caught:
        read_numbers("\x1b[31mred\x1b[0m\u202e")
    shown = "\n".join(caught.value.lines())
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_shapes_in_words():
    assert read_numbers("1").shape_words() == "1 number"
    assert read_numbers("1 2").shape_words() == "2 numbers"
    assert read_numbers("1 2; 3 4").shape_words() == "2 rows of 2 numbers"
    assert read_numbers("1 2; 3").shape_words() == "rows of 2, 1 numbers"
    assert read_numbers("[[1, 2]]").shape_words() == "1 row of 2 numbers"
