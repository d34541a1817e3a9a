"""``grade init``: make a course folder."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["command"]


@click.command("init")
@click.argument("folder", metavar="COURSE", type=click.Path(path_type=Path))
@click.option("--title", default=None, help="Title of the course (default: the folder's name).")
@click.option("--example", is_flag=True, help="Add an example roster and blueprint.")
def command(folder: Path, title: str | None, example: bool) -> None:
    """Make the course folder COURSE: course.yaml, roster, blueprints, secret and store.

    Nothing that is there already is overwritten.

    \b
    Example:
      grade init attention-2026 --title "Deep Learning 2026"
    """
    from engine.course import Course

    course = Course.init(folder, title or folder.resolve().name)
    if example:
        course.add_example()
    click.echo(f"made the course {folder}")
    click.echo(f"  next: write your students into {folder / 'roster.csv'} (id,name,email)")
    click.echo(f"  then: grade quiz new l16 --course {folder}")
