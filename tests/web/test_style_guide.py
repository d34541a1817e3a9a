"""Every piece of the design system on one page, and the navigation."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from jinja2 import ChoiceLoader, DictLoader
from starlette.responses import HTMLResponse, Response
from starlette.testclient import TestClient

import engine.web.routes as routes
from engine.course.people import Role
from engine.pages.render import _environment
from engine.web import home
from engine.web.routes import WebRoute, navigation
from engine.web.visit import Visit
from tests.web.conftest import SignedIn

GUIDE = Path(__file__).with_name("style_guide.html.j2")


def style_guide(visit: Visit) -> Response:
    """Show every piece; only here is the guide among the templates."""
    environment = _environment("engine.web")
    loader = ChoiceLoader([DictLoader({"guide": GUIDE.read_text(encoding="utf-8")}), environment.loader])  # type: ignore[list-item]
    page = environment.overlay(loader=loader).get_template("guide")
    moment = datetime(2026, 11, 27, 12, 30, tzinfo=UTC)
    return HTMLResponse(page.render(visit=visit, site=visit.site, moment=moment))


ROUTES = (
    *home.ROUTES,
    WebRoute("guide", "/guide", style_guide, None, nav="Guide"),
    WebRoute("guide.below", "/guide/{page}", style_guide, None),
    WebRoute("mine", "/mine", style_guide, Role.STUDENT, nav="My quizzes"),
    WebRoute("class", "/class", style_guide, Role.MARKER, nav="Class"),
    WebRoute("rules", "/rules", style_guide, Role.INSTRUCTOR, nav="Rules"),
)


@pytest.fixture(autouse=True)
def guide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "all_routes", lambda: ROUTES)
    monkeypatch.setattr("engine.web.application.all_routes", lambda: ROUTES)


def test_every_piece_renders(client: TestClient, signed_in: SignedIn) -> None:
    page = signed_in("ivy").get("/guide")
    assert page.status_code == 200
    assert '<time datetime="2026-11-27T12:30:00+00:00">Fri 27 Nov 2026, 12:30</time>' in page.text
    assert 'aria-describedby="email-hint email-error" aria-invalid="true"' in page.text
    assert page.text.count('name="csrf"') >= 2
    assert "style=" not in page.text
    assert client.get("/guide").status_code == 200


def test_each_role_has_its_pages_in_the_navigation(signed_in: SignedIn) -> None:
    def entries(person: str, path: str = "/guide") -> list[str]:
        text = signed_in(person).get(path).text
        top = text[text.rindex('<nav aria-label="Main">') : text.index("<main")]
        return [name for name in ("Guide", "My quizzes", "Class", "Rules") if f">{name}</a>" in top]

    assert entries("ada") == ["Guide", "My quizzes"]
    assert entries("mia") == ["Guide", "Class"]
    assert entries("ivy") == ["Guide", "Class", "Rules"]
    below = signed_in("ada").get("/guide/2").text
    assert 'href="/guide" aria-current="true"' in below
    assert 'href="/guide" aria-current="page"' in signed_in("ada").get("/guide").text


def test_nobody_has_no_navigation(client: TestClient) -> None:
    assert "<nav" not in client.get("/").text
    assert navigation.__doc__


def test_files_of_the_site_may_be_kept_while_their_address_names_their_state(client: TestClient) -> None:
    text = client.get("/").text
    address = text[text.index("/static/site.css?v=") :].partition('"')[0]
    assert "max-age=31536000" in client.get(address).headers["cache-control"]
    assert "max-age=300" in client.get("/static/site.css?v=old").headers["cache-control"]
    assert client.get("/static/icon.svg").headers["content-type"].startswith("image/svg+xml")
