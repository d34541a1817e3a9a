"""How much of the time that passed was a process's own: a limit must not depend on what else runs (Linux).

Time passes for a process in three ways: it computes, it sleeps, or it waits for a processor that others
have. The first two are its own doing; the third is the machine's, and grows with its load. The kernel
tells the third only for single threads, and only while they live, so a process whose work is done by another
thread than its first would be charged for it: therefore it is also looked at now and then. In a stretch in
which one of its threads could run, only the processor time that it got counts.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

__all__ = ["LOOK_S", "OwnTime"]

LOOK_S = 0.1
"""How often a process is looked at that takes long."""

_CAN_RUN = (b"R", b"D")  # or waits for a page of its memory


class OwnTime:
    """Watches one process.

    Parameters
    ----------
    pid : int
        As the grader's system numbers it.
    from_birth : bool
        Whether what it waited before counts too: all of its life is the submission's.
    """

    def __init__(self, pid: int, *, from_birth: bool = False) -> None:
        self._folder = Path(f"/proc/{pid}")
        self._waited_s = 0.0
        self._delayed_s = 0.0 if from_birth else self._delay_s()
        self._looked = time.monotonic()
        self._cpu_s = self._processor_s()

    def look(self) -> None:
        """Judge the stretch since the last look; to be called every `LOOK_S` while a call takes long."""
        before, cpu_before = self._looked, self._cpu_s
        delayed = self.skip()
        if self._could_run():
            starved = self._looked - before - max(0.0, self._cpu_s - cpu_before)
            self._waited_s += max(0.0, starved - delayed)

    def skip(self) -> float:
        """Begin a new stretch, of the last one only what its first thread waited counts: return that."""
        delay_s = self._delay_s()
        delayed = max(0.0, delay_s - self._delayed_s)
        self._waited_s += delayed
        self._delayed_s = max(delay_s, self._delayed_s)
        self._looked, self._cpu_s = time.monotonic(), self._processor_s()
        return delayed

    def waited_s(self) -> float:
        """Return how long the process has waited for a processor, as far as is known."""
        return self._waited_s + max(0.0, self._delay_s() - self._delayed_s)

    def _processor_s(self) -> float:
        fields = self._fields(self._folder / "stat")
        return (int(fields[11]) + int(fields[12])) / _TICKS if len(fields) > 12 else 0.0

    def _could_run(self) -> bool:
        try:
            threads = os.listdir(self._folder / "task")  # noqa: PTH208  bare names are enough
        except OSError:
            return False
        return any(self._fields(self._folder / "task" / n / "stat")[:1] in _STATES for n in threads)

    def _delay_s(self) -> float:
        try:
            return int((self._folder / "schedstat").read_text().split()[1]) / 1e9
        except (OSError, IndexError, ValueError):
            return 0.0

    @staticmethod
    def _fields(path: Path) -> list[bytes]:
        """Return what follows the name, which is the process's own choice and needn't be text."""
        try:
            return path.read_bytes().rpartition(b")")[2].split()
        except OSError:
            return []


_STATES = [[state] for state in _CAN_RUN]
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
