"""The protocol through which grading runs student code.

A :class:`Runner` turns a :class:`Job` into a :class:`RunResult`; a sandbox, a GPU
worker or a test stands behind it.  Nothing that comes back is believed but the value
tree, and that only after its shape and dtype have been checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import TracebackType
from typing import Any, Protocol, Self

from engine.errors import UsageError
from engine.model import GradeReport, Mode
from engine.text.words import clean_line

# None, bool, int, float, str, list, tuple, dict with str keys, Leaf, StepFunction; nested.
WireValue = Any


@dataclass(frozen=True, slots=True)
class WireArray:
    """An array on the wire.

    Parameters
    ----------
    library : {"numpy", "torch"}
        What it is in the child.
    dtype : str
        ``"float32"``, ``"bfloat16"``, ``"bool"`` … without the library's prefix.
    shape : tuple of int
    data : bytes
        Little-endian, C order, ``prod(shape) * itemsize`` long: the decoder checks it.
    contiguous, writeable : bool
        How the child lays an input out (False gives a strided view, a read-only array).  There is no
        read-only tensor, so a torch input is always writeable; an array without axes has only one layout.
    """

    library: str
    dtype: str
    shape: tuple[int, ...]
    data: bytes
    contiguous: bool = True
    writeable: bool = True


@dataclass(frozen=True, slots=True)
class StepFunction:
    """A decoder's ``step(y, s) -> (P, s_new)`` as data: in the child it is a function.

    Parameters
    ----------
    name : str
    tokens : WireArray
        Sequences of tokens fed after the first one, int64, (sequences, longest), filled up with -1.
    chances : WireArray
        Probabilities after each of them, (sequences + 1, tokens); the last row answers all others.
    """

    name: str
    tokens: WireArray
    chances: WireArray


@dataclass(frozen=True, slots=True)
class ExceptionInfo:
    """An exception of student code.

    Parameters
    ----------
    type, text : str
        Class name and text (cut to 2,000 characters): foreign.
    line : int, optional
        Of the innermost frame in the student's own files.
    file : str, optional
        The file of `Job.modules` that `line` counts in, for example ``"helpers.py"``; None: the
        submission itself.
    """

    type: str
    text: str
    line: int | None = None
    file: str | None = None

    def summary(self) -> str:
        """Return class, text and line, cleaned and cut to what fits a sentence."""
        name, text = clean_line(self.type, 60), clean_line(self.text, 160)
        file = "" if self.file is None else f"{clean_line(self.file, 60)}, "
        line = "" if self.line is None else f" ({file}line {int(self.line)})"
        return f"{name}: {text}{line}" if text else f"{name}{line}"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on one submission; the grader's own deadline is ``wall_s`` plus slack."""

    wall_s: float = 10.0
    call_s: float = 2.0
    memory_mib: int = 1536
    output_bytes: int = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Call:
    """One call.

    Parameters
    ----------
    function : str
    args, kwargs
        Wire values; arrays arrive fresh for every call.
    return_arguments : bool
        The arguments come back as they are afterwards, those of ``kwargs`` last.  A runner that shares memory
        with its processes looks at the arrays itself, and once more at the end: see
        ``docs/security-model.md``.
    overwrite_result : bool
        After result and arguments have been encoded, the arrays of the result are filled with other
        numbers, which shows whether it is a view of an argument, or an array that the function keeps for
        another call. Not done where there are cotangents.
    cotangents : tuple of (WireArray or None), optional
        Asks for gradients.  One torch leaf for each array that the function returns (those in lists,
        tuples and dicts too, in their order), of its shape; None leaves that array out.  Every floating
        tensor among the arguments then arrives with ``requires_grad``, so writing into it raises.
    """

    function: str
    args: tuple[WireValue, ...] = ()
    kwargs: Mapping[str, WireValue] = field(default_factory=dict)
    return_arguments: bool = False
    overwrite_result: bool = False
    cotangents: tuple[WireArray | None, ...] | None = None


class LastingCalls(tuple[Call, ...]):
    """Calls that the programs of a whole class get: what a runner makes of them is kept in ``made``."""

    made: dict[Any, Any]

    def __new__(cls, calls: Iterable[Call]) -> Self:
        """Return the calls, of which nothing is made yet."""
        lasting = super().__new__(cls, calls)
        lasting.made = {}
        return lasting


@dataclass(frozen=True, slots=True)
class Job:
    """One submission and the whole plan of calls, sent in one message.

    If one of the first ``essential`` calls is lost (time-out, memory, crash), nothing that comes after
    it is needed: a runner may leave it ``NOT_RUN`` instead of going on in a new process.

    ``modules`` are the files handed in beside it, top-level module name to source; absolute and
    relative imports find them after the standard library and the packages that the runner offers, so
    a file of a library's name is never used.  One with the submission's own source is the submission.
    """

    source: str
    filename: str
    calls: tuple[Call, ...]
    limits: Limits = Limits()
    functions: tuple[str, ...] = ()
    essential: int = 0
    modules: Mapping[str, str] = field(default_factory=dict)


class CallStatus(StrEnum):
    """How one call (or loading the file) ended."""

    RETURNED = "returned"
    RAISED = "raised"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"
    TOO_LARGE = "too_large"
    UNSUPPORTED = "unsupported"
    PROTOCOL_VIOLATION = "protocol_violation"
    NOT_RUN = "not_run"


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """Outcome of one call.

    Parameters
    ----------
    status : CallStatus
    value : wire value
        What the function returned.
    exception : ExceptionInfo or None
        What it raised.
    arguments : tuple of wire values, optional
        The arguments after the call, where they were asked for.
    seconds : float
        As the child measured it; of a reply that other programs gave too, what it took the first of them.
    detail : str
        A sentence of ours, never foreign text.
    gradients : tuple of (WireArray or None), optional
        Gradients of the sum of output times cotangent, one for each floating tensor among the arguments
        in their order (args, then kwargs; those in lists, tuples and dicts too); None for one that isn't
        used.  Empty: the function returned, but differentiating it failed.  None: they weren't asked for,
        or there is nothing to differentiate (numpy, no output with a graph, outputs of other number or
        shape than the cotangents).
    shared : bool
        Whether writing into the result changed an argument, where ``overwrite_result`` was asked.
    reused : bool
        Whether the result is made of the memory of an earlier one, where that was asked.
    """

    status: CallStatus
    value: WireValue = None
    exception: ExceptionInfo | None = None
    arguments: tuple[WireValue, ...] | None = None
    seconds: float = 0.0
    detail: str = ""
    gradients: tuple[WireValue, ...] | None = None
    shared: bool = False
    reused: bool = False


@dataclass(frozen=True, slots=True)
class RunResult:
    """Everything that one submission gave back.

    ``load`` is the outcome of importing the file; ``missing`` names functions of ``Job.functions`` that the
    file doesn't define; ``output`` is the text that it printed (foreign, cut); ``failed`` holds the
    exceptions of the first statements that failed while the others were loaded; ``library`` is what the
    process had loaded for student code, ``"torch"`` or ``"numpy"`` alone, where the runner knows; ``calls_s``
    are the seconds of all calls together, as the child measured them.
    """

    load: CallOutcome
    outcomes: tuple[CallOutcome, ...]
    missing: tuple[str, ...] = ()
    output: str = ""
    tier: str = ""
    failed: tuple[ExceptionInfo, ...] = ()
    library: str = ""
    calls_s: float = 0.0


@dataclass(frozen=True, slots=True)
class SandboxOptions:
    """Which sandbox to open for student code: ``--tier``, ``--unsafe-local`` and ``--device``.

    Defined here rather than in `engine.sandbox.tiers` because commands build it from their options before
    they know whether any code will run, and importing the sandbox takes 60 ms.

    Parameters
    ----------
    tier : {"T1", "T2", "T3"}, optional
        Demand this tier; otherwise the strongest that the machine can give.
    unsafe_local : bool
        Allow T3 and a GPU, which don't stop hostile code: for practice with one's own code.
    device : {"cpu", "cuda"}
        Where tensors are.
    """

    tier: str | None = None
    unsafe_local: bool = False
    device: str = "cpu"

    def check(self, mode: Mode) -> None:
        """Raise a :class:`UsageError` where marks are asked of a sandbox that gives none."""
        if self.device != "cpu" and self.tier == "T1":
            raise UsageError("T1 isn't possible with a GPU", expected="--tier T2 or T3, or no --tier")
        if mode is not Mode.MARKS or self.unsafe_local:
            return
        if self.device != "cpu":
            raise UsageError(
                f"--device {self.device} gives no marks: the code can reach the GPU's driver",
                next_step="leave --device out, or add --unsafe-local for code that you trust",
            )
        if self.tier == "T3":
            raise UsageError("T3 gives no marks", next_step="add --unsafe-local for code that you trust")

    def add_device_note(self, report: GradeReport) -> GradeReport:
        """Return a report with a note where it was graded on the CPU though a GPU was asked for.

        Code without torch tensors can't use one; its tier says where it ran.
        """
        if self.device == "cpu" or not report.tier or report.tier.endswith(self.device):
            return report
        note = f"Nothing here is a torch tensor, so it was graded on the CPU, at {report.tier}."
        return replace(report, notes=(*report.notes, note))


class Runner(Protocol):
    """Runs jobs; safe to call from several threads.

    ``run`` raises :class:`engine.errors.EngineError` when the machine or the runner is at
    fault, and never for what the student's code does.  A class that names it as its base closes at the end
    of a ``with``.
    """

    @property
    def tier(self) -> str:
        """``"T1"``, ``"T2"`` or ``"T3"``."""
        ...

    def run(self, job: Job) -> RunResult:
        """Run one job to its end or to its limits; wait for a free slot first.

        Raises
        ------
        RunnerLostError
            If the process was lost for a cause that isn't the code's own.
        SandboxError
            If a process can't be started or a layer failed: no student code ran.
        """
        ...

    def close(self) -> None:
        """Give back all processes, if there are any."""
        return

    # written here, so that a runner that names this class as its base needn't repeat them
    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class WrappingRunner(Runner):
    """A runner before another one, which the caller closes unless a subclass does.

    Parameters
    ----------
    runner : Runner
        Runs the jobs.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    @property
    def tier(self) -> str:
        """The tier of the runner."""
        return self._runner.tier


class EchoingRunner(WrappingRunner):
    """A runner that keeps what a submission printed when it was run first.

    For practice only: what is printed can hold hidden inputs.

    Parameters
    ----------
    runner : Runner
        Runs the jobs.
    """

    def __init__(self, runner: Runner) -> None:
        super().__init__(runner)
        self._source: str | None = None
        self.printed = ""

    def listen(self, source: str) -> None:
        """Forget earlier output and wait for the first job with this source.

        Mutants run in the same sandbox, and later jobs of the submission search a counterexample: what they
        print would only confuse.
        """
        self._source, self.printed = source, ""

    def run(self, job: Job) -> RunResult:
        """Run one job; keep its output if it is the one that :meth:`listen` waits for."""
        result = self._runner.run(job)
        if self._source is not None and job.source == self._source:
            self._source, self.printed = None, result.output
        return result

    def close(self) -> None:
        """Close the runner."""
        self._runner.close()
