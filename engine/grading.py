"""The one entry to grading: a variant and a response, or code and a plan, into a report.

Commands, class runs and practice all grade through the two functions here, so that an answer earns the same
wherever it is handed in.  Nothing is read or written; code runs through the runner that the caller brings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from engine.answers import answer_type
from engine.answers.base import PartResult, blank_result
from engine.errors import ResponseFormatError
from engine.model import (
    Check,
    Diagnosis,
    GradeReport,
    Mode,
    Outcome,
    Part,
    Response,
    RubricMarks,
    Variant,
    Verdict,
)
from engine.text.words import clean_line

if TYPE_CHECKING:
    from engine.code.exercise import CodeExercise
    from engine.code.plan import InputPlan
    from engine.model import CodeSubmission
    from engine.runner import Runner

NO_ATTEMPT = "An answer couldn't be read. Nothing was marked, and no attempt was used."


def grade_code(
    exercise: CodeExercise,
    plan: InputPlan,
    submission: CodeSubmission,
    runner: Runner,
    *,
    mode: Mode,
    student: str | None,
    explain: bool = True,
) -> GradeReport:
    """Grade one submission of code; :func:`engine.code.grade.grade_code` says how.

    Parameters
    ----------
    exercise : CodeExercise
    plan : InputPlan
        Frozen before the code is looked at.
    submission : CodeSubmission
    runner : Runner
        What runs the code: a sandbox for students.
    mode : Mode
    student : str or None
    explain : bool
        Whether to look for known mistakes and a counterexample; marks don't depend on it.

    Returns
    -------
    GradeReport
        Ungraded, without a score, where the machine or Softmark is at fault.
    """
    # Code grading brings numpy and torch, which an answer doesn't need.
    from engine.code.grade import grade_code as grade

    return grade(exercise, plan, submission, runner, mode=mode, student=student, explain=explain)


def grade_answers(
    variant: Variant,
    response: Response,
    *,
    mode: Mode,
    student: str | None,
    marking: Sequence[RubricMarks] = (),
    can_change: bool = False,
) -> GradeReport:
    """Mark what a student entered.

    Parameters
    ----------
    variant : Variant
    response : Response
        Text by part id; a part that is missing is blank.
    mode : Mode
    student : str or None
    marking : sequence of RubricMarks
        What people gave answers in words; marks that don't fit the rubric of their part are left out.
    can_change : bool
        Whether the student can still change the answer: one that exceeds a limit (too many words) is then
        refused as if it couldn't be read. Otherwise it is marked, so that nobody loses the marks for it.

    Returns
    -------
    GradeReport
        With outcome ``format_error`` and no score if any field can't be read (or doesn't exist): all such
        fields are named at once, and the attempt isn't used.  A blank field earns 0.  Ungraded while an
        answer in words hasn't been marked, though its other fields have.

    Raises
    ------
    engine.errors.UsageError
        The variant asks for code.
    """
    points = variant.points
    texts = {part.id: str(response.answers.get(part.id) or "") for part in variant.parts}
    answers, errors, diagnosis = _parse(variant, texts, response.on_paper, can_change=can_change)
    unknown = [name for name in response.answers if name not in texts]
    if errors or unknown:
        checks = [_unmarked(part, errors.get(part.id)) for part in variant.parts]
        checks += [_no_such_field(name, texts) for name in unknown]
        notes, outcome, score, marking = [NO_ATTEMPT], Outcome.FORMAT_ERROR, None, ()
    else:
        results, marking = _results(variant, answers, marking)
        score, outcome = _total(results, points)
        checks, diagnosis, notes = [], [], []
        for result in results:
            checks += result.checks
            diagnosis += result.diagnosis
            notes += result.notes
        notes += [note.plain for note in variant.told_after]
    return GradeReport(
        variant.item,
        variant.item_version,
        outcome,
        score,
        points,
        tuple(checks),
        tuple(dict.fromkeys(diagnosis)),
        notes=tuple(dict.fromkeys(notes)),
        variant=variant.id,
        student=student,
        mode=mode,
        marking=tuple(marking),
    )


def _total(results: Sequence[PartResult], points: float) -> tuple[float | None, Outcome]:
    """Return score and outcome: none yet while a person must mark a part."""
    if any(result.is_waiting for result in results):
        return None, Outcome.UNGRADED
    score = round(sum([result.points for result in results]), 6)
    # Scores are rounded to six places, so that a sum of thirds may miss the full marks by as much.
    if score >= points - 1e-6:
        return score, Outcome.RIGHT
    return score, Outcome.PARTIAL if score > 0 else Outcome.WRONG


def _parse(
    variant: Variant, texts: Mapping[str, str], on_paper: Mapping[str, str], *, can_change: bool
) -> tuple[dict[str, Any], dict[str, str], list[Diagnosis]]:
    """Return what was entered in each field that isn't blank, why others can't be read, what they show."""
    answers: dict[str, Any] = {}
    errors: dict[str, str] = {}
    observed: list[Diagnosis] = []
    for part in variant.parts:
        kind, text = answer_type(part.type), texts[part.id]
        if part.id in on_paper and kind.needs_person:
            # Nobody has typed it, so there is nothing to read or to count; its marker sees the sheet.
            answers[part.id] = None
            continue
        if not text.strip():
            continue
        try:
            answers[part.id] = kind.read(text, part) if can_change else kind.parse(text, part)
        except ResponseFormatError as error:
            errors[part.id] = "\n".join(error.lines())
            observed += kind.observe(part, text)
    return answers, errors, observed


def _unmarked(part: Part, error: str | None) -> Check:
    if error is None:
        waiting = "Not marked while another field can't be read."
        return Check(part.id, Verdict.SKIPPED, 0.0, part.points, waiting)
    return Check(part.id, Verdict.FAILED, 0.0, part.points, error)


def _no_such_field(name: str, fields: Mapping[str, str]) -> Check:
    message = f"There is no such field; the fields are {', '.join(fields)}."
    return Check(clean_line(name, 40), Verdict.FAILED, 0.0, 0.0, message)


def _results(
    variant: Variant, answers: Mapping[str, Any], marking: Sequence[RubricMarks]
) -> tuple[list[PartResult], list[RubricMarks]]:
    """Return the result of each part, and the marks of people that are in them."""
    results: list[PartResult] = []
    by_people: list[RubricMarks] = []
    steps: dict[str, tuple[Fraction, ...]] = {}
    full: set[str] = set()
    for part in variant.parts:  # in order: a step may need the answers to those before it
        kind = answer_type(part.type)
        marks = _marks_for(part, marking) if kind.needs_person and part.id in answers else None
        if marks is not None:
            by_people.append(marks)
            result = kind.marked(part, answers[part.id], marks)
        else:
            result = kind.mark(part, answers[part.id]) if part.id in answers else blank_result(part)
        if not result.is_blank and kind.is_numeric:
            if not result.is_full and steps:
                result = _with_earlier_values(variant, part, answers[part.id], result, steps, full)
            steps[part.id] = answers[part.id]
        if result.is_full:
            full.add(part.id)
        results.append(result)
    return results, by_people


def _marks_for(part: Part, marking: Sequence[RubricMarks]) -> RubricMarks | None:
    from engine.answers.free_text import fits

    return next((marks for marks in marking if fits(part, marks)), None)


def _with_earlier_values(
    variant: Variant,
    part: Part,
    answer: Any,
    result: PartResult,
    steps: Mapping[str, tuple[Fraction, ...]],
    full: set[str],
) -> PartResult:
    """Mark a step again with the student's own earlier values; the better result counts."""
    from engine.answers.follow_through import carry_forward

    carried = carry_forward(variant, part, steps)
    if carried.part is None:
        return _reworded(result, f"{result.message} Note: {carried.reason}.") if carried.reason else result
    again = answer_type(part.type).mark(carried.part, answer)
    wrong = [step for step in carried.steps if step not in full]
    # Carrying on never takes marks away; but what it recognises is worth saying.
    if again.points <= result.points:
        return result._replace(diagnosis=result.diagnosis or again.diagnosis)
    if not wrong:
        return again
    values = "value of " + wrong[0] if len(wrong) == 1 else "values of " + " and ".join(wrong)
    return _reworded(again, again.message.rstrip(".") + f", given your {values}.")


def _reworded(result: PartResult, message: str) -> PartResult:
    check, *others = result.checks
    return result._replace(message=message, checks=(replace(check, message=message), *others))
