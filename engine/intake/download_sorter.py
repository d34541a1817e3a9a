"""Sort the files of a download into hand-ins by student, and list what can't be taken in.

Every file ends up as a hand-in, as part of one (a module that it imports), as a problem with a next step, or
as an ignored leftover: nothing that a student handed in disappears without a word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING

from engine.course import Roster
from engine.course.roster import candidate_ids, common_ids, describe_conflict, suggest_student
from engine.errors import INTERNAL_FAULT_STEP, InputError, IntakeError, internal_fault
from engine.hand_ins import AnswerTable, FileKind, HandedFile, IntakeProblem, IntakeResult, StudentFiles
from engine.intake.answer_rows import TABLES, is_class_yaml
from engine.intake.code_files import (
    CodeEntry,
    assignment_of,
    is_library,
    sha256_of_file,
    sha256_of_files,
    sha256_of_text,
    sort_folder,
)
from engine.intake.download_entries import FileEntry, copy_of, packed_otherwise, quiz_head
from engine.intake.layouts import DownloadLayout, DownloadPerson, HandIn, PathOwner, PlainLayout
from engine.text.files import read_hand_in
from engine.text.words import clean_line, count_noun

if TYPE_CHECKING:
    from engine.intake.assignment_notebook import AssignmentNotebook

# Which of a student's hand-ins of one item came first.

_AT_LAST = datetime.max.replace(tzinfo=UTC)  # what doesn't say when it was handed in


@dataclass(frozen=True, slots=True)
class RankedFile:
    """A hand-in, and what decides its place among the others of its kind.

    Parameters
    ----------
    file : HandedFile
    about : str
        Item, or id of the quiz: only hand-ins about the same thing are put in order.
    copy : int
        Which copy of a file its name says it is: ``softmax-1.py`` comes after ``softmax.py``.
    order : int
        What the system counts: later hand-ins have larger numbers.
    """

    file: HandedFile
    about: str
    copy: int = 0
    order: int = 0


def in_sequence(hand_ins: Sequence[RankedFile]) -> tuple[HandedFile, ...]:
    """Return a student's files, those about the same thing in the order in which they came, numbered.

    The first is 0; what a name says to be the third copy isn't below 3, so that a later download, which holds
    it alone, goes on from there.
    """
    files = [hand_in.file for hand_in in hand_ins]
    places: dict[str, list[int]] = {}
    for place, hand_in in enumerate(hand_ins):
        places.setdefault(hand_in.about, []).append(place)
    for values in places.values():
        number = -1
        ordered = sorted((hand_ins[place] for place in values), key=_when)
        for place, hand_in in zip(values, ordered, strict=True):
            number = max(number + 1, hand_in.copy)
            files[place] = replace(hand_in.file, sequence=number)
    return tuple(files)


def _when(ranked: RankedFile) -> tuple[datetime, int, int]:
    return ranked.file.handed or _AT_LAST, ranked.copy, ranked.order


# Whose a hand-in is: what a download calls people → the roster's students. Nobody is guessed.

# As the roster and the store have it; a longer name is somebody's prank.
_LONGEST_ID = 100


class OwnerIndex:
    """Joins people with a roster; without one everybody is who the download says.

    Parameters
    ----------
    people : iterable of DownloadPerson
        Everybody of the download, so that two who would be taken for one are noticed.
    roster : Roster
    refuse_unlisted : bool
        Whether people who aren't in the roster are refused.
    """

    def __init__(self, people: Iterable[DownloadPerson], roster: Roster, refuse_unlisted: bool) -> None:
        self._roster = roster
        self._refuse_unlisted = refuse_unlisted
        self._students: dict[tuple[str, str], str | None] = {}
        self.problems: list[IntakeProblem] = []
        self.labels: dict[str, str] = {}
        self._keys: dict[str, set[str]] = {}
        everybody = list({(person.label, person.key): person for person in people}.values())
        for person in everybody:
            for student in self._ids(person) if person.key else ():
                self._keys.setdefault(student, set()).add(person.key)
        for person in everybody:
            self.student(person)

    def student(self, person: DownloadPerson) -> str | None:
        """Return the id of a person, None if nobody can say it; a problem is listed once."""
        at = (person.label, person.key)
        if at in self._students:
            return self._students[at]
        try:
            student = self._join(person) or self._unlisted(person)
        except IntakeError as error:
            self._students[at] = None
            self._tell(person, error.what, error.next_step or "")
            return None
        self._students[at] = student
        self.labels.setdefault(student, clean_line(person.label))
        return student

    def _ids(self, person: DownloadPerson) -> list[str]:
        try:
            return common_ids(candidate_ids(person.who, self._roster))
        except IntakeError:  # reported when the person is joined
            return []

    def _join(self, person: DownloadPerson) -> str | None:
        candidates = candidate_ids(person.who, self._roster)
        ids = common_ids(candidates)
        if len(ids) > 1:
            raise _unjoined(f"this can be {' or '.join(ids)}", "name the folder after the student's id")
        if candidates and not ids:
            raise _unjoined(
                f"this means several people: {describe_conflict(candidates)}", "find out whose it is"
            )
        if ids and set(candidates) == {"name"} and len(self._keys.get(ids[0], ())) > 1:
            message = f"several people of this name handed in, and one is in the roster: {ids[0]}"
            raise _unjoined(message, "find out whose it is, and name the folder after the id")
        return ids[0] if ids else None

    def _unlisted(self, person: DownloadPerson) -> str:
        label = person.label.strip()
        name = clean_line(label)
        if not name or len(label) > _LONGEST_ID or label in self._roster.by_id:
            raise _unjoined("this name can't be a student's id", "rename it")
        if self._roster.students:
            step = suggest_student(label, self._roster, otherwise="add the student, or rename the folder")
            if self._refuse_unlisted:
                raise _unjoined("this student isn't in the roster", step)
            self._tell(person, f"this student isn't in the roster; graded as {name}", step)
        return label

    def _tell(self, person: DownloadPerson, message: str, step: str) -> None:
        where = clean_line(person.label) or "(no name)"
        self.problems.append(IntakeProblem(where, message, step, unjoined=True))


def _unjoined(message: str, step: str) -> IntakeError:
    return IntakeError(message, next_step=step)


# A student who hands in a whole installation would fill the report for everybody.
_MOST_ALIKE = 20
_CODE = {".py", ".ipynb"}
_SCANS = {".pdf", ".png", ".jpg", ".jpeg", ".tif", ".tiff"}
_NONE: Mapping[str, Path] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _SortedFile:
    """A file, what its name says, and whose it is: nobody's where only the file itself can say it."""

    entry: FileEntry
    path: Path
    place: PathOwner
    students: tuple[str, ...]
    inside: tuple[str, ...]

    @property
    def first(self) -> str | None:
        return self.students[0] if self.students else None

    def known_as(self, about: str = "") -> tuple[str, ...]:
        """Return by what a later file is known to take the place of this one."""
        name = copy_of(self.inside[-1])[0]
        return (name, about) if about else (name,)


class DownloadSorter:
    """Sorts what a download holds.

    Parameters
    ----------
    layout : DownloadLayout
    refuse_unlisted : bool
        Whether people who aren't in the roster are refused.
    """

    def __init__(self, layout: DownloadLayout, refuse_unlisted: bool) -> None:
        self._layout = layout
        self._listing = layout.listing
        self._plain = PlainLayout(layout.listing)
        tops = [(name, True) for name in self._listing.files] + [(n, False) for n in self._listing.folders]
        self._places = {top: self._place(*top) for top in tops}
        people = [person for place in self._places.values() for person in _people(place)]
        self._owners = OwnerIndex(people, self._listing.roster, refuse_unlisted)
        self._problems: list[IntakeProblem] = []
        self._ignored = list(self._listing.entries.ignored)
        self._tables: list[AnswerTable] = []
        self._handed: dict[str, list[RankedFile]] = {}
        self._folders: dict[tuple[str, ...], list[tuple[_SortedFile, CodeEntry]]] = {}

    def run(self) -> IntakeResult:
        """Return the collection."""
        for entry in self._listing.entries.files:
            try:
                self._sort(entry)
            except Exception as error:  # one file never stops the others
                self._refuse(entry.name, f"not read: {internal_fault(error)}", INTERNAL_FAULT_STEP)
        for files in self._folders.values():
            try:
                self._sort_code_folder(files)
            except Exception as error:
                for file, code in files:
                    message = f"not read: {internal_fault(error)}"
                    self._refuse(code.entry.name, message, INTERNAL_FAULT_STEP, file.first, file.known_as())
        self._problems += map(self._with_student, self._listing.entries.problems)
        self._list_empty_folders()
        students = tuple(
            StudentFiles(student, in_sequence(handed), self._owners.labels[student])
            for student, handed in sorted(self._handed.items())
        )
        problems = (*self._layout.problems, *self._owners.problems, *self._summary_of_problems())
        ignored = tuple(self._summary_of_ignored())
        return IntakeResult(
            students,
            problems,
            ignored,
            tuple(self._tables),
            layout=self._layout.name,
            marks_late=self._layout.marks_late,
        )

    def _summary_of_problems(self) -> list[IntakeProblem]:
        # Of many alike of one student the first ones, and how many more there are.
        summary: list[IntakeProblem] = []
        counts: Counter[tuple[str, str]] = Counter()
        last: dict[tuple[str, str], IntakeProblem] = {}
        for problem in self._problems:
            at = (problem.student or self._top(problem.where), problem.message)
            counts[at] += 1
            if counts[at] <= _MOST_ALIKE:
                summary.append(problem)
            last[at] = problem
        for at, count in counts.items():
            if count > _MOST_ALIKE:
                more = f"… and {count_noun(count - _MOST_ALIKE, 'more entry', ',')} like these: {at[1]}"
                summary.append(replace(last[at], where=self._top(last[at].where), message=more))
        return summary

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
        # A refused name is not to be trusted with making a student.
        depth = self._listing.depth
        top = "/".join(problem.where.split("/")[depth : depth + 1])
        place = self._places.get((top, False)) or self._places.get((top, True))
        name = copy_of(problem.where.split("/")[-1])[0]
        return replace(problem, student=next(iter(self._students(place)), None), known_as=(name,))

    def _list_empty_folders(self) -> None:
        for (_, is_file), place in self._places.items():
            for student in () if is_file else self._students(place):
                self._handed.setdefault(student, [])
        students = {problem.student for problem in self._problems}
        for student, handed in self._handed.items():
            if not handed and student not in students:
                self._refuse(self._owners.labels[student], "this folder holds no file", "", student)

    def _place(self, top: str, is_file: bool) -> PathOwner:
        return self._layout.place(top, is_file) or self._plain.place(top, is_file)

    def _students(self, place: PathOwner | None) -> tuple[str, ...]:
        students = (self._owners.student(person) for person in _people(place))
        return tuple(dict.fromkeys(student for student in students if student is not None))

    def _sort(self, entry: FileEntry) -> None:
        depth = self._listing.depth
        if self._layout.is_own(entry.parts[depth:]):
            self._ignored.append(entry.name)
            return
        place = self._places[entry.parts[depth], len(entry.parts) == depth + 1]
        inside = ((place.name,) if place.name else ()) + entry.parts[depth + 1 :]
        students = self._students(place)
        if place.hand_in is not None and not students:
            step = f"see the problem listed for {clean_line(place.hand_in.people[0].label, 60)}"
            self._refuse(entry.name, "it is unclear whose file this is", step)
            return
        for student in students:
            self._handed.setdefault(student, [])
        self._sort_kind(entry, _SortedFile(entry, entry.path or Path(), place, students, inside))

    def _sort_kind(self, entry: FileEntry, file: _SortedFile) -> None:
        name = file.inside[-1]
        suffix = Path(name).suffix.lower()
        if entry.path is None:
            self._sort_unread(file, name)
        elif suffix in TABLES:
            self._sort_table(file)
        elif suffix not in _CODE:
            self._sort_quiz(file)
        elif (notebook := _assignment(file)) is not None and file.place.stands_alone:
            self._sort_alone(file, notebook)
        elif not file.place.stands_alone:
            assert file.place.hand_in is not None
            folder = (file.place.hand_in.key, *entry.parts[:-1])
            code = CodeEntry(entry, entry.path, name, self._listing.names.find(name), notebook)
            self._folders.setdefault(folder, []).append((file, code))
        elif file.place.item is None:
            step = "name it STUDENT_ITEM.py, or put it into a folder named after the student"
            self._refuse(entry.name, "it is unclear whose file this is", step)
        else:
            self._add(file, FileKind.CODE, file.place.item)

    def _sort_unread(self, file: _SortedFile, name: str) -> None:
        if packed_otherwise(name):
            message, step = "this kind of archive is not opened", "pack it as .zip or .tar.gz"
        else:
            message, step = "this kind of file isn't graded", "expected .py, .ipynb or .yaml"
            if PurePosixPath(name).suffix.lower() in _SCANS:
                step += "; scanned answer sheets are read by grade scan"
            inner = PurePosixPath(name).stem  # browsers and mail programs add .txt to what they don't know
            if PurePosixPath(inner).suffix.lower() in (*_CODE, ".yaml", ".yml"):
                step = f"if it is {clean_line(inner, 60)}, name it so and hand it in again"
        self._not_graded(file, message, step)

    def _sort_code_folder(self, files: list[tuple[_SortedFile, CodeEntry]]) -> None:
        by_path = {code.path: file for file, code in files}
        names = self._listing.names
        result = sort_folder([code for _, code in files], names.items, self._listing.only_item)
        for code, item, beside in result.handed:
            self._add(by_path[code.path], FileKind.CODE, item, beside, notebook=code.notebook)
        for file, code in files:
            if code.notebook is not None:
                self._sort_answers(file, code.notebook)
        for code, item, places in result.conflicts:
            file, message = by_path[code.path], f"two files define {item.replace('-', '_')}: {places}"
            step = f"name the one that counts {item}.py"
            self._refuse(code.entry.name, message, step, file.first, file.known_as(item))
        for code in result.left:
            nearest = names.nearest(code.name)
            step = (
                f"did you mean {nearest}?" if nearest else "name the file after the function, e.g. softmax.py"
            )
            message = "there is no code exercise of this name"
            self._not_graded(by_path[code.path], message, step, about=nearest or "")

    def _sort_alone(self, file: _SortedFile, notebook: AssignmentNotebook) -> None:
        """Sort an assignment's notebook that lies among those of other people: its name says whose it is."""
        if not file.students:
            student = self._owners.student(self._person_of(file.inside[-1]))
            if student is None:
                self._refuse(file.entry.name, "it is unclear whose file this is", "name it STUDENT.ipynb")
                return
            file = replace(file, students=(student,))
        for assigned in notebook.items:
            if assigned.is_code and assigned.item in self._listing.names.items:
                self._add(file, FileKind.CODE, assigned.item, notebook=notebook)
        self._sort_answers(file, notebook)

    def _person_of(self, name: str) -> DownloadPerson:
        # ada.ipynb, ada_week-3.ipynb and week-3_ada.ipynb: a part that the roster knows, or else all of it.
        stem = PurePosixPath(copy_of(name)[0]).stem
        roster = self._listing.roster
        cuts = [match.span() for match in re.finditer(r"[\s_-]+", stem)]
        pieces = [stem, *(stem[:start] for start, _ in cuts), *(stem[end:] for _, end in cuts)]
        label = next((piece for piece in pieces if piece and roster.match(piece)), stem)
        return DownloadPerson(label, {"label": label})

    def _sort_answers(self, file: _SortedFile, notebook: AssignmentNotebook) -> None:
        """Add the answers of an assignment's notebook, and say which of its exercises aren't the course's."""
        for assigned in notebook.items:
            if not assigned.is_code:
                self._add(file, FileKind.ANSWERS, assigned.item, notebook=notebook)
            elif assigned.item not in self._listing.names.items:
                message = f"the notebook is for the exercise {assigned.item}, which this course doesn't have"
                step = "grade it with the course that handed it out"
                self._refuse(file.entry.name, message, step, file.first, file.known_as(assigned.item))

    def _sort_table(self, file: _SortedFile) -> None:
        if file.place.hand_in is None:
            self._tables.append(AnswerTable(file.path, file.entry.name))
        else:
            step = "put a table of the class's answers beside the students' folders; a student hands in YAML"
            self._not_graded(file, "a table isn't one student's", step)

    def _sort_quiz(self, file: _SortedFile) -> None:
        alone = file.place.hand_in is None
        try:
            text = read_hand_in(file.path)
        except InputError as error:
            message = (
                f"{error.what}: {error.got}"
                if error.got and error.what.endswith("can't be read")
                else error.what
            )
            self._refuse(file.entry.name, message, error.next_step or "", file.first, file.known_as())
            return
        quiz, claimed = quiz_head(text)
        if alone and is_class_yaml(text):
            self._tables.append(AnswerTable(file.path, file.entry.name))
        elif quiz is None:
            step = "a quiz file has a line `quiz: ID`; hand in that file"
            self._not_graded(file, "this isn't a filled-in quiz", step)
        elif not alone:
            self._add(file, FileKind.QUIZ, None, about=quiz)
        elif claimed is None:
            step = "put it into a folder named after the student"
            self._refuse(file.entry.name, "this quiz names no student", step)
        else:
            student = self._owners.student(DownloadPerson(claimed, {"label": claimed}))
            if student is None:
                step = f"see the problem listed for {clean_line(claimed, 60)}"
                self._refuse(file.entry.name, "it is unclear whose file this is", step)
            else:
                self._add(replace(file, students=(student,)), FileKind.QUIZ, None, about=quiz)

    def _add(
        self,
        code: _SortedFile,
        kind: FileKind,
        item: str | None,
        beside: Mapping[str, Path] = _NONE,
        about: str = "",
        notebook: AssignmentNotebook | None = None,
    ) -> None:
        hand_in = code.place.hand_in or HandIn("", ())
        topic = item or f"quiz {about}"
        try:
            counting = {name: sha256_of_file(file) for name, file in beside.items() if not is_library(name)}
            text = notebook.taken_text(item or "") if notebook is not None else None
            main = sha256_of_file(code.path) if text is None else sha256_of_text(text)
            sha256 = sha256_of_files(main, counting)
        except OSError as error:
            reason = error.strerror or str(error)
            message = f"the file can't be read: {reason}"
            self._refuse(code.entry.name, message, "check its permissions", code.first, code.known_as(topic))
            return
        file = HandedFile(
            code.path,
            code.entry.name,
            kind,
            item,
            sha256,
            tuple(beside.items()),
            handed=hand_in.handed,
            marked_late=hand_in.marked_late,
            known_as=code.known_as(topic),
        )
        ranked = RankedFile(file, topic, copy_of(code.inside[-1])[1], code.place.order)
        for student in code.students:
            self._handed.setdefault(student, []).append(ranked)

    def _not_graded(self, file: _SortedFile, message: str, step: str, about: str = "") -> None:
        # What the learning system itself put there is nobody's mistake.
        if self._layout.is_leftover(file.entry.parts[self._listing.depth :]):
            self._ignored.append(file.entry.name)
        else:
            self._refuse(file.entry.name, message, step, file.first, file.known_as(about))

    def _refuse(
        self,
        name: str,
        message: str,
        next_step: str = "",
        student: str | None = None,
        known_as: tuple[str, ...] = (),
    ) -> None:
        self._problems.append(IntakeProblem(name, message, next_step, student, known_as=known_as))


def _assignment(file: _SortedFile) -> AssignmentNotebook | None:
    try:
        return assignment_of(file.path, file.inside[-1])
    except InputError:  # it is read as any other notebook, which says why it can't be
        return None


def _people(place: PathOwner | None) -> tuple[DownloadPerson, ...]:
    return place.hand_in.people if place is not None and place.hand_in is not None else ()
