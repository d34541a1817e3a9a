"""``grade quiz take`` of what can't be taken: one message with a next step, exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

BAD = {
    "missing": (None, "no such file"),
    "empty": (b"", "empty"),
    "utf16": (b"\xff\xfeq\0", "the file must hold keys and values (key: value), not the text 'q'"),
    "utf16-cut": (b"\xff\xfeq\0:", "the file is saved as UTF-16"),
    "binary": (bytes(range(256)), "error"),
    "not-yaml": (b"quiz: [1\n", "bad.yaml:1:7"),
    "alias": (b"quiz: &a x\nquestions: [*a]\n", "bad.yaml:1"),
    "unknown": (b"quiz: ffffffffffffffffffff\nquestions: [{number: 1}]\n", "isn't in the store"),
    "no-blueprint": (b"title: x\n", "'sections' is missing"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_taken(grade, typing, name: str) -> None:
    content, words = BAD[name]
    if content is not None:
        Path("bad.yaml").write_bytes(content)
    typing("a", "", "")
    said = grade("quiz", "take", "bad.yaml")
    assert said.code == 2, said
    assert said.err.startswith("error: ") and words in said.err
    assert said.out == ""


def test_a_folder_and_an_unknown_name(grade) -> None:
    Path("folder.yaml").mkdir()
    assert "is a folder" in grade("quiz", "take", "folder.yaml").err
    said = grade("quiz", "take", "nothing-here")
    assert said.code == 2 and "l16" in said.err
    Path("w.py").write_text("x = 1\n", encoding="utf-8")
    said = grade("quiz", "take", "w.py")
    assert said.code == 2 and "w.py: this is neither a quiz file nor a blueprint" in said.err


def test_an_answer_edited_into_nonsense_is_told_and_recorded_nowhere(classroom, grade, typing) -> None:
    classroom.plan("title: W\nsections:\n- {items: [t-sum]}\n")
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    path = classroom.file("007")
    path.write_text(path.read_text(encoding="utf-8").replace("answer: ''", "answer: seven"))
    typing("")
    said = grade("quiz", "take", path)
    assert said.code == 2 and "Nothing was recorded" in said.out
    assert classroom.scores("007") == []
    typing("1", classroom.key("007", 1), "")  # changed before it is handed in
    assert grade("quiz", "take", path).code == 0
