"""Independent pieces of work, done on all cores before they are used one by one."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Generic, TypeVar

__all__ = ["LruCache", "on_all_cores", "without_collecting"]

_CHUNKS = 4  # per core, so that no core waits long for the last one

K = TypeVar("K")
V = TypeVar("V")


def on_all_cores(
    act: Callable[[K], V],
    keys: Sequence[K],
    *,
    least: int,
    together: int | None = None,
    cores: int | None = None,
    progress: Callable[[Mapping[K, V]], None] = lambda found: None,
) -> Mapping[K, V]:
    """Return ``act(key)`` for keys, computed in as many processes as there are cores.

    Parameters
    ----------
    act : callable
        Needn't be picklable: the processes are forks. Its results are pickled by us, for us.
    keys : sequence of hashable
    least : int
        Fewer pieces of work than this are done sooner than processes are started.
    together : int, optional
        How many keys a process is given at a time; a quarter of a core's share, if left out.
    cores : int, optional
        All that this process may use, if left out.
    progress : callable
        Told what came back.

    Returns
    -------
    mapping
        Empty where processes don't pay or can't be had, and without the keys whose process failed: the
        caller does by itself what is missing, and meets its errors there.
    """
    count = _cores() if cores is None else cores
    if count < 2 or len(keys) < least or "fork" not in multiprocessing.get_all_start_methods():
        return {}
    size = together or -(-len(keys) // (_CHUNKS * count))
    chunks = [keys[start : start + size] for start in range(0, len(keys), size)]
    done: dict[K, V] = {}
    global _ACT
    _ACT = act
    try:
        # short-lived processes that keep all they make: collecting garbage only costs them time
        with ProcessPoolExecutor(
            count, mp_context=multiprocessing.get_context("fork"), initializer=gc.disable
        ) as pool:
            for found in pool.map(_chunk, chunks):
                done.update(found)
                progress(found)
    except (BrokenProcessPool, OSError):  # killed, or no memory for another process
        pass
    finally:
        _ACT = None
    return done


_ACT: Callable[..., Any] | None = None  # what the forks inherit


def _chunk(keys: Sequence[K]) -> dict[K, Any]:
    assert _ACT is not None
    found: dict[K, Any] = {}
    for key in keys:
        try:
            found[key] = _ACT(key)
        except Exception:  # the caller draws it again, where the error is told
            continue
    return found


@contextlib.contextmanager
def without_collecting() -> Iterator[None]:
    """Collect no garbage for a while: for work that makes many objects and drops few.

    Collecting goes through all that is alive again and again: a third of the time of drawing a class.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# ----------------------------------------------------------------------------------------------------
# The last few results of something, by key: for what ``functools.lru_cache`` can't hash.

T = TypeVar("T")


class LruCache(Generic[T]):
    """At most so many results, those that were asked for last; safe between threads.

    Parameters
    ----------
    most : int
        How many are kept.
    """

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._found: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable) -> T | None:
        """Return what is kept under a key, None if nothing is."""
        with self._lock:
            if key not in self._found:
                return None
            self._found.move_to_end(key)
            return self._found[key]

    def put(self, key: Hashable, value: T) -> None:
        """Keep a result; the one that was asked for longest ago may go."""
        with self._lock:
            self._found[key] = value
            while len(self._found) > self._most:
                self._found.popitem(last=False)
