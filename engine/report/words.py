"""Words and numbers as people read them; a colour never says anything alone."""

from __future__ import annotations

from datetime import UTC, datetime

from engine.model import Outcome, Verdict, plain_points
from engine.plurals import counted

__all__ = ["OUTCOMES", "VERDICTS", "moment", "number", "percent", "points"]

# Value → (sign, words, style class).
OUTCOMES: dict[Outcome, tuple[str, str, str]] = {
    Outcome.RIGHT: ("✓", "right", "right"),
    Outcome.PARTIAL: ("◐", "partly right", "partial"),
    Outcome.WRONG: ("✗", "not right", "wrong"),
    Outcome.FORMAT_ERROR: ("?", "unreadable", "partial"),
    Outcome.UNGRADED: ("…", "not graded yet", "waiting"),
}
VERDICTS: dict[Verdict, tuple[str, str, str]] = {
    Verdict.PASSED: ("✓", "passed", "right"),
    Verdict.FAILED: ("✗", "failed", "wrong"),
    Verdict.SKIPPED: ("–", "skipped", "waiting"),
    Verdict.TIMED_OUT: ("✗", "took too long", "wrong"),
    Verdict.OUT_OF_MEMORY: ("✗", "out of memory", "wrong"),
    Verdict.CRASHED: ("✗", "crashed", "wrong"),
    Verdict.ENGINE_ERROR: ("…", "fault of ours", "waiting"),
}


def number(value: float) -> str:
    """Return points as :func:`engine.model.plain_points` rounds them."""
    return f"{plain_points(value)}"


def percent(value: float) -> str:
    """Return a percentage as a whole number, without its sign."""
    return f"{value:.0f}"


def points(score: float | None, maximum: float) -> str:
    """Return ``7.5 of 10 points``; a dash where there is no score."""
    return f"{'–' if score is None else number(score)} of {counted(number(maximum), 'point')}"


def moment(when: datetime) -> str:
    """Return a time in UTC to the minute."""
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
