"""Says that a key was typed by hand, and which expression gives it if one of the usual ones does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from engine.errors import ExpressionError
from engine.exchange.keys.candidates import expressions
from engine.exchange.keys.stem_numbers import Value, find_values, read_value

__all__ = ["TYPED_BY_HAND", "Key", "suggested", "suggestion_lines"]

MOST_TRIED = 300
MOST_SHOWN = 2
TYPED_BY_HAND = "key typed by hand: give a key expression"
_WITH_IT = {
    "single_choice": "  with 'distractors' that are known mistakes, and 'decimals'",
    "number": "  with 'decimals' and without 'tolerance', as rounding is then allowed for",
}
_NOISE = 1e-9


@dataclass(frozen=True, slots=True)
class Key:
    """A right answer as its author typed it.

    Parameters
    ----------
    type : str
        The answer type that its expression would stand in.
    text : str
    """

    type: str
    text: str


def suggestion_lines(words: str, key: Key | None) -> list[str]:
    """Return comment lines for a key that could be recomputed.

    Parameters
    ----------
    words : str
        The question's text, formulas as LaTeX.
    key : Key or None
        The right answer; nothing is said unless it is a number, vector or matrix and the text has numbers.
    """
    value = read_value(key.text) if key is not None else None
    given = find_values(words)
    if key is None or value is None or not given:
        return []
    lines = [
        "key typed by hand: give a key expression, so that it is recomputed and the numbers can be drawn"
    ]
    found = suggested(given, value)
    if found:
        lines.append(
            "These expressions give it from the numbers of the text:"
            if len(found) > 1
            else "This expression gives it from the numbers of the text:"
        )
        lines += [f'  key: "{expression}"' for expression in found]
        lines.append(_WITH_IT[key.type])
    return lines


def suggested(given: Sequence[Value], key: Value) -> list[str]:
    """Return expressions of the given values that equal the key at its digits, at most two.

    Where some give it exactly, those that only round to it are left out.
    """
    found = list(_matching(given, key))
    exact = [text for text, is_exact in found if is_exact]
    return (exact or [text for text, _ in found])[:MOST_SHOWN]


def _matching(given: Sequence[Value], key: Value) -> Iterator[tuple[str, bool]]:
    """Yield expressions that give the key, and whether they do so exactly."""
    from engine.variants.expressions import evaluate, require_finite
    from engine.variants.values import array_of

    entries = [Decimal(entry) for row in key.rows for entry in row]
    shape = {"number": (), "vector": (len(entries),), "matrix": (len(key.rows), len(key.rows[0]))}[key.kind]
    rounds_to = _rounds_to if _is_telling(entries) else _equals
    for text in islice(expressions(given), MOST_TRIED):
        try:
            array = array_of(require_finite(evaluate(text, {}), text))
        except (ExpressionError, TypeError, ValueError):
            continue
        if array.shape == shape and all(map(rounds_to, array.data, entries)):
            yield text, all(map(_equals, array.data, entries))
        elif shape == () and len(array.shape) == 1 and text.endswith(")"):
            places = [i for i, entry in enumerate(array.data) if rounds_to(entry, entries[0])]
            if len(places) == 1:
                yield f"{text}[{places[0]}]", _equals(array.data[places[0]], entries[0])


def _rounds_to(value: float, written: Decimal) -> bool:
    exponent = written.as_tuple().exponent
    half = 0.5 * 10.0**exponent if isinstance(exponent, int) and exponent < 0 else 0.0
    return abs(value - float(written)) <= half + _NOISE * max(1.0, abs(value))


def _equals(value: float, written: Decimal) -> bool:
    return abs(value - float(written)) <= _NOISE * max(1.0, abs(value))


def _is_telling(entries: Sequence[Decimal]) -> bool:
    """Tell whether a match is hardly an accident: two figures, or two entries."""
    return len(entries) > 1 or len(entries[0].as_tuple().digits) > 1
