"""A course on the web and a learning system, both over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.course import Course
from engine.store import Store
from engine.web.site import Site
from tests.live.lms import Lms
from tests.live.lti_site import Browser, course_with_lms

LTI = "https://purl.imsglobal.org/spec/lti/claim/"


@pytest.fixture
def store(folder: Path) -> Iterator[Store]:
    with Course.open(folder).open_store() as opened:
        yield opened


@pytest.fixture
def lms_course(folder: Path, store: Store) -> Iterator[tuple[Site, Lms]]:
    with course_with_lms(folder, store) as both:
        yield both


@pytest.fixture
def served_site(lms_course: tuple[Site, Lms]) -> Site:
    return lms_course[0]


@pytest.fixture
def lms(lms_course: tuple[Site, Lms]) -> Lms:
    return lms_course[1]


@pytest.fixture
def accepted(lms: Lms) -> Lms:
    """The learning system after its instructor's first launch."""
    with Browser() as browser:
        assert browser.click(lms, "u-ivy").status_code == 303
    return lms


@pytest.fixture
def browser() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened


@pytest.fixture
def ivy(browser: Browser, served_site: Site, lms: Lms) -> Browser:
    """The instructor's browser, signed in by a launch."""
    assert browser.click(lms, "u-ivy").status_code == 303
    return browser


def page(browser: Browser, site: Site, path: str) -> Any:
    """Return a page of the site."""
    answer = browser.get(f"{site.address}{path}")
    assert answer.status_code == 200, answer.text
    return answer


def sentence(answer: Any) -> str:
    """Return the heading of an error page."""
    assert 400 <= answer.status_code < 500, answer.text
    return str(answer.text.split("<h1>")[1].split("</h1>")[0])


def claims(lms: Lms, **changes: Any) -> None:
    """Have the next launches carry other claims; ``...`` leaves one out."""

    def changed(body: dict[str, Any]) -> str:
        return lms.sign({k: v for k, v in {**body, **changes}.items() if v is not ...})

    lms.token = changed
