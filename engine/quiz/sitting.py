"""Where a student stands in a quiz: attempts made and left, hints taken, the best score so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.errors import DrawError, InputError
from engine.grading import grade_answers
from engine.items.bank import Bank
from engine.model import Mode, Outcome, Quiz, QuizQuestion, RenderedText, Response, Variant
from engine.quiz.credit import counted_attempts, is_choice
from engine.quiz.hand_in import HandedIn
from engine.quiz.item_variants import ItemVariants, content, with_points
from engine.store import Attempt, Store

__all__ = ["QuestionStanding", "QuizSitting", "best_results", "next_variant", "sitting_of"]


@dataclass(frozen=True, slots=True)
class QuestionStanding:
    """One question of a sitting.

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
    """

    question: QuizQuestion
    attempts: tuple[Attempt, ...]
    hints: int
    left: int
    share: float

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
    def could_gain(self) -> bool:
        """Whether another attempt could raise the score."""
        return self.left > 0 and self.share * self.question.points > self.best + 1e-9


@dataclass(frozen=True)
class QuizSitting:
    """A student's quiz with the standing of every question."""

    quiz: Quiz
    mode: Mode
    standings: Mapping[int, QuestionStanding]

    @property
    def score(self) -> float:
        """The sum of the best scores."""
        return sum(standing.best for standing in self.standings.values())

    @property
    def maximum(self) -> float:
        """Full marks of the quiz."""
        return sum(question.points for question in self.quiz.questions)

    @property
    def is_right(self) -> bool:
        """Whether every question was answered right at some time."""
        return all(standing.is_right for standing in self.standings.values())


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
    made = _attempts(store, quiz, mode)
    standings: dict[int, QuestionStanding] = {}
    for question in quiz.questions:
        number, retry = question.number, newest.get(question.number, 0)
        if retry:
            question = replace(question, variant=store.sittings.variants(quiz, number)[retry], retry=retry)
        attempts = tuple(counted_attempts(made.get(question.variant.item, [])))
        left = max(0, (quiz.rules.attempts or 1) - len(attempts))
        standings[number] = QuestionStanding(
            question,
            attempts,
            hints.get(number, 0),
            left if left and _has_another(bank, question, attempts) else 0,
            quiz.rules.share(len(attempts), hints.get(number, 0)),
        )
    now = replace(quiz, questions=tuple(standing.question for standing in standings.values()))
    return QuizSitting(now, mode, standings)


def _has_another(bank: Bank, question: QuizQuestion, attempts: Sequence[Attempt]) -> bool:
    """Tell whether a choice can be asked again: whether its family, if it is small, isn't used up."""
    had = {content(attempt.variant) for attempt in attempts if attempt.variant is not None}
    if not had or not is_choice(question.variant) or content(question.variant) not in had:
        return True
    try:
        size = bank.load(question.variant.item).variants
    except InputError:
        return False
    return size is None or len(had) < size


def _attempts(store: Store, quiz: Quiz, mode: Mode) -> dict[str, list[Attempt]]:
    """Return the student's attempts by item, oldest first."""
    alike = store.sittings.ids_alike(quiz, mode)
    found: dict[str, list[Attempt]] = {}
    for attempt in store.attempts(student=quiz.student, mode=mode):
        if attempt.quiz in alike:
            found.setdefault(attempt.item, []).append(attempt)
    return found


def best_results(sitting: QuizSitting) -> HandedIn:
    """Return the best attempt at each question, as if all had been handed in together."""
    questions, reports = [], []
    for standing in sitting.standings.values():
        best = max(standing.attempts, key=lambda attempt: attempt.report.score or 0.0, default=None)
        question = standing.question
        if best is not None and best.variant is not None:
            questions.append(replace(question, variant=best.variant))
            reports.append(best.report)
        else:
            questions.append(question)
            reports.append(
                grade_answers(question.variant, Response({}), mode=sitting.mode, student=sitting.quiz.student)
            )
    return HandedIn(replace(sitting.quiz, questions=tuple(questions)), tuple(reports), recorded=True)


def next_variant(
    store: Store, bank: Bank, secret: bytes, quiz: Quiz, standing: QuestionStanding
) -> QuizQuestion | None:
    """Return the question as it is asked again; None where no other attempt is possible.

    A choice, or any question where the quiz's rules say so, comes with a new variant, kept in the store
    before anybody sees it. It is drawn from the item as it is now. An item that has no other variant, or
    that the bank lost, gives none: the same options a second time would be elimination.
    """
    question = standing.question
    if not (quiz.rules.new_variants or is_choice(question.variant)):
        return question
    had = store.sittings.variants(quiz, question.number)
    retry = len(had)
    tried = {attempt.variant.id for attempt in standing.attempts if attempt.variant is not None}
    if had[-1].id not in tried:  # drawn before, and not answered: nobody gets to choose among variants
        return replace(question, variant=had[-1], retry=retry - 1)
    drawn = _drawn(bank, secret, quiz, question, had)
    if drawn is None:
        # numbers can be worked out again; options can only be struck out
        return None if is_choice(question.variant) else question
    kept = store.sittings.add_variant(quiz, question.number, retry, with_points(drawn, question.points))
    return replace(question, variant=kept, retry=retry)


def _drawn(
    bank: Bank, secret: bytes, quiz: Quiz, question: QuizQuestion, had: list[Variant]
) -> Variant | None:
    try:
        family = ItemVariants.of(bank, question.variant.item, secret, quiz.name)
        return family.again(quiz.student, quiz.attempt, len(had), had)
    except (InputError, DrawError):
        return None
