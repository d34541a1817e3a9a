"""Layers of a Transformer as subjects of the right solutions: norms, positions, cross-attention, a cache."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.oracles import layers as oracle
from tests.unit.code.right_subjects import Args, Case, Subject, largest, listwise, wrong_sizes

LEADS = [(), (1,), (3,), (2, 3)]


def norm_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(24):
        d = int(rng.integers(1, 6))
        offset, spread = [(0.0, 1.0), (50.0, 1.0), (0.0, 1e-2), (-3.0, 30.0)][k % 4]
        x = offset + spread * rng.normal(size=(*LEADS[k % 3], d))
        gamma, beta = rng.normal(size=d), rng.normal(size=d)
        eps = [(), (0.5,)][k % 2]
        # the mean's rounding, beside what remains after it is subtracted
        steep = largest(x) / np.sqrt(x.var(axis=-1).min() + (eps or (1e-5,))[0])
        yield Case((x, gamma, beta, *eps), scale=(largest(gamma) + largest(beta)) * (1 + steep))
    yield Case((np.full((2, 3), 7.1), np.ones(3), np.ones(3)), scale=7.1 / np.sqrt(1e-5))


def norm(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    rows = x.reshape(-1, x.shape[-1]).tolist()
    result = [oracle.layer_norm(row, gamma.tolist(), beta.tolist(), eps) for row in rows]
    return np.array(result).reshape(x.shape)


def norm_grad_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(16):
        d = int(rng.integers(2, 6))
        x = [1.0, 10.0, 0.3][k % 3] * rng.normal(size=(*LEADS[k % 4], d))
        x[..., 0] += 2 * np.abs(x).max()  # no row without spread: its gradient would be steep without bound
        G, gamma = rng.normal(size=x.shape), rng.normal(size=d)
        deviation = np.sqrt(x.var(axis=-1).min())
        scale = x.size * largest(G) * largest(gamma) * (1 + largest(x) / deviation) ** 2 * (1 + 1 / deviation)
        yield Case((x, gamma, G, *[(), (0.5,)][k % 2]), scale=scale)


def norm_grad(
    x: np.ndarray, gamma: np.ndarray, G: np.ndarray, eps: float = 1e-5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    d = x.shape[-1]
    rows, outer = x.reshape(-1, d).tolist(), G.reshape(-1, d).tolist()
    dx, dgamma, dbeta = oracle.layer_norm_grad(rows, gamma.tolist(), outer, eps)
    return np.array(dx).reshape(x.shape), np.array(dgamma), np.array(dbeta)


def position_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(18):
        n, d = int(rng.integers(1, 6)), 2 * int(rng.integers(1, 5))
        positions = [np.arange(float(n)), rng.integers(-20, 300, n) + 0.0, 5 * rng.normal(size=n)][k % 3]
        yield Case((positions, d, *[(), (100.0,), (7.5,)][k % 3 if k < 9 else 0]), scale=largest(positions))


def wrong_widths(rng: np.random.Generator) -> Iterator[Args]:
    for d in (3, 1, 5, 0, -2):
        yield rng.normal(size=4), d


def rotary_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(18):
        n, d = int(rng.integers(1, 5)), 2 * int(rng.integers(1, 4))
        x = rng.normal(size=(*LEADS[k % 4], n, d))
        positions = [np.arange(float(n)), rng.integers(-20, 300, n) + 0.0, 5 * rng.normal(size=n)][k % 3]
        yield Case((x, positions, *[(), (100.0,)][k % 2]), scale=2 * largest(x) * largest(positions))


def rotary(x: np.ndarray, positions: np.ndarray, base: float = 10000.0) -> np.ndarray:
    matrices = x.reshape(-1, *x.shape[-2:]).tolist()
    turned = [oracle.rotary_positions(matrix, positions.tolist(), base) for matrix in matrices]
    return np.array(turned).reshape(x.shape)


def cross_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(24):
        m, n, d, e, dk, dv = [(1,) * 6, (3,) * 6, (2, 3, 4, 5, 2, 4)][k] if k < 3 else rng.integers(1, 5, 6)
        lead = LEADS[k % 4]
        X, M = (rng.normal(size=(*lead, *shape)) * rng.choice([1, 1, 20]) for shape in ((m, d), (n, e)))
        Wq, Wk, Wv = (rng.normal(size=shape) for shape in ((d, dk), (e, dk), (e, dv)))
        mask, present = rng.random((m, n)) < 0.7, rng.random((*lead, n)) < 0.7
        if k % 2:  # every row sees something, and gradients are defined
            mask[:, 0], present[..., 0] = True, True
        queries, keys = np.abs(X) @ np.abs(Wq), np.abs(M) @ np.abs(Wk)
        size = 30 + largest(queries) * largest(keys) * dk
        yield Case((X, M, Wq, Wk, Wv, mask, present), scale=largest(np.abs(M) @ np.abs(Wv)), size=size)


def cross(
    X: np.ndarray,
    M: np.ndarray,
    Wq: np.ndarray,
    Wk: np.ndarray,
    Wv: np.ndarray,
    mask: np.ndarray,
    present: np.ndarray,
) -> np.ndarray:
    sentences = zip(
        X.reshape(-1, *X.shape[-2:]).tolist(),
        M.reshape(-1, *M.shape[-2:]).tolist(),
        present.reshape(-1, present.shape[-1]).tolist(),
        strict=True,
    )
    shared = Wq.tolist(), Wk.tolist(), Wv.tolist(), mask.tolist()
    result = [oracle.cross_attention(x, tokens, *shared, there) for x, tokens, there in sentences]
    return np.array(result).reshape(*X.shape[:-1], Wv.shape[1])


def cross_misfits(rng: np.random.Generator) -> Iterator[Args]:
    right = [(2, 3, 4), (2, 5, 6), (4, 2), (6, 2), (6, 3), (3, 5), (2, 5)]
    wrong: dict[int, list[tuple[int, ...]]] = {
        0: [(2, 3, 1), (2, 4, 4), (3, 3, 4), (1, 3, 4), (3, 4)],
        1: [(2, 5, 1), (2, 4, 6), (2, 1, 6), (1, 5, 6), (5, 6)],
        2: [(3, 2), (4, 1), (1, 2)],
        3: [(4, 2), (6, 3), (6, 1)],
        4: [(4, 3), (1, 3)],
        5: [(1, 5), (3, 1), (2, 5), (5, 3), (1, 1)],
        6: [(5,), (1, 5), (2, 1), (3, 5), (2, 3)],
    }
    for args in wrong_sizes(right, wrong)(rng):
        yield (*args[:5], args[5] > 0, args[6] > 0)


def cache_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(24):
        t, d, dk, dv = [(0, 1, 1, 1), (3, 3, 3, 3), (0, 2, 3, 4)][k] if k < 3 else rng.integers(1, 6, 4)
        x, K, V = (
            rng.normal(size=d) * rng.choice([1, 1, 100]),
            rng.normal(size=(t, dk)),
            rng.normal(size=(t, dv)),
        )
        Wq, Wk, Wv = (rng.normal(size=shape) for shape in ((d, dk), (d, dk), (d, dv)))
        values = max(largest(V), largest(np.abs(x) @ np.abs(Wv)))
        keys = max(largest(K), largest(np.abs(x) @ np.abs(Wk)))
        yield Case((x, K, V, Wq, Wk, Wv), values, 30 + largest(np.abs(x) @ np.abs(Wq)) * keys * dk)


SUBJECTS = {
    "layer-norm": Subject(
        norm_cases,
        norm,
        wrong_sizes(
            [(2, 3), (3,), (3,)],
            {1: [(1,), (2,), (4,), (1, 3), (2, 3), ()], 2: [(1,), (2,), (1, 3), (2, 3), ()]},
        ),
    ),
    "layer-norm-grad": Subject(
        norm_grad_cases,
        norm_grad,
        wrong_sizes(
            [(2, 3), (3,), (2, 3)],
            {1: [(1,), (2,), (1, 3), (2, 3), ()], 2: [(3,), (1, 3), (2, 1), (3, 3), (1, 2, 3)]},
        ),
        differentiable=False,
    ),
    "sinusoidal-positions": Subject(
        position_cases, listwise(oracle.sinusoidal_positions), wrong_widths, differentiable=False
    ),
    "rotary-positions": Subject(
        rotary_cases,
        rotary,
        wrong_sizes(
            [(2, 3, 4), (3,)], {0: [(2, 3, 3), (2, 3, 1)], 1: [(1,), (2,), (4,), (1, 3), (3, 1), ()]}
        ),
    ),
    "cross-attention": Subject(cross_cases, cross, cross_misfits),
    "kv-cache": Subject(
        cache_cases,
        listwise(oracle.kv_cache),
        wrong_sizes(
            [(4,), (2, 3), (2, 5), (4, 3), (4, 3), (4, 5)],
            {0: [(3,), (1,)], 1: [(2, 2), (2, 1), (3, 3), (1, 3)], 2: [(2, 4), (2, 1), (3, 5), (1, 5)]}
            | {3: [(3, 3), (1, 3), (4, 2), (4, 1)], 4: [(3, 3), (4, 2), (4, 1)], 5: [(3, 5), (4, 4), (4, 1)]},
        ),
    ),
}
