"""Error carried forward: what would be right, given a student's own earlier values.

A step is evaluated again with the values that the student entered for the steps before it.  That
is done only if those values meet their invariants and nothing degenerates: somebody who enters one-hot
or uniform weights has made the next step trivial and earns nothing by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from engine.answers.answer_type import FieldContext
from engine.answers.numeric import is_simplex
from engine.answers.numeric_draft import AskedPrecision, numbers
from engine.draws.parameters import ImpossibleDraw
from engine.errors import ExpressionError, UndefinedValueError
from engine.expressions.language import evaluate, evaluate_truth, parse, require_finite
from engine.expressions.values import decimal_of, names_of
from engine.model import FloatArray, KnownWrong, Part, Variant

__all__ = ["CarriedStep", "Given", "carry_forward", "misconception_name", "steps_behind"]

# what a student entered for the numeric steps, exactly, by step id
Given = Mapping[str, Sequence[Fraction]]


@dataclass(frozen=True, slots=True)
class CarriedStep:
    """A step as it stands after the student's own earlier values.

    Parameters
    ----------
    part : Part or None
        The step with its key, interval and known mistakes worked out again; None where that isn't done.
    steps : tuple of str
        The steps whose own values count.
    reason : str
        Why nothing is carried forward, for the student.
    """

    part: Part | None
    steps: tuple[str, ...] = ()
    reason: str = ""


def carry_forward(variant: Variant, part: Part, given: Given) -> CarriedStep:
    """Work a step out again with a student's own earlier values.

    Parameters
    ----------
    variant : Variant
    part : Part
        A numeric step.
    given : mapping
        The numeric answers to the steps before it; blank ones are left out.
    """
    nothing = CarriedStep(None)
    if part.key is None or part.id not in variant.expressions or not part.settings.get("follow_through"):
        return nothing
    before = variant.parts[: variant.parts.index(part)]
    needed = steps_behind(variant, part.id)
    own = tuple(step for step in before if step.id in needed and step.id in given and step.key is not None)
    if not own:
        return nothing
    try:
        return _carried(variant, part, before, own, given)
    except UndefinedValueError:
        return CarriedStep(None, reason="your earlier values leave this step without a value")
    except (ExpressionError, ImpossibleDraw):
        return nothing


def _carried(
    variant: Variant, part: Part, before: Sequence[Part], own: Sequence[Part], given: Given
) -> CarriedStep:
    names = _names(variant, before, {step.id: given[step.id] for step in own})
    for step in own:
        if (reason := _unfit(step, given[step.id], names)) is not None:
            return CarriedStep(None, reason=reason)
    text = variant.expressions[part.id]
    key = numbers(text, evaluate(text, names))
    if part.key is not None and part.key.shape == () and len(key.data) == 1:
        key = FloatArray((), key.data)
    if part.key is None or key.shape != part.key.shape:
        return CarriedStep(None)
    if (kind := _degenerate(key, part)) is not None:
        return CarriedStep(None, reason=f"your earlier values make this step {kind}")
    again = _asked_again(variant, part, key, names, own, given)
    # Values that nothing explains, and by which a known mistake of this step is right: no credit by accident.
    hides = any(_gives(known, again) for known in again.known_wrong)
    if (
        hides
        and not all(_is_explained(variant, step, given) for step in own)
        and not any(_gives(known, part) for known in part.known_wrong)
    ):
        return CarriedStep(
            None, reason="with your earlier values a known mistake gives what is right in this step"
        )
    return CarriedStep(again, tuple(step.id for step in own))


def steps_behind(variant: Variant, step: str) -> frozenset[str]:
    """Return every name on which a step's key depends, through derived values and other steps."""
    found: set[str] = set()
    frontier = set(parse(variant.expressions[step]).names)
    while frontier:
        name = frontier.pop()
        if name not in found:
            found.add(name)
            if name in variant.expressions:
                frontier |= parse(variant.expressions[name]).names
    return frozenset(found)


def _names(variant: Variant, before: Sequence[Part], own: Given) -> dict[str, Any]:
    """Return parameters, derived values, and the earlier steps: the student's where there are any."""
    import torch

    names = names_of(variant.values)
    steps = {step.id: step for step in variant.parts}
    for name, text in variant.expressions.items():
        if ":" not in name and name not in steps:
            names[name] = require_finite(evaluate(text, names), text)
    for step in before:
        if step.id in own and step.key is not None:
            values = [float(entry) for entry in own[step.id]]
            names[step.id] = torch.tensor(values, dtype=torch.float64).reshape(step.key.shape)
        elif step.id in variant.expressions:
            text = variant.expressions[step.id]
            names[step.id] = require_finite(evaluate(text, names), text)
    return names


# --- guards -----------------------------------------------------------------------------


def _unfit(step: Part, entries: Sequence[Fraction], names: Mapping[str, Any]) -> str | None:
    """Return why a student's value can't be carried forward, or None."""
    if step.key is None:
        return None
    width = step.key.shape[-1] if step.key.shape else 1
    rows = [entries[i : i + width] for i in range(0, len(entries), width)]
    if step.settings.get("simplex") and not all(is_simplex(step, row) for row in rows):
        return f"your value of {step.id} isn't carried on, as it can't be weights"
    for invariant in step.settings.get("invariants", ()):
        if not evaluate_truth(invariant, names):
            return f"your value of {step.id} isn't carried on, as it can't be right in any case"
    own = FloatArray(step.key.shape, tuple(float(entry) for entry in entries))
    if _is_weights(step.key, step):
        kind = _degenerate(own, step) or _nearly_trivial(own, step, _grain(step))
    else:
        kind = _zero(own, step)
    if kind is not None:
        return f"your value of {step.id} isn't carried on, as it is {kind} and makes the rest trivial"
    return None


def _grain(part: Part) -> float:
    places = [place for place in part.settings["places"] if place is not None]
    return 10.0 ** -max(places) if places else 1e-6


def _is_weights(key: FloatArray, part: Part) -> bool:
    return bool(part.settings.get("simplex")) or (
        len(key.data) > 1 and min(key.data) >= 0 and abs(sum(key.data) - 1) < 1e-9
    )


def _zero(value: FloatArray, part: Part) -> str | None:
    grain = _grain(part)
    if part.key is None or all(abs(x) < grain for x in part.key.data):
        return None
    return "zero" if all(abs(x) < grain for x in value.data) else None


def _degenerate(value: FloatArray, part: Part) -> str | None:
    """Return in which way a value is trivial although the step's key isn't, or None."""
    key = part.key
    if key is None:
        return None
    kinds = {"uniform": _is_uniform, "one-hot": _is_one_hot, "saturated": _is_saturated, "zero": _is_zero}
    grain = _grain(part)
    weights = _is_weights(key, part)
    for kind, holds in kinds.items():
        if kind in ("uniform", "one-hot") and not weights:
            continue
        if kind == "saturated" and max(map(abs, key.data)) >= 1:
            continue
        pairs = _row_pairs(value, key) if weights and kind in ("uniform", "one-hot") else [(value, key)]
        if any(holds(own, grain) and not holds(right, grain) for own, right in pairs):
            return kind
    return None


def _nearly_trivial(value: FloatArray, part: Part, grain: float) -> str | None:
    """Return in which way weights are almost trivial although the key isn't, or None.

    What a known mistake gives is an honest slip, however peaked it is, and is carried on.
    """
    key = part.key
    if key is None or _is_known(value.data, part, grain):
        return None
    for kind, holds in (("nearly uniform", _is_nearly_uniform), ("nearly one-hot", _is_nearly_one_hot)):
        if any(holds(own) and not holds(right) for own, right in _row_pairs(value, key)):
            return kind
    return None


# With such weights the next step is an average, or a copy of one value, to the digit that somebody reads off:
# every weight within a tenth of 1/n, or less than a twentieth of all weight outside of one place.
_EVEN = 0.1
_PEAK = 0.95


def _row_pairs(value: FloatArray, key: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    """Return the rows of two matrices side by side: one trivial row makes trivial what is made of it."""
    pairs = zip(_rows_of(value), _rows_of(key), strict=True)
    return [(FloatArray((len(own),), own), FloatArray((len(right),), right)) for own, right in pairs]


def _rows_of(value: FloatArray) -> list[tuple[float, ...]]:
    width = value.shape[-1] if value.shape else 1
    return [value.data[i : i + width] for i in range(0, len(value.data), width)]


def _is_nearly_uniform(value: FloatArray) -> bool:
    rows = _rows_of(value)
    return len(rows[0]) > 1 and all(abs(x - 1 / len(row)) <= _EVEN / len(row) for row in rows for x in row)


def _is_nearly_one_hot(value: FloatArray) -> bool:
    rows = _rows_of(value)
    return len(rows[0]) > 1 and all(max(row) >= _PEAK for row in rows)


def _is_uniform(value: FloatArray, grain: float) -> bool:
    return len(value.data) > 1 and max(value.data) - min(value.data) < grain * 1.001


def _is_one_hot(value: FloatArray, grain: float) -> bool:
    rows = _rows_of(value)
    return len(rows[0]) > 1 and all(max(row) > 1 - grain * 1.001 for row in rows)


def _is_saturated(value: FloatArray, grain: float) -> bool:
    # a tanh near its limits; entries beyond 1 are no tanh, but a context vector, say
    return all(1 - grain * 1.001 < abs(x) <= 1 for x in value.data)


def _is_zero(value: FloatArray, grain: float) -> bool:
    return all(abs(x) < grain for x in value.data)


# --- the step, asked again --------------------------------------------------------------


def _is_known(entries: Sequence[float], part: Part, grain: float) -> bool:
    """Tell whether a value is that of one of a step's known mistakes."""
    known = [wrong.value.data for wrong in part.known_wrong if wrong.value is not None]
    return any(
        len(own) == len(entries) and all(abs(a - b) <= grain for a, b in zip(own, entries, strict=True))
        for own in known
    )


def _is_explained(variant: Variant, step: Part, given: Given) -> bool:
    """Tell whether a value is right, a known mistake's, or follows from the student's values before it."""
    entries = given[step.id]
    if _is_meant(entries, step, step):
        return True
    again = carry_forward(variant, step, given).part
    return again is not None and _is_meant(entries, again, step)


def _is_meant(entries: Sequence[Fraction], asked: Part, step: Part) -> bool:
    ends = zip(entries, asked.settings["lower"], asked.settings["upper"], strict=True)
    is_right = all(Fraction(low) <= entry <= Fraction(high) for entry, low, high in ends)
    return is_right or _is_known([float(entry) for entry in entries], asked, _grain(step))


def _gives(known: KnownWrong, part: Part) -> bool:
    """Tell whether a mistake's value counts as right."""
    if known.value is None or part.key is None or len(known.value.data) != len(part.key.data):
        return False
    ends = zip(known.value.data, part.settings["lower"], part.settings["upper"], strict=True)
    return all(Fraction(low) <= Fraction(entry) <= Fraction(high) for entry, low, high in ends)


def _asked_again(
    variant: Variant, part: Part, key: FloatArray, names: Mapping[str, Any], own: Sequence[Part], given: Given
) -> Part:
    settings = dict(part.settings)
    tolerance = settings.get("tolerance")
    asked = AskedPrecision(
        variant.expressions[part.id],
        settings.get("decimals"),
        settings.get("significant"),
        settings.get("working_decimals"),
        None if tolerance is None else Decimal(tolerance),
    )
    steps = {step.id for step in variant.parts}
    derived = {n: text for n, text in variant.expressions.items() if ":" not in n and n not in steps}
    # a student may go on with more digits than were typed
    carried = {step.id: tuple(_half_units(step, given[step.id])) for step in own}
    spans = asked.intervals(key, FieldContext(names, derived, carried=carried))
    settings["places"] = list(asked.places(key))
    settings["lower"] = [str(span.lower) for span in spans]
    settings["upper"] = [str(span.upper) for span in spans]
    wrong = tuple(_wrong_again(variant, part, known, key, names) for known in part.known_wrong)
    return replace(part, key=key, settings=settings, known_wrong=tuple(w for w in wrong if w is not None))


def _half_units(step: Part, entries: Sequence[Fraction]) -> list[float]:
    """Return how far the digits with which a student goes on may lie from those typed.

    Nothing for an exact entry that is right; a wrong one may have been rounded.
    """
    exact = step.settings.get("exact") or [False] * len(entries)
    data = step.key.data if step.key is not None else ()
    return [
        0.0 if place is None or (is_exact and entry == Fraction(decimal_of(value))) else 0.5 * 10.0**-place
        for place, is_exact, entry, value in zip(step.settings["places"], exact, entries, data, strict=True)
    ]


def _wrong_again(
    variant: Variant, part: Part, known: KnownWrong, key: FloatArray, names: Mapping[str, Any]
) -> KnownWrong | None:
    import torch

    text = variant.expressions.get(misconception_name(part.id, known.misconception))
    if text is None:
        return None
    own = torch.tensor(key.data, dtype=torch.float64).reshape(key.shape)
    try:
        value = numbers(text, evaluate(text, {**names, part.id: own}))
    except ExpressionError:
        return None
    return replace(known, value=value)


def misconception_name(step: str, misconception: str) -> str:
    """Return the name under which a variant keeps a step's misconception expression."""
    return f"{step}:{misconception}"
