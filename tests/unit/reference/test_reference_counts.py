"""Counts against arrays that are really made and products that are really computed."""

from __future__ import annotations

import itertools
import math
from collections import deque

import pytest
import torch

import reference as ref
from tests.oracles.counting import Counted, Watch, matrix, product, transposed

SIZES = [(2, 3, 4, 5), (5, 4, 3, 2), (1, 1, 1, 1)]


def size_of(*shapes: tuple[int, ...]) -> int:
    return sum(torch.zeros(shape).numel() for shape in shapes)


@pytest.mark.parametrize(("a", "b", "c", "d"), SIZES)
def test_parameters_equal_made_arrays(a: int, b: int, c: int, d: int) -> None:
    count = ref.count_params
    assert count("dot") == count("scaled_dot") == 0
    assert count("bilinear", dq=a, dk=b) == size_of((a, b))
    assert count("additive", da=a, ds=b, dh=c) == size_of((a, b), (a, c), (a,))
    assert count("concat", da=a, dq=b, dk=c) == size_of((a, b + c), (a,))
    assert count("rnn", dh=a, dx=b) == size_of((a, a), (a, b))
    assert count("decoder", ds=a, dh=b, de=c, V=d) == size_of((a, b + c), (a, a), (d, a))
    assert count("self_attention", d=a, dk=b, dv=c) == size_of((a, b), (a, b), (a, c))
    assert count("concat", da=a, dq=b, dk=c) == count("additive", da=a, ds=b, dh=c)


@pytest.mark.parametrize("h", [1, 2, 4])
def test_multi_head_parameters_equal_torch_and_do_not_depend_on_h(h: int) -> None:
    layer = torch.nn.MultiheadAttention(8, h, bias=False)
    assert ref.count_params("multi_head", d=8, h=h) == sum(p.numel() for p in layer.parameters()) == 4 * 64


@pytest.mark.parametrize(("n", "a", "b", "c"), SIZES)
def test_multiplications_equal_computed_products(n: int, a: int, b: int, c: int) -> None:
    count = ref.count_ops
    with Watch() as watch:
        product(matrix(n, a), matrix(a, b))
    assert watch.count == count("matmul", n=n, k=a, d=b)
    assert count("matmul_outputs", n=n, d=b) == len(matrix(n, b)) * b
    with Watch() as watch:
        product(matrix(n, a), matrix(a, 1))
    assert watch.count == count("dot", n=n, d=a)
    with Watch() as watch:
        query = product(transposed(matrix(a, b)), matrix(a, 1))
        product(matrix(n, b), query)
    assert watch.count == count("bilinear", n=n, dq=a, dk=b)
    with Watch() as watch:
        weights = product(matrix(n, a), transposed(matrix(n, a)))
        product(weights, matrix(n, b))
    assert watch.count == count("self_attention", n=n, dk=a, dv=b)
    with Watch() as watch:
        for _ in range(n):
            product(matrix(a, a), matrix(a, 1))
            product(matrix(a, b), matrix(b, 1))
    assert watch.count == count("rnn", n=n, dh=a, dx=b)


@pytest.mark.parametrize(("tx", "ty", "da", "ds", "dh"), [(2, 3, 4, 5, 6), (7, 2, 3, 2, 4), (1, 1, 1, 1, 1)])
def test_additive_schedules(tx: int, ty: int, da: int, ds: int, dh: int) -> None:
    dims = {"tx": tx, "ty": ty, "da": da, "ds": ds, "dh": dh}
    W, U, v = matrix(da, ds), matrix(da, dh), matrix(1, da)
    s, h = matrix(ds, 1), matrix(dh, 1)

    def score(left: list[list[Counted]], right: list[list[Counted]]) -> None:
        total = [[x + y for x, y in zip(a, b, strict=True)] for a, b in zip(left, right, strict=True)]
        product(v, total)

    with Watch() as watch:
        for _ in range(ty):
            for _ in range(tx):
                score(product(W, s), product(U, h))
    assert watch.count == ref.count_ops("additive_per_score", **dims)
    with Watch() as watch:
        for _ in range(ty):
            query = product(W, s)
            for _ in range(tx):
                score(query, product(U, h))
    assert watch.count == ref.count_ops("additive_per_step", **dims)
    with Watch() as watch:
        keys = [product(U, h) for _ in range(tx)]
        for _ in range(ty):
            query = product(W, s)
            for key in keys:
                score(query, key)
    assert watch.count == ref.count_ops("additive_precomputed", **dims)


def test_score_evaluations_and_stored_weights() -> None:
    assert ref.count_ops("score_evaluations", tx=3, ty=5) == len(list(itertools.product(range(3), range(5))))
    assert ref.count_ops("stored_weights", h=4, n=7) == torch.zeros(4, 7, 7).numel()
    weights = torch.zeros(4, 7, 7, dtype=torch.float32)
    assert ref.count_ops("stored_weights_bytes", h=4, n=7, bytes_each=4) == weights.nbytes


@pytest.mark.parametrize("b", [1, 2, 3, 4, 9, 30])
@pytest.mark.parametrize(("V", "T"), [(2, 4), (3, 3), (5, 2), (4, 1)])
def test_candidates_equal_a_watched_search(V: int, T: int, b: int) -> None:
    scored = 0

    def step(y: int, s: int) -> tuple[list[float], int]:
        nonlocal scored
        scored += V
        return [1 / V] * V, s

    ref.beam_search(step, 0, b, 0, -1, T)
    assert scored == ref.count_ops("beam_candidates", V=V, T=T, b=b)
    if b <= V:
        assert scored == V + (T - 1) * b * V  # V at the first step, b * V at each later one
    scored = 0
    ref.greedy_decode(step, 0, 0, -1, T)
    assert scored == ref.count_ops("greedy_candidates", V=V, T=T)
    assert len(ref.exhaustive(step, T, bos=0, eos=-1)) == ref.count_ops("exhaustive_candidates", V=V, T=T)


def test_bottleneck_capacity() -> None:
    assert ref.count_ops("bottleneck_tokens", d=256, V=2**15, bits=32) == 546
    for d, V, bits in itertools.product((1, 2, 7), (2, 3, 10, 16, 17, 1000), (1, 8, 32)):
        n = ref.count_ops("bottleneck_tokens", d=d, V=V, bits=bits)
        assert V**n <= 2 ** (d * bits) < V ** (n + 1)
    for k in (3, 5, 60):  # at and beside powers of 2, where logarithms would miss by one
        assert ref.count_ops("bottleneck_tokens", d=k, V=2**k, bits=5) == 5
        assert ref.count_ops("bottleneck_tokens", d=k, V=2**k + 1, bits=5) == 4
        assert ref.count_ops("bottleneck_tokens", d=k, V=2**k - 1, bits=1) == 1


def longest_path(edges: dict[object, list[object]]) -> dict[object, int]:
    """Steps until each node of a graph is there; nodes without needs are there at once."""
    depth: dict[object, int] = {}
    queue = deque(edges)
    while queue:
        node = queue.popleft()
        if all(need in depth for need in edges[node]):
            depth[node] = 1 + max((depth[need] for need in edges[node]), default=-1)
        else:
            queue.append(node)
    return depth


def test_depth_equals_the_longest_path_of_the_graph() -> None:
    """S3 figure 3: a state needs its left neighbour and what lies below it."""
    n, layers = 6, 4
    edges: dict[object, list[object]] = {(t, 0): [] for t in range(1, n + 1)}
    for t, layer in itertools.product(range(1, n + 1), range(1, layers + 1)):
        edges[t, layer] = [(t, layer - 1)] + ([(t - 1, layer)] if t > 1 else [])
    depth = longest_path(edges)
    for t, layer in itertools.product(range(1, n + 1), range(1, layers + 1)):
        assert ref.sequential_depth("rnn_state", t=t, layer=layer) == depth[t, layer]
    assert ref.sequential_depth("rnn", n=n) == depth[n, 1]
    edges = {(t, 0): [] for t in range(1, n + 1)}
    for t, layer in itertools.product(range(1, n + 1), range(1, layers + 1)):
        edges[t, layer] = [(u, layer - 1) for u in range(1, n + 1)]
    assert ref.sequential_depth("self_attention", layers=layers) == longest_path(edges)[n, layers]


def test_distances() -> None:
    for i, j in ((1, 4), (4, 1), (2, 2)):
        assert ref.sequential_depth("rnn_distance", i=i, j=j) == len(range(min(i, j), max(i, j)))
        assert ref.sequential_depth("attention_distance", i=i, j=j) == 1


@pytest.mark.parametrize("count", [ref.count_params, ref.count_ops, ref.sequential_depth])
def test_bad_kinds_and_dimensions(count) -> None:
    with pytest.raises(ref.ArgumentError, match="kind is 'lstm', expected one of"):
        count("lstm")
    kind, dims = {
        ref.count_params: ("rnn", {"dh": 2, "dx": 3}),
        ref.count_ops: ("dot", {"n": 2, "d": 3}),
        ref.sequential_depth: ("rnn_state", {"t": 2, "layer": 3}),
    }[count]
    names = ", ".join(dims)
    assert count(kind, **dims) > 0
    with pytest.raises(ref.ArgumentError, match=f"{kind} needs {names}, got nothing"):
        count(kind)
    with pytest.raises(ref.ArgumentError, match="needs"):
        count(kind, **dims, q=1)
    name = next(iter(dims))
    for bad in (0, -1, 1.5, True, math.nan, "2"):
        with pytest.raises(ref.ArgumentError, match=f"{name} is"):
            count(kind, **{**dims, name: bad})
    assert count(kind, **{**dims, name: 2.0}) == count(kind, **{**dims, name: 2})


def test_other_refusals() -> None:
    with pytest.raises(ref.ArgumentError, match="doesn't divide"):
        ref.count_params("multi_head", d=8, h=3)
    with pytest.raises(ref.ArgumentError, match="V is 1"):
        ref.count_ops("bottleneck_tokens", d=8, V=1, bits=32)
