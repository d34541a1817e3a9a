"""``grade doctor``: try each forbidden act in the sandbox and report what happened."""

from __future__ import annotations

import click

from engine.commands.options import json_option
from engine.commands.terminal import print_json


@click.command("doctor")
@json_option
def command(as_json: bool) -> int:
    """Try each forbidden act inside the sandbox; name the tier and what is missing.

    Exit code 0: the tier keeps all it promises; 3: it doesn't.

    \b
    Example:
      grade doctor
    """
    from engine.sandbox.doctor import examine

    report = examine()
    if as_json:
        print_json(report.as_json())
    else:
        for line in report.lines():
            click.echo(line)
    # 3 as for every fault of the machine: scripts of a grading server stop at it.
    return 0 if report.healthy else 3
