"""The keys of a quiz as one page, for the instructor alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.quiz.answer_key import QuizKey
from engine.report.pages import render

__all__ = ["key_page"]


def key_page(keys: Sequence[QuizKey], *, names: Mapping[str, str] | None = None) -> str:
    """Return one page with the keys of these students' quizzes (at least one).

    Parameters
    ----------
    keys : sequence of QuizKey
    names : mapping of str to str, optional
        Names by student id.
    """
    return render("key.html.j2", keys=keys, names=names or {})
