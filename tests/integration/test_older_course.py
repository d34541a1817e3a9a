"""A course made by an older version is read as it is: roster, quizzes, marks, a quiz that is half taken.

``older/course.tar.xz`` was written by the commands of commit 155391f, the last one before the engine's
modules were merged: ``grade init``, ``quiz new`` (a quiz with every kind of question, four students),
``batch`` with three students' quizzes and programs, ``mark``, ``quiz take`` stopped after one answer, and
``regrade`` of a corrected item. Beside the course lie what s04 hands in ``later``, and what that version
printed (``expected``): its gradebook before and after s04's submission, and its answer keys.
"""

from __future__ import annotations

import json
import sqlite3
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.course.course import Course
from engine.model import GradeReport, Quiz, Variant
from engine.store.sql_tables import decode, encode

ARCHIVE = Path(__file__).parent / "older" / "course.tar.xz"


@pytest.fixture
def older(tmp_path: Path, grade: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The older version's course in the current folder (`grade` changes to another one first)."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


def expected(folder: Path, name: str) -> str:
    return (folder / "expected" / name).read_text(encoding="utf-8")


def test_the_gradebook_is_the_same(older: Path, grade: Callable[..., Any]) -> None:
    assert grade("export", "csv", "--out", "now.csv", "--course", "course").code == 0
    assert (older / "now.csv").read_text(encoding="utf-8") == expected(older, "marks.csv")


def test_a_quiz_that_was_drawn_then_is_marked_with_its_own_keys(
    older: Path, grade: Callable[..., Any]
) -> None:
    assert grade("batch", "later", "--course", "course", "--out", "results").code == 0
    assert grade("export", "csv", "--out", "now.csv", "--course", "course").code == 0
    assert (older / "now.csv").read_text(encoding="utf-8") == expected(older, "marks-later.csv")


def test_what_is_graded_stays_graded(older: Path, grade: Callable[..., Any]) -> None:
    said = grade("batch", "in", "--course", "course", "--out", "results")
    assert said.code == 0
    assert "0 files graded, 6 kept from before" in said.out


@pytest.mark.parametrize(
    ("quiz", "name"),
    [("every-kind", "key.txt"), ("course/quizzes/every-kind/every-kind-s04.yaml", "key-s04.txt")],
)
def test_the_answer_keys_are_the_same(older: Path, grade: Callable[..., Any], quiz: str, name: str) -> None:
    said = grade("quiz", "key", quiz, "--course", "course")
    assert said.code == 0
    assert said.out.strip() == expected(older, name).strip()


def with_later_keys(kind: type[Any], document: dict[str, Any]) -> dict[str, Any]:
    """Add what has joined since, with the value that stands for not known."""
    if kind is GradeReport:
        return {"library": None, "marking": []} | document
    if kind is not Quiz:
        return document
    questions = [{"show_before": None, "show_after": None} | q for q in document["questions"]]
    return document | {"questions": questions, "rules": {"time_limit": None} | document["rules"]}


@pytest.mark.parametrize(
    ("kind", "column", "table", "rows"),
    [
        (Quiz, "quiz", "quizzes", 4),
        (Variant, "variant", "attempts", 27),
        (GradeReport, "report", "attempts", 30),
    ],
)
def test_what_is_stored_as_json_is_written_as_it_was_read(
    older: Path, kind: type[Any], column: str, table: str, rows: int
) -> None:
    """This JSON is the form in which quizzes and marks live for years: reading loses and renames nothing."""
    with sqlite3.connect(older / "course/.softmark/store.db") as connection:
        query = f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL"
        texts = [text for (text,) in connection.execute(query)]
    assert len(texts) == rows
    for text in texts:
        assert json.loads(encode(decode(kind, text, table))) == with_later_keys(kind, json.loads(text))


def test_marks_by_hand_regrades_and_the_store_are_sound(older: Path, grade: Callable[..., Any]) -> None:
    listed = grade("mark", "list", "--course", "course")
    assert listed.code == 0 and "s02" in listed.out and "7.5" in listed.out and "Prof. Weber" in listed.out
    sound = grade("store", "check", "--course", "course")
    assert sound.code == 0 and "regrades    3" in sound.out and "is sound" in sound.out
    with Course.open(older / "course").open_store() as store:
        assert len(store.quizzes("every-kind")) == 4


def test_pages_and_reports_are_made_of_it(older: Path, grade: Callable[..., Any]) -> None:
    assert grade("batch", "in", "--course", "course", "--out", "results").code == 0
    page = (older / "results/students/s02.html").read_text(encoding="utf-8")
    assert "explained it" in page and "7.5" in page
    assert grade("report", "--course", "course", "--out", "report").code == 0
    assert (older / "report/index.html").is_file()
    assert grade("similar", "--course", "course", "--out", "alike").code in (0, 1)
