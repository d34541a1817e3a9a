"""What is typed in the most usual notation takes a short way, and is read as by the long one.

A blank or full stop at an end changes no answer, and sends it the long way.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.answers.reading_numbers import NumberRows, is_usual, read_fitting, read_numbers
from engine.answers.reading_options import read_labels
from engine.answers.token import TokenSpelling
from engine.errors import ResponseFormatError

NUMERALS = st.from_regex(r"-?[0-9]{1,15}(\.[0-9]{1,15})?", fullmatch=True)
GLUES = st.sampled_from([", ", " "])
LETTERS = "abcdeXY"


@st.composite
def rows(draw, least=1):
    numerals = draw(st.lists(NUMERALS, min_size=least, max_size=5))
    return "".join(numeral + draw(GLUES) for numeral in numerals[:-1]) + numerals[-1]


@st.composite
def numbers(draw):
    if draw(st.booleans()):
        return "[" + ", ".join(f"[{row}]" for row in draw(st.lists(rows(), min_size=1, max_size=4))) + "]"
    row = draw(rows())
    return draw(st.sampled_from([row, f"[{row}]"]))


def read_for(text: str, size: int, *, comma: bool, whole: bool) -> NumberRows | str:
    try:
        fits = lambda rows: len(rows.entries) == size  # noqa: E731
        return read_fitting(text, fits, "numbers", decimal_comma=comma, is_whole=whole)
    except ResponseFormatError as error:
        return error.what


@given(numbers(), st.integers(1, 3), st.booleans(), st.booleans())
def test_usual_numbers_are_read_as_by_the_long_way(text, size, comma, whole):
    assert is_usual(text)
    assert not is_usual(text + " ")
    assert read_numbers(text, decimal_comma=comma) == read_numbers(text + " ", decimal_comma=comma)
    short = read_for(text, size, comma=comma, whole=whole)
    assert short == read_for(text + " ", size, comma=comma, whole=whole)


@given(st.text(alphabet="0123456789.,-+ []eE/\n", max_size=12))
def test_only_what_has_one_reading_is_usual(text):
    if is_usual(text):
        assert read_numbers(text) == read_numbers(text + " ")


@given(st.lists(st.sampled_from(LETTERS), min_size=1, max_size=6), st.data())
def test_usual_letters_are_read_as_by_the_long_way(letters, data):
    text = letters[0] + "".join(
        data.draw(st.sampled_from([", ", ",", " "])) + letter for letter in letters[1:]
    )
    labels = sorted({letter.lower() for letter in letters} | {"a"})
    for in_order in (False, True):
        short = read_labels(text, labels, "options", in_order=in_order)
        assert short == read_labels(text + " ", labels, "options", in_order=in_order)


@given(st.lists(st.from_regex("[A-Za-z]|[A-Ha-h]{2,4}", fullmatch=True), min_size=1, max_size=6))
def test_usual_sequences_are_read_as_by_the_long_way(words):
    letters = sorted({letter.upper() for word in words for letter in word})
    spelling = TokenSpelling("sequence", frozenset(letter.casefold() for letter in letters), (), False, False)
    text = " ".join(words)
    assert spelling.read(text) == spelling.read(f"{text}.") == tuple("".join(words).casefold())


@given(st.lists(st.from_regex("[A-H]( [A-H]){0,4}", fullmatch=True), min_size=1, max_size=4), st.booleans())
def test_drawn_sequences_are_spelt_as_any_others(texts, case_sensitive):
    drawn = TokenSpelling.of(texts, case_sensitive=case_sensitive)
    assert drawn == TokenSpelling.of([f"{text} " for text in texts], case_sensitive=case_sensitive)
