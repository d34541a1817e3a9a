"""The page about learning systems for instructors: registrations, courses, links, and marks on their way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.course.people import Role
from engine.errors import LtiError
from engine.lti.signing_keys import published_keys, rotate_keys, signing_key
from engine.store.lti import LtiLink, LtiPerson, LtiPlatform
from engine.store.lti_outbox import NO_MARK, OutboxRow
from engine.text.words import count_noun
from engine.web.forms import whole_number
from engine.web.lti.choosing import check_choosable
from engine.web.lti.launch import choice_page
from engine.web.lti.site_lti import send_marks
from engine.web.routes import WebRoute
from engine.web.visit import NotFoundError, Visit

if TYPE_CHECKING:
    from starlette.responses import Response

_MOST_ROWS = 200
# What stands in the place of points that there aren't.
_WORDS = {
    "pending": "not graded yet",
    "manual": "to be marked",
    "failed": "ungraded",
    NO_MARK: "to be cleared",
}


@dataclass(frozen=True, slots=True)
class SystemView:
    """A learning system as the page shows it."""

    platform: LtiPlatform
    links: tuple[LtiLink, ...]
    people: tuple[LtiPerson, ...]


def systems(visit: Visit) -> Response:
    """Show all learning systems, what their links open, and the marks that they haven't taken."""
    store = visit.site.store
    platforms = store.lti.platforms()
    links, people = store.lti.links(), store.lti.people()
    failed = [row for row in store.lti_outbox.rows(waiting=True, most=_MOST_ROWS) if row.reason]
    return visit.page(
        "lti/systems.html.j2",
        systems=[
            SystemView(
                platform,
                tuple(link for link in links if link.platform == platform.id),
                tuple(person for person in people if person.platform == platform.id),
            )
            for platform in platforms
        ],
        names={platform.id: platform.name for platform in platforms},
        counts=store.lti_outbox.counts(),
        failed=failed,
        reasons=_reasons(failed),
        words=_WORDS,
        keys=published_keys(store, visit.now),
        signing=signing_key(store, visit.now),
    )


def _reasons(rows: list[OutboxRow]) -> list[tuple[str, int]]:
    return Counter(row.reason or "" for row in rows).most_common()


def _platform(visit: Visit) -> LtiPlatform:
    platform = visit.site.store.lti.platform(whole_number(visit.form.text("platform")))
    if platform is None:
        raise NotFoundError
    return platform


def change(visit: Visit) -> Response:
    """Do what a button of the page says with a learning system."""
    platform, store = _platform(visit), visit.site.store
    action, subject = visit.form.text("action"), visit.form.text("subject")
    people = store.lti.people(platform.id)
    if action == "disable":
        store.lti.enable_platform(platform.id, disabled=visit.now)
        _end_sessions(visit, people)
        sentence = f"{platform.name} is disabled: it can't sign anybody in, and gets no marks."
    elif action == "enable":
        store.lti.enable_platform(platform.id, disabled=None)
        store.lti_outbox.retry_all(visit.now)
        sentence = f"{platform.name} is enabled again."
    elif action in ("accept", "refuse") and subject in platform.contexts:
        store.lti.put_context(platform.id, subject, title=None, accepted=action == "accept")
        if action == "refuse":
            _end_sessions(visit, [person for person in people if person.context == subject])
        title = platform.contexts[subject].title or subject
        sentence = f"People of “{title}” {'may' if action == 'accept' else 'may no longer'} come in."
    elif action == "deployment" and 0 < len(subject.strip()) <= 300:
        store.lti.add_deployment(platform.id, subject.strip())
        sentence = "The deployment is accepted."
    elif action == "forget":
        if not store.lti.forget_person(platform.id, subject):
            raise NotFoundError
        _end_sessions(visit, [person for person in people if person.subject == subject])
        sentence = "The account is no longer linked to anybody. It is matched again at its next launch."
    else:
        raise LtiError("this can't be done", next_step="reload the page, and use one of its buttons")
    visit.log(f"lti.{action}", platform.name, what=subject if action != "forget" else "account")
    visit.notice(sentence)
    return visit.redirect("lti.systems")


def _end_sessions(visit: Visit, people: Iterable[LtiPerson]) -> None:
    """End the sessions that began by launches; those of other ways of signing in go on."""
    sessions = visit.site.store.sessions
    for person in {entry.person for entry in people} - {visit.me.id}:
        for session in sessions.of_person(person, visit.now):
            if session.way == "lti":
                sessions.revoke(person, visit.now, session.id)


def send_now(visit: Visit) -> Response:
    """Try all marks that wait, at once."""
    visit.site.store.lti_outbox.retry_all(visit.now)
    outcome = send_marks(visit.site)
    visit.log("lti.send", "marks", sent=outcome.sent, failed=outcome.failed)
    visit.notice(f"{count_noun(outcome.sent, 'mark')} sent, {outcome.failed} not accepted.")
    return visit.redirect("lti.systems")


def choose_for_link(visit: Visit) -> Response:
    """Go to the choice of what an existing link opens."""
    platform = _platform(visit)
    deployment, link = visit.form.text("deployment"), visit.form.text("link")
    known = visit.site.store.lti.link(platform.id, deployment, link)
    if known is None:
        raise NotFoundError
    check_choosable(known)
    data = {"platform": platform.id, "deployment": deployment, "link": link, "by": visit.me.id}
    return choice_page(visit, "choose", data)


def new_key(visit: Visit) -> Response:
    """Make a new signing key; with ``at_once`` the others are withdrawn now."""
    at_once = visit.form.text("at_once") == "yes"
    rotate_keys(visit.site.store, visit.now, at_once=at_once)
    visit.log("lti.key", "signing key", at_once=at_once)
    visit.notice(
        "The old keys are withdrawn, and the new one signs from now on."
        if at_once
        else "The new key is published, and signs in an hour; the old one stays for a week."
    )
    return visit.redirect("lti.systems")


_POST = ("POST",)
ROUTES = (
    WebRoute("lti.systems", "/staff/lms", systems, Role.INSTRUCTOR, nav="Learning systems"),
    WebRoute("lti.change", "/staff/lms/change", change, Role.INSTRUCTOR, _POST, most_bytes=64 << 10),
    WebRoute("lti.send", "/staff/lms/send", send_now, Role.INSTRUCTOR, _POST, most_bytes=10_000),
    WebRoute("lti.link", "/staff/lms/link", choose_for_link, Role.INSTRUCTOR, _POST, most_bytes=64 << 10),
    WebRoute("lti.new_key", "/staff/lms/key", new_key, Role.INSTRUCTOR, _POST, most_bytes=10_000),
)
