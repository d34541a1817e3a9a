"""A folder or archive of a whole class → files by student."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from engine.course import AnswerTable, FileKind, HandedFile, Intake, IntakeProblem, Roster, StudentFiles
from engine.errors import InputError, IntakeError
from engine.foreign import clean_line
from engine.intake.answers.kinds import TABLES, is_class_yaml
from engine.intake.archives import ArchiveLimits, read_source
from engine.intake.beside import is_library, sha256_of_file, sha256_of_files
from engine.intake.decoding import read_text_file
from engine.intake.entries import Entries, Entry, archive_suffix, packed_otherwise
from engine.intake.naming import ItemNames, quiz_head
from engine.intake.student_folder import CodeEntry, sort_folder

__all__ = ["collect"]

_CODE = {".py", ".ipynb"}
_YAML = {".yaml", ".yml"}
_LONGEST_ID = 100


def collect(
    path: Path,
    workdir: Path,
    *,
    items: Collection[str],
    roster: Roster | None = None,
    only_item: str | None = None,
    refuse_unlisted: bool = False,
    limits: ArchiveLimits | None = None,
) -> Intake:
    """Take in what a class handed in.

    Parameters
    ----------
    path : Path
        A folder or a ZIP archive with one folder or one file per student; a single folder around
        all of it is looked through. Or a single file: a quiz, or a table of a class's answers.
    workdir : Path
        Existing folder for what is unpacked; nothing is written anywhere else.
    items : collection of str
        Ids of the code exercises, for the files' names.
    roster : Roster, optional
        With it, folder names are matched to ids, names and addresses.
    only_item : str, optional
        All code is for this item: files may then be called after their students.
    refuse_unlisted : bool
        Whether people who aren't in the roster are refused.

    Returns
    -------
    Intake
        Every entry is either a file to grade, a problem, or an ignored leftover.

    Raises
    ------
    IntakeError
        `path` can't be read at all.
    """
    where = clean_line(str(path))
    entries = read_source(path, workdir, limits)
    intake = _Sorting(entries, ItemNames(items), roster or Roster(), only_item, refuse_unlisted).run()
    if not intake.students and not intake.problems and not intake.tables:
        raise IntakeError(
            "nothing was handed in here", where=where, expected="one folder or one file per student"
        )
    return intake


class _Sorting:
    def __init__(
        self, entries: Entries, names: ItemNames, roster: Roster, only_item: str | None, refuse_unlisted: bool
    ) -> None:
        self._names = names
        self._roster = roster
        self._only_item = only_item
        self._refuse_unlisted = refuse_unlisted
        self._entries = entries
        self._problems: list[IntakeProblem] = []
        self._tables: list[AnswerTable] = []
        self._files: dict[str, list[HandedFile]] = {}
        self._labels: dict[str, str] = {}
        self._students: dict[str, str | None] = {}
        self._folders: dict[tuple[str, tuple[str, ...]], list[CodeEntry]] = {}

    def run(self) -> Intake:
        depth = self._wrapper_depth()
        for entry in self._entries.files:
            self._sort(entry, entry.parts[depth:])
        for (owner, _), files in self._folders.items():
            self._sort_code_folder(owner, files)
        for folder in sorted(self._entries.folders):
            if len(folder) == depth + 1:
                student = self._student(folder[-1].removesuffix(archive_suffix(folder[-1])))
                if student is not None and student not in self._files:
                    self._files[student] = []
        for problem in self._entries.problems:
            # A refused name is not to be trusted with making a student.
            known = self._students.get("/".join(problem.where.split("/")[depth : depth + 1]))
            self._problems.append(replace(problem, student=known))
        for student, handed in self._files.items():
            if not handed and not any(problem.student == student for problem in self._problems):
                self._refuse(self._labels[student], "this folder holds no file", "", student)
        students = tuple(
            StudentFiles(student, tuple(files), self._labels[student])
            for student, files in sorted(self._files.items())
        )
        return Intake(students, tuple(self._problems), tuple(self._entries.ignored), tuple(self._tables))

    # --- whose, and what ---

    def _wrapper_depth(self) -> int:
        """Return 1 where a single folder stands around all hand-ins, else 0."""
        tops = {entry.parts[0] for entry in self._entries.files} | {
            parts[0] for parts in self._entries.folders
        }
        if len(tops) != 1 or any(len(entry.parts) == 1 for entry in self._entries.files):
            return 0
        (top,) = tops
        if self._roster.match(top):
            return 0
        direct = [entry.parts[1] for entry in self._entries.files if len(entry.parts) == 2]
        # A folder that holds hand-ins directly is a student's, unless each of them names a student.
        of_class = _YAML | TABLES
        return int(all(self._names.split(name) or Path(name).suffix.lower() in of_class for name in direct))

    def _student(self, label: str) -> str | None:
        """Return the id that a folder's or file's name stands for; a problem is listed once."""
        if label in self._students:
            return self._students[label]
        shown = clean_line(label)
        student: str | None = None
        ids = self._roster.match(label)
        if (dispute := self._roster.dispute(label)) is not None:
            self._refuse(shown, dispute, "mend the roster, then grade again")
        elif len(ids) == 1:
            student = ids[0]
        elif ids:
            self._refuse(shown, f"this can be {' or '.join(ids)}", "name the folder after the student's id")
        elif not shown or len(label) > _LONGEST_ID:
            self._refuse(shown or "(no name)", "this name can't be a student's id", "rename it")
        elif self._roster.students and self._refuse_unlisted:
            self._refuse(shown, "this student isn't in the roster", "add the student, or rename the folder")
        else:
            student = label.strip()
        self._students[label] = student
        if student is not None:
            self._labels.setdefault(student, shown)
        return student

    def _sort(self, entry: Entry, parts: tuple[str, ...]) -> None:
        suffix = Path(parts[-1]).suffix.lower()
        alone = len(parts) == 1
        student = None if alone else self._student(parts[0].removesuffix(archive_suffix(parts[0])))
        if not alone and student is None:
            self._refuse(entry.name, "it is unclear whose file this is", "see the folder's own problem")
            return
        if student is not None:
            self._files.setdefault(student, [])
        if entry.path is not None and suffix in _CODE:
            if student is None:
                self._sort_lone_code(entry, entry.path, parts[-1])
            else:
                folder = self._folders.setdefault((student, entry.parts[:-1]), [])
                folder.append(CodeEntry(entry, entry.path, self._names.find(parts[-1])))
        elif suffix in TABLES and entry.path is not None:
            self._sort_table(entry, entry.path, student, alone)
        elif entry.path is not None:
            self._sort_quiz(entry, entry.path, student, alone)
        elif packed_otherwise(parts[-1]):
            step = "pack it as .zip or .tar.gz"
            self._refuse(entry.name, "this kind of archive is not opened", step, student)
        else:
            self._refuse(
                entry.name, "this kind of file isn't graded", "expected .py, .ipynb or .yaml", student
            )

    def _sort_lone_code(self, entry: Entry, path: Path, filename: str) -> None:
        """Sort a file that lies in no student's folder: what lies beside it is other people's."""
        split = self._names.split(filename)
        label, item = split if split is not None else (Path(filename).stem, self._only_item)
        if item is None:
            step = "name it STUDENT_ITEM.py, or put it into a folder named after the student"
            self._refuse(entry.name, "it is unclear whose file this is", step)
            return
        student = self._student(label)
        if student is not None:
            self._add(student, entry, path, FileKind.CODE, item)

    def _sort_code_folder(self, student: str, files: list[CodeEntry]) -> None:
        found = sort_folder(files, self._names.items, self._only_item)
        for file, item, beside in found.handed:
            self._add(student, file.entry, file.path, FileKind.CODE, item, beside)
        for file, item, places in found.conflicts:
            message = f"two files define {item.replace('-', '_')}: {places}"
            self._refuse(file.entry.name, message, f"name the one that counts {item}.py", student)
        for file in found.left:
            nearest = self._names.nearest(file.entry.parts[-1])
            step = (
                f"did you mean {nearest}?" if nearest else "name the file after the function, e.g. softmax.py"
            )
            self._refuse(file.entry.name, "there is no code exercise of this name", step, student)

    def _sort_table(self, entry: Entry, path: Path, student: str | None, alone: bool) -> None:
        if alone:
            self._tables.append(AnswerTable(path, entry.name))
        else:
            step = "put a table of the class's answers beside the students' folders; a student hands in YAML"
            self._refuse(entry.name, "a table isn't one student's", step, student)

    def _sort_quiz(self, entry: Entry, path: Path, student: str | None, alone: bool) -> None:
        try:
            text = read_text_file(path)
        except InputError as error:
            self._refuse(entry.name, error.what, error.next_step or "", student)
            return
        if alone and is_class_yaml(text):
            self._tables.append(AnswerTable(path, entry.name))
            return
        quiz, claimed = quiz_head(text)
        if quiz is None:
            self._refuse(
                entry.name,
                "this is no filled-in quiz",
                "a quiz file has a line `quiz: ID`; hand in that file",
                student,
            )
            return
        if alone:
            if claimed is None:
                self._refuse(
                    entry.name, "this quiz names no student", "put it into a folder named after the student"
                )
                return
            student = self._student(claimed)
        if student is not None:
            self._add(student, entry, path, FileKind.QUIZ, None)

    def _add(
        self,
        student: str,
        entry: Entry,
        path: Path,
        kind: FileKind,
        item: str | None,
        beside: Mapping[str, Path] = MappingProxyType({}),
    ) -> None:
        try:
            counting = {name: sha256_of_file(file) for name, file in beside.items() if not is_library(name)}
            sha256 = sha256_of_files(sha256_of_file(path), counting)
        except OSError as error:
            self._refuse(entry.name, "this file can't be read", error.strerror or "", student)
            return
        files = self._files.setdefault(student, [])
        files.append(HandedFile(path, entry.name, kind, item, sha256, tuple(beside.items())))

    def _refuse(self, name: str, message: str, next_step: str = "", student: str | None = None) -> None:
        self._problems.append(IntakeProblem(name, message, next_step, student))
