"""Pages for staff: the class, marking, decisions, quizzes, items, regrades, reports, and the log.

Markers see the class and mark; what decides about deadlines, quizzes, regrades, exports and staff is for
instructors. Every deciding action goes into the log.
"""

from __future__ import annotations

from engine.course.people import Role
from engine.web.instructor import class_view, decision_log, staff, student_view
from engine.web.routes import WebRoute

_MARKER, _INSTRUCTOR = Role.MARKER, Role.INSTRUCTOR
_POST = ("POST",)

ROUTES: tuple[WebRoute, ...] = (
    WebRoute("instructor.class", "/staff/class", class_view.class_page, _MARKER),
    WebRoute("instructor.class.assignment", "/staff/assignments/{name}", class_view.assignment_page, _MARKER),
    WebRoute("instructor.class.student", "/staff/students/{student}", student_view.student_page, _MARKER),
    WebRoute(
        "instructor.class.student.seen", "/staff/students/{student}/seen", student_view.seen_page, _MARKER
    ),
    WebRoute(
        "instructor.class.work", "/staff/students/{student}/marks/{column}", student_view.work_page, _MARKER
    ),
    WebRoute(
        "instructor.class.mark",
        "/staff/students/{student}/marks/{column}/set",
        student_view.set_mark,
        _MARKER,
        _POST,
    ),
    WebRoute("instructor.log", "/staff/log", decision_log.log_page, _INSTRUCTOR),
    WebRoute("instructor.job", "/staff/jobs/{job}", staff.show_job, _INSTRUCTOR),
    WebRoute("instructor.job.stop", "/staff/jobs/{job}/stop", staff.stop_job, _INSTRUCTOR, _POST),
)
