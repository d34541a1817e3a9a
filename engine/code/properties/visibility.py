"""Properties of a causal mask: a position sees itself and what came before, nothing later."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.code.case import Group
from engine.code.differing import Evidence
from engine.code.observe import Observations
from engine.code.properties.catalogue import Property
from engine.code.show import described

__all__ = ["PROPERTIES"]


def _all_are(
    wanted: float, chosen: Callable[[int], NDArray[np.bool_]], told: str
) -> Callable[[Group, Observations], str | None]:
    def judge(group: Group, seen: Observations) -> str | None:
        (member,) = group.members
        mask = seen.values(member)
        if (mask[chosen(len(mask))] == wanted).all():
            return None
        return Evidence(f"in {described(seen.plan, member, seen.function)} {told}")

    return judge


def _diagonal(n: int) -> NDArray[np.bool_]:
    return np.eye(n, dtype=bool)


def _earlier(n: int) -> NDArray[np.bool_]:
    return np.tri(n, k=-1, dtype=bool)


def _later(n: int) -> NDArray[np.bool_]:
    return ~np.tri(n, dtype=bool)


_ITSELF = _all_are(1, _diagonal, "a position doesn't see itself")
_PAST = _all_are(1, _earlier, "a position doesn't see an earlier one")
_FUTURE = _all_are(0, _later, "a position sees a later one")

PROPERTIES = (
    Property("sees-itself", "positions see themselves", "Every position must see itself.", _ITSELF),
    Property("sees-past", "positions see earlier ones", "Every position must see all earlier ones.", _PAST),
    Property("no-future", "positions don't see later ones", "No position may see a later one.", _FUTURE),
)
