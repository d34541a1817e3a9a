"""What waits for a person: a page with a picture of each place, and a table to write decisions into."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any

from markupsafe import Markup

from engine.errors import CourseError, Diagnostic
from engine.scanning.exam_scans import COPY_FIELD, ExamScans, ScannedCopy
from engine.scanning.open_places import OpenPlace, PlaceToDecide, decided_place, places_of
from engine.scanning.page_files import ScanProblem
from engine.store.scans import ScanDecision
from engine.text.files import replace_text, write_errors
from engine.text.tables import csv_text, read_delimited, text_cell
from engine.text.words import as_sentence, clean_line

PAGE_NAME, TABLE_NAME = "scans.html", "decisions.csv"
_HEADS = ("print", "copy", "field", "read as", "reason", "decision")
_BASE64 = re.compile(r"[A-Za-z0-9+/]++={0,2}")


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
    places: list[tuple[int, OpenPlace]] = []
    lines: dict[tuple[str, int, str], int] = {}
    for row in table.rows[1:]:
        cells = [*row.cells, *[""] * len(_HEADS)][: len(_HEADS)]
        text = cells[5].strip()
        if not text:
            continue
        if not cells[1].isascii() or not cells[1].isdigit() or len(cells[1]) > 6:
            message = f"the copy is a number, not {clean_line(cells[1], 20)!r}"
            faults.append(Diagnostic(str(path), row.line, 1, message))
            continue
        place = OpenPlace(cells[0].strip(), int(cells[1]), cells[2].strip(), text)
        name = (place.exam, place.copy, place.field)
        if name in lines:
            # The last of two would count and nobody would know: tables are sorted, and rows copied.
            message = f"{'/'.join(map(str, name))} is decided in line {lines[name]} already"
            faults.append(Diagnostic(str(path), row.line, 1, clean_line(message)))
            continue
        lines[name] = row.line
        places.append((row.line, place))
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
    copies = [_copy_view(scans, item, reasons, names) for item, reasons in waiting]
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
        for place in _open_places(scans, item):
            cells = [record.id, str(place.copy), place.field, text_cell(place.guess)]
            rows.append([*cells, text_cell(place.reason_words), ""])
    paths = folder / PAGE_NAME, folder / TABLE_NAME
    step = "make room, or let this account write into the folder of the print; what was read is stored"
    with write_errors("the page of scans can't be written", folder, next_step=step, kind=CourseError):
        replace_text(paths[0], page, private=True)
        replace_text(paths[1], csv_text(rows), private=True)
    return paths


def _copy_view(
    scans: ExamScans, item: ScannedCopy, reasons: Sequence[str], names: Mapping[str, str]
) -> dict[str, Any]:
    return {
        "number": item.copy.number,
        "name": names.get(item.student or "", item.student or ""),
        "reasons": [*(why for why in reasons if why not in item.asks.values()), *item.notes],
        "fields": [_place_view(place) for place in _open_places(scans, item)],
    }


def _open_places(scans: ExamScans, item: ScannedCopy) -> Iterator[PlaceToDecide]:
    return (place for place in places_of(scans, item) if place.reason is not None)


def _place_view(place: PlaceToDecide) -> dict[str, Any]:
    decide = shlex.quote(f"{place.exam}/{place.id}={place.example}")
    return {
        "heading": place.heading,
        "reason": as_sentence(place.reason or ""),
        "pictures": _markup(place.pictures),
        "on_paper": place.field != COPY_FIELD,
        "guess": place.guess,
        "choices": place.choices,
        "command": f"grade scan --decide {decide}",
    }


def _markup(pictures: Iterable[str]) -> list[Markup]:
    # As markup: what pages show of a text is cut, and half a picture is none.
    return [Markup(picture) for picture in pictures if _BASE64.fullmatch(picture)]
