"""Properties of causal attention: a row of the output follows from its own and earlier rows of the input."""

from __future__ import annotations

import numpy as np

from engine.code.case import Group
from engine.code.differing import apart, own_slack, total_slack
from engine.code.observe import Observations
from engine.code.properties.catalogue import Property

__all__ = ["PROPERTIES"]


def _prefix(group: Group, seen: Observations) -> str | None:
    """Judge two calls, of which the second has only the first rows of the first one's sequence."""
    whole, short = group.members
    wanted = seen.values(short)
    got = seen.values(whole)[: len(wanted)]
    return apart(seen, group.members, got, wanted, own_slack(seen, group.members))


def _first_row(group: Group, seen: Observations) -> str | None:
    """Judge the first row of the output: the right one comes with the group as ``due``."""
    wanted = np.asarray(group.data["due"], dtype=np.float64)
    slack = total_slack(seen, group.members)
    return apart(seen, group.members, seen.values(group.members[0])[0], wanted, slack)


def _last_row(group: Group, seen: Observations) -> str | None:
    """Judge two calls that differ in the flag alone: the last position sees everything in both."""
    causal, full = group.members
    got, wanted = seen.values(causal)[-1], seen.values(full)[-1]
    return apart(seen, group.members, got, wanted, own_slack(seen, group.members))


PROPERTIES = (
    Property(
        "prefix",
        "later positions change nothing before them",
        "What comes later must not change the rows before it.",
        _prefix,
    ),
    Property(
        "first-alone",
        "the first position sees itself alone",
        "The first row must be the first value, the only one that it sees.",
        _first_row,
    ),
    Property(
        "last-sees-all",
        "the last position sees everything",
        "The last row must be the same with and without the flag.",
        _last_row,
    ),
)
