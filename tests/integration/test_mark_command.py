"""``grade mark`` and ``grade course check``: exact output, nothing stored that is at fault."""

from __future__ import annotations

import getpass
import re
from pathlib import Path

import pytest

from engine.course import Course
from engine.model import Mode

ROSTER = "id,name\nada,Ada\nbob,Bob\n007,Emmy\n"


@pytest.fixture
def course(grade) -> Course:
    made = Course.init(Path("c"), "T")
    (made.folder / "roster.csv").write_text(ROSTER)
    (made.blueprints / "week.yaml").write_text("title: Week\nsections:\n  - items: [softmax-weights]\n")
    assert grade("quiz", "new", "week", "--course", "c").code == 0
    return made


def standing(course: Course) -> dict[tuple[str, str], tuple[float | None, bool, str, str]]:
    with course.open_store() as store:
        found = store.hand_marks.current()
    return {place: (m.score, m.excused, m.comment, m.by) for place, m in found.items()}


def test_a_mark_is_set_changed_excused_and_taken_back(grade, course: Course) -> None:
    me = getpass.getuser()
    said = grade("mark", "ada", "softmax", "--score", "7.5", "--comment", "oral", "--course", "c")
    assert (said.code, said.out, said.err) == (0, "ada softmax: 7.5, with the comment: oral\n", "")
    assert standing(course) == {("ada", "softmax"): (7.5, False, "oral", me)}
    said = grade("mark", "set", "ada", "softmax", "--score", "8", "--course", "c", "--by", "Prof")
    assert said.out == "ada softmax: 8, with the comment: oral\n", "the comment stays"
    assert standing(course) == {("ada", "softmax"): (8, False, "oral", "Prof")}
    assert grade("mark", "ada", "softmax", "--score", "8", "--course", "c").out == (
        "ada softmax: nothing changes: this mark is set already\n"
    )
    assert grade("mark", "ada", "softmax", "--excuse", "--comment", "", "--course", "c").out == (
        "ada softmax: excused\n"
    )
    assert standing(course) == {("ada", "softmax"): (None, True, "", me)}
    assert grade("mark", "ada", "softmax", "--withdraw", "--course", "c").out == "ada softmax: withdrawn\n"
    assert standing(course) == {}
    listed = grade("mark", "list", "--history", "--course", "c", "--json").json()
    assert [(m["score"], m["excused"], m["comment"]) for m in listed] == [
        (7.5, False, "oral"),
        (8, False, "oral"),
        (None, True, ""),
        (None, False, ""),
    ]
    assert grade("mark", "list", "--course", "c").out == "no mark was set by hand\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("adda", "softmax", "--score", "1"), "no student 'adda' is in this course; did you mean Ada (ada)?"),
        (("ada", "softmx", "--score", "1"), "there is no column 'softmx'; did you mean 'softmax'?"),
        (("ada", "softmax-weights", "--score", "1"), "there is no column 'softmax-weights'"),
        (("ada", "week/softmax", "--score", "1"), "there is no column 'week/softmax'; did you mean 'week/"),
        (("ada", "weak/softmax-weights", "--score", "1"), "there is no column 'weak/softmax-weights'"),
        (("ada", "softmax", "--score", "10.5"), "softmax has 10 points, and 10.5 are more"),
        (("ada", "softmax", "--score", "-1"), "this isn't a possible score"),
        (("ada", "softmax", "--score", "nan"), "this isn't a possible score"),
        (("ada", "softmax", "--score", "inf", "--allow-extra"), "this isn't a possible score"),
        (("ada", "softmax"), "say what to set, or use --withdraw by itself"),
        (("ada", "softmax", "--withdraw", "--score", "1"), "say what to set, or use --withdraw by itself"),
        (("ada", "softmax", "--excuse", "--score", "1"), "--score and --excuse contradict each other"),
        (("ada", "softmax", "--withdraw"), "ada softmax: there is no mark to withdraw"),
        (("ada", "softmax", "--score", "1", "--by", "a\x1bb"), "--by can't be used"),
        (("ada", "softmax", "--comment", "x" * 5001), "the comment is too long"),
    ],
)
def test_what_cant_be_is_refused(grade, course: Course, arguments: tuple[str, ...], message: str) -> None:
    said = grade("mark", *arguments, "--course", "c")
    assert said.code == 2 and said.out == ""
    assert said.err.startswith(f"error: {message}")
    assert standing(course) == {}


def test_more_than_the_full_points_needs_a_word(grade, course: Course) -> None:
    assert grade("mark", "ada", "softmax", "--score", "12", "--allow-extra", "--course", "c").code == 0
    assert standing(course)[("ada", "softmax")][0] == 12


def test_a_question_of_a_quiz_and_an_id_with_zeros(grade, course: Course) -> None:
    assert grade("mark", "007", "week/softmax-weights", "--score", "1", "--course", "c").code == 0
    said = grade("mark", "list", "--course", "c")
    head, row = (re.split(r"\s{2,}", line.strip()) for line in said.out.splitlines())
    assert head == ["student", "column", "mark", "comment", "by", "at (UTC)"]
    assert row[:3] == ["007", "week/softmax-weights", "1"]


def test_whom_an_id_without_its_zeros_was_taken_for_is_said(grade, course: Course) -> None:
    said = grade("mark", "set", "7", "week/softmax-weights", "--score", "1", "--course", "c")
    assert (said.code, said.err) == (0, "note: 7 was matched to 007 in the roster\n")
    assert grade("mark", "set", "007", "week/softmax-weights", "--score", "1", "--course", "c").err == ""


def test_practice_has_no_marks(grade, course: Course) -> None:
    assert "there is no course here" in grade("mark", "ada", "softmax", "--score", "1").err
    (course.folder / "course.yaml").write_text("title: T\nmode: practice\n")
    assert "has no marks" in grade("mark", "ada", "softmax", "--score", "1", "--course", "c").err


TABLE = """\
student;column;score;comment;excused
ada;softmax;7,5;=well done;
bob;softmax;;;yes
007;week/softmax-weights;0;;
"""


def test_a_table_is_stored_once(grade, course: Course) -> None:
    Path("m.csv").write_text(TABLE)
    said = grade("mark", "import", "m.csv", "--course", "c", "--by", "Prof")
    assert (said.code, said.out, said.err) == (0, "3 stored, 0 were there already, 0 at fault\n", "")
    expected = {
        ("ada", "softmax"): (7.5, False, "=well done", "Prof"),
        ("bob", "softmax"): (None, True, "", "Prof"),
        ("007", "week/softmax-weights"): (0, False, "", "Prof"),
    }
    assert standing(course) == expected
    again = grade("mark", "import", "m.csv", "--course", "c", "--by", "Else", "--json")
    assert again.json() == {"stored": 0, "stood": 3, "faults": []}
    assert standing(course) == expected
    with course.open_store() as store:
        assert len(store.hand_marks.history()) == 3


FAULTY = """\
student,column,score,comment,excused
ada,softmax,7,,
eve,softmax,7,,
bob,softmx,7,,
bob,softmax,eleven,,
bob,softmax,3,,
007,softmax,3,,maybe
007,sdpa,3,,yes
007,softmax,99,,
ada,sdpa,,,
ada,sdpa,1,,,,x
"""


def test_each_faulty_line_is_told_and_nothing_is_stored(grade, course: Course) -> None:
    Path("m.csv").write_text(FAULTY)
    said = grade("mark", "import", "m.csv", "--course", "c")
    assert said.code == 2 and standing(course) == {}
    told = [line.removeprefix("error: ") for line in said.err.splitlines() if "m.csv:" in line]
    assert told == [
        "m.csv:3:1: no student 'eve' is in this course",
        "m.csv:4:1: there is no column 'softmx'; did you mean 'softmax'?; "
        "the id of a code exercise, or QUIZ/ITEM, as in the gradebook",
        "m.csv:5:1: the score is 'eleven'; a number such as 7.5, or nothing",
        "m.csv:6:1: bob softmax is in line 5 already",
        "m.csv:7:1: excused is 'maybe'; yes, no, or nothing",
        "m.csv:8:1: there is a score, and the student is excused; one of the two",
        "m.csv:9:1: 007 softmax is in line 7 already",
        "m.csv:10:1: this line says nothing; a score, a comment or excused",
        "m.csv:11:1: 7 cells, but the first line names 5",
    ]
    said = grade("mark", "import", "m.csv", "--course", "c", "--keep-going")
    assert (said.code, said.out) == (1, "1 stored, 0 were there already, 9 at fault\n")
    assert list(standing(course)) == [("ada", "softmax")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the table of marks is empty"),
        ("student,score\nada,1\n", "the first line must name the columns, `column` among them"),
        ("student,column,scor\nada,softmax,1\n", "column 'scor' isn't known; did you mean 'score'?"),
        ("student,column,student\nada,softmax,1\n", "column 'student' appears twice"),
    ],
)
def test_what_is_no_table_of_marks(grade, course: Course, text: str, message: str) -> None:
    Path("m.csv").write_text(text)
    said = grade("mark", "import", "m.csv", "--course", "c")
    assert said.code == 2 and said.err.startswith("error: m.csv:1") and message in said.err
    assert standing(course) == {}


# --- grade course check ---


def test_a_new_course_has_nothing_to_mind(grade, course: Course) -> None:
    said = grade("course", "check", "--course", "c")
    assert (said.code, said.out, said.err) == (0, "nothing to report\n", "")


def test_an_address_that_takes_no_mail_is_a_warning(grade, course: Course) -> None:
    (course.folder / "roster.csv").write_text("id,name,email\nada,Ada,ada@\n")
    said = grade("course", "check", "--course", "c")
    assert said.code == 1
    assert said.out.splitlines()[0] == (
        "warning: c/roster.csv:2:1: 'ada@' isn't an email address: this person gets no sign-in links"
    )


def test_warnings_and_faults_come_with_their_lines(grade, course: Course) -> None:
    path = course.folder / "course.yaml"
    path.write_text("title: T\npolicies:\n  assignments:\n    weak: {due: 2026-11-06}\n")
    said = grade("course", "check", "--course", "c")
    assert said.code == 1
    assert said.out == (
        "warning: c/course.yaml:4:5: there is no quiz or code exercise 'weak'; did you mean 'week'?\n"
        "        weak: {due: 2026-11-06}\n"
        "        ^\n"
        "1 warning\n"
    )
    path.write_text("title: T\npolicies:\n  assignments:\n    weak: {due: 2026-02-30}\n")
    (course.folder / "roster.csv").write_text(ROSTER + "ada,Again\n")
    said = grade("course", "check", "--course", "c", "--json")
    assert said.code == 2
    found = said.json()
    assert found["warnings"] == []
    assert [(f["file"], f["line"], f["column"]) for f in found["faults"]] == [
        ("c/course.yaml", 4, 17),
        ("c/roster.csv", 5, 1),
    ]
    assert found["faults"][0]["message"] == "there is no such date: 2026-02-30"


def test_the_deadline_of_a_drawn_quiz_is_looked_at(grade, course: Course) -> None:
    assert grade("quiz", "deadline", "week", "2026-11-06T12:00+00:00", "--course", "c").code == 0
    (course.folder / "course.yaml").write_text(
        "title: T\npolicies:\n  assignments: {week: {due: 2026-11-06}}\n"
    )
    said = grade("course", "check", "--course", "c")
    assert said.code == 1
    assert "due 2026-11-06 here, but the quiz itself is open until 2026-11-06 12:00" in said.out


def test_an_extension_opens_the_quiz_for_that_student_alone(grade, course: Course) -> None:
    """The quiz closed long ago, but who has more time in course.yaml sees no solution yet."""
    blueprint = course.blueprints / "week.yaml"
    more = "deadline: 2020-11-06T12:00+00:00\nshow_before: nothing\nshow_after: solution\n"
    blueprint.write_text(blueprint.read_text() + more)
    assert grade("quiz", "new", "week", "--name", "old", "--course", "c").code == 0
    rules = "title: T\npolicies:\n  assignments: {old: {due: 2020-11-06}}\n"
    (course.folder / "course.yaml").write_text(
        rules + "  extensions: [{student: ada, assignment: old, due: 2999-01-01}]\n"
    )
    shown = {
        student: grade("submit", next((course.quizzes / "old").glob(f"*{student}*.yaml")), "--json").json()
        for student in ("ada", "bob")
    }
    assert (shown["ada"]["shown"], shown["bob"]["shown"]) == ("nothing", "solution")


def test_there_must_be_a_course(grade) -> None:
    said = grade("course", "check")
    assert said.code == 2 and said.err.startswith("error: there is no course here")


# --- grade batch under rules ---


def test_an_impossible_date_stops_no_grading(grade, course: Course) -> None:
    """Everything is graded and stored, marks are as graded; the exit code says that something is wrong."""
    path = course.folder / "course.yaml"
    rules = "title: T\npolicies:\n  marked_late: {days: 2}\n"
    rules += "  assignments:\n    week: {due: %s, late: {percent: 25}}\n"
    path.write_text(rules % "2026-02-30")
    (quiz,) = (course.quizzes / "week").glob("*ada*.yaml")
    with course.open_store() as store:
        (drawn,) = store.quizzes("week", "ada")
    key = drawn.questions[0].variant.parts[0].key
    assert key is not None
    text = re.sub(r"(?m)^(\s*answer:).*$", lambda m: f"{m[1]} '{list(key.data)}'", quiz.read_text())
    Path("in").mkdir()
    Path("in/ada_LATE_1_2_week.yaml").write_text(text)
    said = grade("batch", "in", "--out", "out", "--course", "c", "--json")
    assert said.code == 1, said.err
    result = said.json()
    assert result["graded"] == 1
    assert [(p["where"], p["message"]) for p in result["problems"]] == [
        (
            "c/course.yaml:5:17",
            "there is no such date: 2026-02-30; no rule about marks was applied: marks are as graded, "
            "and students' pages show no results",
        )
    ]
    with course.open_store() as store:
        (attempt,) = store.attempts(student="ada", mode=Mode.MARKS)
    full = attempt.report.score
    assert full and f'"ada","Ada",{full:g},{full:g}' in Path("out/gradebook.csv").read_text()
    path.write_text(rules % "2026-11-06")
    assert grade("batch", "in", "--out", "out", "--course", "c").code == 0
    why = f"2 days late, as the learning system marked it: 50 % off, {full / 2:g} of {full:g}"
    assert f'"ada","Ada",{full / 2:g},{full:g},"{why}",{full / 2:g}' in Path("out/gradebook.csv").read_text()
