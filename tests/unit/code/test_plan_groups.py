"""What a family's plans judge doesn't depend on the seed: a spec's checks can be proved once for all."""

from __future__ import annotations

import pytest

from engine.code.array_family import family, family_names, offered_groups


@pytest.mark.parametrize("name", family_names())
@pytest.mark.parametrize("seed", [b"one", b"two", b"three"])
def test_every_seed_offers_the_same_groups(name: str, seed: bytes) -> None:
    assert frozenset(family(name).plan(seed).groups) == offered_groups(name)
