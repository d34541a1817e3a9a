"""The parts of an item: source, steps, known mistakes, printed exercise, errata, effort."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, Tag

from engine.spec.kinds import (
    Expression,
    Flag,
    Letter,
    MisconceptionId,
    Name,
    NumbersOrProse,
    OneOrList,
    Prose,
    Real,
    Sentence,
    SourceName,
    Whole,
    Word,
)
from engine.spec.schema.answers import (
    MatchingAnswer,
    MatrixAnswer,
    MultipleChoiceAnswer,
    NumberAnswer,
    OrderingAnswer,
    SingleChoiceAnswer,
    TokenAnswer,
    VectorAnswer,
)
from engine.spec.schema.base import Strict
from engine.spec.schema.code_answer import CodeAnswer

__all__ = ["AnswerSpec", "Effort", "Erratum", "Misconception", "PrintedExercise", "Source", "StepSpec"]


class Source(Strict):
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
