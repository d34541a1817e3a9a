"""What a person must still look at after a batch.

Three things: files without a grade (:class:`OpenProblems`), work that may be late and has no time
(:class:`Untimed`), and results whose item has changed since (:class:`ChangedItems`).

A class hands in by several downloads, and each batch sees only its own. A file that one of them couldn't
read is often no attempt, so the store doesn't have it: it is kept in a small file beside the store, with the
time when it was first listed. It is settled once the store has a readable attempt of the student for the same
exercise or quiz, or from a file of the same name, that was begun since.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Final

from engine.course.policies import Policies
from engine.errors import CourseError
from engine.hand_ins import FileKind, HandedFile, IntakeProblem, IntakeResult
from engine.items.bank import Bank
from engine.marks.class_table import StudentResults
from engine.marks.late_work import terms_of
from engine.model import Outcome
from engine.store import Attempt, Store
from engine.text.files import folder_lock, read_bounded, replace_text
from engine.text.words import agree, clean_line, count_noun, join_words

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
        with folder_lock(self._path.parent):
            before = self._read()
            # The first listing counts: repeated, a problem must not look newer than what settled it.
            since = {entry.key: entry.since for entry in before}
            rest = [e for e in before if not {e.problem.where, _LINE.sub("", e.problem.where)} & handled]
            self._write([*rest, *(_Entry(e.problem, since.get(e.key, now)) for e in added)], before)

    def forget(self, student: str) -> int:
        """Remove all problems of one student, and return how many there were."""
        with folder_lock(self._path.parent):
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
                next_step="move it away, and call grade batch on each download again: that lists it again",
            ) from error

    def _write(self, entries: Sequence[_Entry], before: Sequence[_Entry]) -> None:
        unique = sorted({entry.key: entry for entry in entries}.values(), key=lambda entry: entry.key)
        if not unique:
            self._path.unlink(missing_ok=True)
        elif unique != before:
            data = [{"problem": asdict(e.problem), "since": e.since.isoformat()} for e in unique]
            # Private, because it names students.
            replace_text(self._path, json.dumps(data, indent=1) + "\n", durable=True, private=True)


def _is_readable(attempt: Attempt) -> bool:
    return attempt.report.outcome not in (Outcome.UNGRADED, Outcome.FORMAT_ERROR)


def _settles(attempt: Attempt, entry: _Entry) -> bool:
    """Return whether an attempt takes the place of what couldn't be graded."""
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


@dataclass(frozen=True, slots=True)
class Untimed:
    """Hand-ins to which the rules about late work couldn't be applied, because their time is unknown.

    They count as in time, which is fair to the student, but the instructor should know: in a download
    without times, a due date has no effect.

    Parameters
    ----------
    without_time : mapping of str to int
        Assignment → hand-ins of which no time is known.
    marked_late : mapping of str to int
        Assignment → hand-ins that the learning system only marked as late, while the course doesn't say how
        late such work counts.
    """

    without_time: Mapping[str, int]
    marked_late: Mapping[str, int]

    def sentences(self) -> list[tuple[str, str]]:
        """Return messages with their next steps."""
        cases = (
            (
                self.without_time,
                ("have", "no time"),
                "look up in the learning system who was late, and set those marks by hand: grade mark set",
            ),
            (
                self.marked_late,
                ("are", "marked as late, and not by how much"),
                "count them as late by `marked_late: {days: 1}` under `policies` in course.yaml",
            ),
        )
        messages = []
        for numbers, (verb, rest), step in cases:
            if numbers:
                count = sum(numbers.values())
                pronoun = "it" if count == 1 else "them"
                message = (
                    f"{count_noun(count, 'hand-in')} {agree(count, verb)} {rest}; the rules about late work "
                    f"for {join_words(sorted(numbers))} weren't applied to {pronoun}"
                )
                messages.append((message, step))
        return messages


def untimed(
    intake: IntakeResult,
    store: Store,
    policies: Policies,
    *,
    ungraded: Collection[tuple[str | None, str]],
    now: datetime,
) -> Untimed:
    """Return the hand-ins of a collection to which rules about late work can't be applied.

    Parameters
    ----------
    intake : IntakeResult
    store : Store
        Holds the quizzes that files answer.
    policies : Policies
    ungraded : collection of (student, file)
        Files without a mark to take anything off.
    now : datetime
        Nothing is late before it is due.
    """
    without_time: dict[str, int] = {}
    marked_late: dict[str, int] = {}
    for files in intake.students:
        for file in files.files:
            if file.handed is not None or (files.student, file.name) in ungraded:
                continue
            # Rows of tables have no such mark, even in a download whose files have it.
            if intake.marks_late and file.filled is None and not file.marked_late:
                continue
            if file.marked_late and policies.marked_late is not None:
                continue
            name = _assignment_of(file, store)
            if name is not None and _can_be_late(policies, files.student, name, now):
                numbers = marked_late if file.marked_late else without_time
                numbers[name] = numbers.get(name, 0) + 1
    return Untimed(without_time, marked_late)


def _assignment_of(file: HandedFile, store: Store) -> str | None:
    if file.kind is not FileKind.QUIZ:
        return file.item
    ids = [alias.removeprefix("quiz ") for alias in file.known_as if alias.startswith("quiz ")]
    quiz = store.load_quiz(ids[-1]) if ids else None
    return None if quiz is None else quiz.name


def _can_be_late(policies: Policies, student: str, assignment: str, now: datetime) -> bool:
    terms = terms_of(policies, student, assignment)
    if terms.is_excused:
        return False
    # After closing, work doesn't count even where lateness costs nothing.
    costs = terms.rules.late is not None and terms.is_due(now)
    return costs or (terms.closes is not None and terms.closes <= now)


_MOST_NAMED = 5  # of items that changed: an update of Softmark can change many


class ChangedItems:
    """Counts results that were marked before their item was changed, which a regrade would mark again.

    Parameters
    ----------
    bank : Bank
        With the items as they are now.
    """

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._changed: dict[tuple[str, str], bool] = {}  # a class has few versions of an item
        self.counts: Counter[str] = Counter()

    def counting(self, students: Iterable[StudentResults]) -> Iterator[StudentResults]:
        """Pass on results, and count them by item while they pass."""
        for results in students:
            for result in results.items:
                report = result.report
                if report.score is None:
                    continue
                version = (report.item, report.item_version)
                if version not in self._changed:
                    self._changed[version] = self._bank.has_changed(*version)
                if self._changed[version]:
                    self.counts[report.item] += 1
            yield results

    def notes(self) -> list[tuple[str, str]]:
        """Return a sentence about them with what to do next; nothing where there are none."""
        if not self.counts:
            return []
        names = sorted(self.counts) if len(self.counts) <= _MOST_NAMED else []
        items = ", ".join(names) or count_noun(len(self.counts), "item")
        count = self.counts.total()
        kept_words = "it keeps the mark it has" if count == 1 else "they keep the marks they have"
        message = f"{items} {agree(len(self.counts), 'have')} changed since {count_noun(count, 'result')} "
        message += f"{agree(count, 'were')} marked; {kept_words}"
        command = " ".join(["grade regrade", *names, "--dry-run"])
        return [(message, f"{command} shows what marking again would change")]
