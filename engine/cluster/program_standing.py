"""Where a course's programs stand in the queue, for those who wait: so many before, or why nothing moves.

It is one look at what somebody waits for, and not at classes: cheap enough to be taken every second.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import sqlalchemy as sa

from engine.cluster.fingerprint import QueueName
from engine.cluster.queue_tables import courses
from engine.cluster.work_queue import DEAD_AFTER_S, IS_SILENT
from engine.store.database import Database
from engine.text.words import clean_line

# A program's student (a pseudonym), exercise and hash.
ProgramKey = tuple[str, str, str]


class QueueHold(StrEnum):
    """Why no worker begins anything of a course."""

    PAUSED = "paused"
    NO_WORKER = "no worker"
    NOT_TAKEN = "not taken"


@dataclass(frozen=True, slots=True)
class ProgramStanding:
    """Where one program stands.

    Parameters
    ----------
    ahead : int
        Programs of all courses that are begun before it; 0 once it is begun.
    silent_s : float or None
        Since the last heartbeat of the worker that has it in hand; None where none has.
    losses : int
        Workers that died with it in hand.
    rests : bool
        A machine failed to grade it, and it waits a few seconds for the next try.
    dead_after_s : float
        Seconds of silence after which that worker is taken for dead.
    """

    ahead: int
    silent_s: float | None
    losses: int
    rests: bool
    dead_after_s: float = DEAD_AFTER_S

    @property
    def is_in_hand(self) -> bool:
        """Whether a worker has begun it."""
        return self.silent_s is not None

    @property
    def is_lost(self) -> bool:
        """Whether its worker has been silent for so long that another one takes it over."""
        return self.silent_s is not None and self.silent_s > self.dead_after_s


@dataclass(frozen=True, slots=True)
class CourseStanding:
    """What those who wait for a course's programs may know.

    Parameters
    ----------
    hold : QueueHold or None
        Why no worker begins anything of the course; None where one does.
    reasons : tuple of str
        The same for those who look after it.
    waiting : int
        Programs of all courses for which somebody waits, and that no worker has begun.
    programs : mapping of ProgramKey to ProgramStanding
        Those of the course for which somebody waits.
    """

    hold: QueueHold | None = None
    reasons: tuple[str, ...] = ()
    waiting: int = 0
    programs: Mapping[ProgramKey, ProgramStanding] = field(default_factory=dict)


# What workers begin next, in their order; those of paused courses make way. Only programs for which somebody
# waits are looked up among the jobs: a class's are thousands.
_PROGRAMS = sa.text(
    "WITH line AS (SELECT j.args, j.status, j.worker_id, j.scheduled_at,"
    " coalesce(sum(CASE WHEN j.status = 'todo' AND NOT c.paused"
    " THEN jsonb_array_length(j.args->'programs') ELSE 0 END)"
    " OVER (ORDER BY j.priority DESC, j.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS ahead"
    " FROM procrastinate_jobs j JOIN courses c ON c.id = split_part(j.queue_name, '.', 1)"
    " WHERE j.status IN ('todo', 'doing'))"
    " SELECT p.student, p.item, p.submission, p.losses, line.ahead, line.status = 'doing' AS in_hand,"
    " p.tries > 0 AND line.scheduled_at > now() AS rests,"
    " extract(epoch FROM now() - w.last_heartbeat) AS silent_s, w.dead_after_s"
    " FROM programs p JOIN line ON line.args->'programs' @> to_jsonb(p.id)"
    " LEFT JOIN procrastinate_workers w ON w.id = line.worker_id"
    " WHERE p.course = :course AND p.interactive"
    " AND NOT EXISTS (SELECT 1 FROM reports r WHERE r.program = p.id)"
)
_WAITING = sa.text(
    "SELECT coalesce(sum(jsonb_array_length(j.args->'programs')), 0) FROM procrastinate_jobs j"
    " JOIN courses c ON c.id = split_part(j.queue_name, '.', 1)"
    " WHERE j.status = 'todo' AND j.priority > 0 AND NOT c.paused"
)


def read_standing(database: Database, queue: str) -> CourseStanding:
    """Return where the programs of a queue's course stand now.

    Parameters
    ----------
    database : Database
        As :func:`engine.cluster.queue_tables.open_queue_database` returns it.
    queue : str
        Name of the queue into which the course hands over.

    Raises
    ------
    StoreError
        The database can't be asked.
    """
    course = queue.partition(".")[0]
    with database.snapshot() as connection:
        hold, reasons = read_hold(connection, queue)
        return CourseStanding(
            hold,
            reasons,
            int(connection.execute(_WAITING).scalar_one()),
            {
                (row.student, row.item, row.submission): ProgramStanding(
                    ahead=0 if row.in_hand else int(row.ahead),
                    # A worker that has been removed as dead has no heartbeat any more.
                    silent_s=float(row.silent_s or 0.0) if row.in_hand else None,
                    losses=row.losses,
                    rests=bool(row.rests),
                    dead_after_s=float(row.dead_after_s or DEAD_AFTER_S),
                )
                for row in connection.execute(_PROGRAMS, {"course": course})
            },
        )


def read_hold(connection: sa.Connection, queue: str) -> tuple[QueueHold | None, tuple[str, ...]]:
    """Return why no worker begins anything of a queue, and that in sentences; None where one does.

    Parameters
    ----------
    connection : sqlalchemy.Connection
        To the queue's tables.
    queue : str
        Name of the queue.
    """
    course = queue.partition(".")[0]
    if connection.execute(sa.select(courses.c.paused).where(courses.c.id == course)).scalar():
        return QueueHold.PAUSED, ("the course is paused in the queue",)
    alive = [(*row,) for row in connection.execute(_TAKING)]
    if not alive:
        return QueueHold.NO_WORKER, ("no worker is running",)
    reasons = why_not_taken(queue, alive)
    return (None, ()) if reasons is None else (QueueHold.NOT_TAKEN, reasons)


# Each by its own patience, which it told the queue.
_TAKING = sa.text(
    "SELECT f.name, f.tier, f.packages, f.engine FROM workers f JOIN procrastinate_workers w ON w.id = f.id"
    f" WHERE NOT f.draining AND NOT ({IS_SILENT}) ORDER BY f.name, f.id"
)


def why_not_taken(queue: str, alive: Iterable[tuple[str, str, str, str]]) -> tuple[str, ...] | None:
    """Return why each worker takes no work of a queue, in sentences; None where one of them does.

    Parameters
    ----------
    queue : str
    alive : iterable of tuple of str
        Of each worker its name, its tier, and the fingerprints of its packages and its engine.
    """
    name = QueueName.parse(queue)
    if name is None:
        return ("its queue has a name of another version of Softmark",)
    reasons = [(worker, name.why_not(*kind)) for worker, *kind in alive]
    if any(reason is None for _, reason in reasons):
        return None
    return tuple(f"worker {clean_line(w)} doesn't take this work: {reason}" for w, reason in reasons)
