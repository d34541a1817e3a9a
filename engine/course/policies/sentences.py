"""Why a mark counts what it counts: one plain sentence for each thing that changed it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from engine.course.policies.late import taken_off
from engine.course.policies.points import plain
from engine.course.policies.schema import Assignment
from engine.course.policies.terms import Lateness
from engine.course.policies.tries import Choice, Try
from engine.plurals import agree
from engine.plurals import counted as count_of

__all__ = ["closed_sentence", "sentences"]


def sentences(
    rules: Assignment, full: Fraction, tries: Sequence[Try], choice: Choice, late_days: int
) -> list[str]:
    """Return why `choice` was made among `tries`, and why it counts what it does."""
    closed = sum(not one.in_time for one in tries)
    found = [closed_sentence(closed, len(tries))] if closed else []
    if len(choice.used) < len(tries) - closed:
        counted, came = len(choice.used), len(tries) - closed
        few = "first" if counted == 1 else f"first {counted}"
        found.append(f"only the {few} of {count_of(came, 'attempt')} {agree(counted, 'count')}")
    if rules.attempts.which == "average" and len(choice.used) > 1:
        return found + _average(full, tries, choice, late_days)
    if rules.attempts.which in ("first", "last") and len(choice.used) > 1:
        found.append(f"the {rules.attempts.which} of {_attempts(len(choice.used))} counts")
    earned = tries[choice.shown].score * choice.share
    if choice.share != 1:
        number = choice.used.index(choice.shown) + 1
        found.append(f"attempt {number} counts {plain(100 * choice.share)} %, {_of(earned, full)}")
    return found + _late(rules, full, tries[choice.shown].lateness, earned, choice.value, late_days)


def closed_sentence(closed: int, attempts: int) -> str:
    """Return that attempts came when no work was taken."""
    if closed == attempts:
        return "handed in when it wasn't open: doesn't count"
    return f"{_attempts(closed)} of {attempts} came when it wasn't open: doesn't count"


def _average(full: Fraction, tries: Sequence[Try], choice: Choice, late_days: int) -> list[str]:
    listed = ", ".join(plain(tries[place].score) for place in choice.used)
    what = f"average of {_attempts(len(choice.used))} ({listed})"
    late = [tries[place].lateness for place in choice.used if tries[place].lateness.units]
    if late:
        what += f", {len(late)} of them late"
        what += f" ({count_of(late_days, 'late day')} used)" if late_days else ""
    return [f"{what}: {_of(choice.value, full)}"]


def _late(
    rules: Assignment, full: Fraction, late: Lateness, earned: Fraction, value: Fraction, late_days: int
) -> list[str]:
    rule = rules.late
    if not late.units or rule is None:
        return []
    what = f"{late}, as the learning system marked it" if late.marked else str(late)
    used = min(late_days, late.days)
    if used:
        what += f", {count_of(used, 'late day')} used"
    if value == earned:
        return [f"{what}: nothing off"] if used else []
    percent = taken_off(rule, late.less(used).units)
    off = f"{plain(percent)} %"
    if rule.of == "points":
        off += " of the full points"
    left = earned - (earned if rule.of == "score" else full) * percent / 100
    if value > left and value > 0:
        return [f"{what}: {off} off, but {plain(rule.floor or Fraction(0))} % are kept, {_of(value, full)}"]
    return [f"{what}: {off} off, {_of(value, full)}"]


def _of(value: Fraction, full: Fraction) -> str:
    return f"{plain(value)} of {plain(full)}"


def _attempts(count: int) -> str:
    return count_of(count, "attempt")
