"""``grade lti``: registrations, members, marks and keys from the terminal; the other side speaks HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.course import Course
from engine.lti.signing_keys import key_set
from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.store import Attempt
from engine.store.lti import LtiLink, LtiPerson
from tests.live.lms import Lms, LmsFault, LmsMember, learning_system

NOW = datetime.now(UTC)


@pytest.fixture
def course(grade) -> Course:
    made = Course.init(Path("c"), "T")
    (made.folder / "roster.csv").write_text("id,name,email\nada,Ada,ada@example.edu\nbob,Bob,\n")
    return made


@pytest.fixture
def lms(course: Course) -> Iterator[Lms]:
    with learning_system("http://127.0.0.1:9") as running, course.open_store() as store:
        running.tool_keys = lambda: key_set(store, datetime.now(UTC))
        running.members["u1"] = LmsMember("u1", "Ada", "ada@example.edu")
        running.members["u2"] = LmsMember("u2", "Cyd", "cyd@example.edu")
        running.items["1"] = {"id": f"{running.address}/items/1", "scoreMaximum": 10, "label": "x"}
        yield running


@pytest.fixture
def linked(grade, course: Course, lms: Lms) -> Lms:
    """A registered system with one accepted course and one link, as after an instructor's launch."""
    urls = ("--login-url", "auth", "--token-url", "token", "--keys-url", "jwks")
    arguments = [f"{lms.address}/{word}" if not word.startswith("--") else word for word in urls]
    said = grade(
        *("lti", "register", "other", lms.address, "--client-id", lms.client_id, *arguments),
        *("--name", "Test LMS", "--course", "c", "--by", "prof"),
    )
    assert (said.code, said.err) == (0, ""), said.err
    assert said.out.startswith("Test LMS is registered as number 1\n")
    with course.open_store() as store:
        store.lti.put_context(1, "course-7", title="Attention", accepted=True)
        item, members = f"{lms.address}/items/1", f"{lms.address}/members"
        store.lti.put_link(
            LtiLink(1, "d", "r1", "softmax", "course-7", "Week 1", item, None, (), members, NOW)
        )
        store.lti.put_people([LtiPerson(1, "course-7", "u1", "ada", "Ada", "", NOW)])
        report = GradeReport("softmax", "v", Outcome.PARTIAL, 7.25, 10.0, mode=Mode.MARKS)
        code = CodeSubmission("# x", "a.py", "1" * 64, {})
        store.record(Attempt.of_code("ada", code, report, started=NOW))
    return lms


def test_nothing_is_registered_at_first(grade, course: Course) -> None:
    said = grade("lti", "status", "--course", "c")
    assert (said.code, said.out) == (
        0,
        "no learning system is registered\n  next: grade lti register moodle ADDRESS --client-id ID\n",
    )
    said = grade("lti", "members", "--course", "c")
    assert said.code == 2 and "no learning system offers the members of a course" in said.err


def test_marks_are_sent_and_those_not_taken_are_shown(grade, course: Course, linked: Lms) -> None:
    linked.faults.append(LmsFault("/items/1/scores", 503))
    said = grade("lti", "send", "--course", "c")
    assert said.code == 1 and said.out.startswith("0 marks sent, 1 left\n")
    assert "status 503: it has a fault of its own" in said.out
    said = grade("lti", "status", "--course", "c")
    assert said.code == 1 and "marks: 0 sent, 0 waiting, 1 not accepted" in said.out
    document = grade("lti", "status", "--course", "c", "--json").json()
    assert document["marks"] == {"sent": 0, "waiting": 0, "failed": 1}
    assert document["systems"][0]["courses"] == {"course-7": True}
    linked.faults.clear()
    said = grade("lti", "send", "--course", "c")
    assert (said.code, said.out) == (0, "1 mark sent, 0 left\n")
    assert [mark["scoreGiven"] for mark in linked.received] == [7.25]
    assert grade("lti", "send", "--course", "c").out == "0 marks sent, 0 left\n"
    assert grade("lti", "status", "--course", "c").code == 0


def test_members_are_shown_and_written(grade, course: Course, linked: Lms) -> None:
    said = grade("lti", "members", "--course", "c")
    assert said.code == 1 and "Cyd" in said.out and "not a member there, stays" in said.out
    assert (course.folder / "roster.csv").read_text().count("\n") == 3
    said = grade("lti", "members", "--write", "--remove-missing", "--course", "c")
    assert said.code == 0 and "roster.csv is written; the old one is " in said.out
    assert [s.name for s in course.roster().students] == ["Ada", "Cyd"]
    assert grade("lti", "members", "--course", "c").code == 0
    said = grade("lti", "members", "--list", "1/other", "--course", "c")
    assert said.code == 2 and "--list with one of: 1/course-7 (Attention)" in said.err


def test_keys_are_rotated(grade, course: Course) -> None:
    said = grade("lti", "keys", "rotate", "--course", "c")
    assert said.code == 0 and said.out.endswith(", signs in an hour\n")
    with course.open_store() as store:
        assert len(store.lti.keys(datetime.now(UTC))) == 2
    said = grade("lti", "keys", "rotate", "--at-once", "--course", "c")
    assert said.out.endswith(", the others are withdrawn\n")
    with course.open_store() as store:
        assert len(store.lti.keys(datetime.now(UTC))) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("moodle", "--client-id", "x"), "the address of the learning system is missing"),
        (("moodle", "http://moodle.example.edu", "--client-id", "x"), "the issuer can't be used"),
        (("other", "https://x.example", "--client-id", "x"), "the authentication request can't be used"),
        (("moodle", "https://moodle.example.edu", "--client-id", ""), "the client id is missing"),
    ],
)
def test_registrations_with_a_fault(grade, course: Course, arguments: tuple[str, ...], message: str) -> None:
    said = grade("lti", "register", *arguments, "--course", "c")
    assert said.code == 2 and message in said.err and "Traceback" not in said.err
