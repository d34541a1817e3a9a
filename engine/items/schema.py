"""One problem file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, Tag, model_validator

from engine.spec.kinds import EntryId, Expression, Identifier, Name, OneOrList, Prose, Real, Whole
from engine.spec.schema.base import Strict
from engine.spec.schema.parameters import Claim, Constraint, ParameterSpec
from engine.spec.schema.parts import (
    AnswerSpec,
    Effort,
    Erratum,
    Misconception,
    PrintedExercise,
    Source,
    StepSpec,
)

__all__ = ["ProblemSpec"]


class ProblemSpec(Strict):
    """One problem file; its id is the file's name."""

    id: Identifier = Field(description="The item's id: the name of the file without `.yaml`.")
    title: Annotated[str, StringConstraints(min_length=3, max_length=120)] = Field(
        description="What lists and pages call the item."
    )
    source: Annotated[
        Annotated[Source, Tag("one")] | Annotated[tuple[Source, ...], Field(min_length=1), Tag("list")],
        OneOrList,
    ] = Field(description="Where the content comes from: one source or a list.")
    difficulty: Whole = Field(ge=1, le=5, description="From 1 (easy) to 5 (hard).")
    minutes: Real | None = Field(
        default=None, gt=0, le=240, description="How long it takes, roughly; `grade quiz check` adds it up."
    )
    bloom: Literal["remember", "understand", "apply", "analyse", "evaluate", "create"] = Field(
        description="Level in Bloom's taxonomy."
    )
    topics: tuple[Identifier, ...] = Field(
        min_length=1, max_length=20, description="Topics, by which blueprints choose items."
    )
    covers: tuple[EntryId, ...] = Field(
        default=(),
        max_length=40,
        description="Entries of `syllabus.yaml` that the item covers. Its `errata` count without it.",
    )
    needs: tuple[EntryId, ...] = Field(
        default=(),
        max_length=40,
        description="Terms of `terms.yaml` that students must have been taught before; a blueprint can "
        "leave an item out that needs what hasn't been taught.",
    )
    points: Real = Field(
        default=1.0,
        gt=0,
        le=1000,
        description="Full marks. With `steps` or `code` they are the sum of the parts and may be left out.",
    )
    status: Literal["ok", "erratum", "disputed"] = Field(
        default="ok", description="`erratum` if the printed exercise is faulty; then `errata` says how."
    )
    parameters: dict[Name, ParameterSpec] = Field(
        default_factory=dict, max_length=40, description="What is drawn for each variant, by name."
    )
    derived: dict[Name, Expression] = Field(
        default_factory=dict,
        max_length=40,
        description="Values computed from the parameters, by name, in order.",
    )
    constraints: tuple[Constraint, ...] = Field(
        default=(),
        max_length=40,
        description="What must be true of the drawn values; other draws are thrown away.",
    )
    stem: Prose = Field(
        description="The prompt: text with `$…$` for formulas and `{{ name }}` for drawn values."
    )
    answer: AnswerSpec | None = Field(default=None, description="The answer field. Either this or `steps`.")
    steps: tuple[StepSpec, ...] = Field(
        default=(), max_length=20, description="The steps of a multi-step item. Either this or `answer`."
    )
    misconceptions: tuple[Misconception, ...] = Field(
        default=(), max_length=40, description="Known mistakes, with which a wrong answer is compared."
    )
    printed: PrintedExercise | None = Field(default=None, description="The exercise as its source prints it.")
    errata: tuple[Erratum, ...] = Field(default=(), max_length=10, description="Faults of the source.")
    effort: Effort | None = Field(
        default=None, description="How much work a variant is at most, for computed items."
    )
    hints: tuple[Prose, ...] = Field(default=(), max_length=10, description="Hints, given one by one.")
    solution: Prose | None = Field(
        default=None, description="The worked solution; it may also use `{{ key }}` and the steps' names."
    )
    claims: tuple[Claim, ...] = Field(
        default=(),
        max_length=40,
        description="Words that are true of some numbers only, with what makes them true.",
    )
    variants: Whole | None = Field(
        default=None, ge=1, description="Number of different variants, for an item that has fewer than 200."
    )

    @property
    def sources(self) -> tuple[Source, ...]:
        """All sources, also where there is only one."""
        return self.source if isinstance(self.source, tuple) else (self.source,)

    @property
    def answers(self) -> tuple[tuple[str, AnswerSpec], ...]:
        """Every answer by the id of its part: ``"answer"``, or the steps' ids."""
        if self.answer is not None:
            return (("answer", self.answer),)
        return tuple((step.id, step.answer) for step in self.steps)

    @property
    def kind(self) -> str:
        """Name of the answer type; ``"steps"`` for an item with several."""
        return self.answer.type if self.answer else "steps"

    @model_validator(mode="before")
    @classmethod
    def _points_of_parts(cls, data: Any) -> Any:
        """Let points that are left out be the sum of the steps' or checks'."""
        if not isinstance(data, dict) or "points" in data:
            return data
        answer = data.get("answer")
        checks = answer.get("checks") if isinstance(answer, dict) and answer.get("type") == "code" else None
        parts, usual = (checks, 0.0) if checks else (data.get("steps"), 1.0)
        if not isinstance(parts, list | tuple) or not all(isinstance(part, dict) for part in parts):
            return data
        points = [part.get("points", usual) for part in parts]
        if not points or any(isinstance(p, bool) or not isinstance(p, int | float) for p in points):
            return data
        return {**data, "points": float(sum(points))}
