"""The YAML reader: YAML 1.2 words and numbers, and everything that is refused."""

from __future__ import annotations

import math
import os
import pickle
from decimal import Decimal
from pathlib import Path

import pytest

from engine.errors import CourseError, QuizError, SpecError
from engine.items import load_spec
from engine.text.yaml import MAX_DEPTH, read_yaml


def messages(source: str | bytes | Path) -> list[str]:
    with pytest.raises(SpecError) as caught:
        read_yaml(source)
    faults = [f"{d.line}:{d.column}: {d.message}" for d in caught.value.diagnostics]
    return faults or [caught.value.what]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("NO", "NO"),
        ("yes", "yes"),
        ("On", "On"),
        ("off", "off"),
        ("y", "y"),
        ("true", True),
        ("False", False),
        ("tRue", "tRue"),
        ("010", 10),
        ("0o10", 8),
        ("0x1F", 31),
        ("0b11", "0b11"),
        ("+7", 7),
        ("-0", 0),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("190:20", "190:20"),
        ("2026-11-27", "2026-11-27"),
        ("2026-11-27 10:00:00", "2026-11-27 10:00:00"),
        ("1e-3", 0.001),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("1.5.2", "1.5.2"),
        ("-.inf", float("-inf")),
        ("inf", "inf"),
        ("nan", "nan"),
        ("~", None),
        ("null", None),
        ("Null", None),
        ("none", "none"),
        ("", None),
        ("=", "="),
        ("'12'", "12"),
        ('"true"', "true"),
    ],
)
def test_a_plain_value_means_what_yaml_1_2_says(written: str, value: object) -> None:
    got = read_yaml(f"a: {written}\n").data["a"]
    assert got == value
    assert type(got) is type(value) or isinstance(got, float)


def test_nan_is_a_float() -> None:
    got = read_yaml("a: .NaN").data["a"]
    assert isinstance(got, float)
    assert math.isnan(got)


@pytest.mark.parametrize("digits", ["0.1", "0.10", "1e-3", ".50", "0.30000000000000000001", "-2.5E+3", "5."])
def test_a_float_keeps_its_digits(digits: str) -> None:
    got = read_yaml(f"a: {digits}").data["a"]
    assert str(got) == digits
    assert Decimal(str(got)) == Decimal(digits)
    assert got == float(digits)
    assert str(pickle.loads(pickle.dumps(got))) == digits


def test_keys_are_text_whatever_they_look_like() -> None:
    data = read_yaml("1: a\ntrue: b\nno: c\n2026-11-27: d\n1.50: e\n~: f\n").data
    assert list(data) == ["1", "true", "no", "2026-11-27", "1.50", "~"]


def test_scalars_as_text_gives_what_was_typed() -> None:
    document = read_yaml("a: 0.50\nb: 010\nc:\nd: [1e-3, yes]\ne: ' x '\n", "q.yaml", scalars_as_text=True)
    assert document.data == {"a": "0.50", "b": "010", "c": "", "d": ["1e-3", "yes"], "e": " x "}


def test_duplicate_keys_are_all_reported_with_the_first_line() -> None:
    assert messages("a: 1\nb: {x: 1, x: 2}\na: 3\n") == [
        "2:11: the key 'x' appears here twice; first on line 2",
        "3:1: the key 'a' appears here twice; first on line 1",
    ]


def test_keys_are_equal_as_text_so_1_and_quoted_1_are_duplicates() -> None:
    assert messages("1: a\n'1': b\n") == ["2:1: the key '1' appears here twice; first on line 1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &x 1\n", "1:4: the anchor &x can't be used; write the value where it is needed"),
        ("a: *x\n", "1:4: the alias *x can't be used; write the value out"),
        ("a: !!python/object/apply:os.system [ls]\n", None),
        ("a: !!python/name:os.system\n", None),
        ("a: !mine 1\n", "1:4: the tag !mine can't be used; write the plain value"),
        ("a: !!str 1\n", "1:4: the tag !!str can't be used; write the plain value"),
        ("a: ! 1\n", "1:4: the tag ! can't be used; write the plain value"),
        ("<<: {a: 1}\n", "1:1: merge keys (<<) can't be used; write the keys out"),
        ("? [a, b]\n: 1\n", "1:3: a key must be a word, not a list or a mapping"),
        ("? {a: b}\n: 1\n", "1:3: a key must be a word, not a list or a mapping"),
        ("'': 1\n", "1:1: a key is empty"),
        ("a: 1\n---\nb: 2\n", "2:1: a second document starts here (---); a file holds one"),
        ("a: 1e999\n", "1:4: the number 1e999 is too large"),
        (f"a: {'9' * 5000}\n", "1:4: a number of 5000 characters is too long; at most 100"),
        (f"a: 0x{'f' * 5000}\n", "1:4: a number of 5002 characters is too long; at most 100"),
        ("", "1:1: the file is empty"),
        ("# nothing but a comment\n", "1:1: the file is empty"),
        ("a:\n\t- b\n", "2:1: a tab can't be used for indentation; use blanks"),
        ("\ta: 1\n", "1:1: a tab can't be used for indentation; use blanks"),
        ("a: 1\n\tb: 2\n", "2:1: a tab can't be used for indentation; use blanks"),
        ("a: @x\n", "1:4: a value can't start with '@'; put it in quotes"),
        ("a: `x`\n", "1:4: a value can't start with '`'; put it in quotes"),
        ("a: x: y\n", "1:5: this line has a second ': '; put the text in quotes"),
        ("a: 'x\n", "1:4: a quotation mark was opened and never closed"),
        ('b: 1\na: "x\n', "2:4: a quotation mark was opened and never closed"),
        ("a: [1, 2\n", "1:4: a list that was opened with '[' isn't closed, or lacks a comma"),
        ("a: {b: 1\n", "1:4: a mapping that was opened with '{' isn't closed, or lacks a comma"),
        ("a: [\n", "1:4: a list that was opened with '[' isn't closed, or lacks a comma"),
        ("a: [1,\n\n", "1:4: a list that was opened with '[' isn't closed, or lacks a comma"),
        ("a: {b: [1], c:\n", "1:4: a mapping that was opened with '{' isn't closed, or lacks a comma"),
        ("a: {b: [\n", "1:8: a list that was opened with '[' isn't closed, or lacks a comma"),
        ("a: [,\n", "1:5: a value was expected here; put it in quotes if it is text"),
        (
            "a: 'b' c\n",
            "1:8: this doesn't continue the lines above; check the indentation, and quotes that end early",
        ),
        (
            'a: "\\sum x"\n',
            "1:5: in double quotes '\\s' has no meaning; use single quotes, or | and a new line",
        ),
        ("- a\nb: c\n", None),
        ("a: |x\n b\n", "1:5: after | or > the line must end; the text starts on the next line"),
        ("a: - b\n", "1:4: a '- ' isn't possible here; start the list on a new line"),
    ],
)
def test_what_is_refused_and_how(text: str, message: str | None) -> None:
    got = messages(text)
    assert len(got) == 1
    assert message is None or got == [message]


def test_several_aliases_anchors_and_tags_are_reported_together() -> None:
    assert len(messages("a: &x 1\nb: *x\nc: !!int 3\n")) == 3


@pytest.mark.parametrize(
    "written",
    [r"\tanh x", r"\theta", r"\frac{1}{2}", r"\beta", r"\alpha", r"\vec v", r"\rho", r"x \nabla f", r"\neq"],
)
def test_latex_in_double_quotes_is_noticed(written: str) -> None:
    (message,) = messages(f'a: "${written}$"\n')
    command = "\\" + written.split("\\")[1].split(" ")[0].split("{")[0]
    assert (
        message
        == f"1:4: in double quotes '{command}' loses its backslash; use single quotes, or | and a new line"
    )


@pytest.mark.parametrize(
    "written", [r"\\tanh x", r"one\ntwo", r"\"quoted\"", r"a\tb = 1".replace(r"\tb", r"\t1"), r"\u00e9"]
)
def test_meant_escapes_in_double_quotes_stay(written: str) -> None:
    assert isinstance(read_yaml(f'a: "{written}"\n').data["a"], str)


def test_an_escaped_control_character_is_refused() -> None:
    assert messages('a: "\\x1b[31mred"\n') == [
        "1:4: a control character isn't allowed in a text; delete the escape"
    ]


def test_an_escaped_control_character_in_a_key_is_refused_and_not_printed(tmp_path: Path) -> None:
    path = tmp_path / "item.yaml"
    path.write_text('stem: x\nderived: {"\\x1b[31m": softmax(e)}\n', encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load_spec(path)
    assert "\x1b" not in str(caught.value)
    assert "a control character isn't allowed in a text; delete the escape" in str(caught.value)


def test_depth_is_bounded_before_anything_is_built() -> None:
    deep = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert read_yaml(deep).data
    assert messages("[" + deep + "]") == [
        f"1:{MAX_DEPTH + 1}: this is nested more than {MAX_DEPTH} levels deep"
    ]


@pytest.mark.parametrize(
    "bomb", ["[" * 500_000, "{a: " * 200_000, "- " * 400_000, "? " * 400_000, "a:\n" + " " * 5 + "[" * 900]
)
def test_depth_bombs_are_refused(bomb: str) -> None:
    assert messages(bomb)[-1].endswith("nested more than 64 levels deep")


def test_a_billion_laughs_are_not_expanded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 10)]
    got = messages("\n".join(lines))
    assert got[0] == "1:5: the anchor &a0 can't be used; write the value where it is needed"


def test_too_many_values_are_refused() -> None:
    assert messages("[" + "1," * 60_000 + "1]")[-1].endswith("the file holds more than 50,000 values")


def test_a_file_of_ten_megabytes_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "big.yaml"
    path.write_bytes(b"a: " + b"x" * 10 * 2**20)
    assert messages(path) == ["the file is too large"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xff\xfea\0\x3a", "1:1: the file is saved as UTF-16"),
        (
            "a: é\n".encode("utf-32-le"),
            "1:2: the file holds NUL characters",
        ),
        (
            b"\x7fELF\x02\x01\x01\0\0\0",
            "1:1: this is a program",
        ),
        (
            "a: 1\nbé: é\n".encode("cp1252"),
            "2:2: the file isn't valid UTF-8",
        ),
        (b"a: \xc0\xaf\n", "1:4: the file isn't valid UTF-8"),
        (b"a: \xed\xa0\x80\n", "1:4: the file isn't valid UTF-8"),
        (b"a: \x1b[31m\n", "1:4: the invisible character U+001B isn't allowed in this file; delete it"),
        (
            "a: x\u2028y\n".encode(),
            "1:5: the invisible character U+2028 isn't allowed in this file; delete it",
        ),
        ("a: x\x85y\n".encode(), "1:5: the invisible character U+0085 isn't allowed in this file; delete it"),
    ],
)
def test_other_encodings_and_binary_files(data: bytes, message: str) -> None:
    assert messages(data) == [message]


def test_a_byte_order_mark_is_taken_off_and_columns_stay_right() -> None:
    document = read_yaml(b"\xef\xbb\xbfa: 1\n")
    assert document.data == {"a": 1}
    assert document.locate(("a",)) == (1, 4)


def test_a_lone_surrogate_in_text_is_refused() -> None:
    assert messages("a: \ud800") == [
        "1:4: the invisible character U+D800 isn't allowed in this file; delete it"
    ]


def test_windows_and_old_mac_line_ends() -> None:
    for end in ("\r\n", "\r"):
        document = read_yaml(f"a: 1{end}b:{end}  - x{end}  - y{end}")
        assert document.data == {"a": 1, "b": ["x", "y"]}
        assert document.locate(("b", 1)) == (4, 5)


def test_what_is_no_file(tmp_path: Path) -> None:
    assert messages(tmp_path / "missing.yaml") == ["there is no such file"]
    assert messages(tmp_path) == ["this is a folder"]
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    assert messages(pipe) == ["this isn't a regular file"]  # and doesn't wait for a writer
    assert messages(tmp_path / ("x" * 5000)) == ["the file can't be read"]
    assert messages(tmp_path / "nul\0.yaml") == ["the file can't be read"]


def test_the_caller_chooses_the_error() -> None:
    with pytest.raises(CourseError) as caught:
        read_yaml("a: &x 1\n", "course.yaml", error=CourseError)
    assert str(caught.value).split("\n") == [
        "course.yaml:1:4: the anchor &x can't be used; write the value where it is needed",
        "    a: &x 1",
        "       ^",
    ]
    with pytest.raises(QuizError):
        read_yaml(b"\xff\xfe", "quiz.yaml", error=QuizError)


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        (
            'id: a\ntitle: "not closed\nstem: |\n  text\nparts:\n- id: x\n  key: "3"\n',
            "2:8",
            "closed only on line 7",
        ),
        ("id: a\ntitle: 'not closed\nstem: x\nkey: '3'\n", "2:8", "closed only on line 4"),
        ('id: a\ntitle: "open\nstem: x\n', "2:8", "never closed"),
        ("a: {b: 1, key: (x[0] + 1), c: 2}\n", "1:18", "put it in quotes"),
        ('a: "two\n  lines"\nb: 1\nc: ]\n', "4:4", "a value was expected"),
    ],
)
def test_a_quotation_mark_that_is_not_closed_is_shown_where_it_opens(
    text: str, place: str, said: str
) -> None:
    (fault,) = messages(text)
    assert fault.startswith(f"{place}: ") and said in fault


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_read(encoding: str) -> None:
    assert read_yaml("a: é\n".encode(encoding)).data == {"a": "é"}
