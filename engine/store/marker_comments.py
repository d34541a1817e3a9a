"""What markers write beside marks: comments on lines of code, and sentences that they use again.

Nothing is overwritten: a comment that is removed stays in its row with the time, so that it can be said what
a student saw and when.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from engine.errors import UsageError
from engine.store.attempt import Attempt
from engine.store.database import StorePart, rows_by_student
from engine.store.sql_tables import storable
from engine.store.web_tables import code_comments, saved_comments
from engine.text.words import count_noun, visible

LONGEST_COMMENT = 5000
"""Characters of a comment: it goes into pages, and into cells of gradebooks."""


def checked_comment(text: str) -> str:
    """Return a comment as it is stored, without what no page can show.

    Raises
    ------
    UsageError
        It is too long.
    """
    plain = visible(text).strip()
    if len(plain) > LONGEST_COMMENT:
        most, got = (count_noun(n, "character") for n in (LONGEST_COMMENT, len(plain)))
        raise UsageError("this comment is too long", expected=f"at most {most}", got=got)
    return plain


@dataclass(frozen=True, slots=True)
class CodeComment:
    """A comment on one line of a program that was handed in.

    Parameters
    ----------
    id : int
    student, item, submission : str
        Of the attempt.
    file : str
        Name of the module beside the program, empty for the program itself.
    line : int
        From 1.
    text : str
        For the student.
    by : str
    at : datetime
    """

    id: int
    student: str
    item: str
    submission: str
    file: str
    line: int
    text: str
    by: str
    at: datetime


class CodeComments(StorePart):
    """Comments on lines of programs."""

    def add(self, attempt: Attempt, line: int, text: str, *, by: str, at: datetime, file: str = "") -> int:
        """Store a comment and return its number.

        Parameters
        ----------
        attempt : Attempt
            Of a program.
        line : int
            From 1; it must be a line of the file.
        text : str
        by : str
        at : datetime
        file : str
            Module beside the program; empty for the program itself.

        Raises
        ------
        UsageError
            There is no such line, or the comment is empty or too long.
        """
        source = attempt.modules.get(file) if file else attempt.source
        lines = 0 if source is None else len(source.splitlines())
        if not 1 <= line <= lines:
            raise UsageError(
                "a comment belongs to a line of the program",
                expected=f"a line from 1 to {lines}" if lines else "a program with lines",
                got=f"line {line} of {file or 'the program'}",
            )
        plain = checked_comment(text)
        if not plain:
            raise UsageError("this comment is empty", expected="words for the student")
        row = {
            "student": attempt.student,
            "item": attempt.item,
            "submission": attempt.submission,
            "file": storable(file),
            "line": line,
            "text": storable(plain),
            "by": storable(by, 200),
            "at": at,
        }

        added = sa.insert(code_comments).values(row).returning(code_comments.c.id)
        return self._database.change(lambda connection: int(connection.execute(added).scalar_one()))

    def of(
        self, student: str, *, item: str | None = None, submission: str | None = None
    ) -> list[CodeComment]:
        """Return the comments on a student's programs that stand now, by file and line."""
        query = sa.select(code_comments).where(
            code_comments.c.student == student, code_comments.c.removed.is_(None)
        )
        for name, value in {"item": item, "submission": submission}.items():
            if value is not None:
                query = query.where(code_comments.c[name] == value)
        query = query.order_by(code_comments.c.file, code_comments.c.line, code_comments.c.id)
        with self._database.read() as connection:
            return [_code_comment(row) for row in connection.execute(query).mappings()]

    def by_student(self, students: Sequence[str]) -> Iterator[list[CodeComment]]:
        """Yield the comments of each of these students in turn, as :meth:`of` does, all read at once."""
        query = sa.select(code_comments).where(
            code_comments.c.student.in_(students), code_comments.c.removed.is_(None)
        )
        ordered = query.order_by(code_comments.c.file, code_comments.c.line, code_comments.c.id)
        for rows in rows_by_student(self._database, ordered, students):
            yield [_code_comment(row) for row in rows]

    def find(self, number: int) -> CodeComment | None:
        """Return the comment of a number, None where it was removed or never there."""
        query = sa.select(code_comments).where(
            code_comments.c.id == number, code_comments.c.removed.is_(None)
        )
        with self._database.read() as connection:
            row = connection.execute(query).mappings().first()
        return None if row is None else _code_comment(row)

    def remove(self, number: int, *, at: datetime) -> bool:
        """Remove a comment; return whether it was still there."""
        same = (code_comments.c.id == number) & code_comments.c.removed.is_(None)
        change = sa.update(code_comments).where(same).values(removed=at)
        return self._database.change(lambda connection: connection.execute(change).rowcount > 0)


def _code_comment(row: sa.RowMapping) -> CodeComment:
    return CodeComment(**{name: row[name] for name in CodeComment.__match_args__})


@dataclass(frozen=True, slots=True)
class SavedComment:
    """A sentence that markers use again.

    Parameters
    ----------
    id : int
    item : str or None
        The item that it is for; None: any.
    text : str
    points : float or None
        Points that usually go with it.
    by : str
    at : datetime
    """

    id: int
    item: str | None
    text: str
    points: float | None
    by: str
    at: datetime


class SavedComments(StorePart):
    """The sentences that a course's markers have saved."""

    def add(
        self, text: str, *, by: str, at: datetime, item: str | None = None, points: float | None = None
    ) -> int:
        """Save a sentence and return its number; the same one for the same item isn't saved twice.

        Raises
        ------
        UsageError
            It is empty or too long.
        """
        plain = checked_comment(text)
        if not plain:
            raise UsageError("this comment is empty", expected="words for the student")
        row = {"item": item, "text": storable(plain), "points": points, "by": storable(by, 200), "at": at}
        same = sa.and_(
            saved_comments.c.removed.is_(None),
            saved_comments.c.text == row["text"],
            saved_comments.c.item.is_(None) if item is None else saved_comments.c.item == item,
        )

        def insert(connection: sa.Connection) -> int:
            known = connection.execute(sa.select(saved_comments.c.id).where(same)).scalar()
            if known is not None:
                return int(known)
            added = sa.insert(saved_comments).values(row).returning(saved_comments.c.id)
            return int(connection.execute(added).scalar_one())

        return self._database.change(insert)

    def of(self, item: str | None) -> list[SavedComment]:
        """Return the sentences for an item and those for any, the item's own first; all of any where None."""
        for_any = saved_comments.c.item.is_(None)
        fits = for_any if item is None else sa.or_(for_any, saved_comments.c.item == item)
        query = sa.select(saved_comments).where(saved_comments.c.removed.is_(None), fits)
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(saved_comments.c.id)).mappings().all()
        comments = [SavedComment(**{name: row[name] for name in SavedComment.__match_args__}) for row in rows]
        return sorted(comments, key=lambda comment: comment.item is None)

    def remove(self, number: int, *, at: datetime) -> bool:
        """Remove a sentence; return whether it was still there."""
        same = (saved_comments.c.id == number) & saved_comments.c.removed.is_(None)
        change = sa.update(saved_comments).where(same).values(removed=at)
        return self._database.change(lambda connection: connection.execute(change).rowcount > 0)
