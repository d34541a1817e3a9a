"""``grade worker``: grade programs from the queue of a PostgreSQL server."""

from __future__ import annotations

import logging
import math
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from types import FrameType
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from engine.commands.options import CommandGroup, check_store, sandbox_options
from engine.commands.worker_account import accounts, allow, withdraw
from engine.errors import UsageError
from engine.text.words import clean_line, count_noun

if TYPE_CHECKING:
    from engine.cluster.class_drawing import ClassDrawing
    from engine.cluster.course_side import ClusterExercises, CourseQueue
    from engine.commands.context import CommandContext
    from engine.runner import SandboxOptions


@click.group(
    "worker", cls=CommandGroup, invoke_without_command=True, subcommand_metavar="[COMMAND [ARGS]...]"
)
@click.option(
    "--store",
    "address",
    metavar="URL",
    envvar="SOFTMARK_STORE",
    help="The queue's address: postgresql://… (also by SOFTMARK_STORE).",
)
@click.option(
    "--slots", type=click.IntRange(1, 256), default=None, help="Programs at the same time (default: cores)."
)
@click.option(
    "--packages",
    default=None,
    metavar="NAMES",
    help="What the courses offer to student code, with commas between (default: the common ones).",
)
@click.option(
    "--until-empty",
    is_flag=True,
    help="End when nothing waits that this worker may take, or if there is no queue.",
)
@click.option(
    "--heartbeat",
    type=click.FloatRange(0.1, 60.0),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="How often it shows that it lives; others take it for dead after four and a half times as long.",
)
@click.option(
    "--metrics",
    default=None,
    metavar="[HOST:]PORT",
    help="Serve OpenMetrics there (default host: 127.0.0.1; port 0: a free one, which the log names).",
)
@sandbox_options()
@click.pass_context
def command(
    ctx: click.Context,
    address: str | None,
    slots: int | None,
    packages: str | None,
    until_empty: bool,
    heartbeat: float,
    metrics: str | None,
    sandbox: SandboxOptions,
) -> int | None:
    """Grade programs that courses hand over with `--cluster`.

    Start it on as many machines as there are: the database is all that they share. Each takes work that its
    sandbox is strong enough for and that was handed over by the same version of Softmark, numpy and torch.

    Where there is no queue yet, or its server can't be reached, it says what it waits for, and looks again
    every five seconds.

    Ctrl-C, SIGTERM or SIGHUP: what is in hand is graded and handed in, then the worker ends. A worker that is
    killed costs nothing either: others grade again what it had in hand.

    It writes one line of JSON for each chunk to standard error (docs/scaling.md), and serves the same as
    metrics with --metrics.

    The commands are for the queue's owner: they give a database role the right to grade, and no other
    (docs/scaling.md).

    \b
    Examples:
      grade worker --store postgresql://worker@db.example.org/course
      grade worker --store postgresql://worker@db.example.org/course --slots 8 --until-empty
    """
    if ctx.invoked_subcommand is not None:
        _refuse_options_before(ctx, ctx.invoked_subcommand)
        return None
    need_cluster()
    import os
    import threading
    from contextlib import ExitStack

    from engine import COMMON_PACKAGES
    from engine.cluster.queue_tables import open_queue_database, require_queue
    from engine.cluster.work_queue import WorkQueue
    from engine.cluster.worker import ClusterWorker, WorkerTimes, when_there
    from engine.sandbox import open_runner
    from engine.sandbox.bwrap import missing_packages, offer_packages
    from engine.store.postgres import unverified_server

    endpoint = None if metrics is None else _metrics_address(metrics)
    if address is None:
        raise UsageError(
            "a worker needs the server with the queue", expected="--store postgresql://user@host/name"
        )
    place = check_store(address, "--store")
    if "://" not in place:
        raise UsageError("a worker needs a PostgreSQL server", expected="--store postgresql://user@host/name")
    if math.isnan(heartbeat):  # click's bounds let it pass
        raise UsageError("--heartbeat can't be used", expected="seconds from 0.1 to 60", got="nan")
    names = COMMON_PACKAGES if packages is None else tuple(filter(None, map(str.strip, packages.split(","))))
    missing = missing_packages(names) if packages is not None else ()
    if missing:
        # It would take programs that need them, and give up each of them as a fault of this machine.
        raise UsageError(
            "packages that this worker is to offer aren't installed on this machine",
            where="--packages",
            got=clean_line(", ".join(missing)),
            next_step="install them here, beside torch, or leave their courses to other workers",
        )
    offer_packages(names)
    _log_to_standard_error()
    halt = threading.Event()
    _at_signals(halt.set)
    database = open_queue_database(place)
    try:
        when_there(lambda: require_queue(database), halt, patient=not until_empty)
        if halt.is_set():
            click.echo("no program was graded: told to end while it waited for the queue")
            return 0
        count = slots or os.cpu_count() or 1
        with ExitStack() as stack:
            runner = stack.enter_context(
                open_runner(sandbox, slots=count, sources=("import numpy\n", "import torch\n"))
            )
            worker = ClusterWorker(
                WorkQueue(database),
                runner,
                packages=names,
                slots=count,
                times=WorkerTimes(heartbeat, 4.5 * heartbeat, 3 * heartbeat),
                until_empty=until_empty,
            )
            if (sentence := unverified_server(place)) is not None:
                worker.note("not-verified", reason=sentence)
            if endpoint is not None:
                from engine.cluster.worker_metrics import serve_metrics

                worker.note("metrics", address=stack.enter_context(serve_metrics(worker, *endpoint)))

            _at_signals(worker.stop)
            if halt.is_set():  # told to end while its sandbox was opened
                worker.stop()
            counts = worker.run()
    finally:
        database.close()
    drawn = f" and {count_noun(counts.variants, 'variant')} drawn" if counts.variants else ""
    click.echo(
        f"{count_noun(counts.programs, 'program')} graded{drawn} in {count_noun(counts.chunks, 'chunk')}"
    )
    return 0


def _at_signals(end: Callable[[], None]) -> None:
    def stop(_number: int, _frame: FrameType | None) -> None:
        end()

    # SIGHUP: its terminal was closed. What is ignored (nohup, a background job of a script) stays ignored.
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # no SIGHUP on Windows
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop)


def need_cluster() -> None:
    """Raise a :class:`UsageError` where the extra ``cluster`` isn't installed."""
    from importlib.util import find_spec

    if any(find_spec(name) is None for name in ("procrastinate", "prometheus_client", "psycopg")):
        raise UsageError(
            "a queue for several machines needs packages that aren't installed",
            next_step='install them: pip install "softmark[cluster]"',
        )


def _metrics_address(text: str) -> tuple[str, int]:
    host, _, port = text.strip().rpartition(":")
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) < 65_536):
        raise UsageError("--metrics can't be used", expected="PORT, or HOST:PORT", got=repr(text[:100]))
    # Whoever may read it learns how busy the course is: other machines only where that is asked for.
    return host.strip("[]") or "127.0.0.1", int(port)


for _command in (allow, withdraw, accounts):
    command.add_command(_command)


def _refuse_options_before(ctx: click.Context, name: str) -> None:
    # Those of the worker itself; ignored, an address would silently give way to the course's.
    for parameter in ctx.params:
        if ctx.get_parameter_source(parameter) is ParameterSource.COMMANDLINE:
            raise UsageError(
                f"these options come after {name}", next_step=f"see what it takes: grade worker {name} --help"
            )


def _log_to_standard_error() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))  # a line of JSON each
    log = logging.getLogger("softmark.worker")
    log.addHandler(handler)
    log.setLevel(logging.INFO)


def check_cluster(
    context: CommandContext, workers: int | None = None, sandbox: SandboxOptions | None = None
) -> None:
    """Raise a :class:`UsageError` where ``--cluster`` can't be meant: no course, no server, or cores here.

    Parameters
    ----------
    context : CommandContext
    workers : int, optional
        What ``--workers`` says, where it means cores of this machine.
    sandbox : SandboxOptions, optional
        Whose device can't be one of this machine.
    """
    if workers is not None or (sandbox is not None and sandbox.device != "cpu"):
        raise UsageError(
            "--workers and --device are for this machine, and --cluster grades on others",
            next_step="say it where the workers are started: grade worker --slots N",
        )
    context.require_course()
    need_cluster()
    if "://" not in str(context.queue_place):
        raise UsageError(
            "--cluster needs a queue on a PostgreSQL server, and the store is a file",
            where=str(context.queue_place),
            next_step="name one in course.yaml (queue: postgresql://…, see docs/scaling.md), or leave "
            "--cluster out: then all cores of this machine are used",
        )


def note_silence(reason: str) -> None:
    """Say on standard error why nobody takes the work that a command waits for."""
    click.echo(f"note: {reason}", err=True)


@contextmanager
def exercises_on_cluster(context: CommandContext, sandbox: SandboxOptions) -> Iterator[ClusterExercises]:
    """Yield the course's code exercises whose programs are graded by the queue's workers."""
    from engine.cluster.course_side import ClusterExercises

    with closing(course_queue(context, sandbox)) as queue:
        yield ClusterExercises(
            context.bank,
            secret=context.secret(),
            mode=context.mode,
            course_queue=queue,
            interactive=False,
            warn=note_silence,
        )


def course_queue(context: CommandContext, sandbox: SandboxOptions) -> CourseQueue:
    """Return the connection of a course to its queue; the caller closes it."""
    from engine.cluster.course_side import queue_of

    queue = queue_of(context.require_course(), context.bank, str(context.queue_place), sandbox)
    if queue.other_title is not None:
        click.echo(
            f"note: until now the queue knew this course as {clean_line(queue.other_title)}. If that is "
            "another course, one folder is a copy of the other, with the same secret: begin this course in a "
            "new one (grade init)",
            err=True,
        )
    return queue


def drawing_on_cluster(context: CommandContext) -> ClassDrawing:
    """Return the place where a class's variants are drawn by the queue's workers, too."""
    from engine.cluster.class_drawing import ClassDrawing
    from engine.runner import SandboxOptions

    return ClassDrawing(lambda: course_queue(context, SandboxOptions()), context.bank)
