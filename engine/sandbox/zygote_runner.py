"""The sandboxed runner: slots with a zygote each, jobs in, results out (Linux, T1 and T2)."""

from __future__ import annotations

import queue
from concurrent.futures import Future, ThreadPoolExecutor

from engine.errors import EngineError, RunnerLostError, SandboxError
from engine.runner import CallOutcome, CallStatus, Job, Runner, RunResult
from engine.sandbox.child.layers import ALL_LAYERS, Layers
from engine.sandbox.forked_child import ChildLink, StopReason, SubmissionBudget, converse, outcome_of_end
from engine.sandbox.replies import VIOLATION, ChildDialogue, JobResults
from engine.sandbox.requests import EncodedPlan, encode_load, encode_plan
from engine.sandbox.zygote_handle import ChildEnd, Zygote

_MIN_LOAD_S = 0.1  # a later child loads the file again, however little time is left


class SandboxRunner(Runner):
    """Runs jobs in T1 or T2; safe to call from several threads.

    Parameters
    ----------
    tier : {"T1", "T2"}
    slots : int
        How many submissions run at the same time, each beside a zygote of its own.
    layers : Layers
        Switched off by tests only.
    """

    def __init__(self, tier: str, slots: int, layers: Layers = ALL_LAYERS) -> None:
        self._tier = tier
        self._layers = layers
        # one thread starts all zygotes and lives as long as they: see Zygote's notes
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="zygote-starter")
        self._closed = False
        self._slots: list[_Slot] = [_Slot(self._starter, tier, n, layers) for n in range(slots)]
        self._free: queue.SimpleQueue[_Slot] = queue.SimpleQueue()
        for slot in self._slots:
            self._free.put(slot)

    @property
    def tier(self) -> str:
        """``"T1"`` or ``"T2"``."""
        return self._tier

    def run(self, job: Job) -> RunResult:
        """Run one job to its end or to its limits; wait for a free slot first."""
        if self._closed:
            raise SandboxError("the sandbox is closed")
        # a process that lives on, for want of a fork, has memory for its first job's arrays only
        plan = encode_plan(job, shared=self._layers.fork)
        slot = self._free.get()
        try:
            return self._run_on(slot, job, plan)
        except BaseException:  # an interrupt by the keyboard too leaves a conversation half done
            slot.restart()
            raise
        finally:
            self._free.put(slot)

    def _run_on(self, slot: _Slot, job: Job, plan: EncodedPlan) -> RunResult:
        slot.zygote()  # its start doesn't count as the submission's time
        budget = SubmissionBudget(job.limits, self._layers)
        results = JobResults(job, self._tier)
        while (first := results.next_call(budget.left_s())) is not None:
            dialogue = ChildDialogue(
                first, plan.count, results.bytes_left, results.nodes_left, check_order=self._layers.order
            )
            cpu_limit_s = budget.processor_s()
            load_s = max(_MIN_LOAD_S, budget.left_s())
            load = encode_load(job, first, load_s, results.bytes_left, results.nodes_left)
            stop, end, changed = self._converse(slot, dialogue, load, plan, budget)
            if dialogue.broken is not None:
                raise SandboxError("a layer of the sandbox failed; no student code ran", got=dialogue.broken)
            if not dialogue.locked and not dialogue.violated:
                raise RunnerLostError(
                    "a process ended before it could take student code", got=None if end is None else str(end)
                )
            if dialogue.violated:
                results.violate(CallOutcome(CallStatus.PROTOCOL_VIOLATION, detail=VIOLATION))
                continue
            lost_call = None if end is None else outcome_of_end(stop, end, cpu_limit_s)
            results.merge(dialogue, lost_call, plan, changed)
        return results.finish(bytes(budget.printed))

    def _converse(
        self, slot: _Slot, dialogue: ChildDialogue, load: bytes, plan: EncodedPlan, budget: SubmissionBudget
    ) -> tuple[StopReason, ChildEnd | None, dict[int, bytes]]:
        """Talk to one child; return too which calls changed their arrays, as the grader saw them."""
        link = slot.link(budget, plan)
        dialogue.locked = link.is_locked
        try:
            stop, end = converse(slot.zygote(), link, dialogue, load, plan, budget)
            return stop, end, {} if link.arrays is None else link.arrays.changed
        finally:
            if self._layers.fork:
                link.close()

    def close(self) -> None:
        """Give back all processes; a run that is under way fails with RunnerLostError."""
        if self._closed:
            return
        self._closed = True
        for slot in self._slots:
            slot.close()
        self._starter.shutdown()


class _Slot:
    """A place for one submission at a time; its zygote starts in the background."""

    def __init__(self, starter: ThreadPoolExecutor, tier: str, number: int, layers: Layers) -> None:
        self._starter = starter
        self._tier = tier
        self._number = number
        self._layers = layers
        self._closed = False
        self._lasting_link: ChildLink | None = None  # only where a test takes the fork layer away
        self._pending: Future[Zygote] = self._start()

    def _start(self) -> Future[Zygote]:
        return self._starter.submit(Zygote, self._tier, self._number, self._layers)

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
        if self._lasting_link is not None:
            return self._lasting_link
        try:
            link = ChildLink(self.zygote(), budget, plan)
        except RunnerLostError:
            self.restart()
            link = ChildLink(self.zygote(), budget, plan)
        if not self._layers.fork:
            self._lasting_link = link
        return link

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
        if self._lasting_link is not None:
            self._lasting_link.close()
            self._lasting_link = None
        try:
            zygote = self._pending.result()
        except EngineError:
            return
        zygote.close()
