"""Items on scaled dot-product attention and self-attention."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.integration.by_hand.drawing import Numbers
from tests.integration.by_hand.words import Pick
from tests.oracles.loops import context, dot, matmul, softmax

__all__ = ["ITEMS"]


def scaled(queries: list[list[float]], keys: list[list[float]]) -> list[list[float]]:
    """S4: one row of scores for each query, over the root of the key's dimension."""
    return [[dot(q, k) / math.sqrt(len(k)) for k in keys] for q in queries]


def _three_steps(x: Numbers) -> Numbers:
    (e,) = scaled([x["q"]], x["K"])
    w = softmax(e)
    return {"e": e, "w": w, "c": context(w, x["V"])}


def _causal(x: Numbers) -> Numbers:
    """Token i is compared with the tokens up to itself; what comes later gets nothing."""
    X = x["X"]
    W = [softmax(row[: i + 1]) + [0.0] * (len(X) - 1 - i) for i, row in enumerate(scaled(X, X))]
    return {"W": W, "y": context(W[int(x["t"]) - 1], X)}


def _mask(x: Numbers) -> Numbers:
    def sees(looking: int, looked_at: int) -> int:
        return int(looked_at <= looking)

    n, N = range(int(x["n"])), range(int(x["N"]))
    return {"mask": [[sees(i, j) for j in n] for i in n], "pairs": sum(sees(i, j) for i in N for j in N)}


def _values(x: Numbers) -> Numbers:
    V = matmul(x["H"], x["M"])
    return {"V": V, "c": context(x["w"], V)}


_TOKENS = [[1.0, 0.2], [-0.5, 1.0], [0.3, -1.2], [2.0, 0.7]]  # any four different ones


def _attend(
    queries: list[list[float]], keys: list[list[float]], values: list[list[float]]
) -> list[list[float]]:
    return [context(softmax(row), values) for row in scaled(queries, keys)]


def _near(a: list[float], b: list[float]) -> bool:
    return all(abs(p - q) < 1e-9 for p, q in zip(a, b, strict=True))


def _reordered(x: Numbers) -> Numbers:
    """Carried out on four vectors: what the outputs are before and after, beside what is said of them."""
    case, order = x["case"], [int(p) - 1 for p in x["p"]]
    old, new = _TOKENS, [_TOKENS[p] for p in order]
    if case == "tokens":
        before, after = _attend(old, old, old), _attend(new, new, new)
    elif case == "causal":
        before, after = (
            [_attend([row], seen, seen)[0] for row, seen in ((X[i], X[: i + 1]) for i in range(4))]
            for X in (old, new)
        )
    else:
        query = [[0.6, -0.9]]
        before = _attend(query, old, old)
        after = _attend(query, new, new if case == "memory" else old)
    if case in ("tokens", "causal"):
        stays = all(map(_near, before, after))
        along = all(_near(after[place], before[p]) for place, p in enumerate(order))
        new_vectors = not any(_near(a, b) for a in after[:-1] for b in before)
    else:
        stays, along, new_vectors = _near(before[0], after[0]), False, not _near(before[0], after[0])
    changes = new_vectors and case == "keys"
    truth = {
        "takes its output vector along": along,
        "The old results come out, each of them moved": along,
        "The same four vectors come out as before, in the new order": along,
        f"Output 1 is now what the output of token {order[0] + 1} was": along,
        "since the weights move along with the states": stays,
        "only the order of the summands": stays,
        "as order plays no part in scores": stays,
        "since weights meet the values of other keys": changes,
        "with the same four numbers as weights": changes,
        "unless the values are reordered, too": changes,
        "since the tokens see others before them": not along and case == "causal",
        "gets its own value as its output": case == "causal" and _near(after[0], new[0]),
        "because the mask is tied to places": not along and case == "causal",
        "The outputs stay in their places": stays,
        "The outputs change, since scores depend on how far": False,
        "since the same keys and values are there": stays,
        "because the first of the states gets": False,
        "because the weights are other numbers now": False,
        "because the tokens now see the three others": False,
        "plain means": any(_near(row, context([1 / 4] * 4, old)) for row in after),
        "rescaled, since their sum changes": False,
        "shapes don't fit in this order": False,
        "Only the largest weight remains": False,
        "Its entries are put in the same new order": False,
        "It becomes the state or value that now stands last": any(_near(row, new[-1]) for row in after)
        and case != "causal",
    }
    return {"answer": Pick(truth)}


def _layers(x: Numbers) -> Numbers:
    """Fill in the three matrices place by place."""
    source, translation = range(int(x["n"])), range(int(x["m"]))
    return {
        "encoder": sum(1 for _ in source for _ in source),
        "decoder": sum(j <= i for i in translation for j in translation),
        "cross": sum(1 for _ in translation for _ in source),
    }


def _two(x: Numbers) -> Numbers:
    tokens = [[x["a"], 0.0], [0.0, x["b"]]]
    query = tokens[int(x["t"]) - 1]
    w = softmax([dot(query, key) for key in tokens])
    return {"w": w, "y": context(w, tokens)}


ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "causal-mask-matrix": _mask,
    "causal-self-attention": _causal,
    "permutation-of-tokens": _reordered,
    "sdpa-matrix": lambda x: {"answer": _attend(x["Q"], x["K"], x["V"])},
    "sdpa-output": _three_steps,
    "self-attention-two-tokens": _two,
    "self-attention-weights": lambda x: {"answer": [softmax(row) for row in scaled(x["X"], x["X"])]},
    "transformer-three-attentions": _layers,
    "value-transform": _values,
}
