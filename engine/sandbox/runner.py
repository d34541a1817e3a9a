"""The sandboxed runner: slots with a zygote each, jobs in, results out (Linux, T1 and T2)."""

from __future__ import annotations

import queue
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from engine.errors import EngineError, RunnerLostError, SandboxError
from engine.runner import CallOutcome, CallStatus, Job, RunResult
from engine.sandbox.conversation import (
    ChildLink,
    StopReason,
    SubmissionBudget,
    converse,
    converse_again,
    outcome_of_end,
)
from engine.sandbox.inputs import EncodedPlan, encode_plan
from engine.sandbox.protocol import VIOLATION, ChildDialogue, JobResults, encode_load
from engine.sandbox.zygote import ChildEnd, Zygote

__all__ = ["SandboxRunner"]


class SandboxRunner:
    """Runs jobs in T1 or T2; safe to call from several threads.

    Parameters
    ----------
    tier : {"T1", "T2"}
    slots : int
        How many submissions run at the same time, each beside a zygote of its own.
    off : frozenset of str
        Layers switched off, by tests only.
    """

    def __init__(self, tier: str, slots: int, off: frozenset[str] = frozenset()) -> None:
        self._tier = tier
        self._off = off
        # one thread starts all zygotes and lives as long as they: see Zygote's notes
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="zygote-starter")
        self._closed = False
        self._lock = threading.Lock()
        self._plan: tuple[Job, EncodedPlan] | None = None
        self._slots: list[_Slot] = [_Slot(self._starter, tier, n, off) for n in range(slots)]
        self._free: queue.SimpleQueue[_Slot] = queue.SimpleQueue()
        for slot in self._slots:
            self._free.put(slot)

    @property
    def tier(self) -> str:
        """``"T1"`` or ``"T2"``."""
        return self._tier

    def run(self, job: Job) -> RunResult:
        """Run one job to its end or to its limits; wait for a free slot first.

        Raises
        ------
        RunnerLostError
            If the process was lost for a cause that isn't the code's own.
        SandboxError
            If a layer failed: no student code ran.
        """
        if self._closed:
            raise SandboxError("the sandbox is closed")
        plan = self._encoded(job)
        slot = self._free.get()
        try:
            return self._run_on(slot, job, plan)
        except BaseException:  # an interrupt by the keyboard too leaves a conversation half done
            slot.restart()
            raise
        finally:
            self._free.put(slot)

    def _encoded(self, job: Job) -> EncodedPlan:
        """Encode the plan, or take the last one if the calls are the same object (a batch run)."""
        with self._lock:
            last = self._plan
        if last is not None and last[0].calls is job.calls and last[0].limits == job.limits:
            return last[1]
        # a process that lives on, for want of a fork, has memory for its first job's arrays only
        plan = encode_plan(job, shared="fork" not in self._off)
        with self._lock:
            self._plan = (job, plan)
        return plan

    def _run_on(self, slot: _Slot, job: Job, plan: EncodedPlan) -> RunResult:
        slot.zygote()  # its start doesn't count as the submission's time
        budget = SubmissionBudget(
            job.limits, enforced="deadline" not in self._off, capped="output" not in self._off
        )
        results = JobResults(job, self._tier)
        while (first := results.next_call(budget.left_s())) is not None:
            dialogue = ChildDialogue(
                first,
                plan.count,
                results.bytes_left,
                results.nodes_left,
                check_order="order" not in self._off,
            )
            cpu_limit_s = budget.processor_s()
            load = encode_load(job, first, max(0.1, budget.left_s()), results.bytes_left, results.nodes_left)
            stop, ended, changed = self._converse(slot, dialogue, load, plan, budget)
            if dialogue.broken is not None:
                raise SandboxError("a layer of the sandbox failed; no student code ran", got=dialogue.broken)
            if not dialogue.locked and not dialogue.violated:
                raise RunnerLostError(
                    "a process ended before it could take student code",
                    got=None if ended is None else str(ended),
                )
            if dialogue.violated:
                results.violate(CallOutcome(CallStatus.PROTOCOL_VIOLATION, detail=VIOLATION))
                continue
            end = None if ended is None else outcome_of_end(stop, ended, cpu_limit_s)
            results.merge(dialogue, end, plan, changed)
        return results.finish(bytes(budget.printed))

    def _converse(
        self,
        slot: _Slot,
        dialogue: ChildDialogue,
        load: bytes,
        plan: EncodedPlan,
        budget: SubmissionBudget,
    ) -> tuple[StopReason, ChildEnd | None, dict[int, bytes]]:
        """Talk to one child; return too which calls changed their arrays, as the grader saw them."""
        if "fork" in self._off:
            dialogue.locked = slot.kept is not None
            slot.kept = slot.kept or slot.link(budget, plan)
            return *converse_again(slot.kept, dialogue, load, plan, budget), {}
        link = slot.link(budget, plan)
        try:
            stop, ended = converse(slot.zygote(), link, dialogue, load, plan, budget)
            return stop, ended, {} if link.arrays is None else link.arrays.changed
        finally:
            link.close()

    def close(self) -> None:
        """Give back all processes; a run that is under way fails with RunnerLostError."""
        if self._closed:
            return
        self._closed = True
        for slot in self._slots:
            slot.close()
        self._starter.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Slot:
    """A place for one submission at a time; its zygote starts in the background."""

    def __init__(self, starter: ThreadPoolExecutor, tier: str, number: int, off: frozenset[str]) -> None:
        self._starter = starter
        self._tier = tier
        self._number = number
        self._off = off
        self._closed = False
        self.kept: ChildLink | None = None  # only where the fork layer is switched off
        self._pending: Future[Zygote] = self._start()

    def _start(self) -> Future[Zygote]:
        return self._starter.submit(Zygote, self._tier, self._number, self._off)

    def zygote(self) -> Zygote:
        """Return a living zygote; one that died while idle is replaced."""
        if self._closed:
            raise SandboxError("the sandbox is closed")
        zygote = self._pending.result()
        if not zygote.alive:
            self.restart()
            zygote = self._pending.result()
        zygote.wait_ready()
        return zygote

    def link(self, budget: SubmissionBudget, plan: EncodedPlan) -> ChildLink:
        """Make a child; a zygote that turns out to be lost is replaced once, for no student code ran yet."""
        try:
            return ChildLink(self.zygote(), budget, plan)
        except RunnerLostError:
            self.restart()
            return ChildLink(self.zygote(), budget, plan)

    def restart(self) -> None:
        """Replace the zygote, unless the runner is closed."""
        self._end()
        if not self._closed:
            self._pending = self._start()

    def close(self) -> None:
        """End the zygote for good."""
        self._closed = True
        self._end()

    def _end(self) -> None:
        if self.kept is not None:
            self.kept.close()
            self.kept = None
        try:
            zygote = self._pending.result()
        except EngineError:
            return
        zygote.close()
