"""A learning system that runs, and a store in which it is registered."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.lti.service_calls import AccessTokens, PlatformCalls
from engine.lti.signing_keys import key_set, signing_key
from engine.quiz import rules as quiz_rules
from engine.store import Store, open_store
from engine.store.lti import LtiPlatform
from tests.live.lms import Lms, LmsMember, learning_system
from tests.unit.lti.sending import LinkedClass


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as opened:
        yield opened


@pytest.fixture
def lms(store: Store) -> Iterator[Lms]:
    with learning_system("http://127.0.0.1:9") as running:
        running.tool_keys = lambda: key_set(store, now())
        for name in ("ada", "bob", "cyd"):
            running.members[f"u-{name}"] = LmsMember(f"u-{name}", name.title(), f"{name}@example.edu")
        yield running


@pytest.fixture
def platform(store: Store, lms: Lms) -> LtiPlatform:
    return store.lti.add_platform(lms.values(), by="prof", now=now())


@pytest.fixture
def calls(store: Store, platform: LtiPlatform) -> PlatformCalls:
    return PlatformCalls(platform, signing_key(store, now()), AccessTokens())


@pytest.fixture
def course(store: Store, lms: Lms, platform: LtiPlatform, monkeypatch: pytest.MonkeyPatch) -> LinkedClass:
    made = LinkedClass(store, lms, platform)
    monkeypatch.setattr(quiz_rules, "now", lambda: made.now)
    made.people("ada", "bob")
    return made
