"""Lint: every item proves by recomputation that it can be served.

One :class:`~engine.authoring.lint.subject.LintSubject` goes through the rules of
:mod:`engine.authoring.lint.rules`, which yield findings. ``lint_item`` and ``lint_bank`` are imported when
they are first used: they bring numpy, and the command's help must not wait for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.authoring.lint.subject import FindingSeverity, LintFinding, LintReport
from engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from engine.authoring.lint.lint_items import DEFAULT_SEEDS, lint_bank, lint_item

__all__ = ["DEFAULT_SEEDS", "FindingSeverity", "LintFinding", "LintReport", "lint_bank", "lint_item"]

__getattr__ = lazy_names(__name__, {"lint_items": "DEFAULT_SEEDS lint_bank lint_item"})
