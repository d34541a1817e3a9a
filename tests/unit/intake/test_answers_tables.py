"""Tables as forms and learning systems export them → rows of answers."""

from __future__ import annotations

from datetime import date, datetime, time
from pathlib import Path

import openpyxl
import pytest

from engine.errors import IntakeError
from engine.intake.answer_rows import ClassAnswers, read_table
from engine.intake.row_hand_ins import read_class_yaml


def table(tmp_path: Path, text: str) -> ClassAnswers:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    return read_table(path, "t.csv")


def told(answers: ClassAnswers) -> dict[str, str]:
    return {problem.where: problem.message for problem in answers.problems}


@pytest.mark.parametrize(
    ("head", "who"),
    [
        ("id,1,2", {"id": "ada"}),
        ("Student,1,2", {"name": "ada"}),
        ("login,1,2", {"login": "ada"}),
        ("E-Mail,1,2", {"email": "ada"}),
    ],
)
def test_a_plain_table(tmp_path: Path, head: str, who: dict[str, str]) -> None:
    found = table(tmp_path, f'{head}\nada,b,"[0.1, 0.9]"\n')
    (row,) = found.rows
    assert (row.line, row.who, row.answers) == (2, who, {"1": "b", "2": "[0.1, 0.9]"})
    assert found.heads == {"1": 1, "2": 1} and not found.problems and not found.ignored


def test_quiz_and_time_may_have_columns(tmp_path: Path) -> None:
    (row,) = table(tmp_path, "quiz;id;section;1;handed\nweek-1;ada;S1;b;2026-03-01 12:00\n").rows
    assert (row.quiz, row.handed, row.answers) == ("week-1", "2026-03-01 12:00", {"1": "b"})


def test_a_google_form(tmp_path: Path) -> None:
    (row,) = table(
        tmp_path,
        "Timestamp,Username,Total score,1. Softmax,1. Softmax [Score],1. Softmax [Feedback],Q2\n"
        '2026/03/01 2:15:30 PM GMT+1,ada@b,0 / 2,"[0.1, 0.9]",0,,b\n',
    ).rows
    assert row.who == {"login": "ada@b"} and row.handed == "2026/03/01 2:15:30 PM GMT+1"
    assert row.answers == {"1. Softmax": "[0.1, 0.9]", "Q2": "b"}


def test_a_google_form_that_asks_for_the_id(tmp_path: Path) -> None:
    (row,) = table(tmp_path, "Zeitstempel,Student ID,1\n01.03.2026 14:15:30,ada,b\n").rows
    assert (row.who, row.answers) == ({"id": "ada"}, {"1": "b"})


def test_the_responses_of_a_moodle_quiz(tmp_path: Path) -> None:
    head = '"Last name","First name","ID number","Email address",State,"Started on",Completed,"Time taken"'
    found = table(
        tmp_path,
        f'{head},Grade/10.00,"Question 1","Response 1","Response 2"\n'
        'Lovelace,Ada,7,ada@b,Finished,"1 March 2026 2:15 PM","1 March 2026 2:30 PM","15 mins",5,Q?,b,-\n'
        'Smith,Bob,8,bob@b,"In progress","1 March 2026 2:15 PM",-,-,-,Q?,a,-\n'
        '"Overall average",,,,,,,,5.00,,,\n',
    )
    (row,) = found.rows
    assert row.who == {"id": "7", "email": "ada@b", "first": "Ada", "last": "Lovelace"}
    assert row.answers == {"Response 1": "b", "Response 2": ""} and row.handed == "1 March 2026 2:30 PM"
    assert told(found) == {"t.csv:3": "this attempt wasn't handed in: its state is 'In progress'"}
    assert found.ignored == ("t.csv:4: Overall average",)


def test_a_row_that_is_shifted_isnt_read(tmp_path: Path) -> None:
    found = table(tmp_path, "id,1,2\nada,0.1,0.9,b\nbob,a,b,\neve,a\n")
    assert told(found) == {"t.csv:2": "4 fields, but the header has 3"}
    assert [row.answers for row in found.rows] == [{"1": "a", "2": "b"}, {"1": "a", "2": ""}]


def test_a_head_that_stands_twice_is_told(tmp_path: Path) -> None:
    found = table(tmp_path, "id,1,2,1\nada,a,b,c\n")
    assert found.rows[0].answers == {"2": "b"}
    assert told(found) == {"t.csv:1": "two columns are headed '1': which one counts isn't known"}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "there is no row in it"),
        ("\n\n;;\n", "there is no row in it"),
        ("1,2,3\na,b,c\n", "the first line names no column that says who answered"),
        ("section,1\nS1,b\n", "the first line names no column that says who answered"),
    ],
)
def test_no_table(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(IntakeError, match=what) as caught:
        table(tmp_path, text)
    assert str(caught.value.where).startswith("t.csv:")


# --- workbooks ---


def workbook(tmp_path: Path, *rows: list[object], name: str = "t.xlsx") -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / name)
    return tmp_path / name


def test_a_microsoft_form(tmp_path: Path) -> None:
    head = ["ID", "Start time", "Completion time", "Email", "Name", "Total points", "1", "Points - 1", "2b"]
    begun, done = datetime(2026, 3, 1, 14, 0), datetime(2026, 3, 1, 14, 15, 30)
    path = workbook(
        tmp_path, head, [1, begun, done, "ada@b", "Ada", 3, 0.25, 1, "b"], [2, begun, done, "anonymous", ""]
    )
    first, second = read_table(path, "t.xlsx").rows
    assert first.who == {"email": "ada@b", "name": "Ada"} and first.handed == "2026-03-01 14:15:30"
    assert first.answers == {"1": "0.25", "2b": "b"} and first.line == 2
    assert second.who == {}


def test_cells_of_a_workbook_are_text(tmp_path: Path) -> None:
    values = [7, 7.0, 0.1, 1e-7, 1.5e20, True, "=1+1", " 0,5 ", date(2026, 2, 1), time(1, 2)]
    path = workbook(tmp_path, ["id", *"abcdefghij"], ["ada", *values])
    (row,) = read_table(path, "t.xlsx").rows
    assert list(row.answers.values()) == [
        *("7", "7", "0.1", "1e-07", "1.5e+20", "TRUE", "=1+1", "0,5", "2026-02-01 00:00:00"),
        "01:02:00",
    ]


def test_the_first_sheet_that_holds_anything(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.create_sheet("answers")
    sheet.cell(3, 1, "id")
    sheet.cell(3, 2, "1")
    sheet.cell(5, 1, "ada")
    sheet.cell(5, 2, "b")
    book.save(tmp_path / "t.xlsx")
    (row,) = read_table(tmp_path / "t.xlsx", "t.xlsx").rows
    assert (row.line, row.answers) == (5, {"1": "b"})


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"id,1\nada,b\n", b"\xd0\xcf\x11\xe0" + bytes(600)])
def test_no_workbook(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "t.xlsx").write_bytes(data)
    with pytest.raises(IntakeError, match="isn't a workbook that can be read"):
        read_table(tmp_path / "t.xlsx", "t.xlsx")


def test_a_damaged_workbook(tmp_path: Path) -> None:
    data = bytearray(workbook(tmp_path, ["id", "1"], ["ada", "b"]).read_bytes())
    for start in range(60, len(data), 400):
        (tmp_path / "t.xlsx").write_bytes(bytes(data[:start]) + b"\xff" * 8 + bytes(data[start + 8 :]))
        try:
            read_table(tmp_path / "t.xlsx", "t.xlsx")
        except IntakeError as error:
            assert "workbook" in error.what or "row" in error.what or "first line" in error.what


def test_a_workbook_that_unpacks_to_too_much(tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "t.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b" " * (65 * 2**20))
    with pytest.raises(IntakeError, match="too large"):
        read_table(tmp_path / "t.xlsx", "t.xlsx")


# --- YAML ---


def of_yaml(tmp_path: Path, text: str) -> ClassAnswers:
    path = tmp_path / "t.yaml"
    path.write_text(text, encoding="utf-8")
    return read_class_yaml(path, "t.yaml")


def test_a_mapping_of_students(tmp_path: Path) -> None:
    found = of_yaml(
        tmp_path,
        "quiz: week-1\n"
        'ada: {softmax-weights: "[0.1, 0.9]", 1: b}\n'
        "007:\n  - {1: a, handed: 2026-03-01 12:00}\n  - 1: 0.50\n    2.w: [0.1,\n      0.2]\n    3:\n"
        "      - x\n      - y\n    4:\n",
    )
    assert [(row.line, row.who["id"], row.quiz, row.handed) for row in found.rows] == [
        (2, "ada", "week-1", ""),
        (4, "007", "week-1", "2026-03-01 12:00"),
        (5, "007", "week-1", ""),
    ]
    assert [row.answers for row in found.rows] == [
        {"softmax-weights": "[0.1, 0.9]", "1": "b"},
        {"1": "a"},
        {"1": "0.50", "2.w": "[0.1,\n      0.2]", "3": "x, y", "4": ""},
    ]
    assert not found.problems


def test_a_list_of_hand_ins(tmp_path: Path) -> None:
    found = of_yaml(
        tmp_path,
        "- {student: ada, quiz: week-2, 1: b}\n- email: bob@b\n  answers: {1: a, 2: 0.1}\n- {1: c}\n- d\n",
    )
    assert [(row.who, row.quiz, row.answers) for row in found.rows] == [
        ({"name": "ada"}, "week-2", {"1": "b"}),
        ({"email": "bob@b"}, "", {"1": "a", "2": "0.1"}),
    ]
    assert list(told(found)) == ["t.yaml:4", "t.yaml:5"]


def test_entries_that_are_none_are_told_with_their_lines(tmp_path: Path) -> None:
    found = of_yaml(tmp_path, "ada: {1: b}\nbob: b\neve: [b]\nada: {1: c}\n")
    assert [row.who["id"] for row in found.rows] == ["ada"]
    assert {where: what.split(",")[0] for where, what in told(found).items()} == {
        "t.yaml:4": "the key 'ada' appears here twice; first on line 1",
        "t.yaml:2": "expected a mapping of answers",
        "t.yaml:3": "expected a mapping of answers",
    }


@pytest.mark.parametrize(
    "text", ["ada: [", "a: &x 1\nb: *x\n", "!!python/object:os.system {}\n", "just text"]
)
def test_no_class_yaml(tmp_path: Path, text: str) -> None:
    with pytest.raises(IntakeError) as caught:
        of_yaml(tmp_path, text)
    assert caught.value.diagnostics[0].file == "t.yaml"
