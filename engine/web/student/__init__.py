"""What students see and do: their quizzes and exercises, one quiz, their marks, and what they ask for."""

from __future__ import annotations

from engine.course.people import Role
from engine.web.routes import WebRoute
from engine.web.student import asking, autosave, my_work, question_page, quiz_page

_BOTH = ("GET", "POST")

ROUTES = (
    WebRoute("student.home", "/work", my_work.my_work, Role.STUDENT, nav="My work"),
    WebRoute("student.marks", "/marks", my_work.my_marks, Role.STUDENT, nav="My marks"),
    WebRoute("student.requests", "/requests", asking.requests, Role.STUDENT, _BOTH, nav="Requests"),
    WebRoute("student.withdraw", "/requests/{request}/withdraw", asking.withdraw, Role.STUDENT, ("POST",)),
    WebRoute("student.quiz", "/quiz/{quiz}", quiz_page.quiz, Role.STUDENT),
    WebRoute("student.begin", "/quiz/{quiz}/begin", quiz_page.begin, Role.STUDENT, ("POST",)),
    WebRoute("student.hand_in", "/quiz/{quiz}/hand-in", quiz_page.hand_in, Role.STUDENT, _BOTH),
    WebRoute("student.question", "/quiz/{quiz}/{number}", question_page.question, Role.STUDENT, _BOTH),
    WebRoute("student.save", "/quiz/{quiz}/{number}/save", autosave.save, Role.STUDENT, ("POST",)),
)
