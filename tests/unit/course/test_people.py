"""Students and staff of a course, and what their roles include."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.course import People, Role, read_roster
from engine.course.people import address_warnings, is_mail_address, people_of, read_staff
from engine.errors import CourseError

HEAD = "id,name,email,role\n"


def staff_faults(tmp_path: Path, text: str) -> list[tuple[int, str]]:
    path = tmp_path / "staff.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CourseError) as caught:
        read_staff(path)
    assert all(fault.file == str(path) for fault in caught.value.diagnostics)
    return [(fault.line, fault.message) for fault in caught.value.diagnostics]


def people(tmp_path: Path, roster: str, staff: str) -> People:
    (tmp_path / "roster.csv").write_text(roster, encoding="utf-8")
    (tmp_path / "staff.csv").write_text(staff, encoding="utf-8")
    return people_of(read_roster(tmp_path / "roster.csv"), read_staff(tmp_path / "staff.csv"))


def test_each_role_includes_those_before_it() -> None:
    order = [Role.STUDENT, Role.MARKER, Role.INSTRUCTOR]
    for place, role in enumerate(order):
        assert [role.includes(other) for other in order] == [n <= place for n in range(3)]


def test_staff_as_spreadsheets_write_it(tmp_path: Path) -> None:
    path = tmp_path / "staff.csv"
    path.write_bytes("ID;Last name;First name;E-mail;Role\r\n007;Nöther;Emmy;e@x;Instructor\r\n\r\n".encode())
    (emmy,) = read_staff(path)
    assert (emmy.id, emmy.name, emmy.email, emmy.role) == ("007", "Emmy Nöther", "e@x", Role.INSTRUCTOR)
    assert emmy.is_staff
    assert read_staff(tmp_path / "none.csv") == ()


def test_every_fault_with_its_line(tmp_path: Path) -> None:
    text = (
        HEAD + "ivy,Ivy,i@x,instructor\nbob,Bob,b@x,boss\n,Eve,e@x,marker\nivy,Ivy,i@x,marker\nkim,K,k@x,\n"
    )
    assert staff_faults(tmp_path, text + "lou,Lee, Lou,l@x,marker\n") == [
        (3, "the role must be marker or instructor, not 'boss'"),
        (4, "this person has no id"),
        (5, "id 'ivy' is in line 2 already"),
        (6, "the role must be marker or instructor, not 'empty'"),
        (7, "more fields than the header has: put a name with a comma in quotes"),
    ]


@pytest.mark.parametrize(("head", "missing"), [("id,name,email\n", "role"), ("name,email\n", "id and role")])
def test_a_column_that_is_missing(tmp_path: Path, head: str, missing: str) -> None:
    ((line, message),) = staff_faults(tmp_path, head + "ivy,Ivy,i@x\n")
    assert line == 1 and message.endswith(f": {missing} is missing")


def test_students_are_no_staff(tmp_path: Path) -> None:
    """A role of student in the staff file is a mistake, and no way to demote somebody."""
    ((line, message),) = staff_faults(tmp_path, HEAD + "bob,Bob,b@x,student\n")
    assert line == 2 and "must be marker or instructor" in message


def test_a_person_in_both_files_has_the_role_of_the_staff(tmp_path: Path) -> None:
    class_ = people(
        tmp_path,
        "id,name,email\nada,Ada Lovelace,a@x\n7,Bob,\n",
        HEAD + 'ada,"Lovelace, Ada",,marker\n7,,b@x,marker\n',
    )
    assert {p.id: p.role for p in class_.by_id.values()} == {"ada": Role.MARKER, "7": Role.MARKER}
    assert class_.instructors == ()


def test_an_id_of_two_people_in_two_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="'7' belongs to another person in the roster") as caught:
        people(tmp_path, "id,name,email\n7,Bob Smith,b@x\n", HEAD + "7,Kim Lee,k@x,instructor\n")
    assert "Bob Smith has it in roster.csv" in (caught.value.got or "")


def test_addresses_are_compared_without_look_alikes(tmp_path: Path) -> None:
    class_ = people(tmp_path, "id,name,email,login\nkim,Kim,kim@x.edu,KL1\nlou,Lou,Kim@X.edu,\n", HEAD)
    assert [p.id for p in class_.with_email(" KIM@x.EDU ")] == ["kim", "lou"], "both have that address"
    assert class_.with_email("\u212aim@x.edu") == (), "the Kelvin sign is no k"
    assert class_.with_email("") == class_.with_email(" ") == ()
    assert [p.id for p in class_.with_login("kl1")] == ["kim"]


@pytest.mark.parametrize("address", ["ada@example.edu", " a.b+c@d.e ", "cÿ@b\u00fc.de", "o'hara@x-y.edu"])
def test_mail_addresses(address: str) -> None:
    assert is_mail_address(address)


@pytest.mark.parametrize("address", ["", "@", "cy@", "@b", "a@b,c@d", "a@b c", "<a@b>", "a@b\nc", "a@b@c"])
def test_what_no_mail_can_be_sent_to(address: str) -> None:
    assert not is_mail_address(address)


def test_a_row_whose_address_is_none_is_named(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text("id,name,email\nada,Ada,ada@b.edu\nbob,Bob,\ncy,Cy,cy@\n", encoding="utf-8")
    (warning,) = address_warnings(path)
    assert (warning.line, warning.column) == (4, 1)
    assert warning.message == "'cy@' isn't an email address: this person gets no sign-in links"
    path.write_text("id,name\nada,Ada\n", encoding="utf-8")
    assert address_warnings(path) == []
    path.write_text("", encoding="utf-8")
    assert address_warnings(path) == []
