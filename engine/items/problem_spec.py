"""One problem file: the model of the whole, and its JSON Schema for editors.

The docstrings and descriptions here are the text of ``docs/problem-spec.md``. What ties several keys together
is checked in :mod:`engine.items.checks`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    SerializeAsAny,
    StringConstraints,
    Tag,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from engine.items.answer_specs import AnyAnswer
from engine.items.field_types import (
    EntryId,
    Expression,
    Flag,
    Identifier,
    Letter,
    MisconceptionId,
    Name,
    NumbersOrProse,
    OneOrList,
    ParameterSpec,
    Prose,
    Real,
    Sentence,
    SourceName,
    StrictModel,
    Whole,
    Word,
)

# Bounds on numbers of entries are far above what an item needs, and low enough that a file which somebody
# generated can be checked and shown.


class DrawConstraint(StrictModel):
    """An expression that must be true of the drawn values; the message names it when draws run out."""

    expr: Expression = Field(
        description="An expression that is true or false, such as `max(e) - min(e) >= 0.8`."
    )
    message: Sentence = Field(description="What the constraint asks for, in words.")


class DeclaredClaim(StrictModel):
    """Words of the item that are true of some numbers only, and what makes them true.

    `grade lint` evaluates ``holds`` for every variant that shows the words. It asks for a claim where an
    option, feedback, a hint or the solution says how many of the drawn numbers are negative or positive,
    which of them is the largest, how two of them compare, or what one of them is.
    """

    says: Sentence = Field(description="Words that appear in a text of the item exactly as written.")
    holds: Expression = Field(
        description="An expression that is true wherever the words are shown; it may use the keys too."
    )


class ItemSource(StrictModel):
    """Where the content comes from; ``background`` is never attributed to a lecture."""

    document: SourceName = Field(
        description="The lecture document, or `background` for what no lecture of ours says."
    )
    file: Word | None = Field(default=None, description="Name of the document's file.")
    section: Word | None = Field(default=None, description='Section, in quotes if it is a number: `"5.1"`.')
    item: Word | None = Field(default=None, description="Number of the exercise, in quotes.")
    equations: tuple[Word, ...] = Field(
        default=(), max_length=40, description='Equation numbers, in quotes; `"2=5"` for one printed twice.'
    )
    note: Sentence | None = Field(default=None, description="What else helps to find the place.")


# Answer types from outside the engine, by name; see :func:`engine.answers.register`.
_OUTSIDE_ANSWERS: dict[str, type[StrictModel]] = {}


def add_answer_spec(name: str, model: type[StrictModel]) -> None:
    """Let item files hold answers of another type.

    Parameters
    ----------
    name : str
        The ``type`` that the file names.
    model : type of StrictModel
        What such an answer may say, with ``type: Literal[name]``.
    """
    _OUTSIDE_ANSWERS[name] = model


def remove_answer_spec(name: str) -> None:
    """Undo :func:`add_answer_spec`."""
    del _OUTSIDE_ANSWERS[name]


def _outside_first(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    # pydantic compiles the union below once; another type can only be looked up beside it.
    name = value.get("type") if isinstance(value, Mapping) else None
    model = _OUTSIDE_ANSWERS.get(name) if isinstance(name, str) else None
    return handler(value) if model is None else model.model_validate(value)


AnswerSpec = Annotated[
    AnyAnswer,
    Field(discriminator="type"),
    SerializeAsAny(),  # or the union would warn of a type that isn't its own
    WrapValidator(_outside_first),
]


class ItemMisconception(StrictModel):
    """A known mistake: the registry's id, what it would give here, and its feedback.

    ``feedback`` is optional where the registry (``problems/misconceptions.yaml``) has a sentence.
    """

    id: MisconceptionId = Field(description="Id in the registry, or one of your own with `feedback`.")
    expr: Expression = Field(description="What the mistake would give.")
    feedback: Prose | None = Field(default=None, description="A sentence instead of the registry's.")


def _stated_points(part: dict[str, Any], usual: float | None) -> Any:
    """Return the points of a step, check or criterion as read; of a step with a rubric their sum."""
    answer = part.get("answer")
    if "points" not in part and isinstance(answer, dict) and answer.get("type") == "free_text":
        return _sum_of_points(answer.get("rubric"), None)
    return part.get("points", usual)


def _sum_of_points(parts: Any, usual: float | None) -> float | None:
    """Return the sum of the points of parts, `usual` where one states none; None where there is no sum."""
    if not isinstance(parts, list | tuple) or not parts or not all(isinstance(part, dict) for part in parts):
        return None
    points = [_stated_points(part, usual) for part in parts]
    if any(isinstance(p, bool) or not isinstance(p, int | float) for p in points):
        return None
    return float(sum(points))


class StepSpec(StrictModel):
    """One step of a multi-step item; its id is a name that later keys may use.

    With ``follow_through`` the step is also marked with the student's own earlier values.
    ``invariants`` guard what may be carried forward.
    """

    id: Name = Field(description="A name for the step's value, which later expressions may use.")
    prompt: Prose = Field(description="What this step asks for.")
    answer: AnswerSpec = Field(description="The answer field; every type but `code`.")
    points: Real = Field(
        default=1.0,
        gt=0,
        le=1000,
        description="Full marks of the step; of one with a rubric the sum of its criteria.",
    )
    # on by default: one early slip must not cost every step behind it
    follow_through: Flag = Field(
        default=True, description="Whether the step is also marked with the student's own earlier values."
    )
    # a wrong value for which, say, the weights sum to 3 leads nowhere, and following it would be unfair
    invariants: tuple[Expression, ...] = Field(
        default=(), max_length=10, description="What must be true of a value that is carried forward."
    )
    misconceptions: tuple[ItemMisconception, ...] = Field(
        default=(), max_length=40, description="Known mistakes in this step."
    )

    @model_validator(mode="before")
    @classmethod
    def _points_of_rubric(cls, data: Any) -> Any:
        # Before validation, on data that may be anything: what is wrong with a criterion is its own fault.
        points = _stated_points(data, None) if isinstance(data, dict) else None
        return data if points is None else {**data, "points": points}


class PrintedExercise(StrictModel):
    """The exercise as its source prints it: an exhibit, never silently corrected.

    ``options`` maps the printed letters to numbers or texts; ``key`` is the letter that the source's
    solution or the recomputation supports, ``null`` where there is none.
    """

    stem: Prose | None = Field(default=None, description="The printed stem, if it differs.")
    options: dict[Letter, NumbersOrProse] = Field(
        min_length=1, max_length=26, description="The printed options by their letters: numbers or texts."
    )
    # no default: that no printed option is right must be said, and not forgotten
    key: (
        Annotated[Annotated[Letter, Tag("one")] | Annotated[tuple[Letter, ...], Tag("list")], OneOrList]
        | None
    ) = Field(description="The right letter or letters, `null` if none is right.")
    expr: Expression | None = Field(default=None, description="What the exercise asks for, to be recomputed.")
    decimals: Whole | None = Field(
        default=None, ge=0, le=8, description="Decimal places that the source asks for."
    )
    scored: Flag = Field(default=False, description="Whether the printed form may be scored.")


class SourceErratum(StrictModel):
    """A fault of the source, found by recomputation or reading, shown to the learner.

    ``intended_option`` (a printed letter) is accepted with the note when
    ``accept_intended`` is true.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[FD]-[0-9]{1,2}$")] = Field(
        description="Number in the list of faults (F) and disagreements (D)."
    )
    kind: Literal["nearest_option_misrounded", "no_correct_option", "type_error", "ambiguous", "notation"] = (
        Field(description="What kind of fault it is.")
    )
    note: Prose = Field(description="What students read.")
    intended_option: Letter | None = Field(
        default=None, description="The printed letter that was clearly meant."
    )
    accept_intended: Flag = Field(
        default=False, description="Whether that letter is marked right, with the note."
    )
    # an erratum such as "no option is right" would answer the question
    after: Flag = Field(
        default=False, description="Whether the note is shown with the feedback, as it gives the answer away."
    )


class EffortLimit(StrictModel):
    """What a variant may ask for at most; `grade lint` counts."""

    operations: Whole = Field(
        ge=0, le=10_000, description="Multiplications, divisions and function values by hand."
    )
    decimals: Whole = Field(ge=0, le=8, description="Decimals of the drawn numbers.")


class ProblemSpec(StrictModel):
    """One problem file; its id is the file's name."""

    id: Identifier = Field(description="The item's id: the name of the file without `.yaml`.")
    title: Annotated[str, StringConstraints(min_length=3, max_length=120)] = Field(
        description="What lists and pages call the item."
    )
    source: Annotated[
        Annotated[ItemSource, Tag("one")]
        | Annotated[tuple[ItemSource, ...], Field(min_length=1), Tag("list")],
        OneOrList,
    ] = Field(description="Where the content comes from: one source or a list.")
    difficulty: Whole = Field(ge=1, le=5, description="From 1 (easy) to 5 (hard).")
    # at most as long as an exam of four hours
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
    # with steps or code the default comes from _points_of_parts below
    points: Real = Field(
        default=1.0,
        gt=0,
        le=1000,
        description="Full marks. With `steps`, `code` or a rubric they are the sum of the parts and may be "
        "left out.",
    )
    # said in the file so that a faulty exercise is never taken over unnoticed
    status: Literal["ok", "erratum", "disputed"] = Field(
        default="ok", description="`erratum` if the printed exercise is faulty; then `errata` says how."
    )
    parameters: dict[Name, ParameterSpec] = Field(
        default_factory=dict, max_length=40, description="What is drawn for each variant, by name."
    )
    # in order: each may use those above it
    derived: dict[Name, Expression] = Field(
        default_factory=dict,
        max_length=40,
        description="Values computed from the parameters, by name, in order.",
    )
    constraints: tuple[DrawConstraint, ...] = Field(
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
    misconceptions: tuple[ItemMisconception, ...] = Field(
        default=(), max_length=40, description="Known mistakes, with which a wrong answer is compared."
    )
    printed: PrintedExercise | None = Field(default=None, description="The exercise as its source prints it.")
    errata: tuple[SourceErratum, ...] = Field(default=(), max_length=10, description="Faults of the source.")
    effort: EffortLimit | None = Field(
        default=None, description="How much work a variant is at most, for computed items."
    )
    hints: tuple[Prose, ...] = Field(default=(), max_length=10, description="Hints, given one by one.")
    solution: Prose | None = Field(
        default=None, description="The worked solution; it may also use `{{ key }}` and the steps' names."
    )
    # "the second weight is the largest" is true of some draws only
    claims: tuple[DeclaredClaim, ...] = Field(
        default=(),
        max_length=40,
        description="Words that are true of some numbers only, with what makes them true.",
    )
    # with it `grade lint` doesn't complain that an item has few variants, and finds that it has fewer
    variants: Whole | None = Field(
        default=None, ge=1, description="Number of different variants, for an item that has fewer than 200."
    )

    @property
    def sources(self) -> tuple[ItemSource, ...]:
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
        # Before validation, on data that may be anything: what is wrong with a part is its own fault.
        if not isinstance(data, dict) or "points" in data:
            return data
        answer = data.get("answer")
        kind = answer.get("type") if isinstance(answer, dict) else None
        if isinstance(answer, dict) and kind == "free_text":
            points = _sum_of_points(answer.get("rubric"), None)
        elif isinstance(answer, dict) and kind == "code":
            # a check is worth nothing where nothing is said: most checks of a rubric come before others
            points = _sum_of_points(answer.get("checks"), 0.0)
        else:
            # a step is worth 1 where nothing is said
            points = _sum_of_points(data.get("steps"), 1.0)
        return data if points is None else {**data, "points": points}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a problem file."""
    schema = _tidy(ProblemSpec.model_json_schema(by_alias=True))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Softmark problem",
        **{key: value for key, value in schema.items() if key != "title"},
    }


def _tidy(schema: Any) -> Any:
    # pydantic invents titles, writes decimals as texts, and takes all unions for exclusive
    if isinstance(schema, list):
        return [_tidy(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    tidy = {
        key: _tidy(value) for key, value in schema.items() if not (key == "title" and isinstance(value, str))
    }
    if tidy.get("type") == "number" and isinstance(tidy.get("default"), str):
        tidy["default"] = float(tidy["default"])
    if "oneOf" in tidy and "discriminator" not in tidy:  # 3 is a number and also an expression
        tidy["anyOf"] = tidy.pop("oneOf")
    return tidy


def schema_text() -> str:
    """Return the JSON Schema as it stands in ``problems/schema.json``."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
