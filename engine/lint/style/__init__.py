"""Matters of style, which `grade lint --strict` looks at as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.lint.finding import Finding
from engine.lint.style import (
    asked,
    completeness,
    cues,
    formulas,
    giveaways,
    options,
    pictures,
    stems,
    undrawn,
)
from engine.lint.subject import Subject

__all__ = ["STYLE_RULES"]

STYLE_RULES: tuple[Callable[[Subject], Iterator[Finding]], ...] = (
    stems.check,
    asked.check,
    giveaways.check,
    options.check,
    cues.check,
    formulas.check,
    pictures.check,
    completeness.check,
    undrawn.check,
)
