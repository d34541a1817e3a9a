"""What a family's plans judge doesn't depend on the seed: a spec's checks can be proved once for all."""

from __future__ import annotations

import pytest

from engine.items.checks.code import builtin_exercises
from tests.builtin_bank import inputs_of


@pytest.mark.parametrize("name", builtin_exercises())
@pytest.mark.parametrize("seed", [b"one", b"two", b"three"])
def test_every_seed_offers_the_same_groups(name: str, seed: bytes) -> None:
    assert frozenset(inputs_of(name).plan(seed).groups) == inputs_of(name).offered_groups
