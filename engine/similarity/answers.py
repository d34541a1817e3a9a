"""Find wrong answers that are the key of a classmate's variant of the same item.

Everybody has other numbers, so such an answer was hardly computed; how likely it is by chance is estimated
from the keys of the class.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median

from engine.answers import answer_type, kind_of, right_response
from engine.answers.asked_precision import NumericSettings
from engine.errors import ResponseFormatError
from engine.model import Part, Variant, Verdict
from engine.store import Attempt

# The keys that a class has at one field of one item, and how easily an answer meets one by chance.

LEAST_CHANCE = 1e-6
"""No smaller chance is claimed for one answer: the keys of one item hang together more than this counts."""

# Each key is tried against each other one: those of 5,000 students would be 25 million tries.
_SAMPLE = 300
_NUMERAL = re.compile(r"[0-9]+(?:[.,][0-9]+)?|[.,][0-9]+")
# The bounds of an interval are decimals; in binary a number on the bound may lie a little beyond it.
_SLACK = 1e-9

_Box = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class VariantHolder:
    """One variant of an item: one of its fields, and whose it is."""

    variant: str
    part: Part
    students: frozenset[str]


class ItemKeys:
    """All variants of one field of one item.

    Parameters
    ----------
    holders : sequence of VariantHolder
        One for each variant, at least one.
    """

    def __init__(self, holders: Sequence[VariantHolder]) -> None:
        self.holders = holders
        self._boxes = [_box(holder.part) for holder in holders]

    def accepting(self, text: str, entries: Sequence[float]) -> list[VariantHolder]:
        """Return the variants for which an answer earns full marks, by the item's own rule.

        Parameters
        ----------
        text : str
            As typed.
        entries : sequence of float
            Its numbers; none for words.
        """
        return [
            holder
            for holder, box in zip(self.holders, self._boxes, strict=True)
            if _inside(entries, box) and is_right(holder.part, text)
        ]

    def chance(self, text: str, accepting: int) -> float:
        """Return about how likely a wrong answer is one given classmate's key by chance.

        The largest of: the share of the other variants that have this key too; how often one variant's key
        is right for another; the two likeliest entries at random between the smallest and the largest
        key; as many digits at random; one in a million.
        """
        others = max(1, len(self.holders) - 1)
        typed = 10.0 ** -_digits(text) if self._boxes[0] else 1 / (others + 1)
        return max((accepting - 1) / others, self._meeting, self._at_random, typed, LEAST_CHANCE)

    @cached_property
    def _meeting(self) -> float:
        some = list(zip(self.holders, self._boxes, strict=True))[:_SAMPLE]
        hits = sum(
            entry.variant != other.variant
            and _inside(_middle(box), other_box)
            and is_right(other.part, right_response(entry.part))
            for entry, box in some
            for other, other_box in some
        )
        return hits / max(1, len(some) * (len(some) - 1))

    @cached_property
    def _at_random(self) -> float:
        boxes = [box for box in self._boxes if len(box) == len(self._boxes[0])]
        if not boxes[0]:
            return 0.0
        shares = []
        for i, place in enumerate(NumericSettings.of(self.holders[0].part).places):
            unit = 0.0 if place is None else 10.0**-place
            width = max(unit, median(box[i][1] - box[i][0] for box in boxes))
            spread = max(box[i][1] for box in boxes) - min(box[i][0] for box in boxes)
            shares.append(width / (spread + width) if width else 0.0)
        return math.prod(sorted(shares)[-2:])


def is_right(part: Part, text: str) -> bool:
    """Return whether a text earns full marks for a field; one that the field can't read doesn't."""
    try:
        return answer_type(part.type).grade(part, text).is_full
    except ResponseFormatError:
        return False


def _box(part: Part) -> _Box:
    # A little wider than what is accepted; words have no interval.
    settings = NumericSettings.of(part)
    pairs = zip(map(float, settings.lower), map(float, settings.upper), strict=True)
    return tuple((low - _SLACK * (1 + abs(low)), high + _SLACK * (1 + abs(high))) for low, high in pairs)


def _middle(box: _Box) -> list[float]:
    return [(low + high) / 2 for low, high in box]


def _inside(entries: Sequence[float], box: _Box) -> bool:
    return len(entries) == len(box) and all(
        low <= entry <= high for entry, (low, high) in zip(entries, box, strict=True)
    )


def _digits(text: str) -> int:
    # ``0.50`` has one digit that says something, ``45.8`` three.
    return sum(len(re.sub(r"[.,]", "", numeral).strip("0")) for numeral in _NUMERAL.findall(text))


# An answer that every tenth student gives by chance (a letter, a small number) says nothing.
_MOST_CHANCE = 0.1
_MOST_EXPECTED = 0.5  # pairs of which chance gives more aren't evidence
_Field = tuple[str, str]  # item, part


@dataclass(frozen=True, slots=True)
class MatchedAnswer:
    """One wrong answer that is a classmate's key.

    Parameters
    ----------
    item, part : str
    title : str
        Of the item.
    answer : str
        As typed: foreign text.
    key : str
        The classmate's, as it would be typed.
    chance : float
        About how likely it is this classmate's key by chance.
    holders : int
        How many classmates have a variant with this key.
    """

    item: str
    part: str
    title: str
    answer: str
    key: str
    chance: float
    holders: int


@dataclass(frozen=True, slots=True)
class ClassmateMatch:
    """All wrong answers of one student that are one classmate's keys.

    Parameters
    ----------
    who, whose : str
        Ids: who answered, and whose keys these are.
    answers : tuple of MatchedAnswer
    chance : float
        That these meet by chance, for this pair: the product over the items, times the ways to choose them
        among those that the student answered wrongly.
    expected : float
        How many pairs of the class would show as much by chance.
    """

    who: str
    whose: str
    answers: tuple[MatchedAnswer, ...]
    chance: float
    expected: float


@dataclass(frozen=True, slots=True)
class AnswerComparison:
    """What comparing wrong answers with classmates' keys found.

    Parameters
    ----------
    compared : int
        Wrong answers that no known mistake explains.
    pairs : int
        Ordered pairs of students that were compared.
    unlikely : tuple of ClassmateMatch
        Pairs of which chance gives such a class less than half a one; the least expected first.
    explained : int
        The other pairs with a match.
    """

    compared: int
    pairs: int
    unlikely: tuple[ClassmateMatch, ...]
    explained: int


@dataclass(frozen=True, slots=True)
class _Wrong:
    who: str
    field: _Field
    title: str
    text: str
    entries: tuple[float, ...]


class AnswerSearch:
    """Takes attempts and handed-out variants one by one, and finds wrong answers that are a classmate's key.

    Left out are answers that a known mistake of the student's own variant gives, that are right for another
    of the student's own draws, that are letters of options, and that would meet a key by chance once in ten.
    Of each variant no more is kept than its keys.
    """

    def __init__(self) -> None:
        self._students: set[str] = set()
        self._owners: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._parts: dict[tuple[str, str], tuple[Part, ...]] = {}
        self._wrong: dict[tuple[str, _Field, str], _Wrong] = {}

    def hand_out(self, student: str, variant: Variant) -> None:
        """Take a variant that a student got; they needn't have answered."""
        name = variant.item, variant.id
        self._students.add(student)
        self._owners[name].add(student)
        if name not in self._parts:
            self._parts[name] = tuple(
                replace(part, known_wrong=(), prompt=None)
                for part in variant.parts
                # Letters of options say nothing: there are few, in another order in each variant.
                if kind_of(part.type).is_open
            )

    def add(self, attempt: Attempt) -> None:
        """Take an attempt at a question; its variant counts as handed out."""
        if attempt.variant is not None:
            self.hand_out(attempt.student, attempt.variant)
            for answer in _wrong_answers(attempt, attempt.variant):
                self._wrong.setdefault((answer.who, answer.field, answer.text), answer)

    def comparison(self) -> AnswerComparison:
        """Return what was found among all that was taken."""
        keys = self._keys()
        met: dict[tuple[str, str], list[MatchedAnswer]] = defaultdict(list)
        for answer in self._wrong.values():
            for whose, matched in _met(answer, keys[answer.field]):
                met[answer.who, whose].append(matched)
        return _comparison(list(self._wrong.values()), met, len(self._students))

    def _keys(self) -> dict[_Field, ItemKeys]:
        holders: dict[_Field, list[VariantHolder]] = defaultdict(list)
        for (item, variant), parts in self._parts.items():
            owners = frozenset(self._owners[item, variant])
            for part in parts:
                holders[item, part.id].append(VariantHolder(variant, part, owners))
        return {field: ItemKeys(holders_of) for field, holders_of in holders.items()}


def _wrong_answers(attempt: Attempt, variant: Variant) -> Iterable[_Wrong]:
    # A known mistake explains the answer: two students may well make the same one.
    passed = {check.id for check in attempt.report.checks if check.verdict is Verdict.PASSED}
    for part in variant.parts:
        text = (attempt.response.answers.get(part.id) if attempt.response else None) or ""
        if not kind_of(part.type).is_open or part.id in passed or not text.strip():
            continue
        kind = answer_type(part.type)
        try:
            read = kind.parse(text, part)
        except ResponseFormatError:
            continue
        result = kind.mark(part, read)
        if not result.is_full and not result.diagnosis:
            entries = tuple(map(float, read)) if kind.is_numeric else ()
            yield _Wrong(attempt.student, (variant.item, part.id), variant.title, text.strip(), entries)


def _met(answer: _Wrong, keys: ItemKeys) -> Iterable[tuple[str, MatchedAnswer]]:
    accepting = keys.accepting(answer.text, answer.entries)
    if not accepting or any(answer.who in holder.students for holder in accepting):
        return
    chance = keys.chance(answer.text, len(accepting))
    if chance > _MOST_CHANCE:
        return
    classmates = {student: holder.part for holder in accepting for student in holder.students}
    item, part = answer.field
    for whose, field in sorted(classmates.items()):
        yield (
            whose,
            MatchedAnswer(
                item, part, answer.title, answer.text, right_response(field), chance, len(classmates)
            ),
        )


def _comparison(
    wrong: Sequence[_Wrong], met: Mapping[tuple[str, str], Sequence[MatchedAnswer]], students: int
) -> AnswerComparison:
    askers: dict[str, set[str]] = defaultdict(set)
    for answer in wrong:
        askers[answer.who].add(answer.field[0])
    pairs = len(askers) * max(0, students - 1)
    matches = []
    for (who, whose), answers in met.items():
        # Steps of one item follow from each other: only the least likely one counts.
        by_item: dict[str, float] = {}
        for matched in answers:
            by_item[matched.item] = min(matched.chance, by_item.get(matched.item, 1.0))
        ways = math.comb(len(askers[who]), len(by_item))
        chance = min(1.0, ways * math.prod(by_item.values()))
        matches.append(ClassmateMatch(who, whose, tuple(answers), chance, chance * pairs))
    matches.sort(key=lambda match: (match.expected, match.who, match.whose))
    rare = tuple(match for match in matches if match.expected < _MOST_EXPECTED)
    return AnswerComparison(len(wrong), pairs, rare, len(matches) - len(rare))
