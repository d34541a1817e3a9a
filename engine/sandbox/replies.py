"""What a child may say: its replies are decoded, judged and gathered here, without any input or output.

Nothing that arrives is believed: frames must come in their order, a reply before its request is a
violation, and values are decoded into plain data under caps.  After a violation none of the child's
replies counts, not even earlier ones: whatever wrote the forged frame may have written those too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from engine.errors import RunnerLostError
from engine.runner import Call, CallOutcome, CallStatus, ExceptionInfo, Job, RunResult, WireArray, WireValue
from engine.sandbox.child.wire import (
    FRAME_OVERHEAD,
    IN_PLACE,
    MAX_JOB_NODES,
    MAX_REPLY_NODES,
    ArrayNode,
    FrameKind,
    FrameReader,
    TreeReader,
    WireError,
    WireFrame,
    parse_json,
)
from engine.sandbox.requests import EncodedPlan
from engine.text.words import visible

# as the child cuts them; a child that doesn't isn't ours any more
_MAX_TEXT = 2000
_MAX_TYPE_NAME = 100
_MAX_FAILED = 3
_MAX_NAMES = 1000
_MAX_SECONDS = 1e6  # it also keeps infinities and NaN out
_MAX_LINE = 10**7

_SENTENCES: Mapping[str, str] = MappingProxyType(
    {
        "missing": "The file doesn't define this function.",
        "generator": "The function returned a generator; it must return the values themselves.",
        "coroutine": "The function is asynchronous; it must return the values themselves.",
        "function": "The function returned a function.",
        "class": "The function returned a class.",
        "set": "The function returned a set; a list or tuple was expected.",
        "bytes": "The function returned bytes.",
        "complex": "The function returned a complex number.",
        "iterator": "The function returned an iterator; it must return the values themselves.",
        "dict-key": "The function returned a dict with keys that aren't strings.",
        "array-subclass": "The function returned a subclass of numpy.ndarray; a plain array was expected.",
        "tensor-subclass": "The function returned a subclass of torch.Tensor; a plain tensor was expected.",
        "tensor-kind": "The function returned a sparse, quantised, meta or non-CPU tensor.",
        "dtype": "The function returned an array of a dtype that can't be compared.",
        "object": "The function returned an object that isn't a number, array, list, tuple or dict.",
        "tree": "The result is nested too deeply or has too many parts.",
        "integer": "The result holds an integer with too many digits.",
        "text": "The result holds a text that is too long.",
        "dimensions": "The result has too many dimensions.",
    }
)
_DEFAULT_SENTENCES: Mapping[CallStatus, str] = MappingProxyType(
    {
        CallStatus.TIMED_OUT: "The call used up its processor time.",
        CallStatus.OUT_OF_MEMORY: "The call needed more memory than the limit.",
        CallStatus.TOO_LARGE: "The result is larger than the limit.",
        CallStatus.UNSUPPORTED: "The function returned something that can't be compared.",
    }
)
VIOLATION = "The code wrote to the grader's channel itself; none of its results counts."

# what a child may say of itself; the rest only the grader can state
_FROM_CHILD = frozenset(
    {
        CallStatus.RETURNED,
        CallStatus.RAISED,
        CallStatus.TIMED_OUT,
        CallStatus.OUT_OF_MEMORY,
        CallStatus.TOO_LARGE,
        CallStatus.UNSUPPORTED,
        CallStatus.NOT_RUN,
    }
)


def killed_from_outside(places: str) -> RunnerLostError:
    """Return the error for a SIGKILL that student code can't have sent."""
    return RunnerLostError(
        "the process that ran student code was killed from outside",
        got="SIGKILL, perhaps from the kernel's out-of-memory killer",
        next_step=f"run it again with more free memory, or with fewer {places}",
    )


def safe_text(text: str, limit: int) -> str:
    """Return what student code printed or raised, cut first: cleaning a flood would take its time."""
    return visible(text[:limit].replace("\r\n", "\n"))


# A reply is known by all of it but the seconds, which an honest child says last. Where the rest was valid
# once with a number in their place, it is with any other.
_SECONDS_KEY = b',"seconds":'
_PLAIN_SECONDS = re.compile(rb"(0|[1-9]\d{0,5})(\.\d{1,30})?(e-\d\d)?}")
_MAX_KNOWN = 2000  # of one plan: with the bytes of each, at most 16 MiB
_MAX_KNOWN_BYTES = 2**13


@dataclass(slots=True)
class Reply:
    """The decoded answer to one call; once it has been seen beside that, what came of both and its bytes."""

    index: int
    outcome: CallOutcome
    nodes: int
    fitted: CallOutcome | None = None
    size: int = 0


class ChildDialogue:
    """The conversation with one child, as a state that the child's bytes move on.

    Parameters
    ----------
    first, count : int
        Calls ``first`` to ``count - 1`` are expected, in this order.
    output_bytes : int
        Most bytes of results.
    output_nodes : int
        Most nodes of their trees.
    check_order : bool
        False switches the order check off (tests only).
    known : dict, optional
        Replies that came before, from which those that come again are taken.
    """

    def __init__(
        self,
        first: int,
        count: int,
        output_bytes: int,
        output_nodes: int = MAX_JOB_NODES,
        *,
        check_order: bool = True,
        known: dict[tuple[bytes, bytes], Reply] | None = None,
    ) -> None:
        self._reader = FrameReader(output_bytes, unparsed=FrameKind.RESULT)
        self._known = known
        # each reply and the two frames around them may cost more than what they take off the cap
        self._bytes_left = output_bytes + FRAME_OVERHEAD * (count - first + 2)
        self._nodes_left = output_nodes
        self.nodes = 0
        self._check_order = check_order
        self._count = count
        self.next = first
        self.locked = False
        self.plan_sent = False
        self.ended = False
        self.violated = False
        self.broken: str | None = None
        self.load: CallOutcome | None = None
        self.missing: tuple[str, ...] = ()
        self.failed: tuple[ExceptionInfo, ...] = ()
        self.replies: dict[int, Reply] = {}
        self.calls_s = 0.0

    @property
    def outcomes(self) -> dict[int, CallOutcome]:
        """What became of each call that was answered."""
        return {index: reply.outcome for index, reply in self.replies.items()}

    @property
    def wants_plan(self) -> bool:
        """Whether the file is loaded and the plan not yet sent."""
        return self.load is not None and self.load.status is CallStatus.RETURNED and not self.plan_sent

    @property
    def over(self) -> bool:
        """Whether the conversation has come to its end."""
        return self.ended or self.violated or self.broken is not None

    @property
    def _may_end(self) -> bool:
        if self.load is None:
            return False
        loaded = self.load.status is CallStatus.RETURNED
        return not loaded or self.next >= self._count or not self._check_order

    def feed(self, data: bytes) -> None:
        """Take in bytes from the child; nothing that comes after a violation is looked at."""
        if self.violated:
            return
        self._bytes_left -= len(data)
        if self._bytes_left < 0:
            self.violated = True
            return
        self._reader.feed(data)
        try:
            for frame in self._reader.frames():
                if self.over:  # an honest child says nothing after its last frame
                    self.violated = True
                    return
                self._take(frame)
        except WireError:
            self.violated = True

    def _take(self, frame: WireFrame) -> None:
        if not isinstance(frame.body, dict) and frame.kind != FrameKind.RESULT:
            raise WireError("body")
        if not self.locked and frame.kind == FrameKind.BROKEN:
            self.broken = str(frame.body.get("layer"))
        elif not self.locked and frame.kind == FrameKind.LOCKED:
            self.locked = True
        elif not self.locked:
            raise WireError("order")
        elif frame.kind == FrameKind.LOADED and self.load is None:
            load, _ = self._decoded(frame, frame.body)
            self.load = replace(load, value=None, arguments=None)
            self.missing = _names(frame.body.get("missing"))
            self.failed = _failed(frame.body.get("failed", []))
        elif frame.kind == FrameKind.RESULT:
            self._take_result(frame)
        elif frame.kind == FrameKind.END and self._may_end:
            self.ended = True
        else:
            raise WireError("order")

    def _take_result(self, frame: WireFrame) -> None:
        # most of a class give the same right results, to the last bit: these are decoded once
        head, _, tail = frame.text.rpartition(_SECONDS_KEY)
        key = head, bytes(frame.blob)
        known = self._known if _PLAIN_SECONDS.fullmatch(tail) else None
        reply = None if known is None else known.get(key)
        if reply is None or reply.nodes > self._nodes_left:
            reply = self._new_reply(frame)
            if known is not None and len(head) + len(frame.blob) <= _MAX_KNOWN_BYTES:
                if len(known) >= _MAX_KNOWN:
                    known.clear()
                known[key] = reply
            self.calls_s += reply.outcome.seconds
        else:
            self._check_index(reply.index)
            self._spend(reply.nodes)
            self.calls_s += float(tail[:-1])
        self.replies.setdefault(reply.index, reply)
        self.next = reply.index + 1

    def _new_reply(self, frame: WireFrame) -> Reply:
        body = parse_json(frame.text)
        if not isinstance(body, dict):
            raise WireError("body")
        index = body.get("index")
        if type(index) is not int:
            raise WireError("index")
        self._check_index(index)
        return Reply(index, *self._decoded(frame, body))

    def _check_index(self, index: int) -> None:
        if not 0 <= index < self._count:
            raise WireError("index")
        if self._check_order and (not self.plan_sent or index != self.next):
            raise WireError("order")

    def _decoded(self, frame: WireFrame, body: dict[str, Any]) -> tuple[CallOutcome, int]:
        reader = TreeReader(frame.blob, _leaf, max_nodes=min(MAX_REPLY_NODES, self._nodes_left))
        outcome = _outcome(body, reader)
        self._spend(reader.nodes)
        return outcome, reader.nodes

    def _spend(self, nodes: int) -> None:
        self._nodes_left -= nodes
        self.nodes += nodes


def _names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > _MAX_NAMES:
        raise WireError("names")
    if not all(isinstance(name, str) for name in value):
        raise WireError("names")
    return tuple(value)


def _failed(value: Any) -> tuple[ExceptionInfo, ...]:
    if not isinstance(value, list):
        raise WireError("failed")
    return tuple(map(_exception, value[:_MAX_FAILED]))


def _leaf(node: ArrayNode) -> WireArray:
    return WireArray(node.library, node.dtype, node.shape, bytes(node.data))


_AS_SENT = object()  # stands for an argument that is where it was put


def _outcome(body: dict[str, Any], reader: TreeReader) -> CallOutcome:
    try:
        status = CallStatus(body["status"])
    except (KeyError, ValueError):
        raise WireError("status") from None
    if status not in _FROM_CHILD:
        raise WireError("status")
    value = reader.value(body.get("value"))
    arguments = body.get("arguments")
    if arguments is not None:
        if not isinstance(arguments, list):
            raise WireError("arguments")
        arguments = tuple(_AS_SENT if node == [IN_PLACE] else reader.value(node) for node in arguments)
    gradients = _gradients(body.get("gradients"), reader)
    reader.done()
    returned, raised = status is CallStatus.RETURNED, status is CallStatus.RAISED
    return CallOutcome(
        status=status,
        value=value if returned else None,
        exception=_exception(body.get("exception")) if raised else None,
        arguments=arguments if returned else None,
        seconds=_seconds(body.get("seconds", 0.0)),
        detail=_sentence(status, body.get("code")),
        gradients=gradients if returned else None,
        shared=returned and body.get("shared") is True,
        reused=returned and body.get("kept") is True,
    )


def _gradients(nodes: Any, reader: TreeReader) -> tuple[WireValue, ...] | None:
    if nodes is None:
        return None
    if not isinstance(nodes, list):
        raise WireError("gradients")
    gradients = tuple(reader.value(node) for node in nodes)
    if not all(gradient is None or isinstance(gradient, WireArray) for gradient in gradients):
        raise WireError("gradients")
    return gradients


def _sentence(status: CallStatus, code: Any) -> str:
    too_many_bytes = status is CallStatus.TOO_LARGE and code == "bytes"  # otherwise the type of that name
    if isinstance(code, str) and code in _SENTENCES and not too_many_bytes:
        return _SENTENCES[code]
    return _DEFAULT_SENTENCES.get(status, "")


def _seconds(value: Any) -> float:
    if not isinstance(value, (int, float)) or not 0 <= value < _MAX_SECONDS:
        raise WireError("seconds")
    return float(value)


def _exception(value: Any) -> ExceptionInfo:
    if not isinstance(value, dict):
        raise WireError("exception")
    name, text, line, file = value.get("type"), value.get("text"), value.get("line"), value.get("file")
    if not isinstance(name, str) or not isinstance(text, str) or not isinstance(file, str | None):
        raise WireError("exception")
    if type(line) not in (int, type(None)):  # a bool is an int too
        raise WireError("exception")
    return ExceptionInfo(
        safe_text(name, _MAX_TYPE_NAME),
        safe_text(text, _MAX_TEXT),
        line if line and 0 < line < _MAX_LINE else None,
        f"{file}.py" if file else None,
    )


# a file of which every call crashes would otherwise cost a process for each call
_MAX_CHILDREN = 16
_OUTPUT_CHARACTERS = 20_000
_NOT_LOADED = CallOutcome(CallStatus.NOT_RUN, detail="The file could not be loaded.")
_NO_TIME = CallOutcome(CallStatus.NOT_RUN, detail="The time for the whole submission was used up before.")
_NOTHING_WITHOUT = CallOutcome(CallStatus.NOT_RUN, detail="An earlier call that all others need was lost.")
_MISFIT = CallOutcome(
    CallStatus.PROTOCOL_VIOLATION, detail="The number of arguments or gradients that came back is wrong."
)
_FLOATING = frozenset({"float16", "bfloat16", "float32", "float64"})
_TOO_MANY = CallOutcome(CallStatus.NOT_RUN, detail="Too many earlier calls ended the process.")


class JobResults:
    """Gathers the results of one job's children, and decides whether another child is worth starting."""

    def __init__(self, job: Job, tier: str, library: str = "") -> None:
        self._job = job
        self._tier = tier
        self._library = library
        self._outcomes: list[CallOutcome | None] = [None] * len(job.calls)
        self._load: CallOutcome | None = None
        self._missing: tuple[str, ...] = ()
        self._failed: tuple[ExceptionInfo, ...] = ()
        self._children = 0
        self._calls_s = 0.0
        self._first: int | None = 0
        self._unreached = _NO_TIME  # the outcome of calls that no child came to
        self.bytes_left = job.limits.output_bytes
        self.nodes_left = MAX_JOB_NODES

    def next_call(self, left_s: float) -> int | None:
        """Return the call with which the next child begins, None when there is nothing left to do."""
        if self._first is None or (self._children and self._first >= len(self._outcomes)):
            return None
        if self._children and left_s <= 0:
            self._unreached = _NO_TIME
            return None
        if self._children >= _MAX_CHILDREN:
            self._unreached = _TOO_MANY
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
        dialogue: ChildDialogue,
        end: CallOutcome | None,
        plan: EncodedPlan | None = None,
        changed: Mapping[int, bytes] = MappingProxyType({}),
    ) -> None:
        """Take over what one child gave back.

        Parameters
        ----------
        dialogue : ChildDialogue
        end : CallOutcome or None
            What its end says about the call it was in; None if it came to its natural end.
        plan : EncodedPlan, optional
            Needed where anything changed.
        changed : mapping of int to bytes
            The calls after which the grader itself saw other arrays than before, and what it saw.
        """
        for index, reply in dialogue.replies.items():
            if reply.fitted is not None and index not in changed:
                self._outcomes[index] = reply.fitted
                self.bytes_left -= reply.size
                continue
            outcome, call = reply.outcome, self._job.calls[index]
            if not _fits(outcome, call):
                outcome = _MISFIT
            elif outcome.arguments is not None:
                outcome = _with_arguments(outcome, call, plan, index, changed.get(index))
            outcome = self._with_own_place(outcome)
            size = _size(outcome)
            # which files there are is the submission's own matter
            if index not in changed and (outcome.exception is None or reply.outcome is outcome):
                reply.fitted, reply.size = outcome, size
            self._outcomes[index] = outcome
            self.bytes_left -= size
        self._calls_s += dialogue.calls_s
        self.nodes_left -= dialogue.nodes
        load = dialogue.load or end
        if self._load is None:
            self._load = load if load is None else self._with_own_place(load)
            self._missing = tuple(name for name in self._job.functions if name in dialogue.missing)
            self._failed = tuple(map(self._own_place, dialogue.failed))
        if load is None or load.status is not CallStatus.RETURNED:
            self._unreached = _NOT_LOADED
            self._first = None
        elif end is None:
            self._first = None
        else:
            self._first = self._note_lost_call(dialogue.next, end)

    def _with_own_place(self, outcome: CallOutcome) -> CallOutcome:
        """Return the outcome with a place in files that were handed in only: any other is made up."""
        if outcome.exception is None or outcome.exception.file is None:
            return outcome
        return replace(outcome, exception=self._own_place(outcome.exception))

    def _own_place(self, error: ExceptionInfo) -> ExceptionInfo:
        if error.file is None or error.file.removesuffix(".py") in self._job.modules:
            return error
        return replace(error, file=None, line=None)

    def _note_lost_call(self, index: int, end: CallOutcome) -> int | None:
        """Note how call `index` ended; return the call to go on with, None where no other is worth it."""
        if index < len(self._outcomes):
            self._outcomes[index] = end
        if index < self._job.essential:
            self._unreached = _NOTHING_WITHOUT
            return None
        return index + 1

    def finish(self, printed: bytes) -> RunResult:
        """Return the result; what was never reached is marked as not run."""
        load = self._load or _NO_TIME
        return RunResult(
            load=load,
            outcomes=tuple(outcome or self._unreached for outcome in self._outcomes),
            missing=self._missing,
            failed=self._failed,
            output=safe_text(printed.decode("utf-8", "replace"), _OUTPUT_CHARACTERS),
            tier=self._tier,
            library=self._library,
            calls_s=self._calls_s,
        )


def _with_arguments(
    outcome: CallOutcome, call: Call, plan: EncodedPlan | None, index: int, data: bytes | None
) -> CallOutcome:
    """Fill in the arguments that are where they were put; replace those that the grader saw changed.

    `data` is what the grader found in the memory of this call, None if that is as it was.
    """
    sent = [*call.args, *call.kwargs.values()]
    replies = [
        _plain(old) if new is _AS_SENT else new
        for old, new in zip(sent, outcome.arguments or (), strict=True)
    ]
    if data is not None and plan is not None:
        span = plan.spans[index]
        before = span.arguments(call, plan.memory[span.start : span.end])
        after = span.arguments(call, data)
        triples = zip(before, replies, after, strict=True)
        replies = [reply if new == old else new for old, reply, new in triples]
    return replace(outcome, arguments=tuple(replies))


def _plain(value: WireValue) -> WireValue:
    """Return an argument as a child would send it back: nothing is said of how it lies in memory."""
    if isinstance(value, WireArray):
        if value.contiguous and value.writeable:
            return value
        return WireArray(value.library, value.dtype, value.shape, value.data)
    return {name: _plain(item) for name, item in value.items()} if isinstance(value, dict) else value


def _fits(outcome: CallOutcome, call: Call) -> bool:
    """Return whether as many arguments and gradients came back as were requested."""
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


def _leaves_in(values: list[WireValue]) -> Iterator[WireArray]:
    """Yield the arrays of a tree, in no certain order."""
    pending = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, (list, tuple)):
            pending.extend(value)
        elif isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, WireArray):
            yield value


def has_tensors(job: Job) -> bool:
    """Return whether any argument of a job's calls is a torch tensor."""
    return any(
        leaf.library == "torch"
        for call in job.calls
        for leaf in _leaves_in([*call.args, *call.kwargs.values()])
    )
