"""Arenas for the hostile corpus: as root and as an ordinary user, each a process of its own.

All attacks that the selected tests need are sent to the arenas at once, in the background, so that
both processors work; a test waits for its own report.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "arena"))

from arena_attack import Attack
from arena_client import ATTACKS, TIERS, USERS, Arena, arena_names
from arena_world import World

_foreseen: set[pytest.Item] = set()
_asked_for: set[Path] = set()

# What such attacks aim at isn't the same for root and in another tier; for all others it is.
_EVERYWHERE = frozenset(("ipc", "kernel", "privilege", "process", "ptrace", "signals"))


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """Yield what attacks aim at, made in this process."""
    built = World()
    built.prepare()
    yield built
    built.close()
    os.environ.pop("ARENA_SECRET", None)


def attack_places() -> Iterator[tuple[Attack, str, str]]:
    """Yield each attack with the tiers and users that it is tried in.

    Each attack meets both tiers and both users, by turns T1 as root and T2 as a user, or the other way round.
    With ``SOFTMARK_CORPUS=all`` (`make sweep`), and where there is no root, it meets all that there are.
    """
    is_whole = os.environ.get("SOFTMARK_CORPUS") == "all" or os.geteuid() != 0
    for number, attack in enumerate(ATTACKS.values()):
        for place, tier in enumerate(TIERS):
            for turn, user in enumerate(USERS):
                if is_whole or attack.kind in _EVERYWHERE or (number + place + turn) % 2 == 0:
                    yield attack, tier, user


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each test the attacks, tiers and users that its arguments ask for."""
    if metafunc.definition.get_closest_marker("parametrize"):
        return
    names = metafunc.fixturenames
    if {"attack", "tier", "user"} <= set(names):
        combined = list(attack_places())
        ids = [f"{attack.name}-{tier}-{user}" for attack, tier, user in combined]
        metafunc.parametrize(("attack", "tier", "user"), combined, ids=ids)
        return
    if "attack" in names:
        metafunc.parametrize("attack", ATTACKS.values(), ids=list(ATTACKS))
    if "controlled" in names:
        shown = {name: attack for name, attack in ATTACKS.items() if attack.control != "status"}
        metafunc.parametrize("controlled", shown.values(), ids=list(shown))
    if "tier" in names:
        metafunc.parametrize("tier", TIERS)
    if "user" in names:
        metafunc.parametrize("user", USERS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what only root can do, where we aren't root."""
    if os.geteuid() == 0:
        return
    for item in items:
        plan = getattr(item, "callspec", None)
        if plan is not None and plan.params.get("user") == "root":
            item.add_marker(pytest.mark.skip(reason="needs to start as root"))


@pytest.fixture(scope="session")
def _open_arenas() -> Iterator[dict[str, Arena]]:
    users = USERS if os.geteuid() == 0 else ("user",)
    opened = {name: Arena(user) for user in users for name in arena_names(user).values()}
    yield opened
    for arena in opened.values():
        arena.close()


@pytest.fixture
def arenas(request: pytest.FixtureRequest, _open_arenas: dict[str, Arena]) -> dict[str, Arena]:
    """The arenas, already at work on everything that the selected tests will ask.

    Under xdist a worker knows all tests but runs only some: there the tests of one file are
    foreseen, which is right for ``--dist loadfile``.
    """
    alone = "PYTEST_XDIST_WORKER" not in os.environ
    if request.node.path not in _asked_for:  # once for a file: a worker knows twenty thousand tests
        _asked_for.add(request.node.path)
        for item in request.session.items:
            if alone or item.path == request.node.path:
                _foresee(item, _open_arenas)
    return _open_arenas


def _foresee(item: pytest.Item, arenas: dict[str, Arena]) -> None:
    plan = getattr(item, "callspec", None)
    foresee = getattr(getattr(item, "function", None), "foresee", None)
    if plan is None or foresee is None or item in _foreseen:
        return
    _foreseen.add(item)
    for name, wanted in foresee(**plan.params):
        if name in arenas:
            arenas[name].ask(**wanted)
