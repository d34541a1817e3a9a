"""``roster.csv``: who is in the course. Ids are text: ``007`` keeps its zeros."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from engine.errors import CourseError, Diagnostic

__all__ = ["Roster", "Student", "read_roster"]

_LIMIT = 8 * 2**20
_COLUMNS = ("id", "name", "email")
_SEPARATOR = re.compile(r"sep=([,;\t])")  # Excel's own first line
_KEPT_AS_TEXT = re.compile(r'="(.*)"', re.DOTALL)
_ROUNDED = re.compile(r"[0-9][.,][0-9]+E\+[0-9]{2,}")


@dataclass(frozen=True, slots=True)
class Student:
    """One person."""

    id: str
    name: str = ""
    email: str = ""


@dataclass(frozen=True)
class Roster:
    """The students, in the order of the file."""

    students: tuple[Student, ...] = ()

    @cached_property
    def by_id(self) -> Mapping[str, Student]:
        """Students by id."""
        return {student.id: student for student in self.students}

    @cached_property
    def _by_label(self) -> Mapping[str, tuple[str, ...]]:
        labels: dict[str, set[str]] = {}
        for student in self.students:
            words = _words(student.name)
            for label in {
                _plain(student.id),
                _plain(student.email),
                " ".join(words),
                " ".join(words[1:] + words[:1]),
            }:
                if label:
                    labels.setdefault(label, set()).add(student.id)
        return {label: tuple(sorted(ids)) for label, ids in labels.items()}

    def match(self, label: str) -> tuple[str, ...]:
        """Return the ids of the students that a folder's or file's name can mean.

        An id counts as itself or as a word of the label (``ada_12345_assignsubmission_file_``); else
        the full name or the e-mail address does. More than one means: it is ambiguous.
        """
        if label in self.by_id:
            return (label,)
        whole = self._by_label.get(_plain(label)) or self._by_label.get(" ".join(_words(label)))
        if whole:
            return whole
        pieces = [piece for piece in re.split(r"[_\s]+", unicodedata.normalize("NFC", label)) if piece]
        ids = {piece for piece in pieces if piece in self.by_id}
        if ids:
            return tuple(sorted(ids))
        # Moodle names a folder after the full name, a number and the kind of hand-in.
        return self._by_label.get(" ".join(_words(label.split("_")[0])), ())


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip().casefold()


def _words(text: str) -> list[str]:
    return re.split(r"[\s,_]+", _plain(text)) if text.strip() else []


def read_roster(path: Path) -> Roster:
    """Read a roster.

    UTF-8 and UTF-16 (with or without BOM) and, failing that, Windows-1252 are understood; columns are
    separated by commas, semicolons or tabs, and ``id`` must be among them. Ids are text: ``007`` keeps its
    zeros, and so does ``="007"``, which spreadsheets write to that end. A first line ``sep=;`` is obeyed.

    Raises
    ------
    CourseError
        With every fault's line: no id column, an empty or repeated id, too many fields, an id that a
        spreadsheet has rounded.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_LIMIT + 1)
    except OSError as error:
        raise CourseError(
            "the roster can't be read", where=str(path), got=error.strerror or str(error)
        ) from error
    if len(data) > _LIMIT:
        raise CourseError("the roster is too large", where=str(path), expected="at most 8 MiB")
    text = _decode(data, path)
    faults: list[Diagnostic] = []
    students = tuple(_students(text, str(path), faults))
    if faults:
        raise CourseError.of_file(faults)
    return Roster(students)


def _encodings(data: bytes) -> list[str]:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ["utf-16"]
    # Without a mark, UTF-16 shows by the zeros that every second byte of a header is.
    head = data[:64]
    for zeros, encoding in ((head[1::2], "utf-16-le"), (head[::2], "utf-16-be")):
        if len(zeros) > 1 and zeros.count(0) > len(zeros) // 2:
            return [encoding]
    return ["utf-8-sig", "cp1252"]


def _decode(data: bytes, path: Path) -> str:
    for encoding in _encodings(data):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise CourseError(
        "the roster is no text file",
        where=str(path),
        expected="CSV with the columns id,name,email",
        next_step="save it as CSV (UTF-8) in the spreadsheet",
    )


def _students(text: str, file: str, faults: list[Diagnostic]) -> Iterator[Student]:
    lines = text.splitlines()
    head = next((line for line in lines if line.strip()), "")
    named = _SEPARATOR.fullmatch(head.strip().strip('"'))
    delimiter = named[1] if named else max(",;\t", key=head.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    seen: dict[str, int] = {}
    line = 1
    try:
        for row in rows:
            here, line = line, rows.line_num + 1
            cells = [_cell(cell) for cell in row]
            if not any(cells) or (header is None and _SEPARATOR.fullmatch(delimiter.join(cells))):
                continue
            source = lines[here - 1] if here <= len(lines) else ""
            if header is None:
                header = [cell.casefold() for cell in cells]
                problem = _header_fault(header)
                if problem:
                    faults.append(Diagnostic(file, here, 1, problem, source))
                    return
                continue
            problem = _row_fault(cells, header, seen)
            if problem:
                faults.append(Diagnostic(file, here, 1, problem, source))
                continue
            fields = dict(zip(header, cells, strict=False))
            seen[fields["id"]] = here
            yield Student(fields["id"], fields.get("name", ""), fields.get("email", ""))
    except csv.Error as error:
        faults.append(
            Diagnostic(
                file, line, 1, f"this line is no CSV: {error}", lines[line - 1] if line <= len(lines) else ""
            )
        )


def _cell(text: str) -> str:
    """Return a cell without blanks around it, and without what a spreadsheet puts around a text."""
    plain = unicodedata.normalize("NFC", text).strip()
    kept = _KEPT_AS_TEXT.fullmatch(plain)
    return kept[1].strip() if kept else plain


def _header_fault(header: list[str]) -> str | None:
    if "id" not in header:
        return "the first line must name the columns, `id` among them: id,name,email"
    doubled = sorted({name for name in header if name in _COLUMNS and header.count(name) > 1})
    return f"column {doubled[0]!r} stands twice" if doubled else None


def _row_fault(cells: list[str], header: list[str], seen: Mapping[str, int]) -> str | None:
    if len(cells) > len(header):
        return f"{len(cells)} fields, but the header has {len(header)}: put a name with a comma in quotes"
    fields = dict(zip(header, cells, strict=False))
    student = fields.get("id", "")
    if not student:
        return "this student has no id"
    if _ROUNDED.fullmatch(student):
        return f"a spreadsheet has rounded this id to {student}: format the column as text and save it again"
    if len(student) > 100:
        return "this id is longer than 100 characters"
    if any(unicodedata.category(c).startswith("C") for c in student):
        return "this id holds a control or invisible character"
    if student in seen:
        return f"id {student!r} is in line {seen[student]} already"
    return None
