"""``grade schema``: the JSON Schema of a problem file."""

from __future__ import annotations

import click


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of problem files, for editors.

    \b
    Example:
      grade schema > schema.json
    Then start a problem file with:
      # yaml-language-server: $schema=schema.json
    """
    from engine.items import schema_text

    click.echo(schema_text(), nl=False)
