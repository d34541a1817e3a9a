"""One attempt as the store keeps it: complete enough to be marked again without its files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from engine.model import (
    CodeSubmission,
    Drawn,
    GradeReport,
    Outcome,
    Quiz,
    QuizQuestion,
    Response,
    Variant,
)

__all__ = ["SETTLED", "Arrival", "Attempt", "BestScore", "quiz_responses", "reason_of", "response_sha256"]

# What was graded once stays graded; the other outcomes are retried and replaced.
SETTLED = (Outcome.RIGHT, Outcome.PARTIAL, Outcome.WRONG)


def response_sha256(variant: str, response: Response, quiz: str | None = None) -> str:
    """Return the submission hash of an answer that was typed.

    Parameters
    ----------
    variant : str
        Id of the variant: the same text for other numbers is another submission.
    response : Response
        Raw texts by part id.
    quiz : str, optional
        Id of the quiz that asked.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    canonical = json.dumps([quiz, variant, dict(response.answers)], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def quiz_responses(quiz: Quiz, answers: Mapping[int, Mapping[str, str]]) -> list[Response]:
    """Return the response to each question of `quiz`; a part that wasn't answered is blank.

    Parameters
    ----------
    quiz : Quiz
    answers : mapping of int to mapping of str to str
        Question number → part id → text as typed; parts that the quiz doesn't have are left out.
    """
    return [
        Response({part.id: answers.get(q.number, {}).get(part.id, "") for part in q.variant.parts})
        for q in quiz.questions
    ]


@dataclass(frozen=True, slots=True)
class Arrival:
    """How a hand-in came, as far as it tells; the fields are those of :class:`Attempt`."""

    handed: datetime | None = None
    marked_late: bool = False
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class Attempt:
    """One submission and its report.

    Parameters
    ----------
    student : str
        Id as in the roster: text, ``"007"`` keeps its zeros.
    submission : str
        SHA-256 of the bytes handed in, or :func:`response_sha256`.
    report : GradeReport
        Item, item version, outcome, checks, tier, mode and engine version are read from it.
    started, finished : datetime
        With time zone; kept as UTC.
    variant : Variant or None
        Full variant of an answer: drawn values, option order and keys.
    response : Response or None
        The texts typed.
    source : str or None
        Decoded source of a code submission.
    filename : str
        Name as handed in: foreign text, for messages only.
    quiz : str or None
        Id of the quiz that the answer belongs to.
    reason : str or None
        Why an attempt is ungraded, or why it can't be read.
    handed : datetime or None
        When it was handed in, as far as the hand-in tells; with time zone.
    marked_late : bool
        Whether the learning system marked it as late, without saying by how much.
    sequence : int
        Its place among the student's hand-ins of the item, as far as the hand-in tells.
    modules : mapping of str to str
        The files beside a code submission that it imports, module name to source.
    """

    student: str
    submission: str
    report: GradeReport
    started: datetime
    finished: datetime
    variant: Variant | None = None
    response: Response | None = None
    source: str | None = None
    filename: str = ""
    quiz: str | None = None
    reason: str | None = None
    handed: datetime | None = None
    marked_late: bool = False
    sequence: int = 0
    modules: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_answer(
        cls,
        student: str,
        question: QuizQuestion,
        response: Response,
        report: GradeReport,
        *,
        quiz: str | None,
        started: datetime,
        filename: str = "",
    ) -> Attempt:
        """Return the attempt of one answered quiz question, finished now."""
        return cls(
            student=student,
            submission=response_sha256(question.variant.id, response, quiz),
            report=report,
            started=started,
            finished=datetime.now(UTC),
            variant=question.variant,
            response=response,
            filename=filename,
            quiz=quiz,
            reason=reason_of(report),
        )

    @classmethod
    def of_code(
        cls,
        student: str,
        submission: CodeSubmission,
        report: GradeReport,
        *,
        started: datetime,
        reason: str | None = None,
    ) -> Attempt:
        """Return the attempt of one code file, finished now; the report tells the reason if none is given."""
        return cls(
            student=student,
            submission=submission.sha256,
            report=report,
            started=started,
            finished=datetime.now(UTC),
            source=submission.source,
            modules=dict(submission.modules),
            filename=submission.filename,
            reason=reason_of(report) if reason is None else reason,
        )

    def arrived(self, arrival: Arrival) -> Attempt:
        """Return the attempt with what is known of how it was handed in."""
        return replace(
            self, handed=arrival.handed, marked_late=arrival.marked_late, sequence=arrival.sequence
        )

    @property
    def item(self) -> str:
        """Item id."""
        return self.report.item

    @property
    def settled(self) -> bool:
        """Whether it carries a score for good."""
        return self.report.outcome in SETTLED

    @property
    def is_blank(self) -> bool:
        """Whether it answers a question with nothing at all."""
        if self.variant is None:
            return False
        return self.response is None or not any(text.strip() for text in self.response.answers.values())

    @property
    def values(self) -> Mapping[str, Drawn]:
        """Drawn values of the variant; empty for code."""
        return self.variant.values if self.variant else {}

    @property
    def option_order(self) -> Mapping[str, tuple[str, ...]]:
        """Option ids by part, in the order shown."""
        parts = self.variant.parts if self.variant else ()
        return {part.id: tuple(option.id for option in part.options) for part in parts if part.options}


def reason_of(report: GradeReport) -> str | None:
    """Return why a report has no score, from its own words."""
    if report.outcome is Outcome.FORMAT_ERROR:
        messages = [check.message for check in report.checks if check.message]
        return "; ".join(" ".join(message.split()) for message in messages) or "; ".join(report.notes) or None
    return "; ".join(report.notes) or None if report.outcome is Outcome.UNGRADED else None


@dataclass(frozen=True, slots=True)
class BestScore:
    """The best settled attempt of one student at one item; ``quiz`` is the quiz's name or None."""

    student: str
    item: str
    quiz: str | None
    score: float
    max_score: float
