"""Runners of every tier, and the one for our own code, behind one fixture."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.code.explain.in_process import TrustedRunner
from engine.runner import Runner
from engine.sandbox import SandboxOptions, open_runner
from engine.sandbox.tiers import missing_layers

_TIERS = [
    pytest.param(tier, marks=pytest.mark.skipif(bool(missing_layers(tier)), reason=f"{tier} isn't possible"))
    for tier in ("T1", "T2", "T3")
]


@pytest.fixture(scope="module", params=[*_TIERS, "trusted"])
def any_runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    """A runner of each tier in turn, and the trusted one, which must behave as they do."""
    if request.param == "trusted":
        with TrustedRunner() as trusted:
            yield trusted
        return
    with open_runner(SandboxOptions(tier=request.param, unsafe_local=True)) as opened:
        yield opened
