"""What lint has to say about one problem file."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

__all__ = ["Finding", "LintReport", "Severity"]


class Severity(StrEnum):
    """An error keeps an item from being served; a warning doesn't."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of an item, found by recomputation or by trying it out.

    Parameters
    ----------
    rule : str
        Name of the rule that found it, e.g. ``"printed"``.
    severity : Severity
    message : str
        What is wrong, with the numbers.
    file : str
        Path as the person gave it.
    line, column : int or None
        Both from 1; None where the fault has no place in the file.
    expected, got, next_step : str, optional
        As in :class:`engine.errors.SoftmarkError`.
    seed : int, optional
        The first variant that shows it: ``grade show ITEM --seed``.
    source_line : str
        The line of the file, for the caret display.
    """

    rule: str
    severity: Severity
    message: str
    file: str = ""
    line: int | None = None
    column: int | None = None
    expected: str | None = None
    got: str | None = None
    next_step: str | None = None
    seed: int | None = None
    source_line: str = ""

    @property
    def place(self) -> str:
        """``file:line:column``, or what of it is known."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part not in ("", None))

    def lines(self) -> list[str]:
        """Return the finding as plain lines: place and message, the source line, what to do."""
        head = f"{self.place}: " if self.place else ""
        shown = [f"{head}{self.severity} [{self.rule}] {self.message}"]
        if self.source_line.strip() and self.column is not None:
            shown += [f"    {self.source_line}", "    " + " " * (self.column - 1) + "^"]
        for label, text in (("expected", self.expected), ("got", self.got), ("next", self.next_step)):
            if text is not None:
                shown.append(f"  {label}: {text}")
        if self.seed is not None:
            shown.append(f"  seen in the variant of seed {self.seed}")
        return shown

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of ``grade lint --json``."""
        return {
            "rule": self.rule,
            "severity": str(self.severity),
            "message": self.message,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "expected": self.expected,
            "got": self.got,
            "next_step": self.next_step,
            "seed": self.seed,
        }


@dataclass(frozen=True, slots=True)
class LintReport:
    """All findings about one item.

    Parameters
    ----------
    item : str
        Item id.
    findings : tuple of Finding
        Errors first, then in the order of their lines.
    facts : mapping
        What was measured: variants tried, distinct keys, kill matrix of a code exercise.
    """

    item: str
    findings: tuple[Finding, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that keep the item from being served."""
        return tuple(f for f in self.findings if f.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The other findings."""
        return tuple(f for f in self.findings if f.severity is Severity.WARNING)

    @property
    def passed(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of ``grade lint --json``."""
        return {
            "item": self.item,
            "passed": self.passed,
            "findings": [finding.as_json() for finding in self.findings],
            "facts": self.facts,
        }
