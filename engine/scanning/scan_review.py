"""What waits for a person: a page with a picture of each place, and a table to write decisions into."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from markupsafe import Markup

from engine.course import Roster
from engine.errors import CourseError, Diagnostic
from engine.model import Part
from engine.paper.sheet_questions import SheetFieldKind, SheetQuestion
from engine.scanning.exam_scans import (
    COPY_FIELD,
    STUDENT_FIELD,
    VOID,
    ExamScans,
    ScannedCopy,
    SheetField,
    place_words,
)
from engine.scanning.field_texts import refusal
from engine.scanning.page_files import ScanProblem
from engine.store.scans import ScanDecision
from engine.text.files import replace_text, write_errors
from engine.text.tables import csv_text, read_delimited, text_cell
from engine.text.words import as_sentence, clean_line, count_noun, join_words

PAGE_NAME, TABLE_NAME = "scans.html", "decisions.csv"
BLANK = "-"
"""What stands for an answer that was left empty, in the table and after ``--decide``."""
_HEADS = ("print", "copy", "field", "read as", "reason", "decision")
_LONGEST_TEXT = 5_000
_BASE64 = re.compile(r"[A-Za-z0-9+/]++={0,2}")


@dataclass(frozen=True, slots=True)
class OpenPlace:
    """A field that a decision is asked for, as commands and tables name it."""

    exam: str
    copy: int
    field: str
    text: str


def parse_place(value: str) -> OpenPlace:
    """Return what ``PRINT/COPY/QUESTION/PART=TEXT`` decides.

    Raises
    ------
    ValueError
        It has another form; the message says which is expected.
    """
    place, equals, text = value.partition("=")
    exam, _, rest = place.strip().partition("/")
    number, _, name = rest.partition("/")
    if not equals or not number.isascii() or not number.isdigit() or len(number) > 6 or not name:
        raise ValueError(
            f"{clean_line(value, 80)!r} isn't PRINT/COPY/FIELD=TEXT, such as K7QF2MXA/12/3/answer=b"
        )
    return OpenPlace(exam, int(number), name, text.strip())


def decision_of(
    place: OpenPlace,
    scans: ExamScans,
    parts: Mapping[tuple[int, str], Part],
    roster: Roster,
    by: str,
    at: datetime,
) -> ScanDecision:
    """Return a decision as it is stored, if it can be one.

    Raises
    ------
    ValueError
        There is no such copy or field, or its text can't be read as an answer there.
    """
    copy = scans.record.copy(place.copy)
    if copy is None:
        raise ValueError(f"print {place.exam} has no copy {place.copy}")
    text = "" if place.text == BLANK else place.text
    if len(text) > _LONGEST_TEXT:
        raise ValueError(f"a decision has at most {count_noun(_LONGEST_TEXT, 'character')}")
    scanned = next((item for item in scans.copies if item.copy.number == place.copy), None)
    if place.field == COPY_FIELD:
        if text != VOID and text:
            raise ValueError(f"a copy can be {VOID}, or {BLANK} to let it count again; not {text!r}")
        return ScanDecision(place.exam, place.copy, copy.student, place.field, text, by, at)
    if scanned is None:
        raise ValueError(f"nothing of copy {place.copy} was scanned")
    item = next((item for item in scanned.fields if item.name == place.field), None)
    if item is None:
        known = join_words([item.name for item in scanned.fields], "and", 12)
        raise ValueError(f"copy {place.copy} has no field {clean_line(place.field, 40)!r}; it has {known}")
    if place.field == STUDENT_FIELD:
        if text not in roster.by_id:
            raise ValueError(f"{clean_line(text, 40)!r} isn't the id of a student in the roster")
        return ScanDecision(place.exam, place.copy, text, place.field, text, by, at)
    reason = refusal(text, parts.get((item.question.number, item.question.part)))
    if reason is not None:
        what = f"copy {place.copy}, {place_words(scanned, place.field)} ({place.field})"
        raise ValueError(f"{clean_line(text, 60)!r} for {what}: {reason}")
    return ScanDecision(place.exam, place.copy, copy.student, place.field, text, by, at)


def read_decisions(path: Path) -> Iterator[tuple[int, OpenPlace]]:
    """Yield the decisions of a table with their lines; lines without one are passed over.

    Raises
    ------
    CourseError
        The file can't be read, or isn't such a table.
    """
    table = read_delimited(path, noun="the table of decisions", error=CourseError)
    if not table.rows or [cell.casefold() for cell in table.rows[0].cells[: len(_HEADS)]] != list(_HEADS):
        raise CourseError(
            "this isn't a table of decisions",
            where=f"{path}:1",
            expected=",".join(_HEADS),
            next_step=f"grade scan writes one: {TABLE_NAME} in the folder of the print",
        )
    faults = list(table.faults)
    places = []
    for row in table.rows[1:]:
        cells = [*row.cells, *[""] * len(_HEADS)][: len(_HEADS)]
        text = cells[5].strip()
        if not text:
            continue
        if not cells[1].isascii() or not cells[1].isdigit() or len(cells[1]) > 6:
            message = f"the copy is a number, not {clean_line(cells[1], 20)!r}"
            faults.append(Diagnostic(str(path), row.line, 1, message))
            continue
        places.append((row.line, OpenPlace(cells[0].strip(), int(cells[1]), cells[2].strip(), text)))
    if faults:
        raise CourseError.of_file(faults)
    yield from places


def write_review(
    folder: Path,
    scans: ExamScans,
    *,
    handed: int,
    problems: Sequence[ScanProblem],
    names: Mapping[str, str],
    waiting: Sequence[tuple[ScannedCopy, Sequence[str]]],
    decisions: Iterable[ScanDecision],
    zone: tzinfo = UTC,
) -> tuple[Path, Path]:
    """Write page and table into a folder, for its owner alone, and return their paths.

    Parameters
    ----------
    folder : Path
        Of the print.
    scans : ExamScans
    handed : int
        Exams handed in so far.
    problems : sequence of ScanProblem
        Pages of this run from which nothing was taken.
    names : mapping of str to str
        Of students, by id.
    waiting : sequence of (ScannedCopy, sequence of str)
        What isn't handed in, with the reasons besides its fields.
    decisions : iterable of ScanDecision
    zone : tzinfo
        By whose clocks times are shown.

    Raises
    ------
    CourseError
        They can't be written.
    """
    from engine.pages.render import render

    record = scans.record
    copies = [_copy_view(record.id, item, reasons, names) for item, reasons in waiting]
    page = render(
        "scan_review.html.j2",
        package="engine.scanning",
        zone=zone,
        exam=record.id,
        title=record.title,
        handed=handed,
        waiting=copies,
        unseen=[(copy.number, names.get(copy.student or "", copy.student or "")) for copy in scans.unseen],
        places=sum(len(copy["fields"]) for copy in copies),
        table=str(folder / TABLE_NAME),
        problems=[(problem.source.words(), problem.reason) for problem in problems],
        decided=[(decision, decided_place(scans, decision)) for decision in decisions],
    )
    rows = [list(_HEADS)]
    for item, _ in waiting:
        for name, read_as, reason in _open_places(item):
            cells = [record.id, str(item.copy.number), name, text_cell(read_as), text_cell(reason), ""]
            rows.append(cells)
    paths = folder / PAGE_NAME, folder / TABLE_NAME
    step = "make room, or let this account write into the folder of the print; what was read is stored"
    with write_errors("the page of scans can't be written", folder, next_step=step, kind=CourseError):
        replace_text(paths[0], page, private=True)
        replace_text(paths[1], csv_text(rows), private=True)
    return paths


def _copy_view(
    exam: str, item: ScannedCopy, reasons: Sequence[str], names: Mapping[str, str]
) -> dict[str, Any]:
    return {
        "number": item.copy.number,
        "name": names.get(item.student or "", item.student or ""),
        "reasons": [*(why for why in reasons if why not in item.asks.values()), *item.notes],
        "fields": [
            *(_copy_field_view(exam, item, name, why) for name, why in item.asks.items()),
            *(_field_view(exam, item, field) for field in item.open_fields),
        ],
    }


def _open_places(item: ScannedCopy) -> Iterator[tuple[str, str, str]]:
    """Yield what a decision is asked for: its field, what was read, and why, in the paper's words."""
    number = next((field.text for field in item.fields if field.name == STUDENT_FIELD), "")
    for name, why in item.asks.items():
        yield name, number if name == STUDENT_FIELD else "", why
    for field in item.open_fields:
        yield field.name, field.text, f"{place_words(item, field.name)}: {field.reason}"


def _copy_field_view(exam: str, item: ScannedCopy, name: str, why: str) -> dict[str, Any]:
    """Return the view of what is asked about a whole copy: whose it is, or whether it counts."""
    is_student = name == STUDENT_FIELD
    pictures = next((field.pictures for field in item.fields if is_student and field.name == name), ())
    return {
        "heading": "Whose it is" if is_student else "Whether it counts",
        "reason": as_sentence(why),
        "pictures": _markup(pictures),
        "on_paper": is_student,
        "guess": "",
        "choices": "the id of a student of the roster" if is_student else f"{VOID}: it doesn't count",
        "command": f"grade scan --decide {exam}/{item.copy.number}/{name}={'ID' if is_student else VOID}",
    }


def decided_place(scans: ExamScans, decision: ScanDecision) -> str:
    """Return what a decision is about, with the number of its question on paper."""
    scanned = next((item for item in scans.copies if item.copy.number == decision.copy), None)
    what = "the whole copy" if scanned is None else place_words(scanned, decision.field)
    return f"copy {decision.copy}, {what}"


def _markup(pictures: Iterable[str]) -> list[Markup]:
    # As markup: what pages show of a text is cut, and half a picture is none.
    return [Markup(picture) for picture in pictures if _BASE64.fullmatch(picture)]


def _field_view(exam: str, item: ScannedCopy, field: SheetField) -> dict[str, Any]:
    place = f"{exam}/{item.copy.number}/{field.name}"
    return {
        "heading": f"{'Question ' if field.question.number else ''}{field.question.label}",
        "reason": as_sentence(field.reason or ""),
        "pictures": _markup(field.pictures),
        "on_paper": True,
        "guess": field.text,
        "choices": _choices(field.question),
        "command": f"grade scan --decide {shlex.quote(f'{place}={_example(field)}')}",
    }


def _example(field: SheetField) -> str:
    return field.text or "ANSWER"


def _choices(question: SheetQuestion) -> str:
    blank = f"{BLANK} for left empty"
    letters = join_words(question.options, "or", 30) if question.options else ""
    if question.kind is SheetFieldKind.SINGLE:
        return f"{letters}; {blank}"
    if question.kind is SheetFieldKind.MULTIPLE:
        return f"any of {join_words(question.options, 'and', 30)}, such as a, c; {blank}"
    if question.kind is SheetFieldKind.MATCHING:
        return f"a letter for each row, such as {question.rows[0]}-{question.options[0]}; {blank}"
    if question.kind is SheetFieldKind.ORDERING:
        return f"all letters, first to last; {blank}"
    if question.kind is SheetFieldKind.STUDENT:
        return "the id of a student of the roster"
    if question.kind is SheetFieldKind.BOX:
        return f"what is written, as it would be typed; {blank}"
    count = len(question.rows)
    return f"{'a number' if not count else count_noun(count, 'number') + ' in brackets'}; {blank}"
