"""The statements that a piece of work sends to databases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa


@contextmanager
def counting() -> Iterator[list[str]]:
    """Collect the statements that go to any server, many rows at once as one."""
    seen: list[str] = []

    def note(connection: object, cursor: object, statement: str, *more: object) -> None:
        seen.append(statement)

    sa.event.listen(sa.engine.Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        sa.event.remove(sa.engine.Engine, "before_cursor_execute", note)
