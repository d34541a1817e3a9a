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
    """

    name: str
    path: str
    view: View
    least: Role | None
    methods: tuple[str, ...] = ("GET",)
    most_bytes: int = 2 << 20
    takes_files: bool = False
    csrf: bool = True


def all_routes() -> tuple[WebRoute, ...]:
    """Return the routes of all parts of the site."""
    from engine.web import home, instructor

    return (*home.ROUTES, *instructor.ROUTES)
