"""The sign-in page, and what signs somebody in once: links by mail or from the terminal, codes on paper.

Opening a link shows a button and changes nothing: mail scanners open every link before its reader does. A
code is typed in an exam room.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from engine.course.sign_in_secrets import code_hash, is_code, is_link_token, new_link_token, plain_code
from engine.errors import UsageError
from engine.quiz import rules as quiz_rules
from engine.store.sessions import SignInSecret, secret_hash
from engine.web.limits import RateLimit, TooOftenError
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
# Wrong codes only are counted. An exam room may sit behind one address: nobody there may lock the others out
# by mistyping or by a script, so the limits are far above what anybody types. They are still low enough: with
# 500 codes out, 20,000 guesses in 10 minutes find one in three years. Whoever guesses from many addresses
# is held up by the beginning of the codes that are tried.
_BY_ADDRESS = RateLimit("code-address", 20_000, timedelta(minutes=10))
_BY_PREFIX = RateLimit("code-prefix", 50_000, timedelta(minutes=10))
_PREFIX = 2


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
    onward = _onward(visit)

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
    secret = _link_secret(visit)
    if secret is None or not secret.is_open(visit.now):
        return _expired(visit)
    person = visit.site.people.by_id.get(secret.person)
    if person is None:
        return _expired(visit)
    return visit.page("sign_in/open_link.html.j2", person=person, onward=_onward(visit))


def use_link(visit: Visit) -> Response:
    """Sign in whom the link is for, once."""
    secret = _link_secret(visit)
    if secret is None or secret.person not in visit.site.people.by_id:
        return _expired(visit)
    used = visit.site.store.sign_in_secrets.use(secret.id, visit.now)
    if used is None:
        return _expired(visit)
    answer = on_to(visit, visit.form.text("next"))
    return begin_session(visit, answer, used.person, way=used.kind)


def _link_secret(visit: Visit) -> SignInSecret | None:
    """Return what the store knows about a link; nothing is asked about one that isn't ours or has expired."""
    token = visit.path["token"]
    if not is_link_token(visit.site.secret, token, visit.now):
        return None
    return visit.site.store.sign_in_secrets.find(secret_hash(token))


def _expired(visit: Visit) -> Response:
    return visit.page(
        "sign_in/sign_in.html.j2",
        status=410,
        onward=_onward(visit),
        fault="This link has expired, or was used before. Ask for a new one.",
    )


def _onward(visit: Visit) -> str:
    return safe_next(visit.base, visit.form.text("next") or visit.query.get("next", "")) or ""


def use_code(visit: Visit) -> Response:
    """Sign in the student whom a code is for."""
    code = plain_code(visit.form.text("code"))
    keys = ((_BY_ADDRESS, visit.client), (_BY_PREFIX, code[:_PREFIX]))
    rates, now = visit.site.rates, visit.now
    for limit, key in keys:
        if (wait := rates.wait(limit, key, now)) is not None:
            raise TooOftenError("too many wrong codes were tried", wait)
    key = code_hash(visit.site.secret, code)
    store = visit.site.store.sign_in_secrets
    secret = store.find(key) if is_code(code) else None
    if secret is None or secret.person not in visit.site.people.by_id:
        for limit, key in keys:
            rates.count(limit, key, now)
        return _code_again(visit, "There is no such code. Compare it with your slip, letter by letter.")
    if secret.used is not None:
        return _code_again(visit, "This code was used before. Ask whoever gave it to you for a new one.")
    if secret.begins is not None and now < secret.begins:
        return _code_again(
            visit, f"This code isn't valid yet: it is from {visit.site.local_time(secret.begins)} on."
        )
    if store.use(key, now) is None:
        return _code_again(visit, "This code has expired. Ask whoever gave it to you for a new one.")
    answer = on_to(visit, visit.form.text("next"))
    return begin_session(visit, answer, secret.person, way="code", until=secret.expires)


def _code_again(visit: Visit, fault: str) -> Response:
    return visit.page(
        "sign_in/sign_in.html.j2",
        status=400,
        fault=fault,
        onward=_onward(visit),
        code=visit.form.text("code")[:50],
    )


def terminal_link(site: Site) -> str | None:
    """Return the address of a link that signs in the first instructor, for whoever started the site.

    None where ``staff.csv`` has no instructor.
    """
    instructors = site.people.instructors
    if not instructors:
        return None
    now = quiz_rules.now()
    expires = now + TERMINAL_LINK_LASTS
    token = new_link_token(site.secret, expires)
    link = (instructors[0].id, secret_hash(token))
    site.store.sign_in_secrets.add([link], kind="terminal", now=now, expires=expires)
    return f"{site.address}/sign-in/link/{token}"


ROUTES = (
    WebRoute("sign_in", "/sign-in", sign_in, None),
    WebRoute("sign_in.mail", "/sign-in/mail", ask_for_link, None, ("POST",), most_bytes=10_000),
    WebRoute("sign_in.sent", "/sign-in/sent", sent, None),
    WebRoute("sign_in.link", "/sign-in/link/{token}", open_link, None),
    WebRoute("sign_in.use_link", "/sign-in/link/{token}/use", use_link, None, ("POST",), most_bytes=10_000),
    WebRoute("sign_in.code", "/sign-in/code", use_code, None, ("POST",), most_bytes=10_000),
)
