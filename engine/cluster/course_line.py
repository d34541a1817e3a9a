"""The course's side of the queue: programs are handed over as jobs, and their reports taken out.

Who comes next is the priority of jobs. What somebody waits for comes before what a class handed in, and of
one student's hand-ins of an exercise the newest. Courses share what is left by weight: each chunk of a course
stands in a common line where the course's last one ends, one of twice the weight advancing half as far.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa
from procrastinate.jobs import Job
from sqlalchemy.dialects.postgresql import insert as upsert

from engine.cluster.queue_tables import courses, programs, reports
from engine.cluster.work_queue import IS_SILENT, TASK, QueueReport, any_of, defer_jobs, has_report
from engine.crash_points import reached
from engine.store.database import Database
from engine.text.words import clean_line

# Bands of priority, which is a number of 32 bits.
_INTERACTIVE = 1_000_000_000
_REPLACED = 500_000_000  # somebody handed in a newer one, and waits for that
_STEP = 1_000  # for each program of the same student that waits already
_LAST_IN_LINE = 1_000_000_000
_LEFT_S = 600  # whoever waits for a report collects it within seconds, and after a fault of the server too
_MOST_TITLE = 300
_UNIT = 100  # what a program of a course of weight 1 advances its course in the line
# As many numbers as one statement's list: PostgreSQL's protocol counts parameters with 16 bits.
_PARAMETERS = 10_000
_EMPTY_JOBS = sa.text(
    "DELETE FROM procrastinate_jobs WHERE id IN (SELECT j.id FROM procrastinate_jobs j"
    " WHERE j.status = 'todo' AND NOT EXISTS"
    " (SELECT 1 FROM jsonb_array_elements_text(j.args->'programs') number"
    " JOIN programs p ON p.id = number::bigint AND p.queue = j.queue_name) FOR UPDATE SKIP LOCKED)"
)
_LOST_PROGRAMS = sa.text(
    "SELECT p.id, p.course, p.student, p.queue, p.interactive FROM programs p WHERE p.id = ANY(:numbers)"
    " AND NOT EXISTS (SELECT 1 FROM reports r WHERE r.program = p.id)"
    " AND (p.queue, p.id) NOT IN (SELECT j.queue_name, number::bigint FROM procrastinate_jobs j"
    " CROSS JOIN jsonb_array_elements_text(j.args->'programs') number)"
    " ORDER BY p.id"
)
_BATCH_JOBS = sa.text(
    "SELECT id, priority, jsonb_array_length(args->'programs') AS size FROM procrastinate_jobs"
    " WHERE status = 'todo' AND priority <= 0 AND queue_name LIKE :name ORDER BY priority DESC, id"
)
_FORGET_OTHERS = sa.text(
    "DELETE FROM programs p USING json_array_elements(CAST(:keys AS json)) key"
    " WHERE p.course = :course AND p.mode = :mode AND p.queue <> :queue AND p.student = key->>0"
    " AND p.item = key->>1 AND p.version = key->>2 AND p.submission = key->>3"
)
# One statement for thousands of programs, in their order. A driver takes one long text much sooner than lists
# of values. The server's hidden column xmax is 0 in a row that this statement inserted.
_PUT_PROGRAMS = sa.text(
    "INSERT INTO programs"
    " (course, mode, run, queue, interactive, student, item, version, submission, code)"
    " SELECT :course, :mode, :run, :queue, :interactive, student, item, version, submission, code"
    " FROM ROWS FROM (json_to_recordset(CAST(:handed AS json))"
    " AS (student text, item text, version text, submission text, code text)) WITH ORDINALITY"
    " ORDER BY ordinality ON CONFLICT ON CONSTRAINT uq_programs_submission DO UPDATE SET run = excluded.run"
    " RETURNING student, item, version, submission, id, xmax = 0 AS is_new"
)
_LIVE_SLOTS = sa.text(
    "SELECT coalesce(sum(f.slots), 0) FROM workers f JOIN procrastinate_workers w ON w.id = f.id"
    f" WHERE NOT f.draining AND NOT ({IS_SILENT})"
)
_KEY = ("student", "item", "version", "submission")
_REPORTS = sa.select(*reports.c, *(programs.c[name] for name in _KEY)).join(
    programs, programs.c.id == reports.c.program
)
_PLACE_JOB = sa.text("UPDATE procrastinate_jobs SET priority = :priority WHERE id = :job AND status = 'todo'")


@dataclass(frozen=True, slots=True)
class ProgramForQueue:
    """A program that the course's side hands over.

    Parameters
    ----------
    student : str
        Pseudonym.
    item, version : str
        Of the exercise, whose files were published before.
    submission : str
        Hash of the program.
    code : str
        JSON of :class:`engine.model.CodeSubmission`.
    """

    student: str
    item: str
    version: str
    submission: str
    code: str

    @property
    def key(self) -> tuple[str, ...]:
        """By which the queue of a course knows it: one program has one report."""
        return self.student, self.item, self.version, self.submission


@dataclass(frozen=True, slots=True)
class LeftProgram:
    """A program whose report nobody collected.

    Parameters
    ----------
    id : int
    student : str
        Pseudonym.
    item, submission : str
    """

    id: int
    student: str
    item: str
    submission: str


@dataclass
class CourseLine:
    """The queue of one database as courses use it; any number of machines may at the same time.

    Parameters
    ----------
    database : Database
        As :func:`engine.cluster.queue_tables.open_queue_database` returns it.
    """

    database: Database

    def register_course(self, course: str, title: str) -> str | None:
        """Note a course that hands work over; what an administrator set for it stays.

        Returns
        -------
        str or None
            The title that it had here until now, if that was another one: it was renamed, or is a copy.
        """
        # A title is shown on one line, and the server takes no character of number 0.
        title = clean_line(title, _MOST_TITLE)
        values = {"id": course, "title": title}
        statement = upsert(courses).values(values)
        statement = statement.on_conflict_do_update(index_elements=[courses.c.id], set_={"title": title})

        def change(connection: sa.Connection) -> str | None:
            before = connection.execute(sa.select(courses.c.title).where(courses.c.id == course)).scalar()
            connection.execute(statement)
            return before if before != title else None

        return self.database.change(change)

    def hand_over(
        self,
        course: str,
        queue: str,
        mode: str,
        run: str,
        handed: Sequence[ProgramForQueue],
        *,
        interactive: bool = False,
        chunk: int = 50,
    ) -> list[int]:
        """Store programs and their jobs in one transaction; return the programs' numbers in their order.

        A program that was handed over before isn't stored twice: it waits, or its report is there already;
        `run` collects it now. Where it was handed over for other workers (another version of the engine, a
        weaker sandbox), what they make of it counts no more, and it takes its place in `queue`.

        Parameters
        ----------
        course : str
        queue : str
            Name of the queue, which says who may take it: see :func:`engine.cluster.fingerprint.QueueName`.
        mode, run : str
        handed : sequence of ProgramForQueue
        interactive : bool
            Somebody waits for the report.
        chunk : int
            So many programs of one exercise are one job at most.
        """

        def store(connection: sa.Connection) -> list[int]:
            common = {
                "course": course, "mode": mode, "run": run, "queue": queue, "interactive": interactive,
            }  # fmt: skip
            # Twice in one statement, a row couldn't be changed by it.
            different = {entry.key: entry for entry in handed}
            _forget_others(connection, common, different)
            rows = _put_programs(connection, common, [*different.values()])
            new: dict[tuple[str, str], list[tuple[int, ProgramForQueue]]] = {}
            for key, entry in different.items():
                number, is_new = rows[key]
                if is_new:
                    new.setdefault((entry.item, entry.version), []).append((number, entry))
            if interactive:
                jobs = [
                    self._interactive_job(connection, course, queue, number, entry)
                    for group in new.values()
                    for number, entry in group
                ]
            else:
                jobs = _batch_jobs(connection, course, queue, new.values(), chunk)
            defer_jobs(connection, jobs)
            return [rows[entry.key][0] for entry in handed]

        handed_over = self.database.change(store)
        reached("after-hand-over")
        return handed_over

    def _interactive_job(
        self, connection: sa.Connection, course: str, queue: str, number: int, entry: ProgramForQueue
    ) -> Job:
        mine = (programs.c.course == course, programs.c.student == entry.student, programs.c.interactive)
        open_ = (*mine, programs.c.id != number, ~has_report())
        others = connection.execute(sa.select(programs.c.id, programs.c.item).where(*open_)).all()
        replaced = [row.id for row in others if row.item == entry.item]
        _move(connection, replaced, _REPLACED)
        ahead = min(len(others), 1_000)
        return _job(queue, [number], _INTERACTIVE - ahead * _STEP, f"{course}/{entry.student}")

    def reports_of(self, run: str, most: int = 500, besides: Collection[int] = ()) -> list[QueueReport]:
        """Return reports that a run can collect, oldest first, but for those that it has already.

        Those it doesn't :meth:`forget` come again.
        """
        query = (
            _REPORTS.where(programs.c.run == run).order_by(reports.c.handed_in, reports.c.program).limit(most)
        )
        if besides:
            query = query.where(reports.c.program.not_in(sorted(besides)))
        with self.database.read() as connection:
            return [_report(row) for row in connection.execute(query).mappings()]

    def reports_among(self, numbers: Sequence[int]) -> list[QueueReport]:
        """Return the reports that there are of these programs."""
        query = _REPORTS.where(reports.c.program == any_of(numbers))
        with self.database.read() as connection:
            return [_report(row) for row in connection.execute(query).mappings()]

    def forget(self, collected: Iterable[int]) -> None:
        """Delete programs whose reports are where they belong, so that the queue stays small."""
        if numbers := sorted(collected):
            gone = sa.delete(programs).where(programs.c.id == any_of(numbers))
            self.database.change(lambda connection: connection.execute(gone))

    def take_back(self, numbers: Sequence[int]) -> list[int]:
        """Take programs out that have no report yet, in hand or not, and return which these were."""
        gone = sa.delete(programs).where(programs.c.id.in_(numbers), ~has_report()).returning(programs.c.id)
        return self.database.change(lambda connection: sorted(connection.execute(gone).scalars()))

    def forget_old(self, course: str, mode: str, seconds: float) -> None:
        """Delete a course's programs of this mode that were handed over so long ago."""
        age = sa.func.extract("epoch", sa.func.now() - programs.c.handed_over)
        gone = sa.delete(programs).where(programs.c.course == course, programs.c.mode == mode, age > seconds)
        self.database.change(lambda connection: connection.execute(gone))

    def left_behind(self, course: str, mode: str) -> list[LeftProgram]:
        """Return a course's programs whose reports nobody has collected for a while.

        A run that is killed between storing a report and forgetting its program leaves it behind.
        """
        names = ("id", "student", "item", "submission")
        late = sa.func.extract("epoch", sa.func.now() - reports.c.handed_in) > _LEFT_S
        query = (
            sa.select(*(programs.c[name] for name in names))
            .join(reports, reports.c.program == programs.c.id)
            .where(programs.c.course == course, programs.c.mode == mode, late)
            .order_by(programs.c.id)
        )
        with self.database.read() as connection:
            return [LeftProgram(*row) for row in connection.execute(query)]

    def runs_of(self, numbers: Sequence[int]) -> dict[int, str]:
        """Return who collects the reports of these programs; those that aren't in the queue are left out."""
        query = sa.select(programs.c.id, programs.c.run).where(programs.c.id == any_of(numbers))
        with self.database.read() as connection:
            return {row.id: row.run for row in connection.execute(query)}

    def still_there(self, handed: Mapping[int, tuple[str, ...]]) -> set[int]:
        """Return which of these numbers are still those of the programs with these keys.

        Others were taken out. A restored backup, or new tables, may have given their numbers again.
        """
        query = sa.select(programs.c.id, *(programs.c[name] for name in _KEY))
        query = query.where(programs.c.id == any_of([*handed]))
        with self.database.read() as connection:
            return {number for number, *key in connection.execute(query) if handed[number] == (*key,)}

    def collect_for(self, run: str, numbers: Sequence[int], left_s: float) -> int:
        """Let a run collect those reports of these programs that another one left there; count them."""
        age = sa.func.extract("epoch", sa.func.now() - reports.c.handed_in)
        left = sa.exists().where(reports.c.program == programs.c.id, age > left_s)
        change = sa.update(programs).where(programs.c.id == any_of(numbers), programs.c.run != run, left)
        statement = change.values(run=run)
        return int(self.database.change(lambda connection: connection.execute(statement).rowcount))

    def restore(self, numbers: Sequence[int]) -> int:
        """Let those of these programs wait again that are in no job, and count them.

        Whoever has a job in hand may delete it, and with it go the only words of what is to be graded.
        """

        def change(connection: sa.Connection) -> int:
            rows = connection.execute(_LOST_PROGRAMS, {"numbers": [*numbers]}).all()
            jobs = [
                _job(row.queue, [row.id], _INTERACTIVE - _STEP, f"{row.course}/{row.student}")
                if row.interactive
                else _job(row.queue, [row.id], 0, None)
                for row in rows
            ]
            defer_jobs(connection, jobs)
            return len(jobs)

        return self.database.change(change) if numbers else 0

    def live_slots(self) -> int:
        """Return for how many programs at a time there are live workers, whosever work they take."""
        with self.database.read() as connection:
            return int(connection.execute(_LIVE_SLOTS).scalar_one())

    def try_again(self, chosen: Collection[int], course: str | None = None) -> list[int]:
        """Let programs that were set aside wait again as if they were new; return which these were.

        Parameters
        ----------
        chosen : collection of int
        course : str, optional
            The only one whose programs they may be.
        """
        aside = sa.delete(reports).where(reports.c.program == any_of([*chosen]), reports.c.report.is_(None))
        if course is not None:
            theirs = sa.select(programs.c.id).where(programs.c.course == course)
            aside = aside.where(reports.c.program.in_(theirs))

        def change(connection: sa.Connection) -> list[int]:
            numbers = sorted(connection.execute(aside.returning(reports.c.program)).scalars())
            renewed = sa.update(programs).where(programs.c.id == any_of(numbers))
            renewed = renewed.values(losses=0, tries=0, tried_by=[])
            rows = connection.execute(renewed.returning(programs.c.id, programs.c.queue))
            queues = {row.id: row.queue for row in rows}
            defer_jobs(connection, [_job(queues[number], [number], 0, None) for number in numbers])
            return numbers

        return self.database.change(change)

    def set_aside(self, course: str | None = None) -> list[int]:
        """Return the programs that no worker could grade, of one course or all, the earliest first."""
        query = sa.select(reports.c.program).where(reports.c.report.is_(None))
        if course is not None:
            query = query.join(programs, programs.c.id == reports.c.program)
            query = query.where(programs.c.course == course)
        with self.database.read() as connection:
            return [*connection.execute(query.order_by(reports.c.handed_in, reports.c.program)).scalars()]

    def cancel(self, chosen: Sequence[int]) -> int:
        """Take programs out of the queue; return how many had no report yet."""

        def change(connection: sa.Connection) -> int:
            count = 0
            for start in range(0, len(chosen), _PARAMETERS):
                numbers = chosen[start : start + _PARAMETERS]
                gone = sa.delete(programs).where(programs.c.id.in_(numbers), ~has_report())
                count += int(connection.execute(gone).rowcount)
            # A job without programs ends when it is claimed; where no worker serves its queue, nobody does.
            connection.execute(_EMPTY_JOBS)
            return count

        return self.database.change(change)

    def count_of(self, course: str, student: str) -> int:
        """Return how many programs of a student (a pseudonym) are here, with and without a report."""
        mine = (programs.c.course == course, programs.c.student == student)
        with self.database.read() as connection:
            return int(connection.execute(sa.select(sa.func.count()).where(*mine)).scalar_one())

    def erase_student(self, course: str, student: str) -> int:
        """Delete all programs of a student (a pseudonym) with their reports; return how many there were.

        What a worker has in hand is graded to the end, and its report is dropped.
        """

        def change(connection: sa.Connection) -> int:
            mine = sa.delete(programs).where(programs.c.course == course, programs.c.student == student)
            count = int(connection.execute(mine).rowcount)
            connection.execute(_EMPTY_JOBS)
            return count

        return self.database.change(change)

    def waiting(self, course: str | None = None, chosen: Sequence[int] | None = None) -> list[int]:
        """Return the programs without a report: all, those of a course, or those among `chosen`."""
        query = sa.select(programs.c.id).where(~has_report()).order_by(programs.c.id)
        if course is not None:
            query = query.where(programs.c.course == course)
        if chosen is not None:
            query = query.where(programs.c.id.in_(chosen))
        with self.database.read() as connection:
            return [*connection.execute(query).scalars()]

    def pause(self, course: str, paused: bool = True) -> bool:
        """Let no worker begin work of a course, or let them again; return whether that is new."""
        change = sa.update(courses).where(courses.c.id == course, courses.c.paused != paused)
        statement = change.values(paused=paused)
        return bool(self.database.change(lambda connection: connection.execute(statement).rowcount))

    def set_weight(self, course: str, weight: int) -> None:
        """Give a course another weight, and what waits of it the places that it would have had by that."""

        def change(connection: sa.Connection) -> None:
            _lock_line(connection)
            mine = connection.execute(_BATCH_JOBS, {"name": f"{course}.%"}).all()
            values = {"weight": weight}
            if mine:
                # From its first chunk's place on: a change of weight is no way to the front.
                values["line_end"] = -mine[0].priority
            connection.execute(sa.update(courses).where(courses.c.id == course).values(values))
            places = _shares(connection, course, [row.size for row in mine]) if mine else []
            for row, place in zip(mine, places, strict=True):
                connection.execute(_PLACE_JOB, {"job": row.id, "priority": -place})

        self.database.change(change)


def _forget_others(
    connection: sa.Connection, common: Mapping[str, Any], keys: Iterable[tuple[str, ...]]
) -> None:
    """Take out programs that were handed over before, for workers that would judge them differently."""
    # They come again under new numbers: whoever has an old one in hand reports for nothing.
    if connection.execute(_FORGET_OTHERS, {**common, "keys": json.dumps([*keys])}).rowcount:
        connection.execute(_EMPTY_JOBS)


def _put_programs(
    connection: sa.Connection, common: Mapping[str, Any], handed: Sequence[ProgramForQueue]
) -> dict[tuple[str, ...], tuple[int, bool]]:
    """Store programs; return the number of each by its key, and whether it is new."""
    values = {**common, "handed": json.dumps([asdict(entry) for entry in handed])}
    rows = connection.execute(_PUT_PROGRAMS, values).all() if handed else ()
    return {(*key,): (int(number), bool(is_new)) for *key, number, is_new in rows}


def _batch_jobs(
    connection: sa.Connection,
    course: str,
    queue: str,
    groups: Iterable[Sequence[tuple[int, ProgramForQueue]]],
    size: int,
) -> list[Job]:
    """Return jobs of at most so many programs of one exercise each, with their places in the line."""
    # A student's programs side by side: one that fills the time of a slot holds up no second one.
    numbers = [
        [number for number, _ in sorted(group, key=lambda entry: (entry[1].student, entry[0]))]
        for group in groups
    ]
    chunks = [group[start : start + size] for group in numbers for start in range(0, len(group), size)]
    if not chunks:
        return []
    places = _shares(connection, course, [len(chunk) for chunk in chunks])
    return [_job(queue, chunk, -place, None) for chunk, place in zip(chunks, places, strict=True)]


def _shares(connection: sa.Connection, course: str, sizes: Sequence[int]) -> list[int]:
    """Return the places of a course's new chunks in the common line, and move the course's end in it."""
    rows = _lock_line(connection)
    front = sa.text("SELECT max(priority) FROM procrastinate_jobs WHERE status = 'todo' AND priority <= 0")
    first = connection.execute(front).scalar()
    if first is None:  # nobody waits: the line begins anew, before its numbers become too large
        connection.execute(sa.update(courses).values(line_end=0))
        end = 0
    else:
        end = next(row.line_end for row in rows if row.id == course)
    # A course that had nothing to do for a while gets no credit for it.
    place = max(end, -(first or 0))
    weight = next(row.weight for row in rows if row.id == course)
    places = []
    for size in sizes:
        places.append(min(place, _LAST_IN_LINE))
        place += max(1, size * _UNIT // weight)
    connection.execute(sa.update(courses).where(courses.c.id == course).values(line_end=place))
    return places


def _lock_line(connection: sa.Connection) -> Sequence[Any]:
    # All rows, always in one order: two courses that hand over at once never wait for each other in a ring.
    query = sa.select(courses.c.id, courses.c.weight, courses.c.line_end).order_by(courses.c.id)
    return connection.execute(query.with_for_update()).all()


def _job(queue: str, numbers: Sequence[int], priority: int, lock: str | None) -> Job:
    return Job(
        queue=queue,
        priority=priority,
        lock=lock,
        queueing_lock=None,
        task_name=TASK,
        task_kwargs={"programs": [*numbers]},
    )


def _move(connection: sa.Connection, numbers: Sequence[int], priority: int) -> None:
    """Give the waiting jobs of single programs another priority, unless it is lower already."""
    if numbers:
        statement = sa.text(
            "UPDATE procrastinate_jobs SET priority = :priority WHERE status = 'todo'"
            " AND priority > :priority AND (args->'programs'->>0)::bigint = ANY(:numbers)"
        )
        connection.execute(statement, {"priority": priority, "numbers": [*numbers]})


def _report(row: sa.RowMapping) -> QueueReport:
    key = tuple(row[name] for name in _KEY)
    return QueueReport(row["program"], row["report"], row["reason"], row["worker"], row["seconds"], key=key)
