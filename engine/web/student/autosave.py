"""Saving what is being typed: asked by every window every few seconds, so it must cost little.

The questions of a quiz weigh much, and a save needs little of them. For some seconds a quiz is kept without
its texts; whoever finds it closed is told so only after it was read anew.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from engine.course.policies import Policies
from engine.marks.site_quizzes import site_quiz
from engine.model import ChoiceOption, Part, Quiz, QuizQuestion, RenderedText, Variant
from engine.quiz.in_progress import SiteQuiz
from engine.quiz.timing import SittingState
from engine.store.drafts import SavedDraft, SaveState
from engine.web.forms import whole_number
from engine.web.site import Site
from engine.web.student.answer_fields import read_entry
from engine.web.student.my_quiz import saved_words
from engine.web.student.question_page import fields_of
from engine.web.visit import NotFoundError, Visit

if TYPE_CHECKING:
    from starlette.responses import Response

_KEPT_S = 15.0  # a deadline that is moved holds for windows after so long at the latest
_MOST = 1000  # quizzes; without their texts each weighs some tens of kilobytes


class _RecentQuizzes:
    """The quizzes that windows have saved to just now, without what saving doesn't need."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._quizzes: OrderedDict[tuple[str, str], tuple[float, Quiz, Policies]] = OrderedDict()

    def get(self, site: Site, student: str, name: str, *, anew: bool) -> tuple[Quiz, Policies] | None:
        """Return a student's quiz and the course's rules; None where there is no such quiz."""
        key, now = (student, name), time.monotonic()
        if not anew:
            with self._lock:
                known = self._quizzes.get(key)
            if known is not None and now - known[0] < _KEPT_S:
                return known[1:]
        quizzes = site.store.quizzes(name, student) if name in site.store.published.all() else []
        if not quizzes:
            return None
        quiz, policies = _without_texts(quizzes[-1]), site.policies()
        # Read outside the lock: two windows may both read, which costs time and nothing else.
        with self._lock:
            self._quizzes[key] = (now, quiz, policies)
            self._quizzes.move_to_end(key)
            if len(self._quizzes) > _MOST:
                self._quizzes.popitem(last=False)
        return quiz, policies


_by_site: WeakKeyDictionary[Site, _RecentQuizzes] = WeakKeyDictionary()
_sites_lock = threading.Lock()


def _quizzes_of(site: Site) -> _RecentQuizzes:
    with _sites_lock:
        return _by_site.setdefault(site, _RecentQuizzes())


def _without_texts(quiz: Quiz) -> Quiz:
    return replace(quiz, questions=tuple(_light_question(question) for question in quiz.questions))


def _light_question(question: QuizQuestion) -> QuizQuestion:
    variant = question.variant
    parts = tuple(_light_part(part) for part in variant.parts)
    light = replace(
        variant, stem=_NO_TEXT, parts=parts, values={}, notes=(), hints=(), solution=None, told_after=()
    )
    return replace(question, variant=light)


def _light_part(part: Part) -> Part:
    options = tuple(_light_option(option) for option in part.options)
    prompts = tuple(_light_option(option) for option in part.prompts)
    return replace(part, prompt=None, options=options, prompts=prompts)


def _light_option(option: ChoiceOption) -> ChoiceOption:
    # An answer may be an option's words, so these stay.
    return replace(option, text=RenderedText(option.text.plain, "", ""))


_NO_TEXT = RenderedText("", "", "")


def save(visit: Visit) -> Response:
    """Save the fields that a window sends, and say of each what became of it, and how the question stands."""
    name, number = visit.path["quiz"], _number(visit)
    quiz = _open_quiz(visit, name)
    seconds = quiz.seconds_left  # before saving, which forgets what was read of the sitting
    fields = fields_of(visit, quiz, number)
    saved = quiz.save(fields)
    variant = _variant(visit.site, quiz, number, fields[0].retry if fields else 0)
    zone = visit.site.course.policies.zone
    return visit.json(
        {
            "saved": f"{visit.now.astimezone(zone):%H:%M:%S}",
            "seconds_left": seconds,
            "fields": [_as_json(done, variant) for done in saved],
            "question": _state_json(quiz, number, variant, saved),
        }
    )


def _number(visit: Visit) -> int:
    number = whole_number(visit.path["number"], -1)
    if number < 0:
        raise NotFoundError("this quiz has no such question")
    return number


def _open_quiz(visit: Visit, name: str) -> SiteQuiz:
    site = visit.site
    # One that is open costs no reading. One that seems closed is read again, as its end may have been moved;
    # so is one that was closed, which only the rules of this moment may open again.
    for anew in (False, True):
        known = _quizzes_of(site).get(site, visit.me.id, name, anew=anew)
        if known is None:
            raise NotFoundError("there is no such quiz")
        quiz = site_quiz(
            site.store, known[0], known[1], bank=site.bank, mode=site.mode, secret=site.course.secret
        )
        if quiz.state is SittingState.OPEN and not quiz.was_closed:
            break
    return quiz


def _as_json(done: SavedDraft, variant: Variant | None) -> dict[str, object]:
    field, draft = done.field, done.draft
    value: dict[str, object] = {
        "part": field.part,
        "state": str(done.state),
        "revision": draft.revision if draft is not None else 0,
        "text": draft.text if draft is not None else "",
    }
    part = next((p for p in variant.parts if p.id == field.part), None) if variant is not None else None
    if part is not None:
        reading = read_entry(part, field.text)
        value |= {
            "fault": reading.fault,
            "trouble": reading.trouble,
            "numbers": reading.numbers,
            "length": reading.length,
        }
    return value


def _state_json(
    quiz: SiteQuiz, number: int, variant: Variant | None, saved: Sequence[SavedDraft]
) -> dict[str, str] | None:
    # A window that is out of date learns nothing of the variant that it doesn't show.
    if variant is None or any(done.state is SaveState.CLOSED for done in saved):
        return None
    sign, words, kind = saved_words(quiz, number, variant)
    return {"sign": sign, "words": words, "kind": kind}


def _variant(site: Site, quiz: SiteQuiz, number: int, retry: int) -> Variant | None:
    """Return the variant that a window answers: a later one may have other options, or another shape."""
    variant = next((q.variant for q in quiz.quiz.questions if q.number == number), None)
    if variant is not None and retry:
        variants = site.store.sittings.variants(quiz.quiz, number)
        variant = variants[retry] if 0 < retry < len(variants) else None
    return variant
