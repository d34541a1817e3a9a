"""``grade course``: what concerns a course as a whole."""

from __future__ import annotations

import click

from engine.commands.course.check import check
from engine.commands.options import Group

__all__ = ["command"]


@click.group("course", cls=Group)
def command() -> None:
    """Look after a course.

    \b
    Example:
      grade course check --course attention-2026
    """


command.add_command(check)
