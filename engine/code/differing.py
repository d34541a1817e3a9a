"""Where two results part, as a clause for the student: what most properties come to.

A clause shows what was seen beside what is due, with as many digits as it takes to tell the two apart: a
sentence whose evidence looks like the right answer is worse than none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from engine.code.observe import Observations, UnusableError
from engine.code.show import described, number_pair

__all__ = [
    "Evidence",
    "apart",
    "contrast",
    "differs",
    "own",
    "own_slack",
    "part_apart",
    "total_slack",
    "worst",
]

Floats = NDArray[np.float64]


class Evidence(str):
    """A clause on what was seen instead; what was seen and what is due stand in it as `got` and `due`.

    Where nothing is compared (“raised IndexError”), both are empty. Tests hold for every known mistake
    that the two are in the clause and aren't the same.
    """

    got: str
    due: str

    def __new__(cls, clause: str, got: str = "", due: str = "") -> Self:
        """Return the clause with both texts beside it."""
        made = super().__new__(cls, clause)
        made.got, made.due = got, due
        return made


def contrast(call: str, clause: str, got: Any, due: Any) -> Evidence:
    """Return a clause on two numbers that differ.

    Parameters
    ----------
    call : str
        What the clause begins with, as it is.
    clause : str
        Holds ``{got}`` and ``{due}``, which are filled in so that they can be told apart.
    got, due : number
    """
    texts = number_pair(got, due)
    return Evidence(f"{call} {clause.format(got=texts[0], due=texts[1])}", *texts)


def differs(got: Floats, wanted: Floats, slack: Any) -> NDArray[np.bool_]:
    """Return where two arrays lie further apart than `slack`; equal infinities, and two NaN, don't."""
    with np.errstate(invalid="ignore"):
        near = np.abs(got - wanted) <= slack
    return np.asarray(~(near | (got == wanted) | (np.isnan(got) & np.isnan(wanted))))


def worst(got: Floats, wanted: Floats, wrong: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the wrong place where the error is largest; what isn't finite is larger than anything."""
    with np.errstate(invalid="ignore"):
        error = np.where(wrong, np.abs(got - wanted), -1.0)
    flat = int(np.argmax(np.where(wrong & ~np.isfinite(error), np.inf, error)))
    return tuple(int(index) for index in np.unravel_index(flat, error.shape))


def total_slack(seen: Observations, members: Sequence[int], part: int = 0) -> float:
    """Return how far one part of the results of these cases may lie apart that is equal in theory."""
    return sum(seen.expected(member).parts[part].slack for member in members)


def own_slack(seen: Observations, members: Sequence[int], part: int = 0) -> float:
    """Return the slack between results of one program, which may be wrong.

    Rounding is relative: where the numbers are larger than the right ones, so are their errors.
    """
    found = max(_largest(own(seen, member, part)) for member in members)
    right = max(_largest(seen.expected(member).parts[part].values) for member in members)
    return total_slack(seen, members, part) * max(1.0, found / right if right > 0 else 1.0)


def _largest(values: Floats | None) -> float:
    found = 0.0 if values is None else float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    return found if math.isfinite(found) else 0.0


def own(seen: Observations, member: int, part: int = 0) -> Floats | None:
    """Return one part of a program's own result, to compare another one with; None if there is none.

    A call that raised, or gave another shape, is reported by the checks that it belongs to.
    """
    try:
        return seen.values(member, part)
    except UnusableError:
        return None


def apart(
    seen: Observations,
    members: Sequence[int],
    got: Floats,
    wanted: Floats,
    slack: float,
    *,
    noun: str = "an entry",
) -> Evidence | None:
    """Return None if two arrays of one shape agree within `slack`, else where they part most.

    Parameters
    ----------
    seen : Observations
    members : sequence of int
        The case that the result is of, or the two cases that were to agree.
    got, wanted : ndarray
    slack : float
        Absolute.
    noun : str
        What an entry is called.
    """
    wrong = differs(got, wanted, slack)
    if not wrong.any():
        return None
    place = worst(got, wanted, wrong)
    calls = [described(seen.plan, member, seen.function) for member in members]
    where = f"between {calls[0]} and {calls[1]}" if len(calls) > 1 else f"for {calls[0]}"
    return contrast(f"{where} {noun}", "is {got} instead of {due}", got[place], wanted[place])


def part_apart(seen: Observations, members: Sequence[int], part: int, wanted: Floats) -> Evidence | None:
    """Return where one part of the last case's result differs from what the cases before it lead to."""
    noun = f"an entry of {seen.expected(members[-1]).result.parts[part]}"
    slack = own_slack(seen, members, part)
    return apart(seen, members[-2:], seen.values(members[-1], part), wanted, slack, noun=noun)
