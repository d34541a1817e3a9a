"""``grade course``: what concerns a course as a whole."""

from __future__ import annotations

import click

from engine.commands.course.allow import allow, allowances, withdraw
from engine.commands.course.asked_for import decide, requests
from engine.commands.course.check import check
from engine.commands.course.student import student
from engine.commands.options import CommandGroup

__all__ = ["command"]


@click.group("course", cls=CommandGroup)
def command() -> None:
    """Look after a course.

    \b
    Examples:
      grade course check --course attention-2026
      grade course allow 007 l16 --days 3 --reason "ill"
    """


for _subcommand in (check, allow, allowances, withdraw, requests, decide, student):
    command.add_command(_subcommand)
