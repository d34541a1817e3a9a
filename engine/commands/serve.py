"""``grade serve``: the course on the web."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.options import (
    cluster_option,
    course_option,
    json_option,
    store_option,
    workers_option,
)
from engine.errors import UsageError

if TYPE_CHECKING:
    import socket

    from engine.web.site import Site


# Whoever asked is told so by then, while the browser still waits; no page asks for what takes a second.
_ANSWER_S = 10.0
_WAITING = 32  # hand-ins whose reports are waited for at the same time, where other machines grade


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0 picks a free one."
)
@click.option(
    "--processes",
    default=1,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Processes that share the address; several need a store on a PostgreSQL server.",
)
@click.option(
    "--check", "only_check", is_flag=True, help="Check everything that the site needs, without starting it."
)
@click.option(
    "--log",
    "log_file",
    metavar="FILE",
    help="Log a line of JSON for each request to this file; - is standard error.",
)
@click.option("--log-addresses", is_flag=True, help="Include visitors' addresses in the log.")
@click.option("--no-backup", is_flag=True, help="Migrate an older store without a backup of it.")
@workers_option
@cluster_option
@json_option
@course_option
@store_option
def command(
    host: str,
    port: int,
    processes: int,
    workers: int | None,
    cluster: bool,
    only_check: bool,
    log_file: str | None,
    log_addresses: bool,
    no_backup: bool,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Serve the course as a web site, until Ctrl-C.

    Students answer quizzes and hand in code there, and staff run the course. The link that it prints signs in
    the first instructor of staff.csv, once. People are in roster.csv and staff.csv; web.yaml has
    the site's address and its email settings. Ctrl-C or SIGTERM lets running work finish.

    Exit code 1 of --check: something would keep the site from working.

    \b
    Examples:
      grade serve
      grade serve --check --cluster
      grade serve --course nlp --port 0 --log site.log
    """
    need_web()
    context = find_context(course_path)
    course = context.require_course()
    if cluster:
        from engine.commands.worker import check_cluster

        check_cluster(context)
    if only_check:
        return _check(context, host, port, as_json, cluster=cluster)
    if as_json:
        raise UsageError("--json belongs to --check", next_step="leave it out, or add --check")
    from engine.web.logs import begin_log
    from engine.web.serving import bind

    place = context.store_place
    if processes > 1:
        _need_server(place)
    if log_file is not None:
        begin_log(log_file)
    listening = bind(host, port)
    try:
        _migrate(place, course.folder / ".softmark" / "backups", with_backup=not no_backup)

        # Other machines' reports are only waited for.
        slots = workers or max(1, (_WAITING if cluster else os.cpu_count() or 1) // processes)

        def serve_here(is_first: bool) -> None:
            _serve(
                context,
                listening,
                slots=slots,
                cluster=cluster,
                log_addresses=log_addresses,
                is_first=is_first,
            )

        if processes == 1:
            serve_here(True)
        else:
            from engine.web.processes import serve_in_processes

            serve_in_processes(processes, serve_here)
    finally:
        listening.close()
    click.echo("", err=True)  # behind the terminal's ^C
    return 0


def _serve(
    context: CommandContext,
    listening: socket.socket,
    *,
    slots: int,
    cluster: bool,
    log_addresses: bool,
    is_first: bool,
) -> None:
    from engine.web.application import application
    from engine.web.logs import RequestLog
    from engine.web.serving import serve
    from engine.web.site import Site

    name, number = listening.getsockname()[:2]
    host = f"[{name}]" if ":" in name else name
    with context.open_store() as store:
        # Migrated by now: what the site asks for takes milliseconds.
        store.limit_answers(_ANSWER_S)
        site = Site(context.require_course().folder, store, f"http://{host}:{number}")
        site.hand_in_desk.slots = slots
        site.hand_in_desk.queue_address = str(context.queue_place) if cluster else None
        serve(
            RequestLog(application(site), with_addresses=log_addresses),
            listening,
            prefix=site.prefix,
            proxies=site.settings.proxies,
            ready=_announcement(site) if is_first else lambda: None,
        )


def _announcement(site: Site) -> Callable[[], None]:
    from engine.web.sign_in.links_and_codes import terminal_link

    def announce() -> None:
        link = terminal_link(site)
        way_in = (
            f"sign in as {site.people.instructors[0].id}, once, within an hour: {link}"
            if link
            else "nobody can run the course yet: add a line with the role instructor to staff.csv"
        )
        # In one write: a program that waits for the address gets all of it.
        click.echo(f"{site.course.title}: {site.address}/\n  {way_in}\n  Ctrl-C ends")
        sys.stdout.flush()

    return announce


def _migrate(place: str | Path, folder: Path, *, with_backup: bool) -> None:
    """Bring a store of an earlier Softmark up to date; say so, and back it up first."""
    from engine.quiz.rules import now
    from engine.store import open_store
    from engine.store.upgrading import back_up_outdated, outdated_schema

    revision = outdated_schema(place)
    if revision is None:
        return
    click.echo(f"The store is of an earlier Softmark (schema {revision}) and is brought up to date.")
    if with_backup:
        click.echo(f"  as it was: {back_up_outdated(place, folder, revision, now())}")
    open_store(place).close()


def _need_server(place: str | Path) -> None:
    if "://" not in str(place):
        raise UsageError(
            "several processes need a store on a PostgreSQL server",
            got=f"the file {place}",
            next_step="leave --processes out: one process serves a class; or move the store: "
            "grade store copy postgresql://USER@HOST/NAME",
        )
    if not hasattr(os, "fork"):
        raise UsageError(
            "this system can't share an address among processes", next_step="leave --processes out"
        )


def _check(context: CommandContext, host: str, port: int, as_json: bool, *, cluster: bool) -> int:
    from engine.commands.terminal import print_json
    from engine.quiz.rules import now
    from engine.web.checks import CheckState, check_site

    course, queue = context.require_course(), str(context.queue_place)
    checks = list(check_site(course, context.store_place, host, port, now(), queue=queue, cluster=cluster))
    signs = {CheckState.OK: "✓", CheckState.NOTE: "!", CheckState.FAULT: "✗"}
    if as_json:
        print_json(
            [{"check": c.name, "state": str(c.state), "text": c.text, "next": c.next_step} for c in checks]
        )
    else:
        width = max(len(check.name) for check in checks)
        for check in checks:
            click.echo(f"{signs[check.state]} {check.name:{width}}  {check.text}")
            if check.next_step:
                click.echo(f"{'':{width + 2}}  next: {check.next_step}")
    return 1 if any(check.state is CheckState.FAULT for check in checks) else 0


def need_web() -> None:
    """Raise a :class:`UsageError` where the extra ``web`` isn't installed."""
    from importlib.util import find_spec

    modules = ("starlette", "uvicorn", "python_multipart", "authlib", "pylti1p3")
    if any(find_spec(name) is None for name in modules):
        raise UsageError(
            "the site needs packages that aren't installed",
            next_step='install them: pip install "softmark[web]"',
        )
