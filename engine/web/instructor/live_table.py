"""The class table of a site, kept current: only students whose work changed are computed again.

Computing a class takes a second for every few hundred students, and several people look every few seconds.
So one table is shared by all of them, and each row knows when it last changed.
"""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from engine.marks.class_table import ClassTable, StudentRow, TableColumn, class_table
from engine.quiz import rules as quiz_rules
from engine.store.activity import StoreMoment
from engine.web.forms import whole_number
from engine.web.site import CourseState, Site

_LOOK_EVERY_S = 2.0  # pages that are open ask every five seconds each, and there may be many of them
_WHOLE_EVERY_S = 120.0  # a deadline that passes changes marks without anybody storing anything


@dataclass(frozen=True, slots=True)
class TableState:
    """The table as it is.

    Parameters
    ----------
    table : ClassTable
    versions : mapping of str to int
        By student: at which change of the table the row changed last.
    version : int
        The newest change.
    columns_version : int
        When the columns changed last: then single rows don't fit what a page shows.
    token : str
        Of this server: versions of another one mean nothing here.
    """

    table: ClassTable
    versions: dict[str, int]
    version: int
    columns_version: int
    token: str

    def since(self, mark: str) -> set[str] | None:
        """Return the students whose rows changed since a mark; None where the whole table must be sent."""
        token, _, text = mark.partition("-")
        number = whole_number(text, -1)
        if token != self.token or number < self.columns_version:
            return None
        return {student for student, version in self.versions.items() if version > number}

    @property
    def mark(self) -> str:
        """What a page says it has, when it asks what has changed."""
        return f"{self.token}-{self.version}"


@dataclass
class _Table:
    """The rows of one site, and up to where they know its store."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    token: str = field(default_factory=lambda: secrets.token_hex(4))
    rows: dict[str, StudentRow] = field(default_factory=dict)
    columns: tuple[TableColumn, ...] = ()
    versions: dict[str, int] = field(default_factory=dict)
    version: int = 0
    columns_version: int = 0
    moment: StoreMoment | None = None
    course: CourseState | None = None
    computed: float = 0.0
    looked: float = 0.0


_TABLES: WeakKeyDictionary[Site, _Table] = WeakKeyDictionary()
_LOCK = threading.Lock()


def live_table(site: Site, *, fresh: bool = False, may_lag: bool = False) -> TableState:
    """Return the table of a site's class as it is now.

    Parameters
    ----------
    site : Site
    fresh : bool
        Compute every row again, whatever the store says about changes.
    may_lag : bool
        The state of a moment ago will do: for pages that ask again and again.
    """
    with _LOCK:
        table = _TABLES.setdefault(site, _Table())
    with table.lock:
        if not may_lag or time.monotonic() - table.looked > _LOOK_EVERY_S:
            _bring_up_to_date(site, table, fresh)
            table.looked = time.monotonic()
        rows = tuple(table.rows[student] for student in sorted(table.rows))
        return TableState(
            ClassTable(site.course.title, table.columns, rows),
            dict(table.versions),
            table.version,
            table.columns_version,
            table.token,
        )


def _bring_up_to_date(site: Site, table: _Table, fresh: bool) -> None:
    state = site.state
    # The store is asked before it is read: what comes in between is computed twice, and never missed.
    moment, students, other_rules = site.store.activity.since(table.moment or StoreMoment(), quiz_rules.now())
    is_old = time.monotonic() - table.computed > _WHOLE_EVERY_S
    if fresh or is_old or other_rules or table.moment is None or table.course is not state:
        new = class_table(site.course.title, site.results())
        rows = {row.student: row for row in new.rows}
        columns = new.columns
        table.computed = time.monotonic()
    elif students:
        new = class_table(site.course.title, site.results(only=students))
        rows = table.rows | {row.student: row for row in new.rows}
        known = {column: column for column in table.columns}
        known |= {c: c for c in new.columns if c not in known or c.max_score > known[c].max_score}
        columns = tuple(known[column] for column in sorted(known))
    else:
        rows, columns = table.rows, table.columns
    changed = {s for s in rows if table.rows.get(s) != rows[s]}
    if changed or columns != table.columns or rows.keys() != table.rows.keys():
        table.version += 1
        if columns != table.columns or rows.keys() != table.rows.keys():
            table.columns_version = table.version
        table.versions = {s: table.version if s in changed else table.versions[s] for s in rows}
    table.rows, table.columns, table.moment, table.course = rows, columns, moment, state
