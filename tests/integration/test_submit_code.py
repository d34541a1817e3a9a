"""``grade submit ITEM FILE`` against the real sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RIGHT = ROOT / "problems/code/softmax/solution_numpy.py"
JSON_KEYS = {
    "item",
    "item_version",
    "variant",
    "student",
    "score",
    "max_score",
    "credit",
    "verdict",
    "checks",
    "diagnosis",
    "counterexample",
    "marking",
    "notes",
    "tier",
    "library",
    "mode",
    "engine_version",
}

NO_SHIFT = """
import numpy as np

def softmax(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
"""

HOSTILE = """
import os, numpy as np

def softmax(x, axis=-1):
    os.kill(os.getppid(), 9)
    return x
"""


def test_a_right_file_gets_full_marks(grade) -> None:
    said = grade("submit", "softmax", RIGHT, "--json")
    report = said.json()
    assert said.code == 0
    assert set(report) == JSON_KEYS
    assert (report["verdict"], report["score"], report["max_score"]) == ("right", 10, 10)
    assert (report["tier"], report["mode"], report["item"]) == ("T1", "practice", "softmax")
    assert report["library"] == "numpy"
    assert {check["verdict"] for check in report["checks"]} == {"passed"}
    assert all(
        set(check) == {"id", "verdict", "points", "max_points", "message", "title"}
        for check in report["checks"]
    )


def test_a_wrong_file_is_told_which_known_mistake_it_is(grade) -> None:
    Path("mine.py").write_text(NO_SHIFT)
    said = grade("submit", "softmax", "mine.py", "--json")
    report = said.json()
    assert said.code == 1
    assert report["verdict"] == "partial"
    assert [d["misconception"] for d in report["diagnosis"]] == ["no-max-shift"]
    failed = {check["id"] for check in report["checks"] if check["verdict"] == "failed"}
    assert "stable" in failed
    assert sum(check["points"] for check in report["checks"]) == pytest.approx(report["score"])
    # The counterexample can be pasted: the code runs as it stands and shows what it says.
    names: dict[str, object] = {}
    exec(NO_SHIFT, names)
    with pytest.warns(RuntimeWarning):
        exec(report["counterexample"]["code"], names)
    assert "nan" in report["counterexample"]["got"]


def test_a_hostile_file_costs_its_author_and_nobody_else(grade) -> None:
    Path("mine.py").write_text(HOSTILE)
    said = grade("submit", "softmax", "mine.py", "--json")
    assert said.code == 1
    assert said.json()["score"] == 0
    assert grade("submit", "softmax", RIGHT, "--json").code == 0


def test_the_same_file_and_plan_get_the_same_answer(grade) -> None:
    Path("mine.py").write_text(NO_SHIFT)
    first, second = (
        grade("submit", "softmax", "mine.py", "--plan-seed", "00ff", "--json").json() for _ in range(2)
    )
    assert first == second


def test_a_notebook_is_graded_by_its_code_cells(grade) -> None:
    import json

    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# mine\n"], "id": "a"},
        {
            "cell_type": "code",
            "metadata": {},
            "source": ["%matplotlib inline\n", "!ls\n", "import numpy as np\n"],
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["full marks\n"]}],
            "execution_count": 1,
            "id": "b",
        },
        {
            "cell_type": "code",
            "metadata": {},
            "source": RIGHT.read_text().splitlines(keepends=True),
            "outputs": [],
            "execution_count": 2,
            "id": "c",
        },
    ]
    Path("mine.ipynb").write_text(
        json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}), encoding="utf-8"
    )
    assert grade("submit", "softmax", "mine.ipynb").code == 0


BAD_FILES = {
    "missing.py": None,
    "empty.py": b"",
    "blank.py": b"\n\n  \n",
    "binary.py": bytes(range(256)) * 10,
    "nul.py": b"def softmax(x):\n    return x\x00\n",
    "huge.py": b"# " + b"x" * 3_000_000,
    "utf16.py": "def softmax(x):\n    return x\n".encode("utf-16"),
    "cp1252.py": "# na\u00efve \u20ac\ndef softmax(x):\n    return x\n".encode("cp1252"),
    "notjson.ipynb": b"this is no notebook",
    "wrongjson.ipynb": b"[1, 2, 3]",
    "nocells.ipynb": b'{"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
    "image.png": b"\x89PNG\r\n",
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_an_unreadable_file_gets_one_clear_message_and_no_mark(grade, name: str) -> None:
    content = BAD_FILES[name]
    if content is not None:
        Path(name).write_bytes(content)
    said = grade("submit", "softmax", name)
    assert said.code == 2, said
    assert said.err.startswith("error: ")
    assert name in said.err
    assert "points" not in said.out


def test_a_byte_order_mark_does_no_harm(grade) -> None:
    Path("bom.py").write_bytes(b"\xef\xbb\xbf" + RIGHT.read_bytes())
    assert grade("submit", "softmax", "bom.py").code == 0


def test_a_syntax_error_is_told_with_its_line(grade) -> None:
    Path("mine.py").write_text("import numpy as np\n\ndef softmax(x, axis=-1)\n    return x\n")
    said = grade("submit", "softmax", "mine.py", "--json")
    report = said.json()
    assert said.code == 2
    assert (report["verdict"], report["score"]) == ("format_error", None)
    assert report["checks"][0]["id"] == "loads"
    assert report["checks"][0]["verdict"] == "failed"
    assert "line 3" in report["checks"][0]["message"]
    assert {c["verdict"] for c in report["checks"][1:]} == {"skipped"}


def test_markup_and_escape_sequences_of_an_exception_are_only_text(grade) -> None:
    Path("mine.py").write_text(
        "def softmax(x, axis=-1):\n    raise ValueError('[bold red]<script>x</script>\\x1b[2J\\u202etxet')\n"
    )
    said = grade("submit", "softmax", "mine.py")
    assert said.code == 1
    assert "\x1b" not in said.out
    assert "\u202e" not in said.out
    assert "[bold red]<script>" in said.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("submit", "sofmax", "x.py"), "softmax"),
        (("submit", "softmax"), "FILE"),
        (("submit", "softmax", "x.py", "--answer", "1"), "code exercise"),
        (("submit", "softmax", "x.py", "--tier", "T9"), "T9"),
        (("submit", "softmax-weights", "x.py"), "--answer"),
        (("show", "softmax-weigths"), "softmax-weights"),
        (("nonsense",), "nonsense"),
    ],
)
def test_bad_usage_is_told_with_the_way_out(grade, arguments: tuple[str, ...], words: str) -> None:
    said = grade(*arguments)
    assert said.code == 2
    assert words in said.err


def test_errors_come_as_json_where_json_was_asked_for(grade) -> None:
    said = grade("submit", "sofmax", "x.py", "--json")
    assert said.code == 2
    assert said.json()["error"]["kind"] == "UnknownItemError"
