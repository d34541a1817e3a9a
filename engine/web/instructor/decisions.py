"""What single students are given: more time, other deadlines, excuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.course.allowance_rules import rule_of
from engine.errors import UsageError
from engine.pages.class_pages import check_assignment
from engine.store.allowances import Allowance, AllowanceKind
from engine.web.forms import whole_number
from engine.web.instructor.person_fields import (
    fault_of,
    known_students,
    search_students,
    student_named,
)
from engine.web.instructor.staff import StudentNames, number_of, page_of, with_query
from engine.web.request_facts import given_text
from engine.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

_LONGEST_REASON = 1000


def allowance_of(visit: Visit, student: str, assignment: str | None, *, reason: str) -> Allowance:
    """Return what a form gives a student, checked as the command checks it."""
    form = visit.form
    due, days = form.moment("due") or None, form.text("days").strip()
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


def allow_page(visit: Visit, error: UsageError | None = None) -> Response:
    """Show what single students were allowed, and give one of them more; `error` is that of its form."""
    site = visit.site
    student = visit.query.get("student", "")
    if student and len(people := search_students(visit).matches(student)) == 1:
        student = people[0].id
    entries = site.store.allowances.history(student or None)
    form = visit.form
    return visit.page(
        "instructor/allow.html.j2",
        status=200 if error is None else 400,
        student=student,
        names=StudentNames(visit),
        entries=page_of(entries[::-1], visit),
        assignments=_assignment_titles(visit),
        people=known_students(visit),
        given_text=given_text,
        # What was typed comes back with a form that is refused.
        typed=form.text("student") or student,
        error=error,
        fault=None if error is None else fault_of(error),
        with_query=lambda **changes: with_query(visit, "instructor.allow", **changes),
    )


def _assignments(visit: Visit) -> list[str]:
    site = visit.site
    named = {*site.store.quiz_names(), *site.course.policies.named} - {"default"}
    # Exercises that nobody has tried yet can be named too, but needn't be listed: the bank has a hundred.
    answered = {item for item, _ in site.store.activity.item_versions(site.mode)}
    return [*sorted(named), *sorted(set(site.bank.code_ids()) & answered - named)]


def _assignment_titles(visit: Visit) -> list[tuple[str, str]]:
    """Return what can be named in a list, by name, with titles."""
    titles = visit.site.store.sittings.quiz_titles()
    return [(name, titles.get(name) or visit.site.bank.title_of(name)) for name in _assignments(visit)]


def allow(visit: Visit) -> Response:
    """Give a student more time, another deadline or an excuse, as ``grade course allow`` does."""
    site = visit.site
    assignment = visit.form.text("assignment") or None
    reason = visit.form.text("reason").strip()[:_LONGEST_REASON]
    try:
        student = student_named(visit, visit.form.text("student"))
        if assignment is not None:
            check_assignment(assignment, {*_assignments(visit), *site.bank.code_ids()})
        allowance = allowance_of(visit, student, assignment, reason=reason)
    except UsageError as error:
        return allow_page(visit, error)
    with site.store.one_transaction():
        site.store.allowances.add(allowance)
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
    # Found by a part of the name, perhaps: who was meant is said.
    name = StudentNames(visit).name(student)
    visit.notice(f"{name}: {given_text(allowance)}. It applies at once, in running sittings too.")
    return visit.redirect("instructor.allow", student=student)


def take_back(visit: Visit) -> Response:
    """Withdraw an allowance: marks are again what they are without it."""
    store = visit.site.store
    with store.one_transaction():
        entry = store.allowances.withdraw(whole_number(visit.path["number"]), visit.now)
        visit.log("allowance.withdraw", entry.assignment or "all assignments", student=entry.student)
    visit.notice("Withdrawn.")
    return visit.redirect("instructor.allow", student=entry.student)
