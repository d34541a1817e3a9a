"""Which mark of a student a learning system gets for an assignment: the one that the student's page shows.

Marks come from :mod:`engine.marks`, with all rules applied, and leave only when the student may see them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from engine.marks.class_table import ItemResult, StudentResults, TableCell, TableColumn
from engine.model import Mode, ResultDisclosure
from engine.store import Store
from engine.store.lti import LtiLink
from engine.store.lti_outbox import NO_MARK, MarkForLms
from engine.text.words import as_sentence

_COMMENT = 1000


@dataclass(frozen=True, slots=True)
class AssignmentMark:
    """What a student has earned in an assignment.

    Parameters
    ----------
    score : float or None
        None while something isn't graded.
    maximum : float
        Full points.
    progress : str
        ``graded``, ``pending``, ``manual`` (something waits for a person), ``failed`` (something couldn't
        be graded) or :data:`~engine.store.lti_outbox.NO_MARK`.
    is_final : bool
        Whether no further attempt is possible.
    comment : str
        Why it counts as it does; empty where there is nothing to say.
    """

    score: float | None
    maximum: float
    progress: str
    is_final: bool
    comment: str = ""


def assignment_mark(results: StudentResults, assignment: str, full: float) -> AssignmentMark | None:
    """Return a student's mark in an assignment; None where there is none, or none that may be shown.

    Parameters
    ----------
    results : StudentResults
    assignment : str
        Name of a quiz, or id of an exercise.
    full : float
        Full points of the assignment as this student got it, questions without an attempt included.
    """
    place = _disclosed(results, assignment)
    if place is None:
        return None
    items, columns = place
    cells = results.row().cells
    counting = [column for column in columns if not _is_excused(cells[column.id])]
    maximum = max(full, math.fsum(c.max_score for c in columns))
    maximum -= math.fsum(c.max_score for c in columns if c not in counting)
    if not counting or maximum <= 0:
        return None
    progress = _progress([cells[c.id] for c in counting if cells[c.id].is_waiting])
    # Six decimals, as the pages sum points.
    score = round(math.fsum(cells[c.id].counted or 0.0 for c in counting), 6)
    is_final = all(item.is_final for item in items)
    is_open = all(item.disclosure.includes(ResultDisclosure.VERDICT) for item in items)
    marks = [cells[c.id].mark for c in counting] if is_open else []
    comment = " ".join(as_sentence(reason) for mark in marks if mark is not None for reason in mark.reasons)
    return AssignmentMark(
        score=score if progress == "graded" else None,
        maximum=round(maximum, 6),
        progress=progress,
        is_final=is_final,
        comment=comment[:_COMMENT],
    )


def _progress(waiting: Sequence[TableCell]) -> str:
    """Return the progress of an assignment in which these have no points yet."""
    if not waiting:
        return "graded"
    # Whatever a machine may still do, the mark takes a person.
    if any(cell.needs_person for cell in waiting):
        return "manual"
    return "failed" if any(cell.reason for cell in waiting) else "pending"


def no_mark(results: StudentResults, assignment: str, full: float) -> AssignmentMark | None:
    """Return what takes back a mark that was sent before: all is excused, or nothing is left that has a mark.

    None where there is a mark, and where a student may not see whether there is one.
    """
    place = _disclosed(results, assignment)
    if place is None:
        return None
    _, columns = place
    cells = results.row().cells
    maximum = round(max(full, math.fsum(column.max_score for column in columns)), 6)
    if maximum <= 0 or not all(_is_excused(cells[column.id]) for column in columns):
        return None
    comment = "Excused." if columns else "The mark was withdrawn."
    return AssignmentMark(None, maximum, NO_MARK, is_final=bool(columns), comment=comment)


def _disclosed(results: StudentResults, assignment: str) -> tuple[list[ItemResult], list[TableColumn]] | None:
    """Return what there is of an assignment; None while a score of it may not be shown."""
    items = [item for item in results.items if item.column.assignment == assignment]
    if not all(item.shows_score for item in items):
        return None
    columns = [item.column for item in items]
    columns += [column for column, _ in results.without_work if column.assignment == assignment]
    return items, columns


def _is_excused(cell: TableCell) -> bool:
    # An excused column has no points on either side. A dropped one does: here it is looked at by itself.
    return cell.mark is not None and cell.mark.excused


@dataclass(frozen=True)
class MarkSource:
    """Where marks come from.

    Parameters
    ----------
    store : Store
    mode : Mode
        Practice is never sent.
    results : callable
        Ids of students → their results.
    code_points : callable
        Exercise → its full points, None where there is no such exercise.
    title_of : callable
        Assignment → what people call it.
    """

    store: Store
    mode: Mode
    results: Callable[[Collection[str]], Iterator[StudentResults]]
    code_points: Callable[[str], float | None]
    title_of: Callable[[str], str]

    def full_points(self, assignment: str, student: str | None = None) -> float | None:
        """Return the full points of an assignment, as a student got it or as anybody did."""
        quizzes = self.store.quizzes(assignment, student)
        if quizzes:
            # The newest draw is the one that counts.
            return math.fsum(question.points for question in quizzes[-1].questions)
        return self.code_points(assignment)

    def marks(
        self, links: Iterable[LtiLink], students: Collection[str] | None = None
    ) -> Iterator[MarkForLms]:
        """Yield the marks for the columns of these links, of some students or of all.

        One student's results are in memory at a time.
        """
        by_place: dict[tuple[int, str], list[LtiLink]] = {}
        for link in links:
            if link.assignment is not None and link.line_item is not None:
                by_place.setdefault((link.platform, link.context), []).append(link)
        users: dict[str, list[tuple[str, Sequence[LtiLink]]]] = {}
        for person in self.store.lti.people():
            place = by_place.get((person.platform, person.context))
            if place and (students is None or person.person in students):
                users.setdefault(person.person, []).append((person.subject, place))
        if self.mode is not Mode.MARKS or not users:
            return
        sent = self.store.lti_outbox.places(students)
        # Whoever has left the course's roster keeps the mark there.
        for results in self.results(users):
            yield from self._marks_of(results, users[results.student], sent)

    def _marks_of(
        self,
        results: StudentResults,
        users: Sequence[tuple[str, Sequence[LtiLink]]],
        sent: Collection[tuple[int, str, str]],
    ) -> Iterator[MarkForLms]:
        known: dict[str, AssignmentMark | None] = {}
        for subject, links in users:
            for link in links:
                name, line_item = link.assignment, link.line_item
                assert name is not None and line_item is not None  # as the caller has sorted them
                if name not in known:
                    full = self.full_points(name, results.student) or 0.0
                    mark = assignment_mark(results, name, full)
                    known[name] = mark or no_mark(results, name, full)
                mark = known[name]
                is_sent = (link.platform, line_item, subject) in sent
                if mark is not None and (is_sent or mark.progress != NO_MARK):
                    yield MarkForLms(
                        link.platform,
                        line_item,
                        subject,
                        results.student,
                        mark.score,
                        mark.maximum,
                        mark.progress,
                        mark.is_final,
                        mark.comment,
                    )


class MarkCollector:
    """Puts changed marks into the outbox; one for each process.

    A round looks at students about whom something was stored since the round before. From time to time, and
    when rules or links have changed, it looks at all of them: releases and due dates come by the clock.

    Parameters
    ----------
    all_every_s : float
        Seconds from one look at all students to the next.
    pause_s : float
        Seconds of rest after each student, for those who wait for a page of the same process.
    """

    def __init__(self, *, all_every_s: float = 600.0, pause_s: float = 0.0) -> None:
        self._all_every_s = all_every_s
        self._pause_s = pause_s
        self._since: dict[str, object] = {}
        self._whole: tuple[datetime, object] | None = None

    def collect(self, source: MarkSource, rules: object, now: datetime) -> int:
        """Put in what has changed; return how many marks that are.

        Parameters
        ----------
        source : MarkSource
        rules : object
            Of the course; another one than in the round before means that all marks may differ.
        now : datetime
        """
        links = [x for x in source.store.lti.links() if x.assignment is not None and x.line_item is not None]
        if not links or source.mode is not Mode.MARKS:
            return 0
        reason = (rules, tuple((x.platform, x.line_item, x.assignment) for x in links))
        # Read before the marks are: what changes meanwhile is looked at in the next round.
        since, students = source.store.lti_outbox.changed_students(self._since)
        is_due = self._whole is None or (now - self._whole[0]).total_seconds() >= self._all_every_s
        look_at_all = self._whole is None or is_due or self._whole[1] != reason
        if not look_at_all and not students:
            return 0
        count = 0
        batch: list[MarkForLms] = []
        for mark in source.marks(links, None if look_at_all else students):
            if batch and batch[-1].student != mark.student:
                time.sleep(self._pause_s)
            batch.append(mark)
            if len(batch) >= _BATCH:
                count += source.store.lti_outbox.put(batch, now)
                batch = []
        count += source.store.lti_outbox.put(batch, now)
        self._since = since
        if look_at_all:
            self._whole = (now, reason)
        return count


_BATCH = 50


def without_line_item(links: Iterable[LtiLink]) -> list[LtiLink]:
    """Return the links whose column must still be found or made."""
    return [
        link
        for link in links
        if link.assignment is not None and link.line_item is None and link.line_items is not None
    ]


def with_line_item(link: LtiLink, line_item: str) -> LtiLink:
    """Return a link with the address of its column."""
    return replace(link, line_item=line_item)
