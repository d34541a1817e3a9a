"""What the exercises around attention are tried with: entropy, sampling, tiles, groups, a whole block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tests.oracles import attention_parts as parts
from tests.unit.code.right_subjects import (
    Args,
    Case,
    Subject,
    largest,
    listwise,
    no_misfits,
    shapes,
    wrong_sizes,
)


def grouped_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(24):
        g, shared, m, n, d, dv = rng.integers(1, 5, 6) if k > 1 else [(1,) * 6, (2, 2, 2, 3, 2, 2)][k]
        Q, K = rng.normal(size=(g * shared, m, d)) * rng.choice([1, 1, 30]), rng.normal(size=(g, n, d))
        V = rng.normal(size=(g, n, dv))
        yield Case((Q, K, V), scale=largest(V), size=30 + largest(Q) * largest(K) * d)


def grouped_misfits(rng: np.random.Generator) -> Iterator[Args]:
    shapes = [(6, 3, 4), (2, 5, 4), (2, 5, 3)]
    wrong: dict[int, Sequence[tuple[int, ...]]] = {
        0: [(5, 3, 4), (3, 3, 4), (1, 3, 4), (6, 3, 3)],
        1: [(4, 5, 4), (1, 5, 4), (2, 4, 4), (2, 5, 3)],
        2: [(3, 5, 3), (2, 4, 3), (6, 5, 3)],
    }
    yield from wrong_sizes(shapes, wrong)(rng)


def online_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(30):
        q, n, dv = rng.integers(1, 5, 3)
        far = float(rng.choice([1, 3, 300]))
        x, V = rng.normal(size=(q, n)) * far, rng.normal(size=(n, dv))
        m, l, o = rng.normal(size=q) * far, rng.uniform(1, 4, size=q), rng.normal(size=(q, dv))
        if k % 3 == 0:
            m, l, o = np.full(q, -np.inf), np.zeros(q), np.zeros((q, dv))
        yield Case((m, l, o, x, V), scale=2 * n * largest(V), size=30 + 2 * largest(x))


def entropy_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k, lead in enumerate([lead for lead in shapes(rng) if 0 not in lead] * 4):
        A = rng.uniform(0.2, 1, size=(*lead, int(rng.integers(1, 7))))
        if k % 2:
            A = A**9 * (rng.random(A.shape) < 0.7)
            A[..., 0] += 1e-3
        # at a weight of 0 there is no slope, and near it no difference gives it: such sizes have none tried
        size = 200.0 if k % 2 else 30.0
        yield Case((A / A.sum(-1, keepdims=True), *[(), (True,), (False,)][k % 3]), size=size)
    yield Case((np.array([[0.0, 1.0], [0.5, 0.5]]), True), size=200)
    yield Case((np.array([1.0]), True), size=200)


def attention_entropy(A: np.ndarray, normalised: bool = False) -> np.ndarray:
    rows = [parts.attention_entropy(row, normalised) for row in A.reshape(-1, A.shape[-1]).tolist()]
    return np.array(rows).reshape(A.shape[:-1])


def cross_entropy_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(30):
        n, V = int(rng.integers(1, 5)), int(rng.integers(2, 6))
        lead = [(), (2,), (3,), (2, 2)][k % 4]
        logits = rng.normal(size=(*lead, n, V)) * rng.choice([1, 3])
        pad = [0, -1, -100, V - 1, 1][k % 5]
        labels = rng.integers(0, V, size=(*lead, n))
        labels[rng.random(labels.shape) < 0.3] = pad
        if k % 10 == 9:
            labels[...] = pad
        yield Case((logits, labels, pad), scale=30)
    logits = np.tile([[-750.0, 0.0, 1.0], [1e4, 1e4, 1e4], [2.0, 1.0, 0.0], [0.0, -1e4, 0.0]], (5, 1))[:17]
    labels = np.array([0, 2, 1, 0] + [1, 0] * 6 + [-1])
    # the perplexity, about exp(750 / 16), multiplies the error of the loss by itself
    yield Case((logits, labels, -1), scale=1e21, size=1e4)


def cross_entropy(logits: np.ndarray, labels: np.ndarray, pad: int) -> tuple[np.ndarray, ...]:
    rows = logits.reshape(-1, logits.shape[-1]).tolist()
    return tuple(np.array(number) for number in parts.cross_entropy(rows, labels.reshape(-1).tolist(), pad))


def block_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(24):
        n, d, dk, dv, f = rng.integers(1, 5, 5)
        d += 1
        shapes = dict.fromkeys(("gain1", "bias1", "gain2", "bias2", "c2"), (d,))
        shapes |= {"Wq": (d, dk), "Wk": (d, dk), "Wv": (d, dv), "Wo": (dv, d), "W1": (d, f), "W2": (f, d)}
        p = {name: rng.normal(size=shape) for name, shape in (shapes | {"c1": (f,)}).items()}
        # a row of nearly equal entries is spread by its norm, errors too
        X = rng.normal(size=(n, d)) + 3 * np.arange(d)
        yield Case((X * (1 + k % 2), p), scale=500, size=200)


def error_rate_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(40):
        m, n = rng.integers(1, 6, 2)
        A = rng.exponential(size=(m, n)) if k % 2 else rng.integers(1, 3, size=(m, n)) + 0.0
        sure, possible = rng.random((m, n)) < [0.3, 0.3, 0.0, 1.0][k % 4], rng.random((m, n)) < 0.4
        yield Case((A / A.sum(1, keepdims=True), sure, possible))


SUBJECTS = {
    "grouped-query-attention": Subject(
        grouped_cases, listwise(parts.grouped_query_attention), grouped_misfits
    ),
    "online-softmax": Subject(online_cases, listwise(parts.online_softmax), no_misfits, differentiable=False),
    "attention-entropy": Subject(entropy_cases, attention_entropy, no_misfits),
    "cross-entropy": Subject(cross_entropy_cases, cross_entropy, no_misfits),
    "transformer-block": Subject(block_cases, listwise(parts.transformer_block), no_misfits),
    "alignment-error-rate": Subject(
        error_rate_cases, listwise(parts.alignment_error_rate), no_misfits, differentiable=False
    ),
}
