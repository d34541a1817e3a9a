"""The right solutions against oracles that share nothing with the exercises, the checks or ``reference``."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.oracles import attention_parts as parts
from tests.oracles import code_exercises as oracle
from tests.unit.code.attention_subjects import SUBJECTS as AROUND_ATTENTION
from tests.unit.code.layer_subjects import SUBJECTS as LAYERS
from tests.unit.code.right_subjects import (
    WIDE,
    Args,
    Case,
    Subject,
    deep,
    largest,
    leaves,
    listwise,
    no_misfits,
    shapes,
    wrong_sizes,
)

pytestmark = pytest.mark.slow

RIGHT = Path(__file__).parent / "right"
FILES = [path for path in sorted(RIGHT.glob("*/*.py")) if path.parent.name not in ("softmax", "sdpa")]
DTYPES = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
# exp(x - log Z) loses eps |x| in the weights; these styles are right all the same
LOG_SPACE = {"log_space", "torch_log_softmax", "torch_logsumexp"}


@cache
def load(path: Path) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location(f"right_{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[..., Any] = getattr(module, path.parent.name.replace("-", "_"))
    return function


def uses_torch(path: Path) -> bool:
    return "import torch" in path.read_text() or "from torch" in path.read_text()


def given(array: np.ndarray, path: Path, dtype: str, layout: int) -> Any:
    """The array in the submission's library and dtype: packed, transposed or with gaps; read-only."""
    if array.dtype.kind == "f" and dtype != "bfloat16":
        array = array.astype(dtype)
    if array.ndim == 0:
        return torch.tensor(array) if uses_torch(path) else array
    spread, flipped = np.repeat(array, 2, axis=-1), np.ascontiguousarray(array.T)
    whole = [array.copy(), flipped, spread][layout]
    if uses_torch(path):
        tensor = torch.tensor(whole)
        if array.dtype.kind == "f":
            tensor = tensor.to(getattr(torch, dtype))
        return [tensor, tensor.permute(*reversed(range(tensor.ndim))), tensor[..., ::2]][layout]
    result = [whole, whole.T, whole[..., ::2]][layout]
    result.flags.writeable = False
    return result


def exact(value: Any) -> Any:
    """The arguments as they arrive in the dtype, as arrays of float64, integers and bool for the oracle."""

    def plain(array: Any) -> np.ndarray:
        if isinstance(array, torch.Tensor):
            array = array.detach().double() if array.is_floating_point() else array.detach()
            return array.numpy().copy()
        return array.astype(np.float64) if array.dtype.kind == "f" else array.copy()

    return deep(plain, value)


def call(function: Callable[..., Any], args: Args) -> Any:
    with warnings.catch_warnings():  # warnings never cost marks
        warnings.simplefilter("ignore")
        return function(*args)


def assert_close(got: Any, want: Any, path: Path, dtype: str, case: Case) -> None:
    if isinstance(want, tuple):
        assert type(got) in (tuple, list) and len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            assert_close(one, other, path, dtype, case)
        return
    scalars = () if want.shape else (np.float64, np.float32)  # a number without axes is often a scalar
    assert type(got) in ((torch.Tensor,) if uses_torch(path) else (np.ndarray, *scalars))
    assert str(got.dtype).removeprefix("torch.") == dtype
    assert tuple(got.shape) == want.shape
    (numbers,) = leaves((exact(got),))
    size = case.size + (case.log_size if path.stem in LOG_SPACE else 0.0)
    np.testing.assert_allclose(numbers, want, rtol=0, atol=4 * DTYPES[dtype] * size * case.scale)


def masked_softmax_cases(rng: np.random.Generator) -> Iterator[Case]:
    for lead, scale in zip([*shapes(rng)] * 3, [1, 10, 1e4] * 10, strict=True):
        n = int(rng.integers(1, 7))
        scores = rng.normal(size=(*lead, n)) * min(scale, 3e3)
        full = scores.shape
        shape = [full, full[-1:], full[-2:], (*full[:-1], 1), full][rng.integers(5)]
        mask = rng.random(shape) < 0.6
        if rng.random() < 0.4:
            mask[..., : max(1, n - 1)] = False
        hidden = ~np.broadcast_to(mask, full)
        scores[hidden] = rng.choice([1e4, -1e4, 0.0], size=hidden.sum())
        yield Case((scores, mask), log_size=largest(np.where(hidden, 0, scores)))
    yield Case((np.array([[1.0, 2.0], [3.0, 4.0]]), np.array(True)))
    yield Case((np.array([1e4, 1e4, -1e4]), np.array([True, False, True])), log_size=1e4)
    yield Case((np.array([[5.0, 6.0], [5.0, 6.0]]), np.array([[False], [True]])))
    yield Case((np.array([5.0, 6.0]), np.array([False, False])))


def masked_softmax(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    n = scores.shape[-1]
    rows = zip(
        scores.reshape(-1, n).tolist(),
        np.broadcast_to(mask, scores.shape).reshape(-1, n).tolist(),
        strict=True,
    )
    return np.array([oracle.masked_softmax(e, seen) for e, seen in rows], float).reshape(scores.shape)


def masked_softmax_misfits(rng: np.random.Generator) -> Iterator[Args]:
    for full, shape in [((3,), (2,)), ((2, 3), (3, 3)), ((2, 3), (2,)), ((3,), (2, 3)), ((1, 3), (2, 3))]:
        yield rng.normal(size=full), np.ones(shape, bool)
    yield np.ones(1), np.ones(3, bool)
    yield np.ones((2, 1)), np.ones((2, 3), bool)


def context_cases(rng: np.random.Generator) -> Iterator[Case]:
    for lead in [*shapes(rng)] * 3:
        n, d = rng.integers(1, 6, size=2)
        w, H = rng.normal(size=(*lead, n)), rng.normal(size=(n, d)) * rng.choice([1, 1e4])
        yield Case((w, H), scale=largest(np.abs(w) @ np.abs(H)))


def context(w: np.ndarray, H: np.ndarray) -> np.ndarray:
    rows = [oracle.context(row, H.tolist()) for row in w.reshape(-1, w.shape[-1]).tolist()]
    return np.array(rows, float).reshape(*w.shape[:-1], H.shape[1])


def context_misfits(rng: np.random.Generator) -> Iterator[Args]:
    for lead, n, rows in [((), 3, 2), ((), 1, 3), ((), 3, 1), ((2,), 3, 2), ((2,), 1, 2), ((3,), 2, 3)]:
        yield rng.normal(size=(*lead, n)), rng.normal(size=(rows, 2))


def additive_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(24):
        ds, dh, da, n = (
            [(1, 1, 1, 1), (3, 3, 3, 3), (2, 3, 1, 4), (3, 1, 2, 1)][k] if k < 4 else rng.integers(1, 6, 4)
        )
        scale = rng.choice([1, 0.1, 1e4])
        s, H = rng.normal(size=ds) * scale, rng.normal(size=(n, dh)) * scale
        W, U, v = rng.normal(size=(da, ds)), rng.normal(size=(da, dh)), rng.normal(size=da)
        size = 30 + largest(np.abs(W) @ np.abs(s)) + largest(np.abs(H) @ np.abs(U).T)
        yield Case((s, H, W, U, v), scale=largest(np.abs(v).sum()), size=size)


def bilinear_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(24):
        dq, dk, n = rng.integers(1, 6, 3) if k else (1, 1, 1)
        q, K, W = (
            rng.normal(size=dq) * rng.choice([1, 1e4]),
            rng.normal(size=(n, dk)),
            rng.normal(size=(dq, dk)),
        )
        yield Case((q, K, W), scale=largest(np.abs(K) @ (np.abs(q) @ np.abs(W))))


def concat_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(24):
        dq, dk, da, n = rng.integers(1, 6, 4) if k else (1, 1, 1, 1)
        q, K = rng.normal(size=dq), rng.normal(size=(n, dk)) * rng.choice([1, 1e4])
        W1, w2 = rng.normal(size=(da, dq + dk)), rng.normal(size=da)
        size = 30 + largest(np.abs(q).sum() + np.abs(K).sum(1)) * largest(W1)
        yield Case((q, K, W1, w2), scale=largest(np.abs(w2).sum()), size=size)


def decoder_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(24):
        dy, ds, dh, da, n, words = (
            rng.integers(1, 6, 6) if k > 2 else [(1,) * 6, (3,) * 6, (2, 3, 4, 5, 1, 6)][k]
        )
        big = float(rng.choice([1, 1, 1e4]))
        p = {"W": (da, ds), "U": (da, dh), "v": (da,), "Wx": (ds, dh + dy), "Ws": (ds, ds), "Wy": (words, ds)}
        p = {name: rng.normal(size=shape) for name, shape in p.items()}
        for name in ("v", "Wy"):
            p[name] = p[name] * big
        args = rng.normal(size=dy), rng.normal(size=ds), rng.normal(size=(n, dh)), p
        # w, c, s_new and P follow each other: an error of w by eps |scores| goes on into the others
        size = 30 * big * largest(p["v"] / big) * largest(p["Wx"]) * largest(p["Wy"]) * largest(args[2]) * 10
        yield Case(args, size=size)


def decoder_misfits(rng: np.random.Generator) -> Iterator[Args]:
    right = {"W": (5, 3), "U": (5, 4), "v": (5,), "Wx": (3, 6), "Ws": (3, 3), "Wy": (7, 3)}
    wrong = [
        ("W", (1, 3)), ("W", (5, 1)), ("W", (3, 5)), ("U", (1, 4)), ("U", (4, 4)), ("U", (5, 3)), ("v", (1,)),
        ("v", (4,)), ("Wx", (1, 6)), ("Wx", (2, 6)), ("Wx", (3, 5)), ("Ws", (1, 3)), ("Ws", (3, 1)),
        ("Ws", (2, 3)), ("Wy", (7, 2)), ("Wy", (7, 1)), ("Wy", (7, 4)),
    ]  # fmt: skip
    for name, shape in wrong:
        p = {key: rng.normal(size=size) for key, size in (right | {name: shape}).items()}
        yield rng.normal(size=2), rng.normal(size=3), rng.normal(size=(2, 4)), p
    for y, s, h in [(1, 3, 4), (3, 3, 4), (2, 2, 4), (2, 1, 4), (2, 3, 3), (2, 3, 5), (3, 3, 3)]:
        p = {key: rng.normal(size=size) for key, size in right.items()}
        yield rng.normal(size=y), rng.normal(size=s), rng.normal(size=(2, h)), p


def rnn_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(24):
        T, dx, dh = rng.integers(1, 6, 3) if k > 1 else [(1, 1, 1), (4, 3, 3)][k]
        X, h0 = rng.normal(size=(T, dx)) * rng.choice([1, 3e3]), rng.normal(size=dh)
        W, U = rng.normal(size=(dh, dh)), rng.normal(size=(dh, dx))
        # an error of eps |z| in one state goes on into the next ones, at most |W| / 4 times as large
        size = (30 + largest(np.abs(X) @ np.abs(U).T)) * largest(np.abs(W).sum(1)) ** (T - 1)
        yield Case((X, W, U, h0), size=size)


def score_size(X: np.ndarray, Wq: np.ndarray, Wk: np.ndarray) -> float:
    return 30 + largest((np.abs(X) @ np.abs(Wq)) @ (np.abs(X) @ np.abs(Wk)).T)


def self_attention_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(30):
        n, d, dk, dv = rng.integers(1, 6, 4) if k > 2 else [(1, 1, 1, 1), (3, 3, 3, 3), (4, 2, 3, 1)][k]
        X = rng.normal(size=(n, d)) * rng.choice([1, 0.3, 30])
        Wq, Wk, Wv = rng.normal(size=(d, dk)), rng.normal(size=(d, dk)), rng.normal(size=(d, dv))
        values = largest(np.abs(X) @ np.abs(Wv))
        yield Case((X, Wq, Wk, Wv, *[(), (True,), (False,)][k % 3]), values, score_size(X, Wq, Wk))


def multi_head_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(30):
        n, d, size, do = (
            rng.integers(1, 5, 4) if k > 3 else [(1,) * 4, (3, 4, 2, 4), (3, 6, 2, 6), (2, 3, 1, 2)][k]
        )
        h = int(rng.integers(1, 4)) if k > 3 else [1, 2, 3, 3][k]
        dm = size * h
        X = rng.normal(size=(n, d)) * rng.choice([1, 0.3, 30])
        Wq, Wk, Wv, Wo = (rng.normal(size=shape) for shape in [(d, dm), (d, dm), (d, dm), (dm, do)])
        scale = largest(np.abs(X) @ np.abs(Wv) @ np.abs(Wo)) * n
        yield Case((X, Wq, Wk, Wv, Wo, h), scale, score_size(X, Wq, Wk))


def multi_head_misfits(rng: np.random.Generator) -> Iterator[Args]:
    right = [(3, 5), (5, 4), (5, 4), (5, 4), (4, 2)]
    for h in (0, -1, -2, 3, 5, 8):
        yield (*(rng.normal(size=shape) for shape in right), h)
    wrong = {
        0: [(3, 4), (3, 1)],
        1: [(5, 2), (4, 4), (1, 4)],
        2: [(5, 2), (5, 8), (1, 4)],
        4: [(2, 2), (1, 2)],
    }
    wrong |= {3: [(5, 2), (5, 8), (4, 4)]}
    for args in wrong_sizes(right, wrong)(rng):
        yield (*args, 2)


def vjp_cases(rng: np.random.Generator) -> Iterator[Case]:
    for lead in [*shapes(rng)] * 3:
        n = int(rng.integers(1, 6))
        w = rng.exponential(size=(*lead, n)) ** 3 * (rng.random((*lead, n)) < 0.8)
        total = w.sum(-1, keepdims=True)
        w = w / np.where(total > 0, total, 1)
        g = rng.normal(size=w.shape) * rng.choice([1, 1e4])
        yield Case((w, g), scale=largest(g))
    yield Case((np.zeros((2, 3)), np.ones((2, 3))))


def vjp(w: np.ndarray, g: np.ndarray) -> np.ndarray:
    rows = zip(w.reshape(-1, w.shape[-1]).tolist(), g.reshape(-1, g.shape[-1]).tolist(), strict=True)
    return np.array([oracle.softmax_vjp(*row) for row in rows], float).reshape(w.shape)


def vjp_misfits(rng: np.random.Generator) -> Iterator[Args]:
    for one, other in [
        ((3,), (2,)),
        ((3,), (1,)),
        ((1,), (3,)),
        ((2, 3), (3, 3)),
        ((2, 3), (1, 3)),
        ((2, 3), (3,)),
    ]:
        yield np.full(one, 1 / one[-1]), rng.normal(size=other)


def sdpa_grad_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(30):
        m, n, d, dv = rng.integers(1, 6, 4) if k > 1 else [(1, 1, 1, 1), (3, 3, 3, 3)][k]
        Q, K = (
            rng.normal(size=(m, d)) * rng.choice([1, 1, 100]),
            rng.normal(size=(n, d)) * rng.choice([1, 100]),
        )
        V, G = rng.normal(size=(n, dv)), rng.normal(size=(m, dv))
        scale = largest(np.abs(G) @ np.abs(V).T) * max(largest(Q), largest(K)) * m * n
        yield Case((Q, K, V, G), scale=scale, size=30 + largest(np.abs(Q) @ np.abs(K).T))


def hard_cases(rng: np.random.Generator) -> Iterator[Case]:
    for k in range(24):
        m, n = rng.integers(1, 6, 2)
        A = rng.exponential(size=(m, n)) if k % 2 else rng.integers(0, 3, size=(m, n)) + 0.0
        A[:, 0] += A.sum(1) == 0
        yield Case((A / A.sum(1, keepdims=True),))
    yield Case((np.full((2, 4), 0.25),))
    yield Case((np.array([[0.0, 0.5, 0.5], [0.4, 0.2, 0.4], [0.3, 0.35, 0.35]]),))


SUBJECTS = {
    "masked-softmax": Subject(masked_softmax_cases, masked_softmax, masked_softmax_misfits, tuple(DTYPES)),
    "context": Subject(context_cases, context, context_misfits),
    "additive-scores": Subject(
        additive_cases,
        listwise(oracle.additive_scores),
        wrong_sizes(
            [(2,), (4, 3), (5, 2), (5, 3), (5,)],
            {0: [(3,), (1,)], 1: [(4, 2), (4, 1)], 2: [(4, 2), (1, 2), (5, 1), (5, 3)]}
            | {3: [(4, 3), (1, 3), (5, 1), (5, 2)], 4: [(4,), (1,)]},
        ),
    ),
    "bilinear-scores": Subject(
        bilinear_cases,
        listwise(oracle.bilinear_scores),
        wrong_sizes(
            [(2,), (4, 3), (2, 3)],
            {0: [(3,), (1,)], 1: [(4, 2), (4, 1)], 2: [(3, 2), (1, 3), (2, 1), (2, 4)]},
        ),
    ),
    "concat-scores": Subject(
        concat_cases,
        listwise(oracle.concat_scores),
        wrong_sizes(
            [(2,), (4, 3), (6, 5), (6,)],
            {0: [(3,), (1,)], 1: [(4, 2), (4, 1)], 2: [(6, 4), (6, 1), (5, 5), (1, 5)], 3: [(5,), (1,)]},
        ),
    ),
    "decoder-step": Subject(decoder_cases, listwise(oracle.decoder_step), decoder_misfits),
    "rnn-forward": Subject(
        rnn_cases,
        listwise(oracle.rnn_forward),
        wrong_sizes(
            [(5, 2), (3, 3), (3, 2), (3,)],
            {
                0: [(5, 3), (5, 1)],
                1: [(1, 3), (3, 1), (2, 3), (3, 2), (2, 2)],
                2: [(1, 2), (3, 1), (2, 2), (3, 3)],
            }
            | {3: [(2,), (1,), (4,)]},
        ),
    ),
    "self-attention": Subject(
        self_attention_cases,
        listwise(oracle.self_attention),
        wrong_sizes(
            [(4, 5), (5, 3), (5, 3), (5, 2)],
            {0: [(4, 3), (4, 1)], 1: [(5, 2), (5, 1), (3, 3), (1, 3)], 2: [(5, 2), (5, 1), (4, 3), (1, 3)]}
            | {3: [(3, 2), (1, 2)]},
        ),
    ),
    "multi-head": Subject(multi_head_cases, listwise(oracle.multi_head), multi_head_misfits),
    "softmax-vjp": Subject(vjp_cases, vjp, vjp_misfits, differentiable=False),
    "sdpa-grad": Subject(
        sdpa_grad_cases,
        listwise(oracle.sdpa_grad),
        wrong_sizes(
            [(3, 4), (5, 4), (5, 2), (3, 2)],
            {0: [(3, 3), (3, 1), (2, 4), (1, 4)], 1: [(5, 3), (5, 1), (4, 4), (1, 4)]}
            | {2: [(4, 2), (1, 2), (5, 1), (5, 3)], 3: [(2, 2), (1, 2), (3, 1), (3, 3)]},
        ),
        differentiable=False,
    ),
    "hard-alignment": Subject(hard_cases, listwise(oracle.hard_alignment), no_misfits, differentiable=False),
    **AROUND_ATTENTION,
    **LAYERS,
}
ARRAYS = pytest.mark.parametrize(
    "path",
    [p for p in FILES if p.parent.name in SUBJECTS],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)


@ARRAYS
def test_agrees_with_the_oracle_and_leaves_its_arguments(path: Path) -> None:
    subject, function = SUBJECTS[path.parent.name], load(path)
    for k, case in enumerate(subject.cases(np.random.default_rng(7))):
        for dtype in subject.dtypes:
            if dtype == "bfloat16" and not uses_torch(path):
                continue
            args = deep(lambda array, k=k, dtype=dtype: given(array, path, dtype, k % 3), case.args)
            before = exact(args)
            got = call(function, args)
            assert_close(got, subject.expected(*before), path, dtype, case)
            for one, other in zip(leaves(before), leaves(exact(args)), strict=True):
                np.testing.assert_array_equal(one, other)
            again = exact((call(function, args),))
            for one, other in zip(leaves(exact((got,))), leaves(again), strict=True):
                np.testing.assert_array_equal(one, other)


@ARRAYS
def test_refuses_sizes_that_do_not_fit(path: Path) -> None:
    subject, function = SUBJECTS[path.parent.name], load(path)
    allowed = (ValueError, RuntimeError) if uses_torch(path) else (ValueError,)
    for k, misfit in enumerate(subject.misfits(np.random.default_rng(8))):
        for dtype in WIDE:
            args = deep(lambda array, k=k, dtype=dtype: given(array, path, dtype, k % 3), misfit)
            with pytest.raises(allowed):
                call(function, args)


@ARRAYS
def test_gradients_of_torch_solutions(path: Path) -> None:
    """Along one random direction, against central differences of the oracle."""
    subject, function = SUBJECTS[path.parent.name], load(path)
    if not (uses_torch(path) and subject.differentiable):
        return
    rng = np.random.default_rng(9)
    for case in subject.cases(np.random.default_rng(7)):
        if max(case.size, case.scale, case.log_size) > 100:
            continue

        def moved(array: np.ndarray, along: Iterator[np.ndarray], by: float) -> np.ndarray:
            return array + by * next(along) if array.dtype.kind == "f" else array

        ways = [rng.normal(size=array.shape) for array in leaves(case.args) if array.dtype.kind == "f"]
        args = deep(lambda array: given(array, path, "float64", 0), case.args)
        tracked = [leaf.requires_grad_() for leaf in leaves(args) if leaf.is_floating_point()]
        results = leaves((call(function, args),))
        pulls = [rng.normal(size=tuple(one.shape)) for one in results]
        total = sum((one * torch.tensor(pull)).sum() for one, pull in zip(results, pulls, strict=True))
        # a constant, such as the zeros of hidden rows, may come without a graph
        slopes = torch.autograd.grad(total, tracked, allow_unused=True) if total.requires_grad else ()
        slope = sum(
            float((g * torch.tensor(way)).sum())
            for g, way in zip(slopes, ways, strict=False)
            if g is not None
        )
        ends = []
        for by in (1e-5, -1e-5):
            along = iter(ways)
            ends.append(
                leaves(
                    (subject.expected(*deep(lambda a, along=along, by=by: moved(a, along, by), case.args)),)
                )
            )
        want = (
            sum(float(((up - down) * pull).sum()) for up, down, pull in zip(*ends, pulls, strict=True)) / 2e-5
        )
        assert slope == pytest.approx(want, rel=1e-6, abs=1e-6 * case.scale)


def of(item: str) -> pytest.MarkDecorator:
    paths = [path for path in FILES if path.parent.name == item]
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.stem)


class Machine:
    """A step whose state is everything that it was given; probabilities depend on all of it."""

    def __init__(self, seed: int, style: str, path: Path) -> None:
        self.seed, self.style, self.path = seed, style, path
        self.words = 2 + seed % 4
        self.calls = 0

    def __call__(self, y: int, s: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
        assert type(y) is int and type(s) is tuple
        self.calls += 1
        rng = np.random.default_rng([self.seed, y, *s])
        P = rng.exponential(size=self.words) ** 2 + 1e-3
        if self.style == "ties":
            P = np.ones(self.words)
        if self.style in ("zeros", "float32"):
            P[rng.permutation(self.words)[: self.words // 2]] = 0
        if self.style == "tiny":
            P[1:] *= 1e-60
        P = (P / P.sum()).astype("float32" if self.style == "float32" else "float64")
        return (torch.tensor(P) if uses_torch(self.path) else P), (*s, y)


STYLES = ("plain", "ties", "zeros", "float32", "tiny")


@of("greedy-decode")
def test_greedy_search(path: Path) -> None:
    function = load(path)
    for seed, style, max_len in ((a, b, c) for a in range(6) for b in STYLES for c in (1, 2, 5)):
        step, other = Machine(seed, style, path), Machine(seed, style, path)
        bos, eos = seed % step.words, (seed + 1) % step.words
        tokens = function(step, (9,), bos, eos, max_len)
        assert tokens == oracle.greedy_decode(other, (9,), bos, eos, max_len)
        assert type(tokens) is list and all(type(token) is int for token in tokens)
        assert step.calls == len(tokens)
    # the end may be the first token, and the start may be the end
    assert function(Machine(0, "ties", path), (), 1, 0, 4) == [0]
    assert function(Machine(0, "ties", path), (), 0, 0, 4) == [0]


@of("beam-search")
def test_beam_search(path: Path) -> None:
    function = load(path)
    for seed, style, (b, max_len) in (
        (a, b, c) for a in range(5) for b in STYLES for c in ((1, 1), (1, 4), (2, 3), (3, 4), (7, 2), (40, 3))
    ):
        step, other = Machine(seed, style, path), Machine(seed, style, path)
        bos, eos = seed % step.words, (seed + 1) % step.words
        got = function(step, (9,), b, bos, eos, max_len)
        want = oracle.beam_search(other, (9,), b, bos, eos, max_len)
        assert [tokens for tokens, _ in got] == [tokens for tokens, _ in want], (seed, style, b, max_len)
        assert [logprob for _, logprob in got] == pytest.approx([logprob for _, logprob in want], abs=1e-12)
        assert type(got) is list and all(type(pair) is tuple and len(pair) == 2 for pair in got)
        assert all(type(token) is int for tokens, _ in got for token in tokens)
        assert all(type(tokens) is list and type(logprob) is float for tokens, logprob in got)
    for b in (0, -1):
        with pytest.raises(ValueError):
            function(Machine(0, "plain", path), (), b, 0, 1, 3)


@of("beam-search")
def test_long_beams_do_not_underflow(path: Path) -> None:
    ((tokens, logprob),) = load(path)(Machine(1, "tiny", path), (), 1, 0, 1, 3)
    assert tokens == [0, 0, 0] and logprob == pytest.approx(0.0, abs=1e-12)

    def rare(y: int, s: int) -> tuple[Any, int]:
        P = np.array([1e-200, 0.0, 0.0])
        return (torch.tensor(P) if uses_torch(path) else P), s + 1

    ((tokens, logprob),) = load(path)(rare, 0, 3, 2, 1, 4)
    assert tokens == [0] * 4 and logprob == pytest.approx(-800 * np.log(10))


@of("sample-tokens")
def test_sampling(path: Path) -> None:
    function, rng, tried = load(path), np.random.default_rng(5), 0
    for k in range(150):
        V = int(rng.integers(1, 7))
        logits = rng.normal(size=V) * 1.5 if k % 3 else rng.integers(-1, 2, size=V) + 0.0
        top_k, top_p = [None, int(rng.integers(1, V + 2))][k % 2], [None, 0.3, 0.6, 0.8, 0.95, 1.0][k % 6]
        temperature, layout = [0.5, 1.0, 2.0][k % 3], k % 5 % 3
        intervals, margin = parts.sampling_intervals(logits.tolist(), temperature, top_k, top_p)
        # each token at three places of its interval, away from its borders
        pairs = [
            (a + (b - a) * by, t) for t, (a, b) in intervals.items() for by in (0.1, 0.5, 0.9) if b - a > 0.01
        ]
        if margin < 1e-3 and top_p != 1:
            continue
        tried += 1
        rng.shuffle(pairs)
        for dtype in WIDE:
            u = np.array([number for number, _ in pairs])
            args = [given(array, path, dtype, layout) for array in (logits + 1e3 * (k % 4 == 0), u)]
            tokens = call(function, (*args, temperature, top_k, top_p))
            assert [int(token) for token in tokens] == [token for _, token in pairs], (k, dtype)
    assert tried > 100
    for wrong in [
        (0.0,),
        (-1.0,),
        (1.0, 0),
        (1.0, -2),
        (1.0, None, 0.0),
        (1.0, None, 1.5),
        (1.0, None, -0.5),
    ]:
        with pytest.raises((ValueError, RuntimeError) if uses_torch(path) else ValueError):
            function(*(given(np.array([0.5, 0.25]), path, "float64", 0) for _ in range(2)), *wrong)


@of("causal-mask")
def test_causal_mask(path: Path) -> None:
    function = load(path)
    for n in range(8):
        mask = function(n)
        assert type(mask) is (torch.Tensor if uses_torch(path) else np.ndarray)
        assert mask.dtype == (torch.bool if uses_torch(path) else np.bool_) and mask.shape == (n, n)
        assert mask.tolist() == oracle.causal_mask(n)
    for n in (-1, -5):
        with pytest.raises((ValueError, RuntimeError) if uses_torch(path) else ValueError):
            function(n)


def test_there_are_many_styles() -> None:
    for folder in {path.parent for path in FILES}:
        paths = [path for path in FILES if path.parent == folder]
        assert len(paths) >= 8, folder.name
        assert sum(map(uses_torch, paths)) >= 3, folder.name
