"""The local batch engine: one thread per sandbox slot, results in the store as they arrive."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Final

from engine.hand_ins import FileKind, HandedFile, IntakeProblem, IntakeResult
from engine.model import Mode
from engine.runner import Runner
from engine.runs.grade_file import CodeGrader, FileGrader, FileResult, ReadCode, ReadText
from engine.store import Store

__all__ = ["MOST_LOSSES", "BatchResult", "InFlight", "Progress", "UngradedFile", "grade_batch"]


# ----------------------------------------------------------------------------------------------------
# Which files were being graded when a grader was killed: one that took it down twice isn't tried again.
#
# The kernel ends a process that fills the memory without giving it a chance to say why. So each file is noted
# in a small file beside the store before it is graded; a note without its end is what a killed run leaves.
# A file that a killed run had in hand may be innocent, for several are graded at the same time: the next run
# grades it last and alone. If that run is killed too, there is no doubt left.
#
# The notes are a help, and never stop a run: where they can't be written (a full or a read-only disk), there
# are none, and the store says what is wrong with the disk.

MOST_LOSSES: Final = 2
_MOST_BYTES = 16 * 2**20

Key = tuple[str, str, str]  # student, item or "", hash of the bytes


class InFlight:
    """The notes of one run.

    Parameters
    ----------
    path : Path or None
        None keeps none. Where another run is at work on the same file, or the file can't be written,
        none are kept either.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lost: Counter[Key] = Counter()
        self._lock = threading.Lock()
        self._fd: int | None = None
        if path is None:
            return
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError:
            return
        if not _locked(self._fd):
            os.close(self._fd)
            self._fd = None
            return
        with contextlib.suppress(OSError):
            self._lost = _losses(os.pread(self._fd, _MOST_BYTES, 0) if hasattr(os, "pread") else b"")
            self._begin_anew()

    def losses(self, key: Key) -> int:
        """Return how many runs were killed while they graded this file."""
        return self._lost[key]

    @contextlib.contextmanager
    def of(self, key: Key) -> Iterator[None]:
        """Note that a file is being graded, and that it isn't any more, however it ended."""
        with self._lock, contextlib.suppress(OSError):
            self._note("begin", key)
        try:
            yield
        finally:
            with self._lock, contextlib.suppress(OSError):
                del self._lost[key]
                self._note("end", key)

    def close(self) -> None:
        """End the notes: a run that stops by itself, or is stopped by hand, took no harm from any file."""
        with self._lock:
            if self._fd is None:
                return
            with contextlib.suppress(OSError):
                self._begin_anew()
            os.close(self._fd)
            self._fd = None
        if not self._lost and self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)

    def _begin_anew(self) -> None:
        """Write what is known of killed runs, and nothing else."""
        assert self._fd is not None
        os.ftruncate(self._fd, 0)
        for key, count in self._lost.items():
            self._note("lost", key, count)

    def _note(self, what: str, key: Key, count: int = 1) -> None:
        if self._fd is not None:
            os.write(self._fd, json.dumps([what, *key, count]).encode() + b"\n")


def _losses(notes: bytes) -> Counter[Key]:
    """Return how many runs each file has cost; lines that are cut or damaged are passed over."""
    begun: dict[Key, int] = {}
    lost: Counter[Key] = Counter()
    for line in notes.splitlines():
        try:
            what, student, item, sha256, count = json.loads(line)
            key = (str(student), str(item), str(sha256))
            if what == "lost":
                lost[key] = int(count)
            elif what == "begin":
                begun[key] = 1
            elif what == "end":
                begun.pop(key, None)
                del lost[key]
        except (ValueError, TypeError):
            continue
    lost.update(begun)
    return lost


def _locked(fd: int) -> bool:
    """Take the file for this run, as far as the system has locks; they end with the process."""
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


_POLL_S = 0.1
_NOW_AT_LAST = datetime.max.replace(tzinfo=UTC)  # what doesn't say when it was handed in came last


@dataclass(frozen=True, slots=True)
class UngradedFile:
    """A file that waits for a grade, with the cause: the next run tries it again.

    Parameters
    ----------
    student, name, item, reason
    again : bool
        It was ungraded before: perhaps it isn't the machine.
    set_aside : bool
        It has killed the grader each time that it was tried; the next run doesn't try it.
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
    graded, kept : int
        Files graded now, at least in part, and files that an earlier run had graded.
    refused : int
        Files that can't be graded as they are; the problems say why.
    ungraded : tuple of UngradedFile
    problems : tuple of IntakeProblem
        Of the intake, and files that can't be graded as they are.
    left : int
        Files not looked at because the run was stopped.
    interrupted : bool
    seconds : float
    """

    graded: int
    kept: int
    refused: int
    ungraded: tuple[UngradedFile, ...]
    problems: tuple[IntakeProblem, ...]
    left: int
    interrupted: bool
    seconds: float

    @property
    def exit_code(self) -> int:
        """0 everything is graded; 1 something needs a person; 3 something is ungraded; 130 stopped."""
        if self.interrupted:
            return 130
        if self.ungraded:
            return 3
        return 1 if self.problems else 0


# Number of pieces of work → a block whose value is called after each of them.
Progress = Callable[[int], AbstractContextManager[Callable[[], None]]]


def grade_batch(
    intake: IntakeResult,
    *,
    store: Store,
    code: CodeGrader,
    read_code: ReadCode,
    read_text: ReadText,
    open_runner: Callable[[int], Runner],
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
    code : CodeGrader
        Usually :class:`engine.runs.grade_file.CodeExercises`.
    read_code, read_text : callable
        ``engine.intake.read_code_file`` and ``read_text_file``.
    open_runner : callable
        Number of slots → Runner; called only if there is code to run.
    workers : int, optional
        Threads and slots; all cores by default.
    progress : callable
        Number of files that have no grade yet → block whose value is called in this thread after each of
        them: what is there from an earlier run would make an estimate of the time left too bold.
    stop : threading.Event, optional
        When set, no new file is begun. Ctrl-C does the same; a second Ctrl-C doesn't wait.
    notes : Path, optional
        Where it is noted which files are being graded, so that one that gets the grader killed again and
        again (by the kernel, when memory runs out) is set aside; see :mod:`engine.runs.batch`.

    Raises
    ------
    StoreError
        A result can't be kept; what was stored stays.
    SandboxError
        The runner can't be opened; nothing was graded.
    """
    begun = time.monotonic()
    desk = FileGrader(store, code, read_code, read_text, mode)
    tasks: list[_Task] = []
    taken: set[tuple[str, str | None, str]] = set()
    kept = 0
    for student in intake.students:
        for file in student.files:
            at = (student.student, file.item, file.sha256)
            # The same file again is no other attempt: it counts as it came first.
            if at in taken or desk.done(student.student, file):
                kept += 1
            else:
                tasks.append((student.student, file))
                taken.add(at)
    tally = _Tally(kept=kept)
    with closing(InFlight(notes)) as flight:
        interrupted = _grade_all(
            desk, store, tasks, flight, tally, open_runner, workers, progress, stop or threading.Event()
        )
    done = tally.done
    return BatchResult(
        graded=tally.graded,
        kept=tally.kept,
        refused=tally.refused,
        ungraded=tuple(tally.ungraded),
        problems=(*intake.problems, *tally.problems),
        left=len(tasks) - done,
        interrupted=interrupted or done < len(tasks),
        seconds=time.monotonic() - begun,
    )


# A student and a file of theirs.
_Task = tuple[str, HandedFile]


def _key(student: str, file: HandedFile) -> tuple[str, str, str]:
    return student, file.item or "", file.sha256


def _grade_all(
    desk: FileGrader,
    store: Store,
    tasks: list[_Task],
    flight: InFlight,
    tally: _Tally,
    open_runner: Callable[[int], Runner],
    workers: int | None,
    progress: Progress,
    halt: threading.Event,
) -> bool:
    """Grade all files but those that are set aside; return whether Ctrl-C stopped it."""
    rest: list[_Task] = []
    for chain in _chains(tasks):
        behind = False
        for student, file in chain:
            if flight.losses(_key(student, file)) >= MOST_LOSSES:
                tally.add(desk.set_aside(student, file))
                # It isn't read, so which quiz it answers isn't known: any after it may answer the same one.
                behind = file.kind is FileKind.QUIZ
            elif behind:
                tally.add(desk.left_waiting(student, file))
            else:
                rest.append((student, file))
    if not rest:
        return False
    code_files = sum(file.kind is FileKind.CODE for _, file in rest)
    slots = max(1, min(workers or os.cpu_count() or 1, len(rest)))
    with (
        progress(len(rest)) as advance,
        store.bulk(),
        _runner(open_runner, slots if code_files else 0) as runner,
    ):

        def took(result: FileResult) -> None:
            tally.add(result)
            advance()

        def grade(student: str, file: HandedFile) -> FileResult:
            with flight.of(_key(student, file)):
                return desk.grade(student, file, runner)

        calm: list[list[_Task]] = []
        suspect: list[list[_Task]] = []
        for chain in _chains(rest):
            (suspect if any(flight.losses(_key(*task)) for task in chain) else calm).append(chain)
        stopped = _run(grade, calm, slots, halt, took)
        # one after the other: if the grader is killed again, it is plain by which file
        return stopped or _run(grade, suspect, 1, halt, took)


def _chains(tasks: list[_Task]) -> list[list[_Task]]:
    """Return the files that one thread must grade one after the other.

    What an attempt at a quiz earns depends on those before it, and where nothing tells when code was handed
    in, the order of grading does. So a student's quiz files, and the hand-ins of one exercise, go in the
    order in which they were handed in.
    """
    chains: dict[tuple[str, str | None], list[_Task]] = {}
    for student, file in tasks:
        chains.setdefault((student, file.item), []).append((student, file))
    for chain in chains.values():
        chain.sort(key=lambda task: (task[1].handed or _NOW_AT_LAST, task[1].sequence))
    return list(chains.values())


class _Tally:
    def __init__(self, kept: int) -> None:
        self.kept = kept
        self.graded = 0
        self.refused = 0
        self.done = 0
        self.ungraded: list[UngradedFile] = []
        self.problems: list[IntakeProblem] = []

    def add(self, result: FileResult) -> None:
        self.done += 1
        if result.problem is not None:
            self.problems.append(replace(result.problem, known_as=result.file.known_as))
        if result.problem is not None and not (result.problem.partly or result.problem.noted):
            self.refused += 1
        elif result.reason is not None:
            file, again, aside = result.file, result.again, result.set_aside
            self.ungraded.append(
                UngradedFile(result.student, file.name, file.item, result.reason, again, aside)
            )
        elif result.kept:
            self.kept += 1
        else:
            self.graded += 1


@contextmanager
def _runner(open_runner: Callable[[int], Runner], slots: int) -> Iterator[Runner | None]:
    if not slots:
        yield None
        return
    with open_runner(slots) as runner:
        yield runner


def _run(
    grade: Callable[[str, HandedFile], FileResult],
    chains: list[list[_Task]],
    slots: int,
    halt: threading.Event,
    took: Callable[[FileResult], None],
) -> bool:
    """Work through `chains`; return whether Ctrl-C stopped it."""
    todo: queue.SimpleQueue[list[_Task]] = queue.SimpleQueue()
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
        except BaseException as error:
            halt.set()
            results.put(error)
        finally:
            results.put(None)

    threads = [threading.Thread(target=work, name=f"grade-{n}", daemon=True) for n in range(slots)]
    for thread in threads:
        thread.start()
    return _drain(results, slots, halt, took)


def _drain(
    results: queue.SimpleQueue[FileResult | BaseException | None],
    running: int,
    halt: threading.Event,
    took: Callable[[FileResult], None],
) -> bool:
    failure: BaseException | None = None
    with _stop_on_ctrl_c(halt) as interrupted:
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
                took(result)
    if failure is not None:
        raise failure
    return interrupted.is_set()


@contextmanager
def _stop_on_ctrl_c(halt: threading.Event) -> Iterator[threading.Event]:
    """Let the first Ctrl-C set `halt` and the event that is given; a second one doesn't wait.

    A KeyboardInterrupt could strike between taking a result and counting it; a handler can't.
    """
    interrupted = threading.Event()
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
