"""``results.json``: what Gradescope shows whom, and what it must not take for a mark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine import __version__
from engine.errors import InputError
from engine.model import Check, Counterexample, Diagnosis, GradeReport, Mode, Outcome, Verdict
from engine.runs.gradescope import AutograderSettings, ItemGrade, read_settings, results_json, ungraded_json

SHA = "ab" * 32
LOADS = Check("loads", Verdict.PASSED, 0.0, 0.0)
VALUES = Check("values", Verdict.PASSED, 3.0, 3.0)
WRONG_VALUES = Check("values", Verdict.FAILED, 0.0, 3.0, "These aren't the weights.")
HIDDEN = Check("batch", Verdict.FAILED, 0.0, 1.0, "Rows influence one another.")
SKIPPED = Check("shift", Verdict.SKIPPED, 0.0, 1.0)


def grade(*checks: Check, outcome: Outcome = Outcome.PARTIAL, score: float | None = 3.0, **more) -> ItemGrade:
    report = GradeReport(
        "softmax", "v7", outcome, score, 5.0, checks=checks, tier="T2", mode=Mode.MARKS, **more
    )
    return ItemGrade("softmax", 5.0, report, frozenset({"batch", "rows"}), SHA)


def results(*grades: ItemGrade, hidden: str = "after_due_date") -> dict:
    return json.loads(results_json(grades, hidden=hidden, seconds=1.23456))


def test_every_field_that_gradescope_reads() -> None:
    plain = {"name_format": "text", "output_format": "text"}
    assert results(grade(LOADS, VALUES, HIDDEN, SKIPPED)) == {
        "score": 3,
        "execution_time": 1.235,
        "output": f"softmax: SHA-256 of what was handed in: {SHA}\n"
        f"Graded by Softmark {__version__}; your code ran in sandbox tier T2.",
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "stdout_visibility": "hidden",
        "tests": [
            {
                "name": "values", **plain, "score": 3, "max_score": 3, "status": "passed",
                "visibility": "visible",
            },
            {
                "name": "batch", **plain, "score": 0, "max_score": 1, "status": "failed",
                "output": "Rows influence one another.", "visibility": "after_due_date",
            },
            {
                "name": "shift", **plain, "score": 0, "max_score": 1, "status": "failed",
                "output": "Skipped.", "visibility": "visible",
            },
        ],
        "extra_data": {
            "softmark": {
                "engine_version": __version__,
                "items": {
                    "softmax": {
                        "submission_sha256": SHA,
                        "item_version": "v7",
                        "outcome": "partial",
                        "tier": "T2",
                    }
                },
            }
        },
    }  # fmt: skip


@pytest.mark.parametrize("hidden", ["after_due_date", "after_published", "visible"])
def test_hidden_checks_are_shown_when_the_settings_say(hidden: str) -> None:
    unpaid = Check("rows", Verdict.FAILED, 0.0, 0.0, "Rows differ.")
    tests = results(grade(VALUES, HIDDEN, unpaid), hidden=hidden)["tests"]
    assert [(test["name"], test["visibility"]) for test in tests] == [
        ("values", "visible"),
        ("batch", hidden),
        ("rows", hidden),
    ]
    assert "score" not in tests[2]


@pytest.mark.parametrize(
    ("checks", "visibility"), [((WRONG_VALUES, HIDDEN), "visible"), ((VALUES, HIDDEN), "after_due_date")]
)
def test_what_went_wrong_is_not_told_before_a_hidden_check_that_alone_failed(checks, visibility) -> None:
    report = grade(
        *checks,
        diagnosis=(Diagnosis("no-shift", "The largest score isn't subtracted."),),
        counterexample=Counterexample("softmax([1000.0])", "[nan]", "[1.0]"),
    )
    assert results(report)["tests"][-1] == {
        "name": "what went wrong",
        "name_format": "text",
        "output_format": "text",
        "status": "failed",
        "output": "The largest score isn't subtracted.\nSmallest input found that shows it:\n"
        "softmax([1000.0])\nyours:    [nan]\nexpected: [1.0]",
        "visibility": visibility,
    }


def test_a_file_that_cannot_be_read_is_0_and_says_why() -> None:
    unreadable = grade(
        Check("loads", Verdict.FAILED, 0.0, 0.0, "Line 3 is no Python."),
        outcome=Outcome.FORMAT_ERROR,
        score=None,
    )
    missing = ItemGrade("context", 2.0, None, problem="no file in this folder defines context")
    found = results(unreadable, missing)
    assert found["score"] == 0
    assert [
        (t["name"], t["score"], t["max_score"], t["output"], t["visibility"]) for t in found["tests"]
    ] == [
        ("softmax · file", 0, 5, "Line 3 is no Python.", "visible"),
        ("context · file", 0, 2, "no file in this folder defines context", "visible"),
    ]
    assert "context: nothing was graded" in found["output"]


def test_several_exercises_add_up_and_are_told_apart() -> None:
    found = results(grade(VALUES), grade(VALUES, score=2.25))
    assert found["score"] == 5.25
    assert [test["name"] for test in found["tests"]] == ["softmax · values"] * 2


def test_an_engine_fault_has_neither_score_nor_tests() -> None:
    fault = grade(LOADS, outcome=Outcome.UNGRADED, score=None)
    assert fault.is_ungraded
    found = json.loads(ungraded_json([grade(VALUES), fault], seconds=2.0))
    assert set(found) == {"output", "output_format", "stdout_visibility", "execution_time", "extra_data"}
    assert "not a mark of 0" in found["output"]
    assert '"score"' not in json.dumps(found)


def test_text_of_students_is_cleaned() -> None:
    check = Check("loads", Verdict.FAILED, 0.0, 0.0, "\x1b[2Jgot \u202e<b>x</b>\ud800")
    text = results_json([grade(check, notes=("a\x07\nb",))], hidden="visible", seconds=0.0)
    found = json.loads(text)
    assert found["tests"][0]["output"] == "\ufffd[2Jgot \ufffd<b>x</b>\ufffd"
    assert "a\ufffd b" in found["output"]
    assert text.isascii()


# --- settings ---


def test_settings_are_read_as_they_were_written(tmp_path: Path) -> None:
    settings = AutograderSettings(("softmax", "context"), "after_published", "T2")
    path = tmp_path / "autograder.json"
    path.write_text(settings.text())
    assert read_settings(path) == settings


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"items": [], "hidden": "visible", "tier": null}',
        '{"items": [1], "hidden": "visible", "tier": null}',
        '{"items": ["softmax"], "hidden": "hidden", "tier": null}',
        '{"items": 3, "hidden": "visible", "tier": null}',
    ],
)
def test_faulty_settings_are_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "autograder.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_settings(path)
    assert caught.value.what == "the autograder's settings can't be used"
