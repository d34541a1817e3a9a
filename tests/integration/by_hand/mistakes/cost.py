"""Known mistakes of the items that count, by the registry's formulas."""

from __future__ import annotations

from collections.abc import Callable

from tests.integration.by_hand.cost import ITEMS as RIGHT
from tests.integration.by_hand.drawing import Numbers

__all__ = ["ITEMS"]


def _learned_score(x: Numbers) -> Numbers:
    da, ds, dh = x["da"], x["ds"], x["dh"]
    matrices = da * ds + da * dh
    wrong = {
        "m-no-vector": matrices,
        "m-with-biases": matrices + da + da,  # one bias for each row of the sum
        "m-bilinear-count": ds * dh,
        "m-sizes-multiplied": da * ds * dh + da,
        "m-no-u-count": da * ds + da,
        "m-no-w-count": da * dh + da,
    }
    return {"answer": wrong}


def _learned_decoder(x: Numbers) -> Numbers:
    ds, dh, de, V = x["ds"], x["dh"], x["de"], x["V"]
    right = RIGHT["decoder-params"](x)
    return {
        "state": {
            "m-no-rec-count": ds * (dh + de),
            "m-no-token-count": ds * dh + ds**2,
            "m-no-context-count": ds * de + ds**2,
            "m-one-hot-token": ds * (dh + V) + ds**2,
            "m-with-biases": right["state"] + ds,
        },
        "all": {
            "m-output-only": V * ds,
            "m-output-of-context": right["state"] + V * (ds + dh),
            "m-with-biases": right["all"] + ds + V,
        },
    }


def _kept(x: Numbers) -> Numbers:
    tx, ty, da, ds, dh = (x[name] for name in ("tx", "ty", "da", "ds", "dh"))
    keys, queries = tx * da * dh, ty * da * ds
    return {
        "anew": {
            "m-one-step-only": keys,
            "m-steps-only": ty * da * dh,
            "m-wrong-state-size": tx * ty * da * ds,
        },
        "once": {"m-not-kept": tx * ty * da * dh, "m-single-product": da * dh, "m-steps-only": ty * da * dh},
        "whole": {
            "m-no-v-products": keys + queries,
            "m-state-for-each-position": keys + tx * queries + tx * ty * da,
            "m-v-once-a-step": keys + queries + ty * da,
        },
    }


def _product(x: Numbers) -> Numbers:
    n, k, d = x["n"], x["k"], x["d"]
    return {
        "outputs": {"m-left-entries": n * k, "m-right-entries": k * d, "m-products-for-entries": n * k * d},
        "products": {
            "m-entries-for-products": n * d,
            "m-additions": n * d * (k - 1),
            "m-factor-entries": n * k + k * d,
        },
        "depth": {"m-depth-1": 1, "m-transitions": n - 1},
    }


def _stored(x: Numbers) -> Numbers:
    h, n, size = x["h"], x["n"], x["size"]
    return {
        "weights": {"m-linear-memory": h * n, "m-one-head-memory": n**2, "m-divided-heads": n**2 / h},
        "bytes": {"m-bits": h * n**2 * 8 * size, "m-no-size": h * n**2},
    }


def _heads(x: Numbers) -> Numbers:
    h, size, other = x["h"], x["size"], x["other"]
    d = h * size
    no_output = 3 * d**2
    return {
        "one": {"m-whole-matrix": d**2, "m-head-square": size**2},
        "all": {
            "m-full-heads": 4 * d**2 * h,
            "m-no-output-matrix-count": no_output,
            "m-one-head": 4 * d**2 / h,
            "m-with-biases": 4 * d**2 + 4 * d,
        },
        "changed": {
            "m-heads-scale": 4 * d**2 * other / h,
            "m-heads-inverse": 4 * d**2 * h / other,
            "m-no-output-matrix-count": no_output,
        },
    }


def _scored(x: Numbers) -> Numbers:
    tx, ty, f = x["source"], x["target"], x["more"]
    return {
        "scores": {
            "m-tx-only": tx,
            "m-ty-only": ty,
            "m-lengths-added": tx + ty,
            "m-square-source": tx**2,
        },
        "longer": {"m-linear-growth": tx * ty * f, "m-growth-once": tx * ty * 2 * f},
    }


def _longer(x: Numbers) -> Numbers:
    n, d, f = x["n"], x["d"], x["f"]
    return {
        "scores": {"m-linear-cost": n * d, "m-pairs-only": n**2, "m-both-products": 2 * n**2 * d},
        "both": {"m-scores-only": n**2 * d, "m-weights-linear": n**2 * d + n * d},
        "growth": {
            "m-linear-growth": f,
            "m-growth-once": 2 * f,
            "m-cubic-growth": f**3,
            "m-exponential-growth": 2**f,
        },
    }


def _explained(x: Numbers) -> Numbers:
    n, f = x["n"], x["f"]
    growth = {"m-linear-growth": f, "m-growth-once": 2 * f}
    growth |= {"m-cubic-growth": f**3, "m-exponential-growth": 2**f}
    return {"weights": {"m-linear-cost": n}, "growth": growth}


ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "attention-cost-explained": _explained,
    "additive-params": _learned_score,
    "additive-precompute": _kept,
    "decoder-params": _learned_decoder,
    "matmul-parallel": _product,
    "memory-weights": _stored,
    "multi-head-param-count": _heads,
    "score-evaluations": _scored,
    "self-attention-cost": _longer,
}
