"""A student who answers a quiz at a running site, as the page's script saves it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx

from engine.course import Course
from engine.quiz import compose, read_blueprint
from engine.quiz.rules import now
from tests.live.site import LiveSite, form_token

__all__ = ["QUIZ", "QuizVisitor", "publish_quiz"]

QUIZ = "week-1"
_BLUEPRINT = """\
title: Week 1
{more}
sections:
  - items: [softmax-ratio, alignment-read]
"""


def publish_quiz(folder: Path, *students: str, more: str = "attempts: 20") -> None:
    """Draw a quiz of two questions for these students, and publish it."""
    course = Course.open(folder)
    path = folder / "blueprints" / f"{QUIZ}.yaml"
    path.write_text(_BLUEPRINT.format(more=more), encoding="utf-8")
    quizzes = compose(read_blueprint(path), course.bank(), list(students), secret=course.secret(), name=QUIZ)
    with course.open_store() as store:
        store.save_quizzes(quizzes)
        store.published.publish(QUIZ, "ivy", now())


class QuizVisitor:
    """A browser in which a student has the first question of the quiz open."""

    def __init__(self, site: LiveSite, student: str) -> None:
        self.student = student
        self.client: httpx.Client = site.browser(student)
        page = self.client.get(f"/quiz/{QUIZ}/1").text
        self.token = form_token(page)
        (self.part,) = re.findall(r'name="text\.(\w+)"', page)
        self.revision = 0
        self.confirmed: dict[str, Any] = {}

    def save(self, text: str) -> httpx.Response:
        """Save another text; what the site confirms is kept."""
        answer = self.client.post(
            f"/quiz/{QUIZ}/1/save",
            data={"retry": "0", f"revision.{self.part}": str(self.revision), f"text.{self.part}": text},
            headers={"x-csrf-token": self.token, "accept": "application/json"},
        )
        if answer.status_code == 200:
            (field,) = answer.json()["fields"]
            self.revision = field["revision"]
            # Another text can only be one of our own, whose confirmation was lost on the way.
            if field["state"] == "saved":
                self.confirmed = field
        return answer

    def close(self) -> None:
        self.client.close()
