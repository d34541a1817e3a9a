"""Which store a command uses: the course's, that of SOFTMARK_STORE, or that of --store."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.course import Course
from engine.store import open_store
from tests.live.postgres import PASSWORD, server

ITEM = "l16-ex3-softmax-weights"


@pytest.fixture
def course(grade) -> Path:
    assert grade("init", "course").code == 0
    return Path("course")


def kept(target: Path | str) -> list[str]:
    with open_store(target) as store:
        return [attempt.student for attempt in store.attempts()]


def test_the_option_stands_above_the_variable_and_that_above_the_course(
    grade, course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit = ("submit", ITEM, "--answer", "b", "--course", course)
    assert grade(*submit, "--student", "a").code == 1
    monkeypatch.setenv("SOFTMARK_STORE", "other.db")
    assert grade(*submit, "--student", "b").code == 1
    assert grade(*submit, "--student", "c", "--store", "third.db").code == 1
    with Course.open(course).open_store() as store:
        assert [attempt.student for attempt in store.attempts()] == ["a"]
    assert kept("other.db") == ["b"]
    assert kept("third.db") == ["c"]


def test_a_course_on_a_server(grade, course: Path) -> None:
    url = server().new_database()
    assert (
        grade("submit", ITEM, "--answer", "b", "--student", "a", "--course", course, "--store", url).code == 1
    )
    assert kept(url) == ["a"]
    with Course.open(course).open_store() as store:
        assert list(store.attempts()) == []


def test_practice_outside_a_course_isnt_moved_by_the_variable(grade, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOFTMARK_STORE", "other.db")
    assert grade("batch", "no-such-folder", "--out", "out").code == 2
    assert not Path("other.db").exists()


@pytest.mark.parametrize("address", ["sqlite:///x.db", "mysql://me:word@host/x", ""])
def test_an_address_of_another_kind_is_bad_usage(grade, course: Path, address: str) -> None:
    said = grade("quiz", "deadline", "week", "--course", course, "--store", address)
    assert said.code == 2
    assert "error: --store can't be used" in said.err and "word" not in said.err


def test_a_server_that_cant_be_used_is_told_without_the_password(grade, course: Path) -> None:
    url = server().url("not_made")
    said = grade("quiz", "deadline", "week", "--course", course, "--store", url)
    assert said.code == 3
    assert "this database doesn't exist on the server" in said.err
    assert PASSWORD not in said.err
