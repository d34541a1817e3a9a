"""Gathers what the children of one job gave back, and decides whether another child is worth it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from engine.runner import Call, CallOutcome, CallStatus, ExceptionInfo, Job, Leaf, RunResult, WireValue
from engine.sandbox.dialogue import Dialogue
from engine.sandbox.inputs import EncodedPlan
from engine.sandbox.inside.wire import MAX_JOB_NODES
from engine.sandbox.text import clean

__all__ = ["Results", "has_tensors"]

_MAX_CHILDREN = 16
_OUTPUT_CHARACTERS = 20_000
_NOT_LOADED = CallOutcome(CallStatus.NOT_RUN, detail="The file could not be loaded.")
_NO_TIME = CallOutcome(CallStatus.NOT_RUN, detail="The time for the whole submission was used up before.")
_NOTHING_WITHOUT = CallOutcome(CallStatus.NOT_RUN, detail="An earlier call that all others need was lost.")
_MISFIT = CallOutcome(
    CallStatus.PROTOCOL_VIOLATION, detail="The arguments or gradients that came back are others."
)
_FLOATING = frozenset({"float16", "bfloat16", "float32", "float64"})
_TOO_MANY = CallOutcome(CallStatus.NOT_RUN, detail="Too many earlier calls ended the process.")


class Results:
    """The results of one job so far.

    Parameters
    ----------
    job : Job
    tier : str
    """

    def __init__(self, job: Job, tier: str) -> None:
        self._job = job
        self._tier = tier
        self._outcomes: list[CallOutcome | None] = [None] * len(job.calls)
        self._load: CallOutcome | None = None
        self._missing: tuple[str, ...] = ()
        self._failed: tuple[ExceptionInfo, ...] = ()
        self._children = 0
        self._first: int | None = 0
        self._rest = _NO_TIME
        self.bytes_left = job.limits.output_bytes
        self.nodes_left = MAX_JOB_NODES

    def next_call(self, left_s: float) -> int | None:
        """Return the call with which the next child begins, None when there is nothing left to do."""
        if self._first is None or (self._children and self._first >= len(self._outcomes)):
            return None
        if self._children and left_s <= 0:
            self._rest = _NO_TIME
            return None
        if self._children >= _MAX_CHILDREN:
            self._rest = _TOO_MANY
            return None
        self._children += 1
        return self._first

    def violate(self, outcome: CallOutcome) -> None:
        """Let nothing count: a frame was forged."""
        self._load = self._load or outcome
        self._outcomes = [outcome] * len(self._outcomes)
        self._first = None

    def merge(
        self,
        dialogue: Dialogue,
        end: CallOutcome | None,
        plan: EncodedPlan | None = None,
        changed: Mapping[int, bytes] = MappingProxyType({}),
    ) -> None:
        """Take over what one child gave back.

        Parameters
        ----------
        dialogue : Dialogue
        end : CallOutcome or None
            What its end says about the call it was in; None if it came to its natural end.
        plan : EncodedPlan, optional
            Needed where anything changed.
        changed : mapping of int to bytes
            The calls after which the grader itself saw other arrays than before, and what it saw.
        """
        for index, outcome in dialogue.outcomes.items():
            call = self._job.calls[index]
            if not _fits(outcome, call):
                outcome = _MISFIT
            elif plan is not None and index in changed and outcome.arguments is not None:
                outcome = _corrected(outcome, call, plan, index, changed[index])
            outcome = self._placed(outcome)
            self._outcomes[index] = outcome
            self.bytes_left -= _size(outcome)
        self.nodes_left -= dialogue.nodes
        load = dialogue.load or end
        if self._load is None:
            self._load = load if load is None else self._placed(load)
            self._missing = tuple(name for name in self._job.functions if name in dialogue.missing)
            self._failed = tuple(map(self._own_place, dialogue.failed))
        if load is None or load.status is not CallStatus.RETURNED:
            self._rest = _NOT_LOADED
            self._first = None
        elif end is None:
            self._first = None
        else:
            self._first = self._put(dialogue.next, end)

    def _placed(self, outcome: CallOutcome) -> CallOutcome:
        """Return the outcome with a place in files that were handed in only: the rest is made up."""
        if outcome.exception is None:
            return outcome
        return replace(outcome, exception=self._own_place(outcome.exception))

    def _own_place(self, told: ExceptionInfo) -> ExceptionInfo:
        if told.file is None or told.file.removesuffix(".py") in self._job.modules:
            return told
        return replace(told, file=None, line=None)

    def _put(self, index: int, end: CallOutcome) -> int | None:
        """Note how call `index` ended; return the call to go on with, None where no other is worth it."""
        if index < len(self._outcomes):
            self._outcomes[index] = end
        if index < self._job.essential:
            self._rest = _NOTHING_WITHOUT
            return None
        return index + 1

    def finish(self, printed: bytes) -> RunResult:
        """Return the result; what was never reached is marked as not run."""
        load = self._load or _NO_TIME
        return RunResult(
            load=load,
            outcomes=tuple(outcome or self._rest for outcome in self._outcomes),
            missing=self._missing,
            failed=self._failed,
            output=clean(printed.decode("utf-8", "replace"), _OUTPUT_CHARACTERS),
            tier=self._tier,
        )


def _corrected(outcome: CallOutcome, call: Call, plan: EncodedPlan, index: int, data: bytes) -> CallOutcome:
    """Put arguments that the grader saw changed in the place of what the child said of them."""
    span = plan.spans[index]
    before = span.arguments(call, plan.memory[span.start : span.end])
    after = span.arguments(call, data)
    triples = zip(before, outcome.arguments or (), after, strict=True)
    return replace(outcome, arguments=tuple(said if now == was else now for was, said, now in triples))


def _fits(outcome: CallOutcome, call: Call) -> bool:
    """Tell whether as many arguments and gradients came back as were asked for."""
    sent = [*call.args, *call.kwargs.values()]
    if outcome.status is CallStatus.RETURNED and call.return_arguments and outcome.arguments is None:
        return False
    if outcome.arguments is not None and not (call.return_arguments and len(outcome.arguments) == len(sent)):
        return False
    if not outcome.gradients:  # none, or those of a function that can't be differentiated
        return outcome.gradients is None or call.cotangents is not None
    inputs = sum(leaf.library == "torch" and leaf.dtype in _FLOATING for leaf in _leaves_in(sent))
    return call.cotangents is not None and len(outcome.gradients) == inputs


def _size(outcome: CallOutcome) -> int:
    """Return the bytes of the leaves of an outcome."""
    parts = [outcome.value, *(outcome.arguments or ()), *(outcome.gradients or ())]
    return sum(len(leaf.data) for leaf in _leaves_in(parts))


def _leaves_in(values: list[WireValue]) -> Iterator[Leaf]:
    """Yield the arrays of a tree, in no certain order."""
    pending = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, (list, tuple)):
            pending.extend(value)
        elif isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, Leaf):
            yield value


def has_tensors(job: Job) -> bool:
    """Return whether any argument of a job's calls is a torch tensor."""
    return any(
        leaf.library == "torch"
        for call in job.calls
        for leaf in _leaves_in([*call.args, *call.kwargs.values()])
    )
