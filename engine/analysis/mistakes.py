"""Who holds which misconception, in which items, of how many chances."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.analysis.first_attempts import ItemAttempt
from engine.errors import InputError
from engine.items.bank import Bank

__all__ = ["KnownMistakes", "MistakeFigures", "MistakeHolder", "misconceptions"]


@dataclass(frozen=True, slots=True)
class KnownMistakes:
    """The sentences of known mistakes, and which ones a code exercise can name."""

    sentences: Mapping[str, str]
    of_code: Mapping[str, frozenset[str]]

    @classmethod
    def of_bank(cls, bank: Bank, items: Sequence[str]) -> KnownMistakes:
        """Return what a bank knows; of `items` those that are code, and still in it, name their mutants."""
        sentences = dict(bank.registry())
        of_code = {}
        for item in items:
            try:
                answer = getattr(bank.load(item), "answer", None)
            except InputError:  # it was taken out of the bank, or is faulty now
                continue
            mutants = getattr(answer, "mutants", ())
            of_code[item] = frozenset(mutant.id for mutant in mutants)
            for mutant in mutants:
                if mutant.feedback:
                    sentences.setdefault(mutant.id, mutant.feedback)
        return cls(sentences, of_code)

    def and_told(self, works: Iterable[ItemAttempt]) -> KnownMistakes:
        """Return these and, for mistakes without a sentence, what a student was told about one."""
        told = {mistake: message for work in works for mistake, message in work.diagnoses.items()}
        return KnownMistakes({**told, **self.sentences}, self.of_code)


@dataclass(frozen=True, slots=True)
class MistakeHolder:
    """One student who showed a mistake.

    Parameters
    ----------
    student : str
    items : tuple of str
        In which it was seen.
    chances : int
        The student's first attempts in which it could have shown.
    """

    student: str
    items: tuple[str, ...]
    chances: int


@dataclass(frozen=True, slots=True)
class MistakeFigures:
    """One mistake in this class.

    Parameters
    ----------
    id, sentence : str
    holders : tuple of MistakeHolder
        Who showed it most often first.
    items : tuple of (str, int)
        Item → students who showed it there.
    exposed : int
        Students who had at least one item in which it could have shown.
    """

    id: str
    sentence: str
    holders: tuple[MistakeHolder, ...]
    items: tuple[tuple[str, int], ...]
    exposed: int


def misconceptions(works: Sequence[ItemAttempt], known: KnownMistakes) -> list[MistakeFigures]:
    """Return the mistakes that were seen in first attempts, those of most students first.

    A mistake could have shown where the variant or the exercise declares it; one that no variant of an
    item declares, such as careless rounding, in every answer to an item in which it was seen.
    """
    undeclared = _undeclared(works)
    seen: dict[str, dict[str, list[str]]] = {}
    chances: dict[str, Counter[str]] = {}
    for work in works:
        everywhere = undeclared[work.item] | known.of_code.get(work.item, frozenset())
        for mistake in {*work.possible, *work.diagnoses, *everywhere}:
            chances.setdefault(mistake, Counter())[work.student] += 1
        for mistake in work.diagnoses:
            seen.setdefault(mistake, {}).setdefault(work.student, []).append(work.item)
    found = []
    for mistake, students in seen.items():
        holders = [
            MistakeHolder(student, tuple(sorted(items)), chances[mistake][student])
            for student, items in students.items()
        ]
        per_item = Counter(item for holder in holders for item in holder.items)
        found.append(
            MistakeFigures(
                mistake,
                known.sentences.get(mistake, ""),
                tuple(sorted(holders, key=lambda holder: (-len(holder.items), holder.student))),
                tuple(sorted(per_item.items(), key=lambda entry: (-entry[1], entry[0]))),
                len(chances[mistake]),
            )
        )
    return sorted(found, key=lambda one: (-len(one.holders), one.id))


def _undeclared(works: Sequence[ItemAttempt]) -> Mapping[str, set[str]]:
    """Return by item the mistakes that were seen there and that none of its variants declares."""
    seen: dict[str, set[str]] = {}
    declared: dict[str, set[str]] = {}
    for work in works:
        seen.setdefault(work.item, set()).update(work.diagnoses)
        declared.setdefault(work.item, set()).update(work.possible)
    return {item: own - declared[item] for item, own in seen.items()}
