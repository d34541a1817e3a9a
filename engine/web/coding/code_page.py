"""The page of a code exercise: read it, hand in, and read the feedback on the same page."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.errors import InputError, UsageError
from engine.intake.download_entries import archive_suffix
from engine.intake.uploads import read_typed, read_upload
from engine.marks.late_work import terms_of
from engine.model import CodeSubmission, Mode
from engine.runs.hand_in_queue import QueuePlace
from engine.store.waiting import HandInState, QueuedHandIn
from engine.text.words import agree, count_noun
from engine.web.coding.exercise_view import (
    ExerciseView,
    assigned_spec,
    exercise_view,
    is_early,
    permission,
    starter_of,
    statement,
    which_counts,
)
from engine.web.forms import whole_number
from engine.web.visit import NotFoundError, Visit

if TYPE_CHECKING:
    from starlette.responses import Response

    from engine.cluster.program_standing import CourseStanding, ProgramStanding

# On a warm server a program is graded in less: then the page after the upload has the feedback already.
_PATIENCE_S: Final = 0.9
_TYPED: Final = "typed"
# In this process; whoever comes then waits for so long.
_UNPACKING: Final = threading.BoundedSemaphore(4)
_UNPACKING_S: Final = 5.0


def exercise(visit: Visit) -> Response:
    """Show an exercise with what was handed in; ``submission`` in the address chooses which feedback."""
    item = visit.path["item"]
    view = exercise_view(visit, item)
    visit.site.hand_in_desk.expect(item)
    return _page(visit, view, chosen=visit.query.get("submission"))


def hand_in(visit: Visit) -> Response:
    """Take a program in, and show the exercise again: with the feedback if that doesn't take long."""
    item = visit.path["item"]
    spec, answer = assigned_spec(visit, item)
    student, mode = visit.me.id, visit.site.mode
    terms = terms_of(visit.site.policies(), student, item)

    def permit(times: Sequence[datetime]) -> None:
        allowed = permission(visit, terms, times)
        if not allowed.is_open:
            raise UsageError(allowed.sentence.removesuffix("."))

    try:
        if visit.me.is_staff:
            raise UsageError(
                "only students hand in here: hand-ins count in the gradebook",
                next_step=f"try an exercise with `grade submit {item} FILE`",
            )
        submission = _submission(visit, answer.function)
        if visit.site.store.graded(student, item, submission.sha256, mode) is not None:
            visit.notice(
                "You handed in exactly this before. This is its result; it costs no further attempt."
            )
            return visit.redirect("student.exercise", item=item, submission=submission.sha256)
        number = visit.site.hand_in_desk.hand_in(student, item, submission, mode, permit)
    except InputError as error:
        typed = visit.form.text("code") if visit.form.text("way") == _TYPED else None
        return _page(visit, exercise_view(visit, item), fault=error, typed=typed)
    visit.log("code.hand_in", item, student=student, submission=submission.sha256)
    queued = visit.site.store.waiting.find(number)
    if queued is not None and queued.state is HandInState.SET_ASIDE:
        visit.notice("You handed in exactly this before. It couldn't be graded, and staff will look at it.")
    visit.site.hand_in_desk.wait_for(number, _PATIENCE_S)
    return visit.redirect("student.exercise", item=spec.id, handed=number)


def state(visit: Visit) -> Response:
    """Say how far a hand-in is, for the page's script."""
    queued = _my_hand_in(visit)
    progress = _progress(visit, queued)
    return visit.json({"open": queued.is_open, "text": progress.text, "held": progress.is_held})


def starter(visit: Visit) -> Response:
    """Send the file that students begin with, as a Python file or as a notebook."""
    from starlette.responses import Response as PlainResponse

    from engine.practice.starter import starter_notebook, starter_source

    form = visit.path["form"]
    if form not in ("py", "ipynb") or is_early(visit, visit.path["item"]):
        raise NotFoundError()
    spec, answer = assigned_spec(visit, visit.path["item"])
    variant, source = statement(visit, spec), starter_of(visit, spec, answer)
    is_notebook = form == "ipynb"
    text = (
        starter_notebook(variant, spec.stem, source, ())
        if is_notebook
        else starter_source(variant, source, ())
    )
    kind = "application/x-ipynb+json" if is_notebook else "text/x-python"
    headers = {"Content-Disposition": f'attachment; filename="{answer.function}.{form}"'}
    return PlainResponse(text, media_type=f"{kind}; charset=utf-8", headers=headers)


def _my_hand_in(visit: Visit) -> QueuedHandIn:
    queued = visit.site.store.waiting.find(whole_number(visit.path["number"]))
    if queued is None or queued.student != visit.me.id or queued.item != visit.path["item"]:
        raise NotFoundError()
    return queued


def _submission(visit: Visit, function: str) -> CodeSubmission:
    with tempfile.TemporaryDirectory(prefix="softmark-") as work:
        if visit.form.text("way") == _TYPED:
            return read_typed(visit.form.text("code"), f"{function}.py", Path(work))
        files = [(file.name, file.path) for name in ("files", "folder") for file in visit.form.files(name)]
        with _room_to_unpack(files):
            return read_upload(files, function, Path(work))


@contextmanager
def _room_to_unpack(files: Sequence[tuple[str, Path]]) -> Iterator[None]:
    """Let few archives be unpacked at the same time: each may need as much room as the largest hand-in."""
    if not any(archive_suffix(name) for name, _ in files):
        yield
        return
    if not _UNPACKING.acquire(timeout=_UNPACKING_S):
        raise UsageError(
            "too many archives are being unpacked right now",
            next_step="try again in a few seconds, or hand in the .py file alone",
        )
    try:
        yield
    finally:
        _UNPACKING.release()


def _page(
    visit: Visit,
    view: ExerciseView,
    *,
    chosen: str | None = None,
    fault: InputError | None = None,
    typed: str | None = None,
) -> Response:
    status = 200 if fault is None else 400
    if is_early(visit, view.spec.id):
        return visit.page("coding/early.html.j2", status=status, view=view, fault=fault)
    line = next((line for line in view.lines if line.submission == chosen), None)
    if chosen is not None and line is None:
        raise NotFoundError("there is no such hand-in")
    if line is None and view.open is None and view.lines:
        line = view.lines[0]
    times = visit.site.store.waiting.times(visit.me.id, view.spec.id, visit.site.mode)
    allowed = permission(visit, view.terms, times)
    attempts = view.terms.rules.attempts
    # Nobody is told to try again where that isn't possible any more.
    says_what_counts = visit.site.mode is Mode.MARKS and (allowed.is_open or attempts.count is not None)
    return visit.page(
        "coding/exercise.html.j2",
        status=status,
        view=view,
        line=line,
        fault=fault,
        closed=None if allowed.is_open else allowed.sentence,
        counting=which_counts(attempts) if says_what_counts else "",
        limits=allowed.sentence if allowed.is_open else "",
        used=len(times),
        progress=None if view.open is None else _progress(visit, view.open),
        typed=typed,
        # While something waits, a page without script looks again by itself, and must not lose typed text.
        is_writing="write" in visit.query or fault is not None,
        was_handed="handed" in visit.query,
        grader_fault=visit.site.hand_in_desk.fault,
    )


@dataclass(frozen=True, slots=True)
class HandInProgress:
    """How far a hand-in is, in a sentence; `is_held`: nothing goes on until somebody does something."""

    text: str
    is_held: bool = False


# By the queue's hold; of a student's code nobody needs to know which versions or sandboxes don't fit.
_HOLD_SENTENCES = {
    "paused": "Grading is paused for this course. Your code is safe, and will be graded when the people who "
    "run the course resume it."
}
_NO_MACHINE = (
    "No machine is grading for this course at the moment. Your code is safe, and will be graded as soon as "
    "one does; you needn't keep this page open."
)
_GRADING = HandInProgress("Your code is being graded.")
_WAITS = "Handed in; it waits to be graded."


def _progress(visit: Visit, queued: QueuedHandIn) -> HandInProgress:
    hand_in_desk = visit.site.hand_in_desk
    if queued.state is HandInState.SET_ASIDE:
        return HandInProgress("This couldn't be graded; staff will look at it.", is_held=True)
    if queued.state is HandInState.DONE:
        return HandInProgress("Graded.")
    if hand_in_desk.fault is not None:
        return HandInProgress(_WAITS, is_held=True)
    place, course = hand_in_desk.place(queued.id), hand_in_desk.course_standing()
    if course is not None:
        return _progress_elsewhere(queued, place, course, hand_in_desk.program(queued, course))
    if hand_in_desk.queue_address is not None:
        return HandInProgress(_WAITS)
    if queued.state is HandInState.RUNNING or (place is not None and not place.position):
        return _GRADING
    if place is None:
        return HandInProgress(_WAITS)
    return _in_line(place.position - 1, place.waiting_s)


def _progress_elsewhere(
    queued: QueuedHandIn,
    place: QueuePlace | None,
    course: CourseStanding,
    program: ProgramStanding | None,
) -> HandInProgress:
    """Say how far a hand-in is that other machines grade: begun here means handed over to them."""
    if program is not None and program.is_in_hand and not program.is_lost:
        return _GRADING
    stopped = (
        "The machine that was grading your code stopped. "
        if program is not None and (program.is_lost or program.losses)
        else ""
    )
    if course.hold is not None:
        return HandInProgress(stopped + _HOLD_SENTENCES.get(course.hold, _NO_MACHINE), is_held=True)
    if program is not None and program.is_lost:
        return HandInProgress(f"{stopped}Another one takes over within a minute.")
    if program is not None and program.rests:
        return HandInProgress(
            "A machine failed to grade your code, and your code isn't the reason. It will be tried again in "
            "some seconds."
        )
    if program is not None:
        line = _in_line(program.ahead)
        return replace(line, text=f"{stopped}Another one grades it as soon as it can.") if stopped else line
    if queued.state is HandInState.RUNNING or place is None:  # it is just being handed over, or collected
        return HandInProgress(_WAITS)
    return _in_line(course.waiting + place.position - 1, place.waiting_s)


def _in_line(ahead: int, waiting_s: float | None = None) -> HandInProgress:
    where = (
        "It is next in line"
        if not ahead
        else f"{count_noun(ahead, 'hand-in')} {agree(ahead, 'are')} ahead of it"
    )
    estimate = "" if waiting_s is None else f": {_roughly(waiting_s)}"
    return HandInProgress(f"Handed in. {where}{estimate}.")


def _roughly(seconds: float) -> str:
    if seconds < 3:
        return "a moment"
    if seconds < 90:
        return f"roughly {count_noun(max(5, round(seconds / 5) * 5), 'second')}"
    return f"roughly {count_noun(round(seconds / 60), 'minute')}"
