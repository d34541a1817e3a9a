"""What every answer type does, and what it gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from engine.model import Check, Diagnosis, Part, Verdict

__all__ = ["AnswerType", "Graded", "PartResult", "blank_result", "listed"]


@dataclass(frozen=True, slots=True)
class Graded:
    """How an answer was judged, before points.

    Parameters
    ----------
    fraction : Fraction or float
        Share of the full marks, 0 to 1.
    message : str
        What was right and what wasn't; never the key.
    diagnosis : tuple of Diagnosis
    notes : tuple of str
        Errata and the like.
    checks : tuple of Check
        Further criteria, without points of their own.
    """

    fraction: Fraction | float
    message: str
    diagnosis: tuple[Diagnosis, ...] = ()
    notes: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class PartResult:
    """The marks of one part.

    Parameters
    ----------
    part : str
        Its id.
    points, max_points : float
    message : str
    diagnosis, notes
        As in :class:`Graded`.
    checks : tuple of Check
        The part's own check first.
    is_blank : bool
        Nothing was entered.
    """

    part: str
    points: float
    max_points: float
    message: str
    diagnosis: tuple[Diagnosis, ...] = ()
    notes: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    is_blank: bool = False

    @property
    def is_full(self) -> bool:
        """Whether it earned full marks."""
        return self.points >= self.max_points


class AnswerType:
    """One type of answer; a file of this package holds each, and the registry knows them by name.

    The methods take a part and never change it.  ``parse`` raises
    :class:`engine.errors.ResponseFormatError` for what can't be read.
    """

    name = ""
    shows_policy = False
    """Whether the scoring rule is shown beside the field: where guessing or leaving out is a decision."""

    def parse(self, text: str, part: Part) -> Any:
        """Return what was entered, in the type's own form.

        Raises
        ------
        engine.errors.ResponseFormatError
            It can't be read; costs no attempt.
        """
        raise NotImplementedError

    def judge(self, part: Part, answer: Any) -> Graded:
        """Judge what :meth:`parse` returned."""
        raise NotImplementedError

    def right_responses(self, part: Part) -> list[str]:
        """Return the key in every notation that must be accepted, the usual one first."""
        raise NotImplementedError

    def wrong_responses(self, part: Part) -> list[tuple[str, str | None]]:
        """Return what each known mistake would enter, with its misconception id."""
        return []

    def blank_hint(self, part: Part) -> str:
        """Return in a few words what is to be entered."""
        raise NotImplementedError

    def policy(self, part: Part) -> str:
        """Return how the part is scored, in one sentence."""
        return "all or nothing"

    def chance_score(self, part: Part) -> float:
        """Return the share of the marks that blind guessing earns on average."""
        return 0.0

    def observe(self, part: Part, text: str) -> tuple[Diagnosis, ...]:
        """Return what can be said of an answer that :meth:`parse` refuses."""
        return ()

    def grade(self, part: Part, text: str) -> PartResult:
        """Mark an answer as it was typed; a blank one gets 0.

        Raises
        ------
        engine.errors.ResponseFormatError
            It can't be read.
        """
        return self.mark(part, self.parse(text, part)) if text.strip() else blank_result(part)

    def mark(self, part: Part, answer: Any) -> PartResult:
        """Mark what :meth:`parse` returned."""
        graded = self.judge(part, answer)
        full = graded.fraction >= 1
        # A third of a point doesn't survive rounding: full marks are the part's own, to the last bit.
        points = part.points if full else round(float(graded.fraction) * part.points, 9)
        verdict = Verdict.PASSED if full else Verdict.FAILED
        own = Check(part.id, verdict, points, part.points, graded.message)
        return PartResult(
            part.id,
            points,
            part.points,
            graded.message,
            graded.diagnosis,
            graded.notes,
            (own, *graded.checks),
        )


def blank_result(part: Part) -> PartResult:
    """Return the result of an empty field: 0, whatever the policy."""
    check = Check(part.id, Verdict.FAILED, 0.0, part.points, "No answer.")
    return PartResult(part.id, 0.0, part.points, check.message, checks=(check,), is_blank=True)


def listed(names: Sequence[str], word: str = "and") -> str:
    """Return ``a, b and c``."""
    if len(names) < 2:
        return "".join(names)
    return ", ".join(names[:-1]) + f" {word} {names[-1]}"
