"""``grade init``: make a course folder."""

from __future__ import annotations

from pathlib import Path

import click

from engine.errors import UsageError

__all__ = ["command"]


@click.command("init")
@click.argument("name", metavar="COURSE")
@click.option("--title", default=None, help="Title of the course (default: the folder's name).")
@click.option("--example", is_flag=True, help="Add an example roster and blueprint.")
def command(name: str, title: str | None, example: bool) -> None:
    """Make the course folder COURSE: course.yaml, roster, blueprints, secret and store.

    Nothing that is there already is overwritten.

    \b
    Example:
      grade init attention-2026 --title "Deep Learning 2026"
    """
    from engine.course import Course

    if not name.strip():  # an unset variable in a script, not this folder
        raise UsageError("the course has no name", expected="grade init FOLDER (a dot for this folder)")
    folder = Path(name)
    course = Course.init(folder, title or folder.resolve().name)
    if example:
        course.add_example()
    click.echo(f"made the course {folder}")
    click.echo(f"  next: write your students into {folder / 'roster.csv'} (id,name,email)")
    click.echo(f"  then: grade quiz new l16 --course {folder}")
