"""x."""

import click


@click.command("check")
def check() -> None:
    """X.

    Example: grade quiz check
    """
