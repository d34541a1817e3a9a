"""A quiz that a student is taking: the answers so far, their file, and where the student stands in the store.

Nothing here prints or asks; ``grade quiz take`` does that.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.errors import QuizError
from engine.hand_ins import FilledQuiz
from engine.items.bank import Bank
from engine.model import Mode, Quiz, QuizRules, Response, ResultDisclosure
from engine.quiz import release
from engine.quiz.hand_in import HandedIn, as_answered, hand_in
from engine.quiz.quiz_file import fill_in_text
from engine.quiz.sitting import QuestionStanding, QuizSitting, next_variant, sitting_of
from engine.store import Store, response_sha256
from engine.text.files import replace_text, write_errors

__all__ = ["QuizInProgress"]


class QuizInProgress:
    """The answers of one sitting.

    Parameters
    ----------
    store : Store
        That holds `quiz`; open as long as this object is used.
    quiz : Quiz
        As stored.
    path : Path
        The fill-in file.
    filled : FilledQuiz
        The content of that file.
    bank : Bank
    mode : Mode
    secret : callable
        Returns the secret from which further variants are drawn; called only for those.

    Raises
    ------
    QuizError
        The file names a variant that was never drawn.
    """

    def __init__(
        self,
        store: Store,
        quiz: Quiz,
        path: Path,
        filled: FilledQuiz,
        *,
        bank: Bank,
        mode: Mode,
        secret: Callable[[], bytes],
    ) -> None:
        self._store, self._bank, self._mode, self._secret = store, bank, mode, secret
        self.quiz, self.path = quiz, path
        self._answers = {number: dict(parts) for number, parts in filled.answers.items()}
        self._retries = dict(filled.retries)
        as_answered(store, quiz, self._retries)

    @property
    def rules(self) -> QuizRules:
        """The quiz's rules."""
        return self.quiz.rules

    @property
    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self.rules.is_over(release.now())

    @property
    def disclosure(self) -> ResultDisclosure:
        """How much of a result is shown now."""
        return self.rules.shown(release.now())

    def sitting(self) -> QuizSitting:
        """Return where the student stands now."""
        return sitting_of(self._store, self.quiz, self._mode, self._bank, self._retries)

    def answers(self, number: int) -> dict[str, str]:
        """Return the answers to a question, by part; they may be changed."""
        return self._answers.setdefault(number, {})

    def clear(self, number: int) -> None:
        """Forget the answers to a question."""
        self._answers[number] = {}

    def is_blank(self, standing: QuestionStanding) -> bool:
        """Return whether a question has a part without an answer."""
        answers = self.answers(standing.question.number)
        return any(not answers.get(part.id, "").strip() for part in standing.question.variant.parts)

    def save(self) -> None:
        """Write all answers into the file, and wait until the disk has them."""
        step = "make room, or copy the file to a folder that you may write to, and take it there"
        with write_errors("the answers can't be saved", self.path, next_step=step, kind=QuizError):
            replace_text(self.path, fill_in_text(self.sitting().quiz, self._answers), durable=True)

    def take_hint(self, standing: QuestionStanding) -> QuestionStanding:
        """Record that the next hint is taken; only then it may be shown, or a crash would make it free."""
        number = standing.question.number
        self._store.sittings.take_hint(self.quiz, number, self._mode, standing.hints + 1)
        return self.sitting().standings[number]

    def not_handed_in(self) -> list[int]:
        """Return the questions whose answer isn't handed in yet."""
        numbers = []
        for number, standing in self.sitting().standings.items():
            variant = standing.question.variant
            texts = {part.id: self.answers(number).get(part.id, "") for part in variant.parts}
            sha = response_sha256(variant.id, Response(texts), self.quiz.id)
            attempt = self._store.graded(self.quiz.student, variant.item, sha, self._mode)
            if any(text.strip() for text in texts.values()) and attempt is None:
                numbers.append(number)
        return numbers

    def was_handed_in(self) -> bool:
        """Return whether anything was handed in before."""
        attempts = self._store.attempts(student=self.quiz.student, quiz=self.quiz.id, mode=self._mode)
        return next(attempts, None) is not None

    def hand_in(self) -> HandedIn:
        """Hand in all answers as they are now."""
        filled = FilledQuiz(self.quiz.id, self._answers, {}, self._retries)
        return hand_in(self._store, self.quiz, filled, mode=self._mode, filename=self.path.name)

    def reopen(self, standing: QuestionStanding) -> bool:
        """Make a question ready for another attempt; False where it has no other variant."""
        question = next_variant(self._store, self._bank, self._secret(), self.quiz, standing)
        if question is None:
            return False
        self._answers[question.number] = {}
        self._retries[question.number] = question.retry
        self.save()
        return True
