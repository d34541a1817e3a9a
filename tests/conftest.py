"""Shared test set-up: hypothesis profiles and the ``--device`` option."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.builtin_bank import read_once
from tests.new_stores import make_tables_quickly

_UNIT = Path(__file__).parent / "unit"

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
    """Put tests/unit last: its files are small, and keep all workers busy to the end."""
    items.sort(key=lambda item: _UNIT in item.path.parents)


def pytest_sessionfinish() -> None:
    """End the database server, if a test has started one: a worker may be killed before it exits."""
    live = sys.modules.get("tests.live.postgres")
    if live is not None:
        live.close_server()


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> str:
    """The torch device that reference tests put their inputs on."""
    return str(request.config.getoption("--device"))
