"""``grade queue``: look at the queue of several machines, and say what its workers do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import find_context
from engine.commands.journal import log
from engine.commands.options import CommandGroup, chosen_store, course_option, json_option, store_option
from engine.commands.terminal import print_json, say, show_table
from engine.commands.worker import need_cluster
from engine.errors import UsageError
from engine.text.words import agree, clean_line, count_noun, join_words, rough_time

if TYPE_CHECKING:
    from engine.cluster.queue_state import QueueOverview, QueueShare, WorkerState
    from engine.store.database import Database

# Where the group keeps the folder of its own --course for its commands.
_FOLDER = "softmark.queue.course"
# Up to so many courses are all shown, else those of which there is something to say.
_ALL_COURSES = 20
_MOST_NAMED = 8


@click.group("queue", cls=CommandGroup, invoke_without_command=True)
@json_option
@course_option
@store_option
@click.pass_context
def command(ctx: click.Context, as_json: bool, course_path: Path | None) -> int | None:
    """Look after the queue of several machines: what waits, who works, and what needs you.

    It is where `queue:` in course.yaml says, else in the course's store, on a PostgreSQL server
    (docs/scaling.md). Without a command, this is `grade queue status`.

    \b
    Examples:
      grade queue --course attention-2026
      grade queue pause --store postgresql://grader@db/attention "Attention 2026"
    """
    ctx.meta[_FOLDER] = course_path
    return _show_status(course_path, as_json) if ctx.invoked_subcommand is None else None


@contextmanager
def _open(course_path: Path | None, *, must_exist: bool = True) -> Iterator[Database]:
    need_cluster()
    from engine.cluster.queue_tables import open_queue_database, require_owner, require_queue

    folder = course_path or click.get_current_context().meta.get(_FOLDER)
    place = str(chosen_store(in_course=False) or _queue_place(folder))
    if "://" not in place:
        raise UsageError(
            "the queue needs a PostgreSQL server",
            where=place,
            expected="--store postgresql://user@host/name, or --course with a course that names one",
            next_step="name it in course.yaml (queue: postgresql://…, see docs/scaling.md); without a "
            "server, `grade batch` uses all cores of this machine",
        )
    database = open_queue_database(place)
    try:
        if must_exist:
            require_owner(database)
            require_queue(database)
        yield database
    finally:
        database.close()


@contextmanager
def _log_book(course_path: Path | None) -> Iterator[Callable[..., None]]:
    """Yield what writes into the log of the course at hand; where the queue refuses, nothing is written.

    Without a course, or before it has a store, there is no log.
    """
    from engine.store import open_store
    from engine.store.database import has_store

    context = find_context(course_path or click.get_current_context().meta.get(_FOLDER))
    places = []
    if (course := context.course) is not None:
        # The option names the queue. Only where the course has no other queue, its store may lie beside it.
        is_elsewhere = course.settings.queue is not None and chosen_store(in_course=False) is not None
        places = [course.store_place] if is_elsewhere else [context.store_place, course.store_place]
    place = next(filter(has_store, places), None)
    if place is None:
        yield lambda *_, **__: None
        return
    with open_store(place) as store, store.one_transaction():
        yield partial(log, context, store)


def _queue_place(folder: Path | None) -> str | Path:
    context = find_context(folder)
    # What `--cluster` uses comes first: the variable may name the course's store. Without a course it is, as
    # for a worker, the queue's address.
    return context.queue_place if context.course else chosen_store(in_course=True) or context.store_place


@command.command("status")
@json_option
@course_option
@store_option
def status(as_json: bool, course_path: Path | None) -> int:
    """Show what waits by course, the workers, what was set aside, and what no worker takes.

    Exit code 0: all goes its way; 1: something was set aside, or waits and no worker takes it.

    \b
    Examples:
      grade queue status --course attention-2026
      grade queue status --json
    """
    return _show_status(course_path, as_json)


def _show_status(course_path: Path | None, as_json: bool) -> int:
    from engine.cluster.queue_state import read_queue

    with _open(course_path) as database:
        state = read_queue(database)
        where = database.where
    code = 1 if state.unserved or any(course.set_aside for course in state.courses) else 0
    if as_json:
        print_json(_as_json(state, where))
        return code
    _show_length(state)
    _show_courses(state)
    if state.workers:
        click.echo()
        show_table(
            (
                "worker",
                "name",
                "tier",
                "slots",
                "engine",
                "heartbeat",
                "in hand",
                "graded",
                "a minute",
                "state",
            ),
            [_worker_row(worker) for worker in state.workers],
        )
    _show_aside(state)
    _show_unserved(state)
    return code


def _as_json(state: QueueOverview, where: str) -> dict[str, object]:
    return {
        "where": where,
        "length": state.length,
        "reports_per_minute": round(state.per_minute, 3),
        "courses": [asdict(course) for course in state.courses],
        "workers": [asdict(worker) | {"takes_work": worker.takes_work} for worker in state.workers],
        "set_aside": [asdict(aside) for aside in state.aside],
        "unserved": [asdict(work) for work in state.unserved],
    }


def _show_length(state: QueueOverview) -> None:
    interactive = sum(course.interactive for course in state.courses)
    batch = sum(course.batch for course in state.courses)
    in_hand = sum(course.in_hand for course in state.courses)
    drawing = sum(course.drawing for course in state.courses)
    if not state.length:
        click.echo("nothing waits")
    if drawing:
        say(f"{count_noun(drawing, 'piece')} of quizzes {agree(drawing, 'wait')} to be drawn")
    if number := interactive + batch:
        say(
            f"{count_noun(number, 'program')} without a report: {interactive} that somebody waits for, "
            f"{batch} of classes; workers have {in_hand} of them in hand"
        )
    if state.per_minute >= 0.1:
        left = (
            f", so about {rough_time(60.0 * state.length / state.per_minute)} are left"
            if state.length
            else ""
        )
        say(f"{count_noun(f'{state.per_minute:.1f}', 'report')} a minute in the last minutes{left}")
    if not state.workers:
        say("no worker is running\n  next: grade worker --store URL, on each machine that is to grade")


def _show_courses(state: QueueOverview) -> None:
    chosen = state.courses if len(state.courses) <= _ALL_COURSES else [*filter(_concerns, state.courses)]
    if chosen:
        click.echo()
        show_table(
            ("course", "title", "interactive", "batch", "in hand", "oldest", "weight", "state"),
            [_course_row(course) for course in chosen],
        )
    if left := len(state.courses) - len(chosen):
        say(
            f"{count_noun(left, 'more course')} {agree(left, 'have')} nothing in the queue (--json lists all)"
        )


def _concerns(course: QueueShare) -> bool:
    """Return whether there is something to say of a course in a long list."""
    return bool(course.paused or course.oldest_s is not None or course.set_aside or course.weight != 1)


def _course_row(course: QueueShare) -> list[str]:
    aside = f"{course.set_aside} set aside" if course.set_aside else ""
    return [
        course.id,
        clean_line(course.title, 60),
        str(course.interactive),
        str(course.batch),
        str(course.in_hand),
        "-" if course.oldest_s is None else rough_time(course.oldest_s),
        str(course.weight),
        ", ".join(filter(None, ("paused" if course.paused else "", aside))) or "open",
    ]


def _worker_row(worker: WorkerState) -> list[str]:
    condition = worker.condition
    if condition == "silent":
        condition = "silent: dead, or its machine can't reach the database"
    elif condition == "fails":
        condition = f"fails: {clean_line(worker.fault or '', 120)}"
    return [
        str(worker.number),
        clean_line(worker.name, 60),
        worker.tier,
        str(worker.slots),
        clean_line(worker.engine, 20),
        f"{rough_time(worker.silent_s)} ago",
        str(worker.in_hand),
        str(worker.graded),
        f"{worker.per_minute:.1f}",
        condition,
    ]


def _show_aside(state: QueueOverview) -> None:
    total = sum(course.set_aside for course in state.courses)
    if not total:
        return
    titles = _titles(state)
    click.echo(f"\nset aside: {count_noun(total, 'program')} that no worker could grade")
    show_table(
        ("program", "course", "item", "since", "tried by", "reason"),
        [
            (
                str(aside.program),
                titles[aside.course],
                clean_line(aside.item, 64),
                f"{rough_time(aside.since_s)} ago",
                join_words(map(clean_line, aside.tried_by), limit=3) or "-",
                clean_line(aside.reason, 300),
            )
            for aside in state.aside
        ],
    )
    if total > len(state.aside):
        click.echo(f"… and {count_noun(total - len(state.aside), 'more program')}")
    click.echo("  next: grade queue retry --all, or the numbers of some")


def _show_unserved(state: QueueOverview) -> None:
    titles = _titles(state)
    # Many courses wait for the same reason.
    alike: dict[tuple[str, ...], dict[str, int]] = {}
    for work in state.unserved:
        counts = alike.setdefault(work.reasons, {})
        counts[titles[work.course]] = counts.get(titles[work.course], 0) + work.programs
    for reasons, counts in alike.items():
        number = sum(counts.values())
        whose = join_words(counts, limit=_MOST_NAMED)
        say(
            f"\n{count_noun(number, 'program')} of {whose} {agree(number, 'wait')}, and no worker takes them:"
        )
        for reason in reasons[:_MOST_NAMED] or ("none is alive that would begin anything",):
            say(f"  {clean_line(reason, 300)}")
        if left := len(reasons[_MOST_NAMED:]):
            say(f"  and {count_noun(left, 'more worker')} (--json says why)")


def _titles(state: QueueOverview) -> dict[str, str]:
    return {course.id: clean_line(course.title, 60) for course in state.courses}


@command.command("new")
@course_option
@store_option
def new(course_path: Path | None) -> None:
    """Make the queue's tables, so that workers can be started before anything is handed over.

    They are in a schema of their own, softmark_queue. Those of an older version of Softmark are upgraded:
    what waits stays, and workers that run hand in what they have. Otherwise nothing changes.

    \b
    Example:
      grade queue new --course attention-2026
    """
    from engine.cluster.queue_tables import QUEUE_VERSION, make_queue

    with _open(course_path, must_exist=False) as database:
        before = make_queue(database)
        if before == QUEUE_VERSION:
            change = "was there already"
        elif before:
            change = f"was upgraded from version {before} to {QUEUE_VERSION}; what is in it stays"
        else:
            change = "is ready"
        click.echo(f"{database.where}: the queue {change}")


def _course_of(state: QueueOverview, course: str | None, course_path: Path | None) -> QueueShare:
    """Return the course that is named, or else the one in whose folder we are, or the only one."""
    if course is not None:
        return state.course(course)
    folder = course_path or click.get_current_context().meta.get(_FOLDER)
    context = find_context(folder)
    if context.course is None:
        if len(state.courses) == 1:
            return state.courses[0]
        titles = join_words((clean_line(known.title, 60) for known in state.courses), "or", 10)
        raise UsageError(
            "which course is meant?",
            expected="its id or title as `grade queue` shows them, or --course FOLDER",
            got=f"no name, and a queue of several: {titles}" if titles else "no name, and an empty queue",
        )
    from engine.cluster.fingerprint import course_fingerprint

    mine = course_fingerprint(context.secret())
    if mine not in {known.id for known in state.courses}:
        raise UsageError(
            "this course has handed nothing over yet",
            where=str(context.course.folder),
            next_step="grade batch … --cluster does",
        )
    return state.course(mine)


@command.command("pause")
@click.argument("course", required=False)
@course_option
@store_option
def pause(course: str | None, course_path: Path | None) -> None:
    """Let workers begin nothing more of COURSE; what they have in hand is graded.

    COURSE is its title or id as `grade queue` shows them; left out, it is the one of --course or of this
    folder, or the only one in the queue.

    \b
    Example:
      grade queue pause --course attention-2026
    """
    _set_paused(course, course_path, True)


@command.command("resume")
@click.argument("course", required=False)
@course_option
@store_option
def resume(course: str | None, course_path: Path | None) -> None:
    """Let workers begin work of COURSE again.

    \b
    Example:
      grade queue resume --course attention-2026
    """
    _set_paused(course, course_path, False)


def _set_paused(course: str | None, course_path: Path | None, paused: bool) -> None:
    from engine.cluster.course_line import CourseLine
    from engine.cluster.queue_state import read_queue

    with _open(course_path) as database, _log_book(course_path) as note:
        chosen = _course_of(read_queue(database), course, course_path)
        is_change = CourseLine(database).pause(chosen.id, paused)
        if is_change:
            note("queue.pause" if paused else "queue.resume", chosen.title)
    title = clean_line(chosen.title)
    if not is_change:
        click.echo(f"{title} {'is paused already' if paused else 'is open: it was not paused'}")
    elif paused:
        in_hand = count_noun(chosen.in_hand, "program")
        say(f"{title} is paused; what workers have in hand of it is graded to the end: {in_hand}")
    else:
        waiting = count_noun(chosen.interactive + chosen.batch, "program")
        say(f"{title} is open again: {waiting} without a report")


@command.command("weight")
@click.argument("words", metavar="[COURSE] N", nargs=-1, required=True)
@course_option
@store_option
@click.pass_context
def weight(ctx: click.Context, words: tuple[str, ...], course_path: Path | None) -> None:
    """Give COURSE the weight N: while courses wait, one of weight 3 gets three times the share of weight 1.

    COURSE may be left out, as for `grade queue pause`.

    What waits already is put into the order of the new weight. Programs for which somebody waits come first
    in any case.

    \b
    Examples:
      grade queue weight 3 --course attention-2026
      grade queue weight "Attention 2026" 3 --course attention-2026
    """
    *names, last = words
    if len(names) > 1:
        raise UsageError(
            "COURSE and N are two words",
            expected="a title with spaces in quotation marks",
            got=" ".join(words),
        )
    number = int(click.IntRange(1, 1_000)(last, None, ctx))
    course = names[0] if names else None
    from engine.cluster.course_line import CourseLine
    from engine.cluster.queue_state import read_queue

    with _open(course_path) as database, _log_book(course_path) as note:
        chosen = _course_of(read_queue(database), course, course_path)
        CourseLine(database).set_weight(chosen.id, number)
        note("queue.weight", chosen.title, weight=number, before=chosen.weight)
    click.echo(f"{clean_line(chosen.title)}: weight {number}, before {chosen.weight}")


@command.command("drain")
@click.argument("workers", metavar="WORKER...", nargs=-1, required=True)
@course_option
@store_option
def drain(workers: tuple[str, ...], course_path: Path | None) -> None:
    """End each WORKER after what it has in hand, for example before its machine is upgraded.

    WORKER is a number or name as `grade queue` shows them, or a machine's name: all workers there. They hear
    it at their next heartbeat, and can't be called back; start new ones.

    \b
    Examples:
      grade queue drain 12 --course attention-2026
      grade queue drain lab-7 lab-8 --store postgresql://grader@db/attention
    """
    from engine.cluster.queue_state import read_queue
    from engine.cluster.work_queue import WorkQueue

    with _open(course_path) as database, _log_book(course_path) as note:
        state = read_queue(database)
        chosen = {worker.number: worker for text in workers for worker in state.workers_of(text)}
        WorkQueue(database).drain([*chosen])
        for worker in chosen.values():
            note("queue.drain", worker.name)
    for worker in chosen.values():
        name = f"worker {worker.number} ({clean_line(worker.name, 160)})"
        say(f"{name} ends after what it has in hand: {count_noun(worker.in_hand, 'program')}")


@command.command("retry")
@click.argument("programs", metavar="PROGRAM...", type=click.IntRange(1, 2**63 - 1), nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All that were set aside.")
@course_option
@store_option
def retry(programs: tuple[int, ...], everything: bool, course_path: Path | None) -> int:
    """Let programs that were set aside wait again, as if they were new.

    PROGRAM is a number as `grade queue` shows it. What a course has collected as ungraded isn't in the queue
    any more: its next `grade batch --cluster` hands it over again.

    Exit code 1: some of the numbers aren't set aside.

    \b
    Examples:
      grade queue retry 17 --course attention-2026
      grade queue retry --all --course attention-2026
    """
    from engine.cluster.course_line import CourseLine

    if bool(programs) == everything:
        raise UsageError("which programs are meant?", expected="either their numbers, or --all")
    with _open(course_path) as database, _log_book(course_path) as note:
        line = CourseLine(database)
        chosen = line.set_aside() if everything else [*dict.fromkeys(programs)]
        waiting = line.try_again(chosen)
        if waiting:
            note("queue.retry", "programs that were set aside", programs=len(waiting))
    click.echo(f"{count_noun(len(waiting), 'program')} {agree(len(waiting), 'wait')} again")
    return _name_others(chosen, waiting, "set aside")


@command.command("cancel")
@click.argument("programs", metavar="PROGRAM...", type=click.IntRange(1, 2**63 - 1), nargs=-1)
@click.option("--of", "course", metavar="COURSE", default=None, help="All programs of this course.")
@click.option("--all", "everything", is_flag=True, help="All programs of all courses.")
@click.option("--yes", is_flag=True, help="Cancel them; without this, only how many there are is shown.")
@course_option
@store_option
def cancel(
    programs: tuple[int, ...], course: str | None, everything: bool, yes: bool, course_path: Path | None
) -> int:
    """Take programs without a report out of the queue; the course's next run hands them over again.

    PROGRAM is a number as a worker's log shows it, COURSE a title or id. What is in hand is graded to its
    end, and the report is dropped. A `grade batch` that waits for the programs lists them as ungraded.

    Exit code 1: some of the numbers don't wait.

    \b
    Examples:
      grade queue cancel 17 18 --yes --course attention-2026
      grade queue cancel --of "Attention 2026" --yes --course attention-2026
    """
    from engine.cluster.course_line import CourseLine
    from engine.cluster.queue_state import read_queue

    if sum((bool(programs), course is not None, everything)) != 1:
        raise UsageError("which programs are meant?", expected="one of: their numbers, --of COURSE, --all")
    with _open(course_path) as database, _log_book(course_path) as note:
        line, subject = CourseLine(database), "single programs" if programs else "all programs"
        if course is not None:
            mine = read_queue(database).course(course)
            chosen, subject = line.waiting(mine.id), mine.title
        else:
            chosen = line.waiting(chosen=programs or None)
        if yes and (count := line.cancel(chosen)):
            note("queue.cancel", subject, programs=count)
    if yes:
        click.echo(f"{count_noun(count, 'program')} {agree(count, 'are')} cancelled")
    elif chosen:
        click.echo(f"nothing was cancelled: --yes cancels {count_noun(len(chosen), 'program')}")
    else:
        click.echo("there is nothing to cancel")
    return _name_others([*dict.fromkeys(programs)], chosen, "waiting")


def _name_others(chosen: Sequence[int], done: Sequence[int], condition: str) -> int:
    others = sorted({*chosen} - {*done})
    if not others:
        return 0
    numbers = join_words((str(number) for number in others), limit=20)
    click.echo(f"not {condition} in this queue: {numbers}", err=True)
    click.echo("  next: grade queue shows what is", err=True)
    return 1
