"""Who users of a learning system are in the course, and what its list of members changes in the roster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.course import Roster, Student, read_roster
from engine.course.roster_changes import changed_fields, changes_by, write_roster
from engine.errors import CourseError, LtiError
from engine.lti.members import MemberList, preview_members
from engine.lti.service_calls import PlatformCalls
from engine.lti.users import (
    LmsUser,
    own_id,
    roles_text,
    roster_id,
    student_of_user,
    user_of_claims,
    user_of_member,
)
from engine.store import Store
from engine.store.lti import LtiPerson, LtiPlatform
from tests.live.lms import ASSISTANT, INSTRUCTOR, LEARNER, MENTOR, Lms, LmsMember
from tests.unit.lti.conftest import now

ADA = Student("007", "Ada Lovelace", "ada@example.edu", "alove", "", "91")
BOB = Student("7", "Bob Moran", "bob@example.edu", "bmoran", "", "92")
ROSTER = Roster((ADA, BOB))


@pytest.mark.parametrize(
    ("user", "student"),
    [
        (LmsUser("s", id="007"), "007"),
        (LmsUser("s", login="ALOVE"), "007"),
        (LmsUser("s", email="Ada@Example.edu"), "007"),
        (LmsUser("s", lms_id="92"), "7"),
        (LmsUser("s", id="unknown", email="bob@example.edu"), "7"),
        (LmsUser("s", name="Ada Lovelace"), None),
        (LmsUser("s", login="adalovelace"), None),  # names are no proof
        (LmsUser("s", id="0007"), None),
        (LmsUser("s"), None),
    ],
)
def test_users_are_matched_exactly(user: LmsUser, student: str | None) -> None:
    assert roster_id(user, ROSTER) == student


def test_fields_that_mean_two_people_match_nobody() -> None:
    with pytest.raises(LtiError, match="fits more than one person") as error:
        roster_id(LmsUser("s", login="alove", email="bob@example.edu"), ROSTER)
    assert "bob" not in str(error.value).lower()
    twins = Roster((ADA, Student("8", "Eve", "ada@example.edu")))
    with pytest.raises(LtiError):
        roster_id(LmsUser("s", email="ada@example.edu"), twins)


def test_a_faulty_line_of_the_roster_is_nobodys(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text("id,name,email\n007,Ada,ada@example.edu\n007,Eve,eve@example.edu\n", encoding="utf-8")
    roster = read_roster(path, tolerant=True)
    with pytest.raises(LtiError, match="your line in the roster"):
        roster_id(LmsUser("s", email="eve@example.edu"), roster)


@pytest.mark.parametrize(
    ("roles", "role"),
    [
        ([LEARNER], "student"),
        ([INSTRUCTOR], "instructor"),
        ([ASSISTANT], "marker"),
        ([INSTRUCTOR, ASSISTANT], "marker"),
        ([MENTOR], None),
        ([MENTOR, LEARNER], "student"),
        ([], "student"),
        (["Learner"], "student"),
        (["Instructor"], "instructor"),
        (["http://purl.imsglobal.org/vocab/lis/v2/institution/person#Administrator"], "instructor"),
        (["http://purl.imsglobal.org/vocab/lis/v2/institution/person#Administrator", LEARNER], "student"),
        (["http://purl.imsglobal.org/vocab/lis/v2/institution/person#Instructor", LEARNER], "student"),
        (["http://purl.imsglobal.org/vocab/lis/v2/membership#ContentDeveloper"], "instructor"),
        (["http://evil.example/membership#Instructor"], "student"),
    ],
)
def test_roles(roles: list[str], role: str | None) -> None:
    assert LmsUser("s", roles=tuple(roles)).role == role


def test_roles_are_said_as_people_say_them() -> None:
    assert roles_text([MENTOR, LEARNER]) == "Learner, Mentor"


def test_a_launch_says_who_somebody_is_and_unresolved_variables_say_nothing() -> None:
    lti = "https://purl.imsglobal.org/spec/lti/claim/"
    claims: dict[str, Any] = {
        "sub": "s",
        "given_name": "Ada",
        "family_name": "Lovelace",
        "email": "ada@example.edu",
        "email_verified": False,
        f"{lti}custom": {"student_id": "$Person.sourcedId", "login": "alove", "lms_id": "91"},
        f"{lti}lis": {"person_sourcedid": "007"},
    }
    user = user_of_claims(claims)
    assert user == LmsUser("s", "007", "alove", "", "Ada Lovelace", (), "91")


@pytest.mark.parametrize(
    "member",
    [
        {},
        {"user_id": 5},
        {"user_id": ""},
        {"user_id": "u" * 301},
        {"user_id": "u\0"},
        {"user_id": "u", "status": "Inactive"},
    ],
)
def test_lines_of_a_list_that_are_nobody(member: dict[str, Any]) -> None:
    assert user_of_member(member) is None


@pytest.fixture
def place(platform: LtiPlatform, lms: Lms) -> MemberList:
    return MemberList(platform, "course-7", "Attention", f"{lms.address}/members?limit=2")


def test_members_change_the_roster_and_become_known(
    store: Store, lms: Lms, calls: PlatformCalls, place: MemberList
) -> None:
    lms.members = {
        "u1": LmsMember("u1", "Ada L.", "ada@example.edu", extra={"lis_person_sourcedid": "007"}),
        "u2": LmsMember("u2", "Cyd", "cyd@example.edu", extra={"lis_person_sourcedid": "8"}),
        "u3": LmsMember("u3", "Dan", "dan@example.edu"),
        "u4": LmsMember("u4", "Ivy", "ivy@example.edu", (INSTRUCTOR,)),
        "u5": LmsMember("u5", "Odd", "bob@example.edu", extra={"lis_person_sourcedid": "007"}),
        "u6": LmsMember("u6", "Gone", "gone@example.edu", extra={"status": "Inactive"}),
    }
    preview = preview_members(calls.members(place.url), place, ROSTER, store, now())
    stranger = own_id(place.platform.issuer, "u3")
    assert [s.id for s in preview.changes.added] == ["8", stranger]
    ((before, after),) = preview.changes.changed
    assert changed_fields(before, after) == {"name": ("Ada Lovelace", "Ada L.")}
    assert [s.id for s in preview.changes.missing] == ["7"]
    assert preview.staff == 1
    assert preview.faults == ("Odd: email and id don't mean one person",)
    assert {(p.subject, p.person) for p in preview.people} == {("u1", "007"), ("u2", "8"), ("u3", stranger)}
    assert [s.id for s in preview.changes.students] == ["007", "7", "8", stranger]
    assert [s.id for s in preview.changes.without_missing] == ["007", "8", stranger]


def test_a_university_id_that_no_roster_can_hold_isnt_used(platform: LtiPlatform) -> None:
    for text in ("1.2E+15", "x" * 101):
        user = LmsUser("u9", id=text)
        assert student_of_user(user, ROSTER, None, platform.issuer).id == own_id(platform.issuer, "u9")


def test_whoever_has_worked_here_under_an_id_keeps_it(
    store: Store, lms: Lms, calls: PlatformCalls, place: MemberList
) -> None:
    lms.members = {"u2": LmsMember("u2", "Cyd", "c@example.edu", extra={"lis_person_sourcedid": "8"})}
    platform = place.platform.id
    store.lti.put_people([LtiPerson(platform, "course-7", "u2", "lti-cyd", "Cyd", "", now())])
    preview = preview_members(calls.members(place.url), place, ROSTER, store, now())
    assert [s.id for s in preview.changes.added] == ["lti-cyd"]


def test_a_roster_is_written_in_one_step_and_the_old_one_stays(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text("SIS User ID,Name\n007,Ada\n", encoding="utf-8")
    changes = changes_by(read_roster(path), [Student("8", 'Cyd "C", Jr.', "cyd@example.edu")])
    old = write_roster(path, changes.students, old=tmp_path / "old", now=now())
    assert old is not None and old.read_text() == "SIS User ID,Name\n007,Ada\n"
    assert old.stat().st_mode & 0o077 == 0
    assert path.read_text() == 'id,name,email\n007,Ada,\n8,"Cyd ""C"", Jr.",cyd@example.edu\n'
    assert read_roster(path).students == changes.students


def test_a_roster_with_faults_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    text = "id,name\n007,Ada\n007,Eve\n"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CourseError):
        write_roster(path, [Student("8")], old=tmp_path, now=now())
    assert path.read_text() == text


def test_a_roster_that_couldnt_be_read_back_is_never_written(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text("id,name\n007,Ada\n", encoding="utf-8")
    for student in (Student("1.2E+15"), Student("a\u0000b"), Student("007")):
        with pytest.raises(CourseError):
            write_roster(path, [Student("007"), student], old=tmp_path / "old", now=now())
    assert path.read_text() == "id,name\n007,Ada\n"
    assert [p.name for p in tmp_path.iterdir() if "part" in p.name] == []
