"""Where somebody is signed in: to see it, to end it, and for staff to end it for a student."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from engine.course.people import Person, Role
from engine.store.sessions import SignedInSession
from engine.text.words import count_noun
from engine.web.routes import WebRoute
from engine.web.sign_in.begin import end_cookie
from engine.web.visit import NotFoundError, Visit

if TYPE_CHECKING:
    from starlette.responses import Response

# As in SignedInSession.way → for people.
WAYS = {
    "mail": "by a link in an email",
    "code": "by a code on paper",
    "oidc": "by single sign-on",
    "lti": "from the learning system",
    "terminal": "by the link in the terminal",
}


def account(visit: Visit) -> Response:
    """Show where the person is signed in."""
    return visit.page("sign_in/account.html.j2", sessions=_sessions(visit, visit.me.id), ways=WAYS)


def sign_out(visit: Visit) -> Response:
    """End this session."""
    if visit.session is not None:
        visit.site.store.sessions.revoke(visit.session.person, visit.now, visit.session.id)
        visit.log("session.end", "sign out")
    visit.notice("You are signed out.")
    return end_cookie(visit, visit.redirect("home"))


def end_session(visit: Visit) -> Response:
    """End one of the person's own sessions, or all but this one."""
    chosen = visit.form.text("session")
    this = visit.session.id if visit.session else ""
    store = visit.site.store.sessions
    if chosen == "others":
        count = store.revoke(visit.me.id, visit.now, but=this)
    else:  # by person too: the id of somebody else's session ends nothing
        count = store.revoke(visit.me.id, visit.now, chosen)
    if not count and chosen != "others":
        raise NotFoundError("there is no such session")
    visit.log("session.end", "own sessions", count=count)
    visit.notice(f"{count_noun(count, 'session')} ended.")
    return end_cookie(visit, visit.redirect("home")) if chosen == this else visit.redirect("account")


def student_sessions(visit: Visit) -> Response:
    """Show staff where a student is signed in."""
    student = _student(visit)
    return visit.page(
        "sign_in/sessions_of.html.j2", student=student, sessions=_sessions(visit, student.id), ways=WAYS
    )


def end_student_sessions(visit: Visit) -> Response:
    """End all sessions of a student."""
    student = _student(visit)
    count = visit.site.store.sessions.revoke(student.id, visit.now)
    visit.log("session.end", "by staff", student=student.id, count=count)
    visit.notice(f"{count_noun(count, 'session')} of {student.name or student.id} ended.")
    return visit.redirect("sign_in.sessions_of", student=student.id)


def _student(visit: Visit) -> Person:
    person = visit.site.people.by_id.get(visit.path["student"])
    is_above = visit.me.role.includes(Role.INSTRUCTOR)
    # Nobody signs out those above them; and who marks blind would learn the names of ids here.
    if person is None or (not is_above and (person.is_staff or visit.site.settings.blind_marking)):
        raise NotFoundError("there is no such student")
    return person


def _sessions(visit: Visit, person: str) -> list[SignedInSession]:
    idle = timedelta(hours=visit.site.settings.session_hours)
    return visit.site.store.sessions.of_person(person, visit.now, idle=idle)


ROUTES = (
    WebRoute("account", "/account", account, Role.STUDENT),
    WebRoute("account.end", "/account/end", end_session, Role.STUDENT, ("POST",), most_bytes=10_000),
    WebRoute("sign_in.out", "/sign-out", sign_out, None, ("POST",), most_bytes=10_000),
    WebRoute("sign_in.sessions_of", "/people/{student}/sessions", student_sessions, Role.MARKER),
    WebRoute(
        "sign_in.end_sessions_of",
        "/people/{student}/sessions/end",
        end_student_sessions,
        Role.MARKER,
        ("POST",),
        most_bytes=10_000,
    ),
)
