"""The pydantic models of a problem file: what a lecturer may write, and nothing else.

Numbers in a spec are read as :class:`decimal.Decimal` where their decimals matter.
An *expression* is a string in the small language of :mod:`engine.variants.expressions`:
names of parameters, derived values and earlier steps, literals, ``+ - * / **``, comparisons,
and calls of whitelisted functions, e.g. ``context(reverse(w), H)``.

The docstrings and descriptions here are the text of ``docs/problem-spec.md`` and of the JSON
Schema. What ties several keys together is checked in :mod:`engine.spec.checks`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, Tag, model_validator

from engine.spec.kinds import (
    Expression,
    Flag,
    Identifier,
    Letter,
    MisconceptionId,
    Name,
    Number,
    NumberOrWord,
    Numbers,
    NumbersOrProse,
    OneOrList,
    PositiveNumber,
    Prose,
    Real,
    Sentence,
    Size,
    Whole,
    Word,
)
from engine.spec.ranges import check_probability_step, check_range

__all__ = [
    "AnswerSpec",
    "CardSpec",
    "CheckSpec",
    "ChoiceParameter",
    "CodeAnswer",
    "Constraint",
    "DecimalParameter",
    "Erratum",
    "FixedParameter",
    "IntegerParameter",
    "LimitsSpec",
    "MatchPrompt",
    "MatchingAnswer",
    "MatrixAnswer",
    "MatrixParameter",
    "Misconception",
    "MultipleChoiceAnswer",
    "MutantSpec",
    "NumberAnswer",
    "OptionSpec",
    "OrderingAnswer",
    "ParameterSpec",
    "PrintedExercise",
    "ProbabilityTreeParameter",
    "ProblemSpec",
    "SingleChoiceAnswer",
    "Source",
    "StepSpec",
    "Strict",
    "TokenAnswer",
    "VectorAnswer",
    "VectorParameter",
    "WeightsParameter",
]


class Strict(BaseModel):
    """Base: unknown keys are errors, values are frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, allow_inf_nan=False)


class Source(Strict):
    """Where the content comes from; ``background`` is never attributed to a lecture."""

    document: Literal["S0", "S1", "S2", "S3", "S4", "background"] = Field(
        description="The lecture document, or `background` for what no lecture of ours says."
    )
    file: Word | None = Field(default=None, description="Name of the document's file.")
    section: Word | None = Field(default=None, description='Section, in quotes if it is a number: `"5.1"`.')
    item: Word | None = Field(default=None, description="Number of the exercise, in quotes.")
    equations: tuple[Word, ...] = Field(
        default=(), max_length=40, description='Equation numbers, in quotes; `"2=5"` for one printed twice.'
    )
    note: Sentence | None = Field(default=None, description="What else helps to find the place.")


# --- parameters -------------------------------------------------------------------------


class FixedParameter(Strict):
    """A value that is the same in every variant: a number or a nested list of numbers."""

    kind: Literal["fixed"]
    value: Numbers = Field(
        description="A number, a word, a list of numbers or a list of such lists, all equally long."
    )


class IntegerParameter(Strict):
    """A whole number, both bounds included."""

    kind: Literal["integer"]
    range: tuple[Whole, Whole] = Field(description="Smallest and largest value.")
    exclude: tuple[Whole, ...] = Field(default=(), description="Values that are never drawn.")

    @model_validator(mode="after")
    def _drawable(self) -> Self:
        low, high = self.range
        check_range(Decimal(low), Decimal(high), Decimal(1), [Decimal(value) for value in self.exclude])
        return self


class DecimalParameter(Strict):
    """A multiple of ``step`` within ``range``, both bounds included."""

    kind: Literal["decimal"]
    range: tuple[Number, Number] = Field(description="Smallest and largest value.")
    step: PositiveNumber = Field(description="Every value is a multiple of this.")
    exclude: tuple[Number, ...] = Field(default=(), description="Values that are never drawn.")

    @model_validator(mode="after")
    def _drawable(self) -> Self:
        check_range(*self.range, self.step, self.exclude)
        return self


class ChoiceParameter(Strict):
    """One of the listed numbers or words."""

    kind: Literal["choice"]
    options: tuple[NumberOrWord, ...] = Field(
        alias="from", min_length=1, max_length=200, description="The numbers or words to draw from."
    )


class VectorParameter(Strict):
    """``size`` entries, each as in a decimal parameter."""

    kind: Literal["vector"]
    size: Size = Field(description="Number of entries: a number or an expression.")
    range: tuple[Number, Number] = Field(description="Smallest and largest entry.")
    step: PositiveNumber = Field(default=Decimal(1), description="Every entry is a multiple of this.")
    distinct: Flag = Field(default=False, description="No two entries are equal.")
    exclude: tuple[Number, ...] = Field(default=(), description="Values that no entry takes.")

    @model_validator(mode="after")
    def _drawable(self) -> Self:
        count = self.size if self.distinct and isinstance(self.size, int) else 1
        check_range(*self.range, self.step, self.exclude, distinct=count)
        return self


class MatrixParameter(Strict):
    """Rows x columns entries, each as in a decimal parameter."""

    kind: Literal["matrix"]
    shape: tuple[Size, Size] = Field(description="Rows and columns: numbers or expressions.")
    range: tuple[Number, Number] = Field(description="Smallest and largest entry.")
    step: PositiveNumber = Field(default=Decimal(1), description="Every entry is a multiple of this.")
    distinct_rows: Flag = Field(default=False, description="No two rows are equal.")
    exclude: tuple[Number, ...] = Field(default=(), description="Values that no entry takes.")

    @model_validator(mode="after")
    def _drawable(self) -> Self:
        check_range(*self.range, self.step, self.exclude)
        return self


class WeightsParameter(Strict):
    """Positive multiples of ``step`` that sum to 1 exactly."""

    kind: Literal["weights"]
    size: Size = Field(description="Number of weights: a number or an expression.")
    step: PositiveNumber = Field(
        default=Decimal("0.1"), description="Every weight is a multiple of this; it divides 1."
    )
    distinct: Flag = Field(default=False, description="No two weights are equal.")

    @model_validator(mode="after")
    def _drawable(self) -> Self:
        check_probability_step(
            self.step, self.size if isinstance(self.size, int) else 1, distinct=self.distinct
        )
        return self


class ProbabilityTreeParameter(Strict):
    """A decoding table: for every prefix shorter than ``depth`` a row over ``vocabulary`` words.

    Each row sums to 1 exactly, in multiples of ``step``, no two entries of a row equal.
    The value has shape (number of prefixes, V), prefixes in the order (), (0), (1) … (0,0) …
    """

    kind: Literal["probability_tree"]
    vocabulary: Whole = Field(ge=2, le=5, description="Number of tokens V.")
    depth: Whole = Field(ge=1, le=4, description="Length of the sequences.")
    step: PositiveNumber = Field(
        default=Decimal("0.01"), description="Every probability is a multiple of this; it divides 1."
    )

    @model_validator(mode="after")
    def _drawable(self) -> Self:
        check_probability_step(self.step, self.vocabulary, distinct=True)
        return self


ParameterSpec = Annotated[
    FixedParameter
    | IntegerParameter
    | DecimalParameter
    | ChoiceParameter
    | VectorParameter
    | MatrixParameter
    | WeightsParameter
    | ProbabilityTreeParameter,
    Field(discriminator="kind"),
]


class Constraint(Strict):
    """An expression that must be true of the drawn values; the message names it when draws run out."""

    expr: Expression = Field(
        description="An expression that is true or false, such as `max(e) - min(e) >= 0.8`."
    )
    message: Sentence = Field(description="What the constraint asks for, in words.")


# --- answers ----------------------------------------------------------------------------


class OptionSpec(Strict):
    """An option written by hand (concept items)."""

    text: Prose = Field(description="The option as students see it.")
    correct: Flag = Field(default=False, description="Whether the option is right.")
    misconception: MisconceptionId | None = Field(
        default=None, description="Id of the known mistake that this option stands for."
    )
    feedback: Prose | None = Field(default=None, description="Shown to whoever picks the option.")
    when: Expression | None = Field(
        default=None, description="Offered only in variants for which this expression is true."
    )


class _Numeric(Strict):
    """What number, vector and matrix answers share.

    ``decimals`` (or ``significant`` figures) is what the stem asks for; ``working_decimals`` is the
    precision to which a student may round every intermediate. The interval that is graded is the
    interval that is shown.
    """

    key: Expression = Field(description="The expression that computes the key.")
    decimals: Whole | None = Field(
        default=None,
        ge=0,
        le=8,
        description="Decimal places that the stem asks for. Either this or `significant`.",
    )
    significant: Whole | None = Field(
        default=None,
        ge=1,
        le=10,
        description="Significant figures that the stem asks for. Either this or `decimals`.",
    )
    working_decimals: Whole | None = Field(
        default=None, ge=0, le=10, description="Decimals to which every intermediate may be rounded."
    )
    tolerance: PositiveNumber | None = Field(
        default=None,
        description="Accepted distance from the key, instead of the one that follows from rounding.",
    )
    decimal_comma: Flag = Field(default=False, description="Whether `0,5` means one half.")
    simplex: Flag = Field(default=False, description="Whether the entries are weights: none negative, sum 1.")
    near_credit: Real = Field(
        default=0.0, ge=0, le=1, description="Share of the points for an answer that is off by rounding only."
    )


class NumberAnswer(_Numeric):
    """One number."""

    type: Literal["number"]
    unit: Word | None = Field(default=None, description="Unit shown behind the field.")


class VectorAnswer(_Numeric):
    """A vector; ``partial`` says whether entries earn credit one by one."""

    type: Literal["vector"]
    partial: Literal["all", "per-entry"] = Field(
        default="all", description="`all` or nothing, or credit `per-entry`."
    )


class MatrixAnswer(_Numeric):
    """A matrix; ``partial`` says whether entries or rows earn credit one by one."""

    type: Literal["matrix"]
    partial: Literal["all", "per-entry", "per-row"] = Field(
        default="all", description="`all` or nothing, or credit `per-entry` or `per-row`."
    )


class SingleChoiceAnswer(Strict):
    """One right option: either ``options`` by hand, or ``key`` and ``distractors`` (misconception ids)."""

    type: Literal["single_choice"]
    options: tuple[OptionSpec, ...] = Field(
        default=(),
        max_length=26,
        description="Options written by hand, or the pool that `draw` draws from; a variant has exactly one "
        "correct option.",
    )
    draw: tuple[Whole, Whole] | None = Field(
        default=None,
        description="How many right (1) and how many wrong options each variant shows of those written.",
    )
    key: Expression | None = Field(default=None, description="The expression that computes the right option.")
    distractors: tuple[MisconceptionId, ...] = Field(
        default=(),
        max_length=9,
        description="Ids from `misconceptions`, whose expressions give the wrong options.",
    )
    decimals: Whole | None = Field(
        default=None, ge=0, le=8, description="Decimal places of computed options."
    )
    shuffle: Flag = Field(default=True, description="Whether the options are shown in random order.")
    key_position: Whole | None = Field(
        default=None,
        ge=0,
        le=9,
        description="Where the key of computed options stands, from 0, if not shuffled.",
    )


class MultipleChoiceAnswer(Strict):
    """Several right options; with ``draw`` [right, wrong] that many of each are drawn from the pool."""

    type: Literal["multiple_choice"]
    options: tuple[OptionSpec, ...] = Field(
        min_length=2, max_length=26, description="The options, or the pool that `draw` draws from."
    )
    policy: Literal["exact", "net-correct", "each-answer", "coverage"] = Field(
        default="net-correct",
        description="How points are given, with n options of which c are right: `exact` all or nothing; "
        "`net-correct` max(0, (hits - false picks) / c); `each-answer` 1 - wrong decisions / n; "
        "`coverage` (hits / c)(hits / picked).",
    )
    draw: tuple[Whole, Whole] | None = Field(
        default=None, description="How many right and how many wrong options each variant shows."
    )
    shuffle: Flag = Field(default=True, description="Whether the options are shown in random order.")


class CardSpec(Strict):
    """A card of an ordering item, or a target of a matching one."""

    id: Identifier = Field(description="The card's own id; students don't see it.")
    text: Prose = Field(description="The card as students see it.")
    when: Expression | None = Field(
        default=None, description="Shown only in variants for which this expression is true."
    )


class OrderingAnswer(Strict):
    """Cards in their right order; shown shuffled."""

    type: Literal["ordering"]
    cards: tuple[CardSpec, ...] = Field(
        min_length=2, max_length=20, description="The cards, in the right order."
    )
    draw: Whole | None = Field(
        default=None, ge=2, le=20, description="How many of the cards each variant shows."
    )
    policy: Literal["exact", "positions", "pairs"] = Field(
        default="pairs",
        description="`exact` all or nothing; `positions` the share of cards in their place; "
        "`pairs` from the share of pairs in the right order.",
    )
    feedback: Prose | None = Field(default=None, description="Shown when the order is wrong.")


class MatchPrompt(Strict):
    """The left side of one pair and the id of its target."""

    text: Prose = Field(description="The prompt as students see it.")
    target: Identifier = Field(description="Id of the target it belongs to.")
    feedback: Prose | None = Field(default=None, description="Shown when this pair is wrong.")
    when: Expression | None = Field(
        default=None, description="Shown only in variants for which this expression is true."
    )


class MatchingAnswer(Strict):
    """Each prompt belongs to one target; targets may be used more than once or not at all."""

    type: Literal["matching"]
    prompts: tuple[MatchPrompt, ...] = Field(
        min_length=2, max_length=40, description="The left side, or the pool that `draw` draws from."
    )
    draw: Whole | None = Field(
        default=None, ge=2, le=20, description="How many of the prompts each variant shows."
    )
    targets: tuple[CardSpec, ...] = Field(min_length=2, max_length=20, description="The right side.")
    policy: Literal["exact", "each-answer"] = Field(
        default="each-answer", description="`exact` all or nothing; `each-answer` the share of right pairs."
    )


class TokenAnswer(Strict):
    """A short text: one of ``accepted``, or what ``key`` gives (words joined by blanks)."""

    type: Literal["token"]
    accepted: tuple[Word, ...] = Field(default=(), max_length=50, description="The accepted texts.")
    key: Expression | None = Field(
        default=None, description="The expression that computes the accepted text."
    )
    case_sensitive: Flag = Field(default=False, description="Whether capitals matter.")


class CheckSpec(Strict):
    """One check of a code exercise.

    ``property`` names an entry of the property catalogue; ``requires`` the checks that must have
    passed first; hidden checks show only our sentence.
    """

    id: Identifier = Field(description="The check's own id.")
    property: Identifier = Field(description="Name of an entry of the property catalogue.")
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


AnswerSpec = Annotated[
    SingleChoiceAnswer
    | MultipleChoiceAnswer
    | NumberAnswer
    | VectorAnswer
    | MatrixAnswer
    | OrderingAnswer
    | MatchingAnswer
    | TokenAnswer
    | CodeAnswer,
    Field(discriminator="type"),
]


# --- the item ---------------------------------------------------------------------------


class Misconception(Strict):
    """A known mistake: the registry's id, what it would give here, and its feedback.

    ``feedback`` is optional where the registry (``problems/misconceptions.yaml``) has a sentence.
    """

    id: MisconceptionId = Field(description="Id in the registry, or one of your own with `feedback`.")
    expr: Expression = Field(description="What the mistake would give.")
    feedback: Prose | None = Field(default=None, description="A sentence instead of the registry's.")


class StepSpec(Strict):
    """One step of a multi-step item; its id is a name that later keys may use.

    With ``follow_through`` the step is also marked with the student's own earlier values.
    ``invariants`` guard what may be carried forward.
    """

    id: Name = Field(description="A name for the step's value, which later expressions may use.")
    prompt: Prose = Field(description="What this step asks for.")
    answer: AnswerSpec = Field(description="The answer field; every type but `code`.")
    points: Real = Field(default=1.0, gt=0, le=1000, description="Full marks of the step.")
    follow_through: Flag = Field(
        default=True, description="Whether the step is also marked with the student's own earlier values."
    )
    invariants: tuple[Expression, ...] = Field(
        default=(), max_length=10, description="What must be true of a value that is carried forward."
    )
    misconceptions: tuple[Misconception, ...] = Field(
        default=(), max_length=40, description="Known mistakes in this step."
    )


class PrintedExercise(Strict):
    """The exercise as its source prints it: an exhibit, never silently corrected.

    ``options`` maps the printed letters to numbers or texts; ``key`` is the letter that the source's
    solution or the recomputation supports, ``null`` where there is none.
    """

    stem: Prose | None = Field(default=None, description="The printed stem, if it differs.")
    options: dict[Letter, NumbersOrProse] = Field(
        min_length=1, max_length=26, description="The printed options by their letters: numbers or texts."
    )
    key: (
        Annotated[Annotated[Letter, Tag("one")] | Annotated[tuple[Letter, ...], Tag("list")], OneOrList]
        | None
    ) = Field(description="The right letter or letters, `null` if none is right.")
    expr: Expression | None = Field(default=None, description="What the exercise asks for, to be recomputed.")
    decimals: Whole | None = Field(
        default=None, ge=0, le=8, description="Decimal places that the source asks for."
    )
    scored: Flag = Field(default=False, description="Whether the printed form may be scored.")


class Erratum(Strict):
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
    note: Prose = Field(description="What students are told.")
    intended_option: Letter | None = Field(
        default=None, description="The printed letter that was clearly meant."
    )
    accept_intended: Flag = Field(
        default=False, description="Whether that letter is marked right, with the note."
    )
    after: Flag = Field(
        default=False, description="Whether the note is told with the feedback, as it gives the answer away."
    )


class Effort(Strict):
    """What a variant may ask for at most; `grade lint` counts."""

    operations: Whole = Field(
        ge=0, le=10_000, description="Multiplications, divisions and function values by hand."
    )
    decimals: Whole = Field(ge=0, le=8, description="Decimals of the drawn numbers.")


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
    covers: tuple[Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]+$", max_length=64)], ...] = Field(
        default=(),
        max_length=40,
        description="Entries of `syllabus.yaml` that the item covers. Its `errata` count without it.",
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
    variants: Whole | None = Field(
        default=None, ge=1, description="Number of different variants, for an item that has fewer than 200."
    )

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
