"""A store that is there already: looking after one must not make one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import UsageError

if TYPE_CHECKING:
    from engine.commands.workplace import Workplace
    from engine.store import Store

__all__ = ["open_existing", "show_rows"]


def open_existing(workplace: Workplace) -> Store:
    """Open the store; a :class:`UsageError` if it is a file that isn't there."""
    place = workplace.store_place
    if "://" not in str(place) and not Path(place).exists():
        raise UsageError(
            "there is no store",
            where=str(place),
            next_step="name it with --store, or its course with --course",
        )
    return workplace.open_store()


def show_rows(rows: Mapping[str, int]) -> None:
    """Print a table of how many rows each table has."""
    from engine.commands.render import show_table

    show_table(["table", "rows"], [[name, str(count)] for name, count in rows.items()])
