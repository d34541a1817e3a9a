"""From a worked answer to what a student types, and to what a key holds."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from engine.model import Part
from tests.integration.by_hand.words import Pairs, Pick, Read, chosen

__all__ = ["agrees", "flat", "is_number_like", "keyed", "same_numbers", "typed"]

NUMBERS = {"number", "vector", "matrix"}
_FINE = 17  # decimals where an item asks for no rounding


def is_number_like(part: Part) -> bool:
    """Tell whether the part asks for numbers, or for the option that shows them."""
    return part.type in NUMBERS or (part.type == "single_choice" and all(o.value for o in part.options))


def flat(value: Any) -> list[float]:
    """Return numbers in C order."""
    if isinstance(value, list):
        return [entry for row in value for entry in flat(row)]
    return [float(value)]


def same_numbers(a: Any, b: Any) -> bool:
    left, right = flat(a), flat(b)
    pairs = zip(left, right, strict=False)
    return len(left) == len(right) and all(math.isclose(p, q, rel_tol=1e-9, abs_tol=1e-11) for p, q in pairs)


def agrees(part: Part, answer: object) -> bool:
    """Whether a worked answer is the key, unrounded."""
    if isinstance(answer, Read):
        return part.type in {"single_choice", "multiple_choice", "matching", "ordering", "free_text"}
    if is_number_like(part) and not isinstance(answer, Pick | Pairs):
        return same_numbers(answer, keyed(part))
    if part.type == "token":
        return answer in keyed(part)
    picked = chosen(part, answer)  # type: ignore[arg-type]
    return sorted(picked) == sorted(part.key_ids) if isinstance(answer, Pick) else picked == part.key_ids


def keyed(part: Part) -> Any:
    """Return the key: numbers, a text, or the ids of options."""
    if part.type == "single_choice" and is_number_like(part):
        (right,) = [option for option in part.options if option.correct]
        assert right.value is not None and part.key_ids == (right.id,)
        return list(right.value.data)
    return list(part.key.data) if part.key is not None else part.key_ids


def _written(x: float, part: Part) -> str:
    """A number as the stem asks for it, rounded half to even."""
    significant, decimals = part.settings.get("significant"), part.settings.get("decimals")
    if significant:
        return f"{x:.{significant}g}"
    unit = Decimal(1).scaleb(-(_FINE if decimals is None else decimals))
    return f"{Decimal(repr(x)).quantize(unit, ROUND_HALF_EVEN):f}"


def typed(part: Part, answer: Any) -> str | None:
    """Return what a student with this answer enters; None where nothing was worked out."""
    if isinstance(answer, Read):
        return None
    if part.type == "token":
        return str(answer)
    if part.type in NUMBERS:
        numbers = [_written(x, part) for x in flat(answer)]
        width = len(answer[0]) if part.type == "matrix" else len(numbers)
        rows = [" ".join(numbers[i : i + width]) for i in range(0, len(numbers), width)]
        return "; ".join(rows)
    if is_number_like(part) and not isinstance(answer, Pick):
        (option,) = [o.id for o in part.options if o.value and _rounds_to(o.value.data, answer, part)]
        return option
    ids = chosen(part, answer)
    return (
        " ".join(f"{p.id}-{i}" for p, i in zip(part.prompts, ids, strict=True))
        if part.prompts
        else " ".join(ids)
    )


def _rounds_to(shown: tuple[float, ...], answer: Any, part: Part) -> bool:
    return [_written(x, part) for x in shown] == [_written(x, part) for x in flat(answer)]
