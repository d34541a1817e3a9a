"""The answer types: what a problem file says about each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, Tag

from engine.items.field_types import (
    Expression,
    Flag,
    Identifier,
    MisconceptionId,
    Name,
    OneOrList,
    PositiveNumber,
    Prose,
    Real,
    Sentence,
    Statement,
    StrictModel,
    Whole,
    Word,
)
from engine.items.rubric_specs import FreeTextAnswer
from engine.text.words import join_words

# Choices have at most 26 options, one for each letter. Answers are given to 8 decimals at most: of a key in
# float64 12 digits count, so that none of those asked for is noise.


class OptionSpec(StrictModel):
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


class _Numeric(StrictModel):
    """What number, vector and matrix answers share.

    ``decimals`` (or ``significant`` figures) is what the stem asks for; ``working_decimals`` is the
    precision to which a student may round every intermediate. The interval that is graded is the
    interval that is shown.
    """

    # an expression and never a number: what is computed from the variant's values can't be mistyped
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
    # usually left out: the tolerance follows from the rounding that the stem asks for, see engine.expressions
    tolerance: PositiveNumber | None = Field(
        default=None,
        description=(
            "Accepted distance from the key, instead of the one that follows from rounding. Where neither "
            "`decimals` nor `significant` is stated, every number within it is right, however it is written."
        ),
    )
    decimal_comma: Flag = Field(default=False, description="Whether `0,5` means one half.")
    simplex: Flag = Field(default=False, description="Whether the entries are weights: none negative, sum 1.")
    # off by rounding: somebody who rounded too early has understood everything but that
    near_credit: Real = Field(
        default=0.0, ge=0, le=1, description="Share of the points for an answer that is off by rounding only."
    )


class NumberAnswer(_Numeric):
    """One number."""

    type: Literal["number"]
    unit: Word | None = Field(default=None, description="Unit shown after the field.")


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


class SingleChoiceAnswer(StrictModel):
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
    # with the key ten options, which stand at 0 to 9
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
        description="Position of the key of computed options, from 0, if not shuffled.",
    )


# of two options, one of which is right, there is nothing to draw
HowMany = Annotated[
    Annotated[Whole, Field(ge=3, le=26), Tag("one")] | Annotated[tuple[Whole, Whole], Tag("list")], OneOrList
]


class MultipleChoiceAnswer(StrictModel):
    """Several right options; with ``draw: 6`` each variant shows six, and how many are right differs."""

    type: Literal["multiple_choice"]
    options: tuple[OptionSpec, ...] = Field(
        min_length=2, max_length=26, description="The options, or the pool that `draw` draws from."
    )
    # net-correct by default: picking everything earns nothing, and one slip doesn't cost all
    policy: Literal["exact", "net-correct", "each-answer", "coverage"] = Field(
        default="net-correct",
        description="How points are given, with n options of which c are right: `exact` all or nothing; "
        "`net-correct` max(0, (hits - false picks) / c); `each-answer` 1 - wrong decisions / n; "
        "`coverage` (hits / c)(hits / picked).",
    )
    draw: HowMany | None = Field(
        default=None,
        description="How many options each variant shows, of which 1 to 4 are right, another number in each "
        "variant; or [right, wrong], always the same numbers of both.",
    )
    shuffle: Flag = Field(default=True, description="Whether the options are shown in random order.")


class CardSpec(StrictModel):
    """A card of an ordering item, or a target of a matching one."""

    id: Identifier = Field(description="The card's own id; students don't see it.")
    text: Prose = Field(description="The card as students see it.")
    when: Expression | None = Field(
        default=None, description="Shown only in variants for which this expression is true."
    )


class OrderingAnswer(StrictModel):
    """Cards in their right order; shown shuffled."""

    type: Literal["ordering"]
    # twenty cards are 190 pairs, from which `policy: pairs` still tells a good order from a fair one
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


class MatchPrompt(StrictModel):
    """The left side of one pair and the id of its target."""

    text: Prose = Field(description="The prompt as students see it.")
    target: Identifier = Field(description="Id of the target it belongs to.")
    feedback: Prose | None = Field(default=None, description="Shown when this pair is wrong.")
    when: Expression | None = Field(
        default=None, description="Shown only in variants for which this expression is true."
    )


class MatchingAnswer(StrictModel):
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


class TokenAnswer(StrictModel):
    """A short text: one of ``accepted``, or what ``key`` gives (words joined by blanks)."""

    type: Literal["token"]
    accepted: tuple[Word, ...] = Field(default=(), max_length=50, description="The accepted texts.")
    key: Expression | None = Field(
        default=None, description="The expression that computes the accepted text."
    )
    case_sensitive: Flag = Field(default=False, description="Whether capitals matter.")
    order_credit: Real = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Share of the points for the right sequences in another order, where there are several.",
    )


class CheckSpec(StrictModel):
    """One check of a code exercise.

    ``property`` names an entry of the property catalogue; ``requires`` the checks that must have
    passed first; hidden checks show only our sentence.
    """

    id: Identifier = Field(description="The check's own id.")
    # names of the catalogue in engine.code, which is asked when the exercise is loaded
    property: Identifier = Field(description="Name of an entry of the property catalogue.")
    title: Word | None = Field(
        default=None, description="What is tried, in a few words; without it the property's own."
    )
    points: Real = Field(default=0.0, ge=0, le=1000, description="Points that a passed check earns.")
    # hidden unless said otherwise, or a file could be written for the inputs of the checks
    public: Flag = Field(default=False, description="Whether students see inputs and expected values.")
    requires: tuple[Identifier, ...] = Field(
        default=(), description="Ids of checks without which this one is skipped."
    )
    # whatever a property takes: engine.code knows, and says what is wrong
    options: dict[str, Any] = Field(default_factory=dict, description="Options of the property.")
    message: Sentence | None = Field(default=None, description="Shown when the check fails.")
    together: Identifier | None = Field(
        default=None,
        description="Checks with the same word here earn their points only if all of them pass.",
    )


class MutantSpec(StrictModel):
    """A known-wrong implementation, the check that must kill it, and what to tell the student."""

    id: MisconceptionId = Field(description="The mutant's own id, the registry's where it has one.")
    file: Word = Field(description="Its file, seen from the folder of the spec.")
    # a mutant that no check kills shows that the rubric would give a wrong file full marks
    killed_by: tuple[Identifier, ...] = Field(
        min_length=1, description="Ids of the checks that must fail for it."
    )
    feedback: Sentence | None = Field(
        default=None,
        description="What a student with this mistake reads; needed unless it `combines` others.",
    )
    combines: tuple[MisconceptionId, ...] = Field(
        default=(),
        description="Ids of the mutants whose mistakes this one makes together; students read all sentences.",
    )
    reference_only: Sentence | None = Field(
        default=None,
        description="Why no property kills it, if only the comparison with the reference's values does.",
    )
    reason: Sentence | None = Field(default=None, description="Why the mutant is in the set, for lecturers.")


class EquivalentSpec(StrictModel):
    """Changes of a solution that `grade lint --mutants` makes and that leave it right."""

    file: Word | None = Field(default=None, description="The solution; every one, if left out.")
    # the statement and not its number, so that a declaration survives what is written above it
    line: Statement = Field(description="The statement as written in the solution, or a loop's first line.")
    becomes: tuple[Statement, ...] = Field(
        min_length=1, max_length=100, description="What it may become, as `grade mutants` prints it."
    )
    because: Sentence = Field(description="Why each of these programs is right.")


class LimitsSpec(StrictModel):
    """Limits on one submission."""

    wall_s: Real = Field(default=10.0, gt=0, le=600, description="Seconds for the whole submission.")
    call_s: Real = Field(default=2.0, gt=0, le=60, description="Seconds for one call.")
    # importing torch alone takes some hundred MiB
    memory_mib: Whole = Field(default=1536, ge=64, le=16384, description="Memory in MiB.")


def _instead_of_plan(plan: object) -> str:
    """Return what to write instead of the plan that an item named when plans were part of the engine."""
    from engine.items.checks.code import builtin_exercises  # it needs the models of this module

    exercises = builtin_exercises()
    same_word = [name for name in exercises if str(plan).lower() in name.replace("-", "")]
    names = [str(plan)] if plan in exercises else same_word or exercises
    step = f"for the inputs of a built-in exercise write exercise: {join_words(names, 'or', 60)}"
    return f"a plan is now the file exercise.py of an exercise; {step}"


class CodeAnswer(StrictModel):
    """A function to write; the folder of the spec holds starter, solutions and mutants."""

    # keys of earlier versions, and what to write instead
    retired_keys: ClassVar[Mapping[str, Callable[[object], str]]] = {"plan": _instead_of_plan}

    type: Literal["code"]
    function: Name = Field(description="Name of the function; the item's id is this name with hyphens.")
    signature: Word = Field(description="The signature as students see it, such as `softmax(x, axis=-1)`.")
    exercise: Word = Field(
        default="exercise.py",
        description="The author's file, which says what the inputs are and which relations hold; or the id "
        "of a built-in exercise, whose file is then used.",
    )
    examples: tuple[dict[str, Any], ...] = Field(
        default=(),
        max_length=20,
        description="Public inputs, the arguments by name: what students see. Without them one is drawn.",
    )
    starter: Word = Field(default="starter.py", description="The file that students start from.")
    solutions: tuple[Word, ...] = Field(min_length=1, description="Right implementations; all must pass.")
    checks: tuple[CheckSpec, ...] = Field(min_length=1, max_length=100, description="What is checked.")
    # each costs a run in the kill matrix of `grade lint --mutants`
    mutants: tuple[MutantSpec, ...] = Field(
        default=(), max_length=100, description="Known-wrong implementations."
    )
    equivalent: tuple[EquivalentSpec, ...] = Field(
        default=(),
        max_length=200,
        description="Generated mutants that pass every check because they are right, with the reason.",
    )
    # a hint for honest students, not a barrier: the sandbox is what keeps submissions in bounds
    forbidden: tuple[Word, ...] = Field(
        default=(),
        max_length=100,
        description="Calls that the file may not contain, such as `torch.softmax` or `numpy.*`. They are "
        "looked for in the source; a student who wants to can hide them.",
    )
    limits: LimitsSpec = Field(
        default=LimitsSpec(), description="Time and memory, if the usual ones don't fit."
    )


# Every answer type of the engine; the registry of :mod:`engine.answers` has the class that marks each.
AnyAnswer = (
    SingleChoiceAnswer
    | MultipleChoiceAnswer
    | NumberAnswer
    | VectorAnswer
    | MatrixAnswer
    | OrderingAnswer
    | MatchingAnswer
    | TokenAnswer
    | FreeTextAnswer
    | CodeAnswer
)
