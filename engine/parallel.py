"""Independent pieces of work on all cores.

Drawing a class's quizzes or comparing all pairs of files is a thousand pieces that don't need each other.
They run in forks, which share what is loaded already; where forks can't be had, the caller does the same
work one by one.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

_CHUNKS = 4  # per core, so that no core waits long for the last one, and pickling costs little

K = TypeVar("K")
V = TypeVar("V")


def on_all_cores(
    act: Callable[[K], V],
    keys: Sequence[K],
    *,
    least: int,
    together: int | None = None,
    core_count: int | None = None,
    progress: Callable[[Mapping[K, V]], None] = lambda results: None,
) -> Mapping[K, V]:
    """Return ``act(key)`` for keys, computed in as many processes as there are cores.

    Parameters
    ----------
    act : callable
        Needn't be picklable: the processes are forks. Its results are pickled by us, for us.
    keys : sequence of hashable
    least : int
        With fewer pieces of work than this, starting processes would take longer than the work.
    together : int, optional
        How many keys a process is given at a time; a quarter of a core's share, if left out.
    core_count : int, optional
        All that this process may use, if left out.
    progress : callable
        Takes the results of a process as they come back.

    Returns
    -------
    mapping
        Empty where processes don't pay or can't be had (in a thread of a server), and without the keys
        whose process failed: the caller does by itself what is missing, and meets its errors there.
    """
    count = usable_cores() if core_count is None else core_count
    # A fork of a server's thread would inherit locks that other threads hold, and wait for them for ever.
    if threading.current_thread() is not threading.main_thread():
        return {}
    if count < 2 or len(keys) < least or "fork" not in multiprocessing.get_all_start_methods():
        return {}
    size = together or -(-len(keys) // (_CHUNKS * count))
    chunks = [keys[start : start + size] for start in range(0, len(keys), size)]
    results: dict[K, V] = {}
    global _ACT
    _ACT = act
    try:
        # short-lived processes that keep all they make: collecting garbage only costs them time
        with ProcessPoolExecutor(
            count, mp_context=multiprocessing.get_context("fork"), initializer=gc.disable
        ) as pool:
            for chunk in pool.map(_act_on_chunk, chunks):
                results.update(chunk)
                progress(chunk)
    except (BrokenProcessPool, OSError):  # killed, or no memory for another process
        pass
    finally:
        _ACT = None
    return results


_ACT: Callable[..., Any] | None = None  # what the forks inherit


def _act_on_chunk(keys: Sequence[K]) -> dict[K, Any]:
    assert _ACT is not None
    results: dict[K, Any] = {}
    for key in keys:
        try:
            results[key] = _ACT(key)
        except Exception:  # the caller does it again, and meets the error where it can be reported
            continue
    return results


@contextlib.contextmanager
def without_collecting() -> Iterator[None]:
    """Collect no garbage for a while: for work that makes many objects and drops few.

    The collector walks through every living object again and again: a third of the time of drawing a class.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.freeze()  # the first collection would walk through all that was made, for nothing
            gc.enable()


def usable_cores() -> int:
    """Return how many cores this process may use."""
    # a container or taskset may leave fewer than the machine has
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
