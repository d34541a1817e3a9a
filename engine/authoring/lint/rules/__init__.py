"""All rules of lint, and when each is applied.

A rule is a function that takes the :class:`~engine.authoring.lint.subject.LintSubject` and yields findings.
To add one, write it in a module of its own and append it here: the command, the preview and the import of
questions read this list and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.authoring.lint.rules import (
    claims,
    code_exercises,
    completeness,
    cues,
    draws,
    effort,
    giveaways,
    keys,
    option_form,
    printed,
    rendered_text,
    requested_form,
    responses,
    sources,
    stem_text,
    working,
    wrong_answer_feedback,
)
from engine.authoring.lint.subject import LintFinding, LintSubject

__all__ = ["RULES", "STYLE_RULES", "LintRule"]

LintRule = Callable[[LintSubject], Iterator[LintFinding]]

# Cheap rules on the file come first, then those that answer or run the item: findings of one line keep
# this order, and the first is the one that an author should mend first.
RULES: tuple[LintRule, ...] = (
    sources.check,
    sources.check_covers,
    printed.check,
    draws.check,
    keys.check,
    rendered_text.check,
    responses.check,
    wrong_answer_feedback.check,
    claims.check,
    working.check,
    effort.check,
    code_exercises.check,
)
"""What keeps an item from being served, or nearly so: always applied."""

STYLE_RULES: tuple[LintRule, ...] = (
    stem_text.check,
    requested_form.check,
    giveaways.check,
    option_form.check,
    cues.check,
    completeness.check_formulas,
    completeness.check_pictures,
    completeness.check,
    stem_text.check_undrawn,
)
"""Matters of style, which ``grade lint --strict`` applies as well."""
