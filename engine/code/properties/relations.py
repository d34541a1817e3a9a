"""Relations between calls: the second input is made from the first, so the second output is known too."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.code.case import Group
from engine.code.differing import apart, own, own_slack
from engine.code.observe import Observations
from engine.code.properties.catalogue import Property

__all__ = ["PROPERTIES"]

Floats = NDArray[np.float64]


def _differing(group: Group, seen: Observations, got: Floats, wanted: Floats) -> str | None:
    return apart(seen, group.members[-2:], got, wanted, own_slack(seen, group.members))


def _unchanged(group: Group, seen: Observations) -> str | None:
    """Judge that the second call gives what the first one gave."""
    first, second = group.members
    wanted, got = seen.values(first), seen.values(second)
    return _differing(group, seen, got, wanted)


def _permuted(group: Group, seen: Observations) -> str | None:
    first, second = group.members
    wanted = np.take(seen.values(first), group.data["order"], axis=int(group.data["axis"]))
    return _differing(group, seen, seen.values(second), wanted)


def _other_rows(group: Group, seen: Observations) -> str | None:
    first, second = group.members
    changed = int(group.data["changed"])
    wanted = np.delete(seen.values(first), changed, axis=0)
    return _differing(group, seen, np.delete(seen.values(second), changed, axis=0), wanted)


def _batch(group: Group, seen: Observations) -> str | None:
    """Judge a batch by what the program gives for its parts; what those lack is reported elsewhere."""
    whole, *parts = group.members
    alone = [own(seen, part) for part in parts]
    if any(values is None for values in alone):
        return None
    got = seen.values(whole)
    wanted = np.stack([values for values in alone if values is not None]).reshape(got.shape)
    return apart(seen, [whole], got, wanted, own_slack(seen, group.members))


def _alone(group: Group, seen: Observations) -> str | None:
    """Judge each row under a mask by what the program gives for its visible keys without any mask."""
    whole, *rows = group.members
    alone = [own(seen, row) for row in rows]
    if any(values is None for values in alone):
        return None
    wanted = np.concatenate([values for values in alone if values is not None])
    return apart(seen, [whole], seen.values(whole), wanted, own_slack(seen, group.members))


def _linear(group: Group, seen: Observations) -> str | None:
    first, second, mixed = group.members
    a, b = group.data["factors"]
    return _differing(group, seen, seen.values(mixed), a * seen.values(first) + b * seen.values(second))


PROPERTIES = (
    Property(
        "shift",
        "one number added to all scores",
        "Adding one constant to all scores must not change the weights.",
        _unchanged,
    ),
    Property(
        "perm-eq",
        "reordered input",
        "Reordering the input must reorder the output in the same way.",
        _permuted,
    ),
    Property(
        "rowind",
        "rows don't affect each other",
        "A row's result must not depend on the other rows.",
        _other_rows,
    ),
    Property(
        "joint-perm",
        "keys and values reordered together",
        "Reordering keys and values together must not change the output.",
        _unchanged,
    ),
    Property(
        "tile-law",
        "the scale, on repeated features",
        "Repeating each feature four times must act like doubling the queries.",
        _unchanged,
    ),
    Property(
        "key-shift",
        "one vector added to all keys",
        "Adding one vector to all keys must not change the output.",
        _unchanged,
    ),
    Property("linear-v", "linearity", "The output must be linear in the values.", _linear),
    Property("batch", "leading axes", "A batch must give what its parts give one by one.", _batch),
    Property(
        "subset",
        "hiding a key is like leaving it out",
        "Hiding a key must act like leaving it out.",
        _unchanged,
    ),
    Property(
        "mask-irrel",
        "hidden entries don't matter",
        "What a hidden key or value holds must not matter.",
        _unchanged,
    ),
    Property(
        "alone",
        "some keys are hidden",
        "With a mask, a query must get what its visible keys alone would give.",
        _alone,
    ),
    Property(
        "all-true", "a mask that hides nothing", "A mask that hides nothing must change nothing.", _unchanged
    ),
)
