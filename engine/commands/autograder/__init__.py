"""``grade autograder``: grade inside Gradescope."""

from __future__ import annotations

import click

from engine.commands.autograder.make import make
from engine.commands.autograder.results import results
from engine.commands.options import Group

__all__ = ["command"]


@click.group("autograder", cls=Group)
def command() -> None:
    """Make an autograder for Gradescope, and write the results of a submission as it reads them.

    \b
    Example:
      grade autograder make softmax --out autograder.zip
    """


for _sub in (make, results):
    command.add_command(_sub)
