"""Error carried forward: what would be right, given a student's own earlier values.

A step is evaluated again with the values that the student entered for the steps before it.  That
is done only if those values meet their invariants and nothing degenerates: somebody who enters one-hot
or uniform weights has made the next step trivial and earns nothing by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from engine.answers.asked_precision import NumericSettings, floats_of, numbers
from engine.answers.base import FieldContext, PartSettings
from engine.answers.numeric import simplex_faults
from engine.draws import ImpossibleDraw
from engine.errors import ExpressionError, UndefinedValueError
from engine.expressions.language import evaluate, evaluate_truth, parse, require_finite
from engine.expressions.values import decimal_of, names_of
from engine.model import FloatArray, KnownWrong, Part, Variant

# What a student entered for the numeric steps, exactly, by step id.
StepAnswers = Mapping[str, Sequence[Fraction]]


@dataclass(frozen=True, slots=True)
class StepSettings(PartSettings):
    """Settings of a step, beside those of its answer type.

    Parameters
    ----------
    follow_through : bool
        Whether it is also marked with the student's own earlier values.
    invariants : tuple of str
        What must be true of a value that is carried forward.
    """

    follow_through: bool = False
    invariants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CarriedStep:
    """A step as it stands after the student's own earlier values.

    Parameters
    ----------
    part : Part or None
        The step with its key, interval and known mistakes worked out again; None where that isn't done.
    steps : tuple of str
        The steps whose entered values count.
    reason : str
        Why nothing is carried forward, for the student.
    """

    part: Part | None
    steps: tuple[str, ...] = ()
    reason: str = ""


def misconception_name(step: str, misconception: str) -> str:
    """Return the name under which a variant keeps a step's misconception expression."""
    return f"{step}:{misconception}"


def carry_forward(variant: Variant, part: Part, answers: StepAnswers) -> CarriedStep:
    """Work a step out again with a student's own earlier values.

    Parameters
    ----------
    variant : Variant
    part : Part
        A numeric step.
    answers : mapping of str to sequence of Fraction
        The numeric answers to the steps before it; blank ones are left out.
    """
    nothing = CarriedStep(None)
    if part.key is None or part.id not in variant.expressions or not StepSettings.of(part).follow_through:
        return nothing
    before = variant.parts[: variant.parts.index(part)]
    behind = steps_behind(variant, part.id)
    entered = [step for step in before if step.id in behind and step.id in answers and step.key is not None]
    if not entered:
        return nothing
    # A spec's fault was found when the variant was drawn; here only the student's numbers can be the cause.
    try:
        return _carried(variant, part, before, entered, answers)
    except UndefinedValueError:
        return CarriedStep(None, reason="your earlier values leave this step without a value")
    except (ExpressionError, ImpossibleDraw):
        return nothing


def _carried(
    variant: Variant, part: Part, before: Sequence[Part], entered: Sequence[Part], answers: StepAnswers
) -> CarriedStep:
    names = _names(variant, before, {step.id: answers[step.id] for step in entered})
    for step in entered:
        if (reason := _unfit(step, answers[step.id], names)) is not None:
            return CarriedStep(None, reason=reason)
    text = variant.expressions[part.id]
    key = numbers(text, evaluate(text, names))
    if part.key is not None and part.key.shape == () and len(key.data) == 1:
        key = FloatArray((), key.data)
    if part.key is None or key.shape != part.key.shape:  # the student's values changed a size
        return CarriedStep(None)
    if (kind := _degenerate(key, part)) is not None:
        return CarriedStep(None, reason=f"your earlier values make this step {kind}")
    again = _asked_again(variant, part, key, names, entered, answers)
    # Values that nothing explains, and by which a known mistake of this step is right: no credit by accident.
    hides_mistake = any(_is_accepted(known, again) for known in again.known_wrong)
    if (
        hides_mistake
        and not all(_is_explained(variant, step, answers) for step in entered)
        and not any(_is_accepted(known, part) for known in part.known_wrong)
    ):
        return CarriedStep(
            None, reason="with your earlier values a known mistake gives what is right in this step"
        )
    return CarriedStep(again, tuple(step.id for step in entered))


def steps_behind(variant: Variant, step: str) -> frozenset[str]:
    """Return every name on which a step's key depends, through derived values and other steps."""
    behind: set[str] = set()
    frontier = set(parse(variant.expressions[step]).names)
    while frontier:
        name = frontier.pop()
        if name not in behind:
            behind.add(name)
            if name in variant.expressions:
                frontier |= parse(variant.expressions[name]).names
    return frozenset(behind)


def _names(variant: Variant, before: Sequence[Part], answers: StepAnswers) -> dict[str, Any]:
    """Return parameters, derived values, and the earlier steps: the student's where there are any."""

    names = names_of(variant.values)
    steps = {step.id for step in variant.parts}
    for name, text in variant.expressions.items():
        if ":" not in name and name not in steps:
            names[name] = require_finite(evaluate(text, names), text)
    for step in before:
        if step.id in answers and step.key is not None:
            values = [float(entry) for entry in answers[step.id]]
            names[step.id] = np.array(values).reshape(step.key.shape)
        elif step.id in variant.expressions:
            text = variant.expressions[step.id]
            names[step.id] = require_finite(evaluate(text, names), text)
    return names


# Guards: which values are not carried on.

# Within this many units of its last place a value counts as trivial; a hair more than one, for the floats.
_GRAIN_SLACK = 1.001
# With such weights the next step is an average, or a copy of one value, to the digit that somebody reads off:
# every weight within a tenth of 1/n, or less than a twentieth of all weight outside of one place.
_EVEN = 0.1
_PEAK = 0.95


def _unfit(step: Part, entries: Sequence[Fraction], names: Mapping[str, Any]) -> str | None:
    """Return why a student's value can't be carried forward, or None."""
    if step.key is None:
        return None
    settings = NumericSettings.of(step)
    width = step.key.shape[-1] if step.key.shape else 1
    floats = floats_of(entries)
    rows = [floats[i : i + width] for i in range(0, len(floats), width)]
    if settings.simplex and any(simplex_faults(settings, row) for row in rows):
        return f"your value of {step.id} isn't carried on, as it can't be weights"
    for invariant in StepSettings.of(step).invariants:
        if not evaluate_truth(invariant, names):
            return f"your value of {step.id} isn't carried on, as it can't be right in any case"
    value = FloatArray(step.key.shape, tuple(float(entry) for entry in entries))
    if _is_weights(step.key, settings):
        kind = _degenerate(value, step) or _nearly_trivial(value, step)
    else:
        kind = "zero" if _is_zero(value, settings.grain) and not _is_zero(step.key, settings.grain) else None
    if kind is not None:
        return f"your value of {step.id} isn't carried on, as it is {kind} and makes the rest trivial"
    return None


def _is_weights(key: FloatArray, settings: NumericSettings) -> bool:
    return settings.simplex or (len(key.data) > 1 and min(key.data) >= 0 and abs(sum(key.data) - 1) < 1e-9)


def _degenerate(value: FloatArray, part: Part) -> str | None:
    """Return in which way a value is trivial although the step's key isn't, or None."""
    key, settings = part.key, NumericSettings.of(part)
    if key is None:
        return None
    whole, rows = [(value, key)], _row_pairs(value, key)
    kinds: list[tuple[str, Callable[[FloatArray, float], bool], list[tuple[FloatArray, FloatArray]]]] = []
    if _is_weights(key, settings):
        kinds += [("uniform", _is_uniform, rows), ("one-hot", _is_one_hot, rows)]
    if max(map(abs, key.data)) < 1:
        kinds.append(("saturated", _is_saturated, whole))
    kinds.append(("zero", _is_zero, whole))
    for kind, holds, pairs in kinds:
        if any(
            holds(entered, settings.grain) and not holds(right, settings.grain) for entered, right in pairs
        ):
            return kind
    return None


def _nearly_trivial(value: FloatArray, part: Part) -> str | None:
    """Return in which way weights are almost trivial although the key isn't, or None.

    What a known mistake gives is an honest slip, however peaked it is, and is carried on.
    """
    key = part.key
    if key is None or _is_known(value.data, part, NumericSettings.of(part).grain):
        return None
    for kind, holds in (("nearly uniform", _is_nearly_uniform), ("nearly one-hot", _is_nearly_one_hot)):
        if any(holds(entered) and not holds(right) for entered, right in _row_pairs(value, key)):
            return kind
    return None


def _row_pairs(value: FloatArray, key: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    """Return the rows of two arrays side by side: one trivial row makes trivial what is made of it."""
    width = key.shape[-1] if key.shape else 1
    return [
        (FloatArray((width,), value.data[i : i + width]), FloatArray((width,), key.data[i : i + width]))
        for i in range(0, len(key.data), width)
    ]


def _is_nearly_uniform(row: FloatArray) -> bool:
    count = len(row.data)
    return count > 1 and all(abs(x - 1 / count) <= _EVEN / count for x in row.data)


def _is_nearly_one_hot(row: FloatArray) -> bool:
    return len(row.data) > 1 and max(row.data) >= _PEAK


def _is_uniform(row: FloatArray, grain: float) -> bool:
    return len(row.data) > 1 and max(row.data) - min(row.data) < grain * _GRAIN_SLACK


def _is_one_hot(row: FloatArray, grain: float) -> bool:
    return len(row.data) > 1 and max(row.data) > 1 - grain * _GRAIN_SLACK


def _is_saturated(value: FloatArray, grain: float) -> bool:
    # a tanh near its limits; entries beyond 1 aren't values of tanh, but a context vector, say
    return all(1 - grain * _GRAIN_SLACK < abs(x) <= 1 for x in value.data)


def _is_zero(value: FloatArray, grain: float) -> bool:
    return all(abs(x) < grain for x in value.data)


# The step, asked again.


def _is_known(entries: Sequence[float], part: Part, grain: float) -> bool:
    """Return whether a value is that of one of a step's known mistakes."""
    return any(
        len(known.value.data) == len(entries)
        and all(abs(a - b) <= grain for a, b in zip(known.value.data, entries, strict=True))
        for known in part.known_wrong
        if known.value is not None
    )


def _is_explained(variant: Variant, step: Part, answers: StepAnswers) -> bool:
    """Return whether a value is right, a known mistake's, or follows from the student's values before it."""
    entries = answers[step.id]
    if _is_right_or_known(entries, step, step):
        return True
    again = carry_forward(variant, step, answers).part
    return again is not None and _is_right_or_known(entries, again, step)


def _is_right_or_known(entries: Sequence[Fraction], target: Part, step: Part) -> bool:
    grain = NumericSettings.of(step).grain
    return _in_interval(entries, target) or _is_known([float(entry) for entry in entries], target, grain)


def _in_interval(entries: Sequence[Fraction], part: Part) -> bool:
    settings = NumericSettings.of(part)
    bounds = zip(entries, settings.lower, settings.upper, strict=True)
    return all(Fraction(low) <= entry <= Fraction(high) for entry, low, high in bounds)


def _is_accepted(known: KnownWrong, part: Part) -> bool:
    """Return whether a mistake's value counts as right."""
    if known.value is None or part.key is None or len(known.value.data) != len(part.key.data):
        return False
    return _in_interval([Fraction(entry) for entry in known.value.data], part)


def _asked_again(
    variant: Variant,
    part: Part,
    key: FloatArray,
    names: Mapping[str, Any],
    entered: Sequence[Part],
    answers: StepAnswers,
) -> Part:
    settings = NumericSettings.of(part)
    precision = settings.precision_of(variant.expressions[part.id])
    steps = {step.id for step in variant.parts}
    derived = {n: text for n, text in variant.expressions.items() if ":" not in n and n not in steps}
    # a student may go on with more digits than were typed
    carried = {step.id: tuple(_half_units(step, answers[step.id])) for step in entered}
    spans = precision.intervals(key, FieldContext(names, derived, carried=carried))
    again = replace(
        settings,
        places=precision.places(key),
        lower=tuple(str(span.lower) for span in spans),
        upper=tuple(str(span.upper) for span in spans),
    )
    known = [_known_again(variant, part, wrong, key, names) for wrong in part.known_wrong]
    return replace(
        part,
        key=key,
        settings={**part.settings, **again.as_json()},
        known_wrong=tuple(wrong for wrong in known if wrong is not None),
    )


def _half_units(step: Part, entries: Sequence[Fraction]) -> list[float]:
    """Return how far the digits with which a student goes on may lie from those typed.

    Nothing for an exact entry that is right; a wrong one may have been rounded.
    """
    settings = NumericSettings.of(step)
    exact = settings.exact or (False,) * len(entries)  # variants of older versions don't say it
    data = step.key.data if step.key is not None else ()
    return [
        0.0 if place is None or (is_exact and entry == Fraction(decimal_of(value))) else 0.5 * 10.0**-place
        for place, is_exact, entry, value in zip(settings.places, exact, entries, data, strict=True)
    ]


def _known_again(
    variant: Variant, part: Part, known: KnownWrong, key: FloatArray, names: Mapping[str, Any]
) -> KnownWrong | None:

    text = variant.expressions.get(misconception_name(part.id, known.misconception))
    if text is None:
        return None
    value = np.array(key.data).reshape(key.shape)
    try:
        return replace(known, value=numbers(text, evaluate(text, {**names, part.id: value})))
    except ExpressionError:
        return None
