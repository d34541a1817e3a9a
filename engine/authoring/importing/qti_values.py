"""Values and variables of QTI 3 items, as their declarations state them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from engine.authoring.importing.xml_tree import XmlElement

QtiSingle: TypeAlias = str | float | bool
QtiValue: TypeAlias = QtiSingle | list[QtiSingle] | None
"""A value of a variable; None is QTI's null, and a list one of several or of an order."""

MOST_NUMBER = 1e15  # beyond it a double doesn't tell neighbours apart


class QtiPicks(list[QtiSingle]):
    """Values without an order, as picks and pairs are."""


@dataclass(frozen=True, slots=True)
class QtiVariable:
    """A declared variable.

    Parameters
    ----------
    name, kind, cardinality : str
    element : XmlElement
    correct : QtiValue
        The correct response.
    default : QtiValue
    """

    name: str
    kind: str
    cardinality: str
    element: XmlElement
    correct: QtiValue = None
    default: QtiValue = None

    def value_of(self, words: Sequence[str]) -> QtiValue:
        """Return written values as one value of the variable; None where one of them isn't of its type."""
        values = [value_from(word, self.kind) for word in words]
        known = [value for value in values if value is not None]
        if not known or len(known) != len(values):
            return None
        if self.cardinality == "multiple":
            return QtiPicks(known)
        return known if self.cardinality == "ordered" else known[0]


def value_from(word: str, kind: str) -> QtiSingle | None:
    """Return a written value of a base type, None where it is none."""
    if kind in ("float", "integer"):
        try:
            number = float(word)
        except ValueError:
            return None
        return number if abs(number) <= MOST_NUMBER else None
    if kind == "boolean":
        return word.strip() in ("true", "1")
    # pairs and identifiers are the same however many blanks stand in them
    return word if kind == "string" else " ".join(word.split())


def declared(element: XmlElement) -> QtiVariable:
    """Return the variable of a declaration."""
    plain = QtiVariable(
        element.attributes.get("identifier", ""),
        element.attributes.get("base-type", "identifier"),
        element.attributes.get("cardinality", "single"),
        element,
    )
    values: dict[str, QtiValue] = {}
    for tag in ("qti-correct-response", "qti-default-value"):
        holder = element.first(tag)
        words = [value.text for value in holder.every("qti-value")] if holder is not None else []
        values[tag] = plain.value_of(words)
    return QtiVariable(
        plain.name,
        plain.kind,
        plain.cardinality,
        element,
        values["qti-correct-response"],
        values["qti-default-value"],
    )
