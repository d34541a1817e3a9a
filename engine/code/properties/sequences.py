"""Properties of decoded sequences: what greedy and beam search return, whatever the model is.

The functions' first argument is a :class:`~engine.code.step_table.StepTable`, the last two are the end
symbol and the largest length. A result is a list of ids, or ids as a matrix filled up with -1 with one
log-probability a row.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.code.case import Argument, Group
from engine.code.differing import Evidence, contrast
from engine.code.observe import Observations
from engine.code.properties.catalogue import Property
from engine.code.properties.contract import judge_values
from engine.code.show import described, number
from engine.code.step_table import StepTable
from engine.plurals import counted

__all__ = ["PROPERTIES"]

Floats = NDArray[np.float64]
Judge = Callable[[Group, Observations], str | None]


def _asked(seen: Observations, member: int) -> tuple[StepTable, int, int]:
    """Return the model, the end symbol and the largest length."""
    args: tuple[Argument, ...] = seen.plan.cases[member].args
    table, eos, most = args[0], args[-2], args[-1]
    assert isinstance(table, StepTable) and isinstance(eos, int) and isinstance(most, int)
    return table, eos, most


def _sequences(seen: Observations, member: int) -> list[list[int]]:
    """Return all token lists that came back; of a greedy search there is one."""
    found = seen.raw(member)
    if found[0].ndim == 1:
        return [[int(token) for token in found[0]]]
    return [[int(token) for token in row if token != -1] for row in found[0]]


def _call(group: Group, seen: Observations) -> str:
    return described(seen.plan, group.members[0], seen.function)


def _each(clause: Callable[[list[int], StepTable, int, int], str | None]) -> Judge:
    """Return a judge of every token list by itself: `clause` says what is wrong with one."""

    def judge(group: Group, seen: Observations) -> str | None:
        (member,) = group.members
        for tokens in _sequences(seen, member):
            told = clause(tokens, *_asked(seen, member))
            if told is not None:
                return Evidence(f"in {_call(group, seen)} {tokens} {told}")
        return None

    return judge


def _in_vocabulary(tokens: list[int], table: StepTable, eos: int, most: int) -> str | None:
    wrong = [token for token in tokens if not 0 <= token < table.vocabulary]
    return f"holds {wrong[0]}, which is no id of a row of probabilities" if wrong else None


def _ids(group: Group, seen: Observations) -> str | None:
    """Judge token ids by themselves: each is an int and an id of a row of probabilities."""
    (member,) = group.members
    for part in seen[member].parts or ():
        if part.kind:
            due = seen.expected(member).result.wanted(seen.library)
            return Evidence(f"{_call(group, seen)} gave back {part.kind}, expected {due}", part.kind, due)
    return _each(_in_vocabulary)(group, seen)


def _length(tokens: list[int], table: StepTable, eos: int, most: int) -> str | None:
    return None if 1 <= len(tokens) <= most else f"has {counted(len(tokens), 'token')}"


def _ends(tokens: list[int], table: StepTable, eos: int, most: int) -> str | None:
    if eos in tokens[:-1]:
        return f"goes on after the end symbol {eos}"
    if len(tokens) < most and (not tokens or tokens[-1] != eos):
        return f"neither ends with the end symbol {eos} nor has {counted(most, 'token')}"
    return None


def _largest(tokens: list[int], table: StepTable, eos: int, most: int) -> str | None:
    """Say where a token isn't a most probable one after those before it."""
    for place, (token, row) in enumerate(zip(tokens, table.along(tokens), strict=True)):
        if not 0 <= token < len(row) or row[token] < max(row):
            return f"holds {token} at place {place}, where {row.index(max(row))} is the most probable token"
    return None


def _first_of_ties(tokens: list[int], table: StepTable, eos: int, most: int) -> str | None:
    for place, (token, row) in enumerate(zip(tokens, table.along(tokens), strict=True)):
        if 0 <= token < len(row) and row.index(row[token]) != token:
            return f"holds {token} at place {place}, where {row.index(row[token])} is just as probable"
    return None


def _logs(group: Group, seen: Observations) -> tuple[list[list[int]], Floats]:
    (member,) = group.members
    return _sequences(seen, member), seen.raw(member)[1]


def _own_logprob(group: Group, seen: Observations) -> str | None:
    """Judge every log-probability by the tokens beside it."""
    (member,) = group.members
    table, slack = _asked(seen, member)[0], seen.expected(member).parts[1].slack
    for tokens, got in zip(*_logs(group, seen), strict=True):
        chances = [_chance(row, token) for token, row in zip(tokens, table.along(tokens), strict=True)]
        due = sum(math.log(chance) if chance > 0 else -math.inf for chance in chances)
        if got != due and not abs(got - due) <= slack:  # infinities are equal, and have no difference
            clause = "has {got}, but the logarithm of its probability is {due}"
            return contrast(f"in {_call(group, seen)} {tokens}", clause, got, due)
    return None


def _chance(row: tuple[float, ...], token: int) -> float:
    return row[token] if 0 <= token < len(row) else 0.0


def _possible(group: Group, seen: Observations) -> str | None:
    tokens, logs = _logs(group, seen)
    table = _asked(seen, group.members[0])[0]
    for row, log in zip(tokens, logs, strict=True):
        for place, token in enumerate(row):
            if _chance(table.after(tuple(row[:place])), token) == 0:
                clause = f"holds {token} at place {place}, where its probability is 0"
                return Evidence(
                    f"in {_call(group, seen)} {row} with the log-probability {number(log)} {clause}"
                )
    return judge_values(group, seen)  # what is left must be found all the same


def _ranked(group: Group, seen: Observations) -> str | None:
    tokens, logs = _logs(group, seen)
    slack = seen.expected(group.members[0]).parts[1].slack
    for place in range(1, len(logs)):
        before, log = float(logs[place - 1]), float(logs[place])
        if log != before and not log - before <= slack:  # infinities are equal, and have no difference
            clause = f"stands behind {tokens[place - 1]}, with {{got}} behind {{due}}"
            return contrast(f"in {_call(group, seen)} {tokens[place]}", clause, log, before)
    return None


def _count(group: Group, seen: Observations) -> str | None:
    """Judge that `due` hypotheses came back, no two the same."""
    tokens, _ = _logs(group, seen)
    due = int(group.data["due"])
    call = _call(group, seen)
    if len(tokens) != due:
        came = counted(len(tokens), "hypothesis")
        return Evidence(f"{call} gave {came} instead of {due}", str(len(tokens)), str(due))
    if len({tuple(row) for row in tokens}) < len(tokens):
        return Evidence(f"{call} gave the same hypothesis twice")
    return None


def _best(group: Group, seen: Observations) -> str | None:
    """Judge the first hypothesis: its tokens come with the group as ``due``."""
    tokens, _ = _logs(group, seen)
    due = list(group.data["due"])
    if tokens and tokens[0] == due:
        return None
    first = str(tokens[0]) if tokens else "nothing"
    return Evidence(f"{_call(group, seen)} has {first} first instead of {due}", first, str(due))


def _tie_order(group: Group, seen: Observations) -> str | None:
    tokens, logs = _logs(group, seen)
    for first in range(len(tokens) - 1):
        if logs[first] == logs[first + 1] and tokens[first] > tokens[first + 1]:
            pair = str(tokens[first]), str(tokens[first + 1])
            return Evidence(f"in {_call(group, seen)} {pair[0]} stands before {pair[1]}", *pair)
    return None


PROPERTIES = (
    Property(
        "vocabulary",
        "tokens are known ids",
        "Every token must be an id of a row of probabilities.",
        _ids,
    ),
    Property(
        "length", "number of tokens", "There must be at least one token and at most max_len.", _each(_length)
    ),
    Property(
        "ends",
        "where sequences end",
        "Tokens must end with eos or at max_len, and nothing may follow eos.",
        _each(_ends),
    ),
    Property(
        "largest",
        "each token is a most probable one",
        "Every token must be a most probable one after those before it.",
        _each(_largest),
    ),
    Property(
        "smallest-id",
        "ties between tokens",
        "Of equally probable tokens the smallest id must win.",
        _each(_first_of_ties),
    ),
    Property(
        "own-logprob",
        "log-probabilities fit their tokens",
        "Log-probabilities must be those of the tokens beside them.",
        _own_logprob,
    ),
    Property("possible", "tokens of probability 0", "No token of probability 0 may be taken.", _possible),
    Property(
        "ranked",
        "the best hypothesis comes first",
        "The best hypothesis must come first, the worst last.",
        _ranked,
    ),
    Property(
        "hypotheses",
        "number of hypotheses",
        "There must be the right number of hypotheses, no two the same.",
        _count,
    ),
    Property(
        "best",
        "the first hypothesis is the best",
        "The first hypothesis must be the most probable of all sequences.",
        _best,
    ),
    Property(
        "tie-order",
        "order of equally probable hypotheses",
        "Of equally probable hypotheses the smaller list must come first.",
        _tie_order,
    ),
)
