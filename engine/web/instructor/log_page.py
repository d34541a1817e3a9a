"""The log: who did what when, on the site and by commands, in words, with filters and as a table."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from engine.course.person_search import PersonSearch, PersonSearchError
from engine.course.students import Student
from engine.store.audit import ACTIONS, COMMAND_LINE, AuditEntry, LogKind, actions_of
from engine.text.tables import csv_bytes, text_cell
from engine.text.words import count_noun
from engine.web.forms import whole_number
from engine.web.instructor.person_fields import fault_of, known_students
from engine.web.instructor.staff import PAGE, StudentNames, choice, download, with_query
from engine.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

KIND_WORDS: Final = {
    "": "Everything",
    LogKind.DECISION: "Decisions",
    LogKind.MARK: "Marks",
    LogKind.HANDED_OUT: "Handed out",
    LogKind.HANDED_IN: "Handed in",
    LogKind.SIGN_IN: "Sign-ins",
}

# Whole digests say nothing to a reader, and are wider than a phone.
_DIGEST = re.compile(r"\b[0-9a-f]{24,128}\b")
_DIGITS = 8
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?([+-]\d\d:\d\d|Z)")
_ROWS = 1000  # of the table are read at a time


@dataclass(frozen=True, slots=True)
class LogDetail:
    """One thing about an entry.

    Parameters
    ----------
    text : str
        In words; a digest in it is cut short.
    whole : str
        The text without anything cut, where something is.
    """

    text: str
    whole: str = ""


def short_digests(text: str) -> LogDetail:
    """Return a text with its digests cut to their first digits."""
    cut = _DIGEST.sub(lambda match: match[0][:_DIGITS] + "…", text)
    return LogDetail(cut, text if cut != text else "")


def action_words(action: str) -> str:
    """Return what an action is in words; its name where nothing is known of it."""
    return ACTIONS[action][1] if action in ACTIONS else action


def _counted(noun: str, words: str = "") -> Callable[[Any], str]:
    def sentence(value: Any) -> str:
        if not isinstance(value, int | float):
            raise TypeError("a count is a number")
        return count_noun(value, noun) + words

    return sentence


def _if_true(words: str) -> Callable[[Any], str]:
    return lambda value: words if value else ""


# Name of a detail → what it says; what isn't named here stands with its name.
_SENTENCES: Final[Mapping[str, Callable[[Any], str]]] = {
    "score": _counted("point"),
    "points": _counted("point"),
    "days": _counted("day", " more"),
    "percent": lambda value: f"{value:g} % more time",
    "due": lambda value: f"due {value}",
    "students": _counted("student"),
    "matches": _counted("match"),
    "answers": _counted("answer"),
    "programs": _counted("program"),
    "codes": _counted("code"),
    "files": _counted("file"),
    "rows": _counted("row"),
    "count": _counted("session"),
    "changes": _counted("mark", " changed"),
    "sent": lambda value: f"{value} sent",
    "failed": lambda value: f"{value} not taken" if value else "",
    "excused": _if_true("excused"),
    "never_lower": _if_true("marks go up only"),
    "at_once": _if_true("the old keys withdrawn at once"),
    "solutions": _if_true("with solutions"),
    # The action or the text beside it says as much.
    "kind": lambda value: {"excuse": "excused", "regrade": "another look", "extension": "more time"}.get(
        value, ""
    ),
}


def details_of(entry: AuditEntry, local_time: Callable[[datetime], str]) -> list[LogDetail]:
    """Return the details of an entry in words.

    Parameters
    ----------
    entry : AuditEntry
    local_time : callable
        Returns a moment in the course's time zone.
    """
    return [
        short_digests(text)
        for name, value in entry.details.items()
        if value is not None and (text := _detail(name, value, local_time))
    ]


def _detail(name: str, value: Any, local_time: Callable[[datetime], str]) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{count} {what}" for what, count in value.items() if count)
    if name in _SENTENCES:
        try:
            return _SENTENCES[name](value)
        except (TypeError, ValueError):  # an older Softmark wrote something else
            pass
    if isinstance(value, bool):
        return name.replace("_", " ") if value else ""
    text = str(value)
    if _TIME.fullmatch(text):
        text = local_time(datetime.fromisoformat(text))
    return f"{name.replace('_', ' ')}: {text}" if text else ""


def person_name(visit: Visit, entry: AuditEntry) -> str:
    """Return who did something: a name of the course, or the account that gave a command."""
    if entry.role == "site":
        return "the site"
    if entry.role == COMMAND_LINE:  # accounts of the machine aren't people of the course
        return entry.by
    known = visit.site.people.by_id.get(entry.by)
    return known.name if known is not None and known.name else entry.by or "somebody"


def role_words(entry: AuditEntry) -> str:
    """Return as what somebody did something, where the name doesn't say it."""
    return {"site": "", "nobody": "not signed in"}.get(entry.role, entry.role)


def _filters(visit: Visit) -> dict[str, str]:
    names = ("student", "by", "action")
    return {name: visit.query[name].strip() for name in names if visit.query.get(name, "").strip()}


def _kind(visit: Visit) -> str:
    return choice(visit, "kind", list(KIND_WORDS), "")


def _chosen(visit: Visit) -> tuple[dict[str, Any], PersonSearchError | None]:
    """Return what of the log the query asks for, or why it isn't clear who is meant."""
    kind = _kind(visit)
    chosen, error = _people_of(visit, _filters(visit))
    return {**chosen, "actions": actions_of(LogKind(kind)) if kind else None}, error


def _people_of(visit: Visit, filters: dict[str, str]) -> tuple[dict[str, str], PersonSearchError | None]:
    """Return the log's filters with ids in place of what was typed, or why that isn't clear."""
    chosen, log = dict(filters), visit.site.store.audit
    searches = {"student": known_students(visit), "by": _everybody(visit)}
    for field, people in searches.items():
        typed = chosen.get(field)
        # What was logged about somebody stays, also when the course doesn't know the id any more.
        if not typed or (log.newest(1, student=typed) if field == "student" else log.newest(1, by=typed)):
            continue
        try:
            chosen[field] = PersonSearch(people).person(typed).id
        except PersonSearchError as error:
            return chosen, error
    return chosen, None


def _everybody(visit: Visit) -> list[Student]:
    return [
        Student(person.id, person.name, person.email, person.login)
        for person in visit.site.people.by_id.values()
    ]


def log_page(visit: Visit) -> Response:
    """Show the log with its filters, and the jobs that are known."""
    log, kind = visit.site.store.audit, _kind(visit)
    before = whole_number(visit.query.get("before", "")) or None
    chosen, error = _chosen(visit)
    # One more than is shown tells whether there is another page.
    entries = [] if error else log.newest(PAGE + 1, before=before, **chosen)
    logged = [a for a in log.actions() if not kind or a in actions_of(LogKind(kind))]
    local_time = visit.site.local_time
    return visit.page(
        "instructor/log.html.j2",
        entries=[(entry, details_of(entry, local_time)) for _, entry in entries[:PAGE]],
        older=entries[PAGE - 1][0] if len(entries) > PAGE else None,
        before=before,
        kind=kind,
        kinds=[
            (words, visit.url("instructor.log", kind=key or None), key == kind)
            for key, words in KIND_WORDS.items()
        ],
        actions=sorted(((action, action_words(action)) for action in logged), key=lambda pair: pair[1]),
        filters=_filters(visit),
        fault=None if error is None else fault_of(error),
        error=error,
        students=known_students(visit),
        everybody=_everybody(visit),
        jobs=visit.site.jobs.all(),
        names=StudentNames(visit),
        person_name=lambda entry: person_name(visit, entry),
        role_words=role_words,
        action_words=action_words,
        short_digests=short_digests,
        table=visit.url("instructor.log.table", kind=kind or None, **_filters(visit)),
        with_query=lambda **changes: with_query(visit, **changes),
    )


def log_table(visit: Visit) -> Response:
    """Return what the filters choose as a CSV file, newest first: everything is whole in it."""
    chosen, error = _chosen(visit)
    if error is not None:
        raise error
    # Like a gradebook it is about the whole class, so it is in the log who took it.
    visit.log("export.log", KIND_WORDS[_kind(visit)].lower())
    heads = ["at", "by", "name", "role", "kind", "action", "words", "subject", "student", "details"]
    rows = [heads, *(_table_row(visit, entry) for entry in _entries(visit, chosen))]
    return download(csv_bytes(rows), "log.csv", "text/csv; charset=utf-8")


def _entries(visit: Visit, chosen: Mapping[str, Any]) -> Iterator[AuditEntry]:
    before = None
    while page := visit.site.store.audit.newest(_ROWS, before=before, **chosen):
        yield from (entry for _, entry in page)
        before = page[-1][0]


def _table_row(visit: Visit, entry: AuditEntry) -> list[str]:
    kind = str(ACTIONS[entry.action][0]) if entry.action in ACTIONS else ""
    details = {name: value for name, value in entry.details.items() if value is not None}
    cells = (
        entry.at.isoformat(timespec="seconds"),
        entry.by,
        person_name(visit, entry),
        entry.role,
        kind,
        entry.action,
        action_words(entry.action),
        entry.subject,
        entry.student or "",
        json.dumps(details, ensure_ascii=False) if details else "",
    )
    return [text_cell(cell) for cell in cells]
