"""Lint: every item proves by recomputation that it can be served."""

from engine.lint.finding import Finding, LintReport, Severity

__all__ = ["Finding", "LintReport", "Severity"]
