"""What late work loses."""

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
from engine.text.words import agree, count_noun, percent, plain_points

__all__ = [
    "AttemptPoints",
    "CountedChoice",
    "Untimed",
    "after_penalty",
    "choose",
    "closed_sentence",
    "days_to_use",
    "exact",
    "plain",
    "rounded",
    "sentences",
    "taken_off",
    "untimed",
]


# ----------------------------------------------------------------------------------------------------
# Points as exact numbers: percents of them are no binary accidents.

_DECIMALS = 6  # as the store keeps what an attempt earned


@lru_cache(maxsize=4096)  # a class has few different scores, and each is asked for often
def exact(points: float | Decimal) -> Fraction:
    """Return points or percents as the decimal number that they are shown as."""
    return Fraction(points if isinstance(points, Decimal) else Decimal(repr(round(points, _DECIMALS))))


def rounded(points: Fraction) -> float:
    """Return points as they are kept: at most 6 decimals."""
    return float(round(points, _DECIMALS))


def plain(points: Fraction | Decimal) -> str:
    """Return points or percents as people read them."""
    return str(plain_points(float(points)))


def taken_off(rule: LatePenalty, units: int) -> Fraction:
    """Return the percent that work so many days or hours late loses."""
    return min(exact(rule.percent) * units, exact(rule.cap) if rule.cap is not None else Fraction(100))


def after_penalty(rule: LatePenalty | None, score: Fraction, full: Fraction, units: int) -> Fraction:
    """Return the points that are left of a score.

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
    left = score - base * taken_off(rule, units) / 100
    least = full * exact(rule.floor) / 100 if rule.floor is not None else Fraction(0)
    return min(score, max(left, least, Fraction(0)))


# ----------------------------------------------------------------------------------------------------
# Late days that a student may use up.


def days_to_use(left: int, most: int, points: Callable[[int], Fraction]) -> int:
    """Return how many late days to use for an assignment: the fewest that give the most points.

    Parameters
    ----------
    left : int
        Days that the student still has.
    most : int
        Days by which the latest attempt is late.
    points : callable
        Days used → points of the assignment; never falling.
    """
    days = min(left, most)
    # More days never harm, so all of them give the most; then the fewest that give as much.
    while days and points(days - 1) == points(days):
        days -= 1
    return days


# ----------------------------------------------------------------------------------------------------
# Submissions to which rules about late work can't be applied, because their time is unknown.
#
# They count as in time, which is fair to the student, but the instructor should know: where a download has no
# times, a due date in the course's rules has no effect.

# The one layout that says of every file whether it is late; without the word it is in time.
_MARKS_LATE = "canvas"


@dataclass(frozen=True, slots=True)
class Untimed:
    """How many hand-ins of each assignment can't be late, though its rules could make them so.

    ``without_time``: nothing is known; ``marked_late``: the learning system only says that they are late, and
    the course doesn't say as how late that counts.
    """

    without_time: Mapping[str, int]
    marked_late: Mapping[str, int]

    def sentences(self) -> list[tuple[str, str]]:
        """Return what to say, and what can be done."""
        said = (
            (
                self.without_time,
                "don't tell when they came",
                "doesn't tell when it came",
                "see in the learning system who was late, and set those marks by hand: grade mark set",
            ),
            (
                self.marked_late,
                "are marked as late, and not by how much",
                "is marked as late, and not by how much",
                "count them as late by `marked_late: {days: 1}` under `policies` in course.yaml",
            ),
        )
        found = []
        for numbers, many, one, step in said:
            if numbers:
                count = sum(numbers.values())
                names = sorted(numbers)
                which = f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0]
                noun = count_noun(count, "hand-in")
                pronoun = "it" if count == 1 else "them"
                message = (
                    f"{noun} {one if count == 1 else many}; the rules about late work for {which} weren't "
                    f"applied to {pronoun}"
                )
                found.append((message, step))
        return found


def untimed(
    intake: IntakeResult,
    store: Store,
    policies: Policies,
    *,
    unread: Collection[tuple[str | None, str]],
    now: datetime,
) -> Untimed:
    """Return the hand-ins of a collection that rules about late work can't reach.

    Parameters
    ----------
    intake : IntakeResult
    store : Store
        Has the quizzes that files answer.
    policies : Policies
    unread : collection of (student, file)
        What wasn't graded: it has no mark to take anything off.
    now : datetime
        Nothing is late before it is due.
    """
    without_time: dict[str, int] = {}
    marked_late: dict[str, int] = {}
    for files in intake.students:
        for file in files.files:
            if file.handed is not None or (files.student, file.name) in unread:
                continue
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
    """Return the code exercise, or the quiz by its name."""
    if file.kind is FileKind.CODE:
        return file.item
    ids = [known.removeprefix("quiz ") for known in file.known_as if known.startswith("quiz ")]
    quiz = store.load_quiz(ids[-1]) if ids else None
    return None if quiz is None else quiz.name


def _can_be_late(policies: Policies, student: str, assignment: str, now: datetime) -> bool:
    terms = terms_of(policies, student, assignment)
    if terms.is_excused:
        return False
    costs = terms.rules.late is not None and terms.is_due(now)
    return costs or (terms.closes is not None and terms.closes <= now)


# ----------------------------------------------------------------------------------------------------
# Which of several attempts count, and what they count together.


@dataclass(frozen=True, slots=True)
class AttemptPoints:
    """One attempt: its points, how late it was, and whether it came while work is counted."""

    score: Fraction
    lateness: LateTime
    in_time: bool = True


@dataclass(frozen=True, slots=True)
class CountedChoice:
    """What counts.

    Parameters
    ----------
    value : Fraction
        Points.
    shown : int
        The attempt that stands for the result, by its place in the order.
    used : tuple of int
        The attempts among which it was chosen.
    share : Fraction
        What the shown one can earn by its number.
    """

    value: Fraction
    shown: int
    used: tuple[int, ...]
    share: Fraction = Fraction(1)


def choose(
    rules: AssignmentRules, full: Fraction, tries: Sequence[AttemptPoints], late_days: int = 0
) -> CountedChoice | None:
    """Return what counts, None where no attempt does.

    Parameters
    ----------
    rules : AssignmentRules
    full : Fraction
        Full points.
    tries : sequence of AttemptPoints
        In the order in which they were handed in.
    late_days : int
        Days of lateness that are forgiven.
    """
    which, most = rules.attempts.which, rules.attempts.count
    used = tuple(place for place, one in enumerate(tries) if one.in_time)[:most]
    if not used:
        return None
    shares = {place: _share(rules, number) for number, place in enumerate(used)}
    values = {
        place: after_penalty(
            rules.late, tries[place].score * shares[place], full, tries[place].lateness.less(late_days).units
        )
        for place in used
    }
    if which == "average":
        # Points fall with lateness only, so the best score is never less than the average.
        shown = max(used, key=lambda place: tries[place].score)
        return CountedChoice(sum(values.values(), Fraction(0)) / len(used), shown, used)
    fixed = {"first": used[0], "last": used[-1]}
    shown = fixed[which] if which in fixed else max(used, key=values.__getitem__)
    return CountedChoice(values[shown], shown, used, shares[shown])


def _share(rules: AssignmentRules, number: int) -> Fraction:
    shares = rules.attempts.shares
    return exact(shares[min(number, len(shares) - 1)]) if shares else Fraction(1)


# ----------------------------------------------------------------------------------------------------
# Why a mark counts what it counts: one plain sentence for each thing that changed it.


def sentences(
    rules: AssignmentRules,
    full: Fraction,
    tries: Sequence[AttemptPoints],
    choice: CountedChoice,
    late_days: int,
) -> list[str]:
    """Return why `choice` was made among `tries`, and why it counts what it does."""
    closed = sum(not one.in_time for one in tries)
    found = [closed_sentence(closed, len(tries))] if closed else []
    if len(choice.used) < len(tries) - closed:
        used, came = len(choice.used), len(tries) - closed
        few = "first" if used == 1 else f"first {used}"
        found.append(f"only the {few} of {count_noun(came, 'attempt')} {agree(used, 'count')}")
    if rules.attempts.which == "average" and len(choice.used) > 1:
        return found + _average(full, tries, choice, late_days)
    if rules.attempts.which in ("first", "last") and len(choice.used) > 1:
        found.append(f"the {rules.attempts.which} of {_attempts(len(choice.used))} counts")
    earned = tries[choice.shown].score * choice.share
    if choice.share != 1:
        number = choice.used.index(choice.shown) + 1
        found.append(f"attempt {number} counts {percent(choice.share, 2)}, {_of(earned, full)}")
    return found + _late(rules, full, tries[choice.shown].lateness, earned, choice.value, late_days)


def closed_sentence(closed: int, attempts: int) -> str:
    """Return that attempts came when no work was taken."""
    if closed == attempts:
        return "handed in when it wasn't open: doesn't count"
    return f"{_attempts(closed)} of {attempts} came when it wasn't open: doesn't count"


def _average(
    full: Fraction, tries: Sequence[AttemptPoints], choice: CountedChoice, late_days: int
) -> list[str]:
    listed = ", ".join(plain(tries[place].score) for place in choice.used)
    what = f"average of {_attempts(len(choice.used))} ({listed})"
    late = [tries[place].lateness for place in choice.used if tries[place].lateness.units]
    if late:
        what += f", {len(late)} of them late"
        what += f" ({count_noun(late_days, 'late day')} used)" if late_days else ""
    return [f"{what}: {_of(choice.value, full)}"]


def _late(
    rules: AssignmentRules, full: Fraction, late: LateTime, earned: Fraction, value: Fraction, late_days: int
) -> list[str]:
    rule = rules.late
    if not late.units or rule is None:
        return []
    what = f"{late}, as the learning system marked it" if late.marked else str(late)
    used = min(late_days, late.days)
    if used:
        what += f", {count_noun(used, 'late day')} used"
    if value == earned:
        return [f"{what}: nothing off"] if used else []
    lost = taken_off(rule, late.less(used).units) / 100
    off = percent(lost, 2)
    if rule.of == "points":
        off += " of the full points"
    left = earned - (earned if rule.of == "score" else full) * lost
    if value > left and value > 0:
        return [f"{what}: {off} off, but {plain(rule.floor or Fraction(0))} % are kept, {_of(value, full)}"]
    return [f"{what}: {off} off, {_of(value, full)}"]


def _of(value: Fraction, full: Fraction) -> str:
    return f"{plain(value)} of {plain(full)}"


def _attempts(count: int) -> str:
    return count_noun(count, "attempt")
