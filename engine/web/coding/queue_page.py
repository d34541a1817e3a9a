"""What waits to be graded, for those who run the course: here, and in the queue of several machines.

Other courses may share that queue. Of their work this page has numbers only: no titles, exercises or reasons;
and workers that grade for them too aren't ended here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from engine.errors import StoreError, UsageError
from engine.store.waiting import HandInState
from engine.text.words import clean_line, count_noun, rough_time
from engine.web.forms import whole_number
from engine.web.instructor.staff import StudentNames
from engine.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

    from engine.cluster.course_side import CourseQueue
    from engine.cluster.queue_state import AsideProgram, QueueOverview, QueueShare, WorkerState

_LONGEST_REASON: Final = 400
_MOST_WAITING: Final = 200  # lines: more are a deadline's rush, which nobody reads


@dataclass(frozen=True, slots=True)
class CourseQueueView:
    """The queue of several machines as one course may see it.

    Parameters
    ----------
    mine : QueueShare
    others, others_waiting, others_aside : int
        Other courses of the queue, their programs without a report, and those that were set aside.
    workers : tuple of WorkerState
    why_not : mapping of int to str
        Worker → why it takes nothing of this course; those that do are left out.
    aside : tuple of AsideProgram
        This course's, a hundred at most.
    students : mapping of str to str
        Pseudonym → student, of those.
    reasons : tuple of str
        Why this course's work isn't taken.
    per_minute : float
        Reports of all workers.
    """

    mine: QueueShare
    others: int
    others_waiting: int
    others_aside: int
    workers: tuple[WorkerState, ...]
    why_not: Mapping[int, str]
    aside: tuple[AsideProgram, ...]
    students: Mapping[str, str]
    reasons: tuple[str, ...]
    per_minute: float

    @property
    def is_shared(self) -> bool:
        """Whether workers grade for other courses too."""
        return self.others > 0

    def fault(self, worker: WorkerState) -> str:
        """Return why a worker fails, as far as this course may know it."""
        # The reason may name an exercise, and nothing says whose it is.
        return "" if self.is_shared else worker.fault or ""

    @property
    def left_s(self) -> float | None:
        """Roughly how many seconds the workers need for all that waits; None where nobody knows."""
        length = self.mine.interactive + self.mine.batch + self.mine.drawing + self.others_waiting
        return 60.0 * length / self.per_minute if length and self.per_minute >= 0.1 else None


def _view(visit: Visit, course_queue: CourseQueue) -> CourseQueueView:
    from engine.cluster.fingerprint import QueueName, pseudonym
    from engine.cluster.queue_state import read_queue

    state: QueueOverview = read_queue(course_queue.queue.database, course_queue.course)
    mine = state.course(course_queue.course)
    others = [course for course in state.courses if course.id != mine.id]
    course_standing = visit.site.hand_in_desk.course_standing()
    reasons = [] if course_standing is None else [*course_standing.reasons]
    # Work of an earlier version of the course or of Softmark may wait in a queue of another name.
    reasons += [why for work in state.unserved if work.course == mine.id for why in work.reasons]
    name = QueueName.parse(course_queue.name)
    assert name is not None
    refusals = {w.number: name.why_not(w.tier, w.packages, w.engine) for w in state.workers}
    secret = visit.site.course.secret()
    everybody = StudentNames(visit).everybody() if state.aside else []
    return CourseQueueView(
        mine=mine,
        others=len(others),
        others_waiting=sum(course.interactive + course.batch + course.drawing for course in others),
        others_aside=sum(course.set_aside for course in others),
        workers=state.workers,
        why_not={number: why for number, why in refusals.items() if why},
        aside=state.aside,
        students={pseudonym(secret, student): student for student in everybody},
        reasons=tuple(dict.fromkeys(reasons)),
        per_minute=state.per_minute,
    )


def queue(visit: Visit) -> Response:
    """Show all hand-ins of code that have no grade yet, and who grades them."""
    waiting, hand_in_desk = visit.site.store.waiting, visit.site.hand_in_desk
    open_ones = waiting.in_state([HandInState.WAITING, HandInState.RUNNING])
    view, fault = None, hand_in_desk.fault
    if hand_in_desk.queue_address is not None:
        try:
            view = _view(visit, hand_in_desk.course_queue())
        # Of the queue's tables, which may lack this course since a backup was restored. Those of the store
        # make the page impossible.
        except (StoreError, UsageError) as error:
            fault = fault or error.in_one_line()
    course_standing = hand_in_desk.course_standing()
    return visit.page(
        "coding/queue.html.j2",
        open_ones=open_ones[:_MOST_WAITING],
        count=len(open_ones),
        aside=waiting.in_state([HandInState.SET_ASIDE]),
        place=hand_in_desk.place,
        in_queue=lambda hand_in: (
            None if course_standing is None else hand_in_desk.program(hand_in, course_standing)
        ),
        elsewhere=hand_in_desk.queue_address is not None,
        slots=hand_in_desk.slots,
        fault=fault,
        view=view,
        names=StudentNames(visit),
        rough_time=rough_time,
        reason_of=lambda program: clean_line(program.reason, _LONGEST_REASON),
        title_of=visit.site.bank.title_of,
    )


def try_again(visit: Visit) -> Response:
    """Let a hand-in that was set aside wait again."""
    store = visit.site.store
    hand_in = store.waiting.find(whole_number(visit.form.text("hand_in")))
    with store.one_transaction():
        if hand_in is None or not store.waiting.try_again(hand_in.id):
            raise UsageError("this hand-in isn't set aside", next_step="reload the list")
        visit.log("code.try_again", hand_in.item, student=hand_in.student, submission=hand_in.submission)
    visit.notice("It is back in the queue.")
    return visit.redirect("instructor.queue")


def _change_queue(visit: Visit, change: Callable[[CourseQueue], str]) -> Response:
    """Change something in the queue of several machines, and say what became of it."""
    hand_in_desk = visit.site.hand_in_desk
    if hand_in_desk.queue_address is None:
        raise UsageError(
            "this site grades on its own machine: there is no queue of several machines",
            next_step="start it with --cluster (docs/scaling.md)",
        )
    # Two databases have no common transaction: where the queue refuses, at least the entry is taken back.
    with visit.site.store.one_transaction():
        visit.notice(change(hand_in_desk.course_queue()))
    return visit.redirect("instructor.queue")


def set_paused(visit: Visit) -> Response:
    """Let workers begin nothing more of this course, or let them again."""
    paused = visit.form.text("paused") == "yes"

    def change(course_queue: CourseQueue) -> str:
        visit.log("queue.pause" if paused else "queue.resume", visit.site.course.title)
        is_new = course_queue.queue.pause(course_queue.course, paused)
        if not is_new:
            return "It was paused already." if paused else "It wasn't paused."
        return (
            "Paused: workers begin nothing more of this course. What they have in hand is graded."
            if paused
            else "Resumed: workers begin this course's programs again."
        )

    return _change_queue(visit, change)


def retry(visit: Visit) -> Response:
    """Let this course's programs that no worker could grade wait again: one, or all of them."""
    chosen = whole_number(visit.form.text("program"))

    def change(course_queue: CourseQueue) -> str:
        line, course = course_queue.queue, course_queue.course
        numbers = line.set_aside(course) if visit.form.text("all") == "yes" else [chosen]
        waiting = line.try_again(numbers, course)
        if not waiting:
            raise UsageError("this program isn't set aside", next_step="reload the page")
        visit.log("queue.retry", "programs that were set aside", programs=len(waiting))
        return f"Back in the queue: {count_noun(len(waiting), 'program')}."

    return _change_queue(visit, change)


def drain(visit: Visit) -> Response:
    """Have a worker end after what it has in hand, where it grades for this course only."""
    number = whole_number(visit.form.text("worker"))

    def change(course_queue: CourseQueue) -> str:
        from engine.cluster.work_queue import WorkQueue

        view = _view(visit, course_queue)
        if view.is_shared:
            raise UsageError(
                "this worker grades for other courses too",
                next_step=f"ask whoever looks after the queue: grade queue drain {number}",
            )
        worker = next((worker for worker in view.workers if worker.number == number), None)
        if worker is None:
            raise UsageError("this worker isn't in the queue any more", next_step="reload the page")
        visit.log("queue.drain", worker.name)
        WorkQueue(course_queue.queue.database).drain([number])
        return f"{clean_line(worker.name)} ends after what it has in hand."

    return _change_queue(visit, change)
