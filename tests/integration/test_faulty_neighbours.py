"""One spoilt problem file of a course never stands in the way of the other items."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

FAULTY = {
    "empty.yaml": b"",
    "binary.yaml": b"\x00\x01\x02",
    "cp1252.yaml": "title: caf\xe9\n".encode("cp1252"),
    "open-bracket.yaml": b"id: [\n",
    "list-only.yaml": b"- 1\n",
    "two-keys.yaml": b"id: two-keys\nid: two-keys\n",
    "alias.yaml": b"a: &a [*a]\n",
    "Bad Name.yaml": b"id: x\n",
}


@pytest.fixture
def course(grade) -> Path:
    assert grade("init", "course", "--example").code == 0
    problems = Path("course/problems")
    for name, content in FAULTY.items():
        (problems / name).write_bytes(content)
    (problems / "dangling.yaml").symlink_to("/nonexistent")
    os.mkfifo(problems / "fifo.yaml")
    (problems / "a").mkdir()
    (problems / "b").mkdir()
    for folder in "ab":
        (problems / folder / "doubled.yaml").write_text("id: doubled\n", encoding="utf-8")
    return Path("course")


SPOILT = sorted([*(Path(name).stem for name in FAULTY), "dangling", "fifo", "doubled"])


def test_list_shows_the_others_and_names_each_spoilt_file(grade, course: Path) -> None:
    whole = {row["item"] for row in grade("list", "--json").json()}
    said = grade("list", "--course", course, "--json")
    assert said.code == 2
    assert {row["item"] for row in said.json()} == whole
    left_out = [line for line in said.err.splitlines() if line.startswith("left out: ")]
    assert len(left_out) == len(SPOILT)
    for name in SPOILT:
        assert any(f"/{name}.yaml:" in line for line in left_out), name


def test_other_items_are_shown_and_answered(grade, course: Path) -> None:
    assert grade("show", "softmax-weights", "--course", course).code == 0
    said = grade("submit", "softmax-weights", "--answer", "1, 2, 3", "--course", course)
    assert said.code == 1


@pytest.mark.parametrize("name", SPOILT)
def test_a_spoilt_item_says_what_is_wrong(grade, course: Path, name: str) -> None:
    said = grade("show", name, "--course", course)
    assert said.code == 2
    assert f"{name}.yaml:" in said.err


def test_a_quiz_is_drawn_from_the_readable_items(grade, course: Path) -> None:
    said = grade("quiz", "new", "example", "--course", course, "--json")
    assert said.code == 0
    assert len(said.json()) == 5
    assert "left out: " in said.err


def test_a_course_without_a_folder_of_problems_uses_the_built_in_bank(grade, course: Path) -> None:
    shutil.rmtree(course / "problems")
    assert grade("list", "--course", course).code == 0


@pytest.mark.parametrize(
    ("option", "word", "near"), [("--type", "vectr", "vector"), ("--topic", "softmx", "softmax")]
)
def test_a_filter_that_no_item_meets_suggests_the_nearest(grade, option: str, word: str, near: str) -> None:
    said = grade("list", option, word, "--json")
    assert said.code == 2
    assert said.json()["error"]["next_step"] == f"did you mean {near}?"


@pytest.mark.parametrize("name", ["../../elsewhere", "..", "/tmp/x", "a\x1b[2Jb", " "])
def test_a_quiz_name_that_leads_elsewhere_is_refused(grade, name: str) -> None:
    grade("init", "course", "--example")
    said = grade("quiz", "new", "example", "--course", "course", "--name", name, "--student", "z")
    assert said.code == 2
    assert not Path("elsewhere").exists()
    assert list(Path("course/quizzes").iterdir()) == []


@pytest.mark.parametrize("student", ["", "  ", "a\x1b[2Jb", "x" * 101, "a\nb"])
def test_an_id_that_nobody_can_type_again_is_refused(grade, student: str) -> None:
    grade("init", "course", "--example")
    said = grade("quiz", "new", "example", "--course", "course", "--student", student)
    assert said.code == 2
    assert "--student" in said.err


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_damaged_practice_secret_draws_nothing(grade, tmp_path: Path, content: bytes) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "secret").write_bytes(content)
    (home / "secret").chmod(0o600)
    said = grade("quiz", "new", "l16", "--out", "quizzes")
    assert said.code == 2
    assert str(home / "secret") in said.err


def test_a_store_of_an_unknown_kind_is_a_fault_of_course_yaml(grade) -> None:
    grade("init", "course", "--example")
    settings = Path("course/course.yaml")
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace("store: .softmark/store.db", "store: foo://bar"), encoding="utf-8")
    said = grade("list", "--course", "course")
    assert said.code == 2
    assert "course.yaml:5:8: a store is a path" in said.err


@pytest.mark.parametrize("name", ["", " "])
def test_a_course_without_a_name_is_not_made_here(grade, name: str) -> None:
    assert grade("init", name).code == 2
    assert list(Path().iterdir()) == []


def test_batch_takes_only_a_code_exercise_as_item(grade, course: Path) -> None:
    Path("handed/ada").mkdir(parents=True)
    Path("handed/ada/softmax.py").write_text("def softmax(x, axis=-1):\n    return x\n", encoding="utf-8")
    said = grade("batch", "handed", "--course", course, "--item", "softmax-weights", "--out", "out", "--json")
    assert said.code == 2
    expected = said.json()["error"]["expected"]
    offered = expected.removeprefix("--item with one of: ").split(", ")
    assert {"sdpa", "softmax"} <= set(offered) and "l16-full-pass" not in offered
    assert not Path("out").exists()


def test_settings_and_starters_in_another_encoding_are_read_or_refused(grade, course: Path) -> None:
    """Every file of a course is decoded by the readers that know encodings, whichever command opens it."""
    path = course / "course.yaml"
    path.write_bytes(path.read_text(encoding="utf-8").encode("utf-16"))
    assert grade("course", "check", "--course", course).code in (0, 1)
    assert grade("new", "item", "t-code", "--type", "code", "--course", course).code == 0
    starter = next((course / "problems").rglob("starter*.py"))
    starter.write_bytes("# caf\u00e9\n".encode("latin-1") + starter.read_bytes())
    for command in (("show", "t-code"), ("start", "t-code", "--to", "x.py")):
        said = grade(*command, "--course", course)
        assert said.code == 2, said
        assert "Softmark itself failed" not in said.err and starter.name in said.err
