"""Wrong answers that are the key of a classmate's variant of the same item."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.answers import answer_type, right_response
from engine.errors import ResponseFormatError
from engine.model import Part, Variant, Verdict
from engine.similar.item_keys import COMPARED_TYPES, Holder, ItemKeys
from engine.store import Attempt

__all__ = ["AnswerSearch", "CrossedAnswer", "Crossing", "Crossings"]

_MOST_CHANCE = 0.1
_MOST_EXPECTED = 0.5  # pairs of which chance gives more are no evidence
_Field = tuple[str, str]  # item, part


@dataclass(frozen=True, slots=True)
class CrossedAnswer:
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
class Crossing:
    """All such answers of one student that are one classmate's keys.

    Parameters
    ----------
    who, whose : str
        Ids: who answered, and whose keys these are.
    answers : tuple of CrossedAnswer
    chance : float
        That these meet by chance, for this pair: the product over the items, times the ways to choose them
        among those that the student answered wrongly.
    expected : float
        How many pairs of the class would show as much by chance.
    """

    who: str
    whose: str
    answers: tuple[CrossedAnswer, ...]
    chance: float
    expected: float


@dataclass(frozen=True, slots=True)
class Crossings:
    """What comparing wrong answers with classmates' keys found.

    Parameters
    ----------
    compared : int
        Wrong answers that no known mistake explains.
    pairs : int
        Ordered pairs of students that were compared.
    found : tuple of Crossing
        Pairs of which chance gives such a class less than half a one; the least expected first.
    explained : int
        The other pairs with a match.
    """

    compared: int
    pairs: int
    found: tuple[Crossing, ...]
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
                if part.type in COMPARED_TYPES
            )

    def add(self, attempt: Attempt) -> None:
        """Take an attempt at a question; its variant counts as handed out."""
        if attempt.variant is not None:
            self.hand_out(attempt.student, attempt.variant)
            for answer in _wrong_answers(attempt, attempt.variant):
                self._wrong.setdefault((answer.who, answer.field, answer.text), answer)

    def crossings(self) -> Crossings:
        """Return what was found among all that was taken."""
        keys = self._keys()
        met: dict[tuple[str, str], list[CrossedAnswer]] = defaultdict(list)
        for answer in self._wrong.values():
            for whose, crossed in _met(answer, keys[answer.field]):
                met[answer.who, whose].append(crossed)
        return _crossings(list(self._wrong.values()), met, len(self._students))

    def _keys(self) -> dict[_Field, ItemKeys]:
        holders: dict[_Field, list[Holder]] = defaultdict(list)
        for (item, variant), parts in self._parts.items():
            owners = frozenset(self._owners[item, variant])
            for part in parts:
                holders[item, part.id].append(Holder(variant, part, owners))
        return {field: ItemKeys(found) for field, found in holders.items()}


def _wrong_answers(attempt: Attempt, variant: Variant) -> Iterable[_Wrong]:
    """Yield the answers of an attempt that are wrong and that no known mistake explains."""
    passed = {check.id for check in attempt.report.checks if check.verdict is Verdict.PASSED}
    for part in variant.parts:
        text = (attempt.response.answers.get(part.id) if attempt.response else None) or ""
        if part.type not in COMPARED_TYPES or part.id in passed or not text.strip():
            continue
        kind = answer_type(part.type)
        try:
            read = kind.parse(text, part)
        except ResponseFormatError:
            continue
        result = kind.mark(part, read)
        if not result.is_full and not result.diagnosis:
            entries = () if part.type == "token" else tuple(map(float, read))
            yield _Wrong(attempt.student, (variant.item, part.id), variant.title, text.strip(), entries)


def _met(answer: _Wrong, keys: ItemKeys) -> Iterable[tuple[str, CrossedAnswer]]:
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
            CrossedAnswer(
                item, part, answer.title, answer.text, right_response(field), chance, len(classmates)
            ),
        )


def _crossings(
    wrong: Sequence[_Wrong], met: Mapping[tuple[str, str], Sequence[CrossedAnswer]], students: int
) -> Crossings:
    asked: dict[str, set[str]] = defaultdict(set)
    for answer in wrong:
        asked[answer.who].add(answer.field[0])
    pairs = len(asked) * max(0, students - 1)
    found = []
    for (who, whose), answers in met.items():
        # Steps of one item follow from each other: only the least likely one counts.
        by_item: dict[str, float] = {}
        for crossed in answers:
            by_item[crossed.item] = min(crossed.chance, by_item.get(crossed.item, 1.0))
        ways = math.comb(len(asked[who]), len(by_item))
        chance = min(1.0, ways * math.prod(by_item.values()))
        found.append(Crossing(who, whose, tuple(answers), chance, chance * pairs))
    found.sort(key=lambda crossing: (crossing.expected, crossing.who, crossing.whose))
    rare = tuple(crossing for crossing in found if crossing.expected < _MOST_EXPECTED)
    return Crossings(len(wrong), pairs, rare, len(found) - len(rare))
