"""The pydantic models of a problem file: what a lecturer may write, and nothing else.

Numbers in a spec are read as :class:`decimal.Decimal` where their decimals matter.
An *expression* is a string in the small language of :mod:`engine.variants.expressions`:
names of parameters, derived values and earlier steps, literals, ``+ - * / **``, comparisons,
and calls of whitelisted functions, e.g. ``context(reverse(w), H)``.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

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
    "TokenAnswer",
    "VectorAnswer",
    "VectorParameter",
    "WeightsParameter",
]

Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=64)]
# m-swap-W (matrices) and m-swap-w (weights) are two mistakes, so capitals are allowed here
MisconceptionId = Annotated[
    str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[A-Za-z0-9]+)*$", max_length=64)
]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=32)]
Expression = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Prose = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
Size = int | Expression


class Strict(BaseModel):
    """Base: unknown keys are errors, values are frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Source(Strict):
    """Where the content comes from; ``background`` is never attributed to a lecture."""

    document: Literal["S0", "S1", "S2", "S3", "S4", "background"]
    file: str | None = None
    section: str | None = None
    item: str | None = None
    equations: tuple[str, ...] = ()
    note: str | None = None


# --- parameters -------------------------------------------------------------------------


class FixedParameter(Strict):
    """A value that is the same in every variant: a number or a nested list of numbers."""

    kind: Literal["fixed"]
    value: Any


class IntegerParameter(Strict):
    """A whole number, both bounds included."""

    kind: Literal["integer"]
    range: tuple[int, int]
    exclude: tuple[int, ...] = ()


class DecimalParameter(Strict):
    """A multiple of ``step`` within ``range``, both bounds included."""

    kind: Literal["decimal"]
    range: tuple[Decimal, Decimal]
    step: Decimal = Field(gt=0)
    exclude: tuple[Decimal, ...] = ()


class ChoiceParameter(Strict):
    """One of the listed numbers or words."""

    kind: Literal["choice"]
    options: tuple[Decimal | str, ...] = Field(alias="from", min_length=1)


class VectorParameter(Strict):
    """``size`` entries, each as in a decimal parameter."""

    kind: Literal["vector"]
    size: Size
    range: tuple[Decimal, Decimal]
    step: Decimal = Field(default=Decimal(1), gt=0)
    distinct: bool = False
    exclude: tuple[Decimal, ...] = ()


class MatrixParameter(Strict):
    """Rows x columns entries, each as in a decimal parameter."""

    kind: Literal["matrix"]
    shape: tuple[Size, Size]
    range: tuple[Decimal, Decimal]
    step: Decimal = Field(default=Decimal(1), gt=0)
    distinct_rows: bool = False
    exclude: tuple[Decimal, ...] = ()


class WeightsParameter(Strict):
    """Positive multiples of ``step`` that sum to 1 exactly."""

    kind: Literal["weights"]
    size: Size
    step: Decimal = Field(default=Decimal("0.1"), gt=0)
    distinct: bool = False


class ProbabilityTreeParameter(Strict):
    """A decoding table: for every prefix shorter than ``depth`` a row over ``vocabulary`` words.

    Each row sums to 1 exactly, in multiples of ``step``, no two entries of a row equal.
    The value has shape (number of prefixes, V), prefixes in the order (), (0), (1) … (0,0) …
    """

    kind: Literal["probability_tree"]
    vocabulary: int = Field(ge=2, le=5)
    depth: int = Field(ge=1, le=4)
    step: Decimal = Field(default=Decimal("0.01"), gt=0)


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

    expr: Expression
    message: str


# --- answers ----------------------------------------------------------------------------


class OptionSpec(Strict):
    """An option written by hand (concept items)."""

    text: Prose
    correct: bool = False
    misconception: MisconceptionId | None = None
    feedback: str | None = None


class _Numeric(Strict):
    """What number, vector and matrix answers share.

    ``decimals`` (or ``significant`` figures) is what the stem asks for; ``working_decimals`` is the
    precision to which a student may round every intermediate. The interval that is graded is the
    interval that is shown.
    """

    key: Expression
    decimals: int | None = Field(default=None, ge=0, le=8)
    significant: int | None = Field(default=None, ge=1, le=10)
    working_decimals: int | None = Field(default=None, ge=0, le=10)
    tolerance: Decimal | None = Field(default=None, gt=0)
    decimal_comma: bool = False
    simplex: bool = False
    near_credit: float = Field(default=0.0, ge=0, le=1)


class NumberAnswer(_Numeric):
    """One number."""

    type: Literal["number"]
    unit: str | None = None


class VectorAnswer(_Numeric):
    """A vector; ``partial`` says whether entries earn credit one by one."""

    type: Literal["vector"]
    partial: Literal["all", "per-entry"] = "all"


class MatrixAnswer(_Numeric):
    """A matrix; ``partial`` says whether entries or rows earn credit one by one."""

    type: Literal["matrix"]
    partial: Literal["all", "per-entry", "per-row"] = "all"


class SingleChoiceAnswer(Strict):
    """One right option: either ``options`` by hand, or ``key`` and ``distractors`` (misconception ids)."""

    type: Literal["single_choice"]
    options: tuple[OptionSpec, ...] = ()
    key: Expression | None = None
    distractors: tuple[MisconceptionId, ...] = ()
    decimals: int | None = Field(default=None, ge=0, le=8)
    shuffle: bool = True
    key_position: int | None = Field(default=None, ge=0, le=9)


class MultipleChoiceAnswer(Strict):
    """Several right options; with ``draw`` [right, wrong] that many of each are drawn from the pool."""

    type: Literal["multiple_choice"]
    options: tuple[OptionSpec, ...] = Field(min_length=2)
    policy: Literal["exact", "net-correct", "each-answer", "coverage"] = "net-correct"
    draw: tuple[int, int] | None = None
    shuffle: bool = True


class CardSpec(Strict):
    """A card of an ordering item."""

    id: Identifier
    text: Prose


class OrderingAnswer(Strict):
    """Cards in their right order; shown shuffled."""

    type: Literal["ordering"]
    cards: tuple[CardSpec, ...] = Field(min_length=2)
    policy: Literal["exact", "positions", "pairs"] = "pairs"
    feedback: str | None = None


class MatchPrompt(Strict):
    """The left side of one pair and the id of its target."""

    text: Prose
    target: Identifier
    feedback: str | None = None


class MatchingAnswer(Strict):
    """Each prompt belongs to one target; targets may be used more than once or not at all."""

    type: Literal["matching"]
    prompts: tuple[MatchPrompt, ...] = Field(min_length=2)
    targets: tuple[CardSpec, ...] = Field(min_length=2)
    policy: Literal["exact", "each-answer"] = "each-answer"


class TokenAnswer(Strict):
    """A short text: one of ``accepted``, or what ``key`` gives (words joined by blanks)."""

    type: Literal["token"]
    accepted: tuple[str, ...] = ()
    key: Expression | None = None
    case_sensitive: bool = False


class CheckSpec(Strict):
    """One check of a code exercise.

    ``property`` names an entry of the property catalogue; ``requires`` the checks that must have
    passed first; hidden checks show only our sentence.
    """

    id: Identifier
    property: Identifier
    points: float = Field(default=0.0, ge=0)
    public: bool = False
    requires: tuple[Identifier, ...] = ()
    options: dict[str, Any] = Field(default_factory=dict)
    message: str | None = None


class MutantSpec(Strict):
    """A known-wrong implementation, the check that must kill it, and what to tell the student."""

    id: Identifier
    file: str
    killed_by: tuple[Identifier, ...] = Field(min_length=1)
    feedback: str
    reason: str | None = None


class LimitsSpec(Strict):
    """Limits on one submission."""

    wall_s: float = Field(default=10.0, gt=0, le=600)
    call_s: float = Field(default=2.0, gt=0, le=60)
    memory_mib: int = Field(default=1536, ge=64, le=16384)


class CodeAnswer(Strict):
    """A function to write; the folder of the spec holds starter, solutions and mutants."""

    type: Literal["code"]
    function: Name
    signature: str
    plan: Identifier
    starter: str = "starter.py"
    solutions: tuple[str, ...] = Field(min_length=1)
    checks: tuple[CheckSpec, ...] = Field(min_length=1)
    mutants: tuple[MutantSpec, ...] = ()
    limits: LimitsSpec = LimitsSpec()


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

    id: MisconceptionId
    expr: Expression
    feedback: str | None = None


class StepSpec(Strict):
    """One step of a multi-step item; its id is a name that later keys may use.

    With ``follow_through`` the step is also marked with the student's own earlier values.
    ``invariants`` guard what may be carried forward.
    """

    id: Name
    prompt: Prose
    answer: AnswerSpec
    points: float = Field(default=1.0, gt=0)
    follow_through: bool = True
    invariants: tuple[Expression, ...] = ()
    misconceptions: tuple[Misconception, ...] = ()


class PrintedExercise(Strict):
    """The exercise as its source prints it: an exhibit, never silently corrected.

    ``options`` maps the printed letters to numbers or texts; ``key`` is the letter that the source's
    solution or the recomputation supports, None where there is none.
    """

    stem: Prose | None = None
    options: dict[str, Any]
    key: str | tuple[str, ...] | None
    expr: Expression | None = None
    decimals: int | None = Field(default=None, ge=0, le=8)
    scored: bool = False


class Erratum(Strict):
    """A fault of the source, found by recomputation or reading, shown to the learner.

    ``intended_option`` (a printed letter) is accepted with the note when
    ``accept_intended`` is true.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[FD]-\d{1,2}$")]
    kind: Literal["nearest_option_misrounded", "no_correct_option", "type_error", "ambiguous", "notation"]
    note: Prose
    intended_option: str | None = None
    accept_intended: bool = False


class ProblemSpec(Strict):
    """One problem file; its id is the file's name."""

    id: Identifier
    title: Annotated[str, StringConstraints(min_length=3, max_length=120)]
    source: Source | tuple[Source, ...]
    difficulty: int = Field(ge=1, le=5)
    bloom: Literal["remember", "understand", "apply", "analyse", "evaluate", "create"]
    topics: tuple[Identifier, ...] = Field(min_length=1)
    points: float = Field(default=1.0, gt=0)
    status: Literal["ok", "erratum", "disputed"] = "ok"
    parameters: dict[Name, ParameterSpec] = Field(default_factory=dict)
    derived: dict[Name, Expression] = Field(default_factory=dict)
    constraints: tuple[Constraint, ...] = ()
    stem: Prose
    answer: AnswerSpec | None = None
    steps: tuple[StepSpec, ...] = ()
    misconceptions: tuple[Misconception, ...] = ()
    printed: PrintedExercise | None = None
    errata: tuple[Erratum, ...] = ()
    hints: tuple[Prose, ...] = ()
    solution: Prose | None = None
    variants: int | None = Field(default=None, ge=1)
