"""The rules, one file each; every rule takes a subject and yields findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.authoring.lint.rules import (
    asked,
    claims,
    code,
    completeness,
    cues,
    draws,
    effort,
    feedback,
    giveaways,
    keys,
    options,
    printed,
    prose,
    responses,
    sources,
    stems,
    working,
)
from engine.authoring.lint.rules import (
    completeness as formulas,
)
from engine.authoring.lint.rules import (
    completeness as pictures,
)
from engine.authoring.lint.rules import (
    sources as covers,
)
from engine.authoring.lint.rules import (
    stems as undrawn,
)
from engine.authoring.lint.subject import LintFinding, LintSubject

__all__ = ["RULES", "STYLE_RULES"]

RULES: tuple[Callable[[LintSubject], Iterator[LintFinding]], ...] = (
    sources.check,
    covers.check_covers,
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


# ----------------------------------------------------------------------------------------------------
# Matters of style, which `grade lint --strict` looks at as well.

STYLE_RULES: tuple[Callable[[LintSubject], Iterator[LintFinding]], ...] = (
    stems.check,
    asked.check,
    giveaways.check,
    options.check,
    cues.check,
    formulas.check_formulas,
    pictures.check_pictures,
    completeness.check,
    undrawn.check_undrawn,
)
