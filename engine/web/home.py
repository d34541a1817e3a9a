"""The first page, where everybody starts: it leads on to what one's role does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.course.people import Role
from engine.web.routes import WebRoute
from engine.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response


def home(visit: Visit) -> Response:
    """Show the first page: the way in, or the person's own first page."""
    if visit.may(Role.MARKER):
        return visit.redirect("instructor.class")
    if visit.person is not None:
        return visit.redirect("student.home")
    return visit.page("home.html.j2")


def health(visit: Visit) -> Response:
    """Say whether the site can do its work: it reads its store."""
    visit.site.store.quiz_names()
    return visit.json({"status": "ok"})


ROUTES = (
    WebRoute("home", "/", home, None),
    WebRoute("health", "/health", health, None),
)
