"""Known mistakes of the items on attention weights and context vectors."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.integration.by_hand.drawing import Numbers
from tests.integration.by_hand.mistakes.formulas import contexts, weights
from tests.integration.by_hand.weights import ITEMS as RIGHT
from tests.oracles.loops import context, softmax

__all__ = ["ITEMS"]


def _possible(x: Numbers) -> Numbers:
    """Mixtures that the options show beside the impossible point."""
    return {"answer": {f"m-possible-context-{i}": context(x[f"w{i}"], x["H"]) for i in (1, 2, 3)}}


def _missing(x: Numbers) -> Numbers:
    lost = int(x["gap"]) - 1
    others = [0 if j == lost else w for j, w in enumerate(x["w"])]
    return {
        "a": {"m-equal-share": 1 / 4, "m-mean-of-others": sum(others) / 3, "m-others-sum": sum(others)},
        "c": contexts(x["w"], x["H"]) | {"m-lost-term": context(others, x["H"])},
    }


def _one_step_each(x: Numbers) -> Numbers:
    one, two = context(x["A1"], x["H"]), context(x["A2"], x["H"])
    return {
        "C": {
            "m-same-context": [one, one],
            "m-rows-exchanged": [two, one],
            "m-swap-w": [contexts(x[a], x["H"])["m-swap-w"] for a in ("A1", "A2")],
            "m-uniform": [contexts(x["A1"], x["H"])["m-uniform"]] * 2,
        }
    }


def _as_printed(x: Numbers) -> Numbers:
    wrong = weights(x["e"])
    return {"literal": wrong | {"m-intended-weights": softmax(x["e"])}, "w": wrong}


def _pass(x: Numbers) -> Numbers:
    s, H = x["s"], x["H"]
    right = RIGHT["full-attention-pass"](x)
    e, alpha, a = right["e"], right["alpha"], right["a"]
    return {
        "e": {
            "m-scaled": [score / math.sqrt(len(s)) for score in e],
            "m-first-product": [s[0] * h[0] for h in H],
            "m-abs-products": [sum(abs(p * q) for p, q in zip(s, h, strict=True)) for h in H],
            "m-weights-early": softmax(e),
        },
        "alpha": weights(e),
        "a": contexts(alpha, H, e),
        "o": {"m-state-first": s + a, "m-last-state-concat": H[-1] + s},
    }


def _padded(x: Numbers) -> Numbers:
    """The mask is 1 for words and 0 for padding."""
    e, n = x["e"], int(x["n"])
    words = n - int(x["pad"])
    mask = [int(j < words) for j in range(n)]
    unmasked = softmax(e)
    hidden = [math.exp(s) * (1 - m) for s, m in zip(e, mask, strict=True)]
    return {
        "answer": {
            "m-no-mask": unmasked,
            "m-mask-after": [w * m for w, m in zip(unmasked, mask, strict=True)],
            "m-mask-zero": softmax([s * m for s, m in zip(e, mask, strict=True)]),
            "m-mask-inv": [p / sum(hidden) for p in hidden],
            "m-mask-uniform": [m / words for m in mask],
        }
    }


def _scales(x: Numbers) -> Numbers:
    r, d = [float(a) for a in x["r"]], float(x["d"])
    root = math.sqrt(d)
    gap = max(r) - min(r)
    scaled = [a / root for a in r]
    return {
        "plain": weights(r) | {"m-scaled": softmax(scaled)},
        "w": weights(scaled)
        | {
            "m-unscaled": softmax(r),
            "m-div-d": softmax([a / d for a in r]),
            "m-scale-after": [w / root for w in softmax(r)],
        },
        "ratio": {"m-unscaled": math.exp(gap), "m-ratio-scaled": math.exp(gap) / root},
    }


def _back_to_scores(x: Numbers) -> Numbers:
    w = [float(a) for a in x["w"]]
    known = float(x["known"])
    logs = [math.log(a) for a in w]
    ratio = w[0] / w[1]
    return {
        "gap": {
            "m-weight-difference": w[0] - w[1],
            "m-weight-ratio": ratio,
            "m-log2": math.log2(ratio),
            "m-log10": math.log10(ratio),
            "m-log-sign": -math.log(ratio),
        },
        "e": {"m-log-of-weights": logs, "m-log-sign": [known - (log - logs[1]) for log in logs]},
    }


def _ratio(x: Numbers) -> Numbers:
    first, second = x["e"][int(x["i"]) - 1], x["e"][int(x["j"]) - 1]
    w_i, w_j = (softmax(x["e"])[int(x[name]) - 1] for name in ("i", "j"))
    return {
        "answer": {
            "m-difference": first - second,
            "m-base2": 2 ** float(first - second),
            "m-score-ratio": first / second if second else None,
            "m-inverse-ratio": w_j / w_i,
            "m-weight-difference": w_i - w_j,
        }
    }


def _warm(x: Numbers) -> Numbers:
    e, T = x["e"], x["T"]
    return {
        "w": weights([s / T for s in e])
        | {
            "m-no-temperature": softmax(e),
            "m-times-temperature": softmax([s * T for s in e]),
            "m-temperature-after": [w / float(T) for w in softmax(e)],
        }
    }


def _inverse(x: Numbers) -> Numbers:
    return {"answer": {"m-swap-w": [1 - x["a"], x["a"]], "m-equal-weights": [0.5, 0.5]}}


def _answers_to_scores(x: Numbers) -> Numbers:
    w1, w2, far = x["w1"], x["w2"], x["far"]
    return {
        "own": {"m-square-of-weight": w1**2, "m-cross-derivative": -w1 * w2},
        "other": {"m-logp-sign": w1 * w2, "m-wrong-score": -w1 * (1 - w1 - w2)},
        "saturated": {"m-square-of-weight": far**2, "m-old-derivative": w1 - w1**2},
    }


ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "context-bounds": _possible,
    "context-inverse": _inverse,
    "context-lost-index": _one_step_each,
    "context-missing-weight": _missing,
    "context-vector": lambda x: {"answer": contexts(x["w"], x["H"])},
    "find-the-index-error": _as_printed,
    "full-attention-pass": _pass,
    "masked-weights": _padded,
    "scale-effect": _scales,
    "softmax-derivatives": _answers_to_scores,
    "softmax-inverse": _back_to_scores,
    "softmax-ratio": _ratio,
    "softmax-temperature": _warm,
    "softmax-weights": lambda x: {"answer": weights(x["e"])},
}
