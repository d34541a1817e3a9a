"""Code exercises: checks, known-wrong implementations and limits."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from engine.spec.kinds import Flag, Identifier, MisconceptionId, Name, Real, Sentence, Whole, Word
from engine.spec.schema.base import Strict

__all__ = ["CheckSpec", "CodeAnswer", "LimitsSpec", "MutantSpec"]


class CheckSpec(Strict):
    """One check of a code exercise.

    ``property`` names an entry of the property catalogue; ``requires`` the checks that must have
    passed first; hidden checks show only our sentence.
    """

    id: Identifier = Field(description="The check's own id.")
    property: Identifier = Field(description="Name of an entry of the property catalogue.")
    title: Word | None = Field(
        default=None, description="What is tried, in a few words; without it the property's own."
    )
    points: Real = Field(default=0.0, ge=0, le=1000, description="Points that a passed check earns.")
    public: Flag = Field(default=False, description="Whether students see inputs and expected values.")
    requires: tuple[Identifier, ...] = Field(
        default=(), description="Ids of checks without which this one is skipped."
    )
    options: dict[str, Any] = Field(default_factory=dict, description="Options of the property.")
    message: Sentence | None = Field(default=None, description="Shown when the check fails.")
    together: Identifier | None = Field(
        default=None,
        description="Checks with the same word here earn their points only if all of them pass.",
    )


class MutantSpec(Strict):
    """A known-wrong implementation, the check that must kill it, and what to tell the student."""

    id: MisconceptionId = Field(description="The mutant's own id, the registry's where it has one.")
    file: Word = Field(description="Its file, seen from the folder of the spec.")
    killed_by: tuple[Identifier, ...] = Field(
        min_length=1, description="Ids of the checks that must fail for it."
    )
    feedback: Sentence | None = Field(
        default=None,
        description="What a student with this mistake is told; needed unless it `combines` others.",
    )
    combines: tuple[MisconceptionId, ...] = Field(
        default=(),
        description="Ids of the mutants whose mistakes this one makes together: their sentences are told.",
    )
    reference_only: Sentence | None = Field(
        default=None,
        description="Why no property kills it, if only the comparison with the reference's values does.",
    )
    reason: Sentence | None = Field(default=None, description="Why the mutant is in the set, for lecturers.")


class LimitsSpec(Strict):
    """Limits on one submission."""

    wall_s: Real = Field(default=10.0, gt=0, le=600, description="Seconds for the whole submission.")
    call_s: Real = Field(default=2.0, gt=0, le=60, description="Seconds for one call.")
    memory_mib: Whole = Field(default=1536, ge=64, le=16384, description="Memory in MiB.")


class CodeAnswer(Strict):
    """A function to write; the folder of the spec holds starter, solutions and mutants."""

    type: Literal["code"]
    function: Name = Field(description="Name of the function; the item's id is this name with hyphens.")
    signature: Word = Field(description="The signature as students see it, such as `softmax(x, axis=-1)`.")
    plan: Identifier = Field(description="Name of the plan that makes the inputs.")
    starter: Word = Field(default="starter.py", description="The file that students start from.")
    solutions: tuple[Word, ...] = Field(min_length=1, description="Right implementations; all must pass.")
    checks: tuple[CheckSpec, ...] = Field(min_length=1, max_length=100, description="What is checked.")
    mutants: tuple[MutantSpec, ...] = Field(
        default=(), max_length=100, description="Known-wrong implementations."
    )
    forbidden: tuple[Word, ...] = Field(
        default=(),
        max_length=100,
        description="Calls that the file may not contain, such as `torch.softmax` or `numpy.*`. They are "
        "looked for in the source; a student who wants to can hide them.",
    )
    limits: LimitsSpec = Field(
        default=LimitsSpec(), description="Time and memory, if the usual ones don't fit."
    )
