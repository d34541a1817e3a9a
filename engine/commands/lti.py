"""``grade lti``: learning systems (LTI 1.3) from the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.journal import log
from engine.commands.options import CommandGroup, by_option, course_option, json_option, store_option
from engine.commands.serve import need_web
from engine.commands.terminal import print_json, show_table
from engine.errors import UsageError
from engine.text.words import clean_line, count_noun

if TYPE_CHECKING:
    from engine.lti.members import MemberList, MemberPreview
    from engine.store import Store
    from engine.store.lti import LtiPlatform

_KINDS = ("moodle", "canvas", "sakai", "other")


@click.group("lti", cls=CommandGroup)
def command() -> None:
    """Manage the learning systems that open this course: Moodle, Canvas and others, by LTI 1.3.

    Launches need the site: `grade serve`. All of this is on its page “Learning systems” too.

    \b
    Examples:
      grade lti status
      grade lti register moodle https://moodle.example.edu --client-id Xb4Qz
    """


def _now() -> datetime:
    from engine.quiz import rules

    return rules.now()


@contextmanager
def _open(course_path: Path | None) -> Iterator[tuple[CommandContext, Store]]:
    context = find_context(course_path)
    context.require_course()
    with context.open_store() as store:
        yield context, store


@command.command("status")
@json_option
@course_option
@store_option
def status(as_json: bool, course_path: Path | None) -> int:
    """Show the learning systems, their courses and links, and the marks that they haven't accepted.

    Exit code 0: every mark is sent or waits for its first try; 1: some weren't accepted.

    \b
    Example:
      grade lti status --json
    """
    with _open(course_path) as (_, store):
        platforms, links = store.lti.platforms(), store.lti.links()
        counts = store.lti_outbox.counts()
        failed = [row for row in store.lti_outbox.rows(waiting=True) if row.reason]
    if as_json:
        print_json(
            {
                "systems": [_system_json(platform) for platform in platforms],
                "links": [
                    {
                        "system": link.platform,
                        "title": link.title,
                        "assignment": link.assignment,
                        "gets_marks": link.line_item is not None,
                    }
                    for link in links
                ],
                "marks": counts,
                "reasons": sorted({clean_line(row.reason or "", 300) for row in failed}),
            }
        )
        return 1 if failed else 0
    if not platforms:
        click.echo(
            "no learning system is registered\n  next: grade lti register moodle ADDRESS --client-id ID"
        )
        return 0
    show_table(
        ("system", "issuer", "client id", "courses", "state"),
        [
            (
                f"{p.id} {p.name}",
                p.issuer,
                p.client_id,
                ", ".join(p.contexts[key].title or key for key in p.accepted) or "none yet",
                "disabled" if p.disabled else "enabled",
            )
            for p in platforms
        ],
    )
    if links:
        click.echo()
        show_table(
            ("link", "opens", "marks"),
            [
                (link.title or link.link, link.assignment or "not chosen", "yes" if link.line_item else "no")
                for link in links
            ],
        )
    click.echo(
        f"\nmarks: {counts['sent']} sent, {counts['waiting']} waiting, {counts['failed']} not accepted"
    )
    for reason in sorted({row.reason or "" for row in failed}):
        click.echo(f"  {clean_line(reason, 300)}")
    return 1 if failed else 0


def _system_json(platform: LtiPlatform) -> dict[str, object]:
    return {
        "id": platform.id,
        "name": platform.name,
        "issuer": platform.issuer,
        "client_id": platform.client_id,
        "deployments": list(platform.deployments),
        "courses": {key: context.accepted for key, context in platform.contexts.items()},
        "disabled": platform.disabled is not None,
    }


@command.command("register")
@click.argument("kind", type=click.Choice(_KINDS))
@click.argument("address", required=False, default="")
@click.option("--client-id", required=True, help="The client ID that the learning system gave.")
@click.option(
    "--deployment", "deployments", multiple=True, help="Deployment id that is accepted; repeatable."
)
@click.option("--issuer", default=None, help="Platform ID, where it isn't the usual one.")
@click.option("--login-url", default=None, help="Authentication request URL.")
@click.option("--token-url", default=None, help="Access token URL.")
@click.option("--keys-url", default=None, help="Public keyset URL.")
@click.option("--name", default="", help="Its name on the site.")
@by_option
@course_option
@store_option
def register(
    kind: str,
    address: str,
    client_id: str,
    deployments: tuple[str, ...],
    issuer: str | None,
    login_url: str | None,
    token_url: str | None,
    keys_url: str | None,
    name: str,
    by: str,
    course_path: Path | None,
) -> None:
    """Register a learning system of KIND at ADDRESS, or change the addresses of one.

    Moodle, Canvas and Sakai have the same addresses everywhere below their own; for others give all four.
    Without --deployment, the first launch by an instructor adds its own.

    \b
    Examples:
      grade lti register moodle https://moodle.example.edu --client-id Xb4Qz
      grade lti register canvas --client-id 10000000000001 --name "Canvas of the school"
    """
    need_web()
    from engine.lti.platform_http import is_local
    from engine.lti.registrations import registration_values, usual_values

    if kind != "canvas" and not address:
        raise UsageError("the address of the learning system is missing", next_step=f"{kind} ADDRESS")
    fields = {"issuer": address} if kind == "other" else usual_values(kind, address)
    changed = {"issuer": issuer, "login_url": login_url, "token_url": token_url, "keys_url": keys_url}
    fields |= {field: value for field, value in changed.items() if value is not None}
    fields |= {"client_id": client_id, "name": name, "deployments": " ".join(deployments)}
    # Whoever types this may use this machine; the site lets nobody register an address on it.
    values = registration_values(fields, local=is_local(fields["issuer"]))
    with _open(course_path) as (context, store):
        platform = store.lti.add_platform(values, by=by, now=_now())
        log(
            context,
            store,
            "lti.register",
            platform.name,
            by=by,
            issuer=platform.issuer,
            client=platform.client_id,
            way="by hand",
        )
    click.echo(f"{clean_line(platform.name)} is registered as number {platform.id}")
    click.echo("  next: open its link to this course there once, as the course's instructor")


@command.group("keys", cls=CommandGroup)
def keys() -> None:
    """Manage the keys that sign messages to learning systems.

    \b
    Example:
      grade lti keys rotate
    """


@keys.command("rotate")
@click.option("--at-once", is_flag=True, help="Withdraw the old keys now, because one may have leaked.")
@course_option
@store_option
def rotate(at_once: bool, course_path: Path | None) -> None:
    """Make a new key: it is published now, and signs in an hour; the old one stays for a week.

    Learning systems fetch the keys themselves; there is nothing to enter.

    \b
    Examples:
      grade lti keys rotate
      grade lti keys rotate --at-once
    """
    need_web()
    from engine.lti.signing_keys import published_keys, rotate_keys

    with _open(course_path) as (context, store):
        published_keys(store, _now())  # a course without a key gets its first one now
        key = rotate_keys(store, _now(), at_once=at_once)
        log(context, store, "lti.key", "signing key", at_once=at_once)
    click.echo(f"new key {key.id}" + (", the others are withdrawn" if at_once else ", signs in an hour"))


@command.command("send")
@course_option
@store_option
def send(course_path: Path | None) -> int:
    """Send the marks that learning systems don't have yet, as the site does by itself.

    Exit code 0: all are sent; 1: some weren't accepted, with the reasons.

    \b
    Example:
      grade lti send --course attention-2026
    """
    need_web()
    from engine.lti.grade_sender import GradeSender
    from engine.lti.marks_for_lms import MarkCollector, MarkSource

    with _open(course_path) as (context, store):
        source = MarkSource(
            store=store,
            mode=context.mode,
            results=lambda only: context.results(store, only=only),
            code_points=context.bank.code_points,
            title_of=context.bank.title_of,
        )
        sender = GradeSender(store, clock=_now)
        sender.find_columns(source)
        MarkCollector().collect(source, None, _now())
        store.lti_outbox.retry_all(_now())
        outcome = sender.send(most=100_000)
        counts = store.lti_outbox.counts()
        if outcome.sent or outcome.failed:
            log(context, store, "lti.send", "marks", sent=outcome.sent, failed=outcome.failed)
    click.echo(f"{count_noun(outcome.sent, 'mark')} sent, {counts['failed'] + counts['waiting']} left")
    for reason in sorted(outcome.reasons):
        click.echo(f"  {clean_line(reason, 300)}")
    return 1 if counts["failed"] else 0


@command.command("members")
@click.option(
    "--list", "wanted_list", default=None, help="Which course, as `SYSTEM/ID`, where there are several."
)
@click.option("--write", is_flag=True, help="Write roster.csv; without it the changes are only shown.")
@click.option("--remove-missing", is_flag=True, help="Remove students who aren't members there any more.")
@course_option
@store_option
def members(wanted_list: str | None, write: bool, remove_missing: bool, course_path: Path | None) -> int:
    """Show what the members of the learning system's course would change in roster.csv, or write it.

    The old file is kept in .softmark/rosters. Exit code 0: nothing differs, or it is written; 1: there are
    differences.

    \b
    Examples:
      grade lti members
      grade lti members --write
    """
    need_web()
    from engine.course.roster_changes import write_roster
    from engine.lti.grade_sender import GradeSender
    from engine.lti.members import preview_members

    with _open(course_path) as (context, store):
        course = context.require_course()
        place = _member_list(store, wanted_list)
        sender = GradeSender(store, clock=_now)
        lines = sender.calls(place.platform).members(place.url)
        preview = preview_members(lines, place, course.roster(tolerant=True), store, _now())
        changes = preview.changes
        _show_members(preview, remove_missing=remove_missing)
        gone = changes.missing if remove_missing else ()
        if not write:
            return 1 if changes.added or changes.changed or gone else 0
        students = changes.without_missing if remove_missing else changes.students
        old = write_roster(
            course.folder / "roster.csv", students, old=course.folder / ".softmark" / "rosters", now=_now()
        )
        store.lti.put_people(preview.people)
        counts = {"added": len(changes.added), "changed": len(changes.changed), "removed": len(gone)}
        log(context, store, "roster.write", "roster.csv", counts=counts)
    click.echo(f"roster.csv is written; the old one is {old}" if old else "roster.csv is written")
    return 0


def _member_list(store: Store, name: str | None) -> MemberList:
    from engine.lti.members import member_lists

    lists = {place.key: place for place in member_lists(store)}
    if name is None and len(lists) == 1:
        return next(iter(lists.values()))
    if name in lists:
        return lists[name]
    if not lists:
        raise UsageError(
            "no learning system offers the members of a course",
            next_step="allow the tool to see names and roles there, and open a link of the course once",
        )
    known = ", ".join(f"{key} ({place.title})" for key, place in lists.items())
    raise UsageError("say which course is meant", expected=f"--list with one of: {clean_line(known, 500)}")


def _show_members(preview: MemberPreview, *, remove_missing: bool) -> None:
    changes = preview.changes
    gone = "removed" if remove_missing else "not a member there, stays"
    rows = [("new", s.id, s.name) for s in changes.added]
    rows += [("changed", s.id, s.name) for _, s in changes.changed]
    rows += [(gone, s.id, s.name) for s in changes.missing]
    if rows:
        show_table(("what", "id", "name"), rows)
    for sentence in preview.faults:
        click.echo(f"left out: {clean_line(sentence, 300)}")
    click.echo(f"{count_noun(len(preview.people), 'student')}, {preview.staff} others")
