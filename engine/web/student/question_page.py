"""One question of a quiz: answered, saved, handed in, tried again, and its hints taken.

All buttons of the page send the whole form, so that what was typed is saved first, whatever is done next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.errors import QuizError
from engine.model import RenderedText, ResultDisclosure
from engine.quiz.in_progress import SiteQuiz
from engine.quiz.quiz_progress import QuestionProgress
from engine.quiz.timing import SittingState
from engine.store.drafts import DraftField, SavedDraft, SaveState
from engine.text.words import points_text
from engine.web.forms import whole_number
from engine.web.student.answer_fields import (
    EntryField,
    answer_field,
    blank_parts,
    entered_texts,
    open_prompts,
)
from engine.web.student.my_quiz import (
    attempt_entries,
    attempts_text,
    clock_of,
    is_handed_in,
    marks_of,
    may_gain,
    my_quiz,
    question_number,
    question_states,
    quiz_sentence,
    require_begun,
)
from engine.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response


@dataclass(frozen=True, slots=True)
class HintOffer:
    """The next hint, and what taking it does to the points that can be earned."""

    number: int
    total: int
    cost: str


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """A question as its page shows it; no key is in it.

    Parameters
    ----------
    number : int
    title : str
    points : float
    most : float
        Points that the next attempt can earn.
    attempts : str
        Which attempt is next, or that there is one only.
    stem : RenderedText
    notes, hints : tuple of RenderedText
        Errata, and hints that were taken.
    offer : HintOffer or None
    retry : int
        Which of its variants it is.
    fields : tuple of EntryField
    can_answer : bool
        Whether an answer would be an attempt; otherwise the fields are only shown.
    can_try_again : bool
        Whether another attempt is possible that needs a new variant.
    is_handed_in : bool
    """

    number: int
    title: str
    points: float
    most: float
    attempts: str
    stem: RenderedText
    notes: tuple[RenderedText, ...]
    hints: tuple[RenderedText, ...]
    offer: HintOffer | None
    retry: int
    fields: tuple[EntryField, ...]
    can_answer: bool
    can_try_again: bool
    is_handed_in: bool


def question(visit: Visit) -> Response:
    """Show a question, or do what a button of its page asks for."""
    quiz = my_quiz(visit)
    require_begun(quiz)
    number = question_number(visit, quiz)
    return _show(visit, quiz, number) if visit.method == "GET" else _act(visit, quiz, number)


def _view_of(quiz: SiteQuiz, progress: QuestionProgress) -> ShownQuestion:
    question, texts = progress.question, quiz.answers(progress.question.number)
    # Whoever has all points already isn't asked again.
    is_open = quiz.state is SittingState.OPEN and may_gain(quiz, progress)
    return ShownQuestion(
        number=question.number,
        title=question.variant.title,
        points=question.points,
        most=round(progress.share * question.points, 6),
        attempts=attempts_text(quiz, progress),
        stem=question.variant.stem,
        notes=question.variant.notes,
        hints=progress.hints_seen,
        offer=_offer(quiz, progress) if is_open and quiz.can_answer(progress) else None,
        retry=question.retry,
        fields=tuple(
            answer_field(part, texts.get(part.id, ""), quiz.sheet.revision(question.number, part.id))
            for part in question.variant.parts
        ),
        can_answer=is_open and quiz.can_answer(progress),
        can_try_again=is_open and progress.left > 0 and quiz.needs_variant(progress),
        is_handed_in=is_handed_in(quiz, progress),
    )


def _offer(quiz: SiteQuiz, progress: QuestionProgress) -> HintOffer | None:
    hints, rules = progress.question.variant.hints, quiz.rules
    if rules.hint_cost is None or progress.hints >= len(hints):
        return None
    points = progress.question.points
    after = rules.share(len(progress.attempts), progress.hints + 1) * points
    cost = "It is free."
    if rules.hint_cost:
        now = points_text(progress.share * points)
        cost = f"With it, this attempt can earn at most {points_text(after)} instead of {now}."
    return HintOffer(progress.hints + 1, len(hints), cost)


def _show(
    visit: Visit,
    quiz: SiteQuiz,
    number: int,
    *,
    unsaved: Sequence[SavedDraft] = (),
    status: int = 200,
) -> Response:
    """Show a question; with texts that weren't saved, beside what the store has instead."""
    sitting = quiz.sitting()
    progress = sitting.progress[number]
    numbers = list(sitting.progress)
    place = numbers.index(number)
    view = _view_of(quiz, progress)
    marks = marks_of(visit, quiz)
    attempts = attempt_entries(visit, quiz, progress, marks)
    # The newest stands above the fields if it answers what the page asks now.
    newest = attempts[-1] if attempts and not attempts[-1].is_other else None
    return visit.page(
        "student/question.html.j2",
        status=status,
        quiz=quiz,
        question=view,
        states=question_states(quiz, sitting, marks),
        clock=clock_of(visit, quiz),
        before=numbers[place - 1] if place else None,
        after=numbers[place + 1] if place + 1 < len(numbers) else None,
        newest=newest,
        earlier=[attempt for attempt in attempts if attempt is not newest],
        mark=marks.entry(quiz, progress.question),
        solution=_solution(quiz, progress),
        unsaved={done.field.part: done for done in unsaved},
        left_over=quiz.left_over(progress),
        mine=_typed_again(view.fields, unsaved),
    )


def _solution(quiz: SiteQuiz, progress: QuestionProgress) -> RenderedText | None:
    """Return the worked solution of a question that was never answered, once it may be shown."""
    is_shown = quiz.is_over and quiz.disclosure_of(progress.question) is ResultDisclosure.SOLUTION
    return progress.question.variant.solution if is_shown and not progress.attempts else None


def _typed_again(fields: Sequence[EntryField], unsaved: Sequence[SavedDraft]) -> Mapping[str, str]:
    # In a conflict the window's own text stays in its field, now upon the newer revision: to save it again is
    # a decision.
    mine = {done.field.part: done.field.text for done in unsaved if done.state is SaveState.CONFLICT}
    return {field.part: mine.get(field.part, field.text) for field in fields}


def is_of_another_draw(visit: Visit, quiz: SiteQuiz) -> bool:
    """Return whether a form was opened before the quiz was drawn another time: it asks something else."""
    return visit.form.text("draw", quiz.quiz.id) != quiz.quiz.id


def fields_of(visit: Visit, quiz: SiteQuiz, number: int) -> list[DraftField]:
    """Return the fields of a question that the form has."""
    retry = whole_number(visit.form.text("retry"))
    if is_of_another_draw(visit, quiz):
        retry = -1  # a variant that this quiz doesn't have
    return [
        DraftField(
            number,
            entry.part,
            entry.text,
            entry.revision,
            retry,
            entry.before,
        )
        for entry in entered_texts(visit.form)
    ]


@dataclass(frozen=True, slots=True)
class PressedButton:
    """A button of the page, with what became of the fields that its form carried.

    Parameters
    ----------
    argument : str
        What follows the action's name.
    saved : sequence of SavedDraft
    """

    argument: str
    saved: Sequence[SavedDraft]

    @property
    def is_stale(self) -> bool:
        """Whether the form is about an earlier variant, or about a question that takes no answer."""
        return any(done.state is SaveState.CLOSED for done in self.saved)

    def text(self, part: str, otherwise: str) -> str:
        """Return what the form has for a part, as it is stored; `otherwise` where it has no such field."""
        drafts = {done.field.part: done.draft for done in self.saved}
        draft = drafts.get(part)
        return otherwise if part not in drafts else draft.text if draft is not None else ""

    def revision(self, part: str, otherwise: int) -> int:
        """Return the revision of that text."""
        drafts = {done.field.part: done.draft for done in self.saved}
        draft = drafts.get(part)
        return otherwise if part not in drafts else draft.revision if draft is not None else 0


def _act(visit: Visit, quiz: SiteQuiz, number: int) -> Response:
    action, _, argument = visit.form.text("do").partition(".")
    fields = fields_of(visit, quiz, number)
    seen = {field.part: field.before or "" for field in fields}
    if action == "hand_in":
        # What the page shows is handed in: a newer text of another window is a conflict then, though the
        # field wasn't changed here.
        fields = [replace(field, before=None) for field in fields]
    saved = quiz.save(fields) if fields else []
    unsaved = [done for done in saved if done.state is not SaveState.SAVED]
    # What is closed and unchanged loses nothing by not being saved.
    unsaved = [
        done
        for done in unsaved
        if done.state is SaveState.CONFLICT or done.field.text != seen[done.field.part]
    ]
    if unsaved:
        return _show(visit, quiz, number, unsaved=unsaved, status=409)
    if is_of_another_draw(visit, quiz):
        visit.notice("This quiz was drawn again since you opened that page, so nothing was done.")
        return _back(visit, number)
    try:
        return _ACTIONS.get(action, _save)(visit, quiz, number, PressedButton(argument, saved))
    except QuizError as error:
        # Between two clicks the quiz has ended, or the last attempt was used in another window.
        visit.notice(quiz_sentence(error))
        return _back(visit, number)


def _save(visit: Visit, quiz: SiteQuiz, number: int, pressed: PressedButton) -> Response:
    """Save, and stay or go on to the question that the button names."""
    del quiz
    if pressed.argument:
        return visit.redirect("student.question", quiz=visit.path["quiz"], number=pressed.argument)
    visit.notice("Saved.")
    return _back(visit, number)


def _back(visit: Visit, number: int) -> Response:
    return visit.redirect("student.question", quiz=visit.path["quiz"], number=number)


def _hint(visit: Visit, quiz: SiteQuiz, number: int, pressed: PressedButton) -> Response:
    hint, before = whole_number(pressed.argument), quiz.sitting().progress[number].hints
    quiz.hint(number, hint)
    if hint > before:  # shown again it costs nothing, and is nothing to log
        visit.log("quiz.hint", f"{quiz.quiz.name}/{number}", student=visit.me.id, hint=hint)
    return _back(visit, number)


def _try_again(visit: Visit, quiz: SiteQuiz, number: int, pressed: PressedButton) -> Response:
    del pressed
    if not quiz.try_again(number):
        visit.notice(
            "No other variant of this question can be drawn, and the same one isn't asked again: "
            "there is no further attempt."
        )
    return _back(visit, number)


def _hand_in(visit: Visit, quiz: SiteQuiz, number: int, pressed: PressedButton) -> Response:
    """Hand in what the form carried; what is left blank is named before, on a page of its own."""
    quiz.require_open()
    progress = quiz.sitting().progress[number]
    parts = progress.question.variant.parts
    if pressed.is_stale and not is_handed_in(quiz, progress):
        visit.notice("This question has another variant by now. Nothing is handed in: look at it first.")
        return _back(visit, number)
    stored, sheet = quiz.answers(number), quiz.sheet
    # A form without fields stands for what is saved.
    texts = {part.id: pressed.text(part.id, stored.get(part.id, "")) for part in parts}
    blank = blank_parts(parts, texts)
    without_letter = {part.id: open_prompts(part, texts[part.id]) for part in parts}
    # A blank would be recorded as one, and tells nobody anything.
    if len(blank) == len(parts) and not is_handed_in(quiz, progress):
        visit.notice("There is no answer to hand in yet.")
        return _back(visit, number)
    if (blank or any(without_letter.values())) and pressed.argument != "sure" and quiz.can_answer(progress):
        return visit.page(
            "student/confirm_question.html.j2",
            quiz=quiz,
            question=progress.question,
            blank=[part for part in parts if part.id in blank],
            prompts=[prompt for part in parts for prompt in without_letter[part.id]],
            fields=[
                (part.id, texts[part.id], pressed.revision(part.id, sheet.revision(number, part.id)))
                for part in parts
            ],
        )
    return _hand_in_texts(visit, quiz, progress, texts)


def _hand_in_texts(
    visit: Visit, quiz: SiteQuiz, progress: QuestionProgress, texts: Mapping[str, str]
) -> Response:
    number = progress.question.number
    if is_handed_in(quiz, progress):
        visit.notice("This answer is handed in already.")
        return _back(visit, number)
    result = quiz.hand_in([number], texts={number: texts})
    if not result.recorded:
        visit.notice("Nothing is handed in yet: correct the fault shown at the field. No attempt was used.")
    elif not result.reports:
        visit.notice("Nothing is handed in: another window was faster.")
    else:
        visit.log("quiz.handed_in", f"{quiz.quiz.name}/{number}", student=visit.me.id)
        visit.notice(f"Question {number} is handed in.")
    return _back(visit, number)


_ACTIONS = {"save": _save, "hint": _hint, "again": _try_again, "hand_in": _hand_in}
