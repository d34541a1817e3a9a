"""``grade serve``: the course on the web."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from engine.commands.context import find_context
from engine.commands.options import course_option, store_option, workers_option
from engine.errors import UsageError


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one."
)
@workers_option
@course_option
@store_option
def command(host: str, port: int, workers: int | None, course_path: Path | None) -> None:
    """Serve the course as a web site, until Ctrl-C.

    Students answer quizzes and hand in code there, and staff run the course. The line that it prints is a
    link that signs in whoever started it. People are those of roster.csv and staff.csv.

    \b
    Examples:
      grade serve
      grade serve --course nlp --port 0
    """
    need_web()
    context = find_context(course_path)
    course = context.require_course()
    from engine.web.application import application
    from engine.web.serving import bind, serve
    from engine.web.sign_in.links import terminal_link
    from engine.web.site import Site

    listening = bind(host, port)
    name, number = listening.getsockname()[:2]
    with context.open_store() as store:
        site = Site(course.folder, store, f"http://{name}:{number}")
        site.desk.slots = workers or os.cpu_count() or 1

        def ready() -> None:
            # In one write: a program that waits for the address gets the whole line.
            link = terminal_link(site)
            way_in = (
                f"sign in as {site.people.instructors[0].id}, once, within an hour: {link}"
                if link
                else "nobody can run the course yet: staff.csv has no line with the role instructor"
            )
            click.echo(f"{course.title}: {site.address}/\n  {way_in}\n  Ctrl-C ends")
            sys.stdout.flush()

        serve(
            application(site),
            listening,
            prefix=site.prefix,
            proxies=site.settings.proxies,
            ready=ready,
        )
    click.echo("", err=True)  # behind the terminal's ^C


def need_web() -> None:
    """Raise a :class:`UsageError` where the extra ``web`` isn't installed."""
    from importlib.util import find_spec

    modules = ("starlette", "uvicorn", "python_multipart", "authlib", "pylti1p3")
    if any(find_spec(name) is None for name in modules):
        raise UsageError(
            "the site needs packages that aren't installed",
            next_step='install them: pip install "softmark[web]"',
        )
