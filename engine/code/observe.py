"""What student code did on the plan: outcomes turned into arrays that have been checked, or into faults.

Everything that comes back is foreign. Type, dtype, shape and number of bytes are checked here, once,
before any property looks at a number; nothing is broadcast and nothing is rounded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import describe_call
from engine.code.plan import EPS, ExpectedPart, ExpectedResult, InputPlan, PlanCase, remembered
from engine.code.result_kinds import ArrayResult, MisfitError, ReadPart
from engine.model import Verdict
from engine.runner import Call, CallOutcome, CallStatus, ExceptionInfo, WireArray, WireValue

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


_FEWER = re.compile(r"takes (from )?\d[\d to]* positional arguments? but \d+ (was|were) given$")
_RETURNED = "The function returned "  # how the sentences of the sandbox about a value's kind begin


class UnusableError(Exception):
    """A call gave nothing that a property could look at.

    Parameters
    ----------
    verdict : Verdict
    clause : str
        The clause for a public case; holds foreign text, already cleaned.
    blunt : str
        The clause for a hidden case: nothing of the student's own words, which could carry the input.
    """

    def __init__(self, verdict: Verdict, clause: str, blunt: str) -> None:
        super().__init__(clause)
        self.verdict, self.clause, self.blunt = verdict, clause, blunt


@dataclass(frozen=True, slots=True, eq=False)
class CallObservation:
    """One call.

    ``parts`` holds what came back, in float64, where it has the right type, of whatever shapes;
    ``misfit`` says what came back otherwise, ``expected_text`` what should have, where the type doesn't.
    ``modified`` is None where it wasn't asked; ``shared`` says whether writing into the result changes an
    argument, ``reused`` whether it's made of the memory of an earlier result. ``gradients`` is None where
    there are none (numpy, or a result that isn't differentiable); a gradient that is None is one of an
    argument that the result doesn't depend on. ``changed`` is the position of the first argument that the
    call changed.
    """

    status: CallStatus
    parts: tuple[ReadPart, ...] | None = None
    misfit: str | None = None
    exception: ExceptionInfo | None = None
    modified: bool | None = None
    shared: bool = False
    reused: bool = False
    gradients: tuple[Floats | None, ...] | None = None
    expected_text: str | None = None
    changed: int | None = None

    @property
    def takes_fewer(self) -> bool:
        """Whether Python refused the call because the function takes fewer arguments."""
        exception = self.exception
        return (
            exception is not None
            and exception.type == "TypeError"
            and _FEWER.search(exception.text) is not None
        )

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Shape of the first part."""
        return None if self.parts is None else self.parts[0].values.shape


@dataclass(frozen=True, eq=False)
class PlanObservations:
    """All calls of one submission on one plan."""

    plan: InputPlan
    function: str
    library: str
    items: tuple[CallObservation, ...]
    _due: dict[int, ExpectedResult] = field(default_factory=dict, repr=False)

    def __getitem__(self, member: int) -> CallObservation:
        return self.items[member]

    def call(self, member: int, shapes: bool = False) -> str:
        """Return the call on a case as one short expression; with `shapes` arrays stand there by these."""
        args = self.plan.cases[member].args
        key = member, self.function, shapes
        return remembered(self.plan.texts, key, lambda: describe_call(args, self.function, shapes))

    def expected(self, member: int) -> ExpectedResult:
        """Return the reference's result of a case; LookupError for one that must be refused.

        Where a result came in a narrower dtype, what may be lost is that dtype's: the check of the dtype
        reports it, and the laws shouldn't all fail of it too.
        """
        expected = self._due.get(member)
        if expected is not None:
            return expected
        expected, parts = self.plan.cases[member].expected, self.items[member].parts
        if expected is None:
            raise LookupError(f"case {self.plan.cases[member].id} has no expected value")
        pairs = zip(parts or (), expected.parts, strict=parts is not None)
        if any(got.dtype != part.dtype for got, part in pairs):
            expected = replace(expected, parts=tuple(map(_as_narrow_as, expected.parts, parts or ())))
        self._due[member] = expected
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
            text = observation.exception.summary()
            self._unusable(member, Verdict.FAILED, f"raised {text}", _blunt(observation.exception))
        if observation.misfit is not None:
            verdict, blunt = _VERDICTS[CallStatus.UNSUPPORTED]
            self._unusable(member, verdict, f"gave back {observation.misfit}", blunt)
        self._unusable(member, *_VERDICTS.get(observation.status, (Verdict.FAILED, "gave no result")))

    def values(self, member: int, part: int = 0) -> Floats:
        """Return one part in float64, of exactly the expected shape, or raise UnusableError."""
        returned, expected = self.items[member].parts, self.expected(member)
        parts = self.raw(member) if returned is None else [each.values for each in returned]
        got, due = parts[part].shape, expected.parts[part].values.shape
        if got != due:
            text = f"gave back {expected.result.misshapen(part, got, due)}"
            self._unusable(member, Verdict.FAILED, text, f"gave back {expected.result.misshapen_bluntly}")
        return parts[part]

    def raw(self, member: int) -> tuple[Floats, ...]:
        """Return all parts in float64, of whatever shapes, or raise UnusableError."""
        self.returned(member)
        parts = self.items[member].parts
        if parts is None:
            right = self.items[member].expected_text or self.expected(member).result.type_text(self.library)
            text = f"gave back {self.items[member].misfit}, expected {right}"
            self._unusable(member, Verdict.FAILED, text, "gave back a value of another type")
        return tuple(part.values for part in parts)

    def _unusable(self, member: int, verdict: Verdict, text: str, blunt: str | None = None) -> NoReturn:
        raise UnusableError(verdict, f"{self.call(member)} {text}", f"your function {blunt or text}")


def observe(plan: InputPlan, library: str, outcomes: Sequence[CallOutcome]) -> tuple[CallObservation, ...]:
    """Return what was observed on the cases of a plan, in their order."""
    # an outcome that came before is the same object; it is kept beside what it shows, so its id stays its own
    sent = enumerate(zip(plan.cases, plan.sent(library), outcomes, strict=True))
    return tuple(
        remembered(
            plan.seen,
            (place, library, id(outcome)),
            lambda: (outcome, observed(case, call, outcome, library)),  # noqa: B023  called at once
        )[1]
        for place, (case, call, outcome) in sent
    )


def observed(case: PlanCase, call: Call, outcome: CallOutcome, library: str) -> CallObservation:
    """Return what the outcome of a call shows; a leaf that lies about itself is a result of no type."""
    place = None if outcome.arguments is None else _modified(call.args, outcome.arguments)
    modified = None if outcome.arguments is None else place is not None
    if outcome.status is not CallStatus.RETURNED:
        kind = outcome.detail.removeprefix(_RETURNED).rstrip(".") if _tells_kind(outcome) else None
        return CallObservation(outcome.status, misfit=kind, exception=outcome.exception, modified=modified)
    result = ArrayResult() if case.expected is None else case.expected.result
    shapes = [] if case.expected is None else [part.values.shape for part in case.expected.parts]
    try:
        parts = result.read(outcome.value, library, shapes)
    except MisfitError as misfit:
        return CallObservation(
            outcome.status,
            misfit=str(misfit),
            modified=modified,
            shared=outcome.shared,
            expected_text=misfit.expected,
        )
    except (ArithmeticError, MemoryError, TypeError, ValueError):  # nothing but foreign values is read here
        return CallObservation(outcome.status, misfit="a value that can't be read", modified=modified)
    if case.narrow is not None and library == "numpy":
        # numpy has no such dtype: float32 went in, so float32 is right and stands for the narrow one
        parts = tuple(replace(part, dtype=case.narrow) if part.dtype == "float32" else part for part in parts)
    gradients = _gradients(outcome.gradients, case) if case.cotangents is not None else None
    return CallObservation(
        outcome.status,
        parts,
        modified=modified,
        shared=outcome.shared,
        reused=outcome.reused,
        gradients=gradients,
        changed=place,
    )


def _as_narrow_as(part: ExpectedPart, got: ReadPart) -> ExpectedPart:
    # the check of the dtype reports the loss; the values can't be nearer than that dtype allows
    if part.relative <= 0 or EPS.get(got.dtype, 0.0) <= EPS.get(part.dtype, 1.0):
        return part
    return part.widened(got.dtype, part.dtype)


def _tells_kind(outcome: CallOutcome) -> bool:
    return outcome.status is CallStatus.UNSUPPORTED and outcome.detail.startswith(_RETURNED)


def _gradients(gradients: tuple[WireValue, ...] | None, case: PlanCase) -> tuple[Floats | None, ...] | None:
    # whatever isn't an array becomes None, which never equals a number
    if gradients is None:
        return None
    due = None if case.expected is None else case.expected.gradients
    shapes = [() if part is None else part.values.shape for part in due or ()]
    arrays: list[Floats | None] = []
    for place, gradient in enumerate(gradients):
        try:
            arrays.append(ArrayResult().read(gradient, "torch", shapes[place : place + 1])[0].values)
        except MisfitError:
            arrays.append(None)
    return tuple(arrays)


def _modified(before: Sequence[WireValue], after: Sequence[WireValue]) -> int | None:
    places = (place for place, pair in enumerate(zip(before, after, strict=False)) if _changed(*pair))
    return next(places, None if len(after) == len(before) else 0)


def _changed(before: WireValue, after: WireValue) -> bool:
    # how arrays lie in memory is no matter, only what they hold
    if isinstance(before, dict):
        if not isinstance(after, dict) or set(after) != set(before):
            return True
        return any(_changed(value, after[name]) for name, value in before.items())
    if not isinstance(before, WireArray) or before is after:
        return False
    return not isinstance(after, WireArray) or (before.dtype, before.shape, before.data) != (
        after.dtype,
        after.shape,
        after.data,
    )


_TELLABLE = {
    "ArithmeticError", "AssertionError", "AttributeError", "AxisError", "FloatingPointError", "ImportError",
    "IndexError", "KeyError", "LinAlgError", "MemoryError", "ModuleNotFoundError", "NameError",
    "NotImplementedError", "OverflowError", "PermissionError", "RecursionError", "RuntimeError",
    "SystemExit", "TypeError", "UnboundLocalError", "ValueError", "ZeroDivisionError",
}  # fmt: skip


def _blunt(exception: ExceptionInfo) -> str:
    # a class name can be made up to carry a hidden input, so only known ones are named
    return f"raised {exception.type}" if exception.type in _TELLABLE else "raised an exception"
