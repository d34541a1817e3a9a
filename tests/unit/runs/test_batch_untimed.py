"""To which hand-ins rules about late work can't be applied, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engine.course.policies import Policies
from engine.hand_ins import FileKind, HandedFile, IntakeResult, StudentFiles
from engine.marks.open_problems import untimed
from engine.model import Part, Quiz, QuizQuestion, RenderedText, Variant
from engine.store import open_store

NOW = datetime(2026, 11, 20, tzinfo=UTC)
LATE = {"due": "2026-11-06", "late": {"percent": 10}}


def code(student: str, **more: Any) -> HandedFile:
    name = f"{student}/softmax.py"
    file = HandedFile(Path(name), name, FileKind.CODE, "softmax", name, known_as=("softmax.py", "softmax"))
    return replace(file, **more)


def quiz_file(quiz: str) -> HandedFile:
    known_as = ("w.yaml", f"quiz {quiz}")
    return HandedFile(Path("w.yaml"), "w.yaml", FileKind.QUIZ, None, quiz, known_as=known_as)


def found(
    tmp_path: Path, rules: dict[str, Any], files: dict[str, HandedFile], layout: str = "moodle", **more: Any
) -> tuple[dict[str, int], dict[str, int]]:
    intake = IntakeResult(
        tuple(StudentFiles(name, (file,)) for name, file in files.items()),
        layout=layout,
        marks_late=layout == "canvas",
    )
    word = RenderedText("w", "<p>w</p>", "w")
    variant = Variant("v", "item", "v", "Q", word, (Part("answer", "number", 2.0),))
    with open_store(tmp_path / "store.db") as store:
        store.save_quizzes([Quiz("q1", "week-2", "Week 2", "ada", (QuizQuestion(1, variant, 2.0),))])
        policies = Policies.model_validate(rules)
        result = untimed(intake, store, policies, ungraded=more.get("unread", ()), now=NOW)
    return dict(result.without_time), dict(result.marked_late)


BOTH = {"assignments": {"softmax": LATE, "week-2": LATE}}
CLASS = {"ada": quiz_file("q1"), "bob": code("bob"), "eve": code("eve"), "kim": quiz_file("unknown")}


def test_hand_ins_without_a_time_are_counted_by_assignment(tmp_path: Path) -> None:
    assert found(tmp_path, BOTH, CLASS) == ({"week-2": 1, "softmax": 2}, {})
    assert found(tmp_path, BOTH, CLASS, unread=[("eve", "eve/softmax.py")])[0] == {"week-2": 1, "softmax": 1}


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"assignments": {"softmax": {"due": "2026-11-06"}}},  # late work loses nothing
        {"assignments": {"softmax": LATE | {"due": "2026-11-27"}}},
        {"assignments": {"softmax": LATE | {"due": "2026-11-19", "grace": 2880}}},
        {
            "assignments": {"softmax": LATE},
            "extensions": [{"student": "bob", "assignment": "softmax", "days": 30}],
        },
        {"assignments": {"softmax": LATE}, "excused": [{"student": "bob", "assignment": "softmax"}]},
    ],
)
def test_nothing_is_said_where_no_rule_would_take_anything(tmp_path: Path, rules: dict[str, Any]) -> None:
    assert found(tmp_path, rules, {"bob": code("bob")}) == ({}, {})


def test_what_has_a_time_or_is_known_to_be_in_time_is_left_out(tmp_path: Path) -> None:
    assert found(tmp_path, BOTH, {"bob": code("bob", handed=NOW)}) == ({}, {})
    assert found(tmp_path, BOTH, {"bob": code("bob")}, layout="canvas") == ({}, {})
    marked = {"bob": code("bob", marked_late=True)}
    assert found(tmp_path, BOTH, marked, layout="canvas") == ({}, {"softmax": 1})
    assert found(tmp_path, BOTH | {"marked_late": {"days": 1}}, marked, layout="canvas") == ({}, {})
    closed = {"assignments": {"softmax": {"closes": "2026-11-10"}}}
    assert found(tmp_path, closed, {"bob": code("bob")}) == ({"softmax": 1}, {})
