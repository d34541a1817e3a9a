"""The rules, one file each; every rule takes a subject and yields findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.lint.finding import Finding
from engine.lint.rules import (
    claims,
    code,
    covers,
    draws,
    effort,
    feedback,
    keys,
    printed,
    prose,
    responses,
    sources,
    working,
)
from engine.lint.subject import Subject

__all__ = ["RULES"]

RULES: tuple[Callable[[Subject], Iterator[Finding]], ...] = (
    sources.check,
    covers.check,
    printed.check,
    draws.check,
    keys.check,
    prose.check,
    responses.check,
    feedback.check,
    claims.check,
    working.check,
    effort.check,
    code.check,
)
