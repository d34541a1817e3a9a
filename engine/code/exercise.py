"""A code exercise, loaded and checked: its spec, its plan's family, its solutions and mutants."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.code.families import ExerciseFamily, family, family_names, offered_groups
from engine.code.plan import InputPlan, group_key
from engine.code.properties import Property, property_names, property_of
from engine.errors import Diagnostic, SpecError
from engine.items import CheckSpec, CodeAnswer, MutantSpec, ProblemSpec
from engine.items.bank import Bank
from engine.runner import Limits
from engine.text.words import count_noun

__all__ = ["CodeExercise", "KnownWrongProgram", "RubricCheck", "exercise_of", "freeze_plan", "load_exercise"]

# these come before every check of a rubric and earn nothing; a rubric may not use their names
PREREQUISITES = ("loads", "allowed", "function", "runs")


@dataclass(frozen=True, slots=True)
class RubricCheck:
    """One check of the rubric with the property behind it; `key` finds its groups in the plan."""

    id: str
    property: Property
    key: str
    points: float
    public: bool
    requires: tuple[str, ...]
    message: str
    together: str | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class KnownWrongProgram:
    """A known-wrong implementation, ours and therefore trusted; a pair ``combines`` two others."""

    id: str
    source: str
    filename: str
    killed_by: tuple[str, ...]
    feedback: str
    combines: tuple[str, ...] = ()
    reference_only: str | None = None


@dataclass(frozen=True, eq=False)
class CodeExercise:
    """One code exercise, ready to grade.

    Parameters
    ----------
    item, version : str
        Item id and the hash of everything that decides about marks.
    function, signature : str
        What the student writes.
    checks : tuple of RubricCheck
        In the order of the spec, every prerequisite before what needs it.
    solutions : mapping of str to str
        File name to source.
    """

    item: str
    version: str
    title: str
    function: str
    signature: str
    family_name: str
    checks: tuple[RubricCheck, ...]
    mutants: tuple[KnownWrongProgram, ...]
    solutions: dict[str, str]
    starter: str
    limits: Limits
    forbidden: tuple[str, ...] = ()

    @property
    def family(self) -> ExerciseFamily:
        """The family that makes plans and knows the truth."""
        return family(self.family_name)

    @property
    def points(self) -> float:
        """Full marks."""
        return math.fsum(check.points for check in self.checks)


def load_exercise(spec: ProblemSpec, folder: Path, version: str) -> CodeExercise:
    """Return the exercise of a spec whose files lie in `folder`.

    Raises
    ------
    SpecError
        With every fault found: unknown plan, property or prerequisite, points that don't add up,
        missing files, no code exercise at all.
    """
    file, answer = folder / f"{spec.id}.yaml", spec.answer
    if not isinstance(answer, CodeAnswer):
        raise SpecError([Diagnostic(str(file), 1, 1, f"{spec.id} is no code exercise")])
    faults = [*_check_faults(answer), *_points_faults(spec, answer), *_mutant_faults(answer)]
    sources: dict[str, str] = {}
    for name in (answer.starter, *answer.solutions, *(mutant.file for mutant in answer.mutants)):
        text = _source(folder, name)
        if text is None:
            faults.append(f"there is no readable file {name!r} in the exercise's folder")
        sources[name] = text or ""
    if faults:
        raise SpecError([_place(file, fault) for fault in faults])
    limits = answer.limits
    return CodeExercise(
        item=spec.id,
        version=version,
        title=spec.title,
        function=answer.function,
        signature=answer.signature,
        family_name=answer.plan,
        checks=tuple(_rubric(check) for check in answer.checks),
        mutants=tuple(_mutant(mutant, sources[mutant.file]) for mutant in answer.mutants),
        solutions={name: sources[name] for name in answer.solutions},
        starter=sources[answer.starter],
        limits=Limits(wall_s=limits.wall_s, call_s=limits.call_s, memory_mib=limits.memory_mib),
        forbidden=answer.forbidden,
    )


def exercise_of(bank: Bank, item: str) -> CodeExercise:
    """Return a code exercise of a bank by its id.

    Raises
    ------
    UnknownItemError
        The bank has no such item.
    SpecError
        As :func:`load_exercise`.
    """
    return load_exercise(bank.load(item), bank.path(item).parent, bank.version(item))


def freeze_plan(exercise: CodeExercise, seed: bytes) -> InputPlan:
    """Return the plan of a secret seed, the same for the same seed.

    It holds only the inputs that the rubric's checks need, and the public ones.
    """
    whole = exercise.family.plan(seed)
    keys = {check.key for check in exercise.checks} | {"runs"}
    public = frozenset(i for i, case in enumerate(whole.cases) if case.public and case.aspect == "ordinary")
    return whole.only(keys, public)


def _rubric(check: CheckSpec) -> RubricCheck:
    found = property_of(check.property)
    return RubricCheck(
        id=check.id,
        property=found,
        key=group_key(found.name, check.options.get("cases")),
        points=check.points,
        public=check.public,
        requires=check.requires,
        message=check.message or found.sentence,
        together=check.together,
        title=check.title or found.title,
    )


def _mutant(mutant: MutantSpec, source: str) -> KnownWrongProgram:
    return KnownWrongProgram(
        id=mutant.id,
        source=source,
        filename=mutant.file,
        killed_by=mutant.killed_by,
        feedback=mutant.feedback or "",
        combines=mutant.combines,
        reference_only=mutant.reference_only,
    )


def _source(folder: Path, name: str) -> str | None:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        return None
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _check_faults(answer: CodeAnswer) -> list[str]:
    faults, known = [], list(PREREQUISITES)
    if answer.plan not in family_names():
        return [f"no plan is called {answer.plan!r}; there are {', '.join(family_names())}"]
    offered = offered_groups(answer.plan)
    for check in answer.checks:
        if check.id in known:
            faults.append(f"two checks are called {check.id!r} (loads, allowed, function and runs are ours)")
        unknown = [name for name in check.requires if name not in known]
        if unknown:
            faults.append(f"check {check.id!r} requires {unknown[0]!r}, which no earlier check is called")
        faults += _property_faults(check, offered)
        known.append(check.id)
    return faults


def _property_faults(check: CheckSpec, offered: frozenset[str]) -> list[str]:
    if check.property not in property_names():
        return [f"check {check.id!r}: no property is called {check.property!r}"]
    others = set(check.options) - {"cases"}
    if others:
        return [f"check {check.id!r}: unknown option {min(others)!r}; there is only 'cases'"]
    cases: Any = check.options.get("cases")
    if group_key(check.property, cases) not in offered:
        kind = f" with cases: {cases}" if cases else ""
        return [f"check {check.id!r}: the plan never tries {check.property!r}{kind}"]
    return []


def _points_faults(spec: ProblemSpec, answer: CodeAnswer) -> list[str]:
    total = math.fsum(check.points for check in answer.checks)
    if math.isclose(total, spec.points, abs_tol=1e-9):
        return []
    return [f"the checks give {count_noun(total, 'point', 'g')} together, the item has {spec.points:g}"]


def _mutant_faults(answer: CodeAnswer) -> list[str]:
    known = {check.id for check in answer.checks} | set(PREREQUISITES)
    single = {mutant.id for mutant in answer.mutants if not mutant.combines}
    faults, ids = [], set()
    for mutant in answer.mutants:
        if mutant.id in ids:
            faults.append(f"two mutants are called {mutant.id!r}")
        ids.add(mutant.id)
        if bool(mutant.combines) == bool(mutant.feedback):
            faults.append(f"mutant {mutant.id!r} needs either 'feedback' or 'combines'")
        faults += [
            f"mutant {mutant.id!r} combines {name!r}, which no single mutant is called"
            for name in mutant.combines
            if name not in single
        ]
        faults += [
            f"mutant {mutant.id!r} is killed by {name!r}, which no check is called"
            for name in mutant.killed_by
            if name not in known
        ]
    return faults


def _place(file: Path, message: str) -> Diagnostic:
    """Return the fault at the line that names the first word it quotes."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    quoted = message.split("'")[1] if message.count("'") >= 2 else "answer:"
    key = "plan" if message.startswith("no plan is called") else "id"  # an item may be called as its plan
    for wanted in (f"{key}: {quoted}", quoted):
        for place, line in enumerate(lines, start=1):
            if re.search(rf"{re.escape(wanted)}(?![\w-])", line):
                return Diagnostic(str(file), place, line.index(wanted) + 1, message, line)
    return Diagnostic(str(file), 1, 1, message)
