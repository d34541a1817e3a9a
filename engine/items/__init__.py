"""The pydantic models of a problem file: what a lecturer may write, and nothing else.

Numbers in a spec are read as :class:`decimal.Decimal` where their decimals matter.
An *expression* is a string in the small language of :mod:`engine.variants.expressions`:
names of parameters, derived values and earlier steps, literals, ``+ - * / **``, comparisons,
and calls of whitelisted functions, e.g. ``context(reverse(w), H)``.

The docstrings and descriptions here are the text of ``docs/problem-spec.md`` and of the JSON
Schema. What ties several keys together is checked in :mod:`engine.spec.checks`.
"""

from __future__ import annotations

from engine.spec.schema.answers import (
    CardSpec,
    MatchingAnswer,
    MatchPrompt,
    MatrixAnswer,
    MultipleChoiceAnswer,
    NumberAnswer,
    OptionSpec,
    OrderingAnswer,
    SingleChoiceAnswer,
    TokenAnswer,
    VectorAnswer,
)
from engine.spec.schema.base import Strict
from engine.spec.schema.code_answer import CheckSpec, CodeAnswer, LimitsSpec, MutantSpec
from engine.spec.schema.item import ProblemSpec
from engine.spec.schema.parameters import (
    ChoiceParameter,
    Claim,
    Constraint,
    DecimalParameter,
    FixedParameter,
    IntegerParameter,
    MatrixParameter,
    ParameterSpec,
    ProbabilityTreeParameter,
    VectorParameter,
    WeightsParameter,
)
from engine.spec.schema.parts import (
    AnswerSpec,
    Effort,
    Erratum,
    Misconception,
    PrintedExercise,
    Source,
    StepSpec,
)

__all__ = [
    "AnswerSpec",
    "CardSpec",
    "CheckSpec",
    "ChoiceParameter",
    "Claim",
    "CodeAnswer",
    "Constraint",
    "DecimalParameter",
    "Effort",
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
