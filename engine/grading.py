"""The one use case: a variant and a response (or code and a plan) into a report.

Pure: nothing is read or written, and code runs through the Runner that the caller brings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from engine.answers import PartResult, answer_type
from engine.answers.answer_type import blank_result
from engine.answers.numeric import NumericType
from engine.errors import ResponseFormatError
from engine.model import Check, Diagnosis, GradeReport, Mode, Outcome, Part, Response, Variant, Verdict
from engine.text.escape import clean_line

if TYPE_CHECKING:
    pass

__all__ = ["grade_answers"]

NO_ATTEMPT = "An answer couldn't be read. Nothing was marked, and no attempt was used."


def __getattr__(name: str) -> Any:
    # code grading brings numpy and hypothesis, which an answer doesn't need
    if name == "grade_code":
        from engine.code.grade import grade_code

        return grade_code
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def grade_answers(variant: Variant, response: Response, *, mode: Mode, student: str | None) -> GradeReport:
    """Mark what a student entered.

    Parameters
    ----------
    variant : Variant
    response : Response
        Text by part id; a part that is missing is blank.
    mode : Mode
    student : str or None

    Returns
    -------
    GradeReport
        With outcome ``format_error`` and no score if any field can't be read (or doesn't exist): all such
        fields are told at once, and the attempt isn't used.  A blank field earns 0.

    Raises
    ------
    engine.errors.UsageError
        The variant asks for code.
    """
    report = GradeReport(
        item=variant.item,
        item_version=variant.item_version,
        outcome=Outcome.FORMAT_ERROR,
        score=None,
        max_score=variant.points,
        variant=variant.id,
        student=student,
        mode=mode,
    )
    texts = {part.id: str(response.answers.get(part.id) or "") for part in variant.parts}
    read = _read(variant, response, texts)
    if isinstance(read, _Unreadable):
        return replace(report, checks=read.checks, diagnosis=read.observed, notes=(NO_ATTEMPT,))
    results = _results(variant, texts, read)
    score = round(sum(result.points for result in results), 6)
    return replace(
        report,
        outcome=_outcome(score, variant.points),
        score=score,
        checks=tuple(check for result in results for check in result.checks),
        diagnosis=tuple(dict.fromkeys(d for result in results for d in result.diagnosis)),
        notes=tuple(
            dict.fromkeys(
                [note for result in results for note in result.notes]
                + [note.plain for note in variant.told_after]
            )
        ),
    )


def _outcome(score: float, points: float) -> Outcome:
    if score >= points - 1e-6:
        return Outcome.RIGHT
    return Outcome.PARTIAL if score > 0 else Outcome.WRONG


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """What is told of a response with fields that can't be read."""

    checks: tuple[Check, ...]
    observed: tuple[Diagnosis, ...]


def _read(variant: Variant, response: Response, texts: Mapping[str, str]) -> dict[str, Any] | _Unreadable:
    """Return what was entered in each field that isn't blank, or why some field can't be read."""
    answers: dict[str, Any] = {}
    errors: dict[str, str] = {}
    observed: list[Diagnosis] = []
    for part in variant.parts:
        kind, text = answer_type(part.type), texts[part.id]
        if not text.strip():
            continue
        try:
            answers[part.id] = kind.parse(text, part)
        except ResponseFormatError as error:
            errors[part.id] = "\n".join(error.lines())
            observed += kind.observe(part, text)
    unknown = [name for name in response.answers if name not in texts]
    if not errors and not unknown:
        return answers
    checks = [_unmarked(part, errors.get(part.id)) for part in variant.parts]
    fields = ", ".join(texts)
    checks += [
        Check(
            clean_line(name, 40),
            Verdict.FAILED,
            0.0,
            0.0,
            f"There is no such field; the fields are {fields}.",
        )
        for name in unknown
    ]
    return _Unreadable(tuple(checks), tuple(dict.fromkeys(observed)))


def _unmarked(part: Part, error: str | None) -> Check:
    if error is None:
        return Check(
            part.id, Verdict.SKIPPED, 0.0, part.points, "Not marked while another field can't be read."
        )
    return Check(part.id, Verdict.FAILED, 0.0, part.points, error)


def _results(variant: Variant, texts: Mapping[str, str], answers: Mapping[str, Any]) -> list[PartResult]:
    results: list[PartResult] = []
    given: dict[str, tuple[Fraction, ...]] = {}
    full: set[str] = set()
    for part in variant.parts:
        kind, text = answer_type(part.type), texts[part.id]
        result = kind.mark(part, answers[part.id]) if part.id in answers else blank_result(part)
        if not result.is_blank and isinstance(kind, NumericType):
            if not result.is_full and given:
                result = _with_own_values(variant, part, text, result, given, full)
            given[part.id] = answers[part.id]
        if result.is_full:
            full.add(part.id)
        results.append(result)
    return results


def _with_own_values(
    variant: Variant,
    part: Part,
    text: str,
    result: PartResult,
    given: Mapping[str, tuple[Fraction, ...]],
    full: set[str],
) -> PartResult:
    """Mark a step again with the student's own earlier values; the better result counts."""
    from engine.answers.follow_through import carry_forward

    carried = carry_forward(variant, part, given)
    if carried.part is None:
        return _told(result, f"{result.message} Note: {carried.reason}.") if carried.reason else result
    again = answer_type(part.type).grade(carried.part, text)
    wrong = [step for step in carried.steps if step not in full]
    if again.points <= result.points:
        return replace(result, diagnosis=result.diagnosis or again.diagnosis)
    if not wrong:
        return again
    values = "value of " + wrong[0] if len(wrong) == 1 else "values of " + " and ".join(wrong)
    message = again.message.rstrip(".") + f", given your {values}."
    return _told(again, message)


def _told(result: PartResult, message: str) -> PartResult:
    own, *others = result.checks
    return replace(result, message=message, checks=(replace(own, message=message), *others))
