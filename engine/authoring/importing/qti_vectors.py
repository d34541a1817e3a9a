"""What several fields of a QTI 3 item are together: entries of a vector or a matrix, and weights."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import lcm

from engine.authoring.importing.foreign_question import ForeignQuestion
from engine.authoring.importing.qti_fields import CLOSE
from engine.authoring.importing.qti_item import QtiItem, plain_words
from engine.authoring.importing.qti_typed import NumberFields, near_share_of
from engine.authoring.importing.qti_values import QtiValue

_ENTRY = "qti-text-entry-interaction"
# the largest denominator of a share: of twenty steps with a few points each
_FINEST = 720


def narrow_tables(item: QtiItem) -> dict[int, str]:
    """Return what joins the fields of each table that has one row or one column of them, by its id().

    As tables they would only lay text out; on lines of their own they stay together.
    """
    tables = {}
    for table in item.body.inside():
        rows = [row for row in table.inside() if row.tag == "tr"] if table.tag == "table" else []
        fields = [element for element in table.inside() if element.tag == _ENTRY]
        if fields and not plain_words(table) and (len(rows) == 1 or len(rows) == len(fields)):
            tables[id(table)] = ", " if len(rows) == 1 else "<br>"
    return tables


def weighted_fields(
    item: QtiItem, numbers: NumberFields, made: Sequence[tuple[ForeignQuestion, float]]
) -> list[ForeignQuestion]:
    """Return the fields with whole numbers as their weights; entries of a vector have one together.

    Parameters
    ----------
    item : QtiItem
    numbers : NumberFields
    made : sequence of (ForeignQuestion, float)
        Each field with what it earns alone.
    """
    gaps = [gap for gap, _ in made]
    worths = [worth for _, worth in made]
    for group in _vectors(item, numbers):
        whole = _gain(item, numbers, group)
        near = near_share_of(numbers, _names(item, group))
        policy = _partial(item, numbers, group, worths, whole)
        # the first entry carries the weight of all, as the others are no fields of their own here
        for n in group:
            gaps[n] = replace(gaps[n], policy=policy, near_share=near)
            worths[n] = whole if n == group[0] else 0.0
    total = sum(worths)
    if total <= CLOSE:
        return [replace(gap, points=Decimal(1)) for gap in gaps]
    shares = [Fraction(worth / total).limit_denominator(_FINEST) for worth in worths]
    scale = lcm(*[share.denominator for share in shares])
    return [replace(gap, points=Decimal(int(share * scale))) for gap, share in zip(gaps, shares, strict=True)]


def _names(item: QtiItem, group: Sequence[int]) -> list[str]:
    return [item.interactions[n].attributes["response-identifier"] for n in group]


def _gain(item: QtiItem, numbers: NumberFields, group: Sequence[int]) -> float:
    """Return what the right numbers of some fields earn while all others are empty."""
    keys: Mapping[str, QtiValue] = {name: float(numbers.key(name) or 0) for name in _names(item, group)}
    return item.try_out(keys).score - item.try_out({}).score


def _vectors(item: QtiItem, numbers: NumberFields) -> list[list[int]]:
    """Return which fields are entries of the same vector or matrix: numbers that fill a line or a table."""
    places = {id(element): n for n, element in enumerate(item.interactions)}
    groups = []
    for holder in item.body.inside():
        if holder.tag not in ("p", "table"):
            continue
        inside = [places[id(element)] for element in holder.inside() if id(element) in places]
        words = re.sub(r"[\s,;()\[\]{}|]", "", plain_words(holder))
        if len(inside) > 1 and not words and set(_names(item, inside)) <= set(numbers.names):
            groups.append(inside)
    return groups


def _partial(
    item: QtiItem, numbers: NumberFields, group: Sequence[int], worths: Sequence[float], whole: float
) -> str:
    """Return how the entries of a vector earn credit."""
    if all(abs(worths[n] - whole / len(group)) < CLOSE for n in group):
        return "per-entry"
    rows = _rows(item, group)
    if len(rows) > 1 and abs(_gain(item, numbers, rows[0]) - whole / len(rows)) < CLOSE:
        return "per-row"
    return "all"


def _rows(item: QtiItem, group: Sequence[int]) -> list[list[int]]:
    places = {id(item.interactions[n]): n for n in group}
    rows = [element for element in item.body.inside() if element.tag == "tr"]
    inside = [[places[id(element)] for element in row.inside() if id(element) in places] for row in rows]
    return [row for row in inside if row]
