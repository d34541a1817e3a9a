"""A store of each kind: every test that takes ``store`` or ``target`` runs on both."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.store import Store, open_store
from tests.live.postgres import server

_ON_WINDOWS = pytest.mark.skipif(sys.platform == "win32", reason="the tests' server runs on POSIX systems")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=_ON_WINDOWS)])
def target(tmp_path: Path, request: pytest.FixtureRequest) -> str | Path:
    """Path or address of a store; on the server its tables are there already."""
    return server().new_store() if request.param == "postgresql" else tmp_path / "store.db"


@pytest.fixture
def store(target: str | Path) -> Iterator[Store]:
    with open_store(target) as opened:
        yield opened
