"""All pages of the site: who may see each, and which function makes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.course.people import Role
from engine.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

View = Callable[[Visit], "Response"]


@dataclass(frozen=True, slots=True)
class WebRoute:
    """One page or action.

    Parameters
    ----------
    name : str
        Such as ``student.quiz``: links are made by it.
    path : str
        With parameters in braces.
    view : callable
    least : Role or None
        The least role that may see it; None: everybody, signed in or not.
    methods : tuple of str
        GET, POST or both.
    most_bytes : int
        Of a form. Where files are taken, the course's limit on uploads applies.
    takes_files : bool
    csrf : bool
        Whether a POST must carry the form token; False only for messages of other systems, which prove
        themselves otherwise.
    asks_who : bool
        Whether it matters who asks; False for pages that must answer although the store doesn't.
    nav : str
        The page's label in the navigation of those whose role it is for; empty where it isn't there. Entries
        stand in the order of the routes.
    """

    name: str
    path: str
    view: View
    least: Role | None
    methods: tuple[str, ...] = ("GET",)
    most_bytes: int = 2 << 20
    takes_files: bool = False
    csrf: bool = True
    asks_who: bool = True
    nav: str = ""


@dataclass(frozen=True, slots=True)
class NavEntry:
    """A link of the navigation; `current` says ``page`` on that page itself, ``true`` on those below it."""

    label: str
    url: str
    current: str = ""


def all_routes() -> tuple[WebRoute, ...]:
    """Return the routes of all parts of the site."""
    from engine.web import coding, home, instructor, lti, sign_in, student

    return (
        *home.ROUTES,
        *sign_in.ROUTES,
        *student.ROUTES,
        *instructor.ROUTES,
        *coding.ROUTES,
        *lti.ROUTES,
    )


# Pages beside the main page from which they are reached, not below it, by the beginning of their path.
_REACHED_FROM = {
    "/quiz/": "/work",
    "/code/": "/work",
    "/staff/students/": "/staff/class",
    "/staff/assignments/": "/staff/class",
    "/staff/allowances": "/staff/requests",
}


def navigation(visit: Visit) -> list[NavEntry]:
    """Return the main pages of whoever is signed in: a student's, or those of the staff's role."""
    person = visit.person
    if person is None:
        return []
    mine = [
        route
        for route in all_routes()
        if route.nav
        and person.role.includes(route.least or Role.STUDENT)
        # Staff may open students' pages, from their own.
        and (route.least is None or (route.least is not Role.STUDENT) == person.is_staff)
    ]
    here = visit.routes.get(visit.route, "")
    here = next((f"{main}/" for begins, main in _REACHED_FROM.items() if here.startswith(begins)), here)
    above = [r.path for r in mine if here == r.path or here.startswith(r.path.rstrip("/") + "/")]
    nearest = max((path for path in above if path != "/" or here == "/"), key=len, default=None)
    return [
        NavEntry(
            route.nav,
            visit.url(route.name),
            "" if route.path != nearest else "page" if route.path == here else "true",
        )
        for route in mine
    ]
