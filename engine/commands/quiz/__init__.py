"""``grade quiz``: draw quizzes for a class, check them, take one, see its keys."""

from __future__ import annotations

import click

from engine.commands.options import CommandGroup
from engine.commands.quiz.check import check
from engine.commands.quiz.codes import codes
from engine.commands.quiz.deadline import deadline
from engine.commands.quiz.key import key
from engine.commands.quiz.new import new
from engine.commands.quiz.publish import close, publish
from engine.commands.quiz.take import take

__all__ = ["command"]


@click.group("quiz", cls=CommandGroup)
def command() -> None:
    """Make and take quizzes, one variant per student.

    \b
    Examples:
      grade quiz check l16 --course attention-2026
      grade quiz new l16 --course attention-2026
    """


for _subcommand in (new, take, key, check, codes, deadline, publish, close):
    command.add_command(_subcommand)
