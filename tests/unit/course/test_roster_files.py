"""Rosters as they come: every way in which a spreadsheet saves names and ids, one test each."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.course import Student, read_roster
from engine.errors import CourseError


def students(tmp_path: Path, data: bytes | str) -> list[Student]:
    path = tmp_path / "roster.csv"
    path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
    return list(read_roster(path).students)


def fault(tmp_path: Path, data: bytes | str) -> tuple[int, str, str]:
    with pytest.raises(CourseError) as caught:
        students(tmp_path, data)
    (found,) = caught.value.diagnostics
    assert found.file.endswith("roster.csv")
    return found.line, found.message, found.source_line


ZOE = Student("007", "Zoë Ångström", "z@example.org")
PLAIN = "id,name,email\n007,Zoë Ångström,z@example.org\n"
TABS = PLAIN.replace(",", "\t").replace("\n", "\r\n")


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le", "utf-16-be"], ids=str
)
@pytest.mark.parametrize("text", [PLAIN, TABS], ids=["commas", "tabs"])
def test_every_encoding(tmp_path: Path, encoding: str, text: str) -> None:
    assert students(tmp_path, text.encode(encoding)) == [ZOE]


def test_utf_16_of_the_other_byte_order_with_its_mark(tmp_path: Path) -> None:
    assert students(tmp_path, b"\xfe\xff" + PLAIN.encode("utf-16-be")) == [ZOE]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_every_separator(tmp_path: Path, separator: str) -> None:
    assert students(tmp_path, PLAIN.replace(",", separator)) == [ZOE]


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "sep=;\r"])
def test_excels_first_line_names_the_separator(tmp_path: Path, line: str) -> None:
    assert students(tmp_path, f"{line}\nid;name\n1;Lovelace, Ada\n") == [Student("1", "Lovelace, Ada")]


def test_a_comma_can_be_named_too(tmp_path: Path) -> None:
    assert students(tmp_path, "sep=,\nid,name\n1,Ada\n") == [Student("1", "Ada")]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_line_end(tmp_path: Path, line_end: str) -> None:
    assert students(tmp_path, PLAIN.replace("\n", line_end)) == [ZOE]


@pytest.mark.parametrize("written", ["007", '"007"', " 007 ", '"=""007"""', '="007"'])
def test_zeros_before_an_id_stay(tmp_path: Path, written: str) -> None:
    assert students(tmp_path, f"id,name\n{written},James\n") == [Student("007", "James")]


@pytest.mark.parametrize(
    "student", ["7", "1e3", "1E3", "-1", "+1", "TRUE", "NaN", "3/4", "1.5", "00", "null"]
)
def test_an_id_is_never_read_as_anything_else(tmp_path: Path, student: str) -> None:
    assert students(tmp_path, f"id\n{student}\n") == [Student(student)]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ('"Lovelace, Ada"', "Lovelace, Ada"),
        ('"O""Hara, ""Scarlett"""', 'O"Hara, "Scarlett"'),
        ("O'Neil; Ann", "O'Neil; Ann"),
        ('"two\nlines"', "two\nlines"),
        ("李小龙", "李小龙"),
        ('""', ""),
    ],
)
def test_names_with_commas_quotes_and_lines(tmp_path: Path, written: str, name: str) -> None:
    assert students(tmp_path, f"id,name\n1,{written}\n2,Bob\n") == [Student("1", name), Student("2", "Bob")]


@pytest.mark.parametrize("empty", ["", " ", ",", " , , ", ",,"])
def test_empty_lines_are_passed_over_wherever_they_are(tmp_path: Path, empty: str) -> None:
    text = f"{empty}\nid,name,email\n{empty}\n1,Ada,\n{empty}\n{empty}\n2,Bob,\n{empty}"
    assert [s.id for s in students(tmp_path, text)] == ["1", "2"]


def test_columns_in_any_order_with_others_beside_them(tmp_path: Path) -> None:
    assert students(tmp_path, "Group,EMAIL,Id,Name\nA,a@b,7,Ada\n") == [Student("7", "Ada", "a@b")]


def test_the_same_id_twice_is_a_fault_with_both_lines(tmp_path: Path) -> None:
    line, message, source = fault(tmp_path, "id,name\n7,Ada\n\n7,Bob\n")
    assert (line, source) == (4, "7,Bob") and "is in line 2 already" in message


def test_two_ids_that_only_look_different_are_the_same(tmp_path: Path) -> None:
    line, message, _ = fault(tmp_path, "id\nZoe\u0308\nZo\u00eb\n")
    assert line == 3 and "already" in message


def test_ids_that_differ_in_case_are_two(tmp_path: Path) -> None:
    assert [s.id for s in students(tmp_path, "id\nada\nAda\n")] == ["ada", "Ada"]


@pytest.mark.parametrize("rounded", ["1.23457E+11", "1,23457E+11"])
def test_an_id_that_a_spreadsheet_rounded_is_a_fault(tmp_path: Path, rounded: str) -> None:
    line, message, _ = fault(tmp_path, f"id;name\n{rounded};Ada\n")
    assert line == 2 and "rounded" in message and "format the column as text" in message


def test_a_comma_in_a_name_without_quotes_is_a_fault(tmp_path: Path) -> None:
    line, message, source = fault(tmp_path, "id,name\n1,Lovelace, Ada\n")
    assert (line, source) == (2, "1,Lovelace, Ada") and "in quotes" in message


def test_a_student_without_an_id_is_a_fault(tmp_path: Path) -> None:
    assert fault(tmp_path, "id,name\n,Ada\n")[:2] == (2, "this student has no id")
