"""Students with the same right and wrong answers are one pattern that is counted, not many students."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.analysis.scores import Floats, ScoreMatrix

__all__ = ["Patterns", "collapsed"]


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """The different patterns of answers.

    Parameters
    ----------
    right : array, shape (patterns, items)
        1 for a right answer, 0 for a wrong one or none.
    given : array, shape (patterns, items), or None
        1 where the item was given; None where all items were given to all.
    count : array, shape (patterns,)
        Students.
    place : array of int, shape (students,)
        Each student's pattern.
    """

    right: Floats
    given: Floats | None
    count: Floats
    place: npt.NDArray[np.intp]


def collapsed(binary: ScoreMatrix) -> Patterns:
    """Return the patterns of a matrix of 0, 1 and NaN."""
    given, right = binary.given, binary.right
    bits = np.packbits(np.concatenate([given, right], axis=1), axis=1)
    width = bits.shape[1]
    keys = np.ascontiguousarray(bits).view(np.dtype((np.void, width))).ravel()
    _, first, place, count = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    own = given[first].astype(np.float64)
    return Patterns(
        right=right[first].astype(np.float64),
        given=None if own.all() else own,
        count=count.astype(np.float64),
        place=place,
    )
