"""Foreign text: nothing hides in it, and no spreadsheet takes it for a formula."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.files import source_line
from engine.text.tables import csv_cell, kept_cell, plain_cell
from engine.text.words import clean, clean_line, one_line, visible

FOREIGN = st.text(st.characters(codec=None), max_size=60)


@pytest.mark.parametrize(
    "hidden",
    ["\0", "\x1b", "\x7f", "\x9b", "\u00ad", "\u200b", "\u202e", "\u2028", "\u2066", "\ufeff", "\ud800"],
)
def test_what_hides_or_steers_is_made_visible_everywhere(hidden: str) -> None:
    text = f"a{hidden}b"
    assert (
        visible(text)
        == clean(text)
        == clean_line(text)
        == one_line(text)
        == source_line(text, 1)
        == "a\ufffdb"
    )


@given(FOREIGN)
def test_places_stay(text: str) -> None:
    seen = visible(text)
    assert len(seen) == len(text)
    assert all(new in (old, "\ufffd") for old, new in zip(text, seen, strict=True))
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co") for c in seen if c not in "\n\t")


def test_ordinary_text_is_left_alone() -> None:
    text = "Gödel: α̂ₜ ≤ ½,\n\t日本 – “x”"
    assert visible(text) == clean(text) == text


def test_a_cut_is_told() -> None:
    assert clean("abcdef", 4) == "abcd … (2 more characters)"
    assert clean("abcd", 4) == "abcd"


@given(FOREIGN)
def test_a_line_is_one_line(text: str) -> None:
    assert len(clean_line(text).splitlines()) <= 1
    assert len(one_line(text).splitlines()) <= 1


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1"])
def test_a_formula_becomes_text(text: str) -> None:
    assert csv_cell(text) == "'" + text.strip()


STARTS = st.sampled_from(["", "'", "''", *"=+-@\uff1d\uff0b\uff0d\uff20\ufe66\u2212"])


@given(STARTS, STARTS, STARTS, STARTS, st.sampled_from(["", "1", "a"]))
def test_two_cells_never_become_one(a: str, b: str, c: str, d: str, end: str) -> None:
    one, other = a + b + end, c + d + end
    assert (csv_cell(one) == csv_cell(other)) == (clean_line(one) == clean_line(other))
    assert plain_cell(csv_cell(one)) in (unicodedata.normalize("NFC", one), plain_cell(one))


@pytest.mark.parametrize("sign", list("=+-@\uff1d\uff0b\uff0d\uff20\ufe62\ufe63\ufe66\ufe6b\u2212"))
def test_every_form_of_a_formulas_sign_is_neutralised(sign: str) -> None:
    assert csv_cell(f"{sign}1+1") == f"'{sign}1+1"
    assert csv_cell(f"'{sign}1+1") == f"''{sign}1+1"
    assert kept_cell(f"{sign}cmd()") == f"'{sign}cmd()"
