"""``grade init``: make a course folder."""

from __future__ import annotations

from pathlib import Path

import click

from engine.commands.options import json_option
from engine.commands.terminal import print_json
from engine.errors import UsageError
from engine.text.words import clean_line, shell_word


@click.command("init")
@click.argument("name", metavar="COURSE")
@click.option("--title", default=None, help="Title of the course (default: the folder's name).")
@click.option("--example", is_flag=True, help="Add an example roster and blueprint.")
@json_option
def command(name: str, title: str | None, example: bool, as_json: bool) -> None:
    """Make the course folder COURSE: course.yaml, roster, blueprints, secret and store.

    Existing files are never overwritten.

    \b
    Example:
      grade init attention-2026 --title "Deep Learning 2026"
    """
    from engine.course import Course

    if not name.strip():  # an unset variable in a script, not this folder
        raise UsageError("the course has no name", expected="grade init FOLDER (a dot for this folder)")
    folder = Path(name)
    existed = (folder / "course.yaml").exists()
    # A folder may be called anything; a title that is typed is taken as it is, or refused.
    course = Course.init(folder, title or clean_line(folder.resolve().name, 150) or "Course")
    if example:
        course.add_example()
    if as_json:
        print_json({"course": str(folder), "title": course.title, "made": not existed})
        return
    # The same command completes a folder in which something is missing.
    if existed:
        click.echo(f"the course {folder} exists already: nothing in it was overwritten")
        return
    click.echo(f"made the course {folder}")
    roster, quiz = folder / "roster.csv", "example" if example else "l16"
    if example:
        click.echo(f"  students are in {roster}, a quiz in {folder / 'blueprints' / 'example.yaml'}")
    else:
        click.echo(f"  next: write your students in {roster} (id,name,email)")
    click.echo(f"  {'next' if example else 'then'}: grade quiz new {quiz} --course {shell_word(folder)}")
