"""``grade new item``: a file of each type that is valid from the first second, and never a lost file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.authoring.scaffold import KINDS
from engine.items import load_spec

ITEM_TYPES = {"single_choice_pool": "single_choice"}


@pytest.mark.parametrize("kind", KINDS)
def test_each_type_is_valid_as_it_is_written(grade, kind: str) -> None:
    item = f"my-{kind.replace('_', '-')}"
    said = grade("new", "item", item, "--type", kind)
    assert said.code == 0, said.err
    path = Path(said.out.splitlines()[0].removeprefix("wrote "))
    assert path == (Path(item) / f"{item}.yaml" if kind == "code" else Path(f"{item}.yaml"))

    spec = load_spec(path)
    assert spec.kind == ITEM_TYPES.get(kind, kind)
    assert spec.title == item.replace("-", " ").capitalize()
    checked = grade("lint", "--strict", path)
    assert (checked.code, checked.out) == (0, "1 item checked: 0 errors, 0 warnings\n")

    text = path.read_text(encoding="utf-8")
    assert not re.search(r"@[A-Z]+@", text), "a placeholder is left"
    assert max(map(len, text.splitlines())) <= 120
    notes = [line for line in text.splitlines() if line.lstrip().startswith("# ")]
    assert len(notes) >= 8
    assert f"#     grade preview {path}" in notes


def test_every_type_but_none_other_is_offered(grade) -> None:
    from engine.items.problem_spec import json_schema

    answers = {
        model["properties"]["type"]["const"]
        for name, model in json_schema()["$defs"].items()
        if name.endswith("Answer")
    }
    assert {ITEM_TYPES.get(kind, kind) for kind in KINDS} - {"steps"} == answers
    assert "single_choice_pool" in grade("new", "item", "x", "--type", "essay").err


def test_it_says_what_to_do_next(grade) -> None:
    said = grade("new", "item", "mine", "--type", "vector", "--title", 'A "new" one: 100 %')
    assert said.out.splitlines() == [
        "wrote mine.yaml",
        "  change what it asks; the notes in it say how",
        "  see it while you write:  grade preview mine.yaml",
        "  check it:                grade lint mine.yaml",
    ]
    assert load_spec(Path("mine.yaml")).title == 'A "new" one: 100 %'


def test_a_code_exercise_is_a_folder_with_working_files(grade) -> None:
    told = grade("new", "item", "my-softmax", "--type", "code", "--folder", "week 3", "--json").json()
    folder = Path("week 3/my-softmax")
    assert told["files"] == [
        str(folder / name)
        for name in ("my-softmax.yaml", "exercise.py", "starter.py", "solution.py", "mutants/no_max_shift.py")
    ]
    assert told["next"]["lint"] == "grade lint 'week 3/my-softmax/my-softmax.yaml'"
    assert told["type"] == "code"
    for name in ("starter.py", "solution.py", "mutants/no_max_shift.py"):
        assert "def my_softmax(x):" in (folder / name).read_text(encoding="utf-8")
    assert grade("lint", folder / "my-softmax.yaml").code == 0
    solution = (folder / "solution.py").read_text(encoding="utf-8")
    (folder / "solution.py").write_text(solution.replace("x - x.max(axis=-1, keepdims=True)", "x"))
    assert "solution.py doesn't pass check large" in grade("lint", folder / "my-softmax.yaml").out


def test_in_a_course_it_goes_to_the_courses_problems(grade, monkeypatch: pytest.MonkeyPatch) -> None:
    grade("init", "course")
    said = grade("new", "item", "mine", "--type", "token", "--course", "course")
    assert said.out.startswith("wrote course/problems/mine.yaml\n")
    assert grade("lint", "mine", "--course", "course").code == 0
    monkeypatch.chdir("course/problems")
    assert grade("new", "item", "other", "--type", "number", "--folder", "rnn").code == 0
    assert Path("rnn/other.yaml").is_file()
    assert grade("show", "other").code == 0
    assert grade("new", "item", "third", "--type", "number").out.startswith("wrote third.yaml\n")


def test_nothing_is_overwritten(grade) -> None:
    grade("new", "item", "mine", "--type", "number")
    before = Path("mine.yaml").read_bytes()
    said = grade("new", "item", "mine", "--type", "vector")
    assert said.code == 2
    assert "nothing is overwritten" in said.err
    assert "next: choose another id" in said.err
    assert Path("mine.yaml").read_bytes() == before

    Path("code-item").mkdir()
    Path("code-item/solution.py").write_text("mine")
    assert grade("new", "item", "code-item", "--type", "code").code == 2
    assert [path.name for path in Path("code-item").iterdir()] == ["solution.py"]
    assert Path("code-item/solution.py").read_text() == "mine"


def test_an_id_stays_unique_in_a_course(grade) -> None:
    grade("init", "course")
    grade("new", "item", "mine", "--type", "number", "--course", "course")
    said = grade(
        "new", "item", "mine", "--type", "token", "--course", "course", "--folder", "course/problems/a"
    )
    assert said.code == 2
    assert "the course has an item mine already" in said.err
    assert not Path("course/problems/a").exists()
    built_in = grade("new", "item", "softmax-weights", "--type", "token", "--course", "course")
    assert built_in.code == 0
    assert "takes the place of the built-in item softmax-weights" in built_in.out
    assert "Softmax weights\n" in grade("show", "softmax-weights", "--course", "course").out


def test_a_file_is_checked_with_the_sentences_of_its_course(grade) -> None:
    grade("init", "course")
    grade("new", "item", "mine", "--type", "number", "--course", "course")
    path = Path("course/problems/mine.yaml")
    text = re.sub(r"    feedback: This is the weight.*\n", "", path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")
    Path("course/problems/misconceptions.yaml").write_text("m-other-weight: The other one.\n")
    assert grade("lint", path, "--course", "course").code == 0
    assert "m-other-weight" in grade("lint", path).err


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["My Item", "--type", "number"], "this can't be an item's id"),
        (["../evil", "--type", "number"], "this can't be an item's id"),
        (["x" * 65, "--type", "number"], "this can't be an item's id"),
        (["misconceptions", "--type", "number"], "holds something else than an item"),
        (["a-function-with-a-name-that-goes-on", "--type", "code"], "too long"),
        (["mine", "--type", "number", "--title", "a\nb: c"], "--title can't be used"),
        (["mine", "--type", "number", "--title", "ab"], "--title can't be used"),
        (["mine", "--type", "number", "--folder", "file"], "this isn't a folder"),
    ],
)
def test_what_no_item_can_be_called_is_refused(grade, arguments: list[str], what: str) -> None:
    Path("file").write_text("a file")
    said = grade("new", "item", *arguments)
    assert said.code == 2
    assert what in said.err
    assert [path.name for path in Path().iterdir()] == ["file"]
