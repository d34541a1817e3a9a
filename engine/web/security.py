"""What every request and answer goes through: names of this site, other sites' forms, headers, cookies.

Nothing a browser or proxy says about us is believed: addresses in links come from the settings, and a
``Host`` that isn't ours is refused, so that no foreign name can be made to point at a site on somebody's
machine.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import json
import re
import socket
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from engine.errors import InputError
from engine.web.visit import FORM_COOKIE, SESSION_COOKIE, ForbiddenError

if TYPE_CHECKING:
    from starlette.responses import Response

    from engine.web.site import Site

_FORM_COOKIE_S = 12 * 3600
_HOST = re.compile(r"([A-Za-z0-9.-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")


class ForeignHostError(InputError):
    """The site was asked for under a name that isn't its own: status 421."""


def security_headers(
    site: Site, *, frames: Collection[str] = (), form_target: str | None = None
) -> dict[str, str]:
    """Return the headers of every answer; an answer may have others of its own in their place.

    Parameters
    ----------
    site : Site
    frames : collection of str
        Origins of learning systems whose pages may show this one in a frame.
    form_target : str, optional
        Another origin to which a form of this page is sent.
    """
    ancestors = " ".join(["'self'", *frames]) if frames else "'none'"
    targets = f"'self' {form_target}" if form_target else "'self'"
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        f"connect-src 'self'; form-action {targets}; base-uri 'none'; frame-ancestors {ancestors}"
    )
    headers = {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
        "Cache-Control": "no-store",
    }
    if site.is_secure:
        headers["Strict-Transport-Security"] = "max-age=31536000"
    return headers


def file_policy(page: str) -> str:
    """Return the policy of a page that needs nothing beside itself: its style sheets, and nothing runs."""
    sheets = [piece.partition("</style>")[0] for piece in page.split("<style>")[1:]]
    digests = [hashlib.sha256(sheet.encode()).digest() for sheet in sheets]
    styles = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests) or "'none'"
    return (
        f"default-src 'none'; style-src {styles}; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


def check_host(host: str, site: Site) -> None:
    """Refuse a request for a name that isn't ours.

    An address in digits is always ours: only a name can be made to point somewhere else. So are localhost,
    this machine's name, and the name in the site's address.

    Raises
    ------
    ForeignHostError
    """
    match = _HOST.fullmatch(host)
    name = match[1].strip("[]").rstrip(".").lower() if match else ""
    if name and name in ("localhost", urlsplit(site.address).hostname, socket.gethostname().lower()):
        return
    try:
        ipaddress.ip_address(name)
    except ValueError:
        raise ForeignHostError(
            "this site isn't known by that name",
            expected=site.address,
            next_step="open it by its own address; staff set it as `address` in web.yaml",
        ) from None


def check_origin(headers: Mapping[str, str], site: Site) -> None:
    """Refuse a form that a page of another site sends.

    Raises
    ------
    ForbiddenError
    """
    fetch_site = headers.get("sec-fetch-site")
    if fetch_site is not None:
        is_ours = fetch_site in ("same-origin", "none")
    else:  # older browsers, and all of them without TLS
        origin = headers.get("origin")
        ours = urlsplit(site.address)
        hosts = (headers.get("host", ""), ours.netloc)
        is_ours = origin is None or origin.partition("://")[2] in hosts
    if not is_ours:
        raise ForbiddenError(
            "this form came from another site", next_step="open the page on this site, and send its form"
        )


def set_cookie(
    answer: Response, site: Site, name: str, value: str, lasts_s: int | None, *, framed: bool = False
) -> None:
    """Set a cookie that no script can read.

    Parameters
    ----------
    answer : Response
    site : Site
    name, value : str
    lasts_s : int or None
        Seconds; 0 deletes it, None keeps it until the browser is closed.
    framed : bool
        It must be sent in a frame of a learning system too: needs TLS, and is kept apart for each system.
    """
    parts = [f"{name}={value}", f"Path={site.prefix or '/'}", "HttpOnly"]
    if lasts_s is not None:
        parts.append(f"Max-Age={lasts_s}")
    if site.is_secure:
        parts.append("Secure")
    # Written by hand: http.cookies knows Partitioned from Python 3.14 on.
    parts.append("SameSite=None; Partitioned" if framed and site.is_secure else "SameSite=Lax")
    answer.headers.append("set-cookie", "; ".join(parts))


def cookies_of(headers: Iterable[str]) -> dict[str, str]:
    """Return a request's cookies by name, from its ``Cookie`` headers.

    Not by the standard library, which in older Pythons takes seconds for one long quoted value
    (CVE-2024-7592); none of ours is quoted. Of several of one name the first counts, as that of the longest
    path comes first: a site under a prefix of another one's address has its own.
    """
    cookies: dict[str, str] = {}
    for header in headers:
        for piece in header.split(";"):
            name, sign, value = piece.partition("=")
            if sign:
                cookies.setdefault(name.strip(), value.strip())
    return cookies


def set_session_cookie(answer: Response, site: Site, cookie: str, lasts: timedelta, *, way: str) -> None:
    """Set the cookie of a new session."""
    set_cookie(answer, site, SESSION_COOKIE, cookie, int(lasts.total_seconds()), framed=way == "lti")


def set_form_cookie(answer: Response, site: Site, cookie: str) -> None:
    """Set the cookie to which forms of a browser that isn't signed in are bound."""
    set_cookie(answer, site, FORM_COOKIE, cookie, _FORM_COOKIE_S)


def sealed(site: Site, purpose: str, value: Mapping[str, Any], until: datetime) -> str:
    """Return a value as a text that a browser can keep and can't change."""
    plain = json.dumps({**value, "until": until.isoformat()}, ensure_ascii=True).encode()
    body = base64.urlsafe_b64encode(plain).decode().rstrip("=")
    return f"{body}.{_seal(site, purpose, body)}"


def unsealed(site: Site, purpose: str, text: str, now: datetime) -> dict[str, Any] | None:
    """Return the value of a sealed text; None if it was changed, is for something else or is too old."""
    body, _, seal = text.partition(".")
    if not hmac.compare_digest(seal.encode(), _seal(site, purpose, body).encode()):
        return None
    value: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    return value if datetime.fromisoformat(value["until"]) > now else None


def _seal(site: Site, purpose: str, body: str) -> str:
    return hmac.new(site.form_secret, f"{purpose} {body}".encode(), hashlib.sha256).hexdigest()


_SAFE_PATH = re.compile(r"/(?![/\\])[!-\[\]-~]*")  # visible ASCII without a backslash


def safe_next(base: str, text: str) -> str | None:
    """Return the path of this site to go on to after signing in; None for anything that leads elsewhere.

    Parameters
    ----------
    base : str
        The prefix under which the site is served.
    text : str
        As it came with the address.
    """
    if len(text) > 1000 or not _SAFE_PATH.fullmatch(text) or ".." in text:
        return None
    try:
        pieces = urlsplit(text)
    except ValueError:
        return None
    if pieces.scheme or pieces.netloc or not (text == base or text.startswith(f"{base}/")):
        return None
    return text
