"""Canvas: its file keeps all that isn't ours, and gets every mark that there is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.course import Roster, Student
from engine.errors import UsageError
from engine.marks.class_table import ClassTable, StudentRow
from engine.marks.gradebooks import GradebookFile, GradebookRequest, NoticeKind, gradebook_format
from tests.unit.marks.some_class import (
    COLUMNS,
    ROSTER,
    ROWS,
    SOFTMAX,
    TABLE,
    TITLES,
    cell,
    read_csv,
    told,
)

EXPORTS = Path(__file__).parent / "exports"
CANVAS = EXPORTS / "canvas.csv"


def canvas(into: Path | None = CANVAS, **more) -> GradebookFile:
    request = GradebookRequest(table=TABLE, roster=ROSTER, titles=TITLES, into=into)
    return gradebook_format("canvas").make(replace(request, **more))


def test_marks_go_under_the_headings_of_their_titles_and_all_else_stays() -> None:
    made = canvas()
    before, after = read_csv(CANVAS.read_bytes()), read_csv(made.content)
    assert made.headings == {"Attention by hand (4711)": "l16", "Write softmax (4712)": "softmax"}
    assert [row[7:9] for row in after] == [
        ["Attention by hand (4711)", "Write softmax (4712)"],
        ["Manual Posting", ""],
        ["5", "10"],
        ["3.5", "8"],  # Ada: late, so 8 count
        ["1", ""],  # Björn: softmax is ungraded, and Canvas's 7 is no mark of ours
        ["2.5", "EX"],  # Chiara: 1 of 2 stands for the whole; excused
        ["0", ""],  # Dan handed nothing in: what Canvas has stays
        ["0", "N/A"],  # Eve isn't assigned softmax in Canvas
        ["", ""],
        ["", ""],
    ]
    others = [[*row[:7], *row[9:]] for row in before]
    # The one cell that a spreadsheet would run.
    others[7][0] = "'" + others[7][0]
    assert [[*row[:7], *row[9:]] for row in after] == others
    assert made.marks == 6


def test_what_needs_a_person_is_listed() -> None:
    made = canvas()
    file = str(CANVAS)
    assert told(made, NoticeKind.UNKNOWN) == [(f"{file}:10", "Guest, Gus: 99 isn't in the roster")]
    assert told(made, NoticeKind.ABSENT) == []
    assert told(made, NoticeKind.UNGRADED) == [
        ("0012", "Write softmax (4712): not graded yet, no mark is written (7 was there)")
    ]
    assert told(made, NoticeKind.UNREADABLE) == [
        (
            "15",
            "Write softmax (4712): what was handed in can't be read, no mark is written (N/A was there)",
        )
    ]
    assert told(made, NoticeKind.UNTOUCHED) == [
        ("14", "Attention by hand (4711): nothing was handed in, and 0 stays in the file")
    ]
    assert told(made, NoticeKind.NOTE) == [
        (
            "13",
            "Attention by hand (4711): a part is excused or dropped, so 1 of 2 stands for the whole"
            " and is written as 2.5",
        ),
        (file, "cells that began like a formula and have an apostrophe before them now: 1"),
    ]
    assert not made.is_complete


def test_a_mark_is_not_written_where_canvas_has_the_assignment_for_others_only() -> None:
    rows = tuple(
        replace(row, cells={**row.cells, SOFTMAX.id: cell(10.0, 10.0)}) if row.student == "15" else row
        for row in ROWS
    )
    made = canvas(table=replace(TABLE, rows=rows))
    assert read_csv(made.content)[7][8] == "N/A"
    assert (
        "15",
        "Write softmax (4712): Canvas has this assignment for other students only; our mark isn't written",
    ) in told(made, NoticeKind.UNTOUCHED)


def test_a_misspelt_heading_names_the_one_that_is_there() -> None:
    made = canvas(columns=("Essays (900)=l16/softmax-weights",))
    note = "Canvas makes a new assignment of this column; did you mean"
    assert ("Essays (900)", f'{note} --column "Essay (900)=l16/softmax-weights"?') in told(
        made, NoticeKind.NOTE
    )


def test_named_columns_hold_what_is_asked_for_and_sums() -> None:
    made = canvas(columns=("Essay (900)=l16/softmax-weights", "Everything=l16 + softmax"))
    rows = read_csv(made.content)
    assert rows[0][-1] == "Everything"
    assert rows[2][-1] == "15"
    assert {row[2]: (row[6], row[7], row[-1]) for row in rows[3:7]} == {
        "007": ("2", "", "11.5"),
        "0012": ("1", "2", ""),
        # softmax and a question are excused: 1 of 2 stands for 15
        "13": ("1", "", "7.5"),
        "14": ("0", "0", ""),
    }
    assert ("Everything", "Canvas makes a new assignment of this column") in told(made, NoticeKind.NOTE)
    assert (
        "Essay (900)",
        "20 full points in the file, 2 here: marks are written unscaled (--scale)",
    ) in told(made, NoticeKind.UNTOUCHED)


def test_marks_are_scaled_to_the_points_that_canvas_has() -> None:
    made = canvas(columns=("Essay (900)=l16/softmax-weights",), scale=True)
    assert {row[2]: row[6] for row in read_csv(made.content)[3:6]} == {"007": "20", "0012": "10", "13": "10"}
    assert not [where for where, _ in told(made, NoticeKind.UNTOUCHED) if where == "Essay (900)"]


def test_a_file_with_semicolons_and_decimal_commas_is_written_like_that() -> None:
    path = EXPORTS / "canvas-semicolons.csv"
    made = canvas(path)
    assert made.content.startswith(b"\xef\xbb\xbf")
    rows = read_csv(made.content.removeprefix(b"\xef\xbb\xbf"), ";")
    assert rows[2][6:9] == ["18,5", "3,5", "8"]
    assert len({len(row) for row in rows}) == 1
    assert {where for where, _ in told(made, NoticeKind.ABSENT)} == {"13", "15"}


def test_a_new_file_has_what_canvas_asks_for() -> None:
    made = canvas(None)
    assert read_csv(made.content) == [
        [
            "Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Attention by hand", "Write softmax",
        ],
        ["    Points Possible", "", "", "", "", "5", "10"],
        ["Ada Lovelace", "4001", "007", "ada", "A", "3.5", "8"],
        ["Björn Müller", "4002", "0012", "bjoern", "A", "1", ""],
        ["Chiara Rossi", "4003", "13", "chiara", "B", "2.5", "EX"],
        ["Dan Nothing", "4004", "14", "dan", "B", "", ""],
        ['\'=HYPERLINK("http://x","Eve")', "4005", "15", "eve", "B", "0", ""],
    ]  # fmt: skip
    assert made.marks == 6


def test_somebody_who_is_not_in_the_roster_is_written_and_listed() -> None:
    guest = StudentRow("guest", "", {SOFTMAX.id: cell(4.0, 10.0)}, in_roster=False)
    made = canvas(None, table=replace(TABLE, rows=(*ROWS, guest)))
    assert read_csv(made.content)[-1] == ["guest", "", "guest", "", "", "", "4"]
    assert told(made, NoticeKind.UNKNOWN) == [
        ("guest", "isn't in the roster: check whether Canvas knows this person")
    ]


# --- whose a row is ---


def write(tmp_path: Path, *rows: str, head: str = "Student,ID,SIS User ID,SIS Login ID,Section") -> Path:
    path = tmp_path / "canvas.csv"
    lines = [f"{head},Write softmax (1)", "    Points Possible" + "," * head.count(",") + ",10", *rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def softmax(path: Path, **more) -> GradebookFile:
    return canvas(path, columns=("Write softmax (1)=softmax",), **more)


def filled(made: GradebookFile) -> dict[str, str]:
    return {row[0]: row[-1] for row in read_csv(made.content)[2:]}


@pytest.mark.parametrize(
    ("row", "student"),
    [
        ('"X",,007,,A,', "007"),
        ('"X",,7,,A,', "007"),  # a spreadsheet has taken the zeros
        ('"X",,,ada,A,', "007"),
        ('"X",,,ada@example.org,A,', "007"),
        ('"Muller, Bjorn",,,,A,', "0012"),
    ],
)
def test_a_row_is_found_by_id_login_or_name(tmp_path: Path, row: str, student: str) -> None:
    rows = tuple(replace(r, cells={SOFTMAX.id: cell(3.0, 10.0)}) for r in ROWS if r.student == student)
    made = softmax(write(tmp_path, row), table=replace(TABLE, rows=rows))
    assert list(filled(made).values()) == ["3"]
    by_name = [message for _, message in told(made, NoticeKind.BY_NAME)]
    assert by_name == (["matched to 0012 by the name alone"] if "Muller" in row else [])


def test_a_row_that_names_two_students_is_listed_and_nobody_gets_the_mark(tmp_path: Path) -> None:
    made = softmax(write(tmp_path, '"Rossi, Chiara",4003,007,chiara,A,'))
    assert filled(made) == {"Rossi, Chiara": ""}
    ((where, message),) = told(made, NoticeKind.UNKNOWN)
    assert where.endswith("canvas.csv:3")
    assert message.startswith(
        "Rossi, Chiara: this row names more than one student: id means 007, login means 13"
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        # Nothing but a whole cell is an id: not a word of it, and not what stands before a "_".
        ('"X",,2026_007,,A,', "X: 2026_007 isn't in the roster"),
        ('"Ada",,,ada_else@example.org,A,', "Ada: ada_else@example.org isn't in the roster"),
        ('"ada Else",,,,A,', "ada Else: ada Else isn't in the roster: did you mean 007?"),
        ('"Twin, Tim",,,,A,', "Twin, Tim: this can be t1 or t2"),
        ('"Ada Lovelace",,15,,A,', "Ada Lovelace: this row names more than one student: id means 15, name"),
    ],
)
def test_a_stranger_gets_nobodys_mark(tmp_path: Path, row: str, message: str) -> None:
    twins = (Student("t1", "Tim Twin"), Student("t2", "Tim Twin"))
    made = softmax(write(tmp_path, row), roster=Roster((*ROSTER.students, *twins)))
    assert list(filled(made).values()) == [""]
    assert told(made, NoticeKind.UNKNOWN)[0][1].startswith(message)


def test_two_rows_of_one_student_are_listed_and_none_is_filled(tmp_path: Path) -> None:
    made = softmax(write(tmp_path, '"A",,007,ada,A,', '"B",,007,ada,B,'))
    assert filled(made) == {"A": "", "B": ""}
    assert [m for _, m in told(made, NoticeKind.UNKNOWN)] == [
        "lines 3 and 4 are both this student: none is filled"
    ]


def test_canvas_number_that_equals_another_id_is_not_believed_against_the_name(tmp_path: Path) -> None:
    roster = Roster((Student("13", "Chiara Rossi"),))
    made = softmax(
        write(tmp_path, '"Zoe Else",13,zoe,A,', head="Student,ID,SIS Login ID,Section"), roster=roster
    )
    assert filled(made) == {"Zoe Else": ""}
    assert told(made, NoticeKind.UNKNOWN)[0][1] == "Zoe Else: the number 13 is Chiara Rossi's, the name isn't"


def test_without_a_roster_the_ids_of_the_marks_are_what_is_known(tmp_path: Path) -> None:
    made = softmax(write(tmp_path, '"X",,007,,A,'), roster=Roster())
    assert filled(made) == {"X": "8"}


# --- files and columns that don't fit ---


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "the gradebook is empty"),
        ("Student,ID,Section,HW (1)\nAda,1,A,3\n", "this isn't a Canvas gradebook"),
        ("Name,Points\nPoints Possible,3\n", "this isn't a Canvas gradebook"),
        (
            "Student,ID,Section,HW (1)\n    Points Possible,,,10\nAda,1,A,3,4\n",
            "5 fields, but the header has 4",
        ),
        (
            'Student,ID,Section,HW (1)\n    Points Possible,,,10\n"Ada,1,A,3\n',
            "this line isn't valid CSV: a quotation mark is opened and not closed",
        ),
    ],
)
def test_a_file_that_is_no_gradebook_is_refused_whole(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "canvas.csv"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        canvas(path)
    assert caught.value.what == what
    assert caught.value.where.startswith(str(path))


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        (("Current Score=l16",), "Canvas reads no marks under 'Current Score'"),
        (("Section=l16",), "'Section' can't hold marks: it is read only, or about the student"),
        (("Notes=l16",), "'Notes' can't hold marks: it is read only, or about the student"),
        (("Essay (900)=l17",), "there is no mark for 'l17'"),
        (("Write softmax (471)=softmax",), "the file has no column 'Write softmax (471)'"),
        (("Essay (900)",), "--column can't be read"),
        (("=l16",), "--column can't be read"),
        (("A=l16", "A=softmax"), "two columns are headed 'A'"),
        (("Essay=l16", "Essay (900)=softmax"), "l16 and softmax both go to 'Essay (900)'"),
    ],
)
def test_columns_that_cannot_be_filled_are_refused(columns: tuple[str, ...], what: str) -> None:
    with pytest.raises(UsageError) as caught:
        canvas(columns=columns)
    assert caught.value.what == what


def test_two_headings_of_one_title_have_to_be_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "canvas.csv"
    path.write_text("Student,ID,Section,Write softmax (1),Write softmax (2)\n    Points Possible,,,10,10\n")
    with pytest.raises(UsageError) as caught:
        canvas(path, table=ClassTable("", COLUMNS[2:], ROWS))
    assert caught.value.what == "softmax can go to 'Write softmax (1)' or 'Write softmax (2)'"
    assert caught.value.next_step == 'say which: --column "Write softmax (1)=softmax"'


@pytest.mark.parametrize("heading", ["Softmax Final (11)", "The final one", "CURRENT softmax"])
def test_a_heading_near_canvas_own_totals_is_warned_of(heading: str) -> None:
    for into in (None, CANVAS):
        made = canvas(into, columns=(f"{heading}=softmax",))
        notes = [note for who, note in told(made, NoticeKind.NOTE) if who == heading]
        assert any("total of its own" in note for note in notes), notes
    assert not any("total of its own" in note for _, note in told(canvas(), NoticeKind.NOTE))
