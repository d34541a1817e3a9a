"""Answers that a person marks: which of them wait, and what becomes of the points that are given.

A question is marked at a time, whoever answered it: markers who see one student's whole quiz carry an
impression from answer to answer. Students have a pseudonym, another one for each item, under which their
answers are also sorted, so that neither names nor the order of the roster are in the way.

Marks go into the stored report like those of a regrade: in one transaction, and with the report as it was
beside it. So an answer can be marked again at any time, and nothing that was said is lost.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from engine.answers import kind_of
from engine.answers.free_text import (
    RubricCriterion,
    checked_points,
    count_words,
    fits,
    rubric_digest,
    rubric_of,
    sample_of,
    word_limits,
)
from engine.errors import UsageError
from engine.grading import grade_answers
from engine.model import GradeReport, Mode, Outcome, Part, RenderedText, Response, RubricMarks, Variant
from engine.store import Attempt, Store, reason_of
from engine.store.marker_comments import checked_comment
from engine.text.words import count_noun

MARKED_CAUSE = "marked by its rubric"
"""Why a stored report was replaced; the history of changes is searched for it, so it never changes."""
WITHDRAWN_CAUSE = "the marks of its rubric were withdrawn"
RUBRIC_CAUSES = (MARKED_CAUSE, WITHDRAWN_CAUSE)


@dataclass(frozen=True, slots=True, order=True)
class MarkedField:
    """A field that people mark: of an item, in one quiz or on its own.

    Parameters
    ----------
    quiz : str
        Name of the quiz; empty for an item that is answered on its own.
    item : str
    part : str
        Id of the field; ``"answer"`` where it is the only one.
    """

    quiz: str
    item: str
    part: str

    @property
    def id(self) -> str:
        """How commands and pages name it: ``week-1/why-scale``, with its step where there are several."""
        column = f"{self.quiz}/{self.item}" if self.quiz else self.item
        return column if self.part == "answer" else f"{column}/{self.part}"


@dataclass(frozen=True, slots=True)
class FieldProgress:
    """How far the marking of a field has come."""

    field: MarkedField
    title: str
    waiting: int
    marked: int


@dataclass(frozen=True)
class AnswerToMark:
    """One answer, marked or not.

    Parameters
    ----------
    id : str
        Its name for markers; tells nothing about the student.
    pseudonym : str
        The student's, for this item.
    field : MarkedField
    attempt : Attempt
        As stored.
    part : Part
    text : str
        As typed: foreign text. Where the answer is on paper, which page it is on.
    marks : RubricMarks or None
        As they stand.
    """

    id: str
    pseudonym: str
    field: MarkedField
    attempt: Attempt
    part: Part
    text: str
    marks: RubricMarks | None

    @property
    def student(self) -> str:
        """The student's id."""
        return self.attempt.student

    @property
    def variant(self) -> Variant:
        """What was asked."""
        assert self.attempt.variant is not None  # only answers are marked by people
        return self.attempt.variant

    @property
    def rubric(self) -> tuple[RubricCriterion, ...]:
        """The criteria, in their order."""
        return rubric_of(self.part)

    @property
    def sample(self) -> RenderedText | None:
        """An answer that earns full marks."""
        return sample_of(self.part)

    @property
    def paper_place(self) -> str:
        """Where the answer stands on a scanned sheet, ``PRINT/COPY/FIELD``; empty where it was typed."""
        response = self.attempt.response
        return response.on_paper.get(self.part.id, "") if response is not None else ""

    @property
    def words(self) -> int | None:
        """How many words the answer has; None on paper, where nobody counts them."""
        return None if self.paper_place else count_words(self.text)

    @property
    def length(self) -> str:
        """How many words the answer has, and how many too many; or that it is on paper."""
        if self.words is None:
            return "on paper"
        words, limit = count_noun(self.words, "word"), word_limits(self.part)[1]
        return words if limit is None or self.words <= limit else f"{words}, {self.words - limit} too many"

    @property
    def score(self) -> float | None:
        """The points given, in the rubric's own units."""
        return None if self.marks is None else sum(self.marks.points.values())

    @property
    def maximum(self) -> float:
        """The most points, in the rubric's own units."""
        return sum(criterion.points for criterion in self.rubric)

    @property
    def text_key(self) -> str:
        """Equal for answers that say the same in the same words to the same question."""
        # Two answers on paper say the same of where they are, and nothing of what they say.
        if self.paper_place:
            return json.dumps([self.variant.id, self.part.id, self.paper_place, "on paper"])
        plain = unicodedata.normalize("NFKC", self.text).casefold()
        words = " ".join(re.sub(r"[^\w+\-*/^=<>√∞.,]+", " ", plain).split()).strip(" .,")
        return json.dumps([self.variant.id, self.part.id, words])


class RubricMarking:
    """Lists and marks the answers of a course that need a person.

    Parameters
    ----------
    store : Store
    mode : Mode
    secret : bytes
        Of the course: without it nobody can tell whose pseudonym is whose.
    """

    def __init__(self, store: Store, mode: Mode, secret: bytes) -> None:
        self._store = store
        self._mode = mode
        self._secret = secret

    def fields(self) -> list[FieldProgress]:
        """Return what has to be marked and what was, by quiz and item."""
        answers: dict[MarkedField, list[AnswerToMark]] = {}
        for item in self._items():
            for answer in self._of_item(item):
                answers.setdefault(answer.field, []).append(answer)
        return [
            FieldProgress(
                field,
                of_field[-1].variant.title,
                waiting=sum(answer.marks is None for answer in of_field),
                marked=sum(answer.marks is not None for answer in of_field),
            )
            for field, of_field in sorted(answers.items())
        ]

    def waiting(self) -> int:
        """Return how many answers wait for a person."""
        return sum(progress.waiting for progress in self.fields())

    def field(self, name: str) -> MarkedField | None:
        """Return a field by its :attr:`MarkedField.id`; None where nobody has answered it."""
        return next((p.field for p in self.fields() if p.field.id == name), None)

    def answers(self, field: MarkedField, *, waiting_only: bool = False) -> list[AnswerToMark]:
        """Return the answers to one field by pseudonym, a student's own in the order of handing in."""
        answers = [answer for answer in self._of_item(field.item) if answer.field == field]
        chosen = [answer for answer in answers if answer.marks is None or not waiting_only]
        return sorted(chosen, key=lambda answer: answer.pseudonym)

    def answer(self, answer_id: str, field: MarkedField | None = None) -> AnswerToMark | None:
        """Return one answer by its :attr:`AnswerToMark.id`, looked for in one field if it is known."""
        for item in self._items() if field is None else [field.item]:
            for answer in self._of_item(item):
                if answer.id == answer_id:
                    return answer
        return None

    def next_waiting(self, field: MarkedField, after: str = "") -> AnswerToMark | None:
        """Return the next answer that waits, round after the one of an id; None where none waits."""
        answers = self.answers(field)
        place = next((n for n, answer in enumerate(answers) if answer.id == after), -1)
        rest = [*answers[place + 1 :], *answers[: place + 1]]
        return next((answer for answer in rest if answer.marks is None), None)

    def alike(self, answer: AnswerToMark) -> list[AnswerToMark]:
        """Return the other waiting answers that say the same in the same words."""
        others = self.answers(answer.field, waiting_only=True)
        return [other for other in others if other.id != answer.id and other.text_key == answer.text_key]

    def give(
        self,
        answers: Sequence[AnswerToMark],
        points: Mapping[str, float],
        *,
        by: str,
        at: datetime,
        comments: Mapping[str, str] | None = None,
        comment: str = "",
    ) -> list[AnswerToMark]:
        """Mark answers, all alike, in one transaction.

        Parameters
        ----------
        answers : sequence of AnswerToMark
            As they were read.
        points : mapping of str to float
            Points for every criterion, in the rubric's own units.
        by : str
            Who marks.
        at : datetime
        comments : mapping of str to str, optional
            Remarks by criterion, for the student.
        comment : str
            A remark on the whole answer.

        Returns
        -------
        list of AnswerToMark
            Those that somebody else changed since they were read; they are left alone.

        Raises
        ------
        UsageError
            Points are missing or can't be given, or a comment is too long.
        """
        remarks = {name: checked_comment(text) for name, text in (comments or {}).items()}
        remark = checked_comment(comment)
        changes = []
        for answer in answers:
            checked = checked_points(answer.part, points)
            if unknown := set(remarks) - set(checked):
                raise UsageError(f"there is no criterion {min(unknown)!r}", expected=", ".join(checked))
            marks = RubricMarks(
                part=answer.part.id,
                points=checked,
                by=by,
                at=at,
                rubric=rubric_digest(answer.part),
                comments={name: text for name, text in remarks.items() if text},
                comment=remark,
            )
            others = [m for m in answer.attempt.report.marking if m.part != answer.part.id]
            changes.append((answer, (*others, marks)))
        return self._replace(changes, by=by, at=at, cause=MARKED_CAUSE)

    def withdraw(self, answers: Sequence[AnswerToMark], *, by: str, at: datetime) -> list[AnswerToMark]:
        """Take marks back, so that the answers wait again; return those that somebody changed meanwhile."""
        changes = [
            (answer, tuple(m for m in answer.attempt.report.marking if m.part != answer.part.id))
            for answer in answers
        ]
        return self._replace(changes, by=by, at=at, cause=WITHDRAWN_CAUSE)

    def _replace(
        self,
        changes: Sequence[tuple[AnswerToMark, tuple[RubricMarks, ...]]],
        *,
        by: str,
        at: datetime,
        cause: str,
    ) -> list[AnswerToMark]:
        pairs = [
            (answer.attempt, marked_attempt(answer.attempt, answer.variant, marking, at=at))
            for answer, marking in changes
        ]
        untouched = self._store.regrades.replace(pairs, run=secrets.token_hex(6), by=by, at=at, cause=cause)
        places = {(attempt.student, attempt.submission) for attempt in untouched}
        return [answer for answer, _ in changes if (answer.student, answer.attempt.submission) in places]

    def _items(self) -> list[str]:
        waiting = self._store.attempts(mode=self._mode, outcome=Outcome.UNGRADED)
        items = {attempt.item for attempt in waiting if attempt.report.needs_person}
        return sorted(items.union(self._store.regrades.items(MARKED_CAUSE)))

    def _of_item(self, item: str) -> Iterator[AnswerToMark]:
        names = self._store.sittings.names_by_id()
        for attempt in self._store.attempts(item=item, mode=self._mode):
            if attempt.variant is None or not attempt.is_taken:
                continue
            quiz = names.get((attempt.quiz or "", attempt.student), "")
            for part in attempt.variant.parts:
                if kind_of(part.type).needs_person:
                    yield from self._answer(attempt, part, quiz)

    def _answer(self, attempt: Attempt, part: Part, quiz: str) -> Iterator[AnswerToMark]:
        text = attempt.response.answers.get(part.id, "") if attempt.response else ""
        marks = next((m for m in attempt.report.marking if fits(part, m)), None)
        # Blank ones are 0 at once, and what earns nothing by the quiz's rules isn't marked.
        if not text.strip() or (marks is None and not attempt.report.needs_person):
            return
        yield AnswerToMark(
            id=self._digest("answer", attempt.student, attempt.item, attempt.submission, part.id)[:12],
            pseudonym=self._pseudonym(attempt.student, attempt.item),
            field=MarkedField(quiz, attempt.item, part.id),
            attempt=attempt,
            part=part,
            text=text,
            marks=marks,
        )

    def _digest(self, *words: str) -> str:
        message = json.dumps(["marking", *words]).encode("ascii")
        return hmac.new(self._secret, message, hashlib.sha256).hexdigest()

    def _pseudonym(self, student: str, item: str) -> str:
        # Forty bits in letters and digits that nobody mistakes: no two students of a class share one.
        digest = bytes.fromhex(self._digest("pseudonym", student, item))
        letters = base64.b32encode(digest[:5]).decode("ascii")
        return f"{letters[:4]}-{letters[4:8]}"


def marked_attempt(
    attempt: Attempt, variant: Variant, marking: Sequence[RubricMarks], *, at: datetime
) -> Attempt:
    """Return an attempt marked again, with its credit and with what the quiz's rules added to its notes.

    Parameters
    ----------
    attempt : Attempt
        An answer, as stored.
    variant : Variant
        With the keys and the rubric that hold now.
    marking : sequence of RubricMarks
        What people gave.
    at : datetime
    """
    response = attempt.response or Response({})
    old = attempt.report
    assert attempt.variant is not None

    def graded(variant: Variant, marking: Sequence[RubricMarks]) -> GradeReport:
        return grade_answers(variant, response, mode=old.mode, student=attempt.student, marking=marking)

    fresh, before = graded(variant, marking), graded(attempt.variant, old.marking)
    # Notes that the quiz's rules and the hand-in added don't come from the item: they stay.
    added = tuple(note for note in old.notes if note not in before.notes)
    # As precisely as the store keeps points, or an unchanged mark would look changed.
    score = None if fresh.score is None else round(fresh.score * old.credit, 6)
    notes = tuple(dict.fromkeys((*fresh.notes, *added)))
    report = replace(fresh, score=score, credit=old.credit, notes=notes)
    return replace(attempt, variant=variant, report=report, reason=reason_of(report), finished=at)
