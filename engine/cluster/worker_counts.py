"""What a worker did: of one chunk, for the line of its log, and since it began, for its metrics."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from engine.cluster.work_queue import ClaimedChunk
from engine.model import GradeReport

K = TypeVar("K")

# As the sandbox's errors name them; what names another one is counted without a layer, so that no text of an
# error becomes a label of its own.
_LAYERS: Final = ("bwrap", "rlimits", "uid", "privileges", "capabilities", "landlock", "seccomp")


@dataclass(frozen=True, slots=True)
class ChunkResult:
    """What became of a chunk that a worker had in hand.

    Parameters
    ----------
    chunk : ClaimedChunk
    graded : tuple of GradeReport
        Of the first programs of the chunk; the others wait again.
    program_s : tuple of float
        Seconds that each of them took, or each request for variants.
    seconds : float
        Of the whole chunk.
    dropped : int
        Reports that nobody needed: another worker's came first, or the program was cancelled.
    fault : str or None
        Why the machine failed at the next program.
    fault_kind : str
        Class of that error, ``Ungraded`` for a report without a score, ``Refused`` for one that the queue
        didn't take; empty where there is none.
    drawn : int
        Variants drawn, where the chunk asks for variants.
    """

    chunk: ClaimedChunk
    graded: tuple[GradeReport, ...]
    program_s: tuple[float, ...]
    seconds: float
    dropped: int = 0
    fault: str | None = None
    fault_kind: str = ""
    drawn: int = 0

    @property
    def layer(self) -> str:
        """The layer of the sandbox that the fault names; empty where it names none."""
        words = re.findall(r"[a-z]+", self.fault or "")
        return next((name for name in _LAYERS if name in words), "")

    def facts(self) -> dict[str, Any]:
        """Return the fields of the log's line (docs/scaling.md lists them)."""
        chunk = self.chunk
        facts = {
            "job": chunk.job,
            "attempt": chunk.attempt,
            "queue": chunk.queue,
            "item": chunk.programs[0].item,
            "version": chunk.programs[0].version,
            "programs": len(chunk.programs),
            "graded": len(self.graded),
            "dropped": self.dropped,
            "outcomes": dict(Counter(str(report.outcome) for report in self.graded)),
            "seconds": round(self.seconds, 4),
            "slowest_s": round(max(self.program_s, default=0.0), 4),
            "waited_s": round(chunk.waited_s, 3),
            "interactive": chunk.interactive,
            "suspect": chunk.is_suspect,
        }
        if self.drawn:
            facts["drawn"] = self.drawn
        if self.fault is None:
            return facts
        failed = chunk.programs[len(self.program_s)].id
        more = {"failed": failed, "fault": self.fault, "fault_kind": self.fault_kind, "layer": self.layer}
        return facts | more


@dataclass
class WorkerCounts:
    """What a worker did since it began; for its last line and its metrics.

    Parameters
    ----------
    programs : int
        Reports made.
    chunks : int
    seconds : float
        Of grading, all slots together.
    outcomes : dict of str to int
    verdicts : dict of str to int
        Of single checks.
    faults : dict of (str, str) to int
        How often the machine failed, by class of the error and layer of the sandbox; the layer may be empty.
    dropped : int
        Reports that nobody needed.
    away_s : float
        Seconds in which the database didn't answer.
    variants : int
        Drawn for quizzes.
    """

    programs: int = 0
    chunks: int = 0
    seconds: float = 0.0
    outcomes: dict[str, int] = field(default_factory=dict)
    verdicts: dict[str, int] = field(default_factory=dict)
    faults: dict[tuple[str, str], int] = field(default_factory=dict)
    dropped: int = 0
    away_s: float = 0.0
    variants: int = 0

    def add(self, result: ChunkResult) -> None:
        """Count a chunk."""
        self.chunks += 1
        self.programs += len(result.graded)
        self.variants += result.drawn
        self.seconds += result.seconds
        self.dropped += result.dropped
        _add(self.outcomes, Counter(str(report.outcome) for report in result.graded))
        _add(self.verdicts, Counter(str(c.verdict) for report in result.graded for c in report.checks))
        if result.fault is not None:
            _add(self.faults, {(result.fault_kind, result.layer): 1})

    def copy(self, more_away_s: float = 0.0) -> WorkerCounts:
        """Return a copy that later counts don't change, with so many seconds more without a database."""
        return replace(
            self,
            outcomes=dict(self.outcomes),
            verdicts=dict(self.verdicts),
            faults=dict(self.faults),
            away_s=self.away_s + more_away_s,
        )


def _add(counts: dict[K, int], more: Mapping[K, int]) -> None:
    for key, number in more.items():
        counts[key] = counts.get(key, 0) + number
