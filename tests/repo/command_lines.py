"""The commands of ``grade`` as a tree, for tests about all of them."""

from __future__ import annotations

from collections.abc import Iterator

import click

__all__ = ["walk"]


def walk(
    command: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command below `command` with its words, groups too."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from walk(child, (*path, name))
