"""The texts of a number for fields that compare characters: what is typed must be in the list.

Such a field knows no interval. It takes every number of the interval that has the decimals asked for, in the
ways in which people write them.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from engine.export.exported_fields import NumberEntry

# An interval that is wider than this many units of the last place is listed at fewer decimals, so that no
# question grows to megabytes. Rounding moves a key by a few units only.
_MOST_NUMBERS = 400
# What no notation without an exponent makes readable: text2qti and Canvas stop at the same place.
_TINY = Decimal("0.001")


def number_texts(entry: NumberEntry) -> list[str]:
    """Return all texts that are right, the key first.

    Examples
    --------
    >>> number_texts(NumberEntry("", "0.50", Decimal("0.495"), Decimal("0.505")))
    ['0.50', '.50', '0.5', '.5']
    """
    right = Decimal(entry.right)
    numbers = [right, *(number for number in _numbers(entry) if number != right)]
    return list(dict.fromkeys(text for number in numbers for text in _spellings(number)))


def listed_decimals(entry: NumberEntry) -> int:
    """Return the decimals with which numbers are listed."""
    exponent = Decimal(entry.right).as_tuple().exponent
    assert isinstance(exponent, int), "a key is finite"
    decimals = max(0, -exponent)
    while decimals and (entry.upper - entry.lower).scaleb(decimals) > _MOST_NUMBERS:
        decimals -= 1
    return decimals


def _numbers(entry: NumberEntry) -> Iterator[Decimal]:
    decimals = listed_decimals(entry)
    first = entry.lower.scaleb(decimals).to_integral_value(ROUND_CEILING)
    last = entry.upper.scaleb(decimals).to_integral_value(ROUND_FLOOR)
    for count in range(int(first), int(last) + 1):
        yield Decimal(count).scaleb(-decimals)


def _spellings(number: Decimal) -> Iterator[str]:
    usual = f"{number:f}" if number else f"{abs(number):f}"
    short = usual.rstrip("0").rstrip(".") if "." in usual else usual
    texts = [usual, short]
    if 0 < abs(number) < _TINY:
        digits, _, exponent = f"{number.normalize():e}".partition("e")
        texts.append(f"{digits}e{int(exponent)}")
    for text in dict.fromkeys(texts):
        for written in dict.fromkeys((text, text.replace("0.", ".", 1) if abs(number) < 1 else text)):
            if written in (".", "-."):
                continue
            yield written
            if written.startswith("-"):
                yield "\u2212" + written[1:]
