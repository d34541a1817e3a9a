"""Whom a label means: by id, login, number, address and every way in which a name is written."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from engine.course import Roster, Student, read_roster

ZOE = Student("007", "Zoë Ångström", "z@example.org", login="zang", lms_id="4711")
ADA = Student("ada", "Lovelace, Ada King", "ada@example.org", login="alove", lms_id="4712")
BOB = Student("b1", "Bob Smith")
BOBBY = Student("b2", "Bob Smith")
ROSTER = Roster((ZOE, ADA, BOB, BOBBY))


@pytest.mark.parametrize(
    ("label", "ids"),
    [
        ("007", ("007",)),
        ("zang", ("007",)),
        ("ZANG", ("007",)),
        ("4711", ("007",)),
        ("Z@Example.org", ("007",)),
        ("Zoë Ångström", ("007",)),
        ("Ångström, Zoë", ("007",)),
        ("zoe angstrom", ("007",)),
        ("angstromzoe", ("007",)),
        ("ångströmzoë", ("007",)),
        ("Zoë_Ångström", ("007",)),
        ("Zoë Ångström_12345_assignsubmission_file_", ("007",)),
        ("Zoe Angstrom_12345_assignsubmission_file_", ("007",)),
        ("work zang", ("007",)),
        ("Ada King Lovelace", ("ada",)),
        ("lovelaceadaking", ("ada",)),
        ("lovelace ada king", ("ada",)),
        ("king lovelace ada", ("ada",)),
        ("Bob Smith", ("b1", "b2")),
        ("smithbob", ("b1", "b2")),
        ("b1", ("b1",)),
        ("Zoë", ()),
        ("7", ()),
        ("stranger", ()),
        ("", ()),
        ("  ", ()),
        ("___", ()),
    ],
)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_labels(label: str, ids: tuple[str, ...], form: str) -> None:
    assert ROSTER.match(unicodedata.normalize(form, label)) == ids


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Søren Kierkegaard", "soren kierkegaard"),
        ("Łukasz Żółw", "zolwlukasz"),
        ("Großmann, Anna", "grossmannanna"),
        ("O'Neil, Ann-Marie", "oneilannmarie"),
        ("李小龙", "李小龙"),
        ("Nguyễn Văn An", "nguyenvanan"),
    ],
)
def test_letters_without_their_accents(name: str, label: str) -> None:
    assert Roster((Student("1", name), Student("2", "Some Body"))).match(label) == ("1",)


def test_an_accent_tells_two_people_apart_where_it_is_written() -> None:
    roster = Roster((Student("1", "Zoe Meier"), Student("2", "Zoë Meier")))
    assert roster.match("Zoe Meier") == ("1",) and roster.match("Zoë Meier") == ("2",)
    assert roster.match("meierzoe") == ("1", "2")


def test_a_number_that_is_one_persons_id_and_anothers_number_is_ambiguous() -> None:
    roster = Roster((Student("123"), Student("b", lms_id="123"), Student("c", login="b")))
    assert roster.match("123") == ("123", "b")
    assert roster.match("b") == ("b", "c")


def test_only_a_cell_may_have_lost_its_zeros() -> None:
    assert ROSTER.match("7") == () and ROSTER.match_cell("7") == ("007",)
    both = Roster((Student("07"), Student("007"), Student("7")))
    assert both.match_cell("7") == ("7",) and both.match_cell("07") == ("07",)
    assert Roster((Student("07"), Student("007"))).match_cell("7") == ("007", "07")
    assert ROSTER.match_cell("0") == () and ROSTER.match_cell("zang") == ("007",)


# --- the heads that learning systems write ---


def read(tmp_path: Path, text: str) -> tuple[Student, ...]:
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8")
    return read_roster(path).students


def test_a_gradebook_of_canvas(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "Student,ID,SIS User ID,SIS Login ID,Section,HW 1 (123)\n"
        ",,,,,Manual Posting\n"
        "    Points Possible,,,,,10\n"
        '"Lovelace, Ada",4711,0012,alove,S1,9\n'
        '"Student, Test",4713,,hash,S1,\n',
    )
    assert found == (Student("0012", "Lovelace, Ada", "", "alove", "S1", "4711"),)


def test_a_gradebook_of_canvas_without_the_ids_of_the_school(tmp_path: Path) -> None:
    found = read(tmp_path, "Student,ID,SIS Login ID,Section\nAda,4711,alove,S1\n")
    assert found == (Student("4711", "Ada", "", "alove", "S1"),)


def test_participants_of_moodle(tmp_path: Path) -> None:
    found = read(tmp_path, "First name,Last name,ID number,Email address\nAda,Lovelace,0012,a@b\n")
    assert found == (Student("0012", "Ada Lovelace", "a@b"),)
    found = read(tmp_path, "Surname,First name,ID number,Username,Email address\nLovelace,Ada,,alove,a@b\n")
    assert found == (Student("alove", "Ada Lovelace", "a@b", "alove"),), "no id number: the login is the id"


def test_a_roster_of_gradescope(tmp_path: Path) -> None:
    found = read(tmp_path, "First Name,Last Name,SID,Email,Role,Sections\nAda,Lovelace,12,a@b,Student,S1\n")
    assert found == (Student("12", "Ada Lovelace", "a@b", section="S1"),)


def test_a_roster_of_github_classroom(tmp_path: Path) -> None:
    found = read(tmp_path, '"identifier","github_username","github_id","name"\n"ada","al-gh","77","Ada"\n')
    assert found == (Student("ada", "Ada", login="al-gh"),)


def test_id_stays_the_id_beside_columns_that_are_not_asked_for(tmp_path: Path) -> None:
    found = read(tmp_path, "student number,id,canvas_id\n99,ada,5\n")
    assert found == (Student("ada", lms_id="5"),)
