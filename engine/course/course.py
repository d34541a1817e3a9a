"""A course folder: where its parts lie, and how a new one is made."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from engine.course.collection import IntakeProblem
from engine.course.policies.schema import Policies
from engine.course.roster import Roster, read_roster
from engine.course.secret import fingerprint_file, is_known_secret, make_secret, read_secret
from engine.course.settings import CourseSettings, check_title, read_settings, settings_text
from engine.errors import CourseError, Diagnostic, SoftmarkError

if TYPE_CHECKING:
    from engine.store import Store

__all__ = ["Course"]

_SETTINGS = "course.yaml"
_ROSTER_HEAD = "id,name,email\n"
# The secret and the store must never be committed or handed out with the course.
_IGNORE = ".softmark/\nquizzes/\n"


@dataclass(frozen=True)
class Course:
    """A course folder.

    Parameters
    ----------
    folder : Path
    settings : CourseSettings
    rule_faults : tuple of Diagnostic
        What is wrong with the rules about marks in course.yaml; while there is anything, none applies.
    """

    folder: Path
    settings: CourseSettings
    rule_faults: tuple[Diagnostic, ...] = ()

    @classmethod
    def init(cls, folder: Path, title: str) -> Course:
        """Make a course folder, or complete one; nothing that is there is overwritten.

        Raises
        ------
        CourseError
            The folder can't be made, the title can't stand in course.yaml, or course.yaml is faulty.
        """
        check_title(title)
        try:
            for name in (".", "problems", "blueprints", "quizzes"):
                (folder / name).mkdir(parents=True, exist_ok=True)
            (folder / ".softmark").mkdir(mode=0o700, exist_ok=True)
            _write_new(folder / _SETTINGS, settings_text(title))
            _write_new(folder / "roster.csv", _ROSTER_HEAD)
            _write_new(folder / ".gitignore", _IGNORE)
            make_secret(folder / ".softmark" / "secret")
        except OSError as error:
            raise CourseError(
                "the course folder can't be made",
                where=str(error.filename or folder),
                got=error.strerror or str(error),
                next_step="choose a folder that you may write to",
            ) from error
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> Course:
        """Open a course folder.

        Raises
        ------
        CourseError, SpecError
            It is no course folder, or its course.yaml has faults (all of them, with their places) that
            keep it from being used at all.
        """
        path = folder / _SETTINGS
        if not _is_file(path):
            raise CourseError(
                "this is no course folder",
                where=str(folder),
                expected=f"a folder with {_SETTINGS}",
                next_step=f"make one with: grade init {folder}",
            )
        return cls(folder, *read_settings(path))

    @classmethod
    def find(cls, start: Path) -> Course | None:
        """Return the course that `start` lies in, or None."""
        here = start.absolute()
        for folder in (here, *here.parents):
            # The secret's folder tells a course from any other folder with a course.yaml.
            if cls.is_folder(folder):
                return cls.open(folder)
        return None

    @staticmethod
    def is_folder(folder: Path) -> bool:
        """Return whether a folder holds a course."""
        return _is_file(folder / _SETTINGS) and (folder / ".softmark").is_dir()

    @property
    def settings_file(self) -> Path:
        """Where the settings are read from."""
        return self.folder / _SETTINGS

    @property
    def policies(self) -> Policies:
        """The rules about marks."""
        return self.settings.policies

    def rule_problems(self) -> tuple[IntakeProblem, ...]:
        """Return the faults of the rules about marks as problems of a run that doesn't apply them."""
        step = "mend it and run the same command again: what is graded is kept"
        told = "no rule about marks was applied: marks are as graded, and students' pages show no results"
        return tuple(
            IntakeProblem(
                f"{fault.file}:{fault.line}:{fault.column}", f"{fault.message}; {told}", step, noted=True
            )
            for fault in self.rule_faults
        )

    def require_rules(self) -> None:
        """Raise a :class:`CourseError` with all faults of the rules about marks, if there are any."""
        if self.rule_faults:
            raise CourseError.of_file(self.rule_faults)

    @property
    def title(self) -> str:
        """Title of the course."""
        return self.settings.title

    @property
    def mode(self) -> str:
        """``"marks"`` or ``"practice"``."""
        return self.settings.mode

    @property
    def problems(self) -> Path:
        """Folder of private items, which overlay the built-in bank."""
        return self.folder / "problems"

    @property
    def blueprints(self) -> Path:
        """Folder of quiz plans."""
        return self.folder / "blueprints"

    @property
    def quizzes(self) -> Path:
        """Folder that new quizzes are written to."""
        return self.folder / "quizzes"

    @property
    def was_used(self) -> bool:
        """Whether quizzes were drawn here, so that there must be a store."""
        return self.quizzes.is_dir() and any(self.quizzes.iterdir())

    def secret(self) -> bytes:
        """Return the 32 secret bytes.

        Raises
        ------
        CourseError
            Others may read them, or they aren't those that the course was begun with.
        """
        path = self.folder / ".softmark" / "secret"
        secret = read_secret(path)
        if not is_known_secret(path, secret):
            raise CourseError(
                "this isn't the secret that the course was begun with",
                where=str(path),
                got=self._drawn_anew(),
                next_step="restore the secret from a backup; to go on with this one all the same, delete "
                f"{fingerprint_file(path)}",
            )
        return secret

    def _drawn_anew(self) -> str:
        """Say whose work another secret changes."""
        what = "whatever is drawn from now on, and hidden test inputs, would be others than before"
        try:
            with self.open_store() as store:
                students = sorted({quiz.student for quiz in store.quizzes()})
        except SoftmarkError:
            students = []
        if not students:
            return what
        more = f" and {len(students) - 10} more" if len(students) > 10 else ""
        return f"{what}, for these who have quizzes already: {', '.join(students[:10])}{more}"

    def roster(self, *, tolerant: bool = False) -> Roster:
        """Return the roster; an empty one where there is no file.

        `tolerant` as in :func:`engine.course.read_roster`: for what must not wait until a row is mended.
        """
        path = self.folder / "roster.csv"
        return read_roster(path, tolerant=tolerant) if path.exists() else Roster()

    def roster_ids(self) -> list[str]:
        """Return the students' ids, in the order of the roster."""
        return [student.id for student in self.roster().students]

    @property
    def store_place(self) -> str | Path:
        """Address or path of the course's store."""
        where = self.settings.store
        return where if "://" in where else self.folder / where

    def open_store(self) -> Store:
        """Open the course's store."""
        from engine.store import open_store

        return open_store(self.store_place)

    def add_example(self) -> None:
        """Add an example roster and blueprint, where none is."""
        example = files("engine.course") / "example"
        roster = self.folder / "roster.csv"
        try:
            if roster.read_text(encoding="utf-8") == _ROSTER_HEAD:
                roster.write_text((example / "roster.csv").read_text(encoding="utf-8"), encoding="utf-8")
            _write_new(
                self.blueprints / "example.yaml", (example / "blueprint.yaml").read_text(encoding="utf-8")
            )
        except (OSError, UnicodeDecodeError) as error:
            raise CourseError(
                "the example can't be written",
                where=str(self.folder),
                got=str(error),
                next_step="see whether you may write to this folder, and make room",
            ) from error


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a folder that this user may not look into
        return False


def _write_new(path: Path, text: str) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:
        return
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
