"""HTTP to learning systems: only over TLS, to no address of this machine, and never endless.

Addresses come from registrations and from signed messages, so from people who aren't ours. Whoever enters a
wrong one must not make this server talk to services that only it can reach.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import time
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.utils import get_environ_proxies

from engine import __version__
from engine.errors import LtiError, PlatformAwayError
from engine.text.words import clean_line

MOST_URL = 1000  # characters: longer ones don't fit into the store either
_MOST_BYTES = 4 << 20  # a page of members has some hundred kilobytes
_CONNECT_S, _READ_S, _WHOLE_S = 5.0, 15.0, 30.0
_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_local(address: str) -> bool:
    """Return whether an address is one of this machine only, as for trying things out."""
    try:
        return urlsplit(address).hostname in _LOCAL_NAMES
    except ValueError:
        return False


def check_url(url: str, noun: str, *, local: bool = False) -> str:
    """Return the address of a learning system's service if it can be one.

    Parameters
    ----------
    url : str
    noun : str
        What it is, for the message: ``"the address of its keys"``.
    local : bool
        Whether ``http://localhost`` is fine: the site itself runs for trying things out.

    Raises
    ------
    LtiError
        It isn't an https address.
    """
    fault = _url_fault(url, local)
    if fault is not None:
        raise LtiError(
            f"{noun} can't be used",
            expected="an address that begins with https://",
            got=f"{clean_line(url, 80) or 'nothing'}{fault}",
            next_step="copy it from the settings of the learning system",
        )
    return url


def _url_fault(url: str, local: bool) -> str | None:
    if len(url) > MOST_URL:
        return f" (longer than {MOST_URL} characters)"
    if any(c.isspace() or not c.isprintable() for c in url) or not url.isascii():
        return " (with a blank, or a character that addresses don't have)"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return ""
    if not host or parts.username is not None or parts.fragment:
        return ""
    is_plain = parts.scheme == "http" and local and host in _LOCAL_NAMES
    return None if parts.scheme == "https" or is_plain else ""


def origin_of(url: str) -> str | None:
    """Return scheme, host and port of an address as browsers write them; None where it has none."""
    if _url_fault(url, local=True) is not None:
        return None
    parts = urlsplit(url)
    host = parts.hostname or ""
    if not all(c.isalnum() or c in "-._:" for c in host):
        return None
    bracketed = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{bracketed}" + (f":{parts.port}" if parts.port else "")


class PlatformSession(requests.Session):
    """What the library sends through: requests are checked, bounded in time and size, and never redirected.

    Parameters
    ----------
    local : bool
        Whether services on this machine may be asked.
    """

    def __init__(self, *, local: bool = False) -> None:
        super().__init__()
        self._local = local
        # A .netrc on the server would put its own password in the place of our token.
        self.trust_env = False
        self.headers["User-Agent"] = f"Softmark/{__version__}"

    def request(  # type: ignore[override]  # the library names no other options than these
        self, method: str, url: str, **options: Any
    ) -> requests.Response:
        """Send a request and read the whole answer.

        Raises
        ------
        LtiError
            The address isn't allowed, or the answer is too large.
        PlatformAwayError
            Nobody answers, or not in time.
        """
        check_url(url, "an address of the learning system", local=self._local)
        proxies = get_environ_proxies(url)
        if not proxies:  # a proxy resolves names by itself, and guards its own network
            _check_host(url, self._local)
        options |= {"timeout": (_CONNECT_S, _READ_S), "allow_redirects": False, "stream": True}
        options |= {"proxies": proxies, "verify": os.environ.get("REQUESTS_CA_BUNDLE") or True}
        deadline = time.monotonic() + _WHOLE_S
        try:
            response = super().request(method, url, **options)
            with response:
                response._content = _read(response, url, deadline)
        except requests.RequestException as error:
            raise _away(url, _reason(error)) from error
        if response.is_redirect:
            raise LtiError(
                f"{_host(url)} sends us on to another address",
                got=clean_line(response.headers.get("location", ""), 100),
                next_step="enter the final address in the registration",
            )
        return response


def _read(response: requests.Response, url: str, deadline: float) -> bytes:
    chunks, size = [], 0
    for chunk in response.iter_content(64 << 10):
        chunks.append(chunk)
        size += len(chunk)
        if size > _MOST_BYTES:
            raise LtiError(f"the answer of {_host(url)} is larger than {_MOST_BYTES >> 20} MiB")
        if time.monotonic() > deadline:  # a byte now and then keeps the other limit from ever being reached
            raise _away(url, "it answers too slowly")
    return b"".join(chunks)


def _check_host(url: str, local: bool) -> None:
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        known = socket.getaddrinfo(host, parts.port or 443, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise _away(url, "its name isn't known") from error
    for *_, address in known:
        ip = ipaddress.ip_address(str(address[0]).partition("%")[0])
        ip = getattr(ip, "ipv4_mapped", None) or ip
        is_own = ip.is_loopback and not (local and host in _LOCAL_NAMES)
        # Private networks are fine: many a university's learning system is in one. A service of this machine
        # or of the cloud that it runs in is none.
        if is_own or ip.is_link_local or ip.is_multicast or ip.is_unspecified or ip.is_reserved:
            raise LtiError(
                f"{clean_line(host, 80)} is an address of this machine or of its network's own services",
                next_step="enter the learning system's public address",
            )


def _host(url: str) -> str:
    return clean_line(urlsplit(url).netloc, 80)


def _away(url: str, reason: str) -> PlatformAwayError:
    return PlatformAwayError(
        f"{_host(url)} can't be reached",
        got=reason,
        next_step="try again later; if it stays so, check the addresses of its registration",
    )


def _reason(error: requests.RequestException) -> str:
    # The library's own texts hold addresses with their parameters, which can be about people.
    reasons: tuple[tuple[type[Exception], str], ...] = (
        (
            requests.exceptions.SSLError,
            "its certificate isn't trusted here (REQUESTS_CA_BUNDLE can name more)",
        ),
        (requests.exceptions.ProxyError, "the proxy between us doesn't let us through"),
        (requests.exceptions.Timeout, "it didn't answer in time"),
        (requests.exceptions.ConnectionError, "it doesn't accept connections"),
    )
    return next((text for kind, text in reasons if isinstance(error, kind)), "its answer breaks off")
