"""A quiz that is being taken: its answers, its file, and where it stands in the store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import QuizError
from engine.files import replace_text

if TYPE_CHECKING:
    from engine.commands.workplace import Workplace
    from engine.model import Mode, Quiz
    from engine.quiz.hand_in import HandedIn
    from engine.quiz.returned import FilledQuiz
    from engine.quiz.sitting import Sitting, Standing
    from engine.rules import QuizRules, Shown
    from engine.store import Store

__all__ = ["Sheet"]


class Sheet:
    """The answers of one sitting; nothing here prints.

    Parameters
    ----------
    workplace : Workplace
    store : Store
        That holds `quiz`; open as long as the sheet is used.
    quiz : Quiz
        As stored.
    path : Path
        The fill-in file.
    filled : FilledQuiz
        What the file holds.

    Raises
    ------
    QuizError
        The file names a variant that was never drawn.
    """

    def __init__(
        self, workplace: Workplace, store: Store, quiz: Quiz, path: Path, filled: FilledQuiz
    ) -> None:
        from engine.quiz import as_answered

        self._workplace, self._store = workplace, store
        self.quiz, self.path = quiz, path
        self._answers = {number: dict(parts) for number, parts in filled.answers.items()}
        self._retries = dict(filled.retries)
        as_answered(store, quiz, self._retries)

    @property
    def mode(self) -> Mode:
        """Practice or marks."""
        return self._workplace.mode

    @property
    def rules(self) -> QuizRules:
        """The quiz's rules."""
        return self.quiz.rules

    @property
    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        from engine.quiz import clock

        return self.rules.is_over(clock.now())

    @property
    def shown(self) -> Shown:
        """How much of a result is shown now."""
        from engine.quiz import clock

        return self.rules.shown(clock.now())

    def sitting(self) -> Sitting:
        """Return where the student stands now."""
        from engine.quiz.sitting import sitting_of

        return sitting_of(self._store, self.quiz, self.mode, self._workplace.bank, self._retries)

    def answers(self, number: int) -> dict[str, str]:
        """Return the answers to a question, by part; they may be changed."""
        return self._answers.setdefault(number, {})

    def clear(self, number: int) -> None:
        """Forget the answers to a question."""
        self._answers[number] = {}

    def blank(self, standing: Standing) -> bool:
        """Tell whether a question has a part without an answer."""
        answers = self.answers(standing.question.number)
        return any(not answers.get(part.id, "").strip() for part in standing.question.variant.parts)

    def save(self) -> None:
        """Write all answers into the file, and wait until the disk has them."""
        from engine.quiz import fill_in_text

        text = fill_in_text(self.sitting().quiz, self._answers)
        try:
            replace_text(self.path, text, durable=True)
        except OSError as error:
            raise QuizError(
                "the answers can't be saved",
                where=str(self.path),
                got=error.strerror,
                next_step="make room, or copy the file to a folder that you may write to, and take it there",
            ) from error

    def take_hint(self, standing: Standing) -> Standing:
        """Write down that the next hint is taken; only then it may be shown."""
        number = standing.question.number
        self._store.sittings.take_hint(self.quiz, number, self.mode, standing.hints + 1)
        return self.sitting().standings[number]

    def waiting(self) -> list[int]:
        """Return the questions whose answer isn't handed in yet."""
        from engine.model import Response
        from engine.store import response_sha256

        found = []
        for number, standing in self.sitting().standings.items():
            variant = standing.question.variant
            typed = {part.id: self.answers(number).get(part.id, "") for part in variant.parts}
            sha = response_sha256(variant.id, Response(typed), self.quiz.id)
            known = self._store.graded(self.quiz.student, variant.item, sha, self.mode)
            if any(text.strip() for text in typed.values()) and known is None:
                found.append(number)
        return found

    def was_handed_in(self) -> bool:
        """Tell whether anything was handed in before."""
        found = self._store.attempts(student=self.quiz.student, quiz=self.quiz.id, mode=self.mode)
        return next(found, None) is not None

    def hand_in(self) -> HandedIn:
        """Hand in all answers as they are now."""
        from engine.quiz import FilledQuiz, hand_in

        filled = FilledQuiz(self.quiz.id, self._answers, {}, self._retries)
        return hand_in(self._store, self.quiz, filled, mode=self.mode, filename=self.path.name)

    def reopen(self, standing: Standing) -> bool:
        """Make a question ready for another attempt; False where it has no other variant."""
        from engine.quiz.sitting import next_variant

        workplace = self._workplace
        question = next_variant(self._store, workplace.bank, workplace.secret(), self.quiz, standing)
        if question is None:
            return False
        self._answers[question.number] = {}
        self._retries[question.number] = question.retry
        self.save()
        return True
