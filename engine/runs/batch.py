"""Grade a class on all cores of this machine: one thread per sandbox slot, each result stored as it arrives.

A run can be stopped or killed at any time: the next one grades only what is missing or ungraded. The kernel,
however, kills a process that fills the memory without letting it say why. So each file is noted in a small
file beside the store before it is graded (:class:`InFlight`), and a file that cost two runs is set aside. A
file that a killed run was grading may be innocent, for several are graded at the same time: the next run
grades it last and alone. If that run is killed too, there is no doubt left.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import queue
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Final

from engine.hand_ins import FileKind, HandedFile, IntakeProblem, IntakeResult
from engine.model import Mode
from engine.runner import SandboxOptions
from engine.runs.code_exercises import CodeExercises
from engine.runs.grade_file import FileGrader, FileResult
from engine.store import Store
from engine.text.files import read_bounded

# Once may be bad luck (another file of the same moment, or another program, filled the memory); the second
# time it was graded alone.
_MOST_LOSSES: Final = 2
_FIRST: Final = 20  # programs by which a batch foresees what the class imports
_FIRST_BYTES: Final = 2**18
_MOST_NOTE_BYTES = 16 * 2**20  # some 100,000 lines: more files than any class hands in

FileKey = tuple[str, str, str]  # student, item or "", hash of the bytes


class InFlight:
    """The files that one run is grading, noted on disk: a note without its end is what a killed run leaves.

    The notes help, and never stop a run: where they can't be written (a full or a read-only disk), there
    are none, and the store says what is wrong with the disk.

    Parameters
    ----------
    path : Path or None
        None keeps no notes. Where another run is at work on the same file, none are kept either.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._losses: Counter[FileKey] = Counter()
        self._lock = threading.Lock()
        self._fd: int | None = None
        if path is None:
            return
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError:
            return
        if not _lock_file(self._fd):
            os.close(self._fd)
            self._fd = None
            return
        with contextlib.suppress(OSError):
            # Windows has no pread; the notes of a killed run are lost there.
            self._losses = _read_losses(
                os.pread(self._fd, _MOST_NOTE_BYTES, 0) if hasattr(os, "pread") else b""
            )
            self._rewrite()

    def losses(self, key: FileKey) -> int:
        """Return how many runs were killed while they graded this file."""
        return self._losses[key]

    @contextlib.contextmanager
    def noting(self, key: FileKey) -> Iterator[None]:
        """Note that a file is being graded, and that it no longer is, however grading ended."""
        with self._lock, contextlib.suppress(OSError):
            self._note("begin", key)
        try:
            yield
        finally:
            with self._lock, contextlib.suppress(OSError):
                del self._losses[key]
                self._note("end", key)

    def close(self) -> None:
        """End the notes: no file harmed a run that ends by itself or is stopped by hand."""
        with self._lock:
            if self._fd is None:
                return
            with contextlib.suppress(OSError):
                self._rewrite()
            os.close(self._fd)
            self._fd = None
        if not self._losses and self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)

    def _rewrite(self) -> None:
        assert self._fd is not None
        os.ftruncate(self._fd, 0)
        for key, count in self._losses.items():
            self._note("lost", key, count)

    def _note(self, event: str, key: FileKey, count: int = 1) -> None:
        if self._fd is not None:
            # One write a line, unbuffered: it is in the file even if the process is killed at once.
            os.write(self._fd, json.dumps([event, *key, count]).encode() + b"\n")


def _read_losses(notes: bytes) -> Counter[FileKey]:
    begun: dict[FileKey, int] = {}
    losses: Counter[FileKey] = Counter()
    for line in notes.splitlines():
        try:
            event, student, item, sha256, count = json.loads(line)
            key = (str(student), str(item), str(sha256))
            if event == "lost":
                losses[key] = int(count)
            elif event == "begin":
                begun[key] = 1
            elif event == "end":
                begun.pop(key, None)
                del losses[key]
        except (ValueError, TypeError):  # a line that the killed run had written only in part
            continue
    losses.update(begun)
    return losses


def _lock_file(fd: int) -> bool:
    """Return whether no other run has the file; the lock ends with the process, however that ends."""
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


_POLL_S = 0.1  # short enough that Ctrl-C seems to be obeyed at once
_UNDATED = datetime.max.replace(tzinfo=UTC)  # a file without a time counts as the latest


@dataclass(frozen=True, slots=True)
class UngradedFile:
    """A file that still waits for a grade, with the reason: the next run tries it again.

    Parameters
    ----------
    student, name, item, reason
    again : bool
        It was ungraded before: the machine may not be the cause.
    set_aside : bool
        It killed the grader each time it was tried; the next run doesn't try it.
    """

    student: str
    name: str
    item: str | None
    reason: str
    again: bool = False
    set_aside: bool = False


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What one run did.

    Parameters
    ----------
    graded, graded_before : int
        Files graded now, at least in part, and files that an earlier run had graded.
    rejected : int
        Files that can't be graded as they are; the problems say why.
    ungraded : tuple of UngradedFile
    problems : tuple of IntakeProblem
        Of the intake, and files that can't be graded as they are.
    remaining : int
        Files not looked at because the run was stopped.
    interrupted : bool
    seconds : float
    to_mark : int
        Answers in the files graded now that a person must mark.
    """

    graded: int
    graded_before: int
    rejected: int
    ungraded: tuple[UngradedFile, ...]
    problems: tuple[IntakeProblem, ...]
    remaining: int
    interrupted: bool
    seconds: float
    to_mark: int = 0

    @property
    def exit_code(self) -> int:
        """0 everything is graded; 1 files need a person; 3 something is ungraded; 130 stopped.

        Answers that a person marks are part of the plan, and no reason for another code than 0.
        """
        # As a shell reports a program that Ctrl-C ended (128 + SIGINT).
        if self.interrupted:
            return 130
        if self.ungraded:
            return 3
        return 1 if self.problems else 0


_ANY_SANDBOX = SandboxOptions()

# Number of files → a block whose value is called after each of them.
Progress = Callable[[int], AbstractContextManager[Callable[[], None]]]


def grade_batch(
    intake: IntakeResult,
    *,
    store: Store,
    code: CodeExercises,
    sandbox: SandboxOptions = _ANY_SANDBOX,
    workers: int | None = None,
    mode: Mode = Mode.MARKS,
    progress: Progress = lambda total: nullcontext(lambda: None),
    stop: threading.Event | None = None,
    notes: Path | None = None,
) -> BatchResult:
    """Grade every file of `intake` that the store has no grade for.

    Parameters
    ----------
    intake : IntakeResult
    store : Store
        Each graded file is one transaction, keyed by student, item and hash: a killed run loses
        at most the files in flight, and the next run does only what is missing or ungraded.
    code : CodeExercises
    sandbox : SandboxOptions
        Opened only if there is code to run.
    workers : int, optional
        Threads and slots; all cores by default.
    mode : Mode
        Kept in every report.
    progress : callable
        Number of files that have no grade yet → block whose value is called in this thread after each of
        them. Files from an earlier run don't count: they would make an estimate of the time left too bold.
    stop : threading.Event, optional
        When set, no new file is begun. Ctrl-C does the same; a second Ctrl-C doesn't wait.
    notes : Path, optional
        File in which the files being graded are noted (:class:`InFlight`).

    Raises
    ------
    StoreError
        A result can't be stored; what was stored before stays.
    SandboxError
        The runner can't be opened; nothing was graded.
    """
    begun = time.monotonic()
    grader = FileGrader(store, code, mode)
    tally = BatchTally()
    tasks = open_tasks(grader, intake, tally)
    with closing(InFlight(notes)) as flight:
        interrupted = _grade_all(
            grader, tasks, flight, tally, sandbox, workers, progress, stop or threading.Event()
        )
    return tally.result(intake, len(tasks), interrupted, time.monotonic() - begun)


# A student and a file of theirs.
FileTask = tuple[str, HandedFile]


def open_tasks(grader: FileGrader, intake: IntakeResult, tally: BatchTally) -> list[FileTask]:
    """Return the files that have no grade yet; the others are counted."""
    tasks: dict[tuple[str, str | None, str], FileTask] = {}
    everything = [(student.student, file) for student in intake.students for file in student.files]
    graded: Collection[tuple[str, str | None, str]] = grader.graded_among(everything)
    for student, file in everything:
        key = (student, file.item, file.sha256)
        # The same file twice is one attempt, and counts as it came first.
        if key in tasks or key in graded:
            tally.graded_before += 1
        else:
            tasks[key] = student, file
    return [*tasks.values()]


def _key(student: str, file: HandedFile) -> FileKey:
    return student, file.item or "", file.sha256


def _grade_all(
    grader: FileGrader,
    tasks: list[FileTask],
    flight: InFlight,
    tally: BatchTally,
    sandbox: SandboxOptions,
    workers: int | None,
    progress: Progress,
    halt: threading.Event,
) -> bool:
    """Grade all files but those that are set aside; return whether Ctrl-C stopped it."""
    from engine.sandbox import open_runner

    rest: list[FileTask] = []
    for chain in file_chains(tasks):
        is_behind = False
        for student, file in chain:
            if flight.losses(_key(student, file)) >= _MOST_LOSSES:
                tally.add(grader.set_aside(student, file))
                # It isn't read, so which quiz it answers isn't known: any after it may answer the same one.
                is_behind = file.kind is FileKind.QUIZ
            elif is_behind:
                tally.add(grader.wait_behind(student, file))
            else:
                rest.append((student, file))
    if not rest:
        return False
    has_code = any(file.kind is FileKind.CODE for _, file in rest)
    # A slot costs half a gigabyte of memory: no more of them than files.
    slots = max(1, min(workers or os.cpu_count() or 1, len(rest)))
    with (
        progress(len(rest)) as advance,
        # A power cut only costs grading again, so commits needn't wait for the disk one by one.
        grader.store.bulk(),
        open_runner(sandbox, slots=slots, sources=_first_texts(rest))
        if has_code
        else nullcontext() as runner,
    ):

        def collect(result: FileResult) -> None:
            tally.add(result)
            advance()

        def grade(student: str, file: HandedFile) -> FileResult:
            with flight.noting(_key(student, file)):
                return grader.grade(student, file, runner)

        calm: list[list[FileTask]] = []
        # Whole chains: the files of a chain can't change their order.
        suspect: list[list[FileTask]] = []
        for chain in file_chains(rest):
            (suspect if any(flight.losses(_key(*task)) for task in chain) else calm).append(chain)
        is_stopped = _run(grade, calm, slots, halt, collect)
        # one after the other: if the grader is killed again, it is plain by which file
        return is_stopped or _run(grade, suspect, 1, halt, collect)


def _first_texts(tasks: list[FileTask]) -> Iterator[str]:
    """Yield the texts of the first programs that can be read: the sandbox starts what they need."""
    programs = (file for _, file in tasks if file.kind is FileKind.CODE)
    for file in itertools.islice(programs, _FIRST):
        with contextlib.suppress(OSError, ValueError):
            paths = (file.path, *(path for _, path in file.beside))
            yield "\n".join(read_bounded(path, _FIRST_BYTES).decode("utf-8", "replace") for path in paths)


def file_chains(tasks: Iterable[FileTask]) -> list[list[FileTask]]:
    """Return the files that must be graded, or recorded, one after the other.

    What an attempt at a quiz earns depends on those before it, and where nothing says when code was handed
    in, the order of grading does. So a student's quiz files, and the hand-ins of one exercise, go in the
    order in which they were handed in.
    """
    chains: dict[tuple[str, str | None], list[FileTask]] = {}
    for student, file in tasks:
        chains.setdefault((student, file.item), []).append((student, file))
    for chain in chains.values():
        chain.sort(key=lambda task: (task[1].handed or _UNDATED, task[1].sequence))
    return list(chains.values())


@dataclass
class BatchTally:
    """What has become of a run's files so far."""

    graded_before: int = 0
    graded: int = 0
    rejected: int = 0
    looked_at: int = 0
    to_mark: int = 0
    ungraded: list[UngradedFile] = field(default_factory=list)
    problems: list[IntakeProblem] = field(default_factory=list)

    def result(self, intake: IntakeResult, files: int, interrupted: bool, seconds: float) -> BatchResult:
        """Return what the run did with its files, of which there were so many."""
        return BatchResult(
            graded=self.graded,
            graded_before=self.graded_before,
            rejected=self.rejected,
            ungraded=tuple(self.ungraded),
            problems=(*intake.problems, *self.problems),
            remaining=files - self.looked_at,
            interrupted=interrupted or self.looked_at < files,
            seconds=seconds,
            to_mark=self.to_mark,
        )

    def add(self, result: FileResult) -> None:
        """Count the result of one file."""
        self.looked_at += 1
        self.to_mark += result.to_mark
        if result.problem is not None:
            # With the aliases of its file, by which a later hand-in settles it.
            self.problems.append(replace(result.problem, known_as=result.file.known_as))
        if result.problem is not None and not (result.problem.partly or result.problem.noted):
            self.rejected += 1
        elif result.reason is not None:
            file, again, aside = result.file, result.again, result.set_aside
            self.ungraded.append(
                UngradedFile(result.student, file.name, file.item, result.reason, again, aside)
            )
        elif result.was_graded:
            self.graded_before += 1
        else:
            self.graded += 1


def _run(
    grade: Callable[[str, HandedFile], FileResult],
    chains: list[list[FileTask]],
    slots: int,
    halt: threading.Event,
    collect: Callable[[FileResult], None],
) -> bool:
    """Work through `chains`; return whether Ctrl-C stopped it."""
    todo: queue.SimpleQueue[list[FileTask]] = queue.SimpleQueue()
    for chain in chains:
        todo.put(chain)
    results: queue.SimpleQueue[FileResult | BaseException | None] = queue.SimpleQueue()

    def work() -> None:
        try:
            while not halt.is_set():
                try:
                    chain = todo.get_nowait()
                except queue.Empty:
                    break
                for student, file in chain:
                    if halt.is_set():
                        break
                    results.put(grade(student, file))
        except BaseException as error:  # _drain raises it in the caller's thread
            halt.set()
            results.put(error)
        finally:
            results.put(None)  # this thread has ended

    # Daemons: a second Ctrl-C ends the program without waiting for a file of minutes.
    threads = [threading.Thread(target=work, name=f"grade-{n}", daemon=True) for n in range(slots)]
    for thread in threads:
        thread.start()
    return _drain(results, slots, halt, collect)


def _drain(
    results: queue.SimpleQueue[FileResult | BaseException | None],
    running: int,
    halt: threading.Event,
    collect: Callable[[FileResult], None],
) -> bool:
    failure: BaseException | None = None
    with stop_on_ctrl_c(halt) as interrupted:
        while running:
            try:
                # With a time-out, so that Ctrl-C is noticed on every platform.
                result = results.get(timeout=_POLL_S)
            except queue.Empty:
                continue
            if result is None:
                running -= 1
            elif isinstance(result, BaseException):
                failure = failure or result
            else:
                collect(result)
    if failure is not None:
        raise failure
    return interrupted.is_set()


@contextmanager
def stop_on_ctrl_c(halt: threading.Event) -> Iterator[threading.Event]:
    """Let the first Ctrl-C set `halt` and the event that is yielded; a second one doesn't wait.

    A KeyboardInterrupt could strike between taking a result and counting it; a handler can't.
    """
    interrupted = threading.Event()
    # Python lets only the main thread set handlers.
    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return

    def stop(number: int, frame: FrameType | None) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        interrupted.set()
        halt.set()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
