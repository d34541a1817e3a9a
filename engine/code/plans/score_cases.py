"""What the exercises on alignment scores share: relations between keys, and scores that saturate.

Their arguments begin with a query and the keys, one in each row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.code.plans.array_inputs import Arrays
from engine.code.plans.building import PlanBuilder
from engine.code.plans.draws import Values

__all__ = ["add_key_relations", "add_saturated", "add_tanh_relations"]


def add_key_relations(plan: PlanBuilder, member: int, place: int, args: Arrays, values: Values) -> None:
    """Reorder the keys, and change one: each score belongs to its own key."""
    q, K, *rest = args
    order = values.order(len(K))
    permuted = plan.case(f"permuted-{place}", q, K[order], *rest)
    plan.judge("perm-eq", member, permuted, order=order, axis=0)
    changed = K.copy()
    changed[0] += 1.0
    plan.judge("rowind", member, plan.case(f"one-changed-{place}", q, changed, *rest), changed=0)


def add_tanh_relations(plan: PlanBuilder, member: int, place: int, args: Arrays, values: Values) -> None:
    """Turn all signs, and mix two of the vectors that come last: scores are odd, and linear in that one."""
    q, K, *matrices, v = args
    plan.judge("negated", member, plan.case(f"negated-{place}", -q, -K, *matrices, v))
    other = values.distinct(2, v.shape)
    second = plan.case(f"other-vector-{place}", q, K, *matrices, other)
    mixed = plan.case(f"mixed-vector-{place}", q, K, *matrices, 2 * v + other)
    plan.judge("linear-v", member, second, mixed, factors=(2.0, 1.0))


def add_saturated(plan: PlanBuilder, inputs: Sequence[Arrays]) -> None:
    """Add sums of thousands, where tanh is 1 or -1 and exponentials overflow; the first is public.

    The third argument is the matrix whose first column belongs to the query's first entry.
    """
    for place, (q, K, matrix, *rest) in enumerate(inputs):
        v = rest[-1]
        loud = np.where(np.arange(len(v)) % 2 == 0, 2000.0, -2000.0)
        first, column = q.copy(), matrix.copy()
        first[0], column[:, 0] = 1.5, loud
        member = plan.case(f"large-{place}", first, K, column, *rest, aspect="large", public=place == 0)
        plan.judge("agrees", member, cases="large", due=np.full(len(K), np.sign(loud) @ v))
