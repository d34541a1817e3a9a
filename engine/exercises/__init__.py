"""What authors of code exercises import: inputs, relations, and the exercise that is made of them.

An exercise's folder holds ``exercise.py``, which ends with ``exercise = Exercise(…)``; the page
docs/writing-code-exercises.md writes one from nothing::

    from engine.exercises import Exercise, array, scores, shift_invariant, sums_to_one

    exercise = Exercise(
        {"x": array("n d", scores())},
        relations=[sums_to_one(), shift_invariant("x")],
    )
"""

from __future__ import annotations

from engine.exercises.input_exercise import Exercise
from engine.exercises.inputs import (
    array,
    mask,
    numbers,
    optional,
    positive,
    probabilities,
    record,
    scores,
    size,
    step_function,
    tokens,
    whole,
)
from engine.exercises.ready_relations import (
    causal,
    in_range_of,
    increasing_in,
    keeps_norm,
    linear_in,
    not_negative,
    permutation_equivariant,
    permutation_invariant,
    rows_independent,
    scale_invariant,
    shift_invariant,
    sums_to_one,
)
from engine.exercises.relations import Relation, RelationCall, relation

__all__ = [
    "Exercise",
    "Relation",
    "RelationCall",
    "array",
    "causal",
    "in_range_of",
    "increasing_in",
    "keeps_norm",
    "linear_in",
    "mask",
    "not_negative",
    "numbers",
    "optional",
    "permutation_equivariant",
    "permutation_invariant",
    "positive",
    "probabilities",
    "record",
    "relation",
    "rows_independent",
    "scale_invariant",
    "scores",
    "shift_invariant",
    "size",
    "step_function",
    "sums_to_one",
    "tokens",
    "whole",
]
