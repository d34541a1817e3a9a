"""All generated mutants of an exercise: which are killed, which survive, and what the author says of those.

A mutant survives if it passes every check on some plan: a student with that plan would have full marks.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.authoring.mutation.edits import header
from engine.authoring.mutation.generated import GeneratedMutant, generated_mutants
from engine.authoring.mutation.trials import Kills, TrialJob, try_programs
from engine.items import CodeAnswer, EquivalentSpec, ProblemSpec

if TYPE_CHECKING:
    from engine.code.exercise import CodeExercise

DEFAULT_SECONDS = 120
"""How long one exercise's generated mutants are tried; a built-in one's take less than half of it."""


@dataclass(frozen=True, slots=True)
class TriedMutant:
    """A generated mutant and what became of it.

    Parameters
    ----------
    mutant : GeneratedMutant
    kills : tuple of frozenset of str
        For each plan that it was tried on, the checks that failed: the last of them is empty if it survives.
    because : str or None
        Why the author says that a survivor is right.
    """

    mutant: GeneratedMutant
    kills: Kills
    because: str | None = None

    @property
    def survives(self) -> bool:
        """Whether it passes every check on a plan."""
        return not all(self.kills)

    @property
    def killed_by(self) -> tuple[str, ...]:
        """The checks that fail on every plan, in order."""
        return tuple(sorted(frozenset.intersection(*self.kills)))

    @property
    def verdict(self) -> str:
        """``killed``, ``equivalent`` or ``survives``."""
        if not self.survives:
            return "killed"
        return "survives" if self.because is None else "equivalent"


@dataclass(frozen=True, slots=True)
class MutantSurvey:
    """What trying all generated mutants of an exercise came to.

    Parameters
    ----------
    tried : tuple of TriedMutant
        In the order of the solutions.
    untried : tuple of GeneratedMutant
        Those for which there was no time.
    idle : tuple of int
        Places of declarations that no survivor needs; none is named unless all mutants were tried.
    seconds : float
        How long it took.
    """

    tried: tuple[TriedMutant, ...]
    untried: tuple[GeneratedMutant, ...]
    idle: tuple[int, ...]
    seconds: float

    def with_verdict(self, verdict: str) -> list[TriedMutant]:
        """Return the mutants of one verdict."""
        return [entry for entry in self.tried if entry.verdict == verdict]


def survey_mutants(
    spec: ProblemSpec,
    folder: Path,
    exercise: CodeExercise,
    seeds: Sequence[bytes],
    *,
    seconds: float = DEFAULT_SECONDS,
    only: str | None = None,
    progress: Callable[[int], Callable[[], None]] = lambda total: lambda: None,
) -> MutantSurvey:
    """Generate and try the mutants of an exercise.

    Parameters
    ----------
    spec : ProblemSpec
    folder : Path
        Where its files are.
    exercise : CodeExercise
        The same, loaded.
    seeds : sequence of bytes
        A plan is frozen from each.
    seconds : float
        No mutant is begun later than this.
    only : str, optional
        The id of the one that is tried; all of them, if left out.
    progress : callable
        Takes how many mutants there are, and returns what is called after each.

    Raises
    ------
    EngineError
        A solution fails its own checks.
    """
    start = time.monotonic()
    mutants = generated_mutants(exercise.solutions, exercise.function)
    mutants = [mutant for mutant in mutants if only in (None, mutant.id)]
    job = TrialJob(spec, folder, exercise.version, tuple(seeds))
    kills = dict(
        try_programs(
            job,
            [mutant.source for mutant in mutants],
            deadline=start + seconds,
            progress=progress(len(mutants)),
        )
    )
    declared = spec.answer.equivalent if isinstance(spec.answer, CodeAnswer) else ()
    needed: set[int] = set()
    tried: list[TriedMutant] = []
    for place, mutant in enumerate(mutants):
        if place not in kills:
            continue
        reasons = [n for n, entry in enumerate(declared) if matches(entry, mutant)]
        if all(kills[place]):
            tried.append(TriedMutant(mutant, kills[place]))
            continue
        needed.update(reasons)
        tried.append(TriedMutant(mutant, kills[place], declared[reasons[0]].because if reasons else None))
    untried = [mutant for place, mutant in enumerate(mutants) if place not in kills]
    idle = () if untried or only is not None else tuple(n for n in range(len(declared)) if n not in needed)
    return MutantSurvey(tuple(tried), tuple(untried), idle, time.monotonic() - start)


def matches(entry: EquivalentSpec, mutant: GeneratedMutant) -> bool:
    """Return whether a declaration speaks of a mutant, wherever in its file the statement stands."""
    if entry.file is not None and entry.file != mutant.file:
        return False
    return normal(entry.line) == mutant.before and mutant.after in map(normal, entry.becomes)


def normal(statement: str) -> str:
    """Return a statement as :func:`ast.unparse` writes it, so that blanks and quotes don't matter.

    What isn't a whole statement (a loop's first line) is completed first; what is no Python stays as it is.
    """
    text = statement.strip()
    for whole in (text, f"{text} pass"):
        try:
            tree = ast.parse(whole)
        except (SyntaxError, ValueError):
            continue
        return "; ".join(header(entry) for entry in tree.body)
    return text
