"""My work: every quiz and exercise with its times, how far one has come, and what it counts; my marks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from engine.course.policies import Policies
from engine.marks.class_table import StudentResults
from engine.marks.late_work import StudentDeadlines, terms_of
from engine.marks.site_quizzes import site_quiz
from engine.model import Quiz
from engine.pages.feedback import FeedbackEntry, feedback_view
from engine.quiz.rules import duration_text, time_left
from engine.quiz.timing import SittingState
from engine.text.words import count_noun
from engine.web.student.my_quiz import question_states
from engine.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

_SOON = timedelta(hours=48)


class WorkState(StrEnum):
    """In which list a piece of work stands."""

    OPEN = "open"
    LATER = "later"
    DONE = "done"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class WorkEntry:
    """A quiz or an exercise as its student sees it.

    Parameters
    ----------
    name, title : str
    is_quiz : bool
    state : WorkState
    progress : str
        How far it is, in words; empty before it opens.
    begins_timer : bool
        Whether its time begins when it is opened.
    limit : str
        The time limit in words; empty where there is none.
    opens, due, closes : datetime or None
        ``due`` is when it is late from; None where it is also when it closes.
    left : str
        Time left until it is due, or else closes.
    is_soon, is_late : bool
    extended, is_excused : bool
    points : float or None
        What counts so far; None where nothing does, or where it isn't shown.
    maximum : float
    """

    name: str
    title: str
    is_quiz: bool
    state: WorkState
    progress: str
    begins_timer: bool
    limit: str
    opens: datetime | None
    due: datetime | None
    closes: datetime | None
    left: str
    is_soon: bool
    is_late: bool
    extended: bool
    is_excused: bool
    points: float | None
    maximum: float

    @property
    def order(self) -> tuple[datetime, str]:
        """What is due first stands first."""
        moments = [
            moment for moment in (self.opens if self.state is WorkState.LATER else None, self.due) if moment
        ]
        far = datetime.max.replace(tzinfo=(self.closes or self.due or self.opens or _EPOCH).tzinfo)
        return (min(moments, default=self.closes or far), self.title)


_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def my_work(visit: Visit) -> Response:
    """Show all work of whoever is signed in: open, still to come, done and closed."""
    entries = sorted(_entries(visit), key=lambda entry: entry.order)
    lists = {state: [entry for entry in entries if entry.state is state] for state in WorkState}
    # What closed last is what people come back for.
    lists[WorkState.CLOSED].reverse()
    return visit.page("student/my_work.html.j2", lists=lists, count=len(entries))


def _entries(visit: Visit) -> Iterator[WorkEntry]:
    policies = visit.site.policies()
    results = next(iter(visit.site.results([visit.me.id])), None)
    by_name = _by_assignment(feedback_view(results).entries if results else ())
    quizzes = {
        quiz.name: quiz for quiz in visit.site.store.quizzes(student=visit.me.id)
    }  # the newest draw last
    for quiz in quizzes.values():
        yield _quiz_entry(visit, policies, quiz, by_name.get(quiz.name, ()))
    exercises = {e.item: e.title for quiz in quizzes.values() for e in quiz.exercises}
    for name in dict.fromkeys([*policies.named, *exercises]):
        maximum = None if name in quizzes else visit.site.bank.code_points(name)
        if maximum is not None:
            title = exercises.get(name) or visit.site.bank.title_of(name)
            yield _exercise_entry(visit, policies, name, title, maximum, by_name.get(name, ()))


def _by_assignment(entries: Iterable[FeedbackEntry]) -> Mapping[str, list[FeedbackEntry]]:
    by_name: dict[str, list[FeedbackEntry]] = {}
    for entry in entries:
        by_name.setdefault(entry.column.assignment, []).append(entry)
    return by_name


def _points(entries: Sequence[FeedbackEntry]) -> float | None:
    """Return what an assignment counts so far; None while a part of it isn't shown."""
    # A total with a hidden part would be taken for the whole.
    if not entries or any(entry.item is not None and entry.report is None for entry in entries):
        return None
    return round(sum(entry.points or 0.0 for entry in entries if not entry.is_left_out), 6)


def _quiz_entry(visit: Visit, policies: Policies, quiz: Quiz, entries: Sequence[FeedbackEntry]) -> WorkEntry:
    site = visit.site
    sitting_quiz = site_quiz(
        site.store, quiz, policies, bank=site.bank, mode=site.mode, secret=site.course.secret
    )
    terms, state = terms_of(policies, quiz.student, quiz.name), sitting_quiz.state
    is_open = state in (SittingState.OPEN, SittingState.READY)
    states = question_states(sitting_quiz, sitting_quiz.sitting()) if state is not SittingState.READY else []
    handed = sum(question.is_handed_in for question in states)
    saved = sum(not question.is_handed_in and not question.blank for question in states)
    progress = f"{handed} of {count_noun(len(quiz.questions), 'question')} handed in"
    if saved and is_open:
        progress += f", {saved} more saved"
    place = WorkState.OPEN if is_open else WorkState.CLOSED
    if state is SittingState.NOT_YET:
        place = WorkState.LATER
    elif handed == len(quiz.questions) or terms.is_excused or sitting_quiz.is_ended:
        place = WorkState.DONE
    limit = quiz.rules.time_limit and sitting_quiz.rules.time_limit
    return _entry(
        visit,
        terms,
        name=quiz.name,
        title=quiz.title,
        is_quiz=True,
        state=place,
        progress="" if place is WorkState.LATER or state is SittingState.READY else progress,
        begins_timer=state is SittingState.READY,
        limit=duration_text(limit) if limit else "",
        closes=sitting_quiz.ends,
        entries=entries,
        maximum=sum(question.points for question in quiz.questions),
    )


def _exercise_entry(
    visit: Visit, policies: Policies, name: str, title: str, maximum: float, entries: Sequence[FeedbackEntry]
) -> WorkEntry:
    terms = terms_of(policies, visit.me.id, name)
    handed = any(entry.item is not None for entry in entries)
    if terms.opens is not None and visit.now < terms.opens:
        state = WorkState.LATER
    elif terms.closes is not None and visit.now >= terms.closes:
        state = WorkState.DONE if handed else WorkState.CLOSED
    else:
        full = handed and _points(entries) == maximum
        state = WorkState.DONE if full or terms.is_excused else WorkState.OPEN
    return _entry(
        visit,
        terms,
        name=name,
        title=title,
        is_quiz=False,
        state=state,
        progress="handed in" if handed else "" if state is WorkState.LATER else "nothing handed in yet",
        begins_timer=False,
        limit="",
        closes=terms.closes,
        entries=entries,
        maximum=maximum,
    )


def _entry(
    visit: Visit,
    terms: StudentDeadlines,
    *,
    name: str,
    title: str,
    is_quiz: bool,
    state: WorkState,
    progress: str,
    begins_timer: bool,
    limit: str,
    closes: datetime | None,
    entries: Sequence[FeedbackEntry],
    maximum: float,
) -> WorkEntry:
    due = terms.due if terms.due is None or closes is None or terms.due < closes else None
    next_end = due if due is not None and visit.now < due else closes
    is_open = state is WorkState.OPEN
    return WorkEntry(
        name=name,
        title=title,
        is_quiz=is_quiz,
        state=state,
        progress=progress,
        begins_timer=begins_timer,
        limit=limit,
        opens=terms.opens,
        due=due,
        closes=closes,
        left=time_left(next_end, visit.now) if is_open and next_end is not None else "",
        is_soon=is_open and next_end is not None and next_end - visit.now < _SOON,
        is_late=is_open and due is not None and visit.now >= due,
        extended=terms.extended is not None,
        is_excused=terms.is_excused,
        points=_points(entries),
        maximum=maximum,
    )


def my_marks(visit: Visit) -> Response:
    """Show all results with their reasons and receipts, as the course's other commands write them."""
    me = visit.me
    results = next(iter(visit.site.results([me.id])), StudentResults(me.id, me.name))
    return visit.page("student/my_marks.html.j2", results=results, view=feedback_view(results))
