"""``grade serve --check``: everything that the site needs, looked at before students come.

Each check gives one line. A *fault* keeps the site or a part of it from working; a *note* is worth knowing.
Nothing is changed, and no mail is sent.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from engine.course import Course
from engine.course.people import STAFF_FILE, People, Role, people_of, read_staff
from engine.errors import SoftmarkError, UsageError
from engine.store import open_store
from engine.store.upgrading import outdated_schema
from engine.text.times import local_text
from engine.text.words import clean_line, count_noun, join_words
from engine.web.serving import bind
from engine.web.settings import WEB_SETTINGS_FILE, WebSettings, read_web_settings

if TYPE_CHECKING:
    from engine.cluster.queue_state import QueueOverview

_MOST_REFUSALS = 5  # workers that are named; a department has dozens
_LITTLE_SPACE = 1 << 30  # uploads of a class and a backup beside the store fit into less
_NO_SPACE = 100 << 20
_CLOCK_S = 5.0  # students compare the site's time with their own


class CheckState(StrEnum):
    """What a check says."""

    OK = "ok"
    NOTE = "note"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class SiteCheck:
    """One thing that was looked at, and what to do about it."""

    name: str
    state: CheckState
    text: str
    next_step: str = ""


def check_site(
    course: Course,
    place: str | Path,
    host: str,
    port: int,
    now: datetime,
    *,
    queue: str = "",
    cluster: bool = False,
) -> Iterator[SiteCheck]:
    """Yield what is found out about a course's site.

    Parameters
    ----------
    course : Course
    place : str or Path
        Address or path of the store.
    host, port : str, int
        Where the site would listen.
    now : datetime
    queue : str
        Address of the queue of several machines; one that isn't on a server is none.
    cluster : bool
        Whether the site would have programs graded by its workers.
    """
    try:
        settings = read_web_settings(course.folder)
    except SoftmarkError as error:
        yield _fault("settings", error)
        settings = WebSettings()
    else:
        is_there = (course.folder / WEB_SETTINGS_FILE).exists()
        yield _ok(
            "settings", f"{WEB_SETTINGS_FILE} is read" if is_there else f"no {WEB_SETTINGS_FILE}: defaults"
        )
    checks: tuple[tuple[str, Callable[[], Iterator[SiteCheck]]], ...] = (
        ("address", partial(_address, settings, host, port)),
        ("people", partial(_people, course)),
        ("mail", partial(_mail, settings, course.folder)),
        ("store", partial(_store, place)),
        ("queue", partial(_queue, course, queue, cluster)),
        ("lti", partial(_learning_systems, place, now)),
        ("clock", partial(_clock, course, place, now)),
        ("disk", partial(_disk, course)),
        ("permissions", partial(_permissions, course)),
        ("sandbox", _sandbox),
    )
    for name, check in checks:
        try:
            yield from check()
        except SoftmarkError as error:
            yield _fault(name, error)
        except OSError as error:
            text = f"{error.filename or name}: {error.strerror or error}"
            yield SiteCheck(name, CheckState.FAULT, text, "fix this, then check again")


def _ok(name: str, text: str) -> SiteCheck:
    return SiteCheck(name, CheckState.OK, text)


def _fault(name: str, error: SoftmarkError) -> SiteCheck:
    where = f"{error.where}: " if error.where else ""
    got = f" ({error.got})" if error.got else ""
    step = error.next_step or "fix this, then check again"
    return SiteCheck(name, CheckState.FAULT, f"{where}{error.what}{got}", step)


def _address(settings: WebSettings, host: str, port: int) -> Iterator[SiteCheck]:
    local = host in ("127.0.0.1", "localhost", "::1")
    if settings.address is None:
        yield SiteCheck(
            "address",
            CheckState.NOTE,
            "none is set, so links and cookies work on this machine only",
            f"set `address` in {WEB_SETTINGS_FILE} to what people type",
        )
    elif not settings.address.startswith("https://") and urlsplit(settings.address).hostname not in (
        "localhost",
        "127.0.0.1",
    ):
        yield SiteCheck(
            "address",
            CheckState.FAULT,
            f"{settings.address} isn't encrypted: anybody on the network can read along and sign in",
            "put a proxy with TLS in front of it, such as Caddy, and write https:// into the address",
        )
    else:
        yield _ok("address", settings.address)
    if settings.address and settings.address.startswith("https://") and local and not settings.proxies:
        yield SiteCheck(
            "address",
            CheckState.NOTE,
            "no proxy is named, so limits against guessing count all visitors as one",
            f"write the proxy's address in {WEB_SETTINGS_FILE}: proxies: [127.0.0.1]",
        )
    try:
        bind(host, port).close()
    except UsageError as error:
        yield _fault("address", error)
    else:
        yield _ok("address", f"{host}, {f'port {port} is free' if port else 'a free port'}")


def _people(course: Course) -> Iterator[SiteCheck]:
    roster = course.roster(tolerant=True)
    for fault in roster.faults[:20]:
        where = fault.diagnostic
        yield SiteCheck(
            "people",
            CheckState.FAULT,
            f"{where.file}:{where.line}: {where.message}",
            "fix this row of the roster",
        )
    people = people_of(roster, read_staff(course.folder / STAFF_FILE))
    students = [p for p in people.by_id.values() if p.role is Role.STUDENT]
    staff = len(people.by_id) - len(students)
    if not students:
        yield SiteCheck("people", CheckState.NOTE, "the roster has no students", "fill roster.csv")
    else:
        yield _ok("people", f"{count_noun(len(students), 'student')}, {staff} staff")
    if not any(p.role is Role.INSTRUCTOR for p in people.by_id.values()):
        yield SiteCheck(
            "people",
            CheckState.FAULT,
            "there is no instructor: nobody can run the course on the site",
            "write staff.csv: a line `id,name,email,role`, and below it yourself with the role instructor",
        )
    yield from _mail_addresses(people)


def _mail_addresses(people: People) -> Iterator[SiteCheck]:
    without = [p.id for p in people.by_id.values() if not p.email]
    if without:
        some = ", ".join(without[:5]) + (" …" if len(without) > 5 else "")
        yield SiteCheck(
            "people",
            CheckState.NOTE,
            f"no email address: {some}",
            "fill the column `email`, or have them sign in by single sign-on or a code",
        )
    shared = sorted(
        {p.email for p in people.by_id.values() if p.email and len(people.with_email(p.email)) > 1}
    )
    if shared:
        yield SiteCheck(
            "people",
            CheckState.FAULT,
            f"an address shared by several people: {shared[0]}",
            "give each person an address of their own: it decides who is signed in",
        )


def _mail(settings: WebSettings, folder: Path) -> Iterator[SiteCheck]:
    mail = settings.mail
    if mail is None:
        yield SiteCheck(
            "mail",
            CheckState.NOTE,
            "no mail server is set",
            f"name one under `mail:` in {WEB_SETTINGS_FILE}, or have people sign in another way",
        )
        return
    from engine.web.outbox import check_mail

    if mail.host is None:
        yield _ok("mail", f"written to {folder / (mail.folder or '')}")
        return
    check_mail(mail, folder)
    yield _ok("mail", f"{mail.host}:{mail.port} can be reached")


def _store(place: str | Path) -> Iterator[SiteCheck]:
    revision = outdated_schema(place)
    if revision is not None:
        if "://" in str(place) and shutil.which("pg_dump") is None:
            yield SiteCheck(
                "store",
                CheckState.FAULT,
                "starting must migrate it, and pg_dump isn't installed here to back it up first",
                "install PostgreSQL's client programs (Debian: postgresql-client), or start with --no-backup",
            )
        yield SiteCheck(
            "store",
            CheckState.NOTE,
            f"it comes from an earlier Softmark (schema {revision}): starting migrates it, after a backup",
            # Not by `grade store backup`: every command that opens the store migrates it.
            f"make one of your own by {'pg_dump' if '://' in str(place) else 'copying the file'} if you like",
        )
        return
    if "://" not in str(place) and not Path(place).exists():
        yield SiteCheck("store", CheckState.NOTE, f"{place} isn't there yet", "starting makes it")
        return
    with open_store(place, busy_timeout_s=5.0) as store:
        check = store.upkeep.check()
        for fault in check.faults[:5]:
            yield SiteCheck("store", CheckState.FAULT, fault, "see grade store check, and restore a backup")
        if not check.faults:
            yield _ok(
                "store",
                f"{store.where}: schema {check.schema}, {count_noun(sum(check.rows.values()), 'row')}",
            )


def _queue(course: Course, address: str, is_needed: bool) -> Iterator[SiteCheck]:
    """Look at the queue of several machines; a site that grades by itself works in any case."""
    if "://" not in address or not (is_needed or find_spec("procrastinate")):
        return
    try:
        checks = [*_look_at_queue(course, address)]
    except SoftmarkError as error:
        checks = [_fault("queue", error)]
    for check in checks:
        is_harmless = check.state is CheckState.FAULT and not is_needed
        yield replace(check, state=CheckState.NOTE) if is_harmless else check


def _look_at_queue(course: Course, address: str) -> Iterator[SiteCheck]:
    from engine.cluster.queue_state import read_queue
    from engine.cluster.queue_tables import open_queue_database, require_owner, require_queue, version_of

    with closing(open_queue_database(address)) as database:
        require_owner(database)
        with database.read() as connection:
            version = version_of(connection)
        if version is None:
            step = "grade serve --cluster makes it; workers that are started before wait for it"
            yield SiteCheck("queue", CheckState.NOTE, f"{database.where}: there is no queue yet", step)
            return
        require_queue(database)
        state = read_queue(database)
    waiting = count_noun(state.length, "program")
    yield _ok("queue", f"{database.where}: version {version} of its tables, {waiting} without a report")
    yield from _workers(course, state)


def _workers(course: Course, state: QueueOverview) -> Iterator[SiteCheck]:
    """Compare what workers give with what the course demands of them."""
    from engine.cluster.fingerprint import QueueName, demanded_tier
    from engine.model import Mode
    from engine.runner import SandboxOptions

    tier = demanded_tier(SandboxOptions(), Mode(course.mode))
    name = QueueName.of_programs(course.secret(), tier, course.settings.offered_packages)
    if any(known.paused for known in state.courses if known.id == name.course):
        yield SiteCheck("queue", CheckState.NOTE, "this course is paused in it", "grade queue resume")
    alive = [worker for worker in state.workers if worker.takes_work]
    if not alive:
        text = "no worker is running: what students hand in would wait"
        step = "start one on each machine that is to grade: grade worker --store URL (docs/scaling.md)"
        yield SiteCheck("queue", CheckState.FAULT, text, step)
        return
    tiers = Counter(worker.tier for worker in alive)
    some = join_words(f"{number} at {tier}" for tier, number in sorted(tiers.items()))
    text = f"{count_noun(len(alive), 'live worker')} ({some}), and this course demands {name.tier}"
    refusals = [(worker.name, name.why_not(worker.tier, worker.packages, worker.engine)) for worker in alive]
    if all(reason for _, reason in refusals):
        step = "start one that takes it: docs/scaling.md, When one doesn't work"
        yield SiteCheck("queue", CheckState.FAULT, f"{text}: none of them takes its work", step)
    else:
        yield _ok("queue", text)
    for worker, reason in [refusal for refusal in refusals if refusal[1]][:_MOST_REFUSALS]:
        text = f"worker {clean_line(worker)} doesn't take this course's work: {reason}"
        yield SiteCheck("queue", CheckState.NOTE, text, "docs/scaling.md, When one doesn't work")


def _learning_systems(place: str | Path, now: datetime) -> Iterator[SiteCheck]:
    if _is_unopened(place):
        return
    from engine.web.lti.lti_checks import check_learning_systems

    for finding in check_learning_systems(place, now):
        state = CheckState.NOTE if finding.next_step else CheckState.OK
        yield SiteCheck(
            "lti", CheckState.FAULT if finding.is_fault else state, finding.text, finding.next_step
        )


def _is_unopened(place: str | Path) -> bool:
    """Return whether opening the store would make or change it."""
    return ("://" not in str(place) and not Path(place).exists()) or outdated_schema(place) is not None


def _clock(course: Course, place: str | Path, now: datetime) -> Iterator[SiteCheck]:
    """Compare the clock with what else knows the time: the disk, the store, and the database's server."""
    yield _ok("clock", f"{local_text(now, course.policies.zone)} in {course.policies.timezone}")
    step = "set the clock and keep it synchronised: timedatectl set-ntp true"
    with tempfile.NamedTemporaryFile(dir=course.folder / ".softmark") as file:
        on_disk = datetime.fromtimestamp(Path(file.name).stat().st_mtime, UTC)
    if abs(on_disk - datetime.now(UTC)) > timedelta(seconds=_CLOCK_S):
        yield SiteCheck("clock", CheckState.FAULT, "this machine's clock and its disk's differ", step)
    if _is_unopened(place):
        return
    with open_store(place, busy_timeout_s=5.0) as store:
        newest, elsewhere = store.upkeep.clock()
    if newest is not None and newest > now + timedelta(seconds=_CLOCK_S):
        when = local_text(newest, course.policies.zone, with_zone=True)
        text = f"the store has a time in the future, {when}: the clock is or was wrong"
        yield SiteCheck("clock", CheckState.FAULT, text, step)
    if elsewhere is not None and abs(elsewhere - datetime.now(UTC)) > timedelta(seconds=_CLOCK_S):
        seconds = abs((elsewhere - datetime.now(UTC)).total_seconds())
        text = f"this machine's clock and that of the database's server differ by {seconds:.0f} s"
        yield SiteCheck("clock", CheckState.FAULT, text, step)


def _disk(course: Course) -> Iterator[SiteCheck]:
    for name, folder in (("the course folder", course.folder), ("uploads", Path(tempfile.gettempdir()))):
        free = shutil.disk_usage(folder).free
        text = f"{free / (1 << 30):.1f} GiB free for {name}"
        if free < _LITTLE_SPACE:
            state = CheckState.FAULT if free < _NO_SPACE else CheckState.NOTE
            yield SiteCheck("disk", state, text, f"free space on the disk of {folder}")
        else:
            yield _ok("disk", text)


def _permissions(course: Course) -> Iterator[SiteCheck]:
    course.secret()  # raises where others may read it
    if not os.access(course.folder / ".softmark", os.W_OK):
        yield SiteCheck(
            "permissions",
            CheckState.FAULT,
            f"{course.folder / '.softmark'} can't be written",
            "run the site as the user who owns the course folder",
        )
    elif hasattr(os, "geteuid") and os.geteuid() == 0:
        yield SiteCheck(
            "permissions",
            CheckState.NOTE,
            "the site would run as root, which it doesn't need",
            "run it as a user of its own, as docs/web.md shows",
        )
    else:
        yield _ok("permissions", "the course folder and its secret belong to this user")


def _sandbox() -> Iterator[SiteCheck]:
    from engine.runner import SandboxOptions
    from engine.sandbox.tiers import choose_tier

    tier = choose_tier(SandboxOptions())
    step = "see grade doctor" if tier != "T1" else ""
    yield SiteCheck("sandbox", CheckState.OK if tier == "T1" else CheckState.NOTE, f"tier {tier}", step)
