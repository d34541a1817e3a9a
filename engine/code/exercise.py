"""A code exercise, loaded: its rubric, its plan's family, its solutions and mutants.

The file itself has been checked by :mod:`engine.items.checks.code`. Only what this package alone knows is
checked here: that the plan exists, and tries every property of the rubric.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.code.array_family import ExerciseFamily, family, family_names, offered_groups
from engine.code.plan import InputPlan, group_key
from engine.code.properties import Property, property_names, property_of
from engine.errors import Diagnostic, EngineError, SpecError
from engine.items import CheckSpec, CodeAnswer, MutantSpec, ProblemSpec
from engine.items.bank import Bank
from engine.items.checks.context import Where
from engine.runner import Limits
from engine.text.words import did_you_mean
from engine.text.yaml import read_yaml


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
    title : str
    function, signature : str
        What the student writes.
    family_name : str
        The item's ``plan``.
    checks : tuple of RubricCheck
        In the order of the spec, every prerequisite before what needs it.
    mutants : tuple of KnownWrongProgram
    solutions : mapping of str to str
        File name to source.
    starter : str
        The file that students start from.
    limits : Limits
    forbidden : tuple of str
        Calls that a submission may not contain.
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
        The item asks for no code, or its rubric names a plan, property or option that doesn't exist.
    EngineError
        A file of the exercise can't be read any more.
    """
    path, answer = folder / f"{spec.id}.yaml", spec.answer
    if not isinstance(answer, CodeAnswer):
        raise SpecError.of_file([Diagnostic(str(path), 1, 1, f"{spec.id} isn't a code exercise")])
    if faults := list(_catalogue_faults(answer)):
        document = read_yaml(path)
        raise SpecError.of_file([document.diagnostic(("answer", *loc), message) for loc, message in faults])
    limits = answer.limits
    return CodeExercise(
        item=spec.id,
        version=version,
        title=spec.title,
        function=answer.function,
        signature=answer.signature,
        family_name=answer.plan,
        checks=tuple(_rubric(check) for check in answer.checks),
        mutants=tuple(_mutant(mutant, _source(folder, mutant.file)) for mutant in answer.mutants),
        solutions={name: _source(folder, name) for name in answer.solutions},
        starter=_source(folder, answer.starter),
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
    # each call costs time in the sandbox: what no check of this rubric asks for isn't run
    whole = exercise.family.plan(seed)
    keys = {check.key for check in exercise.checks} | {"runs"}
    public = frozenset(i for i, case in enumerate(whole.cases) if case.public and case.kind == "ordinary")
    return whole.only(keys, public)


def _rubric(check: CheckSpec) -> RubricCheck:
    judged_by = property_of(check.property)  # known: the catalogue was asked before
    return RubricCheck(
        id=check.id,
        property=judged_by,
        key=group_key(judged_by.name, check.options.get("cases")),
        points=check.points,
        public=check.public,
        requires=check.requires,
        message=check.message or judged_by.sentence,
        together=check.together,
        title=check.title or judged_by.title,
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


def _source(folder: Path, name: str) -> str:
    try:
        return (folder / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EngineError("a file of the exercise can't be read", where=str(folder / name)) from error


def _catalogue_faults(answer: CodeAnswer) -> Iterator[tuple[Where, str]]:
    if answer.plan not in family_names():
        yield ("plan",), f"no plan is called {answer.plan!r}; there are {', '.join(family_names())}"
        return
    offered = offered_groups(answer.plan)
    for index, check in enumerate(answer.checks):
        where = ("checks", index)
        cases: Any = check.options.get("cases")
        if check.property not in property_names():
            near = did_you_mean(check.property, property_names())
            yield (*where, "property"), f"no property is called {check.property!r}{near}"
        elif others := set(check.options) - {"cases"}:
            yield (*where, "options"), f"unknown option {min(others)!r}; there is only 'cases'"
        elif group_key(check.property, cases) not in offered:
            kind = f" with cases: {cases}" if cases else ""
            yield (*where, "property"), f"the plan never tries {check.property!r}{kind}"
