"""An answer in words with its rubric: what a problem file says of an answer that a person marks.

A rubric is written for two readers. Markers need to know what earns each point, and a sample answer to
compare with. Students see the titles and points of the criteria before they answer, and the whole criteria
where they see solutions; so a title names the matter and doesn't give the answer away.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from engine.items.field_types import Identifier, Prose, Real, StrictModel, Whole, Word, fault_here, refuse
from engine.text.words import count_noun

MOST_WORDS = 2000
"""The longest answer that an item can ask for: more is an essay, which nobody marks by a rubric of points."""
_MOST_STEPS = 100  # of one criterion: more choices than any marker can tell apart


class LevelSpec(StrictModel):
    """One level of a criterion: the points, and what an answer must have for them."""

    points: Real = Field(ge=0, le=1000, description="Points of this level.")
    text: Prose = Field(description="What earns them, for the marker; students see the level they reached.")


def _falling(levels: tuple[LevelSpec, ...]) -> tuple[LevelSpec, ...]:
    points = [level.points for level in levels]
    if any(earlier <= later for earlier, later in pairwise(points)):
        raise fault_here("the levels go from the most points to the fewest, each with points of its own")
    return levels


class CriterionSpec(StrictModel):
    """One criterion of a rubric.

    A marker gives 0 to ``points`` in steps of ``step``, or the points of one of the ``levels``. Not reaching
    any level is 0.
    """

    id: Identifier = Field(description="The criterion's own id: its column in a table for marking.")
    title: Word = Field(
        description="What is judged, in a few words; students see it before they answer, so it mustn't give "
        "the answer away."
    )
    text: Prose = Field(description="What earns full points; students see it where they see solutions.")
    points: Real = Field(gt=0, le=1000, description="The most points.")
    step: Real | None = Field(
        default=None, gt=0, le=1000, description="Points are multiples of this; 0.5 if left out."
    )
    levels: Annotated[tuple[LevelSpec, ...], AfterValidator(_falling)] = Field(
        default=(),
        max_length=10,
        description="The only points that can be given, from the most to the fewest, with what earns each.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.levels and self.step is not None:
            refuse("step", "'step' has no effect beside 'levels': they say which points can be given")
        if self.levels and self.levels[0].points != self.points:
            refuse("levels", f"the first level earns all the points, {self.points:g}")
        if self.step is not None and self.step > self.points:
            refuse("step", f"a step can't be larger than the points, {self.points:g}")
        if self.step is not None and self.points / self.step > _MOST_STEPS:
            refuse("step", f"at most {count_noun(_MOST_STEPS, 'step')} make a criterion's points")
        return self


class FreeTextAnswer(StrictModel):
    """An answer in the student's own words, which a person marks by a rubric.

    The full marks are the sum of the criteria's points. Until somebody has marked it, an answer has no score.
    """

    needs_person: ClassVar[bool] = True

    type: Literal["free_text"]
    rubric: tuple[CriterionSpec, ...] = Field(
        min_length=1, max_length=20, description="What is judged, and the points for it."
    )
    # markers who have only criteria drift apart; with an answer to compare they don't
    sample: Prose = Field(
        description="An answer that earns full marks: markers see it, and students with the worked solution."
    )
    min_words: Whole | None = Field(
        default=None,
        ge=1,
        le=MOST_WORDS,
        description="The least number of words asked for. A shorter answer is marked all the same.",
    )
    max_words: Whole | None = Field(
        default=None,
        ge=1,
        le=MOST_WORDS,
        description="The largest number of words asked for; they are counted as the student types. A longer "
        "answer is refused while it can still be shortened, and uses no attempt; at the end of a sitting or "
        "in a download it is marked, and the marker sees its length.",
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min_words is not None and self.max_words is not None and self.min_words > self.max_words:
            refuse("max_words", f"this is less than min_words, {self.min_words}")
        return self
