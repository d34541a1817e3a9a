"""What is decided about single students (requests, more time, excuses), and the log of all decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.course.allowance_rules import rule_of
from engine.errors import UsageError
from engine.pages.class_pages import check_assignment
from engine.store.allowances import Allowance, AllowanceKind
from engine.store.student_requests import RequestKind, RequestState, StudentRequest
from engine.web.forms import whole_number
from engine.web.instructor.staff import (
    PAGE,
    StudentNames,
    choice,
    number_of,
    page_of,
    with_query,
)
from engine.web.visit import NotFoundError, Visit

if TYPE_CHECKING:
    from starlette.responses import Response

_LONGEST_REASON = 1000
_STATES = {"open": "open", "all": "all"}


def requests_page(visit: Visit) -> Response:
    """List what students ask for, the open ones first, each with what can be answered."""
    # Open ones wait for somebody: they are what the page is opened for.
    state = choice(visit, "show", list(_STATES), "open")
    requests = visit.site.store.requests.all(RequestState.OPEN if state == "open" else None)
    return visit.page(
        "instructor/requests.html.j2",
        requests=page_of(requests, visit),
        state=state,
        open=len(visit.site.store.requests.all(RequestState.OPEN)),
        names=StudentNames(visit),
        with_query=lambda **changes: with_query(visit, **changes),
    )


def decide_request(visit: Visit) -> Response:
    """Grant or refuse a request; an extension is given with the grant, in one transaction."""
    request = visit.site.store.requests.find(whole_number(visit.path["request"]))
    if request is None:
        raise NotFoundError("there is no such request")
    form = visit.form
    is_granted = form.text("decision") == "grant"
    answer = form.text("answer").replace("\r\n", "\n").strip()
    if not is_granted and form.text("decision") != "refuse":
        raise UsageError("say whether the request is granted", expected="grant or refuse")
    if not answer:
        raise UsageError("the student gets no answer", expected="a sentence that explains the decision")
    allowance = None
    # Only an extension can be given with the answer; another look at a mark takes a person.
    if is_granted and request.kind is RequestKind.EXTENSION:
        allowance = _allowance(visit, request.student, request.subject, reason=f"request {request.id}")
    decided = visit.site.store.requests.decide(
        request.id,
        granted=is_granted,
        answer=answer,
        by=visit.me.name or visit.me.id,
        now=visit.now,
        allowance=allowance,
    )
    _log_decision(visit, decided, allowance)
    visit.notice(f"The request is {decided.state}; the student sees your answer.")
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


def _allowance(visit: Visit, student: str, assignment: str | None, *, reason: str) -> Allowance:
    """Return what a form gives a student, checked as the command checks it."""
    form = visit.form
    due, days = form.text("due").strip() or None, form.text("days").strip()
    percent, is_excuse = form.text("percent").strip(), form.text("excuse") == "yes"
    if sum((due is not None, bool(days), bool(percent), is_excuse)) != 1:
        raise UsageError(
            "say what to allow, one thing at a time",
            expected="another due date, a number of days, more time in percent, or an excuse",
        )
    if days and not (whole_number(days) and 1 <= whole_number(days) <= 1000):
        raise UsageError("this isn't a number of days", expected="1 to 1000", got=days[:40])
    share = number_of(percent, "the extra time") if percent else None
    if share is not None and not 0 < share <= 1000:
        raise UsageError("this extra time isn't possible", expected="more than 0, at most 1000 percent")
    kind = AllowanceKind.EXCUSE if is_excuse else AllowanceKind.TIME if percent else AllowanceKind.DEADLINE
    allowance = Allowance(
        student,
        kind,
        visit.me.name or visit.me.id,
        visit.now,
        assignment,
        due,
        whole_number(days) if days else None,
        share,
        reason,
    )
    rule_of(allowance)  # refuses a date that there isn't before anything is stored
    return allowance


def allow_page(visit: Visit) -> Response:
    """Show what single students were allowed, and give one of them more."""
    site = visit.site
    student = visit.query.get("student", "")
    entries = site.store.allowances.history(student or None)
    return visit.page(
        "instructor/allow.html.j2",
        student=student,
        names=StudentNames(visit),
        entries=page_of(entries[::-1], visit),
        assignments=_assignments(visit),
        roster=[*site.state.roster.by_id],
        course_rules=site.course.policies,
        with_query=lambda **changes: with_query(visit, **changes),
    )


def _assignments(visit: Visit) -> list[str]:
    site = visit.site
    named = {*site.store.quiz_names(), *site.course.policies.named} - {"default"}
    # Exercises that nobody has tried yet can be named too, but needn't be listed: the bank has a hundred.
    answered = {item for item, _ in site.store.activity.item_versions(site.mode)}
    return [*sorted(named), *sorted(set(site.bank.code_ids()) & answered - named)]


def allow(visit: Visit) -> Response:
    """Give a student more time, another deadline or an excuse, as ``grade course allow`` does."""
    site = visit.site
    student = StudentNames(visit).student(visit.form.text("student").strip())
    assignment = visit.form.text("assignment") or None
    if assignment is not None:
        check_assignment(assignment, {*_assignments(visit), *site.bank.code_ids()})
    reason = visit.form.text("reason").strip()[:_LONGEST_REASON]
    allowance = site.store.allowances.add(_allowance(visit, student, assignment, reason=reason))
    visit.log(
        "allowance.add",
        assignment or "all assignments",
        student=student,
        kind=str(allowance.kind),
        due=allowance.due,
        days=allowance.days,
        percent=allowance.percent,
        reason=reason or None,
    )
    visit.notice("Saved. It applies at once, in running sittings too.")
    return visit.redirect("instructor.allow", student=student)


def take_back(visit: Visit) -> Response:
    """Withdraw an allowance: marks are again what they are without it."""
    entry = visit.site.store.allowances.withdraw(whole_number(visit.path["number"]), visit.now)
    visit.log("allowance.withdraw", entry.assignment or "all assignments", student=entry.student)
    visit.notice("Withdrawn.")
    return visit.redirect("instructor.allow", student=entry.student)


def log_page(visit: Visit) -> Response:
    """Show the log of decisions with its filters, and the jobs that are known."""
    log = visit.site.store.audit
    before = whole_number(visit.query.get("before", "")) or None
    filters = {
        name: visit.query[name].strip() for name in ("student", "by", "action") if visit.query.get(name)
    }
    entries = log.newest(PAGE + 1, before=before, **filters)  # one more tells whether there is another page
    return visit.page(
        "instructor/log.html.j2",
        entries=entries[:PAGE],
        older=entries[PAGE - 1][0] if len(entries) > PAGE else None,
        before=before,
        actions=log.actions(),
        filters=filters,
        jobs=visit.site.jobs.all(),
        names=StudentNames(visit),
        person_name=lambda person: _name(visit, person),
        with_query=lambda **changes: with_query(visit, **changes),
    )


def _name(visit: Visit, person: str) -> str:
    known = visit.site.people.by_id.get(person)
    return known.name if known is not None and known.name else person or "the site"
