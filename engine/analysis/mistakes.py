"""Who holds which misconception: in which items it showed, and in how many it could have.

Without the chances a count misleads: a mistake that only one item can show isn't rarer than one that ten can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.analysis.first_attempts import ItemAttempt
from engine.errors import InputError
from engine.items.bank import Bank


@dataclass(frozen=True, slots=True)
class KnownMistakes:
    """The sentences of known mistakes, and which ones a code exercise can name."""

    sentences: Mapping[str, str]
    of_code: Mapping[str, frozenset[str]]

    @classmethod
    def of_bank(cls, bank: Bank, items: Sequence[str]) -> KnownMistakes:
        """Return the known mistakes of a bank, and the mutants of those `items` that are code."""
        sentences = dict(bank.registry())
        of_code = {}
        for item in items:
            try:
                answer = getattr(bank.load(item), "answer", None)
            except InputError:  # removed from the bank since, or faulty now
                continue
            mutants = getattr(answer, "mutants", ())
            of_code[item] = frozenset(mutant.id for mutant in mutants)
            for mutant in mutants:
                if mutant.feedback:  # the registry's own sentence is the general one: it comes first
                    sentences.setdefault(mutant.id, mutant.feedback)
        return cls(sentences, of_code)

    def and_told(self, works: Iterable[ItemAttempt]) -> KnownMistakes:
        """Return these and, for mistakes without a sentence, the message that a student got."""
        messages = {mistake: message for work in works for mistake, message in work.diagnoses.items()}
        return KnownMistakes({**messages, **self.sentences}, self.of_code)  # ours win over quoted ones


@dataclass(frozen=True, slots=True)
class MistakeHolder:
    """One student who showed a mistake.

    Parameters
    ----------
    student : str
    items : tuple of str
        Items in which it showed.
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
        Those who showed it most often first.
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


def misconceptions(works: Sequence[ItemAttempt], mistakes: KnownMistakes) -> list[MistakeFigures]:
    """Return the mistakes seen in first attempts, those of most students first.

    A mistake can show where the variant or the exercise declares it. One that no variant of an item declares,
    such as careless rounding, can show in every answer to an item in which anybody showed it.
    """
    # known only after all attempts: the first who shows such a mistake gives everybody a chance
    undeclared = _undeclared(works)
    holders_of: dict[str, dict[str, list[str]]] = {}
    chances: dict[str, Counter[str]] = {}
    for work in works:
        everywhere = undeclared[work.item] | mistakes.of_code.get(work.item, frozenset())
        for name in {*work.possible, *work.diagnoses, *everywhere}:
            chances.setdefault(name, Counter())[work.student] += 1
        for name in work.diagnoses:
            holders_of.setdefault(name, {}).setdefault(work.student, []).append(work.item)
    figures = []
    for name, students in holders_of.items():
        holders = [
            MistakeHolder(student, tuple(sorted(items)), chances[name][student])
            for student, items in students.items()
        ]
        per_item = Counter(item for holder in holders for item in holder.items)
        figures.append(
            MistakeFigures(
                name,
                mistakes.sentences.get(name, ""),
                tuple(sorted(holders, key=lambda holder: (-len(holder.items), holder.student))),
                tuple(sorted(per_item.items(), key=lambda entry: (-entry[1], entry[0]))),
                len(chances[name]),
            )
        )
    return sorted(figures, key=lambda mistake: (-len(mistake.holders), mistake.id))


def _undeclared(works: Sequence[ItemAttempt]) -> Mapping[str, set[str]]:
    """Return by item the mistakes that were seen there but that none of its variants declares."""
    diagnosed: dict[str, set[str]] = {}
    declared: dict[str, set[str]] = {}
    for work in works:
        diagnosed.setdefault(work.item, set()).update(work.diagnoses)
        declared.setdefault(work.item, set()).update(work.possible)
    return {item: names - declared[item] for item, names in diagnosed.items()}
