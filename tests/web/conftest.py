"""A small class on the site: two students, a marker and an instructor, and clients that are signed in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from engine.course import Course
from engine.quiz import rules as quiz_rules
from engine.web.application import application
from engine.web.site import Site
from engine.web.visit import SESSION_COOKIE

ROSTER = "id,name,email\nada,Ada Lovelace,ada@example.edu\nbob,Bob Moran,bob@example.edu\n"
STAFF = "id,name,email,role\nmia,Mia Marker,mia@example.edu,marker\nivy,Ivy Prof,ivy@example.edu,instructor\n"
ADDRESS = "http://testserver"

SignedIn = Callable[[str], TestClient]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A course folder with a roster and staff."""
    course = tmp_path / "course"
    Course.init(course, "Attention")
    (course / "roster.csv").write_text(ROSTER, encoding="utf-8")
    (course / "staff.csv").write_text(STAFF, encoding="utf-8")
    return course


@pytest.fixture
def site(folder: Path) -> Iterator[Site]:
    """The site of that course."""
    with Course.open(folder).open_store() as store:
        yield Site(folder, store, ADDRESS)


@pytest.fixture
def client(site: Site) -> Iterator[TestClient]:
    """A browser that isn't signed in; it follows no redirect by itself."""
    with TestClient(application(site), base_url=ADDRESS, follow_redirects=False) as browser:
        yield browser


@pytest.fixture
def signed_in(site: Site) -> Iterator[SignedIn]:
    """Return browsers by the id of the person who is signed in."""
    browsers: list[TestClient] = []

    def browser_of(person: str) -> TestClient:
        cookie = site.store.sessions.begin(person, way="mail", now=quiz_rules.now(), lasts=timedelta(hours=1))
        browser = TestClient(application(site), base_url=ADDRESS, follow_redirects=False)
        browser.cookies.set(SESSION_COOKIE, cookie)
        browsers.append(browser)
        return browser

    yield browser_of
    for browser in browsers:
        browser.close()
