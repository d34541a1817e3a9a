"""Which YAML is a class's answers, and which a student's own quiz or neither."""

from __future__ import annotations

import pytest

from engine.intake.answer_rows import is_class_yaml


@pytest.mark.parametrize(
    "text",
    [
        "ada: {1: b}\n",
        "quiz: week-1\nada: {1: b}\n",
        "\ufeff# a comment\nquiz: week-1\nada:\n  1: b\n",
        'ada:   # first\n  1: b\n"007": {1: b}\n',
        "- student: ada\n  1: b\n",
        "-\n  student: ada\n",
        "ada:\n- {1: b}\n",
        "---\nada: [{1: b}]\n",
    ],
)
def test_a_class(text: str) -> None:
    assert is_class_yaml(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "just text",
        "x: 1\n",
        "quiz: abc\ntitle: T\n",
        "quiz: abc\nstudent: ada\nquestions:\n- number: 1\n",
        "quiz: abc\nquestions: []\n",
        "---\n# nothing\n",
    ],
)
def test_no_class(text: str) -> None:
    assert not is_class_yaml(text)
