"""``grade import`` as a person calls it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Grade = Callable[..., Any]

FILES = Path(__file__).parents[1] / "unit/importing/files"
GIFT = FILES / "attention.gift"
XML = FILES / "attention.xml"


def test_into_a_folder_and_graded_there(grade: Grade) -> None:
    said = grade("import", XML, "--out", "drafts")
    assert said.code == 0
    assert "drafts/scaled-score.yaml (number): Scaled score" in said.out
    assert "line 27: 50 % for 'Only the largest weight changes.' isn't kept" in said.out
    assert "skipped, line 85: Explain (essay)\n  a free text is marked by a person\n  next: " in said.out
    assert "6 imported, 5 skipped" in said.out
    assert "key typed by hand: give a key expression (1): scaled-score" in said.out
    files = sorted(Path("drafts").glob("*.yaml"))
    assert len(files) == 6
    assert grade("lint", *files).code == 0


def test_into_the_course_and_used_there(grade: Grade) -> None:
    assert grade("init", "course").code == 0
    said = grade("import", GIFT, "--course", "course")
    assert said.code == 0
    assert Path("course/problems/bottleneck.yaml").is_file()
    assert "course/problems/bottleneck.yaml" in said.out
    shown = grade("show", "tanh", "--course", "course", "--json")
    assert shown.json()["title"] == "Tanh"
    right = grade("submit", "tanh", "--answer", "0.462", "--course", "course")
    assert right.code == 0
    wrong = grade("submit", "two-ranges", "--answer", "4", "--course", "course")
    assert wrong.code == 1
    assert "Nearly." in wrong.out


def test_again_adds_nothing(grade: Grade) -> None:
    grade("import", GIFT, "--out", "drafts")
    said = grade("import", GIFT, "--out", "drafts")
    assert said.code == 0
    assert "0 imported, 10 there already, 2 skipped" in said.out


def test_a_folder_that_cant_be_made_is_refused(grade: Grade) -> None:
    Path("taken").write_text("x", encoding="utf-8")
    said = grade("import", GIFT, "--out", "taken")
    assert said.code == 2 and "taken: the items can't be written there: it is a file" in said.err
    Path("link").symlink_to("nowhere/at/all")
    said = grade("import", GIFT, "--out", "link")
    assert said.code == 2 and "got: a file of this name\n" in said.err
    assert Path("taken").read_text(encoding="utf-8") == "x"


def test_json(grade: Grade) -> None:
    said = grade("import", GIFT, "--out", "drafts", "--json")
    told = said.json()
    assert (told["format"], told["encoding"], told["encoding_guessed"]) == ("gift", "utf-8", False)
    assert told["key_typed_by_hand"] == ["tanh", "range"]
    tanh = next(item for item in told["items"] if item["id"] == "tanh")
    assert tanh == {
        "id": "tanh",
        "file": "drafts/tanh.yaml",
        "type": "number",
        "name": "Tanh",
        "line": 26,
        "new": True,
        "notes": [],
        "key_typed_by_hand": True,
        "suggested_keys": ["tanh(0.5)"],
    }
    assert told["skipped"][0]["type"] == "description"
    assert told["faults"] == []


def test_a_broken_file_is_refused_with_every_fault(grade: Grade) -> None:
    Path("q.gift").write_text("::a::x{=y1 ~z1}\n\n::b::x{=y1\n\n::c::x{#z}", encoding="utf-8")
    said = grade("import", "q.gift", "--out", "drafts")
    assert said.code == 2
    assert "q.gift:3:7: this { isn't closed" in said.err
    assert "    ::b::x{=y1\n          ^" in said.err
    assert "q.gift:5:9: 'z' isn't a number in GIFT" in said.err
    assert not Path("drafts").exists()
    told = grade("import", "q.gift", "--out", "drafts", "--json")
    assert told.code == 2
    assert [(fault["line"], fault["column"]) for fault in told.json()["error"]["faults"]] == [(3, 7), (5, 9)]


def test_keep_going_takes_what_is_sound(grade: Grade) -> None:
    Path("q.gift").write_text("::a::x{=y1 ~z1}\n\n::c::x{#z}", encoding="utf-8")
    said = grade("import", "q.gift", "--out", "drafts", "--keep-going")
    assert said.code == 1
    assert "q.gift:3:9: 'z' isn't a number" in said.err
    assert "1 imported, 1 fault left out" in said.out
    assert [path.name for path in Path("drafts").iterdir()] == ["a.yaml"]


def test_nothing_that_can_be_used_is_told_by_the_exit_code(grade: Grade) -> None:
    Path("q.gift").write_text("Write something.{}", encoding="utf-8")
    said = grade("import", "q.gift", "--out", "drafts")
    assert said.code == 1
    assert "0 imported, 1 skipped" in said.out


def test_old_windows_text_is_read_and_said(grade: Grade) -> None:
    Path("q.gift").write_bytes("::ä::Größe – “x”?{=y1 ~z1}".encode("cp1252"))
    said = grade("import", "q.gift", "--out", "drafts")
    assert said.code == 0
    assert "it was read as Windows-1252" in said.out
    assert "Größe – “x”?" in Path("drafts/a.yaml").read_text(encoding="utf-8")


def test_marks_of_the_terminal_are_shown_and_not_obeyed(grade: Grade) -> None:
    Path("q.gift").write_text(
        "::[bold red]a[/] \x1b[31m::x {{ y }}{}\n\n::b::x{=[red]y1 ~z1}", encoding="utf-8"
    )
    said = grade("import", "q.gift", "--out", "drafts", "--keep-going")
    assert "\x1b" not in said.out + said.err
    assert "[bold red]a[/]" in said.out + said.err


def test_usage(grade: Grade) -> None:
    assert grade("import", GIFT).code == 2
    assert "name a folder with --out" in grade("import", GIFT).err
    missing = grade("import", "no.xml", "--out", "x")
    assert (missing.code, "no.xml: there is no such file" in missing.err) == (2, True)
    forced = grade("import", GIFT, "--format", "moodle", "--out", "x")
    assert forced.code == 2
    assert f"{GIFT}:1:1" in forced.err
