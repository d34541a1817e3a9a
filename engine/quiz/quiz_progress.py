"""Where a student stands with a quiz: attempts, hints, points so far, and the variant of a further attempt.

Every number here is read from the store each time that it is asked for: a student may work in two windows,
and the store alone knows how many attempts are left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.errors import DrawError, InputError
from engine.grading import grade_answers
from engine.items.bank import Bank
from engine.model import (
    Mode,
    Outcome,
    Quiz,
    QuizQuestion,
    RenderedText,
    Response,
    Variant,
)
from engine.quiz.compose import ItemVariants, content, with_points
from engine.quiz.hand_in import HandInResult
from engine.quiz.rules import counted_attempts, is_choice
from engine.store import Attempt, Store


@dataclass(frozen=True, slots=True)
class QuestionProgress:
    """How far a student has come with one question of a sitting.

    Parameters
    ----------
    question : QuizQuestion
        With the variant that is answered now.
    attempts : tuple of Attempt
        Those that count, oldest first.
    hints : int
        Hints taken.
    left : int
        Attempts left.
    share : float
        Share of the points that the next attempt can earn.
    has_other_variant : bool
        Whether the question can be asked with other numbers or options, as far as its item says.
    """

    question: QuizQuestion
    attempts: tuple[Attempt, ...]
    hints: int
    left: int
    share: float
    has_other_variant: bool = True

    @property
    def best(self) -> float:
        """The best score so far; 0 before the first attempt."""
        return max((attempt.report.score or 0.0 for attempt in self.attempts), default=0.0)

    @property
    def is_right(self) -> bool:
        """Whether an attempt was right, whatever it counted."""
        return any(attempt.report.outcome is Outcome.RIGHT for attempt in self.attempts)

    @property
    def last_answers(self) -> Mapping[str, str]:
        """What was answered to this very variant the last time, by part."""
        variant = self.question.variant.id
        alike = [a for a in self.attempts if a.response and a.variant is not None and a.variant.id == variant]
        return alike[-1].response.answers if alike and alike[-1].response else {}

    @property
    def hints_seen(self) -> tuple[RenderedText, ...]:
        """The hints that were paid for, in this variant's words."""
        return self.question.variant.hints[: self.hints]

    @property
    def is_waiting(self) -> bool:
        """Whether a person must mark an attempt first: what it earns isn't known yet."""
        return any(attempt.report.needs_person for attempt in self.attempts)

    @property
    def could_gain(self) -> bool:
        """Whether another attempt could raise the score; not known while one waits for a person."""
        # Shares are rounded floats: an equal score isn't a gain.
        return self.left > 0 and not self.is_waiting and self.share * self.question.points > self.best + 1e-9


@dataclass(frozen=True)
class QuizSitting:
    """A student's quiz with the progress at every question."""

    quiz: Quiz
    mode: Mode
    progress: Mapping[int, QuestionProgress]

    @property
    def score(self) -> float:
        """The sum of the best scores."""
        return sum(progress.best for progress in self.progress.values())

    @property
    def maximum(self) -> float:
        """Full marks of the quiz."""
        return sum(question.points for question in self.quiz.questions)

    @property
    def is_right(self) -> bool:
        """Whether every question was answered right at some time."""
        return all(progress.is_right for progress in self.progress.values())

    @property
    def is_waiting(self) -> bool:
        """Whether a person must mark an answer before the score is known."""
        return any(progress.is_waiting for progress in self.progress.values())


def sitting_of(
    store: Store, quiz: Quiz, mode: Mode, bank: Bank, retries: Mapping[int, int] | None = None
) -> QuizSitting:
    """Return where the student of `quiz` stands.

    Parameters
    ----------
    store : Store
    quiz : Quiz
        As stored.
    mode : Mode
    bank : Bank
        Tells whether a question has another variant: where it needs one and has none, no attempt is left.
    retries : mapping of int to int, optional
        Which variant of each question is answered now; the newest by default.
    """
    newest = store.sittings.retries(quiz) if retries is None else retries
    hints = store.sittings.hints(quiz, mode)
    by_item = _attempts(store, quiz, mode)
    by_number: dict[int, QuestionProgress] = {}
    for question in quiz.questions:
        number, retry = question.number, newest.get(question.number, 0)
        if retry:
            question = replace(question, variant=store.sittings.variants(quiz, number)[retry], retry=retry)
        attempts = tuple(counted_attempts(by_item.get(question.variant.item, [])))
        left = max(0, (quiz.rules.attempts or 1) - len(attempts))
        variant = question.variant
        has_other = not (left and _is_answered(variant, attempts)) or has_other_variant(
            bank, variant, attempts
        )
        by_number[number] = QuestionProgress(
            question,
            attempts,
            hints.get(number, 0),
            left if has_other or not is_choice(question.variant) else 0,
            quiz.rules.share(len(attempts), hints.get(number, 0)),
            has_other,
        )
    # The quiz as it stands: with the variant of each question that is answered now.
    now = replace(quiz, questions=tuple(progress.question for progress in by_number.values()))
    return QuizSitting(now, mode, by_number)


def has_other_variant(bank: Bank, variant: Variant, attempts: Sequence[Attempt]) -> bool:
    """Return whether the item of an answered variant has another, that its family, if small, isn't used up.

    Parameters
    ----------
    bank : Bank
    variant : Variant
        Its texts and values aren't looked at.
    attempts : sequence of Attempt
        At this question, with the variants that they answer.
    """
    answered = {content(attempt.variant) for attempt in attempts if attempt.variant is not None}
    try:
        spec = bank.load(variant.item)
    except InputError:
        return False
    # Options may be chosen among more than are shown; numbers that aren't drawn are always the same.
    is_fixed = not spec.parameters and not is_choice(variant)
    size = 1 if is_fixed else spec.variants
    return size is None or len(answered) < size


def _is_answered(variant: Variant, attempts: Sequence[Attempt]) -> bool:
    known = {content(attempt.variant) for attempt in attempts if attempt.variant is not None}
    return bool(known) and content(variant) in known


def _attempts(store: Store, quiz: Quiz, mode: Mode) -> dict[str, list[Attempt]]:
    """Return the student's attempts by item, oldest first."""
    alike = store.sittings.ids_alike(quiz, mode)
    by_item: dict[str, list[Attempt]] = {}
    for attempt in store.attempts(student=quiz.student, mode=mode):
        if attempt.quiz in alike:
            by_item.setdefault(attempt.item, []).append(attempt)
    return by_item


def best_results(sitting: QuizSitting) -> HandInResult:
    """Return the best attempt at each question, as if all had been handed in together."""
    questions, reports = [], []
    for progress in sitting.progress.values():
        # Of equal scores the first: its feedback is the one that the student has read.
        best = max(progress.attempts, key=lambda attempt: attempt.report.score or 0.0, default=None)
        question = progress.question
        if best is not None and best.variant is not None:
            questions.append(replace(question, variant=best.variant))
            reports.append(best.report)
        else:
            questions.append(question)
            reports.append(
                grade_answers(question.variant, Response({}), mode=sitting.mode, student=sitting.quiz.student)
            )
    return HandInResult(replace(sitting.quiz, questions=tuple(questions)), tuple(reports), recorded=True)


def next_variant(
    store: Store, bank: Bank, secret: bytes, quiz: Quiz, progress: QuestionProgress
) -> QuizQuestion | None:
    """Return the question as it is asked again; None where no other attempt is possible.

    A choice, or any question where the quiz's rules say so, comes with a new variant, kept in the store
    before anybody sees it. It is drawn from the item as it is now. An item that has no other variant, or
    that the bank lost, gives none: the same options a second time would be elimination.
    """
    question = progress.question
    if not (quiz.rules.new_variants or is_choice(question.variant)):
        return question
    earlier = store.sittings.variants(quiz, question.number)
    retry = len(earlier)
    tried = {attempt.variant.id for attempt in progress.attempts if attempt.variant is not None}
    # Drawn before, and not answered: nobody may pick the easiest of several variants.
    if earlier[-1].id not in tried:
        return replace(question, variant=earlier[-1], retry=retry - 1)
    variant = _new_variant(bank, secret, quiz, question, earlier)
    if variant is None:
        # Numbers can be worked out again; options can only be struck out.
        return None if is_choice(question.variant) else question
    stored = store.sittings.add_variant(quiz, question.number, retry, with_points(variant, question.points))
    return replace(question, variant=stored, retry=retry)


def _new_variant(
    bank: Bank, secret: bytes, quiz: Quiz, question: QuizQuestion, earlier: list[Variant]
) -> Variant | None:
    try:
        family = ItemVariants.of(bank, question.variant.item, secret, quiz.name)
        return family.again(quiz.student, quiz.attempt, len(earlier), earlier)
    except (InputError, DrawError):
        return None
