"""Where the answers of a sitting are until they are handed in: in the student's file, or in the store.

``grade quiz take`` works on a fill-in file, the site on drafts in the course's store. What may be answered,
what it costs and what is shown is the same for both (:class:`engine.quiz.in_progress.QuizInProgress`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, MutableMapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from engine.errors import QuizError
from engine.hand_ins import FilledQuiz
from engine.model import Quiz
from engine.quiz.hand_in import as_answered
from engine.quiz.quiz_file import fill_in_text
from engine.quiz.timing import NETWORK_GRACE
from engine.store import ArrivalInfo, Store
from engine.store.drafts import DraftField, SavedDraft, SaveState
from engine.text.files import replace_text, write_errors
from engine.text.words import clean_line, count_noun


class AnswerSheet(ABC):
    """The answers to one student's quiz, each to the variant that is answered now."""

    #: How long after the end an answer is still taken.
    grace = timedelta()
    #: Name of the file handed in, where it is one.
    name = ""

    @property
    @abstractmethod
    def retries(self) -> Mapping[int, int]:
        """Which variant of each question is answered, by number; 0 is the quiz's own."""

    @abstractmethod
    def answers(self, number: int) -> MutableMapping[str, str]:
        """Return the answers to a question, by part."""

    @abstractmethod
    def reopen(self, number: int, retry: int) -> None:
        """Make a question ready for another attempt at its variant `retry`."""

    def filled(
        self,
        numbers: Collection[int] | None = None,
        texts: Mapping[int, Mapping[str, str]] | None = None,
    ) -> FilledQuiz:
        """Return the answers as they are handed in.

        Parameters
        ----------
        numbers : collection of int, optional
            The questions, all by default.
        texts : mapping of int to mapping, optional
            Answers by question and part, in place of what the sheet has for these questions.
        """
        chosen = self._numbers() if numbers is None else numbers
        carried = texts or {}
        return FilledQuiz(
            self._quiz_id(),
            {number: dict(carried.get(number) or self.answers(number)) for number in chosen},
            {},
            self.retries,
            None if numbers is None else frozenset(numbers),
        )

    def arrival(self, end: datetime | None, now: datetime) -> ArrivalInfo:
        """Return when the answers count as handed in, by the end of the sitting."""
        return ArrivalInfo()

    @abstractmethod
    def _quiz_id(self) -> str: ...

    @abstractmethod
    def _numbers(self) -> Collection[int]: ...


class FileSheet(AnswerSheet):
    """The answers in a fill-in file.

    Parameters
    ----------
    store : Store
    quiz : Quiz
        As stored.
    path : Path
        The file.
    filled : FilledQuiz
        Its content.

    Raises
    ------
    QuizError
        The file names a variant that was never drawn.
    """

    def __init__(self, store: Store, quiz: Quiz, path: Path, filled: FilledQuiz) -> None:
        self._store, self._quiz, self.path = store, quiz, path
        self.name = path.name
        self._answers = {number: dict(parts) for number, parts in filled.answers.items()}
        self._retries = dict(filled.retries)
        # Refuses a file with a variant that was never drawn, before anything is answered in it.
        as_answered(store, quiz, self._retries)

    @property
    def retries(self) -> Mapping[int, int]:
        """As the file says."""
        return self._retries

    def answers(self, number: int) -> MutableMapping[str, str]:
        """Return the answers to a question; they may be changed, and are in the file after :meth:`save`."""
        return self._answers.setdefault(number, {})

    def clear(self, number: int) -> None:
        """Forget the answers to a question."""
        self._answers[number] = {}

    def save(self) -> None:
        """Write all answers into the file, and wait until the disk has them."""
        step = "make room, or copy the file to a folder that you may write to, and take it there"
        with write_errors("the answers can't be saved", self.path, next_step=step, kind=QuizError):
            now = as_answered(self._store, self._quiz, self._retries)
            replace_text(self.path, fill_in_text(now, self._answers), durable=True)

    def reopen(self, number: int, retry: int) -> None:
        """Empty the question's fields, for that variant."""
        self._answers[number] = {}
        self._retries[number] = retry
        # At once: if the program ends now, the file has the variant that is answered next.
        self.save()

    def _quiz_id(self) -> str:
        return self._quiz.id

    def _numbers(self) -> Collection[int]:
        return self._answers


# More than any answer that can be read; what is longer isn't kept.
LONGEST_ANSWER = 50_000


class DraftSheet(AnswerSheet):
    """The answers that the store has, as the site saves them field by field.

    Parameters
    ----------
    store : Store
    quiz : Quiz
        As stored.
    """

    grace = NETWORK_GRACE

    def __init__(self, store: Store, quiz: Quiz) -> None:
        self._store, self._quiz = store, quiz
        self._retries: Mapping[int, int] | None = None
        self._fields: dict[int, dict[str, str]] | None = None
        self._revisions: dict[tuple[int, str], int] = {}
        self._newest: datetime | None = None

    @property
    def retries(self) -> Mapping[int, int]:
        """The newest variant of each question: what was drawn is what is answered."""
        if self._retries is None:
            self._retries = self._store.sittings.retries(self._quiz)
        return self._retries

    def answers(self, number: int) -> MutableMapping[str, str]:
        """Return the saved answers to a question."""
        return self._loaded().setdefault(number, {})

    def revision(self, number: int, part: str) -> int:
        """Return the revision of a field, which a page sends back with its text."""
        self._loaded()
        return self._revisions.get((number, part), 0)

    def write(
        self,
        fields: Sequence[DraftField],
        *,
        now: datetime,
        ends: datetime | None,
        closed: Collection[int] = (),
    ) -> list[SavedDraft]:
        """Save fields as :meth:`engine.store.drafts.DraftStore.save`; those of an earlier variant are closed.

        Raises
        ------
        QuizError
            The quiz has no such field, one is there twice, or a text is too long: nothing is saved.
        """
        self._check(fields)
        current = [field for field in fields if field.retry == self.retries.get(field.number, 0)]
        done = self._store.drafts.save(self._quiz, current, now=now, ends=ends, closed=closed)
        saved = {id(draft.field): draft for draft in done}
        self._fields = None
        return [saved.get(id(field)) or SavedDraft(SaveState.CLOSED, field, None) for field in fields]

    def _check(self, fields: Sequence[DraftField]) -> None:
        # A new variant has the parts of the first: both come from one item.
        parts = {q.number: {part.id for part in q.variant.parts} for q in self._quiz.questions}
        places = set()
        for field in fields:
            name = clean_line(f"question {field.number}, {field.part}", 60)
            if field.part not in parts.get(field.number, ()):
                raise QuizError(f"this quiz has no field {name}", next_step="reload the page")
            if (field.number, field.part) in places:
                raise QuizError(f"the field {name} is there twice", next_step="reload the page")
            places.add((field.number, field.part))
            if len(field.text) > LONGEST_ANSWER:
                raise QuizError(
                    f"the answer to {name} is too long to be kept",
                    expected=f"at most {count_noun(LONGEST_ANSWER, 'character')}",
                    got=f"{count_noun(len(field.text), 'character')}",
                    next_step="shorten it; what was saved before is kept",
                )

    def reopen(self, number: int, retry: int) -> None:
        """Take up a new variant with empty fields; at the same one, the last answer is there to edit."""
        self.reload()

    def reload(self) -> None:
        """Read everything again when it is next asked for: another window may have saved since."""
        self._retries = self._fields = None

    def arrival(self, end: datetime | None, now: datetime) -> ArrivalInfo:
        """Return now, or after the end the time of the last saved answer.

        Before the end in any case: an answer that was taken within the grace of the network isn't late.
        """
        if end is None:
            return ArrivalInfo(now)
        self._loaded()
        moment = now if now < end else self._newest or now
        return ArrivalInfo(min(moment, end - timedelta(microseconds=1)))

    def _loaded(self) -> dict[int, dict[str, str]]:
        if self._fields is None:
            self._fields, self._revisions, self._newest = {}, {}, None
            for draft in self._store.drafts.of_quiz(self._quiz):
                if draft.retry == self.retries.get(draft.number, 0):
                    self._fields.setdefault(draft.number, {})[draft.part] = draft.text
                    self._revisions[draft.number, draft.part] = draft.revision
                    self._newest = max(self._newest or draft.saved, draft.saved)
        return self._fields

    def _quiz_id(self) -> str:
        return self._quiz.id

    def _numbers(self) -> Collection[int]:
        return [question.number for question in self._quiz.questions]
