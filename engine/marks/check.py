"""Extensions and excuses that mean nobody, nothing, or nothing new."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from engine.course.contradictions.facts import Facts, Finding
from engine.course.policies.schema import Extension, Policies
from engine.course.policies.terms import extended_due
from engine.spec.places import Loc
from engine.spec.wording import did_you_mean

__all__ = ["name_findings", "people_findings"]


def name_findings(policies: Policies, facts: Facts) -> Iterator[Finding]:
    """Yield the assignments that nothing in the course is called."""
    for name in policies.named:
        if name not in facts.assignments:
            yield (
                ("policies", "assignments", name),
                _unknown("quiz or code exercise", name, facts.assignments),
            )


def people_findings(policies: Policies, facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong with extensions and excuses."""
    seen: set[tuple[str, str]] = set()
    for index, excuse in enumerate(policies.excused):
        loc = ("policies", "excused", index)
        yield from _names(loc, excuse.student, excuse.assignment, facts)
        if (excuse.student, excuse.assignment) in seen:
            yield loc, f"{excuse.student} is excused from {excuse.assignment} twice"
        seen.add((excuse.student, excuse.assignment))
    for index, extension in enumerate(policies.extensions):
        loc = ("policies", "extensions", index)
        yield from _names(loc, extension.student, extension.assignment, facts)
        if extension.assignment is None:
            yield from _for_all(loc, extension, policies)
        elif extension.assignment in policies.excused_of(extension.student):
            yield (
                loc,
                f"{extension.student} is excused from {extension.assignment}: more time changes nothing",
            )
        else:
            yield from _for_one(loc, extension, extension.assignment, policies)


def _names(
    loc: tuple[str, str, int], student: str, assignment: str | None, facts: Facts
) -> Iterator[Finding]:
    if facts.students and student not in facts.students:
        yield (*loc, "student"), _unknown("student of the roster", student, facts.students)
    if assignment is not None and assignment not in facts.assignments:
        yield (*loc, "assignment"), _unknown("quiz or code exercise", assignment, facts.assignments)


def _unknown(what: str, name: str, known: Collection[str]) -> str:
    return f"'{name}' is no {what}" + did_you_mean(name, sorted(known))


def _for_one(loc: Loc, extension: Extension, assignment: str, policies: Policies) -> Iterator[Finding]:
    due = policies.rules_of(assignment).due
    if due is None:
        yield loc, f"{assignment} has no due date: more time changes nothing"
    elif extended_due(due, extension).ends(policies.zone) <= due.ends(policies.zone):
        where = (*loc, "due")
        yield where, f"{extension.due} isn't after the due date of {assignment} ({due}): it changes nothing"


def _for_all(loc: Loc, extension: Extension, policies: Policies) -> Iterator[Finding]:
    dates = [due for name in policies.assignments if (due := policies.rules_of(name).due) is not None]
    if not dates:
        yield loc, "no assignment has a due date: more time changes nothing"
    elif extension.due is not None and all(
        extension.due.ends(policies.zone) <= due.ends(policies.zone) for due in dates
    ):
        yield (*loc, "due"), f"{extension.due} isn't after any due date: it changes nothing"
