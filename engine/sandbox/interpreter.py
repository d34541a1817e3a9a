"""Starts an interpreter that gets one part of ``child`` and the allowed packages, and nothing else."""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.sandbox.bwrap import SandboxMounts, is_root, process_limit, walkable_by_others
from engine.sandbox.child.layers import Layers
from engine.sandbox.seccomp import compile_filter
from engine.sandbox.tiers import landlock_abi

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


ENVIRONMENT = {
    "HOME": "/",
    "LANG": "C.UTF-8",
    "LOGNAME": "student",
    "MALLOC_ARENA_MAX": "2",  # every further arena reserves 64 MiB of address space
    "MKL_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PATH": "",
    "PYTHONDONTWRITEBYTECODE": "1",
    "TORCHINDUCTOR_CACHE_DIR": "/",  # torch makes the folder at import: give it one that exists
}
# Folders that the child's user can't walk to are opened first and reached through /proc/self/fd.
# The folder of ``child`` leaves the path before student code comes: its modules are ours, not to be imported.
_BOOTSTRAP = """
import os, sys
part, inside, held, *path = sys.argv[1:]
if held == "held":
    for i, folder in enumerate(path):
        fd = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        os.dup2(fd, 100 + i)
        os.close(fd)
        for module in list(sys.modules.values()):
            if getattr(module, "__path__", None):
                held_at = f"/proc/self/fd/{100 + i}/"
                module.__path__ = [p.replace(folder + "/", held_at) for p in module.__path__]
    path = [f"/proc/self/fd/{100 + i}" for i in range(len(path))]
sys.path[:] = [*path, inside]
sys.path_importer_cache.clear()
sys.argv[:] = [""]
import importlib
main = importlib.import_module(part).main
sys.path.remove(inside)
main()
"""


def must_hold_folders(layout: SandboxMounts) -> bool:
    """Tell whether module folders must be held open: a user of the slot's own couldn't walk to them."""
    return not all(walkable_by_others(path) for path in layout.module_path)


def interpreter_arguments(layout: SandboxMounts, part: str, *, hold_folders: bool = False) -> list[str]:
    """Return what follows the interpreter's name, and flags that isolate it, to run ``child/<part>.py``.

    With `hold_folders`, module folders are opened first and reached by descriptors from 100 on.
    """
    start = ["-S", "-c", _BOOTSTRAP, f"child.{part}", str(layout.inside.parent)]
    return [*start, "held" if hold_folders else "named", *map(str, layout.module_path)]


def confinement_settings(
    layout: SandboxMounts,
    layers: Layers,
    uid: int | None,
    *,
    namespaced: bool,
    hold_folders: bool,
    device: bool = False,
) -> dict[str, Any]:
    """Return what ``child/lockdown.py`` must know to put the layers up, as JSON values.

    Parameters
    ----------
    layout : SandboxMounts
    layers : Layers
    uid : int or None
        The user that a child becomes; None if it stays who it is.
    namespaced, hold_folders : bool
        Whether the process has namespaces of its own, and holds its module folders open.
    device : bool
        Whether the filter is to let a GPU's driver through.
    """
    return {
        "abi": landlock_abi(),
        "readable": [str(path) for path in layout.readable()],
        "packages": list(layout.package_names),
        "filter": compile_filter(device=device).hex() if layers.seccomp else "",
        "uid": uid,
        "processes": process_limit(namespaced=namespaced, root=is_root()),
        "path_fds": len(layout.module_path) if hold_folders else 0,
        "layers": asdict(layers),
    }
