"""Shared test set-up: hypothesis profiles and the ``--device`` option."""

from __future__ import annotations

import faulthandler
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import HealthCheck, settings

from tests.builtin_bank import read_once
from tests.new_stores import make_tables_quickly

_UNIT = Path(__file__).parent / "unit"
# Of the files of tests/unit, so many run beside all others.
_SPREAD = 0.6
# The longest tests take a minute on a quiet core, and five on one that is shared by seven; those of the sweep
# go on for hours.
_LONGEST_S = float(os.environ.get("SOFTMARK_LONGEST_TEST_S", "600"))
# What puts everything away after a test that was stopped may hang as well.
_AGAIN_S = 60.0

# As the command does: on arrays this small, threads of torch only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
read_once()
make_tables_quickly()

settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("sweep", deadline=None, database=None, max_examples=2000)
settings.load_profile(os.environ.get("SOFTMARK_HYPOTHESIS_PROFILE", "ci"))


# a shell that starts the tests in the background lets them, and what they start, ignore Ctrl-C
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--device", default="cpu", help="torch device of the reference tests: cpu or cuda")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Look for no garbage while tests are collected: it takes a sixth of the time and finds next to none."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread files of tests/unit among all others, and put the rest of them last.

    The others mostly wait for sandboxes, servers and browsers, while most unit tests compute: side by side
    they use all cores. The files at the end are small, and keep all workers busy.
    """
    files = list(dict.fromkeys(item.path for item in items))
    units = [path for path in files if _UNIT in path.parents]
    others = [path for path in files if _UNIT not in path.parents]
    spread = units[: int(_SPREAD * len(units))]
    place = {path: index / len(group) for group in (others, spread) for index, path in enumerate(group)}
    items.sort(key=lambda item: place.get(item.path, 1.0))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Return how many processes ``-n auto`` starts: up to two more than there are cores.

    A test that has started a server, a sandbox or a browser mostly waits for it; with one process for each
    core a third of the processor time is left over.
    """
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None  # xdist's own hook reads it
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return cores + min(cores, 2)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[object]:
    """Let a test that hangs fail, and show where each of its threads stands."""

    def stop(number: int, frame: FrameType | None) -> None:
        faulthandler.dump_traceback(sys.__stderr__ or 2)
        pytest.fail(f"stopped: {item.nodeid} had not ended after {_LONGEST_S:.0f} s")

    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return (yield)
    earlier = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, _LONGEST_S, _AGAIN_S)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier)


def pytest_enter_pdb() -> None:
    """Let whoever looks for a fault take time."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


def pytest_sessionfinish() -> None:
    """End the database server, if a test has started one: a worker may be killed before it exits."""
    if sys.__stderr__ is not None:  # and what waits for a thread that never ends is ended, too
        faulthandler.dump_traceback_later(_LONGEST_S, exit=True, file=sys.__stderr__)
    live = sys.modules.get("tests.live.postgres")
    if live is not None:
        live.close_server()


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> str:
    """The torch device that reference tests put their inputs on."""
    return str(request.config.getoption("--device"))
