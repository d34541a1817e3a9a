"""What commands write into a course's log: who decided, handed out or took in what, as the site's pages do.

A command that decides something writes into the log in the same transaction; one that hands something out
writes before it does, so that nothing is out that the log doesn't know. Practice outside a course has no log.
"""

from __future__ import annotations

import getpass
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.commands.context import CommandContext
    from engine.store import Store


@dataclass(frozen=True)
class LogLine:
    """One thing that a command did.

    Parameters
    ----------
    action : str
        One of :data:`engine.store.audit.ACTIONS`.
    subject : str
        What it is about: a column, a quiz, a file.
    student : str or None
        Whom it is about.
    details : mapping
        What else a reader needs; JSON values, nothing secret, and no names of students.
    """

    action: str
    subject: str
    student: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


def account_name() -> str:
    """Return the name of this account: who gives a command, unless ``--by`` says otherwise."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container without that account
        return "unknown"


def log_lines(
    context: CommandContext, store: Store, lines: Iterable[LogLine], *, by: str | None = None
) -> None:
    """Write lines into the course's log in one transaction.

    Parameters
    ----------
    context : CommandContext
    store : Store
        The one that the command uses.
    lines : iterable of LogLine
    by : str, optional
        Who decided; this account by default.
    """
    if context.course is None:
        return
    from engine.quiz.rules import now
    from engine.store.audit import COMMAND_LINE, AuditEntry

    moment, who = now(), by or account_name()
    store.audit.add_all(
        AuditEntry(moment, who, COMMAND_LINE, line.action, line.subject, line.student, line.details)
        for line in lines
    )


def log(
    context: CommandContext,
    store: Store,
    action: str,
    subject: str,
    *,
    by: str | None = None,
    student: str | None = None,
    **details: Any,
) -> None:
    """Write one line into the course's log."""
    log_lines(context, store, [LogLine(action, subject, student, details)], by=by)


def log_without_store(context: CommandContext, action: str, subject: str, **details: Any) -> None:
    """Write a line for a command that needs no store; where the course has none yet, none is made."""
    place = context.store_place
    if context.course is None or ("://" not in str(place) and not Path(place).exists()):
        return
    with context.open_store() as store:
        log(context, store, action, subject, **details)
