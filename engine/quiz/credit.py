"""What an attempt at a question earns under a quiz's rules.

Each further attempt and each hint may take a share off.  The rules apply when an attempt is recorded, in the
order of the attempts, so that a mark never changes because of what a student does later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.answers import kind_of
from engine.model import GradeReport, Quiz, QuizRules, Variant
from engine.store import Attempt
from engine.text.words import agree, percent
from engine.text.words import count_noun as count_of

__all__ = ["CreditRules", "counted_attempts", "is_choice", "why_nothing"]

_REPEATED = (
    "These options were answered before, so this earns nothing and is no attempt: another one "
    "needs new options."
)
_NOTHING_LEFT = ": it earns nothing."


def is_choice(variant: Variant) -> bool:
    """Tell whether a further attempt at the very same variant would be elimination."""
    return any(kind_of(part.type).invites_elimination for part in variant.parts)


def counted_attempts(earlier: Sequence[Attempt]) -> list[Attempt]:
    """Return the attempts that count as such: no blank ones, and each variant of a choice once."""
    counted: list[Attempt] = []
    for attempt in earlier:
        if attempt.settled and not attempt.is_blank and not _repeats(attempt, counted):
            counted.append(attempt)
    return counted


# Seeing that three of four options are wrong and picking the fourth is no second attempt.
def _repeats(attempt: Attempt, before: Sequence[Attempt]) -> bool:
    variant = attempt.variant
    if variant is None or not is_choice(variant):
        return False
    return any(other.variant is not None and other.variant.id == variant.id for other in before)


class CreditRules:
    """Settles attempts under the rules of one quiz.

    Parameters
    ----------
    quiz : Quiz
    hints : mapping of int to int
        Hints taken, by question number.
    """

    def __init__(self, quiz: Quiz, hints: Mapping[int, int]) -> None:
        self._rules = quiz.rules
        self._hints = {question.variant.item: hints.get(question.number, 0) for question in quiz.questions}

    def __call__(self, attempt: Attempt, earlier: Sequence[Attempt]) -> Attempt:
        """Return the attempt with its score as it counts, and a note that says why."""
        report = attempt.report
        # What can't be read or was left blank uses no attempt, so that nothing is taken off either.
        if report.score is None or attempt.is_blank:
            return attempt
        before = counted_attempts(earlier)
        hints = self._hints.get(attempt.item, 0)
        if self._rules.attempts is not None and _repeats(attempt, before):
            share, note = 0.0, _REPEATED
        else:
            share = self._rules.share(len(before), hints)
            note = _why(self._rules, len(before), hints, share)
        # Six decimals, as scores have them everywhere: thirds would otherwise compare unequal when stored.
        credited = replace(
            report,
            score=round(report.score * share, 6),
            credit=round(report.credit * share, 6),
            notes=(*report.notes, note) if note else report.notes,
        )
        return replace(attempt, report=credited)


def _why(rules: QuizRules, before: int, hints: int, share: float) -> str:
    if rules.attempts is not None and before >= rules.attempts:
        most = (
            "One attempt counts"
            if rules.attempts == 1
            else f"{count_of(rules.attempts, 'attempt')} {agree(rules.attempts, 'count')}"
        )
        return f"{most}, and this is number {before + 1}{_NOTHING_LEFT}"
    causes = []
    if rules.attempts is not None and (before or rules.credit[0] < 1):
        causes.append(f"attempt {before + 1} of {rules.attempts}")
    if hints and rules.hint_cost:
        causes.append(f"{count_of(hints, 'hint')} taken")
    return f"This counts {percent(share)} ({', '.join(causes)})." if causes else ""


def why_nothing(report: GradeReport) -> str | None:
    """Return the note that says why an answer earns nothing, right or wrong; None where there is none."""
    return next((note for note in report.notes if note == _REPEATED or note.endswith(_NOTHING_LEFT)), None)
