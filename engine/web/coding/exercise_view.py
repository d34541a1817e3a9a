"""What a student sees of a code exercise: what is asked, the rules, and everything that was handed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from weakref import WeakKeyDictionary

from engine.course.policies import CountedAttempts
from engine.items import CheckSpec, CodeAnswer, ProblemSpec
from engine.items.bank import Bank
from engine.marks.assignments import exercises_of_quizzes
from engine.marks.class_table import ItemResult, StudentResults
from engine.marks.hand_in_limits import HandInPermission, may_hand_in
from engine.marks.late_work import StudentDeadlines, terms_of
from engine.marks.student_marks import in_order
from engine.model import Mode, Variant
from engine.pages.feedback import FeedbackEntry, feedback_entry
from engine.store import Attempt
from engine.store.waiting import HandInState, QueuedHandIn
from engine.text.files import read_text
from engine.web.visit import NotFoundError, Visit

# Statements by bank and item: a page would otherwise look for changes in all files of the exercise.
_statements: WeakKeyDictionary[Bank, dict[str, Variant]] = WeakKeyDictionary()


@dataclass(frozen=True)
class HandInLine:
    """One earlier hand-in.

    Parameters
    ----------
    student : str
    result : ItemResult
    handed : datetime
    counts : bool
        Whether it is the one that counts now.
    """

    student: str
    result: ItemResult
    handed: datetime
    counts: bool

    @property
    def submission(self) -> str:
        """Hash of the program."""
        return self.result.submission

    @property
    def filename(self) -> str:
        """Name of the file: foreign text."""
        return self.result.filename

    @property
    def entry(self) -> FeedbackEntry:
        """What may be shown of it."""
        return feedback_entry(self.student, self.result)

    @property
    def brief(self) -> FeedbackEntry:
        """What may be shown of it in a line: without pictures of weights, which take time to draw."""
        report = replace(self.result.report, weights=())
        return feedback_entry(self.student, replace(self.result, report=report))


@dataclass(frozen=True)
class ExerciseView:
    """An exercise as one student sees it.

    Parameters
    ----------
    spec : ProblemSpec
    answer : CodeAnswer
    variant : Variant
        With the statement.
    terms : StudentDeadlines
        Of this student.
    open : QueuedHandIn or None
        The newest hand-in, if it has no grade yet.
    earlier : int
        Earlier ones that have none yet.
    aside : QueuedHandIn or None
        One that can't be graded, newer than all others.
    lines : tuple of HandInLine
        Newest first.
    counted : FeedbackEntry or None
        What counts now.
    source : str
        What was handed in last, for the editor; the starter where nothing was.
    """

    spec: ProblemSpec
    answer: CodeAnswer
    variant: Variant
    terms: StudentDeadlines
    open: QueuedHandIn | None
    earlier: int
    aside: QueuedHandIn | None
    lines: tuple[HandInLine, ...]
    counted: FeedbackEntry | None
    source: str

    @property
    def rubric(self) -> Sequence[tuple[str, float]]:
        """What each check tries that earns points, and its points."""
        return [(_title(check), check.points) for check in self.answer.checks if check.points]


def _title(check: CheckSpec) -> str:
    from engine.code.properties import property_names, property_of

    if check.title:
        return check.title
    # An exercise may have properties of its own, which are known once it is loaded.
    title = property_of(check.property).title if check.property in property_names() else ""
    return title or check.id.replace("-", " ").replace("_", " ")


def is_assigned(visit: Visit, item: str) -> bool:
    """Return whether a code exercise is one of the course's for this person.

    Those are the exercises that have rules in ``course.yaml``, that a learning system links to, that come
    with an open quiz of this person, or for which the person has handed something in, and all of the bank
    where the rules name none: others may be for an exam.
    """
    site, me = visit.site, visit.me.id
    state, store = site.state, site.store
    known = set(state.bank.code_ids())
    if item not in known:
        return False
    named = known.intersection(state.course.policies.named)
    if not named or item in named or visit.me.is_staff:
        return True
    if any(link.assignment == item for link in store.lti.links()):
        return True
    if item in store.sittings.handed_in(me, site.mode).get(None, ()):
        return True
    return item in exercises_of_quizzes(me, store, site.policies(), visit.now)


def assigned_spec(visit: Visit, item: str) -> tuple[ProblemSpec, CodeAnswer]:
    """Return an exercise that students of the course see.

    Raises
    ------
    NotFoundError
        There is none of that id, for this person.
    SpecError
        Its file has faults.
    """
    if not is_assigned(visit, item):
        raise NotFoundError("there is no such exercise")
    spec = visit.site.bank.load(item)
    if not isinstance(spec.answer, CodeAnswer):
        raise NotFoundError("there is no such exercise")
    return spec, spec.answer


def statement(visit: Visit, spec: ProblemSpec) -> Variant:
    """Return the variant of a code exercise, which has the statement: nothing in it is drawn."""
    from engine.variants import draw_seeded

    bank = visit.site.bank
    known = _statements.setdefault(bank, {})
    if spec.id not in known:
        known[spec.id] = draw_seeded(spec, version=bank.version(spec.id), registry=bank.registry(), seed=0)
    return known[spec.id]


def starter_of(visit: Visit, spec: ProblemSpec, answer: CodeAnswer) -> str:
    """Return the source that students begin with."""
    return read_text(visit.site.bank.path(spec.id).parent / answer.starter)


def exercise_view(visit: Visit, item: str) -> ExerciseView:
    """Return what the person who is signed in sees of an exercise."""
    spec, answer = assigned_spec(visit, item)
    student, site = visit.me.id, visit.site
    queued = site.store.waiting.of_student(student, item, mode=site.mode)
    attempts = in_order(
        [a for a in site.store.attempts(student=student, item=item, mode=site.mode) if not a.quiz]
    )
    results = next(iter(site.results(only={student})), None)
    counted = _counted(results, item)
    newest_first = attempts[::-1]
    lines = () if counted is None else tuple(_line(student, a, counted) for a in newest_first)
    source = newest_first[0].source if newest_first and newest_first[0].source else None
    waiting = site.store.waiting.code(queued[0].id) if queued else None
    if waiting is not None:
        source = waiting.source
    return ExerciseView(
        spec=spec,
        answer=answer,
        variant=statement(visit, spec),
        terms=terms_of(site.policies(), student, item),
        open=queued[0] if queued and queued[0].is_open else None,
        earlier=sum(hand_in.is_open for hand_in in queued[1:]),
        aside=queued[0] if queued and queued[0].state is HandInState.SET_ASIDE else None,
        lines=lines,
        counted=next((line.brief for line in lines if line.counts), None),
        source=source or starter_of(visit, spec, answer),
    )


def _counted(results: StudentResults | None, item: str) -> ItemResult | None:
    if results is None:
        return None
    return next((result for result in results.items if result.column.id == item), None)


def _line(student: str, attempt: Attempt, counted: ItemResult) -> HandInLine:
    # While checks are hidden, nothing says which one counts: that would tell of them.
    counts = attempt.submission == counted.submission and counted.stand_in is None
    # What is shown of another attempt follows the same rules; only the mark is that of the counted one.
    result = replace(
        counted,
        report=attempt.report,
        submission=attempt.submission,
        graded=attempt.finished,
        filename=attempt.filename,
        reason=attempt.reason,
        handed=attempt.handed,
        marked_late=attempt.marked_late,
        mark=counted.mark if counts else None,
        attempts=1,
        stand_in=None,
    )
    return HandInLine(student, result, attempt.handed or attempt.started, counts)


def is_early(visit: Visit, item: str) -> bool:
    """Return whether a student may not see an exercise yet."""
    if visit.me.is_staff or visit.site.mode is not Mode.MARKS:
        return False
    opens = terms_of(visit.site.policies(), visit.me.id, item).opens
    return opens is not None and visit.now < opens


_WHICH = {
    "best": "The best",
    "last": "The last",
    "first": "The first",
    "average": "The average",
    "decaying": "The best",
}


def which_counts(rule: CountedAttempts) -> str:
    """Return which of a student's hand-ins counts; without it nobody knows whether trying again can harm."""
    if rule.count == 1:
        return "The first hand-in counts"
    which = _WHICH[rule.which]
    if rule.which == "first":
        text = "You may hand in again, but the first hand-in counts"
    elif rule.count is None:
        text = f"You may hand in again: {which[:1].lower()}{which[1:]} of all hand-ins counts"
    else:
        text = f"{which} of the first {rule.count} hand-ins counts"
    return f"{text}; later ones can earn less" if rule.which == "decaying" else text


def permission(visit: Visit, terms: StudentDeadlines, times: Sequence[datetime]) -> HandInPermission:
    """Return whether the person may hand in now: in practice always, otherwise as the course's rules say.

    Parameters
    ----------
    visit : Visit
    terms : StudentDeadlines
        The exercise's rules for this person.
    times : sequence of datetime
        Of the hand-ins that count against limits.
    """
    return may_hand_in(terms, times, visit.now) if visit.site.mode is Mode.MARKS else HandInPermission(True)
