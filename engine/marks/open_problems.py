"""What earlier batches couldn't grade, kept until it is handed in so that it can be read.

A class hands in by several downloads, and each batch sees only its own. A file that one of them couldn't
read is often no attempt, so the store doesn't have it: it stands in a small file beside the store, with the
time when it was first listed. The store says whether it is still open: it isn't when the student has handed
in a readable file for the same exercise or quiz, or of the same name, since then.
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

__all__ = ["OPEN_PROBLEMS_FILE", "OpenProblems"]

OPEN_PROBLEMS_FILE: Final = "not-graded.json"
_MOST_BYTES = 64 * 2**20
_LINE = re.compile(r"(:[0-9]+){1,2}$")  # of a row in a table
_LAST = datetime.max.replace(tzinfo=UTC)  # what doesn't say when it was handed in came last


@dataclass(frozen=True, slots=True)
class _Entry:
    """A problem, and when a batch listed it first."""

    problem: IntakeProblem
    since: datetime

    @property
    def key(self) -> tuple[str, str, str]:
        return self.problem.student or "", self.problem.where, self.problem.message


class OpenProblems:
    """The problems of earlier batches.

    Parameters
    ----------
    path : Path
        The file, which a batch makes when it lists the first one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def of(self, student: str) -> list[IntakeProblem]:
        """Return all that is kept on one student, settled or not."""
        return [entry.problem for entry in self._read() if entry.problem.student == student]

    def still_open(self, store: Store) -> tuple[IntakeProblem, ...]:
        """Return what nobody has mended yet.

        Raises
        ------
        CourseError
            The file can't be read.
        """
        attempts: dict[str, list[Attempt]] = {}
        found = []
        for entry in self._read():
            student = entry.problem.student
            if student is not None and student not in attempts:
                attempts[student] = [a for a in store.attempts(student=student) if _is_readable(a)]
            if not any(_settles(attempt, entry) for attempt in attempts.get(student or "", ())):
                found.append(entry.problem)
        return tuple(found)

    def take(
        self,
        intake: IntakeResult,
        problems: Sequence[IntakeProblem],
        *,
        tables: Collection[str] = (),
        ungraded: Collection[tuple[str, str]] = (),
        is_whole: bool = True,
    ) -> None:
        """Keep what a batch couldn't grade; of files that it saw itself, its own word holds.

        Parameters
        ----------
        intake : IntakeResult
            What the batch took in.
        problems : sequence of IntakeProblem
            What it couldn't grade, without faults of the course's own files.
        tables : collection of str
            Names of the tables of answers in it.
        ungraded : collection of (student, file)
            What wasn't graded for a cause of the machine.
        is_whole : bool
            Whether it looked at all files; a batch that was stopped takes nothing out.

        Raises
        ------
        CourseError
            The file can't be read.
        OSError
            It can't be written.
        """
        # Whoever is graded though the roster doesn't have them stands in the class's table, with a sign.
        graded = {clean_line(files.student) for files in intake.students}
        mended = _mended(intake, problems, ungraded)
        now = datetime.now(UTC)
        listed = [
            _Entry(one, now)
            for one in problems
            if not (one.unjoined and one.where in graded) and (one.student, one.where) not in mended
        ]
        seen = {one.where for one in problems}
        if is_whole:
            seen |= {file.name for files in intake.students for file in files.files}
            seen |= {clean_line(files.label) for files in intake.students} | {*intake.ignored, *tables}
        with self._locked():
            before = self._read()
            since = {entry.key: entry.since for entry in before}
            rest = [e for e in before if not {e.problem.where, _LINE.sub("", e.problem.where)} & seen]
            self._write([*rest, *(_Entry(e.problem, since.get(e.key, now)) for e in listed)], before)

    def forget(self, student: str) -> int:
        """Take out all that is kept on one student, and return how many problems that were."""
        with self._locked():
            before = self._read()
            rest = [entry for entry in before if entry.problem.student != student]
            self._write(rest, before)
        return len(before) - len(rest)

    def _read(self) -> list[_Entry]:
        try:
            found = json.loads(read_bounded(self._path, _MOST_BYTES))
            return [
                _Entry(
                    IntakeProblem(**{**entry["problem"], "known_as": tuple(entry["problem"]["known_as"])}),
                    datetime.fromisoformat(entry["since"]),
                )
                for entry in found
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
        kept = sorted({entry.key: entry for entry in entries}.values(), key=lambda entry: entry.key)
        if not kept:
            self._path.unlink(missing_ok=True)
        elif kept != before:
            told = [{"problem": asdict(e.problem), "since": e.since.isoformat()} for e in kept]
            replace_text(self._path, json.dumps(told, indent=1) + "\n", durable=True, private=True)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Let nobody else change the file meanwhile, as far as the system has locks on folders."""
        try:
            import fcntl

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
    """Return whether an attempt takes the place of what couldn't be graded.

    It goes by when grading began: a regrade changes when it ended.
    """
    if attempt.started <= entry.since:
        return False
    about = f"quiz {attempt.quiz}" if attempt.quiz else attempt.item
    name = PurePosixPath(attempt.filename).name
    # Canvas writes the student and two numbers before the name.
    return any(known in (about, name) or name.endswith(f"_{known}") for known in entry.problem.known_as)


def _mended(
    intake: IntakeResult, problems: Sequence[IntakeProblem], ungraded: Collection[tuple[str, str]]
) -> set[tuple[str | None, str]]:
    """Return the files, with their students, in whose place a later one of the same batch could be read."""
    unread: set[tuple[str | None, str]] = {(p.student, p.where) for p in problems if not p.partly}
    unread |= {*ungraded}
    found: set[tuple[str | None, str]] = set()
    for files in intake.students:
        later: set[str] = set()
        for file in sorted(files.files, key=_order, reverse=True):
            at = (files.student, file.name)
            if later & {*file.known_as}:
                found.add(at)
            if at not in unread:
                later |= {*file.known_as}
    return found


def _order(file: HandedFile) -> tuple[datetime, int]:
    return file.handed or _LAST, file.sequence
