"""Single choice: options by hand, or a computed key among what known mistakes give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from engine.errors import UndefinedValueError
from engine.model import Array, Option, Part, Text
from engine.plurals import agree, counted
from engine.spec.schema import SingleChoiceAnswer
from engine.variants.expressions import evaluate, require_finite
from engine.variants.parameters import ImpossibleDraw, Redraw
from engine.variants.parts.draft import Draft, FieldContext, Scribe, letters
from engine.variants.parts.written import WrittenOptions
from engine.variants.rounding import decimal_of, is_rounding_safe, shown, shown_array, unit
from engine.variants.stream import Stream
from engine.variants.text import formula_text, render_text
from engine.variants.values import array_of

__all__ = ["draft", "draft_computed"]

LEAST_UNITS = 3


@dataclass(frozen=True, slots=True)
class _Computed:
    """A computed option: numbers, or words."""

    array: Array | None
    words: str
    misconception: str | None = None

    def text(self, decimals: int | None) -> Text:
        if self.array is None:
            return render_text(self.words, {}, inline=True)
        return formula_text(_latex(self.array, decimals))


def _latex(array: Array, decimals: int | None) -> str:
    if len(array.shape) < 2:
        return shown_array(array, [decimals] * len(array.data))
    width = array.shape[-1]
    cells = [shown(value, decimals) for value in array.data]
    rows = [" & ".join(cells[i : i + width]) for i in range(0, len(cells), width)]
    return r"\begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix}"


def _computed(text: str, context: FieldContext, misconception: str | None = None) -> tuple[Any, _Computed]:
    value = require_finite(evaluate(text, context.names), text)
    if isinstance(value, str):
        return value, _Computed(None, value, misconception)
    if isinstance(value, tuple) and not all(isinstance(entry, int) for entry in value):
        return value, _Computed(None, " ".join(map(str, value)), misconception)
    return value, _Computed(array_of(value), "", misconception)


def _too_close(a: _Computed, b: _Computed, decimals: int | None) -> bool:
    """Tell whether two options can be mistaken for each other after rounding."""
    if a.array is None or b.array is None:
        return a.array is None and b.array is None and a.words.casefold() == b.words.casefold()
    if a.array.shape != b.array.shape:
        return False
    pairs = list(zip(a.array.data, b.array.data, strict=True))
    if decimals is None:
        return all(decimal_of(x) == decimal_of(y) for x, y in pairs)
    steps = [abs(decimal_of(x) - decimal_of(y)) / unit(decimals) for x, y in pairs]
    rounded = [abs(round(decimal_of(x), decimals) - round(decimal_of(y), decimals)) for x, y in pairs]
    return max(steps) < LEAST_UNITS or max(rounded) < LEAST_UNITS * unit(decimals)


def draft(answer: SingleChoiceAnswer, context: FieldContext) -> Draft:
    """Draft a single-choice field.

    Raises
    ------
    Redraw
        The key lies near a rounding tie, or two options come too close.
    ImpossibleDraw, engine.errors.ExpressionError
        The spec is at fault.
    """
    return (
        _draft_written(answer, context) if answer.key is None else draft_computed(answer, answer.key, context)
    )


def _draft_written(answer: SingleChoiceAnswer, context: FieldContext) -> Draft:
    options = WrittenOptions(answer, context, "one right option and a wrong one are needed")
    right = options.right
    if answer.draw is None and len(right) != 1:
        raise ImpossibleDraw(
            f"{counted(len(right), 'option')} {agree(len(right), 'are')} marked correct, exactly "
            "one is needed"
        )
    value = answer.options[right[0]].text if len(right) == 1 else None
    return Draft(value, options.pool.signature, options.builder({"decimals": None}))


def draft_computed(answer: SingleChoiceAnswer, key: str, context: FieldContext) -> Draft:
    """Draft options of which all are computed.

    Raises
    ------
    Redraw, ImpossibleDraw, engine.errors.ExpressionError
        As :func:`draft`.
    """
    value, right = _computed(key, context)
    if right.array is not None and answer.decimals is not None:
        for entry in right.array.data:
            if not is_rounding_safe(entry, answer.decimals):
                raise Redraw(
                    f"the key stays away from a rounding tie at {counted(answer.decimals, 'decimal')}"
                )
    known = {m.id: m for m in context.misconceptions}
    options = [right]
    for name in answer.distractors:
        if name not in known:
            raise ImpossibleDraw(f"the distractor {name} isn't among the misconceptions")
        try:
            options.append(_computed(known[name].expr, context, name)[1])
        except UndefinedValueError:
            raise Redraw(f"{name} has a value") from None
    for a, b in combinations(options, 2):
        if _too_close(a, b, answer.decimals):
            names = [o.misconception or "the key" for o in (a, b)]
            raise Redraw(f"{names[0]} and {names[1]} differ by {LEAST_UNITS} units of the last place")

    def build(scribe: Scribe, stream: Stream) -> Part:
        ordered = _ordered(options, answer, stream)
        shown_options = tuple(
            Option(
                name,
                option.text(answer.decimals),
                correct=option is right,
                value=option.array,
                misconception=option.misconception,
                feedback=_feedback(option, known, scribe),
            )
            for name, option in zip(letters(len(ordered)), ordered, strict=True)
        )
        keys = tuple(option.id for option in shown_options if option.correct)
        settings: dict[str, Any] = {"decimals": answer.decimals}
        if context.accepted:
            settings["accepted"] = [
                {**entry, "note": scribe.text(entry["note"], "erratum").plain if entry["note"] else ""}
                for entry in context.accepted
            ]
        return Part("", answer.type, 1.0, key_ids=keys, options=shown_options, settings=settings)

    signature: Any = right.words
    if right.array is not None:
        signature = (right.array.shape, tuple(shown(entry, answer.decimals) for entry in right.array.data))
    places = [answer.decimals] * (len(right.array.data) if right.array else 0)
    return Draft(value, signature, build, places)


def _feedback(option: _Computed, known: dict[str, Any], scribe: Scribe) -> str:
    if option.misconception is None:
        return ""
    return scribe.feedback(known[option.misconception].feedback, option.misconception)


def _ordered(options: Sequence[_Computed], answer: SingleChoiceAnswer, stream: Stream) -> list[_Computed]:
    key, *others = options
    if answer.shuffle and answer.key_position is None:
        return stream.shuffled(options)
    if answer.shuffle:
        others = stream.shuffled(others)
    others.insert(answer.key_position or 0, key)
    return others
