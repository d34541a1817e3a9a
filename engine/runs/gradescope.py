"""``results.json``: one submission's marks and checks, as Gradescope reads them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine import __version__
from engine.foreign import clean, clean_line
from engine.model import Check, GradeReport, Outcome, Verdict, plain_points

__all__ = ["ItemGrade", "results_json", "ungraded_json"]

_SHOWN = "visible"
_WORDS = {
    Verdict.PASSED: "",
    Verdict.SKIPPED: "Skipped.",
    Verdict.TIMED_OUT: "It took too long.",
    Verdict.OUT_OF_MEMORY: "It used more memory than allowed.",
    Verdict.CRASHED: "The process crashed.",
}


@dataclass(frozen=True, slots=True)
class ItemGrade:
    """What became of one exercise.

    Parameters
    ----------
    item : str
    points : float
        Full points.
    report : GradeReport or None
        None where there is no file that can be read.
    hidden : frozenset of str
        The checks whose inputs students don't see.
    sha256 : str or None
        Hash of what was handed in: the receipt.
    problem : str
        Why there is no report.
    """

    item: str
    points: float
    report: GradeReport | None
    hidden: frozenset[str] = frozenset()
    sha256: str | None = None
    problem: str = ""

    @property
    def is_ungraded(self) -> bool:
        """Whether it has no mark for a cause that isn't the student's."""
        return self.report is not None and self.report.outcome is Outcome.UNGRADED

    @property
    def score(self) -> float:
        """The points: 0 for what can't be read, which the student is told and can mend."""
        return (self.report.score or 0.0) if self.report is not None else 0.0


def results_json(grades: Sequence[ItemGrade], *, hidden: str, seconds: float) -> str:
    """Return the file for a submission that is graded.

    Parameters
    ----------
    grades : sequence of ItemGrade
        None of them ungraded.
    hidden : str
        Visibility of the checks that aren't public.
    seconds : float
        How long grading took.

    Notes
    -----
    Gradescope shows no total while a test with points is hidden, so a hidden check can't be told from it.
    """
    several = len(grades) > 1
    tests = [
        test for grade in grades for test in _tests(grade, hidden, f"{grade.item} · " if several else "")
    ]
    document: dict[str, Any] = {
        "score": plain_points(math.fsum(grade.score for grade in grades)),
        "execution_time": round(seconds, 3),
        "output": _output(grades),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": _extra(grades),
    }
    return _text(document)


def ungraded_json(grades: Sequence[ItemGrade] = (), *, seconds: float = 0.0) -> str:
    """Return the file for a submission without a mark because the machine or Softmark is at fault.

    It has no score and no tests: any of them would be taken for a mark.
    """
    document = {
        "output": (
            "Your submission is stored, and it isn't graded yet: the autograder itself failed. This is not a "
            "mark of 0. The course's staff can see why, and run it again."
        ),
        "output_format": "text",
        "stdout_visibility": "hidden",
        "execution_time": round(seconds, 3),
        "extra_data": _extra(grades),
    }
    return _text(document)


def _text(document: dict[str, Any]) -> str:
    # ASCII: what is left of direction marks or surrogates stays visible as escapes.
    return json.dumps(document, ensure_ascii=True, indent=1, allow_nan=False) + "\n"


def _tests(grade: ItemGrade, hidden: str, head: str) -> list[dict[str, Any]]:
    report = grade.report
    if report is None or report.outcome is Outcome.FORMAT_ERROR:
        checks = report.checks if report is not None else ()
        told = grade.problem or next((check.message for check in checks if check.message), "it can't be read")
        test = {
            "score": 0,
            "max_score": plain_points(grade.points),
            "status": "failed",
            "output": clean(told),
        }
        return [{"name": f"{head}file", **_plain(), **test, "visibility": _SHOWN}]
    tests = [_test(check, grade, hidden, head) for check in report.checks if _is_told(check)]
    why = _why(report)
    if why:
        shown = any(_failed(check) and check.id not in grade.hidden for check in report.checks)
        test = {"status": "failed", "output": why, "visibility": _SHOWN if shown else hidden}
        tests.append({"name": f"{head}what went wrong", **_plain(), **test})
    return tests


def _test(check: Check, grade: ItemGrade, hidden: str, head: str) -> dict[str, Any]:
    test: dict[str, Any] = {"name": head + clean_line(check.id), **_plain()}
    if check.max_points:
        test |= {"score": plain_points(check.points), "max_score": plain_points(check.max_points)}
    test["status"] = "passed" if check.verdict is Verdict.PASSED else "failed"
    output = clean(check.message) or _WORDS.get(check.verdict, "")
    if output:
        test["output"] = output
    return test | {"visibility": hidden if check.id in grade.hidden else _SHOWN}


def _plain() -> dict[str, str]:
    """Return what keeps foreign text from being read as markup."""
    return {"name_format": "text", "output_format": "text"}


def _is_told(check: Check) -> bool:
    # What earns nothing is told where it failed.
    return bool(check.max_points) or _failed(check)


def _failed(check: Check) -> bool:
    return check.verdict not in (Verdict.PASSED, Verdict.SKIPPED)


def _why(report: GradeReport) -> str:
    """Return the known mistakes and the smallest input that shows the fault."""
    told = [clean(diagnosis.message) for diagnosis in report.diagnosis]
    if report.counterexample is not None:
        shown = report.counterexample
        told += ["Smallest input found that shows it:", clean(shown.code), f"yours:    {clean(shown.got)}"]
        if shown.expected is not None:
            told.append(f"expected: {clean(shown.expected)}")
    return "\n".join(told)


def _output(grades: Sequence[ItemGrade]) -> str:
    lines = []
    for grade in grades:
        receipt = f"SHA-256 of what was handed in: {grade.sha256}" if grade.sha256 else "nothing was graded"
        lines.append(f"{grade.item}: {receipt}")
        lines += [clean_line(note, 500) for note in (grade.report.notes if grade.report else ())]
    tiers = sorted({grade.report.tier for grade in grades if grade.report is not None and grade.report.tier})
    ran = f"your code ran in sandbox tier {', '.join(tiers)}" if tiers else "no code was run"
    return "\n".join([*lines, f"Graded by Softmark {__version__}; {ran}."])


def _extra(grades: Sequence[ItemGrade]) -> dict[str, Any]:
    items = {
        grade.item: {
            "submission_sha256": grade.sha256,
            "item_version": grade.report.item_version if grade.report else None,
            "outcome": str(grade.report.outcome) if grade.report else None,
            "tier": grade.report.tier if grade.report else None,
        }
        for grade in grades
    }
    return {"softmark": {"engine_version": __version__, "items": items}}
