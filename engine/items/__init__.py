"""Items: the models of a problem file, the checks that it passes when it is read, and the bank of all items.

A file is read in three passes whose faults are shown together, each with its line and column: the YAML
(:mod:`engine.text.yaml`), the shape of every value (:mod:`~engine.items.problem_spec` and the two modules
beside it), and what ties several values together (:mod:`engine.items.checks`). So whatever
:func:`load_spec` accepts can be drawn, unless the drawn numbers themselves make an expression undefined.

The docstrings and descriptions of the models are the text of ``docs/problem-spec.md`` and of the JSON Schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.items.bank import Bank, builtin_bank, builtin_root
from engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from engine.items.answer_specs import (
        CheckSpec,
        CodeAnswer,
        EquivalentSpec,
        MatchingAnswer,
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
    from engine.items.bank_files import item_version, load_spec
    from engine.items.field_types import (
        ChoiceParameter,
        DecimalParameter,
        FixedParameter,
        IntegerParameter,
        MatrixParameter,
        ProbabilityTreeParameter,
        VectorParameter,
        WeightsParameter,
    )
    from engine.items.problem_spec import (
        AnswerSpec,
        ItemMisconception,
        ItemSource,
        PrintedExercise,
        ProblemSpec,
        SourceErratum,
        json_schema,
        schema_text,
    )
    from engine.items.rubric_specs import CriterionSpec, FreeTextAnswer

__all__ = [
    "AnswerSpec",
    "Bank",
    "CheckSpec",
    "ChoiceParameter",
    "CodeAnswer",
    "CriterionSpec",
    "DecimalParameter",
    "EquivalentSpec",
    "FixedParameter",
    "FreeTextAnswer",
    "IntegerParameter",
    "ItemMisconception",
    "ItemSource",
    "MatchingAnswer",
    "MatrixAnswer",
    "MatrixParameter",
    "MultipleChoiceAnswer",
    "MutantSpec",
    "NumberAnswer",
    "OptionSpec",
    "OrderingAnswer",
    "PrintedExercise",
    "ProbabilityTreeParameter",
    "ProblemSpec",
    "SingleChoiceAnswer",
    "SourceErratum",
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

# the models bring pydantic, which a list of items doesn't need
__getattr__ = lazy_names(
    __name__,
    {
        "answer_specs": "CheckSpec CodeAnswer EquivalentSpec MatchingAnswer MatrixAnswer "
        "MultipleChoiceAnswer MutantSpec NumberAnswer OptionSpec OrderingAnswer SingleChoiceAnswer "
        "TokenAnswer VectorAnswer",
        "field_types": "ChoiceParameter DecimalParameter FixedParameter IntegerParameter MatrixParameter "
        "ProbabilityTreeParameter VectorParameter WeightsParameter",
        "problem_spec": "AnswerSpec ItemMisconception ItemSource PrintedExercise ProblemSpec SourceErratum "
        "json_schema schema_text",
        "rubric_specs": "CriterionSpec FreeTextAnswer",
        "bank_files": "item_version load_spec",
    },
)
