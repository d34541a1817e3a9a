"""My work: every quiz and exercise with its times, how far one has come, and what it counts; my marks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from engine.marks.assignments import AssignmentState, AssignmentStatus, assignments_of
from engine.marks.class_table import StudentResults
from engine.marks.hand_in_limits import counting_text, may_hand_in, most_counted
from engine.marks.site_quizzes import site_quiz
from engine.model import Mode, Quiz
from engine.pages.feedback import FeedbackEntry, feedback_view
from engine.quiz.rules import duration_text, time_left
from engine.text.words import count_noun
from engine.web.student.my_quiz import may_gain
from engine.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

_SOON = timedelta(hours=48)
# The lists of the page, in order: title and what stands in it.
_LISTS = (
    ("Open now", (AssignmentState.OPEN, AssignmentState.LATE)),
    ("Later", (AssignmentState.NOT_YET,)),
    ("Done", (AssignmentState.DONE, AssignmentState.EXCUSED)),
    ("Closed", (AssignmentState.CLOSED,)),
)
_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class WorkEntry:
    """A quiz or an exercise as its student sees it.

    Parameters
    ----------
    status : AssignmentStatus
    progress : str
        How far it is, in words; empty where there is nothing to say.
    limit : str
        The time limit in words; empty where there is none.
    due : datetime or None
        The last moment at which it is in time; None where it is also the last at which it is taken.
    closes : datetime or None
        The last moment at which it is taken.
    left : str
        Time left until it is due, or else closes.
    is_soon, is_late : bool
    points : float or None
        What counts so far; None where nothing does, or where it isn't shown.
    further : str
        What is left of its hand-ins or attempts, in sentences; empty where there is nothing to say.
    can_go_on : bool
        Whether more can be handed in, also of what is done.
    """

    status: AssignmentStatus
    progress: str
    limit: str
    due: datetime | None
    closes: datetime | None
    left: str
    is_soon: bool
    is_late: bool
    points: float | None
    further: str = ""
    can_go_on: bool = False


def my_work(visit: Visit) -> Response:
    """Show all work of whoever is signed in: open, still to come, done and closed."""
    site, me = visit.site, visit.me.id
    results = next(iter(site.results([me])), None)
    # As on the page of marks: nothing is shown here that isn't shown there.
    by_name = _by_assignment(feedback_view(results).entries if results else ())
    statuses = assignments_of(me, site.store, site.policies(), site.bank, mode=site.mode, now=visit.now)
    entries = [_entry(visit, status, by_name.get(status.name, ())) for status in statuses]
    lists = [(title, [e for e in entries if e.status.state in states]) for title, states in _LISTS]
    return visit.page("student/my_work.html.j2", lists=lists, count=len(entries))


def _by_assignment(entries: Iterable[FeedbackEntry]) -> Mapping[str, list[FeedbackEntry]]:
    by_name: dict[str, list[FeedbackEntry]] = {}
    for entry in entries:
        by_name.setdefault(entry.column.assignment, []).append(entry)
    return by_name


def _points(entries: Sequence[FeedbackEntry]) -> float | None:
    """Return what an assignment counts so far; None while a part of it isn't shown."""
    # A total with a hidden part would be taken for the whole.
    hidden = (entry.item is not None and (entry.report is None or entry.provisional) for entry in entries)
    if not entries or any(hidden):
        return None
    return round(sum(entry.points or 0.0 for entry in entries if not entry.is_left_out), 6)


def _entry(visit: Visit, status: AssignmentStatus, entries: Sequence[FeedbackEntry]) -> WorkEntry:
    # What isn't in time from midnight on is in time until 23:59.
    due = None if status.terms.due is None else status.terms.due - _INSTANT
    closes = status.ends
    if closes is not None and not status.is_quiz:
        closes -= _INSTANT
    if due is not None and closes is not None and due >= closes:
        due = None
    is_late = status.state is AssignmentState.LATE
    end = closes if due is None or is_late else due
    is_open = status.state in (AssignmentState.OPEN, AssignmentState.LATE)
    further, can_go_on = _further(visit, status)
    return WorkEntry(
        status,
        _progress(visit, status),
        duration_text(status.time_limit) if status.time_limit is not None else "",
        due,
        closes,
        time_left(end, visit.now) if is_open and end is not None else "",
        is_open and end is not None and end - visit.now < _SOON,
        is_late,
        _points(entries),
        further,
        is_open or can_go_on,
    )


def _further(visit: Visit, status: AssignmentStatus) -> tuple[str, bool]:
    """Return what is left of the hand-ins or attempts of work that was handed in; whether more is taken."""
    if not (status.is_open and status.handed_in):
        return "", False
    return _further_hand_ins(visit, status) if status.quiz is None else _further_attempts(visit, status.quiz)


def _further_hand_ins(visit: Visit, status: AssignmentStatus) -> tuple[str, bool]:
    site = visit.site
    if site.mode is not Mode.MARKS:  # practice has no limits
        return "", True
    times = site.store.waiting.times(visit.me.id, status.name, site.mode)
    allowed = may_hand_in(status.terms, times, visit.now)
    most = most_counted(status.terms)
    sentences = [counting_text(status.terms, len(times)), allowed.sentence]
    # One that can't count any more is possible on the exercise's own page, and nothing to ask for.
    return " ".join(filter(None, sentences)), allowed.is_open and (most is None or len(times) < most)


def _further_attempts(visit: Visit, quiz: Quiz) -> tuple[str, bool]:
    site = visit.site
    if (quiz.rules.attempts or 1) < 2:  # to look at every question would cost time
        return "", False
    mine = site_quiz(
        site.store, quiz, site.policies(), bank=site.bank, mode=site.mode, secret=site.course.secret
    )
    count = sum(bool(p.attempts) and may_gain(mine, p) for p in mine.sitting().progress.values())
    return (f"Another attempt is possible at {count_noun(count, 'question')}." if count else ""), count > 0


def _progress(visit: Visit, status: AssignmentStatus) -> str:
    if status.state in (AssignmentState.NOT_YET, AssignmentState.EXCUSED):
        return ""
    if status.quiz is None:
        return "Handed in" if status.handed_in else "Nothing handed in"
    of_all = f"of {count_noun(status.questions, 'question')}"
    drafts = visit.site.store.drafts.of_quiz(status.quiz) if status.is_open else []
    answered = len({draft.number for draft in drafts if draft.text.strip()})
    if answered > status.handed_in:
        return f"{answered} {of_all} answered, {status.handed_in} handed in"
    return f"{status.handed_in} {of_all} handed in"


def my_marks(visit: Visit) -> Response:
    """Show all results with their reasons and receipts, as the course's other commands write them."""
    me = visit.me
    results = next(iter(visit.site.results([me.id])), StudentResults(me.id, me.name))
    titles = visit.site.store.sittings.quiz_titles()
    return visit.page("student/my_marks.html.j2", results=results, view=feedback_view(results), titles=titles)
