"""One attempt as the store keeps it: complete enough to be marked again without its files.

It holds the variant with its keys, the response or the source, and the report, so that a regrade years later
needs only the store and the corrected item.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from engine.model import (
    CodeSubmission,
    DrawnValue,
    GradeReport,
    Outcome,
    Quiz,
    QuizQuestion,
    Response,
    Variant,
)
from engine.store.sql_tables import attempts, decode, encode, storable

SubmissionKey = tuple[str, str, str]
"""Student, item and hash of what was handed in."""

# A graded attempt stays as it is; attempts with the other outcomes are retried and replaced.
SETTLED = (Outcome.RIGHT, Outcome.PARTIAL, Outcome.WRONG)


def response_sha256(variant: str, response: Response, quiz: str | None = None) -> str:
    """Return the submission hash of a typed answer.

    Parameters
    ----------
    variant : str
        Id of the variant: the same text for different numbers is another submission.
    response : Response
        Raw texts by part id.
    quiz : str, optional
        Id of the quiz that asked.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    # Sorted keys and no blanks: one response always has one text, whatever made its mapping.
    canonical = json.dumps([quiz, variant, dict(response.answers)], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def quiz_responses(
    quiz: Quiz,
    answers: Mapping[int, Mapping[str, str]],
    on_paper: Mapping[int, Mapping[str, str]] | None = None,
) -> list[Response]:
    """Return the response to each question of `quiz`; parts without an answer are blank.

    Parameters
    ----------
    quiz : Quiz
    answers : mapping of int to mapping of str to str
        Question number → part id → text as typed; parts that the quiz doesn't have are ignored.
    on_paper : mapping of int to mapping of str to str, optional
        Question number → part id → place of what was written by hand.
    """
    places = on_paper or {}
    return [
        Response(
            {part.id: answers.get(q.number, {}).get(part.id, "") for part in q.variant.parts},
            places.get(q.number, {}),
        )
        for q in quiz.questions
    ]


@dataclass(frozen=True, slots=True)
class ArrivalInfo:
    """When and how a hand-in came, where that is known; the fields are those of :class:`Attempt`."""

    handed: datetime | None = None
    marked_late: bool = False
    sequence: int = 0


_UNKNOWN_ARRIVAL = ArrivalInfo()


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
        The full variant of an answer: drawn values, option order and keys.
    response : Response or None
        The typed texts.
    source : str or None
        Decoded source of a code submission.
    filename : str
        Name as handed in: foreign text, for messages only.
    quiz : str or None
        Id of the quiz that the answer belongs to.
    reason : str or None
        Why an attempt is ungraded or can't be read.
    handed : datetime or None
        When it was handed in, where that is known; with time zone.
    marked_late : bool
        Whether the learning system marked it as late; by how much isn't known.
    sequence : int
        Its place among the student's hand-ins of the item, where that is known.
    modules : mapping of str to str
        The files that a code submission imports, by module name.
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
        """Return the attempt of one answered quiz question, finished now.

        Parameters
        ----------
        student : str
        question : QuizQuestion
            With the variant that was answered.
        response : Response
        report : GradeReport
        quiz : str or None
            Id of the quiz, None for an item on its own.
        started : datetime
            When grading began.
        filename : str
            As handed in; empty for what was typed.
        """
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
        arrival: ArrivalInfo = _UNKNOWN_ARRIVAL,
    ) -> Attempt:
        """Return the attempt of one code file, finished now; the reason is the report's by default.

        Parameters
        ----------
        student : str
        submission : CodeSubmission
        report : GradeReport
        started : datetime
            When grading began.
        reason : str, optional
            Why there is no score.
        arrival : ArrivalInfo, optional
            When and how it was handed in.
        """
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
            handed=arrival.handed,
            marked_late=arrival.marked_late,
            sequence=arrival.sequence,
        )

    def arrived(self, arrival: ArrivalInfo) -> Attempt:
        """Return the attempt with when and how it was handed in."""
        return replace(
            self, handed=arrival.handed, marked_late=arrival.marked_late, sequence=arrival.sequence
        )

    @property
    def item(self) -> str:
        """Item id."""
        return self.report.item

    @property
    def settled(self) -> bool:
        """Whether its score is final."""
        return self.report.outcome in SETTLED

    @property
    def is_taken(self) -> bool:
        """Whether it was understood and is an attempt: settled, or waiting for a person to mark it."""
        return self.settled or self.report.needs_person

    @property
    def is_blank(self) -> bool:
        """Whether it answers a question with nothing but blanks."""
        # Code is never blank: an empty file is a submission that fails.
        if self.variant is None:
            return False
        return self.response is None or not any(text.strip() for text in self.response.answers.values())

    @property
    def values(self) -> Mapping[str, DrawnValue]:
        """Drawn values of the variant; empty for code."""
        return self.variant.values if self.variant else {}

    @property
    def option_order(self) -> Mapping[str, tuple[str, ...]]:
        """Option ids by part, in the order shown."""
        parts = self.variant.parts if self.variant else ()
        return {part.id: tuple(option.id for option in part.options) for part in parts if part.options}


def reason_of(report: GradeReport) -> str | None:
    """Return why a report has no score, in its own words; None where it has one."""
    if report.outcome is Outcome.FORMAT_ERROR:
        # A check's message may have several lines; the reason is shown on one.
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


def same_attempt(attempt: Attempt) -> sa.ColumnElement[bool]:
    """Return the condition that a row is about this submission."""
    return sa.and_(
        attempts.c.student == attempt.student,
        attempts.c.item == attempt.item,
        attempts.c.submission == attempt.submission,
        attempts.c.mode == str(attempt.report.mode),
    )


def attempt_of(row: sa.RowMapping, where: str) -> Attempt:
    """Return the attempt that a row of the store at `where` holds."""
    return Attempt(
        student=row["student"],
        submission=row["submission"],
        report=decode(GradeReport, row["report"], where),
        started=row["started"],
        finished=row["finished"],
        variant=None if row["variant"] is None else decode(Variant, row["variant"], where),
        response=None if row["response"] is None else decode(Response, row["response"], where),
        source=row["source"],
        filename=row["filename"],
        quiz=row["quiz_id"],
        reason=row["reason"],
        handed=row["handed"],
        marked_late=row["marked_late"],
        sequence=row["sequence"],
        modules={} if row["modules"] is None else decode(dict[str, str], row["modules"], where),
    )


def _response_json(response: Response) -> str:
    # Hardly any answer is on paper: the others are stored as they always were.
    if response.on_paper:
        return encode(response)
    return json.dumps({"answers": dict(response.answers)}, ensure_ascii=True, separators=(",", ":"))


def attempt_row(attempt: Attempt) -> dict[str, Any]:
    """Return the row of an attempt."""
    report = attempt.report
    return {
        "student": attempt.student,
        "item": report.item,
        "submission": attempt.submission,
        "mode": str(report.mode),
        "item_version": report.item_version,
        "quiz_id": attempt.quiz,
        "variant_id": attempt.variant.id if attempt.variant else report.variant,
        "variant": None if attempt.variant is None else encode(attempt.variant),
        "response": None if attempt.response is None else _response_json(attempt.response),
        "source": storable(attempt.source),
        "modules": json.dumps(dict(attempt.modules)) if attempt.modules else None,
        "filename": storable(attempt.filename),
        "outcome": str(report.outcome),
        "score": report.score,
        "max_score": report.max_score,
        "reason": storable(attempt.reason),
        "report": encode(report),
        "tier": report.tier,
        "engine_version": report.engine_version,
        "started": attempt.started,
        "finished": attempt.finished,
        "handed": attempt.handed,
        "marked_late": attempt.marked_late,
        "sequence": attempt.sequence,
    }
