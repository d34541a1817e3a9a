"""Marks that people set: for students and columns that exist, within the full points."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from engine.batch.expected import Expected
from engine.course import Column
from engine.course.policies import Policies
from engine.errors import UsageError
from engine.foreign import clean_line
from engine.model import plain_points
from engine.plurals import counted
from engine.spec.wording import did_you_mean
from engine.store import HandMark, Store

__all__ = ["Decision", "MarkDesk"]

_LONGEST_COMMENT = 5000


@dataclass(frozen=True, slots=True)
class Decision:
    """What somebody wants to be so; what is None stays as it was.

    Parameters
    ----------
    score : float or None
        Points that count.
    excused : bool or None
    comment : str or None
        For the student; ``""`` takes one away.
    """

    score: float | None = None
    excused: bool | None = None
    comment: str | None = None


class MarkDesk:
    """Checks decisions before they are stored.

    Parameters
    ----------
    store : Store
    students : collection of str
        Whom marks can be set for.
    code : collection of str
        Ids of code exercises, for suggestions.
    points_of : callable
        Code item → full points, None where there is no such item.
    meant : callable, optional
        What somebody typed for a student → the ids that it can mean, as tables of answers are read: a name,
        an address, or an id that has lost its zeros.
    """

    def __init__(
        self,
        store: Store,
        students: Collection[str],
        code: Collection[str],
        points_of: Callable[[str], float | None],
        meant: Callable[[str], Sequence[str]] = lambda _: (),
    ) -> None:
        self._students = students
        self._meant = meant
        self._code = code
        self._quizzes = store.quiz_names()
        self._expected = Expected(store, Policies(), lambda item: item, points_of)
        self._standing: Mapping[tuple[str, str], HandMark] = store.hand_marks.standing()

    def decide(
        self,
        student: str,
        column: str,
        decision: Decision,
        *,
        by: str,
        at: datetime,
        allow_extra: bool = False,
    ) -> HandMark | None:
        """Return the mark to store, None where it stands already.

        Parameters
        ----------
        student, column : str
            Ids.
        decision : Decision
            Points and an excuse take each other's place.
        by : str
            Who decides.
        at : datetime
        allow_extra : bool
            Let a score be above the full points.

        Raises
        ------
        UsageError
            No such student or column, a score that can't be, a comment that is too long.
        """
        student = self.student(student)
        found = self.column(student, column)
        before = self._standing.get((student, column))
        score, excused = (before.score, before.excused) if before else (None, False)
        if decision.score is not None:
            _check_score(decision.score, found, allow_extra)
            score, excused = round(decision.score, 6), False
        if decision.excused is not None:
            score, excused = (None, True) if decision.excused else (score, False)
        comment = (before.comment if before else "") if decision.comment is None else decision.comment
        if len(comment) > _LONGEST_COMMENT:
            raise UsageError("the comment is too long", expected=f"at most {_LONGEST_COMMENT} characters")
        if before and (score, excused, comment) == (before.score, before.excused, before.comment):
            return None
        return HandMark(student, column, score, excused, comment, by, at)

    def withdraw(self, student: str, column: str, *, by: str, at: datetime) -> HandMark:
        """Return what takes a mark, an excuse and a comment back; a :class:`UsageError` if there is none.

        Student and column needn't be in the course any more.
        """
        if (student, column) not in self._standing:
            student = self.student(student, strict=False)
        if (student, column) not in self._standing:
            raise UsageError(
                "there is nothing to take back",
                where=f"{clean_line(student)} {clean_line(column)}",
                next_step="see what stands: grade mark list",
            )
        return HandMark(student, column, None, False, "", by, at)

    def student(self, text: str, *, strict: bool = True) -> str:
        """Return the id that was meant; a :class:`UsageError` if it is nobody's or several people's.

        Without `strict` the text itself then.
        """
        found = (text,) if text in self._students else tuple(self._meant(text))
        if len(found) == 1:
            return found[0]
        if not strict:
            return text
        if found:
            who = " or ".join(clean_line(one, 100) for one in sorted(found))
            raise UsageError(f"{clean_line(text, 100)!r} can be {who}", next_step="give the id")
        near = did_you_mean(text, sorted(self._students))
        raise UsageError(f"no student {clean_line(text, 100)!r} is in this course{near}")

    def column(self, student: str, column: str) -> Column:
        """Return a column of a student; a :class:`UsageError` where there is none, with near names."""
        student = self.student(student)
        name, is_question, _ = column.partition("/")
        found = {one.id: one for one in self._expected.columns(name, student, {})}
        if column in found:
            return found[column]
        if name in self._quizzes and not found:
            raise UsageError(f"{student} has no quiz {name!r}", next_step="see who has: grade quiz deadline")
        known = sorted(found) if is_question or found else [*self._quizzes, *self._code]
        near = did_you_mean(column, known)
        raise UsageError(
            f"there is no column {clean_line(column, 200)!r}{near}",
            expected="the id of a code exercise, or QUIZ/ITEM, as in the gradebook",
        )


def _check_score(score: float, column: Column, allow_extra: bool) -> None:
    full = plain_points(column.max_score)
    if not math.isfinite(score) or score < 0 or score > 1e6:
        raise UsageError("this is no score", expected=f"0 to {full}", got=f"{score:g}")
    if score > column.max_score and not allow_extra:
        raise UsageError(
            f"{column.id} has {counted(full, 'point')}, and {plain_points(score)} are more",
            next_step="add --allow-extra if that is meant",
        )
