"""What somebody who knows nothing earns: exact where it can be counted, else from a fixed simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import comb, factorial
from typing import Any

from engine.answers import answer_type
from engine.model import Part, Variant
from engine.variants.stream import Stream

__all__ = ["Guess", "best_of", "guess_part", "guess_variant"]

# Share of the points → probability.
Distribution = Mapping[float, float]

_ENUMERABLE_CARDS = 7
_SIMULATED = 5_000
_PLACES = 9


@dataclass(frozen=True, slots=True)
class Guess:
    """The score of blind guessing.

    Parameters
    ----------
    scores : mapping of float to float
        Share of the points → probability.
    is_exact : bool
        False where it was simulated.
    """

    scores: Distribution
    is_exact: bool = True

    @property
    def mean(self) -> float:
        """The share that is earned on average."""
        return sum(share * chance for share, chance in self.scores.items())


def guess_part(part: Part) -> Guess:
    """Return what guessing at one answer field earns, with the best strategy that needs no knowledge.

    One option: any. Several options: as many as pay best under the field's policy, taken blindly. An order
    or pairs: any. Numbers and words aren't guessed: they earn 0.
    """
    strategy = _STRATEGIES.get(part.type)
    return strategy(part) if strategy else Guess({0.0: 1.0})


def guess_variant(variant: Variant) -> Guess:
    """Return what guessing at all fields of a variant earns, as a share of its points."""
    total: dict[float, float] = {0.0: 1.0}
    exact = True
    for part in variant.parts:
        guess = guess_part(part)
        exact = exact and guess.is_exact
        weight = part.points / variant.points
        total = _summed(
            (one + share * weight, chance * other)
            for one, chance in total.items()
            for share, other in guess.scores.items()
        )
    return Guess(total, exact)


def best_of(guess: Guess, credit: Sequence[float]) -> Guess:
    """Return what counts after guessing once for each entry of `credit`, each time at a new variant.

    The best attempt counts: the chance that none is above a share is the product of the attempts' chances.
    """
    levels = sorted({round(share * factor, _PLACES) for share in guess.scores for factor in credit} | {0.0})
    found: dict[float, float] = {}
    below = 0.0
    for level in levels:
        chance = 1.0
        for factor in credit:
            chance *= sum(p for share, p in guess.scores.items() if share * factor <= level + 1e-9)
        found[level] = chance - below
        below = chance
    return Guess(found, guess.is_exact)


def _summed(entries: Iterable[tuple[float, float]]) -> dict[float, float]:
    total: dict[float, float] = {}
    for share, chance in entries:
        key = round(share, _PLACES)
        total[key] = total.get(key, 0.0) + chance
    return total


def _judged(part: Part, answer: Any) -> float:
    return float(answer_type(part.type).judge(part, answer).fraction)


def _one_option(part: Part) -> Guess:
    ids = [option.id for option in part.options]
    return Guess(_summed((_judged(part, answer), 1 / len(ids)) for answer in ids))


def _several_options(part: Part) -> Guess:
    """Take the number of picks that pays best; a score depends only on hits and false picks.

    Where variants differ in how many options are right, that number isn't known to who guesses: the picks
    are as many as pay best on average over all numbers, and their score is that of this variant.
    """
    possible = part.settings.get("right_counts") or [len(part.key_ids)]

    def mean_of(picks: int) -> float:
        return sum(_picking(part, right, picks).mean for right in possible)

    best = max(range(1, len(part.options) + 1), key=mean_of)
    return _picking(part, len(part.key_ids), best)


def _picking(part: Part, right: int, picks: int) -> Guess:
    """Return what so many blind picks earn at a part of which so many options are right."""
    ids = [option.id for option in part.options]
    keys, wrong = ids[:right], ids[right:]
    there = replace(part, key_ids=tuple(keys))
    ways = comb(len(ids), picks)
    return Guess(
        _summed(
            (
                _judged(there, frozenset(keys[:hits] + wrong[: picks - hits])),
                comb(len(keys), hits) * comb(len(wrong), picks - hits) / ways,
            )
            for hits in range(max(0, picks - len(wrong)), min(picks, len(keys)) + 1)
        )
    )


def _pairs(part: Part) -> Guess:
    """Any target for each prompt: the number of right pairs is binomial."""
    targets = [option.id for option in part.options]
    prompts = [prompt.id for prompt in part.prompts]
    count, chance = len(prompts), 1 / len(targets)

    def answer(hits: int) -> dict[str, str]:
        other = {key: next((t for t in targets if t != key), key) for key in part.key_ids}
        return {
            prompt: key if place < hits else other[key]
            for place, (prompt, key) in enumerate(zip(prompts, part.key_ids, strict=True))
        }

    return Guess(
        _summed(
            (_judged(part, answer(hits)), comb(count, hits) * chance**hits * (1 - chance) ** (count - hits))
            for hits in range(count + 1)
        )
    )


def _order(part: Part) -> Guess:
    cards = list(part.key_ids)
    if len(cards) <= _ENUMERABLE_CARDS:
        each = 1 / factorial(len(cards))
        return Guess(_summed((_judged(part, order), each) for order in permutations(cards)))
    stream = Stream(len(cards))
    each = 1 / _SIMULATED
    orders = (tuple(stream.shuffled(cards)) for _ in range(_SIMULATED))
    return Guess(_summed((_judged(part, order), each) for order in orders), is_exact=False)


_STRATEGIES: Mapping[str, Callable[[Part], Guess]] = {
    "single_choice": _one_option,
    "multiple_choice": _several_options,
    "matching": _pairs,
    "ordering": _order,
}
