"""Which drawn quizzes students see on the site: a quiz is there once somebody has published it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from engine.errors import QuizError
from engine.store.database import StorePart
from engine.store.sql_tables import quizzes
from engine.store.web_tables import published_quizzes


@dataclass(frozen=True, slots=True)
class Publication:
    """That a quiz was published."""

    name: str
    at: datetime
    by: str


class PublishedQuizzes(StorePart):
    """The published quizzes of one course."""

    def all(self) -> Mapping[str, Publication]:
        """Return the published quizzes by name."""
        query = sa.select(published_quizzes).order_by(published_quizzes.c.name)
        with self._database.read() as connection:
            return {row.name: Publication(row.name, row.at, row.by) for row in connection.execute(query)}

    def publish(self, name: str, by: str, at: datetime) -> Publication:
        """Publish a drawn quiz, and return when it was; a second time changes nothing.

        Raises
        ------
        QuizError
            No such quiz was drawn.
        """

        def publish(connection: sa.Connection) -> Publication:
            drawn = sa.select(quizzes.c.name).where(quizzes.c.name == name).limit(1)
            if connection.execute(drawn).first() is None:
                names = connection.execute(sa.select(quizzes.c.name).distinct().order_by(quizzes.c.name))
                raise QuizError(
                    f"quiz {name!r} was not drawn",
                    expected=f"a quiz that was drawn: {', '.join(names.scalars()) or 'none was drawn here'}",
                    next_step="draw it with: grade quiz new BLUEPRINT",
                )
            same = sa.select(published_quizzes).where(published_quizzes.c.name == name)
            row = connection.execute(same).first()
            if row is not None:
                return Publication(row.name, row.at, row.by)
            connection.execute(sa.insert(published_quizzes), {"name": name, "at": at, "by": by})
            return Publication(name, at, by)

        return self._database.change(publish)

    def withdraw(self, name: str) -> bool:
        """Take a quiz off the site, and return whether it was there; what was answered stays."""
        change = sa.delete(published_quizzes).where(published_quizzes.c.name == name)
        return bool(self._database.change(lambda connection: connection.execute(change).rowcount))
