"""What the part builders share: the context in which a field is drafted, and the draft itself.

A draft has all numbers of a field and none of its texts, so that rejected tries and the count
of a family's keys don't pay for rendering.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.model import Option, Part, Text
from engine.spec.schema import Misconception, OptionSpec
from engine.variants.stream import Stream
from engine.variants.text import render_text

__all__ = ["Draft", "FieldContext", "Scribe", "letters"]


@dataclass(frozen=True, slots=True)
class FieldContext:
    """What one field is drafted from.

    Parameters
    ----------
    names : mapping of str to value
        Drawn parameters, derived values and the keys of earlier steps.
    derived : mapping of str to str
        The derived values' expressions, in order.
    misconceptions : tuple of Misconception
        Those of the field.
    carried : mapping of str to tuple of float
        Earlier steps, and how far each entry of a right answer may lie from the key.
    accepted : tuple of mapping
        Printed options that an erratum accepts, see :mod:`engine.variants.errata`.
    """

    names: Mapping[str, Any]
    derived: Mapping[str, str] = field(default_factory=dict)
    misconceptions: tuple[Misconception, ...] = ()
    carried: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    accepted: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Scribe:
    """Renders a field's texts and looks up its feedback.

    Parameters
    ----------
    names : mapping of str to value or Drawn
        What stems and options may show.
    answers : mapping of str to value
        What feedback may show besides: the key and the steps' keys.
    registry : mapping of str to str
        Feedback sentence by misconception id.
    """

    names: Mapping[str, Any]
    answers: Mapping[str, Any]
    registry: Mapping[str, str]

    def text(self, template: str, where: str, *, inline: bool = False) -> Text:
        """Return a text that may show drawn and derived values."""
        return render_text(template, self.names, inline=inline, where=where)

    def feedback(self, own: str | None, misconception: str | None = None) -> str:
        """Return own feedback, or the registry's sentence, or nothing."""
        template = own or self.registry.get(misconception or "", "")
        if not template:
            return ""
        return render_text(template, {**self.names, **self.answers}, inline=True, where="feedback").plain

    def options(self, written: Sequence[OptionSpec]) -> tuple[Option, ...]:
        """Return options of the spec, in this order, with letters."""
        return tuple(
            Option(
                name,
                self.text(option.text, "option", inline=True),
                correct=option.correct,
                misconception=option.misconception,
                feedback=self.feedback(option.feedback, option.misconception),
            )
            for name, option in zip(letters(len(written)), written, strict=True)
        )


@dataclass(frozen=True, slots=True)
class Draft:
    """The numbers of one field.

    Parameters
    ----------
    value : value
        The key, as later expressions see it.
    signature : hashable
        Equal for variants that have the same answer; counts a family's keys.
    build : callable
        ``build(scribe, stream) -> Part``, with an empty id; the stream orders the options.
    places : sequence of int or None
        Decimal places to which the key is asked.
    half_widths : tuple of float
        How far each entry of a right answer may lie from the key.
    exact : tuple of bool
        Whether nobody loses anything on the way to an entry and by writing it down.
    """

    value: Any
    signature: Any
    build: Callable[[Scribe, Stream], Part]
    places: Sequence[int | None] = ()
    half_widths: tuple[float, ...] = ()
    exact: tuple[bool, ...] = ()


def letters(count: int) -> list[str]:
    """Return ``a``, ``b`` …; a ValueError for more than 26 options."""
    if count > 26:
        raise ValueError("there are letters for 26 options only")
    return [chr(ord("a") + i) for i in range(count)]
