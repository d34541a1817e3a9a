"""Choose among several attempts, take off what late work loses, and say why a mark counts what it counts.

Everything is computed in exact fractions: 10 % of 0.7 points is 0.07, and no binary accident of 0.69999 may
decide between two attempts. Every change of a mark comes with one plain sentence for the student.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from engine.course.policies import AssignmentRules, LatePenalty, Policies
from engine.hand_ins import FileKind, HandedFile, IntakeResult
from engine.marks.deadlines import LateTime, terms_of
from engine.store import Store
from engine.text.words import agree, count_noun, join_words, percent, plain_points

_DECIMALS = 6  # the precision at which the store keeps what an attempt earned


@lru_cache(maxsize=4096)  # a class has few different scores, and each is asked for often
def exact(points: float | Decimal) -> Fraction:
    """Return points or percents as the decimal number that people see."""
    # repr gives the decimal that people see, and not the binary fraction behind it.
    return Fraction(points if isinstance(points, Decimal) else Decimal(repr(round(points, _DECIMALS))))


def rounded(points: Fraction) -> float:
    """Return points as they are stored: at most 6 decimals."""
    return float(round(points, _DECIMALS))


def plain(points: Fraction | Decimal) -> str:
    """Return points or percents as text for people."""
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


# Canvas alone marks every late file as such: there, a file without the mark came in time.
_MARKS_LATE = "canvas"


@dataclass(frozen=True, slots=True)
class Untimed:
    """Hand-ins to which the rules about late work couldn't be applied, because their time is unknown.

    They count as in time, which is fair to the student, but the instructor should know: in a download
    without times, a due date has no effect.

    Parameters
    ----------
    without_time : mapping of str to int
        Assignment → hand-ins of which no time is known.
    marked_late : mapping of str to int
        Assignment → hand-ins that the learning system only marked as late, while the course doesn't say how
        late such work counts.
    """

    without_time: Mapping[str, int]
    marked_late: Mapping[str, int]

    def sentences(self) -> list[tuple[str, str]]:
        """Return messages with their next steps."""
        cases = (
            (
                self.without_time,
                "have no time",
                "has no time",
                "see in the learning system who was late, and set those marks by hand: grade mark set",
            ),
            (
                self.marked_late,
                "are marked as late, and not by how much",
                "is marked as late, and not by how much",
                "count them as late by `marked_late: {days: 1}` under `policies` in course.yaml",
            ),
        )
        messages = []
        for numbers, several, single, step in cases:
            if numbers:
                count = sum(numbers.values())
                verb = single if count == 1 else several
                assignments, pronoun = join_words(sorted(numbers)), "it" if count == 1 else "them"
                message = (
                    f"{count_noun(count, 'hand-in')} {verb}; the rules about late work for {assignments} "
                    f"weren't applied to {pronoun}"
                )
                messages.append((message, step))
        return messages


def untimed(
    intake: IntakeResult,
    store: Store,
    policies: Policies,
    *,
    ungraded: Collection[tuple[str | None, str]],
    now: datetime,
) -> Untimed:
    """Return the hand-ins of a collection to which rules about late work can't be applied.

    Parameters
    ----------
    intake : IntakeResult
    store : Store
        Holds the quizzes that files answer.
    policies : Policies
    ungraded : collection of (student, file)
        Files without a mark to take anything off.
    now : datetime
        Nothing is late before it is due.
    """
    without_time: dict[str, int] = {}
    marked_late: dict[str, int] = {}
    for files in intake.students:
        for file in files.files:
            if file.handed is not None or (files.student, file.name) in ungraded:
                continue
            # Rows of tables have no such mark, even in a download from Canvas.
            by_system = intake.layout == _MARKS_LATE and file.filled is None
            if by_system and not file.marked_late:
                continue
            if file.marked_late and policies.marked_late is not None:
                continue
            name = _assignment(file, store)
            if name is not None and _can_be_late(policies, files.student, name, now):
                numbers = marked_late if file.marked_late else without_time
                numbers[name] = numbers.get(name, 0) + 1
    return Untimed(without_time, marked_late)


def _assignment(file: HandedFile, store: Store) -> str | None:
    if file.kind is FileKind.CODE:
        return file.item
    ids = [alias.removeprefix("quiz ") for alias in file.known_as if alias.startswith("quiz ")]
    quiz = store.load_quiz(ids[-1]) if ids else None
    return None if quiz is None else quiz.name


def _can_be_late(policies: Policies, student: str, assignment: str, now: datetime) -> bool:
    terms = terms_of(policies, student, assignment)
    if terms.is_excused:
        return False
    # After closing, work doesn't count even where lateness costs nothing.
    costs = terms.rules.late is not None and terms.is_due(now)
    return costs or (terms.closes is not None and terms.closes <= now)


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
    """Return why `choice` was made among the attempts, and why it counts what it does."""
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
