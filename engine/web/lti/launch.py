"""Launches: a click in a learning system becomes a session here, on the page of what was clicked.

A learning system can be used by many courses. Whose people may come in is decided by course: the first one
comes with its instructor's first launch, each further one waits until an instructor here accepts it.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from engine.course.people import Role
from engine.errors import LtiError
from engine.lti.id_token import LaunchClaims
from engine.lti.platform_http import check_url, origin_of
from engine.lti.signing_keys import key_set
from engine.lti.users import LmsUser, roles_text, user_of_claims
from engine.store.lti import LtiLink, LtiPerson, LtiPlatform
from engine.text.words import clean_line
from engine.web.limits import RateLimit
from engine.web.lti.adapter import Launch, Login, OtherBrowserError
from engine.web.lti.arrivals import assignment_page, is_assignment, person_of_user, why_closed
from engine.web.lti.site_lti import frames_of, site_lti
from engine.web.routes import WebRoute
from engine.web.sign_in.begin import begin_session
from engine.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

log = logging.getLogger("softmark.lti")

# A class of 300 behind one address of its university begins an exam at once.
_LOGINS = RateLimit("lti-login", 1200, timedelta(minutes=5))
_SESSION_LASTS = timedelta(days=1)
_CHOICE_LASTS = timedelta(hours=2)


def login(visit: Visit) -> Response:
    """Begin a launch: send the browser to its learning system."""
    visit.frames = site_lti(visit.site).frames(visit.now)
    visit.site.rates.need(_LOGINS, visit.client, visit.now, "too many launches at once from this address")
    try:
        return Login(visit).respond()
    except LtiError as error:
        log.warning("login refused: %s", error.what)
        raise


def keys(visit: Visit) -> Response:
    """Answer with our public keys."""
    answer = visit.json(key_set(visit.site.store, visit.now))
    answer.headers["Cache-Control"] = "public, max-age=300"
    return answer


def launch(visit: Visit) -> Response:
    """Take the message of a launch: sign in, remember the link, and go to what it opens."""
    lti = site_lti(visit.site)
    visit.frames = lti.frames(visit.now)
    if visit.method == "GET" or not (visit.form.text("id_token") or visit.form.text("state")):
        raise LtiError(
            "this address is opened by a learning system",
            got=clean_line(visit.form.text("error"), 60) or None,
            next_step="open the quiz or exercise there",
        )
    message = Launch(visit)
    try:
        message.validate()
        place = _Place(visit, message.platform, message.claims)
        user = user_of_claims(message.get_launch_data())
        place.accept(user)
        person, role = person_of_user(visit.site, message.platform, user)
        message.use()
    except OtherBrowserError as error:
        log.warning("launch without its cookie, platform %s", message.platform.id)
        # What it says is signed: the page with the way out must be seen where the launch was to be.
        visit.frames = tuple({*visit.frames, *_frames_of_claims(message.claims)})
        return _other_window(visit, error)
    except LtiError as error:
        number = message.platform.id if hasattr(message, "platform") else None
        log.warning("launch refused, platform %s: %s", number, error.what)
        raise
    context = place.context
    known = LtiPerson(message.platform.id, context, user.subject, person, user.name, user.email, visit.now)
    visit.site.store.lti.put_people([known])
    if message.is_deep_link_launch():
        answer = _begin_choice(visit, message, person, role)
    else:
        answer = _open(visit, place.remember_link(), person, role)
    message.write_cookies(answer)
    # Whoever loses a role in the learning system loses it here within a day.
    until = visit.now + _SESSION_LASTS
    return begin_session(visit, answer, person, way="lti", role=str(role), name=user.name, until=until)


def _other_window(visit: Visit, error: OtherBrowserError) -> Response:
    """Offer to begin again in a window of its own, in which no browser blocks our cookie."""
    again = {name: value for name, value in error.login.items() if value}
    return visit.page("lti/new_window.html.j2", status=403, url=visit.url("lti.login", **again))


def _frames_of_claims(claims: LaunchClaims) -> set[str]:
    """Return the origins of the learning system's pages that a launch names: they may show ours."""
    urls = (
        claims.presentation.return_url if claims.presentation else None,
        claims.deep_link.deep_link_return_url if claims.deep_link else None,
    )
    return {origin for url in urls if url and (origin := origin_of(url))}


class _Place:
    """Where a launch comes from: deployment, course and link of a learning system."""

    def __init__(self, visit: Visit, platform: LtiPlatform, claims: LaunchClaims) -> None:
        self._visit = visit
        self._store = visit.site.store.lti
        self._platform = platform
        self._claims = claims
        self.context = claims.context.id if claims.context else ""

    def accept(self, user: LmsUser) -> None:
        """Refuse deployments and courses that nobody has accepted; an instructor's first launch does."""
        platform, claims, context = self._platform, self._claims, self.context
        role = user.role
        if role is None:
            raise LtiError(
                "your role in the learning system has no place in this course",
                expected="student, teaching assistant or instructor",
                got=roles_text(user.roles),
            )
        is_staff = role == str(Role.INSTRUCTOR)
        if claims.deployment not in platform.deployments:
            if platform.deployments or not is_staff:
                raise LtiError(
                    "the launch is refused: its deployment isn't accepted here",
                    next_step="an instructor adds its id on the page “Learning systems” of this site"
                    if platform.deployments
                    else "an instructor opens the link first",
                )
            self._store.add_deployment(platform.id, claims.deployment)
        if context not in platform.accepted:
            title = self._title()
            is_first = is_staff and not platform.accepted
            known = platform.contexts.get(context)
            if known is None or is_first:
                self._store.put_context(platform.id, context, title=title, accepted=is_first or None)
            if not is_first:
                raise LtiError(
                    "this course of the learning system isn't linked to this site",
                    next_step="an instructor accepts it on the page “Learning systems” of this site",
                )
            self._visit.log_by("", "nobody", "lti.context", platform.name, context=context, title=title)
        self._remember_frames()

    def _title(self) -> str:
        context = self._claims.context
        return clean_line((context.title or context.label or context.id) if context else "no course", 200)

    def _remember_frames(self) -> None:
        if new := _frames_of_claims(self._claims) - set(frames_of(self._platform)):
            self._store.add_frames(self._platform.id, sorted(new))
            self._visit.frames = site_lti(self._visit.site).frames(self._visit.now, fresh=True)

    def remember_link(self) -> LtiLink:
        """Remember the link as it is now, and return it with what it opens."""
        claims, site = self._claims, self._visit.site
        assert claims.link is not None  # the library's check of a link's launch demands it
        known = self._store.link(self._platform.id, claims.deployment, claims.link.id)
        marks, own_target = claims.marks, self._assignment()
        link = LtiLink(
            platform=self._platform.id,
            deployment=claims.deployment,
            link=claims.link.id,
            assignment=own_target or (known.assignment if known else None),
            context=self.context,
            title=clean_line(claims.link.title or "", 200) or (known.title if known else ""),
            line_item=self._url(marks.lineitem if marks else None) or (known.line_item if known else None),
            line_items=self._url(marks.lineitems if marks else None) or (known.line_items if known else None),
            scopes=tuple(marks.scope) if marks else known.scopes if known else (),
            members_url=self._url(claims.members.context_memberships_url if claims.members else None)
            or (known.members_url if known else None),
            seen=self._visit.now,
            is_fixed=own_target is not None,
        )
        if known is None or replace(known, seen=link.seen) != link or link.seen - known.seen > _LINK_SEEN:
            self._store.put_link(link)
        if link.assignment is not None and not is_assignment(site, link.assignment):
            return replace(link, assignment=None)
        return link

    def _assignment(self) -> str | None:
        """Return what the link itself says that it opens: by a parameter of its own, or of its address."""
        custom = (self._claims.custom or {}).get("assignment")
        query = parse_qs(urlsplit(self._claims.target or "").query)
        names = (custom, *query.get("assignment", ()))
        return next((n for n in names if isinstance(n, str) and is_assignment(self._visit.site, n)), None)

    def _url(self, url: str | None) -> str | None:
        if not url:
            return None
        try:
            return check_url(url, "an address in the launch", local=site_lti(self._visit.site).local)
        except LtiError as error:
            log.warning("platform %s: %s", self._platform.id, error.what)
            return None


_LINK_SEEN = timedelta(hours=1)  # a class that comes at once doesn't write it 300 times


def _open(visit: Visit, link: LtiLink, person: str, role: Role) -> Response:
    """Go to what a link opens; whoever may choose that chooses first, where nobody has."""
    name = link.assignment
    if name is None:
        if role.includes(Role.MARKER):
            data = {"platform": link.platform, "deployment": link.deployment, "link": link.link}
            return choice_page(visit, "choose", {**data, "by": person})
        visit.notice("What this link opens hasn't been chosen yet: tell your instructor.")
        return visit.redirect("home")
    sentence = why_closed(visit.site, name, person) if role is Role.STUDENT else None
    if sentence is not None:
        visit.notice(sentence)
        return visit.redirect("home")
    route, values = assignment_page(visit, name, role)
    return visit.redirect(route, **values)


def _begin_choice(visit: Visit, message: Launch, person: str, role: Role) -> Response:
    settings = message.claims.deep_link
    if not role.includes(Role.MARKER) or settings is None:
        raise LtiError(
            "only staff choose what a link opens",
            next_step="open a link that is there already",
        )
    check_url(settings.deep_link_return_url, "the address for the choice", local=site_lti(visit.site).local)
    return choice_page(
        visit,
        "deep_link",
        {
            "by": person,
            "platform": message.platform.id,
            "deployment": message.claims.deployment,
            "return_url": settings.deep_link_return_url,
            "data": settings.data,
            "with_marks": settings.accept_lineitem is not False,
        },
    )


def choice_page(visit: Visit, kind: str, data: Mapping[str, object]) -> Response:
    """Send somebody on to the page on which what a link opens is chosen."""
    token = secrets.token_urlsafe(24)
    visit.site.store.lti.begin(kind, token, data, now=visit.now, expires=visit.now + _CHOICE_LASTS)
    return visit.redirect("lti.choose", token=token)


ROUTES = (
    WebRoute("lti.login", "/lti/login", login, None, ("GET", "POST"), most_bytes=64 << 10, csrf=False),
    WebRoute("lti.launch", "/lti/launch", launch, None, ("GET", "POST"), most_bytes=256 << 10, csrf=False),
    WebRoute("lti.keys", "/lti/keys", keys, None),
)
