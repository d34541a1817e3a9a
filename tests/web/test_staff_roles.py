"""Who reaches which page for staff: every route, as every role, with addresses of things that are there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.course import Course
from engine.course.people import Role
from engine.web.instructor import ROUTES
from engine.web.routes import WebRoute
from engine.web.site import Site
from engine.web.visit import path_segment
from tests.live.site import new_course
from tests.web.conftest import ADDRESS, SignedIn
from tests.web.course_work import COLUMNS, QUIZ, draw_quiz, hand_in
from tests.web.forms_of_pages import form_token

_VALUES = {
    "student": "ada",
    "column": path_segment(COLUMNS[0]),
    "name": QUIZ,
    "item": "softmax",
    "field": "week-1",
    "answer": "x",
    "job": "x",
    "request": "1",
    "number": "1",
    "file": "index.html",
    "folder": "pairs",
    "exam": "K7QF2MXA",
    "place": "1-1-answer",
}


def _address(route: WebRoute) -> str:
    return route.path.format_map(_VALUES)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One site with work for all tests: whatever they ask for changes nothing."""
    folder = new_course(tmp_path_factory.mktemp("roles") / "course")
    with Course.open(folder).open_store() as store:
        site = Site(folder, store, ADDRESS)
        hand_in(site, draw_quiz(site)["ada"])
        yield site


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_others_find_nothing_there(route: WebRoute, site: Site, signed_in: SignedIn) -> None:
    assert route.least in (Role.MARKER, Role.INSTRUCTOR)
    people = ["ada", "mia"] if route.least is Role.INSTRUCTOR else ["ada"]
    before = site.store.audit.newest(50)
    for who in people:
        browser = signed_in(who)
        # every signed-in person has a form token of their own
        token = form_token(browser, "/requests" if who == "ada" else "/staff/class")
        if "GET" in route.methods:
            assert browser.get(_address(route)).status_code == 404, who
        if "POST" in route.methods:
            assert browser.post(_address(route), data={"csrf": token}).status_code == 404, who
    assert site.store.audit.newest(50) == before


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_nothing_is_served_without_signing_in_or_token(
    route: WebRoute, site: Site, signed_in: SignedIn
) -> None:
    browser = signed_in("ivy")
    if "POST" in route.methods:
        assert browser.post(_address(route), data={"action": "set"}).status_code == 403
    browser.cookies.clear()
    if "GET" in route.methods:
        assert browser.get(_address(route)).status_code == 303
    assert site.store.hand_marks.history() == []
