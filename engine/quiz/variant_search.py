"""Whose variant is this? Numbers or a text that somebody came across, held against all drawn variants.

Only what a student sees is compared: numbers and words of stems, steps and options, and the order of options.
Keys play no part and are in no result.

Each number or word of a variant that is in the text is evidence by how rare it is among all variants, and so
is a line that is there as it stands. As usual for naive Bayes, the evidence is added up; the sum over all
variants, and over the case that the text is none of them, gives how certain a match is. Words say which
question it is, numbers whose.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final

from engine.model import Quiz, Variant
from engine.store import Store

MOST_TEXT: Final = 100_000
"""Characters of the text that are read."""

_NUMBER = re.compile(r"(?<![\w.])[-+]?\d{1,30}(?:\.\d{1,30})?(?:e[-+]?\d{1,3})?(?!\w)")
_COMMA = re.compile(r"(?<![\w.,])([-+]?\d{1,30}),(\d{1,30})(?![\w,]|\.\d)")
_WORD = re.compile(r"[^\W\d_]{3,40}")
# A text has other words for the same reason that it has one: they aren't independent.
_WORD_WEIGHT = 0.5
# A number of the variant that the text lacks: perhaps only a part was quoted.
_LACKING = 0.7
_FEWEST_OPTIONS = 3  # two options are in either order by chance
_SHORTEST_OPTION = 3
_FEWEST_NUMBERS = 2


@dataclass(frozen=True, slots=True, order=True)
class VariantOwner:
    """Who was given a variant, and where; ``retry`` counts a question's variants, and 0 is the first."""

    quiz: str
    number: int
    student: str
    retry: int = 0


@dataclass(frozen=True, slots=True)
class VariantMatch:
    """A variant that fits the text.

    Parameters
    ----------
    item, title : str
    owners : tuple of VariantOwner
        Everybody who was given it: in a small family there are several.
    certainty : float
        0 to 1: how probable it is that the text is about this variant, if it is as likely as not to be about
        any of them.
    numbers : tuple of str
        Numbers of the variant that are in the text.
    of : int
        How many different numbers the variant has.
    """

    item: str
    title: str
    owners: tuple[VariantOwner, ...]
    certainty: float
    numbers: tuple[str, ...]
    of: int


@dataclass(frozen=True, slots=True)
class VariantSearch:
    """The result of a search.

    Parameters
    ----------
    matches : tuple of VariantMatch
        The most certain ones first.
    questions : mapping of (str, str) to float
        (quiz, item) → how certain it is that the text is about this question, whoever's variant it is.
    searched : int
        How many different variants there are.
    """

    matches: tuple[VariantMatch, ...]
    questions: Mapping[tuple[str, str], float]
    searched: int


@dataclass(slots=True)
class _Candidate:
    """What is compared of one variant, and who has it."""

    item: str
    title: str
    numbers: frozenset[str]
    lines: frozenset[str]
    words: frozenset[str]
    options: tuple[str, ...]
    owners: list[VariantOwner]


def drawn_variants(store: Store, quiz: str | None = None) -> Iterator[tuple[VariantOwner, Variant]]:
    """Yield every variant that anybody was given in the quizzes of a store, those of retries too.

    Parameters
    ----------
    store : Store
    quiz : str, optional
        Only of this quiz.
    """
    names: dict[tuple[str, str], str] = {}
    for drawn in store.quizzes(quiz):
        names[drawn.id, drawn.student] = drawn.name
        yield from _first_variants(drawn)
    for quiz_id, student, number, retry, variant in store.sittings.all_retries():
        if (quiz_id, student) in names:
            yield VariantOwner(names[quiz_id, student], number, student, retry), variant


def _first_variants(quiz: Quiz) -> Iterator[tuple[VariantOwner, Variant]]:
    for question in quiz.questions:
        yield VariantOwner(quiz.name, question.number, quiz.student), question.variant


def find_variants(
    variants: Iterable[tuple[VariantOwner, Variant]], text: str, *, most: int = 10
) -> VariantSearch:
    """Return the variants that a text can be about.

    Parameters
    ----------
    variants : iterable of (VariantOwner, Variant)
        As :func:`drawn_variants` yields them.
    text : str
        Foreign: numbers, a quotation, a page. The first :data:`MOST_TEXT` characters count.
    most : int
        How many matches are returned at most.
    """
    text = _plain(text[:MOST_TEXT])
    numbers, words = numbers_in(text) | _with_decimal_commas(text), _words_in(text)
    candidates = _candidates(variants)
    if not candidates:
        return VariantSearch((), {}, 0)
    weigh = _Weights(candidates, len(numbers))
    scores = [weigh.score(candidate, numbers, words, text) for candidate in candidates]
    # As likely as not none of them: together they have the weight of the case that the text is something
    # else.
    top = max(*scores, math.log(len(candidates)))
    parts = [math.exp(score - top) for score in scores]
    whole = sum(parts) + math.exp(math.log(len(candidates)) - top)
    questions: Counter[tuple[str, str]] = Counter()
    for candidate, part in zip(candidates, parts, strict=True):
        for name in {owner.quiz for owner in candidate.owners}:
            questions[name, candidate.item] += part / whole  # type: ignore[assignment]
    order = sorted(range(len(candidates)), key=lambda n: (-parts[n], candidates[n].owners))[:most]
    return VariantSearch(
        tuple(
            _match(candidates[n], parts[n] / whole, numbers)
            for n in order
            if numbers & candidates[n].numbers or scores[n] > 0
        ),
        dict(questions.most_common()),
        len(candidates),
    )


def _match(candidate: _Candidate, certainty: float, numbers: frozenset[str]) -> VariantMatch:
    common = sorted(candidate.numbers & numbers, key=Decimal)
    owners = tuple(sorted(candidate.owners))
    return VariantMatch(
        candidate.item, candidate.title, owners, certainty, tuple(common), len(candidate.numbers)
    )


def _candidates(variants: Iterable[tuple[VariantOwner, Variant]]) -> list[_Candidate]:
    """Return what is compared, once for all who were given the same."""
    by_look: dict[tuple[str, tuple[str, ...]], _Candidate] = {}
    for owner, variant in variants:
        texts = [variant.stem.plain]
        options: list[str] = []
        for part in variant.parts:
            texts += [part.prompt.plain] if part.prompt else []
            texts += [prompt.text.plain for prompt in part.prompts]
            options += [option.text.plain for option in part.options]
        look = (variant.item, (*texts, *options))
        if look not in by_look:
            whole = _plain("\n".join((*texts, *options)))
            options_as_compared = tuple(_plain(option) for option in options)
            by_look[look] = _Candidate(
                variant.item,
                variant.title,
                numbers_in(whole),
                frozenset(_lines_in(texts)),
                _words_in(whole),
                options_as_compared,
                [],
            )
        by_look[look].owners.append(owner)
    return list(by_look.values())


class _Weights:
    """How much each number and word says, by how many of the candidates have it."""

    def __init__(self, candidates: list[_Candidate], in_text: int) -> None:
        self._total = len(candidates)
        self._numbers = Counter(number for c in candidates for number in c.numbers)
        self._lines = Counter(line for c in candidates for line in c.lines)
        self._words = Counter(word for c in candidates for word in c.words)
        self._items = Counter(c.item for c in candidates)
        self._in_item = Counter((c.item, number) for c in candidates for number in c.numbers)
        usual = sum(len(c.numbers) for c in candidates) / len(candidates)
        # In a text with many numbers each one is there by chance more easily.
        self._tries = max(1.0, in_text / max(1.0, usual))

    def score(
        self,
        candidate: _Candidate,
        numbers: frozenset[str],
        words: frozenset[str],
        text: str,
    ) -> float:
        """Return the evidence for a candidate, as a logarithm."""
        score = sum(
            math.log((self._total + 1) / self._lines[line]) for line in candidate.lines if line in text
        )
        for number in candidate.numbers:
            if number in numbers:
                score += self._rarity(self._numbers[number])
            elif self._in_item[candidate.item, number] < self._items[candidate.item]:
                score -= _LACKING
        for word in candidate.words & words:
            score -= _WORD_WEIGHT * math.log(self._words[word] / (self._total + 1))
        return score + _order_evidence(candidate.options, text)

    def _rarity(self, count: int) -> float:
        return -math.log(1 - (1 - count / (self._total + 1)) ** self._tries)


def _order_evidence(options: tuple[str, ...], text: str) -> float:
    """Return what the order of the options says that are in the text."""
    places = [
        (match.start(), index)
        for index, option in enumerate(options)
        if len(option) >= _SHORTEST_OPTION and options.count(option) == 1
        if (match := re.search(rf"(?<!\w){re.escape(option)}(?!\w)", text)) is not None
    ]
    if len(places) < _FEWEST_OPTIONS:
        return 0.0
    order = [index for _, index in sorted(places)]
    return math.lgamma(len(order) + 1) if order == sorted(order) else -2.0


def _plain(text: str) -> str:
    """Return a text in one spelling: lower case, ordinary minus signs and blanks."""
    return " ".join(text.replace("\N{MINUS SIGN}", "-").casefold().split())


def numbers_in(text: str) -> frozenset[str]:
    """Return the numbers in a text, each in one spelling: ``1.20`` and ``1.2`` are the same."""
    return frozenset(_spelled(match[0]) for match in _NUMBER.finditer(text))


def _lines_in(texts: Iterable[str]) -> Iterator[str]:
    """Yield the lines and sentences with several numbers, which hardly anybody writes by chance."""
    for text in texts:
        for line in re.split(r"\n|(?<=[^\d\s])[.?!]\s", text):
            if len(numbers_in(plain := _plain(line))) >= _FEWEST_NUMBERS:
                yield plain


def _with_decimal_commas(text: str) -> frozenset[str]:
    # "0,25" may be one number and "1,2" two: both readings are held against the variants.
    return frozenset(_spelled(f"{match[1]}.{match[2]}") for match in _COMMA.finditer(text))


def _spelled(number: str) -> str:
    try:
        value = Decimal(number)
    except InvalidOperation:  # pragma: no cover (the pattern lets only numbers through)
        return number
    text = f"{value:f}" if abs(value.adjusted()) < 40 else str(value)
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "+0", "") else text


def _words_in(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text))
