"""Columns at which a student handed nothing in, and about which there is something to say all the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from engine.batch.columns import columns_of_quiz
from engine.course import Column
from engine.course.policies import Policies
from engine.model import Quiz
from engine.store import Attempt, HandMark, Store

__all__ = ["Expected"]


class Expected:
    """Knows what the course expects of its students.

    Parameters
    ----------
    store : Store
        Has the quizzes that were drawn.
    policies : Policies
        What is named there is expected.
    title_of, points_of : callable
        Code item → title, and full points or None where there is no such item.
    """

    def __init__(
        self,
        store: Store,
        policies: Policies,
        title_of: Callable[[str], str],
        points_of: Callable[[str], float | None],
    ) -> None:
        self._store = store
        self._policies = policies
        self._title_of = title_of
        self._points_of = points_of
        dropping = {name for name, group in policies.groups.items() if group.drop_lowest}
        # What is only blank where it is missing needs no column.
        self._always = {
            name
            for name in policies.named
            if policies.missing == "zero" or policies.rules_of(name).group in dropping
        }
        self._drawn = frozenset(store.quiz_names())

    def missing(
        self,
        student: str,
        has: Collection[Column],
        quizzes: Mapping[str, Quiz | None],
        by_hand: Mapping[str, HandMark],
    ) -> dict[Column, list[Attempt]]:
        """Return the columns that a student should have, without any attempt.

        Parameters
        ----------
        student : str
        has : collection of Column
            At which the student handed something in.
        quizzes : mapping of str to Quiz or None
            Those that are loaded already, by id.
        by_hand : mapping of str to HandMark
            The student's marks by hand, by column id.
        """
        ids = {column.id for column in has}
        excused = set(self._policies.excused_of(student))
        by_person = {column.partition("/")[0] for column in by_hand if column not in ids}
        loaded = {quiz.name: quiz for quiz in quizzes.values() if quiz is not None}
        found = {
            column: name
            for name in sorted(self._always | excused | by_person)
            for column in self.columns(name, student, loaded)
            if column.id not in ids
        }
        wanted = self._always | excused
        return {column: [] for column, name in found.items() if name in wanted or column.id in by_hand}

    def columns(self, name: str, student: str, loaded: Mapping[str, Quiz]) -> list[Column]:
        """Return the columns of an assignment for a student; none where it is unknown or wasn't given out.

        Quizzes in `loaded`, by name, aren't read from the store.
        """
        if name in loaded:
            return columns_of_quiz(loaded[name])
        if name in self._drawn:
            drawn = self._store.quizzes(name, student)
            return columns_of_quiz(drawn[-1]) if drawn else []
        points = self._points_of(name)
        return [] if points is None else [Column("~", 0, name, self._title_of(name), points)]
