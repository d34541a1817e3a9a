"""What an author needs who says every case by hand: plans, drawn sizes, exact numbers, results of each kind.

Most exercises need none of it: ``engine.exercises.Exercise`` makes a plan from the inputs and relations
alone. The built-in exercises say their cases themselves, because each of their checks was tuned to find one
known mistake. A class derived from :class:`PlannedExercise` (or :class:`ArrayExercise`, whose function
takes arrays and returns one) is what such a file ends with::

    exercise = _Softmax()
"""

from __future__ import annotations

from engine.code.arguments import Argument
from engine.code.plan import ExpectedPart, ExpectedResult, relative_tolerance
from engine.code.plan_builder import (
    BLOCKS,
    ExactValues,
    PlanBuilder,
    beyond_blocks,
    half,
    misfits,
    single,
    spread,
)
from engine.code.planned_exercise import (
    ArrayExercise,
    ArrayInputs,
    Arrays,
    Floats,
    PlannedExercise,
    Rounding,
    draw_sizes,
    draw_specs,
    hundreds,
    integers,
    together,
    unequal_sizes,
)
from engine.code.result_kinds import HypothesesResult, TokensResult, TupleResult
from engine.code.shared_cases import (
    LOW,
    SearchSizes,
    add_key_relations,
    add_saturated,
    add_tanh_relations,
    billions,
    draw_accepted,
    draw_searches,
    draw_table,
    is_clear,
)
from engine.code.step_table import StepTable
from reference.tangents import gradients_of

__all__ = [
    "BLOCKS",
    "LOW",
    "Argument",
    "ArrayExercise",
    "ArrayInputs",
    "Arrays",
    "ExactValues",
    "ExpectedPart",
    "ExpectedResult",
    "Floats",
    "HypothesesResult",
    "PlanBuilder",
    "PlannedExercise",
    "Rounding",
    "SearchSizes",
    "StepTable",
    "TokensResult",
    "TupleResult",
    "add_key_relations",
    "add_saturated",
    "add_tanh_relations",
    "beyond_blocks",
    "billions",
    "draw_accepted",
    "draw_searches",
    "draw_sizes",
    "draw_specs",
    "draw_table",
    "gradients_of",
    "half",
    "hundreds",
    "integers",
    "is_clear",
    "misfits",
    "relative_tolerance",
    "single",
    "spread",
    "together",
    "unequal_sizes",
]
