"""Rosters at fault: strict for a new quiz, tolerant for a class that has handed in."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.course import Roster, read_roster
from engine.errors import CourseError
from engine.hand_ins import IntakeProblem


def tolerant(tmp_path: Path, text: str) -> Roster:
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CourseError):
        read_roster(path)
    return read_roster(path, tolerant=True)


def lines(roster: Roster) -> list[int]:
    return [fault.diagnostic.line for fault in roster.faults]


def ids(roster: Roster) -> list[str]:
    return [student.id for student in roster.students]


DOUBLE = "id,name,email\nada,Ada Lovelace,a@b\n7,Bob Smith,bob@b\neve,Eve,e@b\n7,Kim Lee,kim@b\n"


def test_an_id_of_two_people_is_nobodys(tmp_path: Path) -> None:
    roster = tolerant(tmp_path, DOUBLE)
    assert ids(roster) == ["ada", "eve"] and lines(roster) == [5]
    place = f"{tmp_path / 'roster.csv'}:5"
    for label in ("7", "Bob Smith", "kim@b", "Lee, Kim", "leekim", "Kim Lee_123_assignsubmission_file_"):
        told = f"this is unclear in the roster: {place}: id '7' is in line 3 already"
        assert roster.dispute(label) == told, label
    for label in ("ada", "Ada Lovelace", "eve", "stranger", ""):
        assert roster.dispute(label) is None, label
    assert roster.match("7") == () and roster.match("ada") == ("ada",)
    assert roster.problems() == [
        IntakeProblem(
            place, "id '7' is in line 3 already", "fix the roster, then grade again: what is graded is kept"
        )
    ]


def test_an_id_three_times(tmp_path: Path) -> None:
    roster = tolerant(tmp_path, "id,name\n7,Bob\n7,Kim\nada,Ada\n7,Lou\n")
    assert ids(roster) == ["ada"] and lines(roster) == [3, 5]
    assert all(roster.dispute(label) for label in ("7", "Bob", "Kim", "Lou"))


def test_the_same_person_in_two_sections_is_still_graded(tmp_path: Path) -> None:
    roster = tolerant(tmp_path, "id,name,section\n7,Bob,A\n7,Bob,B\n")
    assert ids(roster) == ["7"] and lines(roster) == [3] and roster.dispute("7") is None


def test_a_login_of_two_people(tmp_path: Path) -> None:
    roster = tolerant(tmp_path, "id,login,canvas_id\n1,Same,5\n2,same,6\n3,other,6\n")
    assert ids(roster) == ["1", "2", "3"]
    assert [(f.diagnostic.line, f.diagnostic.message) for f in roster.faults] == [
        (3, "login 'same' is in line 2 already"),
        (4, "number of the learning system '6' is in line 3 already"),
    ]
    assert roster.match("SAME") == ("1", "2") and roster.match("1") == ("1",)


def test_a_row_without_an_id_is_known_by_its_name(tmp_path: Path) -> None:
    roster = tolerant(tmp_path, "id,name,email\n,Bob Smith,bob@b\nada,Ada,a@b\n1.2E+05,Kim,k@b\n")
    assert ids(roster) == ["ada"] and lines(roster) == [2, 4]
    assert str(roster.dispute("bob@b")).endswith("roster.csv:2: this student has no id")
    assert "rounded" in str(roster.dispute("Kim"))


def test_an_open_quotation_mark_costs_one_row(tmp_path: Path) -> None:
    roster = tolerant(tmp_path, 'id,name\nada,Ada\n7,"Bob\neve,Eve\nkim,"Kim" Lee\nlou,Lou\n')
    assert ids(roster) == ["ada", "eve", "lou"] and lines(roster) == [3, 5]
    assert "a quotation mark isn't closed" in roster.faults[0].diagnostic.message


def test_without_header_the_usual_columns_are_taken(tmp_path: Path) -> None:
    roster = tolerant(tmp_path, "7,Bob Smith,bob@b\n8,Kim Lee,\n8,Lou,l@b\n9\n")
    assert ids(roster) == ["7", "9"] and lines(roster) == [1, 3]
    assert roster.match("Bob Smith") == ("7",) == roster.match("bob@b")
    assert "must name the columns" in roster.faults[0].diagnostic.message


@pytest.mark.parametrize(
    "text",
    [
        "Matrikel;Vorname;Nachname\n7;Ada;Lovelace\n",  # a header in words that aren't known
        "Matrikel;Vorname\n7;Ada\n",
        "name,email\nAda Lovelace,a@b\n",
        "Ada Lovelace,7\nBob Smith,8\n",  # names where ids should be
        "a@b,Ada\n",
        "7,Ada,x,y\n",
        "id,id\n1,2\n",
    ],
)
def test_no_column_is_guessed(tmp_path: Path, text: str) -> None:
    roster = tolerant(tmp_path, text)
    assert roster.students == () and lines(roster) == [1]


def test_what_isnt_there_or_no_text_is_an_error_for_everybody(tmp_path: Path) -> None:
    for data in (b"id\n\x81\x8d\n", b"\0\n"):
        (tmp_path / "roster.csv").write_bytes(data)
        with pytest.raises(CourseError, match="isn't a text file"):
            read_roster(tmp_path / "roster.csv", tolerant=True)
    with pytest.raises(CourseError, match="no such file"):
        read_roster(tmp_path / "none.csv", tolerant=True)


def test_a_roster_in_good_order_has_no_faults(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text("id\nada\n")
    assert read_roster(tmp_path / "roster.csv", tolerant=True) == read_roster(tmp_path / "roster.csv")
    assert Roster().dispute("x") is None and Roster().problems() == []
