"""Frozen values that all parts of the engine share.

Axes: B batch, H heads, Lq queries, Lk keys, Dk, Dv.  Nothing here imports
numpy, torch or pydantic, so the command line starts fast.
"""

from __future__ import annotations

import copyreg
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from engine import __version__
from engine.text.words import count_noun, plain_points


class ResultDisclosure(StrEnum):
    """How much of a result is shown; each level shows what those before it show, and more."""

    NOTHING = "nothing"
    SCORE = "score"
    VERDICT = "verdict"
    FEEDBACK = "feedback"
    SOLUTION = "solution"

    def includes(self, other: ResultDisclosure) -> bool:
        """Return whether everything that `other` shows is shown at this level."""
        levels = list(ResultDisclosure)  # in the order of their definition, from nothing to everything
        return levels.index(self) >= levels.index(other)


@dataclass(frozen=True, slots=True)
class QuizRules:
    """The rules of one quiz, kept with it as it was drawn.

    Parameters
    ----------
    attempts : int or None
        How many attempts at a question count; None sets no limit, and the best one counts.
    credit : tuple of float
        Share of the points that the first, second … attempt can earn; the last entry holds for all others.
    hint_cost : float or None
        Share of what an attempt can earn that each hint takes away; None: the quiz gives no hints.
    new_variants : bool
        Whether every question gets a new variant for each attempt; choices do in any case.
    deadline : datetime or None
        With its zone.
    show_before, show_after : ResultDisclosure
        What is shown before the deadline (or ever, if there is none) and after it.
    time_limit : float or None
        Minutes from the beginning of a sitting to its end, a student's extra time included; None sets no
        limit.
    """

    attempts: int | None = None
    credit: tuple[float, ...] = (1.0,)
    hint_cost: float | None = None
    new_variants: bool = False
    deadline: datetime | None = None
    show_before: ResultDisclosure = ResultDisclosure.FEEDBACK
    show_after: ResultDisclosure = ResultDisclosure.SOLUTION
    time_limit: float | None = None

    @property
    def counts_attempts(self) -> bool:
        """Whether a mark depends on earlier attempts or on hints."""
        return self.attempts is not None or self.hint_cost is not None

    def share(self, before: int, hints: int) -> float:
        """Return the share of the points that the next attempt can earn, 0 to 1.

        Parameters
        ----------
        before : int
            Attempts that were made already.
        hints : int
            Hints that were taken.
        """
        if self.attempts is not None and before >= self.attempts:
            return 0.0
        credit = self.credit[min(before, len(self.credit) - 1)]
        # Six places, so that 0.7 * 0.9 is stored and shown as 0.63 and compares equal everywhere.
        return round(credit * max(0.0, 1.0 - (self.hint_cost or 0.0) * hints), 6)

    def is_over(self, now: datetime) -> bool:
        """Return whether the deadline has passed."""
        return self.deadline is not None and now > self.deadline

    def disclosure(self, now: datetime) -> ResultDisclosure:
        """Return what is shown at a moment."""
        return self.show_after if self.is_over(now) else self.show_before


class Verdict(StrEnum):
    """Outcome of one check; ``waiting`` is a criterion that no person has marked yet."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"
    ENGINE_ERROR = "engine_error"
    WAITING = "waiting"


class Outcome(StrEnum):
    """Outcome of one whole attempt."""

    RIGHT = "right"
    PARTIAL = "partial"
    WRONG = "wrong"
    FORMAT_ERROR = "format_error"
    UNGRADED = "ungraded"

    @property
    def word(self) -> str:
        """What tables and files call it; ``format_error`` is its name for programs only."""
        return "unreadable" if self is Outcome.FORMAT_ERROR else self.value


class Mode(StrEnum):
    """Practice never reaches a gradebook; marks are made by the instructor only."""

    PRACTICE = "practice"
    MARKS = "marks"


@dataclass(frozen=True, slots=True)
class FloatArray:
    """A small array of floats in C order; shape ``()`` is a number."""

    shape: tuple[int, ...]
    data: tuple[float, ...]

    def __post_init__(self) -> None:
        if math.prod(self.shape) != len(self.data):
            raise ValueError(f"shape {self.shape} doesn't hold {count_noun(len(self.data), 'value')}")


@dataclass(frozen=True, slots=True)
class DrawnValue:
    """A drawn parameter: decimal strings (or words) in C order, never binary floats."""

    shape: tuple[int, ...]
    entries: tuple[str, ...]
    text: bool = False


@dataclass(frozen=True, slots=True)
class RenderedText:
    """One piece of prose in the three forms that we show; each is safe for its medium."""

    plain: str
    html: str
    latex: str


@dataclass(frozen=True, slots=True)
class ChoiceOption:
    """A key or distractor of a choice item, a card of an ordering, a target of a matching."""

    id: str
    text: RenderedText
    correct: bool = False
    value: FloatArray | None = None
    misconception: str | None = None
    feedback: str = ""


@dataclass(frozen=True, slots=True)
class KnownWrong:
    """What a misconception would answer for this variant."""

    misconception: str
    feedback: str
    value: FloatArray | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One answer field of a variant.

    Parameters
    ----------
    id : str
        ``"answer"`` for an item with one field, the step's id otherwise.
    type : str
        Name of the answer type, e.g. ``"vector"``.
    points : float
        Full marks of this part.
    prompt : RenderedText or None
        What a step asks; None where the stem asks it.
    key : FloatArray or None
        The key of number, vector and matrix parts, unrounded.
    key_ids : tuple of str
        The key of the other types: option ids (choice: the right ones; ordering: the
        cards in order; matching: the target of each prompt in turn; token: the accepted texts).
    options : tuple of ChoiceOption
        As shown, in the order shown.
    prompts : tuple of ChoiceOption
        Left side of a matching.
    known_wrong : tuple of KnownWrong
        Every misconception's value, for the diagnosis.
    settings : mapping
        What else the answer type needs, as it is stored: JSON values only. Its own file reads them as a
        frozen dataclass, such as ``NumericSettings.of(part)``.
    """

    id: str
    type: str
    points: float
    prompt: RenderedText | None = None
    key: FloatArray | None = None
    key_ids: tuple[str, ...] = ()
    options: tuple[ChoiceOption, ...] = ()
    prompts: tuple[ChoiceOption, ...] = ()
    known_wrong: tuple[KnownWrong, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Variant:
    """One concrete item, complete: it can be marked without its spec.

    Parameters
    ----------
    id : str
        Short stable hash of item, version and values.
    item, item_version : str
        Item id, and the content hash of spec and reference.
    title : str
    stem : RenderedText
    parts : tuple of Part
        The answer fields: one, or one for each step.
    values : mapping of str to DrawnValue
        Drawn parameters by name.
    expressions : mapping of str to str
        Named expressions that a follow-through evaluates again (derived values and keys of steps).
    notes : tuple of RenderedText
        Errata shown with the item.
    hints : tuple of RenderedText
        Given one by one.
    solution : RenderedText or None
        The worked solution.
    told_after : tuple of RenderedText
        Errata that give the key away: shown with the feedback.
    """

    id: str
    item: str
    item_version: str
    title: str
    stem: RenderedText
    parts: tuple[Part, ...]
    values: Mapping[str, DrawnValue] = field(default_factory=dict)
    expressions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[RenderedText, ...] = ()
    hints: tuple[RenderedText, ...] = ()
    solution: RenderedText | None = None
    told_after: tuple[RenderedText, ...] = ()

    @property
    def points(self) -> float:
        """Full marks of the item."""
        return sum([part.points for part in self.parts])


@dataclass(frozen=True, slots=True)
class Response:
    """What a student entered.

    Parameters
    ----------
    answers : mapping of str to str
        Raw text by part id, exactly as typed.
    on_paper : mapping of str to str
        Parts that were answered in handwriting, which nobody has typed: by part id the place on a scanned
        sheet, ``PRINT/COPY/FIELD``. Their text in `answers` says only where to look.
    """

    answers: Mapping[str, str]
    on_paper: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CodeSubmission:
    """One code hand-in, already decoded.

    Parameters
    ----------
    source : str
        Python source; for a notebook its code cells joined.
    filename : str
        Name as handed in, for messages only: foreign text.
    sha256 : str
        Hash of the bytes as handed in, those of the files in `modules` included.
    modules : mapping of str to str
        The files beside it that it imports, module name to source.
    notes : tuple of str
        What the student should know about how the files were taken in; goes into the report.
    """

    source: str
    filename: str
    sha256: str
    modules: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """One marked criterion; `title` says in a few words what was tried, passed or not."""

    id: str
    verdict: Verdict
    points: float
    max_points: float
    message: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A known mistake whose value or outputs equal what was handed in."""

    misconception: str
    message: str


@dataclass(frozen=True, slots=True)
class RubricMarks:
    """What a person gave one answer in words.

    Parameters
    ----------
    part : str
        Id of the answer field.
    points : mapping of str to float
        Points by criterion, in the rubric's own units: a quiz may count the question more or less.
    by : str
        Who marked it.
    at : datetime
        With time zone.
    rubric : str
        Digest of what the rubric offered: these marks mean nothing under another one.
    comments : mapping of str to str
        Remarks by criterion, for the student.
    comment : str
        A remark on the whole answer, for the student.
    """

    part: str
    points: Mapping[str, float] = field(hash=False)
    by: str
    at: datetime
    rubric: str
    comments: Mapping[str, str] = field(default_factory=dict, hash=False)
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The smallest input found that shows the fault; copy-pasteable Python."""

    code: str
    got: str
    expected: str | None = None


@dataclass(frozen=True, slots=True)
class ComparedWeights:
    """The weights that code gave for one public input, beside the right ones.

    Parameters
    ----------
    call : str
        The call as one short expression.
    place : str
        Where in its result they are, such as ``"w"`` or ``"[0, 1]"``; empty for all of it.
    got, right : FloatArray
        Shape (rows, columns); what code gave may hold NaN and infinities.
    differing : tuple of int
        The entries that are not right, by their position in C order.
    """

    call: str
    place: str
    got: FloatArray
    right: FloatArray
    differing: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class GradeReport:
    """The result of one attempt.

    ``score`` is None when the attempt is ungraded or its format can't be read: it is then
    neither 0 nor full marks. ``credit`` is the share of the points that this attempt could earn under a
    quiz's rules; the score has it in already, the checks haven't. ``weights`` are of public inputs only.
    ``library`` is what the process that ran code had loaded: ``"numpy"``, or ``"torch"`` too. ``marking``
    holds what people gave; while an answer in words has none, the report is ungraded, with checks that wait.
    """

    item: str
    item_version: str
    outcome: Outcome
    score: float | None
    max_score: float
    checks: tuple[Check, ...] = ()
    diagnosis: tuple[Diagnosis, ...] = ()
    counterexample: Counterexample | None = None
    notes: tuple[str, ...] = ()
    variant: str | None = None
    student: str | None = None
    tier: str | None = None
    mode: Mode = Mode.PRACTICE
    engine_version: str = __version__
    credit: float = 1.0
    weights: tuple[ComparedWeights, ...] = ()
    library: str | None = None
    marking: tuple[RubricMarks, ...] = ()

    @property
    def needs_person(self) -> bool:
        """Whether it has no score only because a person must mark it; no machine can do more."""
        return self.outcome is Outcome.UNGRADED and any(c.verdict is Verdict.WAITING for c in self.checks)

    @property
    def word(self) -> str:
        """What tables and files call its outcome."""
        return "to be marked" if self.needs_person else self.outcome.word

    @classmethod
    def blank(
        cls,
        item: str,
        item_version: str,
        outcome: Outcome,
        max_score: float,
        *,
        student: str | None,
        mode: Mode,
        variant: str | None = None,
        notes: tuple[str, ...] = (),
        tier: str | None = None,
    ) -> GradeReport:
        """Return a report without a score, to be filled in or to stand as it is.

        Parameters
        ----------
        item, item_version : str
        outcome : Outcome
        max_score : float
        student : str or None
        mode : Mode
        variant : str, optional
        notes : tuple of str
            What the student is told.
        tier : str, optional
            Of the sandbox, where code ran.
        """
        return cls(
            item,
            item_version,
            outcome,
            None,
            max_score,
            notes=notes,
            variant=variant,
            student=student,
            tier=tier,
            mode=mode,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the documented JSON object of ``grade submit --json``."""
        return {
            "item": self.item,
            "item_version": self.item_version,
            "variant": self.variant,
            "student": self.student,
            "score": None if self.score is None else plain_points(self.score),
            "max_score": plain_points(self.max_score),
            "credit": self.credit,
            "verdict": str(self.outcome),
            "checks": [
                {
                    "id": c.id,
                    "verdict": str(c.verdict),
                    "points": plain_points(c.points),
                    "max_points": plain_points(c.max_points),
                    "message": c.message,
                    "title": c.title,
                }
                for c in self.checks
            ],
            "diagnosis": [{"misconception": d.misconception, "message": d.message} for d in self.diagnosis],
            "counterexample": None
            if self.counterexample is None
            else {
                "code": self.counterexample.code,
                "got": self.counterexample.got,
                "expected": self.counterexample.expected,
            },
            "notes": list(self.notes),
            "marking": [
                {
                    "part": m.part,
                    "points": dict(m.points),
                    "comments": dict(m.comments),
                    "comment": m.comment,
                    "by": m.by,
                    "at": m.at.isoformat(),
                }
                for m in self.marking
            ],
            "tier": self.tier,
            "library": self.library,
            "mode": str(self.mode),
            "engine_version": self.engine_version,
        }


@dataclass(frozen=True, slots=True)
class QuizQuestion:
    """One question of one student's quiz.

    ``retry`` counts the variants that were drawn for later attempts: 0 is the one that the quiz began with.
    ``own_family`` tells that other students may have another item here. ``show_before`` and ``show_after``
    take the place of the quiz's own, where its section says so.
    """

    number: int
    variant: Variant
    points: float
    section: str = ""
    own_family: bool = False
    retry: int = 0
    show_before: ResultDisclosure | None = None
    show_after: ResultDisclosure | None = None

    def disclosure(self, rules: QuizRules, now: datetime) -> ResultDisclosure:
        """Return what is shown of this question at a moment, under its quiz's rules."""
        if rules.is_over(now):
            return self.show_after or rules.show_after
        return self.show_before or rules.show_before


@dataclass(frozen=True, slots=True)
class QuizExercise:
    """A code exercise that goes with a quiz: it is handed in as a file and is an assignment of its own."""

    item: str
    title: str
    points: float


@dataclass(frozen=True, slots=True)
class Quiz:
    """One student's quiz, with keys: it stays with the instructor.

    ``plan`` is a hash of the blueprint that it was drawn from.
    """

    id: str
    name: str
    title: str
    student: str
    questions: tuple[QuizQuestion, ...]
    attempt: int = 0
    rules: QuizRules = field(default_factory=QuizRules)
    plan: str = ""
    exercises: tuple[QuizExercise, ...] = ()


# A class's variants go from process to process. Dataclasses with slots look their fields up for each object;
# packed as the arguments of their class they take half the time.
def _packed_quickly(kind: type[Any]) -> None:
    fields_of = attrgetter(*kind.__match_args__)
    copyreg.pickle(kind, lambda value: (kind, fields_of(value)))


for _kind in (RenderedText, DrawnValue, FloatArray, ChoiceOption, KnownWrong, Part, Variant):
    _packed_quickly(_kind)
