"""``grade store``: check a course's store, back it up, move it, hand out or erase one person's data."""

from __future__ import annotations

import click

from engine.commands.options import Group
from engine.commands.store.backup import backup, copy
from engine.commands.store.check import check
from engine.commands.store.person import erase_student, export_student

__all__ = ["command"]


@click.group("store", cls=Group)
def command() -> None:
    """Look after a course's store: quizzes with their keys, attempts, and marks by hand.

    Others may go on grading meanwhile.

    \b
    Example:
      grade store check --course attention-2026
      grade store backup monday.db --course attention-2026
    """


for _sub in (check, backup, copy, export_student, erase_student):
    command.add_command(_sub)
