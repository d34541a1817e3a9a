"""The course's own files as the site edits them: the roster, the staff, the rules and the blueprints.

A text is saved only if the readers that every command uses accept it, and only over the text that was
edited: whoever saves over a newer one is told. ``web.yaml`` isn't among the files, and of ``course.yaml``
only what concerns marks can be changed: an intruder in an instructor's session must not point the store
elsewhere, or let students' code import more.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from importlib.resources import files
from pathlib import Path

from engine.course import SETTINGS_FILE
from engine.course.course import CourseSettings, read_settings
from engine.course.people import STAFF_FILE, Person, Role, address_warnings, people_of, read_staff
from engine.course.roster import Roster, read_roster
from engine.errors import CourseError, Diagnostic, InputError
from engine.quiz.blueprint import PlacedBlueprint, read_blueprint
from engine.text.files import (
    MAX_BYTES,
    folder_lock,
    read_bytes,
    replacing,
    source_line,
    utf16_as_utf8,
    work_folder,
)
from engine.text.tables import table_text
from engine.text.words import clean_line, join_words

ROSTER_FILE = "roster.csv"
BLUEPRINTS = "blueprints"
# What the site may change in course.yaml: everything else says where data lies or what code may do.
_CHANGEABLE = frozenset({"title", "errata", "decimal_comma", "policies"})
_NEW_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")
_LINE_END = re.compile(r"\r\n|\r|\n")
_LOST = "\ufffd"  # what stands where bytes couldn't be read as a character
_NOT_UTF8 = re.compile("[\ud800-\udfff]")
_DAMAGED = re.compile("[\ud800-\udfff\ufffd]")


class CourseFileKind(StrEnum):
    """Which reader a file has."""

    ROSTER = "roster"
    STAFF = "staff"
    SETTINGS = "settings"
    BLUEPRINT = "blueprint"


@dataclass(frozen=True, slots=True)
class CourseFile:
    """A file of the course that instructors edit; `name` is its path from the course folder."""

    name: str
    kind: CourseFileKind
    path: Path

    @property
    def changed_at(self) -> datetime | None:
        """When it was last changed; None where there is no such file."""
        try:
            return datetime.fromtimestamp(self.path.stat().st_mtime, UTC)
        except OSError:
            return None


def course_files(folder: Path) -> list[CourseFile]:
    """Return the files that a course has or should have, blueprints last."""
    blueprints = sorted((folder / BLUEPRINTS).glob("*.yaml"))
    return [
        CourseFile(ROSTER_FILE, CourseFileKind.ROSTER, folder / ROSTER_FILE),
        CourseFile(STAFF_FILE, CourseFileKind.STAFF, folder / STAFF_FILE),
        CourseFile(SETTINGS_FILE, CourseFileKind.SETTINGS, folder / SETTINGS_FILE),
        *(CourseFile(f"{BLUEPRINTS}/{path.name}", CourseFileKind.BLUEPRINT, path) for path in blueprints),
    ]


def find_course_file(folder: Path, name: str) -> CourseFile | None:
    """Return the file of that name, None where the course has no such file.

    Names are looked for among those that there are and never made into a path: ``../web.yaml`` is none.
    """
    return next((file for file in course_files(folder) if file.name == name), None)


def new_blueprint_file(folder: Path, name: str) -> CourseFile:
    """Return the file that a new blueprint would have.

    Raises
    ------
    CourseError
        It can't be called so.
    """
    name = name.strip().removesuffix(".yaml")
    if not _NEW_NAME.fullmatch(name):
        raise CourseError(
            "a blueprint can't have this name",
            expected="letters from a to z, digits, - and _, such as week-5",
            got=repr(clean_line(name, 100)),
            next_step="give it another name",
        )
    file = f"{name}.yaml"
    return CourseFile(f"{BLUEPRINTS}/{file}", CourseFileKind.BLUEPRINT, folder / BLUEPRINTS / file)


def blueprint_template() -> str:
    """Return a blueprint to begin with, which can be drawn as it is."""
    return (files("engine.course") / "example" / "new-blueprint.yaml").read_text(encoding="utf-8")


# --- text and bytes ---


@dataclass(frozen=True, slots=True)
class EditedText:
    r"""A file's text as it is edited.

    Parameters
    ----------
    text : str
        With ``\n`` line ends and no byte order mark.
    digest : str
        SHA-256 of the file's bytes; of nothing where there is no file.
    newline : str
        The line end of the file.
    mark : bytes
        Its byte order mark, if it has one.
    is_utf8 : bool
        False where a spreadsheet has saved it in another encoding: a save makes it UTF-8.
    """

    text: str
    digest: str
    newline: str = "\n"
    mark: bytes = b""
    is_utf8: bool = True

    def bytes_of(self, text: str) -> bytes:
        """Return another text as the file would hold it, with its line ends and its byte order mark.

        Raises
        ------
        CourseError
            It isn't text that UTF-8 can hold, a character was lost on the way here, or it is too long.
        """
        plain = _LINE_END.sub("\n", text)
        # A damaged character that the file had before is its own.
        damage = (_NOT_UTF8 if _LOST in self.text else _DAMAGED).search(plain)
        if damage is not None:
            line = plain.count("\n", 0, damage.start()) + 1
            raise CourseError(
                f"line {line} holds a character that was damaged on the way here",
                got=f"U+{ord(damage[0]):04X}",
                next_step="type it again",
            )
        data = self.mark + plain.replace("\n", self.newline).encode("utf-8")
        if len(data) > MAX_BYTES:
            raise CourseError("this text is too long", expected=f"at most {MAX_BYTES >> 20} MiB")
        return data


def digest_of(data: bytes) -> str:
    """Return what a file's content is known by."""
    return hashlib.sha256(data).hexdigest()


def refuse_link(file: CourseFile) -> None:
    """Raise a :class:`CourseError` for a link: a save would put a file in its place."""
    if file.path.is_symlink():
        raise CourseError(
            f"{file.name} is a link to another file, and the site follows no links",
            next_step="edit the file itself, where it lies",
        )


def load_text(file: CourseFile) -> EditedText:
    """Return the text of a file to edit; empty, or the head of a table, where there is no file.

    Raises
    ------
    CourseError
        It can't be read, isn't text, is too large to be edited on a page, or is a link to another file.
    """
    refuse_link(file)
    if not file.path.exists():
        return EditedText(_empty(file.kind), digest_of(b""))
    data = read_bytes(file.path, MAX_BYTES, CourseError, name=file.name, may_be_empty=True)
    # CSV and YAML alike: UTF-8, UTF-16, and what old spreadsheets write.
    text = table_text(data)
    if text is None:
        raise CourseError(f"{file.name} isn't a text file", next_step="put a text file in its place")
    newline = "\r\n" if "\r\n" in text else "\n" if "\n" in text or "\r" not in text else "\r"
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    try:
        # The same object: it isn't UTF-16.
        is_utf8 = utf16_as_utf8(data) is data and data.decode("utf-8") is not None
    except UnicodeDecodeError:
        is_utf8 = False
    return EditedText(_LINE_END.sub("\n", text), digest_of(data), newline, mark, is_utf8)


def _empty(kind: CourseFileKind) -> str:
    return {CourseFileKind.ROSTER: "id,name,email\n", CourseFileKind.STAFF: "id,name,email,role\n"}.get(
        kind, ""
    )


# --- what the readers say ---


@dataclass(frozen=True)
class FileReading:
    """What a reader says of a text.

    Parameters
    ----------
    faults : tuple of Diagnostic
        By line; with any of them the text isn't saved.
    warnings : tuple of Diagnostic
        What may be meant so.
    roster, staff, settings, plan
        What was read, by the kind of the file; None where its faults leave nothing.
    """

    faults: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    roster: Roster | None = None
    staff: tuple[Person, ...] | None = None
    settings: CourseSettings | None = None
    plan: PlacedBlueprint | None = None

    @property
    def fault_lines(self) -> list[str]:
        """The faults as text, each with its line of the file."""
        return [line for fault in self.faults for line in fault.lines()]

    @property
    def warning_lines(self) -> list[str]:
        """The warnings as text, each with its line of the file."""
        return [line for warning in self.warnings for line in warning.lines()]

    def with_warnings(self, warnings: Sequence[Diagnostic]) -> FileReading:
        """Return it with more warnings, in the order of their lines."""
        return replace(self, warnings=tuple(sorted([*self.warnings, *warnings], key=lambda w: w.line)))


def read_course_file(file: CourseFile) -> FileReading:
    """Return what the reader of a file, the same one that every command uses, says of it."""
    try:
        reading = _read(file.kind, file.path)
    except InputError as error:
        faults = error.diagnostics or (Diagnostic(file.name, 1, 1, _sentence(error)),)
        reading = FileReading(faults=tuple(faults))
    return replace(
        reading,
        faults=tuple(replace(fault, file=file.name) for fault in reading.faults),
        warnings=tuple(replace(warning, file=file.name) for warning in reading.warnings),
    )


def read_course_text(file: CourseFile, data: bytes) -> FileReading:
    """Return what the reader would say of other bytes in a file's place."""
    # The readers take files, and whatever they say must be what they say after the save.
    with work_folder() as folder:
        path = folder / file.path.name
        path.write_bytes(data)
        return read_course_file(replace(file, path=path))


def _read(kind: CourseFileKind, path: Path) -> FileReading:
    if kind is CourseFileKind.ROSTER:
        if not path.exists():
            return FileReading(roster=Roster())
        roster = read_roster(path, tolerant=True)
        faults = tuple(fault.diagnostic for fault in roster.faults)
        return FileReading(faults, tuple(address_warnings(path)), roster=roster)
    if kind is CourseFileKind.STAFF:
        staff = read_staff(path)
        return FileReading(warnings=tuple(address_warnings(path)) if path.exists() else (), staff=staff)
    if kind is CourseFileKind.SETTINGS:
        settings, rule_faults = read_settings(path)
        return FileReading(rule_faults, settings=settings)
    return FileReading(plan=read_blueprint(path))


def _sentence(error: InputError) -> str:
    return error.what + (f": {error.got}" if error.got else "")


def rule_refusals(before: CourseSettings, after: CourseSettings, text: str) -> list[Diagnostic]:
    """Return a fault for each key of course.yaml that differs and can't be changed on the site."""
    lines = text.split("\n")
    refusals = []
    for name in CourseSettings.model_fields:
        if name in _CHANGEABLE or getattr(before, name) == getattr(after, name):
            continue
        number = next((n for n, line in enumerate(lines, 1) if re.match(rf"{name}\s*:", line)), 1)
        message = f"`{name}` can't be changed on the site; whoever runs the server can change it there"
        refusals.append(Diagnostic(SETTINGS_FILE, number, 1, message, source_line(text, number)))
    return refusals


def staff_refusal(before: Collection[Person], after: Collection[Person], person: str) -> str | None:
    """Return why somebody can't save another list of the staff; None where nothing speaks against it."""

    def instructors(staff: Collection[Person]) -> set[str]:
        return {member.id for member in staff if member.role is Role.INSTRUCTOR}

    if person in instructors(before) - instructors(after):
        return "this would remove your own role as instructor; another instructor can do that"
    if instructors(before) and not instructors(after):
        return "this would leave the course without an instructor"
    return None


def staff_beside(folder: Path) -> tuple[Person, ...]:
    """Return the staff beside a roster that is to be saved; nobody where their file has faults of its own."""
    file = CourseFile(STAFF_FILE, CourseFileKind.STAFF, folder / STAFF_FILE)
    return read_course_file(file).staff or ()


def people_refusal(roster: Roster, staff: Collection[Person]) -> str | None:
    """Return why a roster and a list of the staff can't stand side by side; None where they can."""
    try:
        people_of(roster, staff)
    except CourseError as error:
        return f"{_sentence(error)}; {error.next_step}"
    return None


def names_of(students: Collection[str], roster: Roster, limit: int = 10) -> str:
    """Return the names of some students in words, ids where there is no name."""
    known = roster.by_id
    return join_words(
        [clean_line(known[s].name or s if s in known else s, 60) for s in students], limit=limit
    )


# --- saving ---


def save_course_file(
    file: CourseFile, data: bytes, loaded: str, note: Callable[[str], None], *, makes_folder: bool = False
) -> bool:
    """Put other bytes into a file in one step, and return whether that was done.

    Parameters
    ----------
    file : CourseFile
    data : bytes
        Accepted by :func:`read_course_text`.
    loaded : str
        Digest of what was edited. If the file holds something else now, nothing is done.
    note : callable
        Gets the new digest when the new bytes are on the disk and the old ones are still in place: there is
        no change without its entry in the log.
    makes_folder : bool
        Make the file's folder if need be.

    Raises
    ------
    CourseError
        The disk or the system refuses it; the file is as it was.
    """
    try:
        if makes_folder:
            file.path.parent.mkdir(exist_ok=True)
        with folder_lock(file.path.parent):
            now = file.path.read_bytes() if file.path.exists() else b""
            if digest_of(now) != loaded:
                return False
            with replacing(file.path, durable=True) as new:
                new.write(data)
                new.flush()
                note(digest_of(data))
    except OSError as error:
        raise CourseError(
            f"{file.name} can't be written on the server",
            got=error.strerror or str(error),
            next_step="tell whoever runs the server: nothing is changed",
        ) from error
    return True
