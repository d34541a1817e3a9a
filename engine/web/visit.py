"""One request as a view sees it, and what a view can answer."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlencode

from engine.course.people import Person, Role
from engine.errors import EngineError, InputError
from engine.pages.render import render
from engine.store.audit import AuditEntry
from engine.store.sessions import SignedInSession
from engine.web.forms import Form, input_type
from engine.web.site import Site

if TYPE_CHECKING:
    from starlette.responses import Response

    from engine.web.routes import NavEntry

SESSION_COOKIE = "softmark-session"
NOTICE_COOKIE = "softmark-notice"
FORM_COOKIE = "softmark-form"
_RANDOM = re.compile(r"[A-Za-z0-9_-]{43}")  # what secrets.token_urlsafe(32) gives
_PACKAGE = "engine.web"


class NotFoundError(InputError):
    """There is no such page, or it isn't this person's: status 404 in both cases, so that neither shows."""

    def __init__(self, what: str = "there is no such page") -> None:
        super().__init__(what, next_step="start again from the home page")


class ForbiddenError(InputError):
    """The person's role doesn't reach this page, or the form wasn't sent by a page of ours: status 403."""


class ServiceAwayError(EngineError):
    """Another service that a page needs can't be reached now: status 503."""


@cache
def _parameters(path: str) -> tuple[str, ...]:
    return tuple(re.findall(r"{(\w+)}", path))


def path_segment(text: str) -> str:
    """Return any text as one segment of a path: :func:`segment_text` reads it."""
    # Not percent signs: servers decode them before a route is chosen, and a slash would split the segment.
    # Half a character, as in a file name of another encoding, gives a dead link and no fault of the page.
    return quote(text, safe="", errors="replace").replace("~", "%7E").replace("%", "~")


def segment_text(segment: str) -> str:
    """Return the text of a segment; one that nobody of us wrote gives a text that nothing has."""
    return unquote(segment.replace("~", "%"), errors="replace")


@dataclass
class Visit:
    """A request.

    Parameters
    ----------
    site : Site
    person : Person or None
        Who is signed in.
    session : SignedInSession or None
    now : datetime
    path : mapping of str to str
        The parameters in the address's path.
    query : mapping of str to str
    form : Form
    method : str
    route : str
        Name of the route.
    base : str
        The prefix under which the site is served; empty, or ``/nlp``.
    cookie : str
        Secret of the session; empty without one.
    client : str
        Address of the browser's machine.
    notices : tuple of str
        Sentences of the page before.
    headers : mapping of str to str
        Of the request, names in lower case.
    cookies : mapping of str to str
    frames : tuple of str
        Origins of learning systems whose pages may show this one in a frame: in their sessions only.
    """

    site: Site
    person: Person | None
    session: SignedInSession | None
    now: datetime
    path: Mapping[str, str]
    query: Mapping[str, str]
    form: Form
    method: str
    route: str
    base: str
    cookie: str
    client: str
    notices: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    routes: Mapping[str, str] = field(default_factory=dict)
    frames: tuple[str, ...] = ()
    _new_notices: list[str] = field(default_factory=list)

    @property
    def me(self) -> Person:
        """Who is signed in; only routes that need nobody may lack one."""
        assert self.person is not None
        return self.person

    @property
    def is_framed(self) -> bool:
        """Whether the pages may stand in a frame of a learning system."""
        return bool(self.frames)

    def may(self, role: Role) -> bool:
        """Return whether this person may do what a role may."""
        return self.person is not None and self.person.role.includes(role)

    def is_own_work(self, student: str) -> bool:
        """Return whether a marker would decide about their own work; who runs the course may try things."""
        return self.me.id == student and not self.may(Role.INSTRUCTOR)

    def refuse_own_work(self, student: str) -> None:
        """Raise a :class:`ForbiddenError` if a marker decides about their own work."""
        if self.is_own_work(student):
            raise ForbiddenError("this is your own work", next_step="leave it to another marker")

    def url(self, route: str, /, **values: Any) -> str:
        """Return the path of a route; values that its path doesn't name become its query."""
        template = self.routes[route]
        names = _parameters(template)
        path = template.format_map({name: path_segment(str(values[name])) for name in names})
        query = {name: value for name, value in values.items() if name not in names and value is not None}
        return self.base + path + (f"?{urlencode(query)}" if query else "")

    def full_url(self, route: str, /, **values: Any) -> str:
        """Return the whole address of a route, for mails and other systems."""
        path = self.url(route, **values)
        return self.site.address + path.removeprefix(self.base)

    @property
    def navigation(self) -> list[NavEntry]:
        """The main pages of whoever is signed in."""
        from engine.web.routes import navigation

        return navigation(self)

    def asset(self, name: str) -> str:
        """Return the address of a file of the site's own; browsers may keep what it leads to."""
        from engine.web.assets import asset_digest

        return self.url("static", name=name, v=asset_digest(name))

    @cached_property
    def form_token(self) -> str:
        """What every form carries, so that no foreign page can send it; it ends with :attr:`form_owner`."""
        # Bound to a cookie: a token of one browser is worth nothing to another.
        text = f"form {self.cookie or self.form_cookie}"
        return hmac.new(self.site.form_secret, text.encode(), hashlib.sha256).hexdigest() + self.form_owner

    @property
    def form_owner(self) -> str:
        """Whose forms these are, in any of the person's sessions; it says nothing to anybody else."""
        text = f"form of {self.person.id if self.person else ''}"
        return hmac.new(self.site.form_secret, text.encode(), hashlib.sha256).hexdigest()[:32]

    @cached_property
    def form_cookie(self) -> str:
        """What the forms of a browser are bound to that isn't signed in; a new one where it has none."""
        cookie = self.cookies.get(FORM_COOKIE, "")
        return cookie if _RANDOM.fullmatch(cookie) else secrets.token_urlsafe(32)

    @property
    def new_form_cookie(self) -> str | None:
        """The form cookie that the browser must be given; None where it has it or no form was made."""
        cookie = self.__dict__.get("form_cookie")
        return cookie if cookie != self.cookies.get(FORM_COOKIE) else None

    def notice(self, sentence: str) -> None:
        """Show a sentence on the next page."""
        self._new_notices.append(sentence)

    @staticmethod
    def input_type(kind: str, text: str) -> str:
        """Return the type of an input for a date or time: :func:`engine.web.forms.input_type`."""
        return input_type(kind, text)

    def page(self, template: str, /, *, status: int = 200, **values: Any) -> Response:
        """Return a page of the site."""
        from starlette.responses import HTMLResponse

        return HTMLResponse(self.html(template, **values), status_code=status)

    def html(self, template: str, /, **values: Any) -> str:
        """Return the text of a template, a page or a part of one."""
        zone = self.site.course.policies.zone
        return render(template, package=_PACKAGE, zone=zone, visit=self, site=self.site, **values)

    def json(self, value: Any, *, status: int = 200) -> Response:
        """Return an answer for the site's own script."""
        from starlette.responses import JSONResponse

        return JSONResponse(value, status_code=status)

    def redirect(self, route: str, /, **values: Any) -> Response:
        """Send the browser on to a route by GET."""
        from starlette.responses import RedirectResponse

        return RedirectResponse(self.url(route, **values), status_code=303)

    def log(self, action: str, subject: str, *, student: str | None = None, **details: Any) -> None:
        """Write into the course's log who does what now."""
        who = self.person
        self.log_by(
            who.id if who else "", str(who.role) if who else "nobody", action, subject, student, **details
        )

    def log_by(
        self, person: str, role: str, action: str, subject: str, student: str | None = None, **details: Any
    ) -> None:
        """Write into the course's log what somebody does who isn't signed in yet."""
        entry = AuditEntry(self.now, person, role, action, subject, student, details)
        self.site.store.audit.add(entry)
