"""What students chose: each option against how well they did on the other items."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.analysis.classical import correlation
from engine.analysis.scores import Floats
from engine.plurals import agree, counted

__all__ = ["Choice", "ChoiceTable", "choice_table"]


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of an item.

    Parameters
    ----------
    option : str
        Empty for those who chose nothing.
    name : str
        Name of the misconception behind it, as the caller gave it; empty where there is none.
    is_key : bool
    students : int
        Who chose it.
    share : float
        Of all who were given the item. With several answers allowed the shares may sum to more than 1.
    by_group : tuple of int
        Who chose it in each group, the weakest first.
    point_biserial : float or None
        Correlation of choosing it with the score on the other items: should be above 0 for a key, below for a
        distractor.
    """

    option: str
    name: str
    is_key: bool
    students: int
    share: float
    by_group: tuple[int, ...]
    point_biserial: float | None


@dataclass(frozen=True, slots=True)
class ChoiceTable:
    """Options of an item by groups of students; ``group_sizes`` with the weakest first."""

    choices: tuple[Choice, ...]
    group_sizes: tuple[int, ...]
    students: int


def choice_table(
    chosen: Sequence[Collection[str]],
    standing: Floats,
    *,
    keys: Collection[str],
    options: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
    groups: int = 3,
) -> ChoiceTable:
    """Return who chose which option.

    Parameters
    ----------
    chosen : sequence of collections of str
        The options that each student who was given the item chose; an empty one for a blank answer. Where
        students have variants, options are told apart by what is behind them, such as the misconception.
    standing : array, shape (students,)
        How each did on the other items, such as ``ScoreMatrix.standing`` without this item. NaN for a
        student who had no other item: they count, but are in no group.
    keys : collection of str
        The right options.
    options : sequence of str
        Options in the order in which they're to be listed, also those that nobody chose. Others follow.
    names : mapping of str to str, optional
        Option to name of the misconception.
    groups : int
        Groups of about equal size; students with the same standing are in the same group.
    """
    if len(chosen) != len(standing):
        raise ValueError(
            f"{counted(len(chosen), 'answer')} {agree(len(chosen), 'do')}n't fit "
            f"{counted(len(standing), 'student')}"
        )
    named = names or {}
    placed = ~np.isnan(standing)
    group = _groups(standing[placed], groups)
    found = sorted({option for answer in chosen for option in answer} - set(options))
    listed = [*options, *found, *([""] if any(not answer for answer in chosen) else [])]
    choices = []
    for option in listed:
        took = np.array([option in answer if option else not answer for answer in chosen], dtype=np.float64)
        choices.append(
            Choice(
                option=option,
                name=named.get(option, ""),
                is_key=option in keys,
                students=int(took.sum()),
                share=float(took.mean()) if len(took) else 0.0,
                by_group=_counts(group[took[placed] == 1], groups),
                point_biserial=correlation(took[placed], standing[placed]),
            )
        )
    return ChoiceTable(tuple(choices), _counts(group, groups), len(chosen))


def _groups(standing: Floats, groups: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return each student's group, 0 for the weakest: by the middle of the ranks that equal ones share."""
    _, place, many = np.unique(standing, return_inverse=True, return_counts=True)
    middle = np.cumsum(many) - many / 2
    return np.minimum((middle[place] * groups / max(1, len(standing))).astype(np.int64), groups - 1)


def _counts(group: np.ndarray[tuple[int], np.dtype[np.int64]], groups: int) -> tuple[int, ...]:
    return tuple(int(count) for count in np.bincount(group, minlength=groups))
