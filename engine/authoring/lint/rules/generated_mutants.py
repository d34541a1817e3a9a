"""A rubric notices slips that nobody wrote down: mutants generated from the solutions, by ``--mutants`` only.

What survives passes every check, so a student who wrote it would have full marks. Either it is right, which
the author declares under ``equivalent``, or the rubric has a hole. How many are killed is among the facts.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.authoring.lint.rules.code_exercises import plan_seeds
from engine.authoring.lint.subject import FindingSeverity, LintFinding, LintSubject
from engine.errors import EngineError, SpecError
from engine.text.words import count_noun

if TYPE_CHECKING:
    from engine.authoring.mutation.survey import MutantSurvey, TriedMutant


def check(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield generated mutants that survive undeclared, and declarations that no survivor needs."""
    from engine.authoring.mutation.survey import survey_mutants
    from engine.code import load_exercise

    if not subject.is_code or subject.path is None or subject.mutant_s is None:
        return
    folder = Path(subject.path).parent
    try:
        exercise = load_exercise(subject.spec, folder, subject.version)
        seeds = plan_seeds(subject.seeds)
        survey = survey_mutants(
            subject.spec, folder, exercise, seeds, seconds=subject.mutant_s, progress=subject.watch
        )
    except (SpecError, EngineError):
        return  # the rule about the exercise itself says why
    subject.facts["generated_mutants"] = survey_facts(survey)
    for entry in survey.with_verdict("survives"):
        yield _survivor(entry, folder)
    for place in survey.idle:
        yield subject.fault(
            "no generated mutant that survives is like this",
            ("answer", "equivalent", place),
            next_step="correct it, or delete it",
        )
    if survey.untried:
        untried = count_noun(len(survey.untried), "generated mutant")
        yield subject.warning(
            f"{untried} not tried: {subject.mutant_s:g} s are over",
            ("answer", "solutions"),
            next_step="give more time with --mutant-seconds",
        )


def _survivor(entry: TriedMutant, folder: Path) -> LintFinding:
    mutant = entry.mutant
    return LintFinding(
        "",
        FindingSeverity.WARNING,
        f"the generated mutant {mutant.id} passes every check",
        str(folder / mutant.file),
        mutant.line,
        got="\n       ".join(mutant.diff()),
        next_step="add a check or a case that kills it, or declare it under equivalent if it is right",
    )


def survey_facts(survey: MutantSurvey) -> dict[str, Any]:
    """Return what trying the generated mutants came to, as ``grade lint --json`` prints it."""
    return {
        "killed": len(survey.with_verdict("killed")),
        "equivalent": [
            {"id": entry.mutant.id, "becomes": entry.mutant.after, "because": entry.because}
            for entry in survey.with_verdict("equivalent")
        ],
        "survivors": [
            {"id": entry.mutant.id, "line": entry.mutant.before, "becomes": entry.mutant.after}
            for entry in survey.with_verdict("survives")
        ],
        "not_tried": len(survey.untried),
        "seconds": round(survey.seconds, 1),
    }
