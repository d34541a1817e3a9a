"""Properties of sequences: causal attention, recurrent states, a decoder's step, what a search returns.

The first argument of a search is a :class:`~engine.code.step_table.StepTable`, the last two are the end
symbol and the largest length. Its result is a list of ids, or ids as a matrix filled up with -1 with one
log-probability a row.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import Argument
from engine.code.comparison import (
    DifferenceEvidence,
    contrast,
    describe_difference,
    describe_part_difference,
    describe_worst,
    number,
    slack_between,
    total_slack,
)
from engine.code.observe import PlanObservations
from engine.code.plan import CaseGroup
from engine.code.properties import Property
from engine.code.properties.contract import judge_values
from engine.code.properties.weights import least
from engine.code.step_table import StepTable
from engine.text.words import count_noun

Floats = NDArray[np.float64]
Judge = Callable[[CaseGroup, PlanObservations], str | None]


def _prefix(group: CaseGroup, run: PlanObservations) -> str | None:
    """Judge two calls, of which the second has only the first rows of the first one's sequence."""
    whole, short = group.members
    due = run.values(short)
    got = run.values(whole)[: len(due)]
    return describe_difference(run, group.members, got, due, slack_between(run, group.members))


def _first_row(group: CaseGroup, run: PlanObservations) -> str | None:
    """Judge the first row of the output: the right one comes with the group as ``due``."""
    due = np.asarray(group.data["due"], dtype=np.float64)
    slack = total_slack(run, group.members)
    return describe_difference(run, group.members, run.values(group.members[0])[0], due, slack)


def _last_row(group: CaseGroup, run: PlanObservations) -> str | None:
    """Judge two calls that differ in the flag alone: the last position sees everything in both."""
    causal, full = group.members
    got, due = run.values(causal)[-1], run.values(full)[-1]
    return describe_difference(run, group.members, got, due, slack_between(run, group.members))


def _chain(group: CaseGroup, run: PlanObservations) -> str | None:
    """Judge that the states of a whole sequence are those of its first part and then of the rest."""
    whole, first, rest = group.members
    due = np.concatenate([run.values(first), run.values(rest)])
    got = run.values(whole)
    clause = "for {call} an entry is {got}, but {due} if the sequence is given in two parts"
    return describe_worst(run, whole, clause, got, due, slack_between(run, group.members))


def _agrees(group: CaseGroup, run: PlanObservations) -> str | None:
    (member,) = group.members
    part = int(group.data["part"])
    got, due = run.values(member, part), np.asarray(group.data["due"], dtype=np.float64)
    slack = 2 * run.expected(member).parts[part].slack  # the shorter formula rounds too
    return describe_difference(run, [member], got, np.broadcast_to(due, got.shape), slack)


def _distribution(group: CaseGroup, run: PlanObservations) -> str | None:
    (member,) = group.members
    part = int(group.data["part"])
    got, slack = run.values(member, part), run.expected(member).parts[part].slack
    if not (got >= -slack).all():
        clause = "for {call} a probability is {got}, but must be at least {due}"
        return contrast(run, member, clause, least(got), 0)
    if not abs(float(got.sum()) - 1) <= len(got) * slack:
        return contrast(run, member, "for {call} the sum is {got} instead of {due}", got.sum(), 1)
    return None


def _same(group: CaseGroup, run: PlanObservations) -> str | None:
    """Judge that the second call gives what the first one gave, rows of parts with ``orders`` reordered.

    The group's ``parts`` are judged, all of them without.
    """
    first, second = group.members
    orders = group.data.get("orders", {})
    for part in group.data.get("parts", range(len(run.expected(second).parts))):
        due = run.values(first, part)
        due = due[orders[part]] if part in orders else due
        evidence = describe_part_difference(run, group.members, part, due)
        if evidence is not None:
            return evidence
    return None


def _search_arguments(run: PlanObservations, member: int) -> tuple[StepTable, int, int]:
    """Return the model, the end symbol and the largest length."""
    args: tuple[Argument, ...] = run.plan.cases[member].args
    table, eos, most = args[0], args[-2], args[-1]
    assert isinstance(table, StepTable) and isinstance(eos, int) and isinstance(most, int)
    return table, eos, most


def _sequences(run: PlanObservations, member: int) -> list[list[int]]:
    # of a greedy search there is one
    ids = run.raw(member)[0]
    if ids.ndim == 1:
        return [[int(token) for token in ids]]
    return [[int(token) for token in row if token != -1] for row in ids]


def _each(clause: Callable[[list[int], StepTable, int, int], str | None]) -> Judge:
    """Return a judge of every token list by itself: `clause` says what is wrong with one."""

    def judge(group: CaseGroup, run: PlanObservations) -> str | None:
        (member,) = group.members
        for tokens in _sequences(run, member):
            fault = clause(tokens, *_search_arguments(run, member))
            if fault is not None:
                return DifferenceEvidence(f"in {run.call(member)} {tokens} {fault}")
        return None

    return judge


def _in_vocabulary(tokens: list[int], table: StepTable, eos: int, most: int) -> str | None:
    wrong = [token for token in tokens if not 0 <= token < table.vocabulary]
    return f"holds {wrong[0]}, which isn't the id of a row of probabilities" if wrong else None


def _ids(group: CaseGroup, run: PlanObservations) -> str | None:
    (member,) = group.members
    for part in run[member].parts or ():
        if part.kind:
            due = run.expected(member).result.type_text(run.library)
            clause = f"{run.call(member)} gave back {part.kind}, expected {due}"
            return DifferenceEvidence(clause, part.kind, due)
    return _each(_in_vocabulary)(group, run)


def _length(tokens: list[int], table: StepTable, eos: int, most: int) -> str | None:
    return None if 1 <= len(tokens) <= most else f"has {count_noun(len(tokens), 'token')}"


def _ends(tokens: list[int], table: StepTable, eos: int, most: int) -> str | None:
    if eos in tokens[:-1]:
        return f"goes on after the end symbol {eos}"
    if len(tokens) < most and (not tokens or tokens[-1] != eos):
        return f"neither ends with the end symbol {eos} nor has {count_noun(most, 'token')}"
    return None


def _largest(tokens: list[int], table: StepTable, eos: int, most: int) -> str | None:
    # after a wrong token the next one is judged by what follows that
    for place, (token, row) in enumerate(zip(tokens, table.along(tokens), strict=True)):
        if not 0 <= token < len(row) or row[token] < max(row):
            return f"holds {token} at place {place}, where {row.index(max(row))} is the most probable token"
    return None


def _first_of_ties(tokens: list[int], table: StepTable, eos: int, most: int) -> str | None:
    for place, (token, row) in enumerate(zip(tokens, table.along(tokens), strict=True)):
        if 0 <= token < len(row) and row.index(row[token]) != token:
            return f"holds {token} at place {place}, where {row.index(row[token])} is just as probable"
    return None


def _logs(group: CaseGroup, run: PlanObservations) -> tuple[list[list[int]], Floats]:
    (member,) = group.members
    return _sequences(run, member), run.raw(member)[1]


def _own_logprob(group: CaseGroup, run: PlanObservations) -> str | None:
    # by the tokens beside it, right or wrong
    (member,) = group.members
    table, slack = _search_arguments(run, member)[0], run.expected(member).parts[1].slack
    for tokens, got in zip(*_logs(group, run), strict=True):
        chances = [_chance(row, token) for token, row in zip(tokens, table.along(tokens), strict=True)]
        due = sum(math.log(chance) if chance > 0 else -math.inf for chance in chances)
        if got != due and not abs(got - due) <= slack:  # infinities are equal, and have no difference
            clause = f"in {{call}} {tokens} has {{got}}, but the logarithm of its probability is {{due}}"
            return contrast(run, member, clause, got, due)
    return None


def _chance(row: tuple[float, ...], token: int) -> float:
    return row[token] if 0 <= token < len(row) else 0.0


def _possible(group: CaseGroup, run: PlanObservations) -> str | None:
    (member,) = group.members
    table = _search_arguments(run, member)[0]
    for tokens, log in zip(*_logs(group, run), strict=True):
        for place, token in enumerate(tokens):
            if _chance(table.after(tuple(tokens[:place])), token) == 0:
                clause = f"holds {token} at place {place}, where its probability is 0"
                row = f"{tokens} with the log-probability {number(log)}"
                return DifferenceEvidence(f"in {run.call(member)} {row} {clause}")
    return judge_values(group, run)  # what is left must be found all the same


def _ranked(group: CaseGroup, run: PlanObservations) -> str | None:
    (member,) = group.members
    tokens, logs = _logs(group, run)
    slack = run.expected(member).parts[1].slack
    for place in range(1, len(logs)):
        before, log = float(logs[place - 1]), float(logs[place])
        if log != before and not log - before <= slack:  # infinities are equal, and have no difference
            order = f"{tokens[place]} comes after {tokens[place - 1]}"
            return contrast(run, member, f"in {{call}} {order}, with {{got}} after {{due}}", log, before)
    return None


def _count(group: CaseGroup, run: PlanObservations) -> str | None:
    """Judge that `due` hypotheses came back, no two the same."""
    tokens, _ = _logs(group, run)
    due = int(group.data["due"])
    call = run.call(group.members[0])
    if len(tokens) != due:
        count = count_noun(len(tokens), "hypothesis")
        return DifferenceEvidence(f"{call} gave {count} instead of {due}", str(len(tokens)), str(due))
    if len({tuple(row) for row in tokens}) < len(tokens):
        return DifferenceEvidence(f"{call} gave the same hypothesis twice")
    return None


def _best(group: CaseGroup, run: PlanObservations) -> str | None:
    """Judge the first hypothesis: its tokens come with the group as ``due``."""
    tokens, _ = _logs(group, run)
    due = list(group.data["due"])
    if tokens and tokens[0] == due:
        return None
    first = str(tokens[0]) if tokens else "nothing"
    call = run.call(group.members[0])
    return DifferenceEvidence(f"{call} has {first} first instead of {due}", first, str(due))


def _tie_order(group: CaseGroup, run: PlanObservations) -> str | None:
    tokens, logs = _logs(group, run)
    for first in range(len(tokens) - 1):
        if logs[first] == logs[first + 1] and tokens[first] > tokens[first + 1]:
            pair = str(tokens[first]), str(tokens[first + 1])
            call = run.call(group.members[0])
            return DifferenceEvidence(f"in {call} {pair[0]} comes before {pair[1]}", *pair)
    return None


PROPERTIES = (
    # of causal attention
    Property(
        "prefix", "later positions change nothing before them",
        "What comes later must not change the rows before it.", _prefix,
    ),
    Property(
        "first-alone", "the first position sees itself alone",
        "The first row must be the first value, the only one that it sees.", _first_row,
    ),
    Property(
        "last-sees-all", "the last position sees everything",
        "The last row must be the same with and without the flag.", _last_row,
    ),
    # of states that follow from one another
    Property(
        "chain", "a sequence in two parts",
        "A sequence given in two parts must lead to the same states as in one.", _chain,
    ),
    # of one part of a result that has several, such as a decoder step's
    Property(
        "part-agrees", "special inputs with a known result",
        "For such special inputs a shorter formula must give the same result.", _agrees,
    ),
    Property(
        "distribution", "probabilities sum to 1",
        "Probabilities must not be negative and must sum to 1.", _distribution,
    ),
    Property(
        "parts-same", "results that such a change leaves alone",
        "Such a change of the input must leave these results as they are.", _same,
    ),
    # of decoded sequences, whatever the model is
    Property(
        "vocabulary", "tokens are known ids",
        "Every token must be an id of a row of probabilities.", _ids,
    ),
    Property(
        "length", "number of tokens", "There must be at least one token and at most max_len.", _each(_length)
    ),
    Property(
        "ends", "where sequences end",
        "Tokens must end with eos or at max_len, and nothing may follow eos.", _each(_ends),
    ),
    Property(
        "largest", "each token is a most probable one",
        "Every token must be a most probable one after those before it.", _each(_largest),
    ),
    Property(
        "smallest-id", "ties between tokens",
        "Of equally probable tokens the smallest id must win.", _each(_first_of_ties),
    ),
    Property(
        "own-logprob", "log-probabilities fit their tokens",
        "Log-probabilities must be those of the tokens beside them.", _own_logprob,
    ),
    Property("possible", "tokens of probability 0", "No token of probability 0 may be taken.", _possible),
    Property(
        "ranked", "the best hypothesis comes first",
        "The best hypothesis must come first, the worst last.", _ranked,
    ),
    Property(
        "hypotheses", "number of hypotheses",
        "There must be the right number of hypotheses, no two the same.", _count,
    ),
    Property(
        "best", "the first hypothesis is the best",
        "The first hypothesis must be the most probable of all sequences.", _best,
    ),
    Property(
        "tie-order", "order of equally probable hypotheses",
        "Of equally probable hypotheses the smaller list must come first.", _tie_order,
    ),
)  # fmt: skip
