"""Measures how long a process waits for a processor: a limit must not depend on what else runs (Linux).

Time passes for a process in three ways: it computes, it sleeps, or it waits for a processor that others
have.  The first two are its own doing; the third is the machine's, and grows with its load.  The kernel
counts the third only for single threads, and only while they live, so a process that lets another thread
than its first do the work would be charged for it.  Therefore the process is also sampled: in a stretch in
which one of its threads could run, only the processor time that it got counts as its own.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

# How often a process that takes long is sampled: often enough to be fair to a call of 2 s, and a hundred
# readings of /proc a second would themselves be load.
SAMPLE_S = 0.1

_RUNNABLE = ([b"R"], [b"D"])  # or waits for a page of its memory
_TICKS_PER_S = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class CpuWait:
    """Watches one process.

    Parameters
    ----------
    pid : int
        As the grader's system numbers it.
    from_birth : bool
        Whether earlier waiting counts too: all of its life is the submission's.
    """

    def __init__(self, pid: int, *, from_birth: bool = False) -> None:
        self._folder = Path(f"/proc/{pid}")
        self._waited_s = 0.0
        self._delay_before_s = 0.0 if from_birth else self._delay_s()
        self._sampled = time.monotonic()
        self._cpu_s = self._processor_s()

    def sample(self) -> None:
        """Judge the stretch since the last sample; call this every `SAMPLE_S` while a call takes long."""
        sampled_before, cpu_before = self._sampled, self._cpu_s
        delay_s = self.start_stretch()
        if self._could_run():
            starved = self._sampled - sampled_before - max(0.0, self._cpu_s - cpu_before)
            self._waited_s += max(0.0, starved - delay_s)

    def start_stretch(self) -> float:
        """Begin a new stretch; of the last one only what its first thread waited counts: return that."""
        total_s = self._delay_s()
        delay_s = max(0.0, total_s - self._delay_before_s)
        self._waited_s += delay_s
        self._delay_before_s = max(total_s, self._delay_before_s)
        self._sampled, self._cpu_s = time.monotonic(), self._processor_s()
        return delay_s

    def waited_s(self) -> float:
        """Return how long the process has waited for a processor, as well as the samples show."""
        return self._waited_s + max(0.0, self._delay_s() - self._delay_before_s)

    def _processor_s(self) -> float:
        fields = _stat_fields(self._folder)
        return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S if len(fields) > 12 else 0.0

    def _could_run(self) -> bool:
        try:
            threads = os.listdir(self._folder / "task")  # noqa: PTH208  bare names are enough
        except OSError:
            return False
        return any(_stat_fields(self._folder / "task" / n)[:1] in _RUNNABLE for n in threads)

    def _delay_s(self) -> float:
        """Return how long the first thread has waited in its life; 0 where the system doesn't say."""
        try:
            return int((self._folder / "schedstat").read_text().split()[1]) / 1e9
        except (OSError, IndexError, ValueError):
            return 0.0


def _stat_fields(folder: Path) -> list[bytes]:
    """Return what follows the name in ``stat``: the name is the process's own choice and needn't be text."""
    try:
        return (folder / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return []
