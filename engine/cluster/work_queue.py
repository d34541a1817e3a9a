"""The workers' side of the queue: chunks of programs are claimed, and their reports handed in, each once.

A chunk is a job of Procrastinate; its programs and their reports are rows of ours. A chunk may be graded
twice (its worker was taken for dead, and wasn't), so a report is kept by its program: the first one counts,
and the transaction that keeps the reports of a chunk is the one that ends its job.

All times are the server's: machines may differ about them by minutes.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Final

import sqlalchemy as sa
from procrastinate.jobs import Job, Status
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql import insert as upsert

from engine.cluster.job_manager import at_once, job_manager
from engine.cluster.queue_tables import QUEUE_LOCK, courses, programs, reports, workers
from engine.crash_points import reached
from engine.store.database import Database

TASK: Final = "grade programs"

DRAWING_MODE: Final = "drawing"
"""The mode of a row that asks for variants of an item (:mod:`engine.cluster.drawing`): no program at all."""

JOBS_CHANNEL: Final = "procrastinate_any_queue_v1"
"""Where the server says that something was handed over."""

CHUNK_S: Final = 1.0
"""What a chunk should take: little to lose, and so much that the queue's own cost is nothing."""

MOST_IN_CHUNK: Final = 100
"""Programs of a chunk, however quick they are."""

MOST_DEATHS: Final = 3
"""So many workers may die over a program that was all they had in hand; then it is set aside."""

MOST_TRIES: Final = 3
"""So often the machine may fail to grade a program before the report says so; the next run tries it again."""

DEAD_AFTER_S: Final = 45.0
"""A worker without a heartbeat for so long is taken for dead, unless it has told the queue otherwise."""

RECENT_S: Final = 120.0
"""A report that was handed in so long ago counts e times less in a worker's pace than a new one."""

# Procrastinate's own queries know one patience for all workers.
IS_SILENT: Final = "w.last_heartbeat < now() - make_interval(secs => w.dead_after_s)"
"""SQL: whether a row `w` of procrastinate_workers is of one that has been silent for longer than it said."""

_IS_DEAD: Final = f"{IS_SILENT} AND w.dead_after_s < :awake_s"
_SET_PATIENCE: Final = sa.text(
    "UPDATE procrastinate_workers SET dead_after_s = least(greatest(:seconds, 0.1), 300) WHERE id = :worker"
)
_STALLED_JOBS: Final = sa.text(
    "SELECT j.id, j.status, j.task_name, j.priority, j.lock, j.queueing_lock, j.args, j.scheduled_at,"
    " j.queue_name, j.attempts, j.worker_id"
    " FROM procrastinate_jobs j LEFT JOIN procrastinate_workers w ON w.id = j.worker_id"
    f" WHERE j.status = 'doing' AND (j.worker_id IS NULL OR {_IS_DEAD})"
)
_FORGET_DEAD: Final = sa.text(f"DELETE FROM procrastinate_workers w WHERE {_IS_DEAD}")

# Higher counts of losses and tries would say nothing more; the table refuses those above 100.
_MOST_COUNTED = 10

# Batches have priorities of 0 and less. Of the jobs with one lock one is done at a time.
_AWAITED = sa.text(
    "SELECT j.queue_name FROM procrastinate_jobs j JOIN courses c ON c.id = split_part(j.queue_name, '.', 1)"
    " WHERE j.status = 'todo' AND j.priority > 0 AND NOT c.paused"
    " AND (j.scheduled_at IS NULL OR j.scheduled_at <= now()) AND NOT EXISTS"
    " (SELECT FROM procrastinate_jobs d WHERE d.status = 'doing' AND d.lock = j.lock) AND NOT EXISTS"
    # It may wait for another worker than this one; whoever may takes it at the end of a chunk.
    " (SELECT FROM programs p WHERE p.id = (j.args->'programs'->>0)::bigint AND cardinality(p.tried_by) > 0)"
    " LIMIT 100"
)

# Seconds after which a program that the machine failed to grade is tried again, twice as many each time.
_REST_S = 5

# For so long after that rest, a program is left to others by whoever tried it in vain: by other workers of
# that machine, and by the worker itself. Nobody is busy with a chunk for longer; where nobody else serves the
# queue, the same one tries it again.
_SAME_MACHINE_S, _SAME_WORKER_S = 15.0, 30.0
# With more of them than this a worker passes over no further ones, or it would only look.
_MOST_PASSED = 50
_WAIT_AGAIN = sa.text("UPDATE procrastinate_jobs SET status = 'todo' WHERE id = ANY(:jobs)")
# A restored backup, or new tables, give numbers again that somebody still knows for other programs.
_KEY = ("course", "student", "item", "version", "submission", "mode")
_STORED = ("program", "report", "reason", "worker", "seconds")


@dataclass(frozen=True, slots=True)
class QueuedProgram:
    """A program as a worker gets it, and what the queue knows of it."""

    id: int
    course: str
    student: str
    item: str
    version: str
    mode: str
    code: str
    losses: int
    tries: int
    tried_by: Sequence[str] = ()
    one_by_one: bool = False
    submission: str = ""


@dataclass(frozen=True, slots=True)
class ClaimedChunk:
    """Programs of one exercise that a worker has in hand, and the job that gives it the right to.

    Parameters
    ----------
    job, attempt : int
        The same job may have been given to another worker meanwhile: then it has another attempt.
    queue : str
    programs : tuple of QueuedProgram
    interactive : bool
        Whether somebody waits for the report.
    waited_s : float
        How long the oldest of them waited.
    """

    job: int
    attempt: int
    queue: str
    programs: tuple[QueuedProgram, ...]
    interactive: bool
    waited_s: float

    @property
    def is_suspect(self) -> bool:
        """Whether a worker died over one of these: they are graded with nothing else in hand."""
        return any(program.losses for program in self.programs)


@dataclass(frozen=True, slots=True)
class QueueReport:
    """A report as it lies in the queue.

    Parameters
    ----------
    program : int
    report : str or None
        JSON of :class:`engine.model.GradeReport`; None where the program was set aside.
    reason : str or None
        Why it has no score.
    worker : str
    seconds : float
        Of grading.
    is_slow : bool
        Whether the program ran out of time; only told by the worker.
    key : tuple of str
        Of the program, as in :attr:`engine.cluster.course_line.ProgramForQueue.key`; only told by the queue.
    """

    program: int
    report: str | None
    reason: str | None
    worker: str
    seconds: float
    is_slow: bool = False
    key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeadWorkers:
    """What was taken back from dead workers: programs that wait again, and those that were set aside."""

    waiting: tuple[int, ...] = ()
    set_aside: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """What the queue knows of a worker.

    Parameters
    ----------
    name : str
        Machine and process, for people.
    slots : int
    tier : str
    engine, packages : str
        Fingerprints of what it judges with, and of what student code may import there.
    """

    name: str
    slots: int
    tier: str
    engine: str
    packages: str


@dataclass(frozen=True, slots=True)
class WorkerOrders:
    """What the queue says to a worker that shows that it lives."""

    is_known: bool
    is_draining: bool = False


@dataclass
class WorkQueue:
    """The queue in one database; any number of machines may use it at the same time.

    Parameters
    ----------
    database : Database
        As :func:`engine.cluster.queue_tables.open_queue_database` returns it.
    """

    database: Database

    def register_worker(self, facts: WorkerFacts, dead_after_s: float = DEAD_AFTER_S) -> int:
        """Note a worker that begins, and return its number.

        Parameters
        ----------
        facts : WorkerFacts
        dead_after_s : float
            Without a heartbeat for so long it is taken for dead; it knows how often it sends one.
        """

        def insert(connection: sa.Connection) -> int:
            number = at_once(job_manager(connection).register_worker())
            connection.execute(_SET_PATIENCE, {"worker": number, "seconds": dead_after_s})
            connection.execute(
                sa.insert(workers).values(
                    id=number,
                    name=facts.name,
                    slots=facts.slots,
                    tier=facts.tier,
                    engine=facts.engine,
                    packages=facts.packages,
                )
            )
            return number

        return self.database.change(insert)

    def beat(self, worker: int, fault: str | None = None, name: str | None = None) -> WorkerOrders:
        """Note that a worker lives, and what keeps it from grading; return what it must know.

        One that isn't known was taken for dead: what it had in hand waits again, or another one has it. After
        a backup was restored, the number may be that of a worker of another name.
        """

        def change(connection: sa.Connection) -> WorkerOrders:
            at_once(job_manager(connection).update_heartbeat(worker))
            mine = sa.update(workers).where(workers.c.id == worker).values(fault=fault)
            if name is not None:
                mine = mine.where(workers.c.name == name)
            draining = connection.execute(mine.returning(workers.c.draining)).scalar()
            return WorkerOrders(draining is not None, bool(draining))

        return self.database.change(change)

    def drain(self, chosen: Sequence[int]) -> int:
        """Have workers end after what they have in hand, as they hear at their next heartbeat; count them."""
        change = sa.update(workers).where(workers.c.id.in_(chosen)).values(draining=True)
        return int(self.database.change(lambda connection: connection.execute(change).rowcount))

    def unregister_worker(self, worker: int) -> None:
        """Forget a worker that ends; what it still had in hand waits again at the next look at the dead."""

        self.database.change(lambda connection: at_once(job_manager(connection).unregister_worker(worker)))

    def queues_for(self, serves: Callable[[str], bool]) -> list[str]:
        """Return the queues that hold work and that `serves` accepts, those of paused courses left out."""
        names = sa.text("SELECT DISTINCT queue_name FROM procrastinate_jobs WHERE status = 'todo'")
        with self.database.read() as connection:
            waiting = connection.execute(names).scalars().all()
            paused = set(connection.execute(sa.select(courses.c.id).where(courses.c.paused)).scalars())
        return [name for name in waiting if name.partition(".")[0] not in paused and serves(name)]

    def awaited(self, serves: Callable[[str], bool]) -> int:
        """Return how many jobs wait for whose reports somebody waits, and that a worker could begin now."""
        with self.database.read() as connection:
            names = connection.execute(_AWAITED).scalars().all()
        return sum(serves(name) for name in names)

    def claim(self, worker: int, queues: Sequence[str]) -> ClaimedChunk | None:
        """Begin the next chunk of these queues; None where there is none.

        What this worker tried in vain is left to others for a while. Programs of a student whose others ran
        out of time are put into jobs of which one is done at a time.
        """

        def begin(connection: sa.Connection) -> ClaimedChunk | None:
            begun: ClaimedChunk | None = None
            passed: list[int] = []
            while begun is None:
                job = at_once(job_manager(connection).fetch_job([*queues], worker))
                if job is None:
                    break
                chunk = _chunk(connection, job)
                if not chunk.programs:
                    # Cancelled meanwhile, or graded by a worker that was taken for dead.
                    _finish(connection, chunk.job)
                elif len(passed) < _MOST_PASSED and _is_for_others(connection, job, chunk, worker):
                    passed.append(chunk.job)
                elif not _without_slow(connection, job, chunk):
                    begun = chunk
            if passed:
                connection.execute(_WAIT_AGAIN, {"jobs": passed})
            if begun is not None and begun.is_suspect:
                # Now: if it kills this worker, nobody else can say who had it.
                suspects = sa.update(programs).where(programs.c.id.in_([p.id for p in begun.programs]))
                connection.execute(suspects.values(tried_by=_also_tried_by(worker)))
            return begun

        chunk = self.database.change(begin) if queues else None
        if chunk is not None:
            reached("after-claim-chunk")
        return chunk

    def give_back(self, worker: int, in_hand: Collection[int]) -> int:
        """Let jobs wait again that are a worker's without its knowing; return how many there were.

        The server commits a claim, and the connection breaks before it can say so. The worker lives, so
        nobody takes the job from it either.

        Parameters
        ----------
        worker : int
        in_hand : collection of int
            The jobs that it knows of.
        """
        # Procrastinate's own way would change columns to which an account for workers has no right. The bound
        # keeps what one account writes from being too large for the next one.
        statement = sa.text(
            "UPDATE procrastinate_jobs SET status = 'todo', attempts = least(attempts, 1000000) + 1"
            " WHERE status = 'doing' AND worker_id = :worker AND NOT id = ANY(:in_hand)"
        )
        values = {"worker": worker, "in_hand": [*in_hand]}
        return int(self.database.change(lambda connection: connection.execute(statement, values).rowcount))

    def seconds_up(self) -> float:
        """Return for how long the server has been running."""
        query = sa.text("SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())")
        with self.database.read() as connection:
            return float(connection.execute(query).scalar_one())

    def hand_in(
        self,
        worker: int,
        chunk: ClaimedChunk,
        graded: Sequence[QueueReport],
        *,
        failed: int | None = None,
        reason: str = "",
    ) -> int:
        """Keep the reports of a chunk and end its job, in one transaction; return how many were the first.

        A worker that had been taken for dead hands in as well: what nobody has graded meanwhile counts.
        Programs of the chunk without a report wait again, where they are many in pieces of a second each:
        if they take long, other workers share them.

        Parameters
        ----------
        worker : int
        chunk : ClaimedChunk
        graded : sequence of QueueReport
        failed : int, optional
            The program at which the machine failed. It waits a while, then by itself, for another worker if
            there is one. After :data:`MOST_TRIES` of that it gets a report without a score, so that its
            course learns the reason.
        reason : str
            Why the machine failed.
        """
        by_program = {report.program: report for report in graded}

        def store(connection: sa.Connection) -> int:
            is_mine = _is_still(connection, chunk, worker)
            stored = _keep(connection, by_program.values(), chunk.programs)
            slow = {p.student for p in chunk.programs if p.id in by_program and by_program[p.id].is_slow}
            _take_one_by_one(connection, chunk.programs[0].course, slow)
            if is_mine:
                left = [p.id for p in chunk.programs if p.id not in by_program and p.id != failed]
                size = _piece(graded) or len(left) or 1
                pieces = [left[start : start + size] for start in range(0, len(left), size)]
                jobs = _rest_of(connection, chunk, pieces)
                tried = next((p for p in chunk.programs if p.id == failed), None)
                if tried is not None:
                    jobs += _not_gradable(connection, chunk, tried, reason, worker)
                # In this order: an account for workers may only put back what it has in hand.
                defer_jobs(connection, jobs)
                _finish(connection, chunk.job)
            values = {"graded": workers.c.graded + stored, "recent": faded_count() + stored}
            count = sa.update(workers).where(workers.c.id == worker)
            connection.execute(count.values(**values, recent_at=sa.func.now()))
            return stored

        reached("before-hand-in-chunk")
        stored = self.database.change(store)
        reached("after-hand-in-chunk")
        return stored

    def notices(self, channel: str, halt: threading.Event) -> Iterator[None]:
        """Yield whenever the server gives a notice on a channel, until `halt` is set."""
        return self.database.notices(channel, halt)

    def take_from_the_dead(self, awake_s: float = math.inf) -> DeadWorkers:
        """Let what dead workers had in hand wait again, each program by itself; forget these workers.

        A program that was alone in the hand of :data:`MOST_DEATHS` workers that died is set aside.

        Parameters
        ----------
        awake_s : float
            For how long the server has answered. Whoever had no time to show that it lives isn't dead.
        """
        silent = {"awake_s": awake_s}

        def take(connection: sa.Connection) -> DeadWorkers:
            # One at a time, whoever comes first: the others find nothing left.
            if not connection.execute(sa.select(sa.func.pg_try_advisory_xact_lock(QUEUE_LOCK))).scalar():
                return DeadWorkers()
            rows = connection.execute(_STALLED_JOBS, silent).mappings().all()
            stalled = [Job.from_row(dict(row)) for row in rows]
            waiting: list[int] = []
            aside: list[int] = []
            jobs: list[Job] = []
            ended: list[int] = []
            for job in stalled:
                chunk = _chunk(connection, job)
                lost = [program.id for program in chunk.programs]
                losses = sa.update(programs).where(programs.c.id.in_(lost))
                connection.execute(losses.values(losses=_one_more(programs.c.losses)))
                # The first loss only makes them suspect, for others may have been at work beside them.
                poisonous = [p.id for p in chunk.programs if p.losses >= MOST_DEATHS]
                aside_now = [QueueReport(n, None, SET_ASIDE, "", 0.0) for n in poisonous]
                _keep(connection, aside_now, chunk.programs)
                left = [number for number in lost if number not in poisonous]
                # From now on, so that it is known for how long it waits for another worker.
                jobs += _rest_of(connection, chunk, [[number] for number in left], 0.0)
                waiting += left
                aside += poisonous
                ended.append(chunk.job)
            defer_jobs(connection, jobs)
            for number in ended:
                _finish(connection, number)
            connection.execute(_FORGET_DEAD, silent)  # and with them their rows in `workers`
            return DeadWorkers(tuple(waiting), tuple(aside))

        return self.database.change(take)


SET_ASIDE: Final = (
    "each worker that graded this program died (perhaps the kernel ended it when memory ran out), so it is "
    "set aside; look at it, and mark it by hand (grade mark set), or let it be tried again: grade queue retry"
)


def faded_count() -> sa.ColumnElement[float]:
    """Return what a worker's reports count for by now, older ones less: its pace without a table of times."""
    age = sa.func.extract("epoch", sa.func.now() - workers.c.recent_at) / RECENT_S
    # PostgreSQL takes a result too small for a number as an error; e^-50 is nothing to anybody. Where two
    # transactions begin in another order than they end, the age is below 0.
    return workers.c.recent * sa.func.exp(-sa.func.least(sa.func.greatest(age, 0.0), 50.0))


def has_report() -> sa.ColumnElement[bool]:
    """Return the condition that a program has a report."""
    return sa.exists().where(reports.c.program == programs.c.id)


def any_of(numbers: Sequence[int]) -> sa.CollectionAggregate[bool]:
    """Return what equals each of these numbers; as one value, for a statement has no place for 65,536."""
    return sa.any_(sa.literal([*numbers], ARRAY(sa.BigInteger)))


def defer_jobs(connection: sa.Connection, jobs: Sequence[Job]) -> None:
    """Put jobs into the queue."""
    if jobs:
        job_manager(connection).batch_defer_jobs([*jobs])


def _chunk(connection: sa.Connection, job: Job) -> ClaimedChunk:
    assert job.id is not None
    names = [field.name for field in fields(QueuedProgram)]
    waited = sa.func.extract("epoch", sa.func.now() - programs.c.handed_over)
    query = (
        sa.select(*(programs.c[name] for name in names), programs.c.interactive, waited.label("waited"))
        # Whoever put the job there: its programs are graded as they were handed over, or not at all.
        .where(programs.c.id == any_of(_numbers(job)), programs.c.queue == job.queue, ~has_report())
        .order_by(programs.c.id)
    )
    rows = connection.execute(query).mappings().all()
    return ClaimedChunk(
        job=job.id,
        attempt=job.attempts,
        queue=job.queue,
        programs=tuple(QueuedProgram(**{name: row[name] for name in names}) for row in rows),
        interactive=any(row["interactive"] for row in rows),
        waited_s=max((float(row["waited"]) for row in rows), default=0.0),
    )


def _numbers(job: Job) -> list[int]:
    numbers = job.task_kwargs.get("programs")
    return [n for n in numbers if type(n) is int] if isinstance(numbers, list) else []


def _one_more(count: sa.ColumnElement[int]) -> sa.ColumnElement[int]:
    return sa.func.least(count + 1, _MOST_COUNTED)


def _is_still(connection: sa.Connection, chunk: ClaimedChunk, worker: int) -> bool:
    """Return whether a chunk is still this worker's, and keep it so until the transaction ends."""
    query = sa.text(
        "SELECT worker_id, attempts FROM procrastinate_jobs WHERE id = :job AND status = 'doing' FOR UPDATE"
    )
    row = connection.execute(query, {"job": chunk.job}).first()
    return row is not None and (row[0], row[1]) == (worker, chunk.attempt)


def _keep(
    connection: sa.Connection, graded: Collection[QueueReport], in_hand: Iterable[QueuedProgram]
) -> int:
    """Keep reports of programs that somebody had in hand, of each program the first; return how many were."""
    rows = [{name: getattr(report, name) for name in _STORED} for report in graded]
    # A program that was cancelled has no row: its report is dropped, as is one whose number is another
    # program's by now.
    columns = (programs.c.id, *(programs.c[name] for name in _KEY))
    mine = sa.select(*columns).where(programs.c.id == any_of([report.program for report in graded]))
    there = {number: key for number, *key in connection.execute(mine)}
    known = {p.id for p in in_hand if there.get(p.id) == [getattr(p, name) for name in _KEY]}
    rows = [row for row in rows if row["program"] in known]
    if not rows:
        return 0
    statement = upsert(reports).values(rows)
    # One that was set aside and is graded after all counts as graded.
    statement = statement.on_conflict_do_update(
        index_elements=[reports.c.program],
        set_={name: statement.excluded[name] for name in (*_STORED[1:], "handed_in")},
        where=sa.and_(reports.c.report.is_(None), statement.excluded.report.is_not(None)),
    )
    return len(connection.execute(statement.returning(reports.c.program)).all())


def _piece(graded: Sequence[QueueReport]) -> int | None:
    """Return how many more programs like these a slot grades in a second; None where nobody knows."""
    seconds = sum(report.seconds for report in graded)
    return max(1, min(MOST_IN_CHUNK, int(CHUNK_S * len(graded) / seconds))) if seconds > 0 else None


def _rest_of(
    connection: sa.Connection,
    chunk: ClaimedChunk,
    groups: Iterable[Sequence[int]],
    rest_s: float | None = None,
) -> list[Job]:
    """Return jobs for what is left of a chunk, each group one, in the place of the chunk's job."""
    rest = sa.text("SELECT now() + make_interval(secs => :seconds)")
    until = None if rest_s is None else connection.execute(rest, {"seconds": rest_s}).scalar()
    return [
        job.evolve(id=None, task_kwargs={"programs": [*group]}, scheduled_at=until)
        for job in job_manager(connection).list_jobs(id=chunk.job)
        for group in groups
        if group
    ]


def _not_gradable(
    connection: sa.Connection, chunk: ClaimedChunk, program: QueuedProgram, reason: str, worker: int
) -> list[Job]:
    """Count a try at a program, and return the job of the next one; none after the last."""
    tried = sa.update(programs).where(programs.c.id == program.id)
    connection.execute(tried.values(tries=_one_more(programs.c.tries), tried_by=_also_tried_by(worker)))
    if program.tries + 1 >= MOST_TRIES:
        _keep(connection, [QueueReport(program.id, None, reason, "", 0.0)], [program])
        return []
    return _rest_of(connection, chunk, [[program.id]], _REST_S * 2**program.tries)


def _also_tried_by(worker: int) -> sa.ColumnElement[Sequence[str]]:
    """Return the names of those that tried a program, with a worker's among them."""
    name = sa.select(workers.c.name).where(workers.c.id == worker).scalar_subquery()
    known = programs.c.tried_by
    is_noted = sa.or_(name.is_(None), name == sa.any_(known), sa.func.cardinality(known) >= _MOST_COUNTED)
    return sa.case((is_noted, known), else_=sa.func.array_append(known, name))


def _is_for_others(connection: sa.Connection, job: Job, chunk: ClaimedChunk, worker: int) -> bool:
    """Return whether a worker or its machine tried a program in vain, and it is still left to others."""
    tried_by = {name for program in chunk.programs for name in program.tried_by}
    if not tried_by or job.scheduled_at is None:
        return False
    since = sa.func.extract("epoch", sa.func.now() - sa.cast(job.scheduled_at, sa.DateTime(timezone=True)))
    me = connection.execute(sa.select(workers.c.name, since).where(workers.c.id == worker)).first()
    if me is None:
        return False
    name, waited_s = str(me[0]), float(me[1])
    if name in tried_by:
        return waited_s < _SAME_WORKER_S
    return _machine(name) in map(_machine, tried_by) and waited_s < _SAME_MACHINE_S


def _machine(name: str) -> str:
    return name.rpartition("/")[0]


def _take_one_by_one(connection: sa.Connection, course: str, students: Collection[str]) -> None:
    """Note students whose programs run out of time: what waits of them is found by :func:`_without_slow`."""
    if students:
        theirs = (programs.c.course == course, programs.c.student.in_(students))
        open_ = (~programs.c.interactive, ~programs.c.one_by_one, ~has_report())  # others have a lock already
        connection.execute(sa.update(programs).where(*theirs, *open_).values(one_by_one=True))


def _without_slow(connection: sa.Connection, job: Job, chunk: ClaimedChunk) -> bool:
    """Take the programs of slow students out of a chunk, as jobs of their own; return whether there were any.

    Of jobs with a student's lock one is done at a time, as of those for which somebody waits: so a student's
    endless loops in many exercises take one slot and no more.
    """
    slow: dict[str | None, list[int]] = {}
    for program in chunk.programs:
        lock = f"{program.course}/{program.student}" if program.one_by_one else None
        slow.setdefault(lock, []).append(program.id)
    if job.lock is not None or slow.keys() == {None}:
        return False
    defer_jobs(
        connection,
        [
            job.evolve(id=None, lock=lock, task_kwargs={"programs": numbers}, scheduled_at=None)
            for lock, numbers in slow.items()
        ],
    )
    _finish(connection, chunk.job)
    return True


def _finish(connection: sa.Connection, job: int) -> None:
    # Deleted at once: a course of 20,000 programs leaves nothing behind.
    manager = job_manager(connection)
    at_once(manager.finish_job_by_id_async(job, Status.SUCCEEDED, delete_job=True))
