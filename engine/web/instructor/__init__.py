"""Pages for staff: the class, marking, decisions, quizzes, items, regrades, reports, and the log.

Markers see the class and mark; what decides about deadlines, quizzes, regrades, exports and staff is for
instructors. Every deciding action goes into the log.
"""

from __future__ import annotations

from engine.course.people import Role
from engine.web.instructor import (
    class_view,
    course_pages,
    decisions,
    items,
    log_page,
    marking,
    quizzes,
    regrade_page,
    reports,
    request_pages,
    roster_upload,
    scan_pages,
    staff,
    student_view,
)
from engine.web.routes import WebRoute

_MARKER, _INSTRUCTOR = Role.MARKER, Role.INSTRUCTOR
_POST = ("POST",)

# In the order of the navigation: what is looked at every day comes first.
ROUTES: tuple[WebRoute, ...] = (
    WebRoute("instructor.class", "/staff/class", class_view.class_page, _MARKER, nav="Class"),
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
    WebRoute(
        "instructor.class.comment",
        "/staff/students/{student}/marks/{column}/comment",
        student_view.add_comment,
        _MARKER,
        _POST,
    ),
    WebRoute(
        "instructor.class.comment.remove",
        "/staff/students/{student}/marks/{column}/uncomment",
        student_view.remove_comment,
        _MARKER,
        _POST,
    ),
    WebRoute("instructor.marking", "/staff/marking", marking.fields_page, _MARKER, nav="Marking"),
    WebRoute("instructor.marking.forget", "/staff/marking/forget", marking.forget_sentence, _MARKER, _POST),
    WebRoute("instructor.marking.field", "/staff/marking/of/{field}", marking.field_page, _MARKER),
    WebRoute("instructor.marking.next", "/staff/marking/of/{field}/next", marking.next_answer, _MARKER),
    WebRoute(
        "instructor.marking.answer",
        "/staff/marking/of/{field}/answers/{answer}",
        marking.answer_page,
        _MARKER,
    ),
    WebRoute(
        "instructor.marking.give",
        "/staff/marking/of/{field}/answers/{answer}/give",
        marking.give_marks,
        _MARKER,
        _POST,
    ),
    WebRoute("instructor.scans", "/staff/marking/scans", scan_pages.scans_page, _MARKER),
    WebRoute("instructor.scans.next", "/staff/marking/scans/next", scan_pages.next_place, _MARKER),
    WebRoute(
        "instructor.scans.place", "/staff/marking/scans/of/{exam}/{place}", scan_pages.place_page, _MARKER
    ),
    WebRoute(
        "instructor.scans.picture",
        "/staff/marking/scans/of/{exam}/{place}/picture/{number}",
        scan_pages.place_picture,
        _MARKER,
    ),
    WebRoute(
        "instructor.scans.decide",
        "/staff/marking/scans/of/{exam}/{place}/decide",
        scan_pages.decide_place,
        _MARKER,
        _POST,
    ),
    WebRoute(
        "instructor.scans.undo",
        "/staff/marking/scans/of/{exam}/{place}/undo",
        scan_pages.undo_decision,
        _MARKER,
        _POST,
    ),
    WebRoute(
        "instructor.requests", "/staff/requests", request_pages.requests_page, _INSTRUCTOR, nav="Requests"
    ),
    WebRoute(
        "instructor.requests.decide",
        "/staff/requests/{request}/decide",
        request_pages.decide_request,
        _INSTRUCTOR,
        _POST,
    ),
    WebRoute("instructor.allow", "/staff/allowances", decisions.allow_page, _INSTRUCTOR),
    WebRoute("instructor.allow.add", "/staff/allowances/add", decisions.allow, _INSTRUCTOR, _POST),
    WebRoute(
        "instructor.allow.back", "/staff/allowances/{number}/back", decisions.take_back, _INSTRUCTOR, _POST
    ),
    WebRoute("instructor.quizzes", "/staff/quizzes", quizzes.list_page, _INSTRUCTOR, nav="Quizzes"),
    WebRoute("instructor.quiz.check", "/staff/quizzes/check", quizzes.start_check, _INSTRUCTOR, _POST),
    WebRoute("instructor.quiz.checked", "/staff/quizzes/checked/{job}", quizzes.checked_page, _INSTRUCTOR),
    WebRoute(
        "instructor.quiz.checked.preview",
        "/staff/quizzes/checked/{job}/preview",
        quizzes.check_preview,
        _INSTRUCTOR,
    ),
    WebRoute("instructor.quiz.draw", "/staff/quizzes/draw", quizzes.start_draw, _INSTRUCTOR, _POST),
    WebRoute("instructor.quiz.drawn", "/staff/quizzes/drawn/{job}", quizzes.drawn_page, _INSTRUCTOR),
    WebRoute("instructor.quiz", "/staff/quizzes/of/{name}", quizzes.quiz_view, _INSTRUCTOR),
    WebRoute("instructor.quiz.preview", "/staff/quizzes/of/{name}/preview", quizzes.preview, _INSTRUCTOR),
    WebRoute("instructor.quiz.key", "/staff/quizzes/of/{name}/key", quizzes.show_key, _INSTRUCTOR),
    WebRoute(
        "instructor.quiz.publish", "/staff/quizzes/of/{name}/publish", quizzes.publish, _INSTRUCTOR, _POST
    ),
    WebRoute(
        "instructor.quiz.deadline",
        "/staff/quizzes/of/{name}/deadline",
        quizzes.move_deadline,
        _INSTRUCTOR,
        _POST,
    ),
    WebRoute(
        "instructor.variant", "/staff/quizzes/whose", quizzes.find_variant, _INSTRUCTOR, ("GET", "POST")
    ),
    WebRoute("instructor.items", "/staff/items", items.list_page, _INSTRUCTOR, nav="Items"),
    WebRoute("instructor.item.lint", "/staff/items/lint", items.start_lint, _INSTRUCTOR, _POST),
    WebRoute("instructor.item.linted", "/staff/items/linted/{job}", items.linted_page, _INSTRUCTOR),
    WebRoute("instructor.item", "/staff/items/of/{item}", items.preview, _INSTRUCTOR),
    WebRoute("instructor.course", "/staff/course", course_pages.files_page, _INSTRUCTOR, nav="Course"),
    WebRoute(
        "instructor.course.new",
        "/staff/course/new",
        course_pages.new_page,
        _INSTRUCTOR,
        ("GET", "POST"),
    ),
    WebRoute(
        "instructor.course.roster",
        "/staff/course/roster",
        roster_upload.read_upload,
        _INSTRUCTOR,
        _POST,
        takes_files=True,
    ),
    WebRoute(
        "instructor.course.roster.write",
        "/staff/course/roster/write",
        roster_upload.write_upload,
        _INSTRUCTOR,
        _POST,
    ),
    WebRoute(
        "instructor.course.file",
        "/staff/course/files/{file}",
        course_pages.file_page,
        _INSTRUCTOR,
        ("GET", "POST"),
    ),
    WebRoute("instructor.regrade", "/staff/regrade", regrade_page.regrade_page, _INSTRUCTOR, nav="Regrade"),
    WebRoute("instructor.regrade.start", "/staff/regrade/start", regrade_page.start_plan, _INSTRUCTOR, _POST),
    WebRoute("instructor.regrade.plan", "/staff/regrade/plans/{job}", regrade_page.plan_page, _INSTRUCTOR),
    WebRoute(
        "instructor.regrade.apply",
        "/staff/regrade/plans/{job}/apply",
        regrade_page.apply,
        _INSTRUCTOR,
        _POST,
    ),
    WebRoute("instructor.reports", "/staff/reports", reports.reports_page, _INSTRUCTOR, nav="Reports"),
    WebRoute(
        "instructor.report.start", "/staff/reports/make", reports.start, _INSTRUCTOR, _POST, takes_files=True
    ),
    WebRoute("instructor.report", "/staff/reports/made/{job}", reports.report_page, _INSTRUCTOR),
    WebRoute("instructor.report.file", "/staff/reports/made/{job}/{file}", reports.report_file, _INSTRUCTOR),
    WebRoute(
        "instructor.report.page",
        "/staff/reports/made/{job}/{folder}/{file}",
        reports.report_file,
        _INSTRUCTOR,
    ),
    WebRoute("instructor.log", "/staff/log", log_page.log_page, _INSTRUCTOR, nav="Log"),
    WebRoute("instructor.log.table", "/staff/log/table", log_page.log_table, _INSTRUCTOR),
    WebRoute("instructor.job", "/staff/jobs/{job}", staff.show_job, _INSTRUCTOR),
    WebRoute("instructor.job.stop", "/staff/jobs/{job}/stop", staff.stop_job, _INSTRUCTOR, _POST),
)
