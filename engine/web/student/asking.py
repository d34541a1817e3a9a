"""What a student asks for: another look at a mark, or more time; and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.errors import InputError
from engine.marks.assignments import AssignmentState, assignments_of
from engine.pages.feedback import FeedbackEntry, feedback_view
from engine.pages.render import points
from engine.store.student_requests import RequestKind, StudentRequest
from engine.web.forms import whole_number
from engine.web.request_facts import facts_of, given_text
from engine.web.visit import NotFoundError, Visit

if TYPE_CHECKING:
    from starlette.responses import Response

# In words of the page; a store has the states' own names.
_STATES = {
    "open": ("waiting for an answer", "waiting"),
    "granted": ("✓ granted", "right"),
    "refused": ("✗ refused", "wrong"),
    "withdrawn": ("– withdrawn by you", "waiting"),
}


def requests(visit: Visit) -> Response:
    """Show what was asked and answered, with the forms to ask; a form that is sent asks."""
    return _page(visit) if visit.method == "GET" else _ask(visit)


def _page(visit: Visit, error: InputError | None = None) -> Response:
    entries = _my_entries(visit)
    subjects = _subjects(visit, entries)
    mine = visit.site.store.requests.of_student(visit.me.id)
    source = visit.query if visit.method == "GET" else {}
    kind = source.get("kind") or visit.form.text("kind")
    return visit.page(
        "student/requests.html.j2",
        status=200 if error is None else 400,
        requests=mine,
        states=_STATES,
        subjects=subjects,
        facts=facts_of(visit.site, mine),
        marks=_marks(entries),
        given_text=given_text,
        kind=kind if kind in subjects else "",
        subject=source.get("subject") or visit.form.text("subject"),
        text=visit.form.text("text"),
        error=error,
    )


def _my_entries(visit: Visit) -> Sequence[FeedbackEntry]:
    results = next(iter(visit.site.results([visit.me.id])), None)
    return feedback_view(results).entries if results is not None else ()


def _marks(entries: Sequence[FeedbackEntry]) -> dict[str, str]:
    """Return what counts now in each column whose points the student may see, in words."""
    return {
        entry.column.id: points(entry.points, entry.column.max_score)
        for entry in entries
        if entry.points is not None and not entry.provisional
    }


def _subjects(visit: Visit, entries: Sequence[FeedbackEntry]) -> dict[str, list[tuple[str, str]]]:
    """Return what can be asked about, each with its title: columns with a result, and all work."""
    site, me = visit.site, visit.me.id
    columns = [
        (
            entry.column.id,
            f"{entry.column.title} ({entry.column.place})" if entry.column.place else entry.column.title,
        )
        for entry in entries
        if entry.item is not None and not entry.is_excused
    ]
    statuses = assignments_of(me, site.store, site.policies(), site.bank, mode=site.mode, now=visit.now)
    waiting = [(s.name, s.title) for s in statuses if s.state is not AssignmentState.EXCUSED]
    return {"regrade": columns, "extension": waiting}


def _ask(visit: Visit) -> Response:
    kind, subject = visit.form.text("kind"), visit.form.text("subject")
    known = {name for name, _ in _subjects(visit, _my_entries(visit)).get(kind, ())}
    try:
        # A forged form, or one about work from which the student was excused meanwhile.
        if subject not in known:
            raise InputError(
                "the request doesn't say what it is about",
                next_step="choose an entry from the list, and send it again",
            )
        store, text = visit.site.store, visit.form.text("text")
        with store.one_transaction():
            request = store.requests.ask(visit.me.id, RequestKind(kind), subject, text, visit.now)
            visit.log("request.asked", subject, student=visit.me.id, kind=kind, request=request.id)
    except InputError as error:
        return _page(visit, error)
    visit.notice("Your request has been sent. The answer will appear here.")
    return visit.redirect("student.requests")


def withdraw(visit: Visit) -> Response:
    """Withdraw an open request."""
    request = _mine(visit)
    store = visit.site.store
    with store.one_transaction():
        store.requests.withdraw(request.id, visit.me.id, visit.now)
        visit.log("request.withdrawn", request.subject, student=visit.me.id, request=request.id)
    visit.notice("Your request is withdrawn.")
    return visit.redirect("student.requests")


def _mine(visit: Visit) -> StudentRequest:
    # Whether somebody else has a request of this number is nobody's business.
    request = visit.site.store.requests.find(whole_number(visit.path["request"]))
    if request is None or request.student != visit.me.id:
        raise NotFoundError("there is no such request")
    return request
