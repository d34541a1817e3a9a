"""The same typed answers give the same marks in every kind of file; no row of any table is lost."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import openpyxl
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.answers import right_responses, wrong_responses
from engine.course import Roster, Student
from engine.errors import IntakeError
from engine.hand_ins import AnswerTable, FilledQuiz, IntakeResult
from engine.intake.row_hand_ins import take_answers
from engine.intake.spreadsheet_cells import damage
from engine.items import builtin_bank
from engine.model import Mode, Quiz
from engine.quiz import as_answered, compose, fill_in_text, grade_quiz, read_blueprint, read_filled
from engine.store import Store, open_store
from engine.text.tables import read_delimited

BLUEPRINTS = Path(__file__).parents[2] / "problems/blueprints"
NAMES = ["l16", "week-2-attention", "week-3-decoder"]
ROSTER = Roster((Student("ada", "Ada Lovelace", "ada@b", "al"), Student("007", "Emmy Nöther", "e@b", "en")))
MANY = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("store") / "store.db") as opened:
        for name in NAMES:
            plan = read_blueprint(BLUEPRINTS / f"{name}.yaml")
            opened.save_quizzes(compose(plan, builtin_bank(), ["ada"], secret=b"s" * 32, name=name))
        yield opened


Typed = dict[int, dict[str, str]]


@st.composite
def answers(draw: st.DrawFn, quiz: Quiz) -> Typed:
    """Something typed into each field: right in any notation, a known mistake, nothing, nonsense."""
    nonsense = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=12)
    found: Typed = {}
    for question in quiz.questions:
        for part in question.variant.parts:
            pool = [*right_responses(part), *(text for text, _ in wrong_responses(part)), ""]
            text = draw(st.one_of(st.sampled_from(pool), nonsense)).strip()
            # what a spreadsheet could have made isn't marked at all: tested elsewhere
            found.setdefault(question.number, {})[part.id] = "" if damage(text) or text[:1] == "'" else text
    return found


def marks(quiz: Quiz, filled: FilledQuiz, store: Store) -> dict[str, tuple[object, float | None]]:
    asked = as_answered(store, quiz, filled.retries, filled.questions)
    return {r.item: (r.outcome, r.score) for r in grade_quiz(filled, asked, mode=Mode.MARKS)}


def taken(store: Store, path: Path, quiz: str) -> IntakeResult:
    return take_answers(
        IntakeResult((), tables=(AnswerTable(path, path.name),)), store, roster=ROSTER, quiz=quiz
    )


def row_of(quiz: Quiz, typed: Typed, draw: st.DrawFn) -> dict[str, str]:
    """The answers by heads, each question called by number or item."""
    row: dict[str, str] = {}
    for question in quiz.questions:
        name = draw(st.sampled_from([str(question.number), f"Q{question.number}", question.variant.item]))
        for part in question.variant.parts:
            head = name if len(question.variant.parts) == 1 else f"{name}.{part.id}"
            row[head] = typed[question.number][part.id]
    return row


def as_csv(row: dict[str, str], delimiter: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerows([["id", *row], ["ada", *row.values()]])
    return out.getvalue()


def as_number(text: str) -> str | float:
    """A cell as Excel keeps it: what looks like a number is one."""
    try:
        number = float(text) if text and set(text) <= set("0123456789.-") else None
    except ValueError:
        return text
    return text if number is None else number


@MANY
@given(data=st.data(), name=st.sampled_from(NAMES))
def test_the_same_answers_give_the_same_marks(
    data: st.DataObject, name: str, store: Store, tmp_path: Path
) -> None:
    (quiz,) = store.quizzes(name)
    typed = data.draw(answers(quiz))
    row = row_of(quiz, typed, data.draw)
    wanted = marks(quiz, read_filled(fill_in_text(quiz, typed)), store)
    encoding = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    (tmp_path / "a.csv").write_text(as_csv(row, data.draw(st.sampled_from(",;\t"))), encoding, newline="")
    (tmp_path / "a.yaml").write_text(yaml.safe_dump({"ada": row}, allow_unicode=True), encoding="utf-8")
    book = openpyxl.Workbook()
    book.active.append(["id", *row])
    book.active.append(["ada"])
    for at, text in enumerate(row.values(), start=2):
        cell = book.active.cell(2, at, as_number(text))
        if isinstance(cell.value, str):
            cell.data_type = "s"
    book.save(tmp_path / "a.xlsx")
    for kind in ("csv", "yaml", "xlsx"):
        intake = taken(store, tmp_path / f"a.{kind}", name)
        assert not intake.problems, kind
        files = [file for student in intake.students for file in student.files]
        if not any(row.values()):
            assert not files and len(intake.ignored) == 1
            continue
        (file,) = files
        assert file.filled is not None and marks(quiz, file.filled, store) == wanted, kind


LINES = [
    "id,1,softmax-weights,3,handed",
    'ada,b,"[0.1, 0.9]",x,2026-03-01 12:00',
    "007,a,,,",
    "stranger,b,c,d,e",
    "ada,1,2,3,4,5",
    ',,"',
    "Ada Lovelace,01.Feb,=1+1,#N/A,3/4/2026 1:00",
    "",
    "x,l16,y",
]
MESS = st.lists(
    st.one_of(st.sampled_from(LINES), st.text(st.sampled_from('ab1,;"\t =\u00e9\ufeff\u202e'), max_size=20)),
    max_size=12,
)


@given(lines=MESS, end=st.sampled_from(["\n", "\r\n", "\r"]), encoding=st.sampled_from(["utf-8", "utf-16"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_row_of_any_table_is_lost(
    lines: list[str], end: str, encoding: str, store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(end.join(lines).encode(encoding))
    intake = taken(store, path, "l16")
    places = [file.name for student in intake.students for file in student.files]
    places += [problem.where for problem in intake.problems]
    places += [": ".join(told.split(": ")[:1]) for told in intake.ignored]
    table = read_delimited(path, noun="the table", error=IntakeError, file="a.csv")
    refused = [p for p in intake.problems if "names no column" in p.message or "no row" in p.message]
    if refused:
        return
    for row in table.rows[1:]:
        assert f"a.csv:{row.line}" in places, row
    for fault in table.faults:
        assert f"a.csv:{fault.line}" in places, fault


@given(data=st.binary(max_size=400), kind=st.sampled_from(["csv", "tsv", "xlsx", "yaml"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_problems_and_no_traceback(
    data: bytes, kind: str, store: Store, tmp_path: Path
) -> None:
    path = tmp_path / f"a.{kind}"
    path.write_bytes(data)
    intake = taken(store, path, "l16")
    assert intake.problems or intake.ignored
    assert all(problem.where.startswith(f"a.{kind}") for problem in intake.problems)
