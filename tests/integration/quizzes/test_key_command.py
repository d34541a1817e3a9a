"""``grade quiz key``: everything that marks a quiz, for its lecturer's eyes alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

PLAN = "title: 'W <b>'\ncredit: [1, 0.5]\nsections:\n- {items: [t-sum, t-pick]}\n"


@pytest.fixture
def week(classroom, grade):
    classroom.plan(PLAN)
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    return classroom


def test_the_key_marks_every_answer_right(week, grade) -> None:
    said = grade("quiz", "key", "week", "--course", "course", "--json")
    keys = said.json()
    assert [entry["student"] for entry in keys] == ["007", "s2"]
    for entry in keys:
        answers = {q["number"]: q["parts"][0]["key"] for q in entry["questions"]}
        path = week.answer_file(entry["student"], answers, "mine.yaml")
        assert grade("submit", path, "--course", "course").code == 0
        assert all(q["solution"] and q["parts"][0]["policy"] for q in entry["questions"])


def test_the_terminal_shows_one_student(week, grade) -> None:
    said = grade("quiz", "key", "week", "--student", "s2", "--course", "course")
    assert said.code == 0
    assert "s2 · W <b> (quiz week, id " in said.out and "007 ·" not in said.out
    assert f"Key: {week.key('s2', 1)}" in said.out
    assert f"✓ ({week.key('s2', 2)})" in said.out
    assert said.out.count("✓") == 1 and said.out.count("Solution: ") == 2
    assert max(map(len, said.out.splitlines())) < 200 and "\x1b" not in said.out


def test_a_students_file_names_its_quiz(week, grade) -> None:
    said = grade("quiz", "key", week.file("s2"), "--json")
    assert [entry["student"] for entry in said.json()] == ["s2"]
    said = grade("quiz", "key", week.file("s2"), "--student", "007")
    assert said.code == 2 and "this file is s2's" in said.err
    Path("x.yaml").write_text("title: x\n")
    said = grade("quiz", "key", "x.yaml", "--course", "course")
    assert said.code == 2 and "isn't a student's quiz file" in said.err


def test_variants_of_later_attempts_are_in_it(week, grade, typing) -> None:
    typing(week.key("007", 1), week.wrong("007", 2), "", "2")
    grade("quiz", "take", week.file("007"))
    (entry,) = grade("quiz", "key", "week", "--student", "007", "--course", "course", "--json").json()
    assert [(q["number"], q["retry"]) for q in entry["questions"]] == [(1, 0), (2, 0), (2, 1)]
    assert entry["questions"][2]["parts"][0]["key"] == week.key("007", 2, retry=1)
    said = grade("quiz", "key", "week", "--student", "007", "--course", "course")
    assert "variant of retry 1" in said.out


@pytest.mark.skipif(os.name != "posix", reason="POSIX rights")
def test_the_page_is_for_its_owner_alone(week, grade) -> None:
    (week.folder / "roster.csv").write_text('id,name\n007,"<script>alert(1)</script>"\ns2,Zoë\n')
    Path("key.html").write_text("old")
    Path("key.html").chmod(0o666)
    said = grade("quiz", "key", "week", "--course", "course", "--html", "key.html")
    assert said.code == 0 and "mode 0600" in said.out
    assert stat.S_IMODE(Path("key.html").stat().st_mode) == 0o600
    page = Path("key.html").read_text(encoding="utf-8")
    assert week.key("007", 1) in page and "Zoë" in page and "W &lt;b&gt;" in page
    assert "<script" not in page and "&lt;script&gt;" in page
    assert [path.name for path in Path().iterdir() if path.name.startswith(".")] == []


def test_no_key_is_written_where_students_look(week, grade) -> None:
    for target in ("course/quizzes/key.html", "course/quizzes/week/key.html", "course/quizzes/new/key.html"):
        Path(target).parent.mkdir(exist_ok=True)
        said = grade("quiz", "key", "week", "--course", "course", "--html", target)
        assert said.code == 2 and "students' files lie there" in said.err, target
        assert not Path(target).exists()
    Path("handout").mkdir()
    assert grade("quiz", "new", "week", "--course", "course", "--out", "handout").code == 0
    said = grade("quiz", "key", "week", "--course", "course", "--html", "handout/key.html")
    assert said.code == 2 and "week-007.yaml" in said.err
    Path("link").symlink_to("course/quizzes")
    said = grade("quiz", "key", "week", "--course", "course", "--html", "link/key.html")
    assert said.code == 2


def test_wrong_questions_get_an_answer(week, grade) -> None:
    cases = [
        (["key", "none"], "expected: week"),
        (["key", "week", "--student", "nobody"], "no draw for nobody"),
        (["key", "week", "--attempt", "3"], "as attempt 3"),
        (["key", "week", "--json", "--html", "k.html"], "don't go together"),
        (["key", "week", "--html", "no/such/folder/k.html"], "can't be written"),
        (["key", "nothere.yaml"], "isn't a student's quiz file"),
    ]
    for arguments, words in cases:
        said = grade("quiz", *arguments, "--course", "course")
        assert said.code == 2 and words in said.err, arguments
    assert "grade quiz new first" in grade("quiz", "key", "week").err, "outside the course nothing was drawn"


@pytest.mark.skipif(os.name != "posix", reason="POSIX rights")
def test_a_secret_that_others_may_read_is_told(week, grade) -> None:
    (week.folder / ".softmark/secret").chmod(0o644)
    said = grade("quiz", "key", "week", "--course", "course")
    assert said.code == 2 and "others may read" in said.err
