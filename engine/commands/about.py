"""``grade help`` and ``grade version``, for people who type a word where others type an option."""

from __future__ import annotations

import click

from engine import __version__


@click.command("help")
@click.argument("words", metavar="[COMMAND]...", nargs=-1)
@click.pass_context
def help_command(context: click.Context, words: tuple[str, ...]) -> None:
    """Show the help of `grade`, or of COMMAND.

    \b
    Examples:
      grade help
      grade help quiz new
    """
    # Walks down from `grade`, so that `grade help quiz new` is the help of `grade quiz new`.
    parent = context.find_root()
    for word in words:
        group = parent.command
        if not isinstance(group, click.Group):
            parent.fail(f"{parent.command_path} has no commands of its own, so there is no {word!r}")
        subcommand = group.get_command(parent, word)
        if subcommand is None:
            parent.fail(f"No such command {word!r}.")
        parent = click.Context(subcommand, parent=parent, info_name=word)
    click.echo(parent.get_help())


@click.command("version")
def version_command() -> None:
    """Show the version, as `grade --version` does.

    \b
    Example:
      grade version
    """
    click.echo(f"grade, version {__version__}")
