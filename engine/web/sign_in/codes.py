"""Codes on paper: typed in an exam room, each signs one student in once."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from engine.course.sign_in_codes import code_hash, is_code, plain_code
from engine.web.limits import RateLimit, TooOftenError
from engine.web.routes import WebRoute
from engine.web.sign_in.begin import begin_session, on_to
from engine.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

# Wrong codes only are counted. An exam room may sit behind one address: nobody there may lock the others out
# by mistyping or by a script, so the limits are far above what anybody types. They are still low enough: with
# 500 codes out, 20,000 guesses in 10 minutes find one in three years. Whoever guesses from many addresses
# is held up by the beginning of the codes that are tried.
_BY_ADDRESS = RateLimit("code-address", 20_000, timedelta(minutes=10))
_BY_PREFIX = RateLimit("code-prefix", 50_000, timedelta(minutes=10))
_PREFIX = 2


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
        return _again(visit, "There is no such code. Compare it with your slip, letter by letter.")
    if secret.used is not None:
        return _again(visit, "This code was used before. Ask whoever gave it to you for a new one.")
    if secret.begins is not None and now < secret.begins:
        begins = secret.begins.astimezone(visit.site.policies().zone)
        return _again(visit, f"This code isn't valid yet: it is from {begins:%Y-%m-%d %H:%M} on.")
    if store.use(key, now) is None:
        return _again(visit, "This code has expired. Ask whoever gave it to you for a new one.")
    answer = on_to(visit, visit.form.text("next"))
    return begin_session(visit, answer, secret.person, way="code", until=secret.expires)


def _again(visit: Visit, fault: str) -> Response:
    return visit.page(
        "sign_in/sign_in.html.j2", status=400, fault=fault, onward="", code=visit.form.text("code")[:50]
    )


ROUTES = (WebRoute("sign_in.code", "/sign-in/code", use_code, None, ("POST",), most_bytes=10_000),)
