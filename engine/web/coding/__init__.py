"""Code on the site: an exercise's page, where programs are handed in and feedback is read; and what waits."""

from __future__ import annotations

from engine.course.people import Role
from engine.web.coding import code_page, queue_page
from engine.web.routes import WebRoute

ROUTES = (
    WebRoute("student.exercise", "/code/{item}", code_page.exercise, Role.STUDENT),
    WebRoute(
        "code.hand_in", "/code/{item}/hand-in", code_page.hand_in, Role.STUDENT, ("POST",), takes_files=True
    ),
    WebRoute("code.state", "/code/{item}/state/{number}", code_page.state, Role.STUDENT),
    WebRoute("instructor.queue", "/staff/waiting", queue_page.queue, Role.INSTRUCTOR, nav="Waiting"),
    WebRoute(
        "instructor.queue.again", "/staff/waiting/again", queue_page.try_again, Role.INSTRUCTOR, ("POST",)
    ),
    WebRoute(
        "instructor.queue.pause", "/staff/waiting/pause", queue_page.set_paused, Role.INSTRUCTOR, ("POST",)
    ),
    WebRoute("instructor.queue.retry", "/staff/waiting/retry", queue_page.retry, Role.INSTRUCTOR, ("POST",)),
    WebRoute("instructor.queue.drain", "/staff/waiting/drain", queue_page.drain, Role.INSTRUCTOR, ("POST",)),
    WebRoute("code.starter", "/code/{item}/starter/{form}", code_page.starter, Role.STUDENT),
)
