"""The files of a download → hand-ins by student, and a list of what can't be taken in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from engine.course import AnswerTable, FileKind, HandedFile, Intake, IntakeProblem, StudentFiles
from engine.errors import OWN_FAULT_STEP, InputError, own_fault
from engine.foreign import clean_line
from engine.intake.answers.kinds import TABLES, is_class_yaml
from engine.intake.beside import is_library, sha256_of_file, sha256_of_files
from engine.intake.decoding import read_text_file
from engine.intake.entries import Entry, packed_otherwise
from engine.intake.layouts import HandIn, Layout, Person, Place, Plain
from engine.intake.naming import copy_of, quiz_head
from engine.intake.numbering import Ranked, in_sequence
from engine.intake.owners import Owners
from engine.intake.student_folder import CodeEntry, sort_folder
from engine.plurals import counted

__all__ = ["Sorting"]

_MOST_ALIKE = 20
_CODE = {".py", ".ipynb"}
_NONE: Mapping[str, Path] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _Found:
    """A file, what its name says, and whose it is: nobody's where only the file itself can say it."""

    entry: Entry
    path: Path
    place: Place
    students: tuple[str, ...]
    inside: tuple[str, ...]

    @property
    def first(self) -> str | None:
        return self.students[0] if self.students else None

    def known_as(self, about: str = "") -> tuple[str, ...]:
        """Return by what a later file is known to take the place of this one."""
        own = copy_of(self.inside[-1])[0]
        return (own, about) if about else (own,)


class Sorting:
    """Sorts what a download holds.

    Parameters
    ----------
    layout : Layout
    refuse_unlisted : bool
        Whether people who aren't in the roster are refused.
    """

    def __init__(self, layout: Layout, refuse_unlisted: bool) -> None:
        self._layout = layout
        self._listing = layout.listing
        self._plain = Plain(layout.listing)
        tops = [(name, True) for name in self._listing.files] + [(n, False) for n in self._listing.folders]
        self._places = {top: self._place(*top) for top in tops}
        people = [person for place in self._places.values() for person in _people(place)]
        self._owners = Owners(people, self._listing.roster, refuse_unlisted)
        self._problems: list[IntakeProblem] = []
        self._ignored = list(self._listing.entries.ignored)
        self._tables: list[AnswerTable] = []
        self._handed: dict[str, list[Ranked]] = {}
        self._folders: dict[tuple[str, ...], list[tuple[_Found, CodeEntry]]] = {}

    def run(self) -> Intake:
        """Return the collection."""
        for entry in self._listing.entries.files:
            try:
                self._sort(entry)
            except Exception as error:  # one file never stops the others
                self._refuse(entry.name, f"not read: {own_fault(error)}", OWN_FAULT_STEP)
        for files in self._folders.values():
            try:
                self._sort_code_folder(files)
            except Exception as error:
                for found, code in files:
                    message = f"not read: {own_fault(error)}"
                    self._refuse(code.entry.name, message, OWN_FAULT_STEP, found.first, found.known_as())
        self._problems += map(self._with_student, self._listing.entries.problems)
        self._list_empty_folders()
        students = tuple(
            StudentFiles(student, in_sequence(handed), self._owners.labels[student])
            for student, handed in sorted(self._handed.items())
        )
        problems = (*self._layout.problems, *self._owners.problems, *self._summary_of_problems())
        ignored = tuple(self._summary_of_ignored())
        return Intake(students, problems, ignored, tuple(self._tables), layout=self._layout.name)

    def _summary_of_problems(self) -> list[IntakeProblem]:
        """Return the problems, of many alike of one student the first ones and how many more there are."""
        kept: list[IntakeProblem] = []
        counts: Counter[tuple[str, str]] = Counter()
        last: dict[tuple[str, str], IntakeProblem] = {}
        for problem in self._problems:
            at = (problem.student or self._top(problem.where), problem.message)
            counts[at] += 1
            if counts[at] <= _MOST_ALIKE:
                kept.append(problem)
            last[at] = problem
        for at, count in counts.items():
            if count > _MOST_ALIKE:
                more = f"… and {counted(count - _MOST_ALIKE, 'more entry', ',')} like these: {at[1]}"
                kept.append(replace(last[at], where=self._top(last[at].where), message=more))
        return kept

    def _summary_of_ignored(self) -> Iterator[str]:
        counts: Counter[str] = Counter()
        for name in self._ignored:
            counts[self._top(name)] += 1
            if counts[self._top(name)] <= _MOST_ALIKE:
                yield name
        for top, count in counts.items():
            if count > _MOST_ALIKE:
                yield f"{top}: … and {count - _MOST_ALIKE:,} more"

    def _top(self, name: str) -> str:
        return "/".join(name.split("/")[: self._listing.depth + 1])

    def _with_student(self, problem: IntakeProblem) -> IntakeProblem:
        """Say whose a refused entry is; a refused name is not to be trusted with making a student."""
        depth = self._listing.depth
        top = "/".join(problem.where.split("/")[depth : depth + 1])
        place = self._places.get((top, False)) or self._places.get((top, True))
        own = copy_of(problem.where.split("/")[-1])[0]
        return replace(problem, student=next(iter(self._students(place)), None), known_as=(own,))

    def _list_empty_folders(self) -> None:
        for (_, is_file), place in self._places.items():
            for student in () if is_file else self._students(place):
                self._handed.setdefault(student, [])
        told = {problem.student for problem in self._problems}
        for student, handed in self._handed.items():
            if not handed and student not in told:
                self._refuse(self._owners.labels[student], "this folder holds no file", "", student)

    def _place(self, top: str, is_file: bool) -> Place:
        return self._layout.place(top, is_file) or self._plain.place(top, is_file)

    def _students(self, place: Place | None) -> tuple[str, ...]:
        found = (self._owners.student(person) for person in _people(place))
        return tuple(dict.fromkeys(student for student in found if student is not None))

    # --- whose, and what ---

    def _sort(self, entry: Entry) -> None:
        depth = self._listing.depth
        if self._layout.is_own(entry.parts[depth:]):
            self._ignored.append(entry.name)
            return
        place = self._places[entry.parts[depth], len(entry.parts) == depth + 1]
        inside = ((place.name,) if place.name else ()) + entry.parts[depth + 1 :]
        students = self._students(place)
        if place.hand_in is not None and not students:
            step = f"see what is said of {clean_line(place.hand_in.people[0].label, 60)}"
            self._refuse(entry.name, "it is unclear whose file this is", step)
            return
        for student in students:
            self._handed.setdefault(student, [])
        self._sort_kind(entry, _Found(entry, entry.path or Path(), place, students, inside))

    def _sort_kind(self, entry: Entry, found: _Found) -> None:
        name = found.inside[-1]
        suffix = Path(name).suffix.lower()
        if entry.path is None:
            self._sort_unread(found, name)
        elif suffix in TABLES:
            self._sort_table(found)
        elif suffix not in _CODE:
            self._sort_quiz(found)
        elif not found.place.stands_alone:
            assert found.place.hand_in is not None
            folder = (found.place.hand_in.key, *entry.parts[:-1])
            code = CodeEntry(entry, entry.path, name, self._listing.names.find(name))
            self._folders.setdefault(folder, []).append((found, code))
        elif found.place.item is None:
            step = "name it STUDENT_ITEM.py, or put it into a folder named after the student"
            self._refuse(entry.name, "it is unclear whose file this is", step)
        else:
            self._add(found, FileKind.CODE, found.place.item)

    def _sort_unread(self, found: _Found, name: str) -> None:
        if packed_otherwise(name):
            message, step = "this kind of archive is not opened", "pack it as .zip or .tar.gz"
        else:
            message, step = "this kind of file isn't graded", "expected .py, .ipynb or .yaml"
            inner = PurePosixPath(name).stem  # browsers and mail programs add .txt to what they don't know
            if PurePosixPath(inner).suffix.lower() in (*_CODE, ".yaml", ".yml"):
                step = f"if it is {clean_line(inner, 60)}, name it so and hand it in again"
        self._not_graded(found, message, step)

    def _sort_code_folder(self, files: list[tuple[_Found, CodeEntry]]) -> None:
        by_path = {code.path: found for found, code in files}
        names = self._listing.names
        result = sort_folder([code for _, code in files], names.items, self._listing.only_item)
        for code, item, beside in result.handed:
            self._add(by_path[code.path], FileKind.CODE, item, beside)
        for code, item, places in result.conflicts:
            found, message = by_path[code.path], f"two files define {item.replace('-', '_')}: {places}"
            step = f"name the one that counts {item}.py"
            self._refuse(code.entry.name, message, step, found.first, found.known_as(item))
        for code in result.left:
            nearest = names.nearest(code.name)
            step = (
                f"did you mean {nearest}?" if nearest else "name the file after the function, e.g. softmax.py"
            )
            message = "there is no code exercise of this name"
            self._not_graded(by_path[code.path], message, step, about=nearest or "")

    def _sort_table(self, found: _Found) -> None:
        if found.place.hand_in is None:
            self._tables.append(AnswerTable(found.path, found.entry.name))
        else:
            step = "put a table of the class's answers beside the students' folders; a student hands in YAML"
            self._not_graded(found, "a table isn't one student's", step)

    def _sort_quiz(self, found: _Found) -> None:
        alone = found.place.hand_in is None
        try:
            text = read_text_file(found.path)
        except InputError as error:
            told = (
                f"{error.what}: {error.got}"
                if error.got and error.what.endswith("can't be read")
                else error.what
            )
            self._refuse(found.entry.name, told, error.next_step or "", found.first, found.known_as())
            return
        quiz, claimed = quiz_head(text)
        if alone and is_class_yaml(text):
            self._tables.append(AnswerTable(found.path, found.entry.name))
        elif quiz is None:
            step = "a quiz file has a line `quiz: ID`; hand in that file"
            self._not_graded(found, "this is no filled-in quiz", step)
        elif not alone:
            self._add(found, FileKind.QUIZ, None, about=quiz)
        elif claimed is None:
            step = "put it into a folder named after the student"
            self._refuse(found.entry.name, "this quiz names no student", step)
        else:
            student = self._owners.student(Person(claimed, {"label": claimed}))
            if student is None:
                step = f"see what is said of {clean_line(claimed, 60)}"
                self._refuse(found.entry.name, "it is unclear whose file this is", step)
            else:
                self._add(replace(found, students=(student,)), FileKind.QUIZ, None, about=quiz)

    # --- taking and refusing ---

    def _add(
        self,
        found: _Found,
        kind: FileKind,
        item: str | None,
        beside: Mapping[str, Path] = _NONE,
        about: str = "",
    ) -> None:
        hand_in = found.place.hand_in or HandIn("", ())
        meant = item or f"quiz {about}"
        try:
            counting = {name: sha256_of_file(file) for name, file in beside.items() if not is_library(name)}
            sha256 = sha256_of_files(sha256_of_file(found.path), counting)
        except OSError as error:
            reason = error.strerror or str(error)
            message = f"the file can't be read: {reason}"
            self._refuse(found.entry.name, message, "check its rights", found.first, found.known_as(meant))
            return
        file = HandedFile(
            found.path,
            found.entry.name,
            kind,
            item,
            sha256,
            tuple(beside.items()),
            handed=hand_in.handed,
            marked_late=hand_in.marked_late,
            known_as=found.known_as(meant),
        )
        ranked = Ranked(file, meant, copy_of(found.inside[-1])[1], found.place.order)
        for student in found.students:
            self._handed.setdefault(student, []).append(ranked)

    def _not_graded(self, found: _Found, message: str, step: str, about: str = "") -> None:
        """List a file of a kind that isn't graded, unless the system put it there."""
        if self._layout.is_leftover(found.entry.parts[self._listing.depth :]):
            self._ignored.append(found.entry.name)
        else:
            self._refuse(found.entry.name, message, step, found.first, found.known_as(about))

    def _refuse(
        self,
        name: str,
        message: str,
        next_step: str = "",
        student: str | None = None,
        known_as: tuple[str, ...] = (),
    ) -> None:
        self._problems.append(IntakeProblem(name, message, next_step, student, known_as=known_as))


def _people(place: Place | None) -> tuple[Person, ...]:
    return place.hand_in.people if place is not None and place.hand_in is not None else ()
