"""What the queue holds at a moment, for those who look after it: courses, workers, and what needs somebody.

All ages are by the server's clock. Everything is read in one transaction, so that a chunk that is handed in
meanwhile isn't counted twice or not at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from engine.cluster.program_standing import QueueHold, read_hold, why_not_taken
from engine.cluster.queue_tables import courses, programs, reports, workers
from engine.cluster.work_queue import DEAD_AFTER_S, DRAWING_MODE, RECENT_S, faded_count, has_report
from engine.errors import UsageError
from engine.store.database import Database
from engine.text.words import clean_line, join_words, suggestion

_MOST_ASIDE = 100  # programs that are listed; all are counted


@dataclass(frozen=True, slots=True)
class QueueShare:
    """A course's part of the queue.

    Parameters
    ----------
    id, title : str
    weight : int
    paused : bool
    interactive, batch : int
        Programs without a report: those for which somebody waits, and those of classes.
    in_hand : int
        How many of both a worker has begun.
    oldest_s : float or None
        How long the oldest of them has waited; None where there is none.
    set_aside : int
        Programs that no worker could grade, until their course collects the reason.
    drawing : int
        Pieces of a class's quizzes that no worker has drawn; none of them is among the programs.
    """

    id: str
    title: str
    weight: int
    paused: bool
    interactive: int
    batch: int
    in_hand: int
    oldest_s: float | None
    set_aside: int
    drawing: int = 0


@dataclass(frozen=True, slots=True)
class WorkerState:
    """A worker that the queue knows.

    Parameters
    ----------
    number : int
    name : str
        Machine and process.
    slots : int
    tier : str
    engine, packages : str
        Fingerprints, as in :class:`engine.cluster.work_queue.WorkerFacts`.
    silent_s : float
        Since its last heartbeat.
    in_hand : int
        Programs of the chunks that it has begun.
    graded : int
        Reports since it began.
    per_minute : float
        Reports of the last minutes.
    fault : str or None
        Why its last chunk failed.
    draining : bool
    dead_after_s : float
        Seconds of silence after which it is taken for dead.
    """

    number: int
    name: str
    slots: int
    tier: str
    engine: str
    packages: str
    silent_s: float
    in_hand: int
    graded: int
    per_minute: float
    fault: str | None
    draining: bool
    dead_after_s: float = DEAD_AFTER_S

    @property
    def is_silent(self) -> bool:
        """Whether it has shown no sign of life for longer than it usually takes."""
        return self.silent_s > self.dead_after_s

    @property
    def takes_work(self) -> bool:
        """Whether it is alive and may begin another chunk."""
        return not self.is_silent and not self.draining

    @property
    def condition(self) -> str:
        """What it does, in a word: ``silent``, ``drains``, ``fails``, ``works`` or ``waits``."""
        # Silence first: what a dead worker said before is no longer true.
        if self.is_silent:
            return "silent"
        if self.draining:
            return "drains"
        if self.fault:
            return "fails"
        return "works" if self.in_hand else "waits"


@dataclass(frozen=True, slots=True)
class AsideProgram:
    """A program that no worker could grade.

    Parameters
    ----------
    program : int
    course : str
    item : str
    reason : str
    since_s : float
    student : str
        Pseudonym.
    tried_by : tuple of str
        Workers that tried it in vain, as far as they are known.
    """

    program: int
    course: str
    item: str
    reason: str
    since_s: float
    student: str
    tried_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnservedWork:
    """Programs that no worker takes, and why.

    Parameters
    ----------
    course : str
    queue : str
    programs : int
    reasons : tuple of str
        One for each worker that is alive; none where there is no worker.
    """

    course: str
    queue: str
    programs: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueueOverview:
    """The whole queue at a moment.

    Parameters
    ----------
    courses : tuple of QueueShare
    workers : tuple of WorkerState
    aside : tuple of AsideProgram
        The oldest, a hundred at most.
    unserved : tuple of UnservedWork
        Paused courses left out.
    """

    courses: tuple[QueueShare, ...]
    workers: tuple[WorkerState, ...]
    aside: tuple[AsideProgram, ...]
    unserved: tuple[UnservedWork, ...]

    @property
    def length(self) -> int:
        """Programs without a report, and pieces of quizzes without variants."""
        return sum(course.interactive + course.batch + course.drawing for course in self.courses)

    @property
    def per_minute(self) -> float:
        """Reports a minute that workers have handed in during the last minutes."""
        return sum(worker.per_minute for worker in self.workers if not worker.is_silent)

    def course(self, text: str) -> QueueShare:
        """Return the course that a person means by its id, the beginning of that, or its title.

        Raises
        ------
        UsageError
            None or several are meant.
        """
        exact = [course for course in self.courses if text in (course.id, course.title)]
        near = exact or [course for course in self.courses if text and course.id.startswith(text)]
        if len(near) == 1:
            return near[0]
        if near:
            raise UsageError(
                f"{clean_line(text)!r} can mean several courses of the queue",
                expected=f"one of {join_words((course.id for course in near), 'or', 20)}",
            )
        titles = [clean_line(course.title) for course in self.courses]
        raise UsageError(
            f"no course of the queue is called {clean_line(text)!r}",
            next_step=suggestion(text, [*titles, *(c.id for c in self.courses)]) or "grade queue lists them",
        )

    def workers_of(self, text: str) -> list[WorkerState]:
        """Return the workers that a person means: one by its number or name, or all of a machine.

        Raises
        ------
        UsageError
            There is none.
        """
        chosen = [
            worker
            for worker in self.workers
            if text in (str(worker.number), worker.name, worker.name.rpartition("/")[0])
        ]
        if not chosen:
            known = [clean_line(worker.name) for worker in self.workers]
            raise UsageError(
                f"no worker {clean_line(text)!r} is in the queue",
                expected="a worker's number, its name, or the name of a machine",
                next_step=suggestion(text, known) or "grade queue lists them",
            )
        return chosen


def read_queue(database: Database, course: str | None = None) -> QueueOverview:
    """Return what the queue holds now.

    Parameters
    ----------
    database : Database
        As :func:`engine.cluster.queue_tables.open_queue_database` returns it.
    course : str, optional
        Id of the only course whose programs are listed; all are counted.
    """
    with database.snapshot() as connection:
        all_courses = _courses(connection)
        all_workers = _workers(connection)
        paused = {course.id for course in all_courses if course.paused}
        return QueueOverview(
            courses=all_courses,
            workers=all_workers,
            aside=_aside(connection, course),
            unserved=tuple(_unserved(connection, paused, all_workers)),
        )


def _seconds_since(moment: sa.ColumnElement[object]) -> sa.ColumnElement[float]:
    return sa.func.greatest(sa.func.extract("epoch", sa.func.now() - moment), 0.0)


# Programs of the chunks that are begun: their numbers are in the jobs' arguments only.
_IN_HAND = sa.text(
    "SELECT j.worker_id, p.course, count(*) FROM procrastinate_jobs j"
    " CROSS JOIN jsonb_array_elements_text(j.args->'programs') number"
    " JOIN programs p ON p.id = number::bigint"
    " WHERE j.status = 'doing' AND NOT EXISTS (SELECT 1 FROM reports r WHERE r.program = p.id)"
    " GROUP BY j.worker_id, p.course"
)


def _courses(connection: sa.Connection) -> tuple[QueueShare, ...]:
    waits = (
        sa.select(
            programs.c.course,
            sa.func.count().filter(programs.c.interactive).label("interactive"),
            sa.func.count().filter(~programs.c.interactive, programs.c.mode != DRAWING_MODE).label("batch"),
            sa.func.count().filter(programs.c.mode == DRAWING_MODE).label("drawing"),
            sa.func.max(_seconds_since(programs.c.handed_over)).label("oldest_s"),
        )
        .where(~has_report())
        .group_by(programs.c.course)
    )
    counts = {row.course: row for row in connection.execute(waits)}
    aside = (
        sa.select(programs.c.course, sa.func.count())
        .join(reports, reports.c.program == programs.c.id)
        .where(reports.c.report.is_(None), programs.c.mode != DRAWING_MODE)
        .group_by(programs.c.course)
    )
    set_aside = {row[0]: int(row[1]) for row in connection.execute(aside)}
    in_hand: dict[str, int] = {}
    for _, course, count in connection.execute(_IN_HAND):
        in_hand[course] = in_hand.get(course, 0) + count
    query = sa.select(courses.c.id, courses.c.title, courses.c.weight, courses.c.paused)
    states = []
    for row in connection.execute(query.order_by(courses.c.title, courses.c.id)):
        mine = counts.get(row.id)
        states.append(
            QueueShare(
                id=row.id,
                title=row.title,
                weight=row.weight,
                paused=row.paused,
                interactive=0 if mine is None else mine.interactive,
                batch=0 if mine is None else mine.batch,
                in_hand=in_hand.get(row.id, 0),
                oldest_s=None if mine is None else float(mine.oldest_s),
                set_aside=set_aside.get(row.id, 0),
                drawing=0 if mine is None else mine.drawing,
            )
        )
    return tuple(states)


def _workers(connection: sa.Connection) -> tuple[WorkerState, ...]:
    in_hand: dict[int, int] = {}
    for worker, _, count in connection.execute(_IN_HAND):
        in_hand[worker] = in_hand.get(worker, 0) + count
    beats = sa.table("procrastinate_workers", *map(sa.column, ("id", "last_heartbeat", "dead_after_s")))
    query = (
        sa.select(
            workers,
            beats.c.dead_after_s,
            _seconds_since(beats.c.last_heartbeat).label("silent_s"),
            _seconds_since(workers.c.started).label("age_s"),
            faded_count().label("faded"),
        )
        .join(beats, beats.c.id == workers.c.id)
        .order_by(workers.c.name, workers.c.id)
    )
    return tuple(
        WorkerState(
            number=row["id"],
            name=row["name"],
            slots=row["slots"],
            tier=row["tier"],
            engine=row["engine"],
            packages=row["packages"],
            silent_s=float(row["silent_s"]),
            in_hand=in_hand.get(row["id"], 0),
            graded=row["graded"],
            per_minute=pace(float(row["faded"]), float(row["age_s"])),
            fault=row["fault"],
            draining=row["draining"],
            dead_after_s=row["dead_after_s"],
        )
        for row in connection.execute(query).mappings()
    )


def pace(faded: float, age_s: float) -> float:
    """Return reports a minute from the faded count of a worker of this age.

    A steady worker's count grows towards its pace times :data:`~engine.cluster.work_queue.RECENT_S`; a young
    one's is on its way there, which is allowed for.
    """
    # Below a second the quotient of two tiny numbers would say anything.
    share = -math.expm1(-max(age_s, 1.0) / RECENT_S)
    return 60.0 * faded / (RECENT_S * share)


def _aside(connection: sa.Connection, course: str | None) -> tuple[AsideProgram, ...]:
    query = (
        sa.select(
            programs.c.id,
            programs.c.course,
            programs.c.item,
            programs.c.student,
            reports.c.reason,
            _seconds_since(reports.c.handed_in).label("since_s"),
            programs.c.tried_by,
        )
        .join(reports, reports.c.program == programs.c.id)
        .where(reports.c.report.is_(None), programs.c.mode != DRAWING_MODE)
        .where(programs.c.course == course if course else sa.true())
        .order_by(reports.c.handed_in, programs.c.id)
        .limit(_MOST_ASIDE)
    )
    return tuple(
        AsideProgram(
            row.id,
            row.course,
            row.item,
            row.reason or "no reason was given",
            float(row.since_s),
            row.student,
            tuple(row.tried_by),
        )
        for row in connection.execute(query)
    )


def _unserved(
    connection: sa.Connection, paused: Iterable[str], known: Sequence[WorkerState]
) -> Iterable[UnservedWork]:
    query = (
        sa.select(programs.c.queue, programs.c.course, sa.func.count())
        # What no worker draws is drawn by the course's machine, which waits for nobody.
        .where(~has_report(), programs.c.course.not_in([*paused]), programs.c.mode != DRAWING_MODE)
        .group_by(programs.c.queue, programs.c.course)
        .order_by(programs.c.course, programs.c.queue)
    )
    for queue, course, count in connection.execute(query):
        alive = [(w.name, w.tier, w.packages, w.engine) for w in known if w.takes_work]
        reasons = why_not_taken(queue, alive)
        if reasons is not None:
            yield UnservedWork(course, queue, count, reasons)


def why_unserved(database: Database, queue: str) -> list[str]:
    """Return why nobody takes what waits in a queue, in sentences; none where a worker does, or may.

    Parameters
    ----------
    database : Database
    queue : str
        Name of a queue.
    """
    with database.snapshot() as connection:
        hold, reasons = read_hold(connection, queue)
    if hold is QueueHold.PAUSED:
        return ["the course is paused, so no worker begins its work; open it again: grade queue resume"]
    if hold is QueueHold.NO_WORKER:
        return ["no worker is running; start some: grade worker --store URL (docs/scaling.md)"]
    return [*reasons]
