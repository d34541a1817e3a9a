"""A quiz's rules: what each attempt earns, what a student may see of it when, and the same in sentences.

An attempt at a choice may be repeated only with other options: seeing that three of four are wrong and
picking the fourth shows nothing. What is hidden before the deadline is left out of the report itself, so that
no page can show it by mistake.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from engine.answers import kind_of
from engine.answers.free_text import WAITS
from engine.errors import QuizError
from engine.model import GradeReport, Outcome, Quiz, QuizRules, ResultDisclosure, Variant, Verdict
from engine.store import Attempt
from engine.text.times import local_text
from engine.text.words import agree, count_noun, join_words, percent

# Notes of stored reports: `why_nothing` finds them by these words, so an old wording must be found for ever.
_REPEATED = (
    "These options were answered before, so this earns nothing and is no attempt: another one "
    "needs new options."
)
_NOTHING_LEFT = ": it earns nothing."


def is_choice(variant: Variant) -> bool:
    """Return whether a further attempt at the very same variant would be elimination."""
    return any(kind_of(part.type).invites_elimination for part in variant.parts)


def counted_attempts(earlier: Sequence[Attempt]) -> list[Attempt]:
    """Return the attempts that count as such: no blank ones, and each variant of a choice once."""
    counted: list[Attempt] = []
    for attempt in earlier:
        if attempt.is_taken and not attempt.is_blank and not _repeats(attempt, counted):
            counted.append(attempt)
    return counted


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
        if not attempt.is_taken or attempt.is_blank:
            return attempt
        before = counted_attempts(earlier)
        hints = self._hints.get(attempt.item, 0)
        if self._rules.attempts is not None and _repeats(attempt, before):
            # Not refused: the answer is stored and marked, so that the student sees what became of it.
            share, note = 0.0, _REPEATED
        else:
            share = self._rules.share(len(before), hints)
            note = _why(self._rules, len(before), hints, share)
        # Six decimals, as scores have them everywhere: thirds would otherwise compare unequal when stored.
        credited = replace(
            report,
            score=None if report.score is None else round(report.score * share, 6),
            credit=round(report.credit * share, 6),
            notes=(*report.notes, note) if note else report.notes,
        )
        if credited.needs_person and share == 0:  # nobody needs to read what earns nothing in any case
            return replace(attempt, report=_unmarked_zero(credited), reason=None)
        return replace(attempt, report=credited)


class AttemptLimit:
    """Refuses an attempt at a question of which none is left, whatever its window believed.

    Where a file is handed in again, every answer is stored and the rules say what it earns. On the site an
    answer that earns nothing isn't taken, and without a limit in the quiz there is one attempt: two windows
    that hand in at the same moment must not both have it.

    Parameters
    ----------
    quiz : Quiz
    settle : callable, optional
        Settles what isn't refused.
    """

    def __init__(self, quiz: Quiz, settle: CreditRules | None) -> None:
        self._most = quiz.rules.attempts or 1
        self._numbers = {question.variant.item: question.number for question in quiz.questions}
        self._settle = settle

    def __call__(self, attempt: Attempt, earlier: Sequence[Attempt]) -> Attempt:
        """Return the attempt as it counts.

        Raises
        ------
        QuizError
            No attempt is left.
        """
        others = [other for other in earlier if other.submission != attempt.submission]
        is_real = attempt.is_taken and not attempt.is_blank
        # The same answer once more is no further attempt: the store keeps the first.
        if is_real and len(others) == len(earlier) and len(counted_attempts(others)) >= self._most:
            raise QuizError(
                f"question {self._numbers.get(attempt.item, '')} was handed in from another window meanwhile",
                next_step="look at what was handed in",
            )
        return attempt if self._settle is None else self._settle(attempt, earlier)


def _unmarked_zero(report: GradeReport) -> GradeReport:
    checks = [
        replace(check, verdict=Verdict.SKIPPED) if check.verdict is Verdict.WAITING else check
        for check in report.checks
    ]
    notes = tuple(note for note in report.notes if note != WAITS)
    return replace(report, outcome=Outcome.WRONG, score=0.0, checks=tuple(checks), notes=notes)


def _why(rules: QuizRules, before: int, hints: int, share: float) -> str:
    if rules.attempts is not None and before >= rules.attempts:
        most = (
            "One attempt counts"
            if rules.attempts == 1
            else f"{count_noun(rules.attempts, 'attempt')} {agree(rules.attempts, 'count')}"
        )
        return f"{most}, and this is number {before + 1}{_NOTHING_LEFT}"
    causes = []
    if rules.attempts is not None and (before or rules.credit[0] < 1):
        causes.append(f"attempt {before + 1} of {rules.attempts}")
    if hints and rules.hint_cost:
        causes.append(f"{count_noun(hints, 'hint')} taken")
    return f"This counts {percent(share)} ({', '.join(causes)})." if causes else ""


def why_nothing(report: GradeReport) -> str | None:
    """Return the note that says why an answer earns nothing, right or wrong; None where there is none."""
    return next((note for note in report.notes if note == _REPEATED or note.endswith(_NOTHING_LEFT)), None)


@dataclass(frozen=True, slots=True)
class QuestionRelease:
    """What is shown of one question.

    Parameters
    ----------
    level : ResultDisclosure
    report : GradeReport or None
        With nothing in it that the level hides; None where not even the verdict is shown.
    with_solution : bool
        Whether the key and the worked solution are shown.
    """

    level: ResultDisclosure
    report: GradeReport | None
    with_solution: bool


def shown_report(
    report: GradeReport, variant: Variant | None, level: ResultDisclosure, *, is_final: bool
) -> QuestionRelease:
    """Return what of a report is shown.

    Parameters
    ----------
    report : GradeReport
        Complete.
    variant : Variant or None
        What was asked; None for code, to which a quiz's rules don't apply.
    level : ResultDisclosure
    is_final : bool
        Whether no attempt is left, or none is needed: before that, nothing reveals the key.

    Returns
    -------
    QuestionRelease
        A report on an answer that can't be read is shown at every level: it costs nothing, and the student
        must correct it.
    """
    # Before all levels: a student must see what to correct, and it tells nothing about the key.
    if report.outcome is Outcome.FORMAT_ERROR:
        return QuestionRelease(level, report, with_solution=False)
    if not level.includes(ResultDisclosure.VERDICT):
        return QuestionRelease(level, None, with_solution=False)
    if not level.includes(ResultDisclosure.FEEDBACK):
        checks = tuple(replace(check, message="") for check in report.checks)
        notes = () if report.credit == 1 else (f"This counts {percent(report.credit)}.",)
        bare = replace(report, checks=checks, diagnosis=(), counterexample=None, notes=notes, weights=())
        return QuestionRelease(level, bare, with_solution=False)
    # Errata that give the key away wait until no attempt is left.
    if not is_final and variant is not None:
        errata = {note.plain for note in variant.told_after}
        report = replace(report, notes=tuple(note for note in report.notes if note not in errata))
    return QuestionRelease(level, report, with_solution=is_final and level is ResultDisclosure.SOLUTION)


def least_disclosure(quiz: Quiz, now: datetime) -> ResultDisclosure:
    """Return how much is shown of a result as a whole: a total would tell what one hidden question earned."""
    return min(
        (quiz.rules.disclosure(now), *(question.disclosure(quiz.rules, now) for question in quiz.questions)),
        key=list(ResultDisclosure).index,
    )


_DISCLOSURE_WORDS = {
    ResultDisclosure.NOTHING: "no result is shown",
    ResultDisclosure.SCORE: "only the total is shown",
    ResultDisclosure.VERDICT: "it is shown which answers are right",
    ResultDisclosure.FEEDBACK: "feedback is shown, but no solutions",
    ResultDisclosure.SOLUTION: "feedback and solutions are shown",
}


def rules_text(rules: QuizRules, *, on_file: bool = False) -> list[str]:
    """Return what whoever takes the quiz must know, one sentence an entry; empty where nothing is special.

    Parameters
    ----------
    rules : QuizRules
    on_file : bool
        For the file or page itself, which may be filled in without the store: hints and new variants come
        from ``grade quiz take`` and the site, which tell their rules when a student begins.
    """
    sentences = []
    if rules.time_limit is not None and not on_file:
        sentences.append(
            f"You have {duration_text(rules.time_limit)} from when you start; "
            "at the end, what is saved is handed in automatically."
        )
    if rules.attempts is not None:
        sentences.append(_attempts(rules))
        if rules.attempts > 1 and on_file:
            sentences.append(
                "Handing in the file again with other answers is a further attempt; of several answers to "
                "the same options, order, pairs or words only the first counts."
            )
        elif rules.attempts > 1:
            which = "" if rules.new_variants else " at a choice, an order, pairs or words"
            sentences.append(f"Every further attempt{which} comes with a new variant.")
        sentences.append("A blank answer earns nothing and uses no attempt.")
    if rules.hint_cost is not None and not on_file:
        cost = percent(rules.hint_cost)
        sentences.append(
            f"Each hint takes {cost} off what an attempt can earn." if rules.hint_cost else "Hints are free."
        )
    if rules.deadline is not None:
        sentences.append(f"The quiz is open until {deadline_text(rules.deadline)}.")
    if rules.show_before is not ResultDisclosure.FEEDBACK or rules.deadline is not None:
        sentences.append(_disclosure_sentence(rules))
    return sentences


def not_on_files(rules: QuizRules) -> list[str]:
    """Return which rules do nothing for files that students fill in and hand in, for whoever made them."""
    sentences = []
    if rules.hint_cost is not None:
        sentences.append(
            "`hint_cost` does nothing for students who fill in the file: hints are given in "
            "`grade quiz take` and on the site only"
        )
    if rules.time_limit is not None:
        sentences.append(
            "`time_limit` does nothing for students who fill in the file: time runs in "
            "`grade quiz take` and on the site only"
        )
    if rules.attempts is not None and rules.attempts > 1:
        which = "" if rules.new_variants else " at a choice, an order, pairs or words"
        numbers = "numbers can be answered again as they are, but " if rules.new_variants else ""
        sentences.append(
            f"a new variant for a further attempt{which} is drawn in `grade quiz take` and on the site only; "
            f"in files {numbers}of several answers to the same options, order, pairs or words only the first "
            "counts"
        )
    return sentences


def _attempts(rules: QuizRules) -> str:
    if rules.attempts == 1:
        credit = rules.credit[0]
        return "One attempt at each question." if credit == 1 else f"One attempt, for {percent(credit)}."
    shares = [percent(rules.share(n, 0)) for n in range(rules.attempts or 0)]
    if set(shares) == {"100 %"}:
        return f"{count_noun(rules.attempts or 0, 'attempt')} at each question; the best counts."
    return (
        f"{count_noun(rules.attempts or 0, 'attempt')} at each question, "
        f"for {join_words(shares)} of its points; the best counts."
    )


def _disclosure_sentence(rules: QuizRules) -> str:
    if rules.deadline is None:
        return _DISCLOSURE_WORDS[rules.show_before].capitalize() + "."
    before, after = _DISCLOSURE_WORDS[rules.show_before], _DISCLOSURE_WORDS[rules.show_after]
    return f"Until then, {before}; afterwards, {after}."


def deadline_text(deadline: datetime) -> str:
    """Return a deadline in the zone that it was given in: ``Tue 1 Dec 2026, 23:59 UTC+01:00``."""
    # Not the zone's name: CET and IST mean several, and a stored deadline has an offset only.
    offset = deadline.strftime("%z")  # +0100
    zone = "UTC" if offset == "+0000" else f"UTC{offset[:3]}:{offset[3:5]}"
    assert deadline.tzinfo is not None
    return f"{local_text(deadline, deadline.tzinfo)} {zone}"


def time_left(deadline: datetime, now: datetime) -> str:
    """Return ``3 days``, ``5 hours`` or ``12 minutes``, rounded down."""
    remaining = max(deadline - now, timedelta())
    for unit, seconds in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        count = int(remaining.total_seconds() // seconds)
        # "1 day" may be two days less a minute: below two of a unit the next smaller one says more.
        if count >= (2 if unit != "minute" else 1):
            return count_noun(count, unit)
    return "less than a minute"


def duration_text(minutes: float) -> str:
    """Return ``45 minutes``, ``1 hour`` or ``1 hour 15 minutes``; seconds only where there are any."""
    seconds = round(minutes * 60)
    counts = (("hour", seconds // 3600), ("minute", seconds // 60 % 60), ("second", seconds % 60))
    return " ".join(count_noun(count, unit) for unit, count in counts if count)


def now() -> datetime:
    """Return this moment, in UTC."""
    # The one place that asks what time it is for a deadline, so that a test can set the clock.
    return datetime.now(UTC)
