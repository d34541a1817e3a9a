"""What has changed in a store since somebody looked: for pages that show a class while it works."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from engine.model import Mode
from engine.store.database import StorePart
from engine.store.sql_tables import attempts, hand_marks
from engine.store.web_tables import allowances

# From the end of a grading to its commit, and the difference of two machines' clocks: so far back is looked
# again.
_LOOK_BACK = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class StoreMoment:
    """Up to where a reader knows a store.

    Parameters
    ----------
    attempt, hand_mark : int
        Numbers of the newest rows.
    looked : datetime or None
        When it was looked.
    allowances : tuple of int
        How many more times and excuses were given, and how many of them withdrawn.
    """

    attempt: int = 0
    hand_mark: int = 0
    looked: datetime | None = None
    allowances: tuple[int, int] = (0, 0)


class StoreActivity(StorePart):
    """Finds whose work or marks have changed, and with which versions of items work was marked."""

    def item_versions(self, mode: Mode) -> set[tuple[str, str]]:
        """Return the items with attempts, each with every version that marked one of them."""
        columns = (attempts.c.item, attempts.c.item_version)
        query = sa.select(*columns).where(attempts.c.mode == str(mode)).distinct()
        with self._database.read() as connection:
            return {(row.item, row.item_version) for row in connection.execute(query)}

    def since(self, before: StoreMoment, now: datetime) -> tuple[StoreMoment, frozenset[str], bool]:
        """Return where the store is now, whose work or marks changed since, and whether rules did.

        Changed rules can change everybody's marks.
        """
        with self._database.read() as connection:
            newest = connection.execute(sa.select(sa.func.max(attempts.c.id))).scalar()
            mark = connection.execute(sa.select(sa.func.max(hand_marks.c.id))).scalar()
            counts = connection.execute(
                sa.select(sa.func.count(allowances.c.id), sa.func.count(allowances.c.withdrawn))
            ).one()
            changed = attempts.c.id > before.attempt
            if before.looked is not None:
                # An attempt that is graded again keeps its number.
                changed |= attempts.c.finished > before.looked - _LOOK_BACK
            students = set(
                connection.execute(sa.select(attempts.c.student).where(changed).distinct()).scalars()
            )
            students |= set(
                connection.execute(
                    sa.select(hand_marks.c.student).where(hand_marks.c.id > before.hand_mark).distinct()
                ).scalars()
            )
        after = StoreMoment(newest or 0, mark or 0, now, (counts[0], counts[1]))
        return after, frozenset(students), after.allowances != before.allowances
