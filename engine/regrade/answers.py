"""Answers to quiz questions, marked with the keys that their items have now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from engine.errors import DrawError
from engine.grading import grade_answers
from engine.model import GradeReport, Outcome, Quiz, Response, Variant
from engine.quiz.credit import Credit
from engine.spec.bank import Bank
from engine.store import Attempt, Store, reason_of
from engine.variants import rekey

__all__ = ["AnswerMarker"]


class AnswerMarker:
    """Marks stored answers with the items of a bank.

    Parameters
    ----------
    bank : Bank
    store : Store
        For the credit of an answer that couldn't be read before.
    """

    def __init__(self, bank: Bank, store: Store) -> None:
        self._bank = bank
        self._store = store
        self._rekeyed: dict[str, Variant | DrawError] = {}

    def rekeyed(self, variant: Variant) -> Variant:
        """Return a variant with the keys that its item has now; a DrawError says why there are none."""
        key = f"{variant.id} {variant.item_version} {variant.points}"
        if key not in self._rekeyed:
            try:
                self._rekeyed[key] = rekey(
                    self._bank.load(variant.item),
                    variant,
                    version=self._bank.version(variant.item),
                    registry=self._bank.registry(),
                )
            except DrawError as error:
                self._rekeyed[key] = error
        found = self._rekeyed[key]
        if isinstance(found, DrawError):
            raise found
        return found

    def mark(self, old: Attempt, earlier: Sequence[Attempt], quiz: Quiz | None) -> Attempt:
        """Return an attempt as it is marked now.

        Parameters
        ----------
        old : Attempt
            With variant and response.
        earlier : sequence of Attempt
            The student's attempts at the question before it, as they are marked now, oldest first.
        quiz : Quiz or None

        Raises
        ------
        DrawError
            The item has no key for this variant any more.
        """
        assert old.variant is not None
        response = old.response or Response({})
        variant = self.rekeyed(old.variant)
        fresh = grade_answers(variant, response, mode=old.report.mode, student=old.student)
        told = grade_answers(old.variant, response, mode=old.report.mode, student=old.student)
        # What the quiz's rules and the hand-in added is no matter of the item.
        added = tuple(note for note in old.report.notes if note not in told.notes)
        new = replace(old, variant=variant, finished=datetime.now(UTC))
        if old.report.outcome is Outcome.FORMAT_ERROR:
            return self._first_marked(replace(new, report=fresh), earlier, quiz)
        return _with_report(new, _credited(fresh, old.report.credit, added))

    def _first_marked(self, new: Attempt, earlier: Sequence[Attempt], quiz: Quiz | None) -> Attempt:
        """Return an attempt that couldn't be read before with the credit that it earns now."""
        if quiz is not None and quiz.rules.counts_attempts:
            hints = self._store.sittings.hints(quiz, new.report.mode)
            new = Credit(quiz, hints)(new, earlier)
        return _with_report(new, new.report)


def _credited(report: GradeReport, credit: float, added: tuple[str, ...]) -> GradeReport:
    score = None if report.score is None else round(report.score * credit, 6)
    return replace(report, score=score, credit=credit, notes=tuple(dict.fromkeys((*report.notes, *added))))


def _with_report(attempt: Attempt, report: GradeReport) -> Attempt:
    return replace(attempt, report=report, reason=reason_of(report))
