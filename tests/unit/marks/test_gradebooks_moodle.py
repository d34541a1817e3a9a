"""Moodle: files for its grade import, its own export filled, and grading worksheets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.course import Roster
from engine.errors import UsageError
from engine.marks.class_table import StudentRow
from engine.marks.gradebooks import GradebookFile, GradebookRequest, NoticeKind, gradebook_format
from tests.unit.marks.some_class import ROSTER, ROWS, SOFTMAX, TABLE, TITLES, cell, read_csv, told

EXPORTS = Path(__file__).parent / "exports"
GRADEBOOK = EXPORTS / "moodle-gradebook.csv"
WORKSHEET = EXPORTS / "moodle-worksheet.csv"
EVE = '\'=HYPERLINK("http://x","Eve")'


def moodle(**more) -> GradebookFile:
    request = GradebookRequest(table=TABLE, roster=ROSTER, titles=TITLES)
    return gradebook_format("moodle").make(replace(request, **more))


def test_a_new_file_names_people_by_address_and_says_none_by_a_dash() -> None:
    made = moodle()
    assert read_csv(made.content) == [
        ["Email address", "Full name", "Attention by hand", "Write softmax"],
        ["ada@example.org", "Ada Lovelace", "3.5", "8"],
        ["bjoern@example.org", "Björn Müller", "1", "-"],
        ["chiara@example.org", "Chiara Rossi", "2.5", "-"],
        ["dan@example.org", "Dan Nothing", "-", "-"],
        ["eve@example.org", EVE, "0", "-"],
    ]
    assert made.marks == 5
    assert told(made, NoticeKind.UNGRADED) == [("0012", "Write softmax: not graded yet, no mark is written")]


@pytest.mark.parametrize(
    ("key", "head", "first"), [("idnumber", "ID number", "007"), ("username", "Username", "ada")]
)
def test_people_can_be_named_by_number_or_login(key: str, head: str, first: str) -> None:
    rows = read_csv(moodle(key=key).content)
    assert (rows[0][0], rows[1][0]) == (head, first)


def test_numbers_are_used_where_somebody_has_no_address() -> None:
    roster = Roster((*ROSTER.students[:4], replace(ROSTER.students[4], email="")))
    assert read_csv(moodle(roster=roster).content)[0][0] == "ID number"


def test_whom_moodle_does_not_know_is_left_out_and_listed() -> None:
    guest = StudentRow("guest", "", {SOFTMAX.id: cell(4.0, 10.0)}, in_roster=False)
    roster = Roster((*ROSTER.students[:4], replace(ROSTER.students[4], email="")))
    made = moodle(roster=roster, key="email", table=replace(TABLE, rows=(*ROWS, guest)))
    assert [row[0] for row in read_csv(made.content)[1:]] == [s.email for s in ROSTER.students[:4]]
    more = "left out, because Moodle refuses a file with people whom it doesn't know"
    assert told(made, NoticeKind.ABSENT) == [
        ("15", f"has no Email address in the roster: {more}"),
        ("guest", f"isn't in the roster: {more}"),
    ]


def test_comments_stand_beside_the_marks() -> None:
    rows = read_csv(moodle(feedback=True, columns=("HW 1=softmax", "All=l16+softmax")).content)
    assert rows[0][2:] == ["HW 1", "HW 1 (feedback)", "All", "All (feedback)"]
    assert rows[1][2:] == [
        "8", "2 days late: 20 % off, 8 of 10",
        "11.5", "softmax: 2 days late: 20 % off, 8 of 10",
    ]  # fmt: skip
    assert rows[3][3] == "excused; get well soon"
    assert rows[4][2:] == ["-", "", "-", ""]


# --- its own export ---


def test_an_export_is_filled_and_keeps_the_rest() -> None:
    made = moodle(into=GRADEBOOK)
    before, after = read_csv(GRADEBOOK.read_bytes()), read_csv(made.content)
    assert made.headings == {"Assignment: Attention by hand (Real)": "l16", "Write softmax": "softmax"}
    assert [row[6] for row in after[1:]] == ["3.5", "1", "2.5", "3.00"]
    assert [row[11:] for row in after] == [["Write softmax"], ["8"], ["-"], [""], [""]]
    assert [[*row[:6], *row[7:11]] for row in after] == [[*row[:6], *row[7:]] for row in before]
    assert ("Write softmax", "new column: choose “New grade item” for it when you import the file") in told(
        made, NoticeKind.NOTE
    )
    assert told(made, NoticeKind.ABSENT) == [("15", "has marks and no row in the file")]
    assert told(made, NoticeKind.UNTOUCHED) == [
        ("13", "Write softmax: excused here; say so in the learning system yourself"),
        ("14", "Assignment: Attention by hand (Real): nothing was handed in, and 3.00 stays in the file"),
    ]


def test_comments_go_to_the_column_that_moodle_has_for_them() -> None:
    made = moodle(into=GRADEBOOK, columns=("Assignment: Attention by hand (Real)=softmax",), feedback=True)
    rows = read_csv(made.content)
    assert [row[7] for row in rows[1:]] == [
        "2 days late: 20 % off, 8 of 10",
        "",
        "excused; get well soon",
        "by hand",
    ]
    assert len(rows[0]) == 11


@pytest.mark.parametrize(
    ("text", "what"),
    [("Name,Points\nAda,3\n", "this isn't a Moodle gradebook"), ("", "the gradebook is empty")],
)
def test_another_file_is_refused(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "moodle.csv"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        moodle(into=path)
    assert caught.value.what == what


def test_an_export_does_not_say_full_points() -> None:
    with pytest.raises(UsageError) as caught:
        moodle(into=GRADEBOOK, scale=True)
    assert caught.value.what == "only a grading worksheet says its full points"


# --- worksheets ---


def test_a_worksheet_gets_grades_scaled_to_its_maximum_and_comments() -> None:
    made = moodle(into=WORKSHEET, columns=("Grade=softmax",), scale=True, feedback=True)
    before, after = read_csv(WORKSHEET.read_bytes()), read_csv(made.content)
    assert [(row[5], row[10]) for row in after[1:]] == [
        ("80", "2 days late: 20 % off, 8 of 10"),
        ("", ""),  # ungraded: Moodle skips a blank grade
        ("", "excused; get well soon"),
        ("", "no file"),
        ("", ""),  # can't be changed
    ]
    assert [[*row[:5], *row[6:10]] for row in after] == [[*row[:5], *row[6:10]] for row in before]
    assert told(made, NoticeKind.UNGRADED) == [
        ("0012", "Grade: not graded yet, no mark is written (40.00 was there)")
    ]
    assert told(made, NoticeKind.UNTOUCHED) == [
        ("15", "Grade: Moodle says that it can't be changed; our mark isn't written"),
        ("13", "Grade: excused here; say so in the learning system yourself"),
    ]
    assert told(made, NoticeKind.UNKNOWN) == []


def test_a_participants_number_is_nobodys_id() -> None:
    # "Participant 15" is Chiara's row, and 15 is Eve's id.
    rows = tuple(replace(row, cells={SOFTMAX.id: cell(5.0, 10.0)}) for row in ROWS if row.student == "13")
    made = moodle(into=WORKSHEET, columns=("Grade=softmax",), table=replace(TABLE, rows=rows))
    assert [row[5] for row in read_csv(made.content)[1:]] == ["", "40.00", "5", "", ""]
    assert ("Grade", "100 full points in the file, 10 here: marks are written unscaled (--scale)") in told(
        made, NoticeKind.UNTOUCHED
    )


@pytest.mark.parametrize("columns", [(), ("HW=l16",), ("Grade=l16", "Maximum Grade=softmax")])
def test_a_worksheet_is_about_one_assignment(columns: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        moodle(into=WORKSHEET, columns=columns)
    assert caught.value.what == "a worksheet is about one assignment"
    assert caught.value.expected == '--column "Grade=ID" with one of: l16, softmax'


def test_a_worksheet_without_comments_is_told(tmp_path: Path) -> None:
    path = tmp_path / "worksheet.csv"
    path.write_text('Identifier,"Full name",Grade,"Maximum Grade"\n"Participant 1","Ada Lovelace",,10\n')
    with pytest.raises(UsageError) as caught:
        moodle(into=path, columns=("Grade=softmax",), feedback=True)
    assert caught.value.what == "the worksheet has no column for comments"
    made = moodle(into=path, columns=("Grade=softmax",))
    assert read_csv(made.content)[1] == ["Participant 1", "Ada Lovelace", "8", "10"]
    assert told(made, NoticeKind.BY_NAME) == [(f"{path}:2", "matched to 007 by the name alone")]
    assert not made.is_complete
