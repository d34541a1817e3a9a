"""The first page, where everybody starts, and what other programs ask: whether the site is ready."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.course.people import Role
from engine.errors import StoreError
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


def ready(visit: Visit) -> Response:
    """Say whether the site can do its work: it reads its store. Status 503 where it can't."""
    try:
        visit.site.store.quiz_names()
    except StoreError as error:
        return visit.json({"status": "unavailable", "why": error.what}, status=503)
    # Where the course folder has a fault, the site goes on with what it read before: that is no outage.
    return visit.json({"status": "ok"} | ({"course_folder": "faulty"} if visit.site.fault else {}))


def live(visit: Visit) -> Response:
    """Say that the process answers, whatever its store does: one that doesn't is started anew."""
    return visit.json({"status": "ok"})


ROUTES = (
    WebRoute("home", "/", home, None),
    WebRoute("health", "/health", ready, None, asks_who=False),
    WebRoute("health.live", "/health/live", live, None, asks_who=False),
    WebRoute("health.ready", "/health/ready", ready, None, asks_who=False),
)
