"""Begins a session: the end of every way of signing in."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from engine.marks.site_quizzes import running_until
from engine.store.sessions import SEEN_EVERY
from engine.web.security import safe_next, set_cookie, set_session_cookie
from engine.web.visit import SESSION_COOKIE, Visit

if TYPE_CHECKING:
    from starlette.responses import Response

    from engine.store.sessions import SignedInSession
    from engine.web.site import Site

# A session that began with a code may be extended, for as long as an exam with extra time lasts.
_LONGEST_MORE = timedelta(hours=12)
_AFTER_SITTING = timedelta(minutes=5)  # to read that it is over, and what was handed in
# What a browser calls itself → what people call it; the first that fits. Edge and Opera call themselves
# Chrome as well, and Chrome calls itself Safari.
_BROWSERS = {
    "Edg": "Edge",
    "OPR/": "Opera",
    "Firefox/": "Firefox",
    "FxiOS/": "Firefox",
    "CriOS/": "Chrome",
    "Chrome/": "Chrome",
    "Safari/": "Safari",
}
_SYSTEMS = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Mac OS X": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


def device_of(user_agent: str) -> str:
    """Return a browser's and system's names, ``Firefox on Linux``; nothing that would name one machine."""
    browser = next((name for sign, name in _BROWSERS.items() if sign in user_agent), "a browser")
    system = next((name for sign, name in _SYSTEMS.items() if sign in user_agent), None)
    return f"{browser} on {system}" if system else browser


def begin_session(
    visit: Visit,
    answer: Response,
    person: str,
    *,
    way: str,
    role: str | None = None,
    name: str = "",
    until: datetime | None = None,
) -> Response:
    """Sign somebody in: begin a session, and give its cookie to the browser with `answer`.

    The session that the browser had ends: nobody goes on with a cookie that was there before signing in.

    Parameters
    ----------
    visit : Visit
    answer : Response
        What the browser gets; the same is returned.
    person : str
        Id.
    way : str
        ``mail``, ``code``, ``oidc``, ``lti`` or ``terminal``.
    role, name : str, optional
        As a learning system says them.
    until : datetime, optional
        The session ends then at the latest, if that is sooner than others do.
    """
    site, now = visit.site, visit.now
    lasts = timedelta(days=site.settings.session_days)
    if until is not None:
        lasts = min(lasts, until - now)
    if visit.session is not None:
        site.store.sessions.revoke(visit.session.person, now, visit.session.id)
    cookie = site.store.sessions.begin(
        person,
        way=way,
        now=now,
        lasts=lasts,
        role=role,
        name=name,
        device=device_of(visit.headers.get("user-agent", "")),
    )
    known = site.people.by_id.get(person)
    visit.log_by(person, role or (known.role if known else "student"), "session.begin", way)
    # The store says when a session ends: the cookie of one that may be extended lasts longer.
    cookie_lasts = lasts + _LONGEST_MORE if way == "code" else lasts
    set_session_cookie(answer, site, cookie, cookie_lasts, way=way)
    return answer


def extend_code_session(site: Site, session: SignedInSession, now: datetime) -> None:
    """Let the session of a code go on while its student's sitting does: it mustn't end in mid-exam.

    Looked at every few minutes, because more time may be given during the exam.
    """
    if session.way != "code" or now - session.seen <= SEEN_EVERY:
        return
    end = running_until(site.store, site.policies(), session.person, now)
    if end is not None and session.expires < end + _AFTER_SITTING and end - now <= _LONGEST_MORE:
        site.store.sessions.extend(session.id, end + _AFTER_SITTING)


def end_cookie(visit: Visit, answer: Response) -> Response:
    """Have the browser forget its session's cookie."""
    set_cookie(answer, visit.site, SESSION_COOKIE, "", 0, framed=visit.is_framed)
    return answer


def on_to(visit: Visit, text: str) -> Response:
    """Return where somebody goes who has signed in: the page that was asked for, or the first one."""
    from starlette.responses import RedirectResponse

    return RedirectResponse(safe_next(visit.base, text) or visit.url("home"), status_code=303)
