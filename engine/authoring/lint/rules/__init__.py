"""All rules of lint, and when each is applied.

A rule is a function that takes the :class:`~engine.authoring.lint.subject.LintSubject` and yields findings.
To add one, write it in a module of its own and append it here under the name that users see: the command,
the preview and the import of questions read this list and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from engine.authoring.lint.rules import (
    claims,
    code_exercises,
    completeness,
    cues,
    draws,
    effort,
    generated_mutants,
    giveaways,
    keys,
    option_form,
    printed,
    rendered_text,
    requested_form,
    responses,
    rubrics,
    sources,
    stem_text,
    working,
    wrong_answer_feedback,
)
from engine.authoring.lint.subject import LintFinding, LintSubject

__all__ = ["RULES", "STYLE_RULES", "LintRule"]


class LintRule(NamedTuple):
    """A rule under the name that its findings carry."""

    name: str
    check: Callable[[LintSubject], Iterator[LintFinding]]


# Findings of one line keep this order: what breaks the item first, then what only trying it out shows.
RULES = (
    LintRule("sources", sources.check),
    LintRule("covers", sources.check_covers),
    LintRule("needs", sources.check_needs),
    LintRule("printed", printed.check),
    LintRule("draws", draws.check),
    LintRule("keys", keys.check),
    LintRule("prose", rendered_text.check),
    LintRule("responses", responses.check),
    LintRule("rubric", rubrics.check),
    LintRule("feedback", wrong_answer_feedback.check),
    LintRule("claims", claims.check),
    LintRule("working", working.check),
    LintRule("effort", effort.check),
    LintRule("code", code_exercises.check),
    LintRule("mutants", generated_mutants.check),
)
"""Always applied: what keeps an item from being served, or nearly so."""

STYLE_RULES = (
    LintRule("stem", stem_text.check),
    LintRule("asked", requested_form.check),
    LintRule("giveaway", giveaways.check),
    LintRule("options", option_form.check),
    LintRule("cues", cues.check),
    LintRule("formulas", completeness.check_formulas),
    LintRule("pictures", completeness.check_pictures),
    LintRule("completeness", completeness.check),
    LintRule("undrawn", stem_text.check_undrawn),
)
"""Matters of style, which ``grade lint --strict`` applies as well."""
