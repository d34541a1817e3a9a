"""What belongs beside a request: what it is about, until when that is due now, and what was given.

Marks aren't here: staff see those that count, students only those that are shown to them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from engine.course.policies import Policies
from engine.marks import terms_of
from engine.marks.late_work import extended_rules
from engine.store.allowances import Allowance
from engine.store.student_requests import RequestKind, StudentRequest
from engine.text.words import count_noun
from engine.web.site import Site


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """What a page says of a request beside its words.

    Parameters
    ----------
    title : str
        Of the question, quiz or exercise.
    place : str
        Where it is known by another name: ``week-2, question 3``, or the name of the assignment.
    due, ends : datetime or None
        For this student now, with what was given: when it is late, and the last moment of a quiz.
    allowance : Allowance or None
        What the request was granted with, unless it was taken back.
    """

    title: str
    place: str = ""
    due: datetime | None = None
    ends: datetime | None = None
    allowance: Allowance | None = None


def facts_of(site: Site, requests: Iterable[StudentRequest]) -> dict[int, RequestFacts]:
    """Return the facts of each request by its number."""
    titles, policies = site.store.sittings.quiz_titles(), site.policies()
    return {request.id: _facts(site, request, titles, policies) for request in requests}


def _facts(site: Site, request: StudentRequest, titles: dict[str, str], policies: Policies) -> RequestFacts:
    if request.kind is RequestKind.REGRADE:
        # A column of the gradebook: the quiz and its item, or the item of an exercise.
        quiz, slash, item = request.subject.rpartition("/")
        title = site.bank.title_of(item)
        return RequestFacts(title, titles.get(quiz, quiz) if slash else "")
    name = request.subject
    title = titles.get(name) or site.bank.title_of(name)
    terms = terms_of(policies, request.student, name)
    ends = terms.closes
    if quizzes := site.store.quizzes(name, request.student):
        ends = extended_rules(quizzes[-1].rules, terms).deadline or ends
    allowance = next(
        (
            entry
            for entry in site.store.allowances.current(request.student)
            if entry.assignment == name and entry.reason == f"request {request.id}"
        ),
        None,
    )
    return RequestFacts(title, name if title != name else "", terms.due, ends, allowance)


def given_text(allowance: Allowance) -> str:
    """Return what an allowance gives, in words: ``3 extra days``."""
    if allowance.due is not None:
        return f"due {allowance.due}"
    if allowance.days is not None:
        return count_noun(allowance.days, "extra day")
    return "excused" if allowance.percent is None else f"{allowance.percent:g} % more time"
