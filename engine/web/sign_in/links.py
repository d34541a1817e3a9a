"""The sign-in page, and links that sign somebody in once: sent by mail, or printed in the terminal.

Opening a link shows a button and changes nothing: mail scanners open every link before its reader does.
"""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

from engine.errors import UsageError
from engine.quiz import rules as quiz_rules
from engine.store.sessions import SignInSecret, secret_hash
from engine.web.limits import RateLimit
from engine.web.outbox import LINK_LASTS, LinkRequest
from engine.web.routes import WebRoute
from engine.web.security import safe_next
from engine.web.sign_in.begin import begin_session, on_to
from engine.web.site import Site
from engine.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

TERMINAL_LINK_LASTS = timedelta(hours=1)
# A lecture hall may sit behind one address, and one student there with a script must not stop the others: how
# many mails somebody gets is limited in the outbox.
_REQUESTS = RateLimit("mail-address", 20_000, timedelta(minutes=10))
_UNKNOWN = RateLimit("link-address", 100, timedelta(minutes=10))


def sign_in(visit: Visit) -> Response:
    """Show the ways in."""
    if visit.person is not None:
        return on_to(visit, visit.query.get("next", ""))
    return visit.page("sign_in/sign_in.html.j2", onward=_onward(visit))


def ask_for_link(visit: Visit) -> Response:
    """Note that somebody wants a link; the answer is the same for every address."""
    if visit.site.mail is None:
        raise UsageError("this course sends no links", next_step="sign in another way")
    email = visit.form.text("email").strip()
    if "@" not in email or len(email) > 320:
        raise UsageError(
            "this isn't an email address",
            expected="the address that your course has for you",
            got=email[:100],
        )
    visit.site.rates.need(_REQUESTS, visit.client, visit.now, "too many links were asked for from here")
    onward = safe_next(visit.base, visit.form.text("next")) or ""

    def link(token: str, onward: str) -> str:
        return visit.full_url("sign_in.link", token=token, next=onward or None)

    visit.site.outbox.ask(LinkRequest(email, onward, visit.now, link))
    return visit.redirect("sign_in.sent")


def sent(visit: Visit) -> Response:
    """Say that a mail is on its way, if there is somebody to get it."""
    mail = visit.site.mail
    folder = mail.folder if mail else None
    return visit.page(
        "sign_in/sent.html.j2",
        minutes=LINK_LASTS.seconds // 60,
        is_delayed=visit.site.outbox.fault is not None,
        folder=folder,
    )


def open_link(visit: Visit) -> Response:
    """Show whom a link signs in, with the button that does it."""
    secret = _secret(visit)
    if secret is None or not secret.is_open(visit.now) or secret.kind == "code":
        return _expired(visit)
    person = visit.site.people.by_id.get(secret.person)
    if person is None:
        return _expired(visit)
    return visit.page("sign_in/open_link.html.j2", person=person, onward=_onward(visit))


def use_link(visit: Visit) -> Response:
    """Sign in whom the link is for, once."""
    secret = _secret(visit)
    if secret is None or secret.kind == "code" or secret.person not in visit.site.people.by_id:
        return _expired(visit)
    used = visit.site.store.sign_in_secrets.use(secret.id, visit.now)
    if used is None:
        return _expired(visit)
    answer = on_to(visit, visit.form.text("next"))
    return begin_session(visit, answer, used.person, way=used.kind)


def _secret(visit: Visit) -> SignInSecret | None:
    secret = visit.site.store.sign_in_secrets.find(secret_hash(visit.path["token"]))
    if secret is None:
        # Links that we sent are never refused: a whole lecture hall may open theirs behind one address.
        visit.site.rates.need(
            _UNKNOWN, visit.client, visit.now, "too many unknown links were opened from here"
        )
    return secret


def _expired(visit: Visit) -> Response:
    return visit.page(
        "sign_in/sign_in.html.j2",
        status=410,
        onward=_onward(visit),
        fault="This link has expired, or was used before. Ask for a new one.",
    )


def _onward(visit: Visit) -> str:
    return safe_next(visit.base, visit.query.get("next", "")) or ""


def terminal_link(site: Site) -> str | None:
    """Return the address of a link that signs in the first instructor, for whoever started the site.

    None where ``staff.csv`` has no instructor.
    """
    instructors = site.people.instructors
    if not instructors:
        return None
    token = secrets.token_urlsafe(32)
    now = quiz_rules.now()
    site.store.sign_in_secrets.add(
        [(instructors[0].id, secret_hash(token))],
        kind="terminal",
        now=now,
        expires=now + TERMINAL_LINK_LASTS,
    )
    return f"{site.address}/sign-in/link/{token}"


ROUTES = (
    WebRoute("sign_in", "/sign-in", sign_in, None),
    WebRoute("sign_in.mail", "/sign-in/mail", ask_for_link, None, ("POST",), most_bytes=10_000),
    WebRoute("sign_in.sent", "/sign-in/sent", sent, None),
    WebRoute("sign_in.link", "/sign-in/link/{token}", open_link, None),
    WebRoute("sign_in.use_link", "/sign-in/link/{token}/use", use_link, None, ("POST",), most_bytes=10_000),
)
