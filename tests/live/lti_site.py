"""A course on the web with a learning system, both behind real HTTP, and the browsers of its users."""

from __future__ import annotations

import html
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx
import uvicorn

from engine.store import Store
from engine.web.application import application
from engine.web.serving import bind
from engine.web.site import Site
from engine.web.visit import SESSION_COOKIE
from tests.live.lms import INSTRUCTOR, Lms, LmsMember, learning_system
from tests.live.site import trusted


def certificate(folder: Path) -> Path:
    """Return a file with a certificate for this machine and its key."""
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    files = ["-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*words, *names, *files], cwd=folder, check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_text("".join((folder / name).read_text() for name in ("key.pem", "cert.pem")))
    return both


@contextmanager
def served(
    folder: Path, store: Store, *, tls: Path | None = None, wrap: Callable[[Any], Any] = lambda app: app
) -> Iterator[Site]:
    """Serve a course on a free port; with TLS where there is a certificate."""
    listening = bind("127.0.0.1", 0)
    address = f"{'https' if tls else 'http'}://127.0.0.1:{listening.getsockname()[1]}"
    site = Site(folder, store, address)
    config = uvicorn.Config(
        wrap(application(site)), log_level="error", access_log=False, lifespan="on", ssl_certfile=tls
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        until = time.monotonic() + 30
        while not server.started and time.monotonic() < until:
            time.sleep(0.02)
        assert server.started
        yield site
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()


@dataclass
class Form:
    """A form of a page."""

    action: str
    fields: dict[str, str]


def forms(page: str) -> list[Form]:
    found = []
    for attributes, body in re.findall(r"<form([^>]*)>(.*?)</form>", page, re.DOTALL):
        action = re.search(r'action="([^"]*)"', attributes)
        fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', body))
        action_url = html.unescape(action[1]) if action else ""
        found.append(Form(action_url, {k: html.unescape(v) for k, v in fields.items()}))
    return found


class Browser(httpx.Client):
    """A user's browser, which follows no redirect by itself."""

    def __init__(self) -> None:
        super().__init__(timeout=30, trust_env=False, verify=trusted())

    def click(self, lms: Lms, user: str, link: str = "link-1") -> httpx.Response:
        """Click a link in the learning system, and return what its launch is answered with."""
        return self.send_launch(self.message(lms, user, link))

    def message(self, lms: Lms, user: str, link: str = "link-1") -> Form:
        """Go as far as the form that carries the launch."""
        start = self.get(lms.login_url(user, link))
        assert start.status_code == 302, start.text
        page = self.get(start.headers["location"])
        assert page.status_code == 200, page.text
        (form,) = forms(page.text)
        return form

    def send_launch(self, form: Form) -> httpx.Response:
        return self.post(form.action, data=form.fields)

    def follow(self, answer: httpx.Response) -> httpx.Response:
        """Follow redirects to a page."""
        for _ in range(5):
            if answer.status_code not in (302, 303):
                break
            answer = self.get(urljoin(str(answer.url), answer.headers["location"]))
        return answer

    def submit(self, answer: httpx.Response, action: str, **more: Any) -> httpx.Response:
        """Send the form of a page whose action ends so."""
        form = next(f for f in forms(answer.text) if f.action.endswith(action))
        url = urljoin(str(answer.url), form.action)
        return self.post(url, data=form.fields | more)

    @property
    def session(self) -> str | None:
        return self.cookies.get(SESSION_COOKIE)


@contextmanager
def course_with_lms(folder: Path, store: Store, **how: Any) -> Iterator[tuple[Site, Lms]]:
    """Serve a course in which a learning system with three people is registered; `how` is for served()."""
    from engine.quiz.rules import now

    with served(folder, store, **how) as site, learning_system(site.address) as lms:
        lms.members = {
            "u-ada": LmsMember("u-ada", "Ada Lovelace", "ada@example.edu"),
            "u-eve": LmsMember("u-eve", "Eve", "eve@example.edu"),
            "u-ivy": LmsMember("u-ivy", "Ivy Prof", "ivy@example.edu", (INSTRUCTOR,)),
        }
        store.lti.add_platform(lms.values(), by="ivy", now=now())
        yield site, lms
