"""Files that earlier batches couldn't grade, listed until readable versions are handed in.

A class hands in by several downloads, and each batch sees only its own. A file that one of them couldn't
read is often no attempt, so the store doesn't have it: it is kept in a small file beside the store, with the
time when it was first listed. It is settled once the store has a readable attempt of the student for the same
exercise or quiz, or from a file of the same name, that was begun since.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Final

from engine.errors import CourseError
from engine.hand_ins import HandedFile, IntakeProblem, IntakeResult
from engine.model import Outcome
from engine.store import Attempt, Store
from engine.text.escape import clean_line
from engine.text.files import read_bounded, replace_text

OPEN_PROBLEMS_FILE: Final = "not-graded.json"
_MOST_BYTES = 64 * 2**20  # more than 100,000 problems: a larger file isn't ours
_LINE = re.compile(r"(:[0-9]+){1,2}$")  # at the end of a place: a row of a table
_LAST = datetime.max.replace(tzinfo=UTC)  # a file without a time counts as the latest


@dataclass(frozen=True, slots=True)
class _Entry:
    """A problem, and when a batch listed it first."""

    problem: IntakeProblem
    since: datetime

    @property
    def key(self) -> tuple[str, str, str]:
        return self.problem.student or "", self.problem.where, self.problem.message


class OpenProblems:
    """The problems of earlier batches, in a file that several batches may use at once.

    Parameters
    ----------
    path : Path
        Made with the first problem, removed with the last.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def of(self, student: str) -> list[IntakeProblem]:
        """Return all problems of one student, settled or not."""
        return [entry.problem for entry in self._read() if entry.problem.student == student]

    def still_open(self, store: Store) -> tuple[IntakeProblem, ...]:
        """Return the problems that aren't settled yet.

        Raises
        ------
        CourseError
            The file can't be read.
        """
        attempts: dict[str, list[Attempt]] = {}
        problems = []
        for entry in self._read():
            student = entry.problem.student
            if student is not None and student not in attempts:
                attempts[student] = [a for a in store.attempts(student=student) if _is_readable(a)]
            if not any(_settles(attempt, entry) for attempt in attempts.get(student or "", ())):
                problems.append(entry.problem)
        return tuple(problems)

    def update(
        self,
        intake: IntakeResult,
        problems: Sequence[IntakeProblem],
        *,
        tables: Collection[str] = (),
        ungraded: Collection[tuple[str, str]] = (),
        is_whole: bool = True,
    ) -> None:
        """Add the problems of a batch; they replace those of earlier ones about the same files.

        Parameters
        ----------
        intake : IntakeResult
            The batch's.
        problems : sequence of IntakeProblem
            What it couldn't grade, without faults of the course's own files.
        tables : collection of str
            Names of its tables of answers.
        ungraded : collection of (student, file)
            Files left ungraded through the machine's fault.
        is_whole : bool
            Whether it looked at all files; a batch that was stopped removes nothing.

        Raises
        ------
        CourseError
            The file can't be read.
        OSError
            It can't be written.
        """
        # Someone who is graded without being in the roster is marked so in the class table: no problem left.
        graded = {clean_line(files.student) for files in intake.students}
        replaced = _replaced(intake, problems, ungraded)
        now = datetime.now(UTC)
        added = [
            _Entry(problem, now)
            for problem in problems
            if not (problem.unjoined and problem.where in graded)
            and (problem.student, problem.where) not in replaced
        ]
        handled = {problem.where for problem in problems}
        if is_whole:
            handled |= {file.name for files in intake.students for file in files.files}
            handled |= {clean_line(files.label) for files in intake.students} | {*intake.ignored, *tables}
        with self._locked():
            before = self._read()
            # The first listing counts: repeated, a problem must not look newer than what settled it.
            since = {entry.key: entry.since for entry in before}
            rest = [e for e in before if not {e.problem.where, _LINE.sub("", e.problem.where)} & handled]
            self._write([*rest, *(_Entry(e.problem, since.get(e.key, now)) for e in added)], before)

    def forget(self, student: str) -> int:
        """Remove all problems of one student, and return how many there were."""
        with self._locked():
            before = self._read()
            rest = [entry for entry in before if entry.problem.student != student]
            self._write(rest, before)
        return len(before) - len(rest)

    def _read(self) -> list[_Entry]:
        try:
            entries = json.loads(read_bounded(self._path, _MOST_BYTES))
            return [
                _Entry(
                    IntakeProblem(**{**entry["problem"], "known_as": tuple(entry["problem"]["known_as"])}),
                    datetime.fromisoformat(entry["since"]),
                )
                for entry in entries
            ]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError, KeyError) as error:
            reason = error.strerror if isinstance(error, OSError) else "text that Softmark didn't write"
            raise CourseError(
                "the list of what wasn't graded can't be read",
                where=str(self._path),
                got=reason,
                next_step="move it away, and call grade batch on each download again: that lists it anew",
            ) from error

    def _write(self, entries: Sequence[_Entry], before: Sequence[_Entry]) -> None:
        unique = sorted({entry.key: entry for entry in entries}.values(), key=lambda entry: entry.key)
        if not unique:
            self._path.unlink(missing_ok=True)
        elif unique != before:
            data = [{"problem": asdict(e.problem), "since": e.since.isoformat()} for e in unique]
            # Private, because it names students.
            replace_text(self._path, json.dumps(data, indent=1) + "\n", durable=True, private=True)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Let nobody else change the file meanwhile, as far as the system has locks on folders."""
        try:
            import fcntl

            # The folder, not the file: the file is replaced, and a lock on the old one would hold nobody off.
            folder = os.open(self._path.parent, os.O_RDONLY)
        except (ImportError, OSError):  # Windows has neither
            yield
            return
        try:
            with contextlib.suppress(OSError):  # some network folders have no locks
                fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)


def _is_readable(attempt: Attempt) -> bool:
    return attempt.report.outcome not in (Outcome.UNGRADED, Outcome.FORMAT_ERROR)


def _settles(attempt: Attempt, entry: _Entry) -> bool:
    """Tell whether an attempt takes the place of what couldn't be graded."""
    # By when grading began: a regrade changes when it ended.
    if attempt.started <= entry.since:
        return False
    subject = f"quiz {attempt.quiz}" if attempt.quiz else attempt.item
    name = PurePosixPath(attempt.filename).name
    # Canvas writes the student and two numbers before the name.
    return any(alias in (subject, name) or name.endswith(f"_{alias}") for alias in entry.problem.known_as)


def _replaced(
    intake: IntakeResult, problems: Sequence[IntakeProblem], ungraded: Collection[tuple[str, str]]
) -> set[tuple[str | None, str]]:
    """Return the files, with their students, that a later readable file of the same batch replaces."""
    not_graded: set[tuple[str | None, str]] = {(p.student, p.where) for p in problems if not p.partly}
    not_graded |= {*ungraded}
    replaced: set[tuple[str | None, str]] = set()
    for files in intake.students:
        later: set[str] = set()
        for file in sorted(files.files, key=_order, reverse=True):
            key = (files.student, file.name)
            if later & {*file.known_as}:
                replaced.add(key)
            if key not in not_graded:
                later |= {*file.known_as}
    return replaced


def _order(file: HandedFile) -> tuple[datetime, int]:
    return file.handed or _LAST, file.sequence
