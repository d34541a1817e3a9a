"""What students ask for, and what staff answer: another look at a mark, or more time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from engine.errors import UsageError
from engine.pages.render import points
from engine.store.allowances import Allowance
from engine.store.student_requests import RequestKind, RequestState, StudentRequest
from engine.web.forms import whole_number
from engine.web.instructor.decisions import allowance_of
from engine.web.instructor.live_table import live_table
from engine.web.instructor.person_fields import fault_of
from engine.web.instructor.staff import StudentNames, choice, page_of, with_query
from engine.web.request_facts import facts_of, given_text
from engine.web.visit import NotFoundError, Visit

if TYPE_CHECKING:
    from starlette.responses import Response

_STATES = ("open", "all")


def requests_page(
    visit: Visit, answered: StudentRequest | None = None, error: UsageError | None = None
) -> Response:
    """List what students ask for, the open ones first, each with what can be answered.

    Parameters
    ----------
    visit : Visit
    answered : StudentRequest, optional
        The one whose answer can't be taken: its form comes back as it was filled in.
    error : UsageError, optional
        Why.
    """
    # Open ones wait for somebody: they are what the page is opened for.
    state = choice(visit, "show", _STATES, "open")
    store = visit.site.store.requests
    waiting = store.all(RequestState.OPEN)
    requests = waiting if state == "open" else store.all()
    # On a long list the one in question could be on another page.
    page = page_of([answered] if answered is not None else requests, visit)
    return visit.page(
        "instructor/requests.html.j2",
        status=200 if error is None else 400,
        requests=page,
        facts=facts_of(visit.site, page.entries),
        marks=_marks(visit, page.entries),
        given_text=given_text,
        answered=answered.id if answered is not None else None,
        fault=None if error is None else fault_of(error),
        state=state,
        open=len(waiting),
        names=StudentNames(visit),
        with_query=lambda **changes: with_query(visit, "instructor.requests", **changes),
    )


def _marks(visit: Visit, requests: Iterable[StudentRequest]) -> dict[int, str]:
    """Return what counts now, in words, for each request that is about a mark."""
    about_marks = [request for request in requests if request.kind is RequestKind.REGRADE]
    if not about_marks:
        return {}
    table = live_table(visit.site, may_lag=True).table
    maxima = {column.id: column.max_score for column in table.columns}
    rows = {row.student: row for row in table.rows}
    marks = {}
    for request in about_marks:
        row = rows.get(request.student)
        cell = row.cells.get(request.subject) if row is not None else None
        if cell is not None and request.subject in maxima:
            is_excused = cell.mark is not None and cell.mark.excused
            marks[request.id] = "excused" if is_excused else points(cell.counted, maxima[request.subject])
    return marks


def decide_request(visit: Visit) -> Response:
    """Grant or refuse a request; an extension is given and the log written with it, in one transaction."""
    request = visit.site.store.requests.find(whole_number(visit.path["request"]))
    if request is None:
        raise NotFoundError("there is no such request")
    form = visit.form
    is_granted = form.text("decision") == "grant"
    answer = form.text("answer").replace("\r\n", "\n").strip()
    allowance = None
    try:
        if not is_granted and form.text("decision") != "refuse":
            raise UsageError("say whether the request is granted", expected="grant or refuse")
        if not answer:
            raise UsageError("the student gets no answer", expected="a sentence that explains the decision")
        # Only an extension can be given with the answer; another look at a mark takes a person.
        if is_granted and request.kind is RequestKind.EXTENSION:
            allowance = allowance_of(visit, request.student, request.subject, reason=f"request {request.id}")
    except UsageError as error:
        return requests_page(visit, request, error)
    store = visit.site.store
    with store.one_transaction():
        decided = store.requests.decide(
            request.id,
            granted=is_granted,
            answer=answer,
            by=visit.me.name or visit.me.id,
            now=visit.now,
            allowance=allowance,
        )
        _log_decision(visit, decided, allowance)
    extra = f" with {given_text(allowance)}" if allowance is not None else ""
    visit.notice(f"The request is {decided.state}{extra}; the student sees your answer.")
    if is_granted and request.kind is RequestKind.REGRADE:
        # Granting promises another look: the page where it is taken comes next.
        return visit.redirect("instructor.class.work", student=request.student, column=request.subject)
    return visit.redirect("instructor.requests")


def _log_decision(visit: Visit, request: StudentRequest, allowance: Allowance | None) -> None:
    visit.log(
        f"request.{request.state}",
        request.subject,
        student=request.student,
        request=request.id,
        days=allowance.days if allowance else None,
        due=allowance.due if allowance else None,
    )
