"""What happens while a quiz is taken: variants for later attempts, hints, and moved deadlines.

Hints and variants are only ever added: what a student has seen can't be unseen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from engine.model import Mode, Quiz, Response, Variant
from engine.store.database import StorePart
from engine.store.sql_tables import attempts, decode, encode, quiz_hints, quiz_retries, quizzes


class SittingStore(StorePart):
    """Variants, hints and deadlines of quizzes that are being taken."""

    def variants(self, quiz: Quiz, number: int) -> list[Variant]:
        """Return all variants of a question, beginning with that of the quiz itself."""
        first = next(question.variant for question in quiz.questions if question.number == number)
        query = (
            sa.select(quiz_retries.c.variant)
            .where(*_question(quiz_retries, quiz, number))
            .order_by(quiz_retries.c.retry)
        )
        with self._database.read() as connection:
            later = connection.execute(query).scalars().all()
        return [first, *(decode(Variant, text, self._database.where) for text in later)]

    def quiz_titles(self) -> dict[str, str]:
        """Return the titles of all quizzes that were drawn, by name."""
        with self._database.read() as connection:
            rows = connection.execute(sa.select(quizzes.c.name, quizzes.c.title).distinct()).all()
        return {row.name: row.title for row in rows}

    def names_by_id(self) -> dict[tuple[str, str], str]:
        """Return the name of each quiz by its id and student."""
        with self._database.read() as connection:
            rows = connection.execute(sa.select(quizzes.c.id, quizzes.c.student, quizzes.c.name)).all()
        return {(row.id, row.student): row.name for row in rows}

    def move_deadline(
        self, name: str, deadline: datetime | None, students: Collection[str] = ()
    ) -> list[tuple[Quiz, Quiz]]:
        """Give drawn quizzes another deadline; otherwise only their keys are ever corrected.

        Parameters
        ----------
        name : str
            Name of the quiz.
        deadline : datetime or None
        students : collection of str
            Whose; everybody's if empty.

        Returns
        -------
        list of (Quiz, Quiz)
            Before and after, by student.
        """
        query = sa.select(quizzes.c.quiz).where(quizzes.c.name == name).order_by(quizzes.c.student)
        query = query.with_for_update()  # two movers on a server go one after the other
        if students:
            query = query.where(quizzes.c.student.in_(students))
        moved = []
        with self._database.write() as connection:
            for text in connection.execute(query).scalars().all():
                before = decode(Quiz, text, self._database.where)
                after = replace(before, rules=replace(before.rules, deadline=deadline))
                same = (quizzes.c.id == before.id) & (quizzes.c.student == before.student)
                connection.execute(sa.update(quizzes).where(same).values(quiz=encode(after)))
                moved.append((before, after))
        return moved

    def ids_alike(self, quiz: Quiz, mode: Mode) -> set[str]:
        """Return the ids of the quizzes whose attempts count for this one.

        For marks, all quizzes of one name are one quiz, drawn several times.
        """
        # In practice every draw is on its own: one may start over.
        if mode is Mode.PRACTICE:
            return {quiz.id}
        query = sa.select(quizzes.c.id).where(quizzes.c.name == quiz.name, quizzes.c.student == quiz.student)
        with self._database.read() as connection:
            return set(connection.execute(query).scalars())

    def handed_in(self, student: str, mode: Mode) -> Mapping[str | None, set[str]]:
        """Return the items for which a student has handed something in, by quiz id; None for code.

        A question that was left blank isn't one of them, though the end of a quiz records it.
        """
        query = (
            sa.select(attempts.c.quiz_id, attempts.c.item, attempts.c.response)
            .where(attempts.c.student == student, attempts.c.mode == str(mode))
            .distinct()
        )
        by_quiz: dict[str | None, set[str]] = {}
        with self._database.read() as connection:
            for row in connection.execute(query):
                if row.quiz_id is None or not _is_blank(row.response, self._database.where):
                    by_quiz.setdefault(row.quiz_id, set()).add(row.item)
        return by_quiz

    def answered(self, mode: Mode) -> set[tuple[str, str]]:
        """Return id and student of every quiz of which an answer is recorded, blank or not."""
        columns = (attempts.c.quiz_id, attempts.c.student)
        query = sa.select(*columns).where(attempts.c.mode == str(mode), attempts.c.quiz_id.is_not(None))
        with self._database.read() as connection:
            return {(row.quiz_id, row.student) for row in connection.execute(query.distinct())}

    def retries(self, quiz: Quiz) -> Mapping[int, int]:
        """Return how many further variants each question got, by number; no entry for none."""
        query = (
            sa.select(quiz_retries.c.number, sa.func.max(quiz_retries.c.retry))
            .where(*_question(quiz_retries, quiz, None))
            .group_by(quiz_retries.c.number)
        )
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def all_retries(self) -> Iterator[tuple[str, str, int, int, Variant]]:
        """Yield all variants of later attempts: quiz id, student, question, retry, and the variant."""
        query = sa.select(quiz_retries).order_by(*quiz_retries.primary_key)
        with self._database.read() as connection:
            rows = connection.execute(query).mappings().all()
        for row in rows:
            variant = decode(Variant, row["variant"], self._database.where)
            yield row["quiz_id"], row["student"], row["number"], row["retry"], variant

    def add_variant(self, quiz: Quiz, number: int, retry: int, variant: Variant) -> Variant:
        """Store the variant of a retry, and return the stored one: a second window may have been faster."""
        row = {**_key(quiz, number), "retry": retry}
        same = sa.and_(*(quiz_retries.c[name] == value for name, value in row.items()))

        def add(connection: sa.Connection) -> Variant:
            stored = connection.execute(sa.select(quiz_retries.c.variant).where(same)).scalar()
            if stored is not None:
                return decode(Variant, stored, self._database.where)
            more = {"drawn": datetime.now(UTC), "variant": encode(variant)}
            connection.execute(sa.insert(quiz_retries), {**row, **more})
            return variant

        return self._database.change(add)

    def hints(self, quiz: Quiz, mode: Mode) -> Mapping[int, int]:
        """Return how many hints of each question were taken, by number; no entry for none."""
        query = (
            sa.select(quiz_hints.c.number, sa.func.count())
            .where(*_question(quiz_hints, quiz, None), quiz_hints.c.mode == str(mode))
            .group_by(quiz_hints.c.number)
        )
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def take_hint(self, quiz: Quiz, number: int, mode: Mode, hint: int) -> None:
        """Record that a hint (1 is the first) was taken; a second record changes nothing."""
        row = {**_key(quiz, number), "mode": str(mode), "hint": hint}
        same = sa.and_(*(quiz_hints.c[name] == value for name, value in row.items()))

        def take(connection: sa.Connection) -> None:
            if connection.execute(sa.select(quiz_hints.c.hint).where(same)).scalar() is None:
                connection.execute(sa.insert(quiz_hints), {**row, "taken": datetime.now(UTC)})

        self._database.change(take)


def _key(quiz: Quiz, number: int) -> dict[str, Any]:
    return {"quiz_id": quiz.id, "student": quiz.student, "number": number}


def _question(table: sa.Table, quiz: Quiz, number: int | None) -> list[sa.ColumnElement[bool]]:
    conditions = [table.c.quiz_id == quiz.id, table.c.student == quiz.student]
    return conditions if number is None else [*conditions, table.c.number == number]


def _is_blank(response: str | None, where: str) -> bool:
    return response is None or not any(
        text.strip() for text in decode(Response, response, where).answers.values()
    )
