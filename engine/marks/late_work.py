"""Deadlines of a student, the choice among several attempts, and what late work loses.

The course's rules are written in local times; with a student's extensions they become moments
(:func:`terms_of`), so that everything after it only compares.

Points are computed in exact fractions: 10 % of 0.7 points is 0.07, and no binary accident of 0.69999 may
decide between two attempts. Every change of a mark comes with one plain sentence for the student.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from engine.course.policies import (
    AssignmentRules,
    DeadlineExtension,
    LatePenalty,
    LocalTime,
    Policies,
    days_late,
    hours_late,
)
from engine.model import QuizRules, ResultDisclosure
from engine.text.words import agree, count_noun, percent, plain_points


@dataclass(frozen=True, slots=True)
class LateTime:
    """How late one hand-in is, in the units of its penalty.

    Parameters
    ----------
    units : int
        Days or hours; 0 is in time.
    per : str
        ``"day"`` or ``"hour"``.
    marked : bool
        The learning system only marked it as late; by how much isn't known.
    """

    units: int = 0
    per: str = "day"
    marked: bool = False

    def less(self, days: int) -> LateTime:
        """Return the lateness that remains after using late days."""
        used = days if self.per == "day" else 24 * days
        return LateTime(max(0, self.units - used), self.per, self.marked)

    @property
    def days(self) -> int:
        """How many late days would cover all of it."""
        return self.units if self.per == "day" else -(-self.units // 24)  # rounded up: a day covers 24 hours

    def __str__(self) -> str:
        return f"{count_noun(self.units, self.per)} late"


@dataclass(frozen=True, slots=True)
class StudentDeadlines:
    """The rules of an assignment for one student, as moments.

    Parameters
    ----------
    rules : AssignmentRules
    zone : tzinfo
    opens : datetime or None
        Work handed in earlier doesn't count.
    due, closes : datetime or None
        The moments from which work is late, and from which it doesn't count.
    extended : LocalTime or None
        The due date that an extension gave; without a due date the closing time.
    marked_late_days : int or None
        How late a file counts that was only marked as late; None: it counts as in time.
    is_excused : bool
    extra_time : Decimal
        Percent by which a time limit is longer.
    extensions : sequence of DeadlineExtension
        All that apply: where the course has no due date, they move a quiz's own deadline.
    """

    rules: AssignmentRules
    zone: tzinfo
    opens: datetime | None = None
    due: datetime | None = None
    closes: datetime | None = None
    extended: LocalTime | None = None
    marked_late_days: int | None = None
    is_excused: bool = False
    extra_time: Decimal = Decimal(0)
    extensions: Sequence[DeadlineExtension] = ()

    def lateness(self, handed: datetime | None, *, marked_late: bool) -> LateTime:
        """Return how late a hand-in is; one without a time is late only if it was marked so."""
        per = self.rules.late.per if self.rules.late else "day"
        if handed is None or self.due is None:
            # The learning system doesn't know of an extension that only the course has.
            if not marked_late or self.marked_late_days is None or self.extended is not None:
                return LateTime(0, per)
            days = self.marked_late_days
            return LateTime(days if per == "day" else 24 * days, per, marked=True)
        if handed < self.due + timedelta(minutes=self.rules.grace):
            return LateTime(0, per)
        # Grace only decides whether work is late; how late it is counts from the due date.
        late = days_late(self.due, handed, self.zone) if per == "day" else hours_late(self.due, handed)
        return LateTime(late, per)

    def is_counted(self, handed: datetime | None) -> bool:
        """Return whether work counts at all; work without a time does."""
        in_time = handed is None or self.closes is None or handed < self.closes
        return in_time and (handed is None or self.opens is None or handed >= self.opens)

    def is_due(self, now: datetime) -> bool:
        """Return whether the due date and its grace are over."""
        return self.due is not None and now >= self.due + timedelta(minutes=self.rules.grace)


def terms_of(policies: Policies, student: str, assignment: str) -> StudentDeadlines:
    """Return the deadlines of one student for one assignment.

    The latest of the extensions that apply holds; one that isn't later than the due date changes nothing.
    An extension moves the closing time by as much as the due date; where there is no due date, it moves the
    closing time itself.
    """
    rules, zone = policies.rules_of(assignment), policies.zone
    extended = None
    due, closes = rules.due, rules.closes
    extensions = policies.extensions_of(student, assignment)
    first = due or closes
    if first is not None:
        dates = [first, *(extended_due(first, extension) for extension in extensions)]
        latest = max(dates, key=lambda time: time.ends(zone))
        # An extension that isn't later changes nothing, and must not count as one for marked files.
        extended = latest if latest is not first else None
    if due is None:
        closes = extended or closes
    elif extended is not None and closes is not None:
        # By the clock on the wall: where clocks change in between, it closes at the same hour of the day.
        closes = closes.later(extended.wall + extended.lasts - due.wall - due.lasts)
    last = (extended or due) if due is not None else None
    return StudentDeadlines(
        rules=rules,
        zone=zone,
        opens=rules.opens.begins(zone) if rules.opens else None,
        due=last.ends(zone) if last else None,
        closes=closes.ends(zone) if closes else None,
        extended=extended,
        marked_late_days=policies.marked_late.days if policies.marked_late else None,
        is_excused=assignment in policies.excused_of(student),
        extra_time=policies.extra_time_of(student, assignment),
        extensions=extensions,
    )


def extended_due(due: LocalTime, extension: DeadlineExtension) -> LocalTime:
    """Return the due date that an extension gives, whether it is later or not."""
    return extension.due or due.later(timedelta(days=extension.days or 0))


def local_time(moment: datetime, zone: tzinfo) -> LocalTime:
    """Return a moment as the time that clocks show then."""
    return LocalTime(moment.astimezone(zone).replace(tzinfo=None, fold=0), timedelta())


def extended_rules(rules: QuizRules, terms: StudentDeadlines) -> QuizRules:
    """Return a quiz's rules with a student's extension and extra time."""
    if rules.time_limit is not None and terms.extra_time:
        rules = replace(rules, time_limit=rules.time_limit * (1 + float(terms.extra_time) / 100))
    if rules.deadline is None:
        return rules
    if terms.due is not None:
        later = [terms.due] if terms.extended is not None else []
    else:
        deadline = local_time(rules.deadline, terms.zone)
        later = [extended_due(deadline, extension).ends(terms.zone) for extension in terms.extensions]
    # A quiz may be open longer than the course's due date: an extension never shortens that.
    return replace(rules, deadline=max([rules.deadline, *later]))


def disclosure_now(
    terms: StudentDeadlines, after_release: ResultDisclosure, now: datetime
) -> ResultDisclosure:
    """Return what a student's page shows of an assignment: nothing before its release.

    Parameters
    ----------
    terms : StudentDeadlines
    after_release : ResultDisclosure
        By the quiz's own rules.
    now : datetime
    """
    return after_release if _is_released(terms, now) else ResultDisclosure.NOTHING


def _is_released(terms: StudentDeadlines, now: datetime) -> bool:
    release = terms.rules.release
    if release == "immediately":
        return True
    if release == "at due":
        return terms.is_due(now)
    if release == "after closes":
        return terms.closes is not None and now >= terms.closes
    return release != "never" and now >= release.begins(terms.zone)


_DECIMALS = 6  # the precision at which the store keeps what an attempt earned


@lru_cache(maxsize=4096)  # a class has few different scores, and each is asked for often
def exact(points: float | Decimal) -> Fraction:
    """Return points or percentages as the decimal number that people see."""
    # repr gives the decimal that people see, and not the binary fraction behind it.
    return Fraction(points if isinstance(points, Decimal) else Decimal(repr(round(points, _DECIMALS))))


def rounded(points: Fraction) -> float:
    """Return points as they are stored: at most 6 decimals."""
    return float(round(points, _DECIMALS))


def plain(points: Fraction | Decimal) -> str:
    """Return points or percentages as text for people."""
    return str(plain_points(float(points)))


def _taken_off(rule: LatePenalty, units: int) -> Fraction:
    # Without a cap it may be all that there is, and never more.
    return min(exact(rule.percent) * units, exact(rule.cap) if rule.cap is not None else Fraction(100))


def after_penalty(rule: LatePenalty | None, score: Fraction, full: Fraction, units: int) -> Fraction:
    """Return the points that remain of a score.

    Parameters
    ----------
    rule : LatePenalty or None
        None: late work counts in full.
    score, full : Fraction
        Points earned, and full points.
    units : int
        Days or hours late, as the rule counts.

    Returns
    -------
    Fraction
        Between 0 and `score`.
    """
    if rule is None or units <= 0:
        return score
    base = score if rule.of == "score" else full
    remaining = score - base * _taken_off(rule, units) / 100
    floor = full * exact(rule.floor) / 100 if rule.floor is not None else Fraction(0)
    # A floor never raises a score that was below it without any lateness.
    return min(score, max(remaining, floor, Fraction(0)))


def days_to_use(budget: int, most: int, points: Callable[[int], Fraction]) -> int:
    """Return how many late days to use for an assignment: the fewest that give the most points.

    Parameters
    ----------
    budget : int
        Late days that the student still has.
    most : int
        Days by which the latest attempt is late.
    points : callable
        Days used → points of the assignment; more days never give fewer points.
    """
    # More days never harm, so all of them give the most points; then as few as give the same.
    days = min(budget, most)
    while days and points(days - 1) == points(days):
        days -= 1
    return days


@dataclass(frozen=True, slots=True)
class AttemptPoints:
    """One attempt: its points, how late it was, and whether it came while work was accepted."""

    score: Fraction
    lateness: LateTime
    in_time: bool = True


@dataclass(frozen=True, slots=True)
class CountedChoice:
    """The points that count, and the attempts behind them, as indices into the list of attempts.

    Parameters
    ----------
    value : Fraction
        Points.
    index : int
        The attempt that stands for the result.
    used : tuple of int
        The attempts among which it was chosen.
    share : Fraction
        The share of its points that this attempt can earn, by its number.
    """

    value: Fraction
    index: int
    used: tuple[int, ...]
    share: Fraction = Fraction(1)


def choose(
    rules: AssignmentRules, full: Fraction, attempts: Sequence[AttemptPoints], late_days: int = 0
) -> CountedChoice | None:
    """Return the choice among the attempts; None where no attempt counts.

    Parameters
    ----------
    rules : AssignmentRules
    full : Fraction
        Full points.
    attempts : sequence of AttemptPoints
        In the order in which they were handed in.
    late_days : int
        Days of lateness to forgive.
    """
    which, most = rules.attempts.which, rules.attempts.count
    # Attempts while it was closed don't use up the limit: they couldn't have counted.
    used = tuple(index for index, attempt in enumerate(attempts) if attempt.in_time)[:most]
    if not used:
        return None
    shares = {index: _share(rules, number) for number, index in enumerate(used)}
    values = {}
    for index in used:
        late = attempts[index].lateness.less(late_days)
        values[index] = after_penalty(rules.late, attempts[index].score * shares[index], full, late.units)
    if which == "average":
        # Points fall with lateness only, so the best score is never less than the average.
        chosen = max(used, key=lambda index: attempts[index].score)
        return CountedChoice(sum(values.values(), Fraction(0)) / len(used), chosen, used)
    # Of equal attempts the earliest stands, which max() takes.
    fixed = {"first": used[0], "last": used[-1]}
    chosen = fixed[which] if which in fixed else max(used, key=values.__getitem__)
    return CountedChoice(values[chosen], chosen, used, shares[chosen])


def _share(rules: AssignmentRules, number: int) -> Fraction:
    # Beyond the list every attempt earns the last share.
    shares = rules.attempts.shares
    return exact(shares[min(number, len(shares) - 1)]) if shares else Fraction(1)


def sentences(
    rules: AssignmentRules,
    full: Fraction,
    attempts: Sequence[AttemptPoints],
    choice: CountedChoice,
    late_days: int,
) -> list[str]:
    """Return why `choice` was made among the attempts, and why it counts what it does.

    Parameters
    ----------
    rules : AssignmentRules
    full : Fraction
        Full points.
    attempts : sequence of AttemptPoints
        All that could count, in the order in which they were handed in.
    choice : CountedChoice
    late_days : int
        Late days used.

    Returns
    -------
    list of str
        Sentences for the student; empty where the attempt counts as it was graded.
    """
    # The order of sentences is that of the rules: what was left out, what was chosen, what was taken off.
    closed = sum(not attempt.in_time for attempt in attempts)
    reasons = [closed_sentence(closed, len(attempts))] if closed else []
    if len(choice.used) < len(attempts) - closed:
        used, came = len(choice.used), len(attempts) - closed
        few = "first" if used == 1 else f"first {used}"
        reasons.append(f"only the {few} of {count_noun(came, 'attempt')} {agree(used, 'count')}")
    if rules.attempts.which == "average" and len(choice.used) > 1:
        return reasons + _average(full, attempts, choice, late_days)
    if rules.attempts.which in ("first", "last") and len(choice.used) > 1:
        reasons.append(f"the {rules.attempts.which} of {_attempts(len(choice.used))} counts")
    earned = attempts[choice.index].score * choice.share
    if choice.share != 1:
        number = choice.used.index(choice.index) + 1
        reasons.append(f"attempt {number} counts {percent(choice.share, 2)}, {_of(earned, full)}")
    return reasons + _late(rules, full, attempts[choice.index].lateness, earned, choice.value, late_days)


def closed_sentence(closed: int, attempts: int) -> str:
    """Return the sentence about attempts that came when no work was accepted."""
    if closed == attempts:
        return "handed in when it wasn't open: doesn't count"
    return f"{_attempts(closed)} of {attempts} came when it wasn't open: doesn't count"


def _average(
    full: Fraction, attempts: Sequence[AttemptPoints], choice: CountedChoice, late_days: int
) -> list[str]:
    scores = ", ".join(plain(attempts[index].score) for index in choice.used)
    sentence = f"average of {_attempts(len(choice.used))} ({scores})"
    late = [attempts[index].lateness for index in choice.used if attempts[index].lateness.units]
    if late:
        sentence += f", {len(late)} of them late"
        sentence += f" ({count_noun(late_days, 'late day')} used)" if late_days else ""
    return [f"{sentence}: {_of(choice.value, full)}"]


def _late(
    rules: AssignmentRules, full: Fraction, late: LateTime, earned: Fraction, value: Fraction, late_days: int
) -> list[str]:
    rule = rules.late
    if not late.units or rule is None:
        return []
    lateness = f"{late}, as the learning system marked it" if late.marked else str(late)
    used = min(late_days, late.days)
    if used:
        lateness += f", {count_noun(used, 'late day')} used"
    if value == earned:
        return [f"{lateness}: nothing off"] if used else []
    lost = _taken_off(rule, late.less(used).units) / 100
    off = percent(lost, 2)
    if rule.of == "points":
        off += " of the full points"
    remaining = earned - (earned if rule.of == "score" else full) * lost
    if value > remaining and value > 0:  # the rule's floor holds
        return [
            f"{lateness}: {off} off, but {plain(rule.floor or Fraction(0))} % are kept, {_of(value, full)}"
        ]
    return [f"{lateness}: {off} off, {_of(value, full)}"]


def _of(value: Fraction, full: Fraction) -> str:
    return f"{plain(value)} of {plain(full)}"


def _attempts(count: int) -> str:
    return count_noun(count, "attempt")
