"""Which items cover which entries of the syllabus, for ``grade coverage``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from engine.items import ProblemSpec
from engine.items.bank import Bank
from engine.items.bank_files import SyllabusEntry


@dataclass(frozen=True, slots=True)
class CoveredEntry:
    """An entry of the syllabus and the items that cover it.

    Parameters
    ----------
    group, id : str
    entry : SyllabusEntry
    items : tuple of str
        Ids of the items, in alphabetical order.
    """

    group: str
    id: str
    entry: SyllabusEntry
    items: tuple[str, ...]

    @property
    def is_gap(self) -> bool:
        """Whether no item covers the entry and nothing says why."""
        return not self.items and self.entry.no_item is None

    def as_json(self) -> dict[str, Any]:
        """Return the entry as ``grade coverage --json`` prints it."""
        return {
            "group": self.group,
            "id": self.id,
            "title": self.entry.title,
            "where": self.entry.where,
            "items": list(self.items),
            "no_item": self.entry.no_item,
            "gap": self.is_gap,
        }


def covered_by(spec: ProblemSpec) -> frozenset[str]:
    """Return the ids that an item covers: its ``covers``, and its errata."""
    return frozenset((*spec.covers, *(erratum.id for erratum in spec.errata)))


def coverage(bank: Bank, specs: Iterable[ProblemSpec]) -> list[CoveredEntry]:
    """Return every entry of the bank's syllabus, in its order, with the items of `specs` that cover it.

    Raises
    ------
    engine.errors.SpecError
        The syllabus has faults.
    """
    covering: dict[str, list[str]] = {}
    for spec in specs:
        for name in covered_by(spec):
            covering.setdefault(name, []).append(spec.id)
    return [
        CoveredEntry(group, name, entry, tuple(sorted(covering.get(name, ()))))
        for group, entries in bank.syllabus().items()
        for name, entry in entries.items()
    ]
