"""Programs of an author, tried on plans: which checks fail, judged each on its own?

Those that a person wrote run in this process. A generated one may loop for ever or fill the memory, so those
run in children with a limit on processor time and memory, from which nothing comes back but the names of
checks. A child that was stopped is replaced, and what stopped it is a verdict on the program it was trying.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import EngineError
from engine.items import ProblemSpec
from engine.model import Check, Verdict
from engine.parallel import usable_cores

if TYPE_CHECKING:
    from engine.code.exercise import CodeExercise
    from engine.code.observe import PlanObservations
    from engine.code.plan import InputPlan

STOPPED = "stopped"
"""Stands for a check where a program was stopped: it took too long or too much memory, or crashed."""
# Of a solution's own time; what takes longer only loops. Not less than a second, for a cold start.
_TIMES_SOLUTION = 20.0
_LEAST_S = 1.0
# what so few checks notice may be noticed by chance, so it is tried on the next plan as well
_FEW = 2
_WALL = 10.0  # of a limit of processor time, for what sleeps or for a machine that is busy elsewhere
_START_S = 120.0  # importing torch from a cold disk
_MEMORY = 2**30


def checks_of(exercise: CodeExercise, plan: InputPlan, source: str, function: str) -> tuple[Check, ...]:
    """Return the checks of a trusted program as its report would show them."""
    import numpy as np

    from engine.code.grade import judge_all

    with np.errstate(all="ignore"):  # solutions may overflow where that is harmless
        observations = _observed(exercise, plan, source, function)
        return (observations,) if isinstance(observations, Check) else judge_all(exercise, observations)


def killers(exercise: CodeExercise, plan: InputPlan, source: str, function: str) -> set[str]:
    """Return the checks that fail for a program, each judged on its own: a skipped check kills nothing."""
    import numpy as np

    from engine.code.grade import judge_apart

    with np.errstate(all="ignore"):  # mutants overflow on purpose
        observations = _observed(exercise, plan, source, function)
        if isinstance(observations, Check):
            return {observations.id}
        verdicts = judge_apart(exercise, observations)
    return {name for name, verdict in verdicts.items() if verdict not in (Verdict.PASSED, Verdict.SKIPPED)}


def _observed(
    exercise: CodeExercise, plan: InputPlan, source: str, function: str
) -> PlanObservations | Check:
    """Run trusted source on a plan; return the failed check of loading where it doesn't load.

    A statement that fails while loading costs a student nothing by itself; in these files it is a fault.
    """
    from engine.code.explain.in_process import TrustedRunner
    from engine.code.grade import judge_load
    from engine.code.observe import PlanObservations, observe
    from engine.code.source import library_of
    from engine.runner import CallOutcome, CallStatus, Job

    library = library_of(source)
    with TrustedRunner() as runner:
        result = runner.run(Job(source, "solution.py", plan.calls(function, library), exercise.limits))
    failed = [CallOutcome(CallStatus.RAISED, exception=error) for error in result.failed[:1]]
    loaded = judge_load(failed[0] if failed else result.load)
    if loaded.verdict is not Verdict.PASSED:
        return loaded
    return PlanObservations(plan, function, library, observe(plan, library, result.outcomes))


@dataclass(frozen=True, slots=True)
class TrialJob:
    """What a child needs to try programs of one exercise.

    Parameters
    ----------
    spec : ProblemSpec
    folder : Path
        Where the exercise's files are.
    version : str
    seeds : tuple of bytes
        A plan is frozen from each.
    """

    spec: ProblemSpec
    folder: Path
    version: str
    seeds: tuple[bytes, ...]

    def load(self) -> tuple[CodeExercise, list[InputPlan]]:
        """Return the exercise and its plans."""
        from engine.code import freeze_plan, load_exercise

        exercise = load_exercise(self.spec, self.folder, self.version)
        return exercise, [freeze_plan(exercise, seed) for seed in self.seeds]


Kills = tuple[frozenset[str], ...]
"""For each plan that a program was tried on, the checks that failed; none follows a plan that decides."""


def try_programs(
    job: TrialJob,
    sources: Sequence[str],
    *,
    deadline: float,
    progress: Callable[[], None] = lambda: None,
    children: int | None = None,
) -> Iterator[tuple[int, Kills]]:
    """Try programs on every plan, in children; yield each one's place and what killed it as it is known.

    Parameters
    ----------
    job : TrialJob
    sources : sequence of str
        Each defines the graded function.
    deadline : float
        Of :func:`time.monotonic`: no program is begun after it.
    progress : callable
        Called for each program.
    children : int, optional
        How many at a time; as many as there are cores, if left out.

    Raises
    ------
    EngineError
        A solution doesn't pass its own checks in a child, so nothing can be learned there.
    """
    waiting = list(range(len(sources)))[::-1]
    pool = [_Child(job) for _ in range(max(1, min(children or usable_cores(), len(sources))))]
    try:
        while True:
            for child in pool:
                if child.is_free and waiting and time.monotonic() < deadline:
                    place = waiting.pop()
                    child.begin(place, sources[place])
            busy = [child for child in pool if child.place is not None]
            if not busy:
                return
            wait(
                [child.pipe for child in busy],
                timeout=max(0.0, min(child.ends for child in busy) - time.monotonic()),
            )
            for child in busy:
                kills = child.answer()
                if kills is not None:
                    assert child.place is not None
                    yield child.place, kills
                    child.place = None
                    progress()
    finally:
        for child in pool:
            child.close()


class _Child:
    """A process that tries one program after the other; a new one takes its place where it ends."""

    def __init__(self, job: TrialJob) -> None:
        self._job = job
        self.place: int | None = None
        self.ends = 0.0
        self._start()

    def _start(self) -> None:
        context: Any = multiprocessing.get_context(_start_method())
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._job), daemon=True)
        self._process.start()
        theirs.close()
        self._limit_s: float | None = None

    @property
    def is_free(self) -> bool:
        return self.place is None

    def begin(self, place: int, source: str) -> None:
        self._source, self.place = source, place
        self.pipe.send(source)
        self._set_end()

    def _set_end(self) -> None:
        self.ends = time.monotonic() + (_START_S if self._limit_s is None else _WALL * self._limit_s)

    def answer(self) -> Kills | None:
        """Return what killed the program, or None as long as that isn't known."""
        try:
            while self.pipe.poll():
                reply = self.pipe.recv()
                if isinstance(reply, str):
                    raise EngineError("generated mutants can't be tried", got=reply)
                if not isinstance(reply, float):
                    return tuple(frozenset(names) for names in reply)
                self._limit_s = reply
                self._set_end()
        except (EOFError, ConnectionError):
            if self._limit_s is None:
                raise EngineError("a process for generated mutants ended before it could begin") from None
            return self._replace()
        return self._replace() if time.monotonic() >= self.ends else None

    def _replace(self) -> Kills:
        self.close()
        self._start()
        return (frozenset({STOPPED}),)

    def close(self) -> None:
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _start_method() -> str:
    """Return ``"fork"`` where that is safe: a fork has torch loaded already, which takes seconds."""
    if "fork" not in multiprocessing.get_all_start_methods():
        return "spawn"
    torch = sys.modules.get("torch")
    # autograd can't be used in a fork once it has threads, which it has for GPUs only
    return "spawn" if torch is not None and torch.cuda.is_available() else "fork"


def _serve(pipe: Connection, job: TrialJob) -> None:
    """Try programs until there are no more; runs in the child."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command, which then ends this process
    nowhere = Path(os.devnull).open("r+", encoding="utf-8")  # noqa: SIM115 - programs may read and print
    for stream in (0, 1, 2):
        os.dup2(nowhere.fileno(), stream)
    sys.stdin = sys.stdout = sys.stderr = nowhere
    # there is a child for each core: more threads only wait for one another
    os.environ["OMP_NUM_THREADS"] = "1"
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)
    try:
        exercise, plans = job.load()
        slowest_s = 0.0
        for name, source in exercise.solutions.items():
            for plan in plans:
                if failed := killers(exercise, plan, source, exercise.function):
                    pipe.send(f"{name} doesn't pass {', '.join(sorted(failed))} itself")
                    return
            start = time.process_time()  # once more: at first, torch may have been loaded
            for plan in plans:
                killers(exercise, plan, source, exercise.function)
            slowest_s = max(slowest_s, time.process_time() - start)
        limit_s = min(_TIMES_SOLUTION * slowest_s + _LEAST_S, exercise.limits.wall_s)
        _limit_memory()
        pipe.send(limit_s)
        while True:
            source = pipe.recv()
            _limit_time(limit_s)
            pipe.send(_tried(exercise, plans, source))
    except (EOFError, ConnectionError, KeyboardInterrupt):
        return
    except Exception as error:
        with contextlib.suppress(OSError):
            pipe.send(f"{type(error).__name__}: {error}")


def _tried(exercise: CodeExercise, plans: Sequence[InputPlan], source: str) -> list[list[str]]:
    kills: list[list[str]] = []
    for plan in plans:
        try:
            failed = killers(exercise, plan, source, exercise.function)
        except MemoryError:
            failed = {STOPPED}
        kills.append(sorted(failed))
        if not failed or len(failed) > _FEW or STOPPED in failed:
            break
    return kills


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        size = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # what is stopped leaves no file behind
        resource.setrlimit(resource.RLIMIT_AS, (size + _MEMORY, resource.RLIM_INFINITY))


def _limit_time(seconds: float) -> None:
    # by the process's own clock: on a busy machine a right program must not look as if it looped
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        used = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(used + seconds) + 1, resource.RLIM_INFINITY))
