"""What student code did on the plan: outcomes turned into arrays that have been checked, or into faults.

Everything that comes back is foreign. Type, dtype, shape and number of bytes are checked here, once,
before any property looks at a number; nothing is broadcast and nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from engine.code.case import Case, Expected, Plan
from engine.code.leaves import LeafError, array_of
from engine.code.show import described, exception_text, shape_text
from engine.foreign import clean_line
from engine.model import Verdict
from engine.runner import CallOutcome, CallStatus, ExceptionInfo, Leaf, WireValue

__all__ = ["Observation", "Observations", "UnusableError", "observe", "observed"]

Floats = NDArray[np.float64]

_VERDICTS = {
    CallStatus.TIMED_OUT: (Verdict.TIMED_OUT, "didn't finish in time"),
    CallStatus.OUT_OF_MEMORY: (Verdict.OUT_OF_MEMORY, "needed more memory than allowed"),
    CallStatus.CRASHED: (Verdict.CRASHED, "crashed the process"),
    CallStatus.TOO_LARGE: (Verdict.FAILED, "gave back a value that is far too large"),
    CallStatus.UNSUPPORTED: (Verdict.FAILED, "gave back something that isn't an array"),
    CallStatus.PROTOCOL_VIOLATION: (Verdict.FAILED, "gave no proper result"),
    CallStatus.NOT_RUN: (Verdict.SKIPPED, "wasn't run, because an earlier call ended the process"),
}


class UnusableError(Exception):
    """A call gave nothing that a property could look at.

    Parameters
    ----------
    verdict : Verdict
    told : str
        The clause for a public case; holds foreign text, already cleaned.
    blunt : str
        The clause for a hidden case: nothing of the student's own words, which could carry the input.
    """

    def __init__(self, verdict: Verdict, told: str, blunt: str) -> None:
        super().__init__(told)
        self.verdict, self.told, self.blunt = verdict, told, blunt


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """One call.

    ``array`` holds the values in float64 where the call gave a real array, of whatever shape;
    ``type_name`` says what it gave otherwise. ``modified`` is None where it wasn't asked.
    """

    status: CallStatus
    array: Floats | None = None
    dtype: str | None = None
    type_name: str | None = None
    exception: ExceptionInfo | None = None
    modified: bool | None = None

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Shape of the array that came back, None if none did."""
        return None if self.array is None else self.array.shape


@dataclass(frozen=True, eq=False)
class Observations:
    """All calls of one submission on one plan."""

    plan: Plan
    function: str
    library: str
    items: tuple[Observation, ...]

    def __getitem__(self, member: int) -> Observation:
        return self.items[member]

    def expected(self, member: int) -> Expected:
        """Return the reference's result of a case; LookupError for one that must be refused."""
        expected = self.plan.cases[member].expected
        if expected is None:
            raise LookupError(f"case {self.plan.cases[member].id} has no expected value")
        return expected

    def not_lost(self, member: int) -> None:
        """Raise UnusableError unless the call ended by itself, with a result or with an exception."""
        status = self.items[member].status
        if status in _VERDICTS and status is not CallStatus.UNSUPPORTED:
            self._unusable(member, *_VERDICTS[status])

    def returned(self, member: int) -> None:
        """Raise UnusableError unless the call returned a value."""
        observation = self.items[member]
        if observation.status is CallStatus.RETURNED:
            return
        if observation.exception is not None:
            told = exception_text(observation.exception)
            self._unusable(member, Verdict.FAILED, f"raised {told}", _blunt(observation.exception))
        self._unusable(member, *_VERDICTS.get(observation.status, (Verdict.FAILED, "gave no result")))

    def values(self, member: int) -> Floats:
        """Return the values of a call in float64, of exactly the expected shape, or raise UnusableError."""
        self.returned(member)
        observation, wanted = self.items[member], self.expected(member).values.shape
        if observation.array is None:
            right = "a numpy array" if self.library == "numpy" else "a torch tensor"
            self._unusable(member, Verdict.FAILED, f"gave back {observation.type_name}, expected {right}")
        if observation.array.shape != wanted:
            got = shape_text(observation.array.shape)
            told = f"gave back shape {got}, expected {shape_text(wanted)}"
            self._unusable(member, Verdict.FAILED, told, "gave back a wrong shape")
        return observation.array

    def _unusable(self, member: int, verdict: Verdict, told: str, blunt: str | None = None) -> NoReturn:
        call = described(self.plan, member, self.function)
        raise UnusableError(verdict, f"{call} {told}", f"your function {blunt or told}")


def observe(
    plan: Plan, library: str, outcomes: Sequence[CallOutcome], first: int = 0
) -> tuple[Observation, ...]:
    """Return what was observed on the cases from `first` on, in their order."""
    pairs = zip(plan.cases[first:], outcomes, strict=True)
    return tuple(observed(case, outcome, library) for case, outcome in pairs)


def observed(case: Case, outcome: CallOutcome, library: str) -> Observation:
    """Return what one outcome shows; a leaf that lies about itself is a result of no type."""
    modified = None if outcome.arguments is None else _modified(case, outcome.arguments)
    if outcome.status is not CallStatus.RETURNED:
        return Observation(outcome.status, exception=outcome.exception, modified=modified)
    value = outcome.value
    if not isinstance(value, Leaf):
        return Observation(outcome.status, type_name=_type_name(value), modified=modified)
    if value.library != library:
        name = "a torch tensor" if value.library == "torch" else "a numpy array"
        return Observation(outcome.status, type_name=name, modified=modified)
    try:
        array = array_of(value)
    except LeafError:
        return Observation(outcome.status, type_name="an array of no number type", modified=modified)
    if np.iscomplexobj(array):
        return Observation(outcome.status, type_name="an array of complex numbers", modified=modified)
    wide = array.astype(np.float64)
    return Observation(outcome.status, wide, value.dtype, modified=modified)


def _modified(case: Case, after: tuple[WireValue, ...]) -> bool:
    if len(after) != len(case.args):
        return True
    return any(
        isinstance(before, np.ndarray)
        and not (
            isinstance(now, Leaf)
            and now.shape == before.shape
            and now.dtype == before.dtype.name
            and now.data == before.tobytes()
        )
        for before, now in zip(case.args, after, strict=True)
    )


def _type_name(value: WireValue) -> str:
    if value is None:
        return "None (is a return missing?)"
    name = clean_line(type(value).__name__, 40)
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


_TELLABLE = {
    "ArithmeticError", "AssertionError", "AttributeError", "AxisError", "FloatingPointError", "ImportError",
    "IndexError", "KeyError", "LinAlgError", "MemoryError", "ModuleNotFoundError", "NameError",
    "NotImplementedError", "OverflowError", "PermissionError", "RecursionError", "RuntimeError",
    "SystemExit", "TypeError", "UnboundLocalError", "ValueError", "ZeroDivisionError",
}  # fmt: skip


def _blunt(exception: ExceptionInfo) -> str:
    """A class name can be made up to carry a hidden input, so only known ones are told."""
    return f"raised {exception.type}" if exception.type in _TELLABLE else "raised an exception"
