"""Places: a fault's caret stands under the right character."""

from __future__ import annotations

import pytest

from engine.errors import Diagnostic
from engine.text.yaml import read_yaml

TEXT = """\
title: Über
answer:
  type: vector
  options:
    - {text: 'a b', n: 0.50}
    - text: |
        first line
        second $x$
    - text: >-
        folded
        text
    - text: "tab\\"quoted"
list: [[1, 2], [3, 4]]
"""


@pytest.mark.parametrize(
    ("loc", "key", "place"),
    [
        ((), False, (1, 1)),
        (("title",), False, (1, 8)),
        (("title",), True, (1, 1)),
        (("answer",), False, (3, 3)),
        (("answer",), True, (2, 1)),
        (("answer", "vector", "options", 0, "n"), False, (5, 24)),
        (("answer", "options", 0, "n"), True, (5, 21)),
        (("answer", "options", 1, "text"), False, (6, 13)),
        (("answer", "options", 9, "text"), False, (5, 5)),
        (("list", 1, 0), False, (13, 17)),
        (("nowhere", 3), False, (1, 1)),
    ],
)
def test_locate(loc: tuple[int | str, ...], key: bool, place: tuple[int, int]) -> None:
    assert read_yaml(TEXT).locate(loc, key=key) == place


@pytest.mark.parametrize(
    ("index", "offset", "place"),
    [
        (0, 2, (5, 17)),  # one further than if it weren't quoted
        (1, 0, (7, 9)),
        (1, 18, (8, 16)),
        (2, 3, (9, 13)),  # folded text can't be placed: the start of the value
        (3, 5, (12, 13)),  # escapes neither
    ],
)
def test_locate_inside(index: int, offset: int, place: tuple[int, int]) -> None:
    assert read_yaml(TEXT).locate_inside(("answer", "options", index, "text"), offset) == place


def test_locate_inside_a_block_at_its_own_dollar() -> None:
    document = read_yaml(TEXT)
    value = document.data["answer"]["options"][1]["text"]
    line, column = document.locate_inside(("answer", "options", 1, "text"), value.index("$"))
    assert TEXT.split("\n")[line - 1][column - 1] == "$"


def test_written_gives_what_was_typed() -> None:
    document = read_yaml(TEXT)
    assert document.written(("answer", "options", 0, "n")) == "0.50"
    assert document.written(("answer", "options", 0, "text")) == "a b"
    assert document.written(("list",)) == "[[1, 2], [3, 4]]"


def test_the_caret_stands_under_the_character_not_the_byte() -> None:
    document = read_yaml("größe: {ä: 1, ß: 2}\n")
    assert document.diagnostic(("größe", "ß"), "here").lines() == [
        "<text>:1:18: here",
        "    größe: {ä: 1, ß: 2}",
        "                     ^",
    ]


def test_the_caret_allows_for_wide_and_combining_characters() -> None:
    wide = read_yaml("日本: {語: 1}\n").diagnostic(("日本", "語"), "here").lines()
    # 日本 and 語 take two columns each: the 1 stands in column 12 of the screen
    assert wide[2] == "    " + " " * 11 + "^"
    combining = read_yaml("e\u0301: 1\n").diagnostic(("e\u0301",), "here").lines()
    assert combining[2] == "    " + " " * 3 + "^"


def test_tabs_before_the_caret_stay_tabs() -> None:
    assert Diagnostic("f", 1, 4, "m", "a\t: x").lines()[2] == "     \t ^"


def test_of_a_long_line_only_the_place_is_shown() -> None:
    document = read_yaml("a: [" + "1, " * 3000 + "x]\n")
    shown = document.diagnostic(("a", 3000), "here").lines()
    assert len(shown[1]) < 130
    assert shown[1][shown[2].index("^")] == "x"


@pytest.mark.parametrize("before", ["", "x " * 50, "x " * 100_000])
def test_no_password_of_an_address_is_shown_however_long_its_line(before: str) -> None:
    line = f"{before}postgresql://ada:{'secret' * 12}@host/db?password={'hidden' * 12}" + " x" * 100_000
    for column in range(len(before), len(before) + 200, 20):
        shown = Diagnostic("f", 1, column + 1, "m", line).lines()
        assert "secret" not in shown[1] and "hidden" not in shown[1], shown
        assert shown[1][shown[2].index("^")] in (line[column], "*")


def test_a_source_line_is_safe_to_print() -> None:
    fault = read_yaml("a: x\u202ey\n").diagnostic(("a",), "here")
    assert "\u202e" not in "\n".join(fault.lines())
