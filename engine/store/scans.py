"""Scanned answer sheets: what stands on each page, and what people decided where that was unclear.

A page is kept as it was read; a scan of the same page with the same content is kept once. Decisions are only
ever added, each with who and when, and the newest about a field holds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import sqlalchemy as sa

from engine.crash_points import reached
from engine.store.database import StorePart
from engine.store.sql_tables import decode, encode, storable
from engine.store.web_tables import scan_decisions, scanned_pages

BubblePlace = tuple[int, int, int, str]
"""A bubble by its field's position in the layout, its entry, its column and its value."""


@dataclass(frozen=True, slots=True)
class ScannedPage:
    """One page of an answer sheet as it was read.

    Parameters
    ----------
    exam : str
        Id of the print.
    copy, page : int
        From its code.
    student : str or None
        Whose copy it is, None for a spare until that is known.
    content : str
        SHA-256 of what was read, so that two scans of a page can be told apart.
    source : str
        File and page of it.
    filled, unsure : tuple of BubblePlace
        All other bubbles are empty.
    written : tuple of (int, int, int)
        Boxes in which something is written: field, entry, column.
    pictures : mapping of str to str
        Position of a field in the layout → a PNG file in base64, of fields that a person must look at.
    at : datetime
    is_faint : bool
        Whether light marks are lost in this scan, so that its empty bubbles are not certain.
    """

    exam: str
    copy: int
    page: int
    student: str | None
    content: str
    source: str
    filled: tuple[BubblePlace, ...]
    unsure: tuple[BubblePlace, ...]
    written: tuple[tuple[int, int, int], ...]
    pictures: Mapping[str, str]
    at: datetime
    is_faint: bool = False


@dataclass(frozen=True, slots=True)
class ScanDecision:
    """What a person decided: the answer in a field, whose a spare copy is, or that a copy doesn't count.

    ``field`` is ``"3/answer"`` (question and part), ``"student"`` or ``"copy"``. One that is ``withdrawn``
    takes back what was decided before, so that the field is open again.
    """

    exam: str
    copy: int
    student: str | None
    field: str
    text: str
    by: str
    at: datetime
    withdrawn: bool = False

    @property
    def subject(self) -> str:
        """What it is about, as the course's log says it."""
        return f"print {self.exam}, copy {self.copy}, {self.field}"


class ScanStore(StorePart):
    """Pages of answer sheets, and decisions about them."""

    def add_page(self, page: ScannedPage) -> bool:
        """Store a page, and return whether it is new: the same content of the same page is kept once."""
        same = (
            (scanned_pages.c.exam == page.exam)
            & (scanned_pages.c.copy == page.copy)
            & (scanned_pages.c.page == page.page)
            & (scanned_pages.c.content == page.content)
        )
        row = {
            "exam": page.exam,
            "copy": page.copy,
            "page": page.page,
            "student": page.student,
            "content": page.content,
            "source": storable(page.source),
            "reading": encode(page),
            "at": page.at,
        }
        with self._database.write() as connection:
            if connection.execute(sa.select(scanned_pages.c.id).where(same)).first() is not None:
                return False
            connection.execute(sa.insert(scanned_pages), row)
            reached("in-scanned-page")
        return True

    def pages(self, exam: str, copies: Collection[int] | None = None) -> list[ScannedPage]:
        """Return the pages of a print, or of these copies, in the order in which they were scanned."""
        query = sa.select(scanned_pages.c.reading, scanned_pages.c.student).where(
            scanned_pages.c.exam == exam
        )
        if copies is not None:
            query = query.where(scanned_pages.c.copy.in_(copies))
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(scanned_pages.c.id)).all()
        # Whose a spare copy is may have become known since.
        return [
            replace(decode(ScannedPage, reading, self._database.where), student=student)
            for reading, student in rows
        ]

    def owners(self, exam: str) -> dict[int, str | None]:
        """Return the copies of which a page was scanned, each with its student, None where it isn't known."""
        columns = (scanned_pages.c.copy, scanned_pages.c.student)
        query = sa.select(*columns).where(scanned_pages.c.exam == exam).distinct()
        with self._database.read() as connection:
            # A page that came after the student was named says None; what is known of any page counts.
            rows = sorted(connection.execute(query), key=lambda row: (row.copy, row.student or ""))
        return {row.copy: row.student for row in rows}

    def hold(self, exam: str, copy: int) -> None:
        """Let nobody else decide about a copy until the transaction ends in which this is called."""
        query = sa.select(scanned_pages.c.id).where(
            scanned_pages.c.exam == exam, scanned_pages.c.copy == copy
        )
        # SQLite lets in one writer at a time anyway, and ignores that rows are locked.
        with self._database.write() as connection:
            connection.execute(query.order_by(scanned_pages.c.id).with_for_update()).all()

    def exams(self) -> list[str]:
        """Return the prints of which something was scanned."""
        query = sa.select(scanned_pages.c.exam).distinct().order_by(scanned_pages.c.exam)
        with self._database.read() as connection:
            return list(connection.execute(query).scalars())

    def decide(self, *decisions: ScanDecision) -> None:
        """Store decisions in one transaction: all of them or none."""
        with self._database.write() as connection:
            for decision in decisions:
                row = {
                    "exam": decision.exam,
                    "copy": decision.copy,
                    "student": decision.student,
                    "field": decision.field,
                    "text": storable(decision.text),
                    "by": storable(decision.by, 200),
                    "at": decision.at,
                    "withdrawn": decision.withdrawn,
                }
                connection.execute(sa.insert(scan_decisions), row)
                reached("in-scan-decision")

    def decisions(self, exam: str, copy: int | None = None) -> list[ScanDecision]:
        """Return all decisions about a print, or about one copy of it, oldest first."""
        query = sa.select(scan_decisions).where(scan_decisions.c.exam == exam).order_by(scan_decisions.c.id)
        if copy is not None:
            query = query.where(scan_decisions.c.copy == copy)
        with self._database.read() as connection:
            rows: Sequence[sa.RowMapping] = connection.execute(query).mappings().all()
        return [ScanDecision(**{name: value for name, value in row.items() if name != "id"}) for row in rows]

    def name_student(self, exam: str, copy: int, student: str) -> None:
        """Note whose a spare copy is, so that its rows belong to what is stored on that person."""
        with self._database.write() as connection:
            for table in (scanned_pages, scan_decisions):
                these = (table.c.exam == exam) & (table.c.copy == copy)
                connection.execute(sa.update(table).where(these).values(student=student))
