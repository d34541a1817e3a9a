"""Which user a slot's children become, and how many processes that user may have."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["process_limit", "slot_user"]

_FIRST_USER = 0x40000000
_SLOTS = 256
_THREADS = 64


def slot_user(slot: int) -> int:
    """Return a uid (and gid) that belongs to no account and to no other slot or grader.

    The grader's process id is part of it, so two graders on one machine don't share limits.  Where
    a container maps only some ids, the upper end of that range is used.
    """
    wanted = _FIRST_USER + os.getpid() * _SLOTS + slot % _SLOTS
    first, count = _largest_range()
    if first <= wanted < first + count:
        return wanted
    return first + count - 1 - (os.getpid() * _SLOTS + slot) % max(1, count // 2)


def _largest_range() -> tuple[int, int]:
    try:
        lines = Path("/proc/self/uid_map").read_text().splitlines()
    except OSError:
        return 0, 2**32 - 2
    ranges = [(int(line.split()[0]), int(line.split()[2])) for line in lines]
    return max(ranges, key=lambda pair: pair[1])


def process_limit(*, namespaced: bool, root: bool) -> int:
    """Return RLIMIT_NPROC for a child.

    A slot's own user, and a user in a namespace from Linux 5.14 on, are counted by themselves.  An
    ordinary user without one is counted with everything else that runs in the same name.
    """
    if root or (namespaced and _kernel() >= (5, 14)):
        return _THREADS
    return _THREADS * 2 + _own_threads()


def _kernel() -> tuple[int, int]:
    major, minor = os.uname().release.split(".")[:2]
    return int(major), int("".join(c for c in minor if c.isdigit()) or 0)


def _own_threads() -> int:
    """Count the threads that run in our user's name."""
    total = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == os.getuid():
                    total += sum(1 for _ in (entry / "task").iterdir())
            except OSError:
                continue
    return total
