"""The pydantic models of a problem file: what a lecturer may write, and nothing else.

Numbers in a spec are read as :class:`decimal.Decimal` where their decimals matter.
An *expression* is a string in the small language of :mod:`engine.expressions.language`:
names of parameters, derived values and earlier steps, literals, ``+ - * / **``, comparisons,
and calls of whitelisted functions, e.g. ``context(reverse(w), H)``.

The docstrings and descriptions here are the text of ``docs/problem-spec.md`` and of the JSON
Schema. What ties several keys together is checked in :mod:`engine.items.checks`.
"""

from __future__ import annotations

from engine.items.bank import Bank, builtin_bank, item_version, load_spec
from engine.items.field_types import StrictModel
from engine.items.misconceptions import builtin_root
from engine.items.schema import (
    AnswerSpec,
    EffortLimit,
    ItemMisconception,
    ItemSource,
    PrintedExercise,
    ProblemSpec,
    SourceErratum,
    StepSpec,
    json_schema,
    schema_text,
)
from engine.items.schema_answers import (
    CardSpec,
    CheckSpec,
    CodeAnswer,
    LimitsSpec,
    MatchingAnswer,
    MatchPrompt,
    MatrixAnswer,
    MultipleChoiceAnswer,
    MutantSpec,
    NumberAnswer,
    OptionSpec,
    OrderingAnswer,
    SingleChoiceAnswer,
    TokenAnswer,
    VectorAnswer,
)
from engine.items.schema_parameters import (
    ChoiceParameter,
    DecimalParameter,
    DeclaredClaim,
    DrawConstraint,
    FixedParameter,
    IntegerParameter,
    MatrixParameter,
    ParameterSpec,
    ProbabilityTreeParameter,
    VectorParameter,
    WeightsParameter,
)

__all__ = [
    "AnswerSpec",
    "Bank",
    "CardSpec",
    "CheckSpec",
    "ChoiceParameter",
    "CodeAnswer",
    "DecimalParameter",
    "DeclaredClaim",
    "DrawConstraint",
    "EffortLimit",
    "FixedParameter",
    "IntegerParameter",
    "ItemMisconception",
    "ItemSource",
    "LimitsSpec",
    "MatchPrompt",
    "MatchingAnswer",
    "MatrixAnswer",
    "MatrixParameter",
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
    "SourceErratum",
    "StepSpec",
    "StrictModel",
    "TokenAnswer",
    "VectorAnswer",
    "VectorParameter",
    "WeightsParameter",
    "builtin_bank",
    "builtin_root",
    "item_version",
    "json_schema",
    "load_spec",
    "schema_text",
]
