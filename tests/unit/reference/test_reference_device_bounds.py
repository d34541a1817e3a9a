"""The reference in a library, on a device and in a dtype, against float64 on the CPU.

Inputs lie in [-1, 1] and are rounded to the dtype before either side sees them. The bound is the one of
docs/architecture.md ("The reference on a GPU"): steps · eps · depth · (2 · terms + 8) · size, where
`terms` is the longest sum, `depth` the number of products that follow one another and `size` the largest
true entry, at least 1. The CPU always runs; a GPU runs where there is one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch

import reference as ref
from tests.oracles.libraries import LIBRARIES, Reference

STEPS = {torch.float64: 8.0, torch.float32: 8.0, torch.float16: 2.0, torch.bfloat16: 1.0}
MPS = torch.backends.mps.is_available()
DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")),
    pytest.param("mps", marks=pytest.mark.skipif(not MPS, reason="no MPS device")),
]
Draw = Callable[..., torch.Tensor]


@dataclass(frozen=True)
class Case:
    call: Callable[[Draw], Any]
    terms: int = 1
    depth: int = 1


def params(t: Draw, wx: int, wy: int) -> dict[str, torch.Tensor]:
    return {
        "W": t(3, 4), "U": t(3, 4), "v": t(3),
        "Wx": t(4, wx), "Ws": t(4, 4), "Wy": t(5, wy),
    }  # fmt: skip


def steps(t: Draw) -> Any:
    return ref.step_function(t(6, 4), params(t, 7, 4), t(5, 3))


CASES = {
    "softmax": Case(lambda t: ref.softmax(t(3, 8)), 8),
    "temperature": Case(lambda t: ref.softmax(t(8, 3), 0, 0.5), 8),
    "masked_softmax": Case(lambda t: ref.masked_softmax(t(3, 8), [True] * 6 + [False] * 2), 8),
    "dot_scores": Case(lambda t: ref.dot_scores(t(8), t(6, 8)), 8),
    "scaled_dot_scores": Case(lambda t: ref.scaled_dot_scores(t(2, 8), t(2, 6, 8)), 8),
    "bilinear_scores": Case(lambda t: ref.bilinear_scores(t(4), t(6, 8), t(4, 8)), 8, 2),
    "additive_scores": Case(lambda t: ref.additive_scores(t(4), t(6, 8), t(5, 4), t(5, 8), t(5)), 8, 2),
    "concat_scores": Case(lambda t: ref.concat_scores(t(4), t(6, 8), t(5, 12), t(5)), 12, 2),
    "alignment_vector": Case(lambda t: ref.alignment_vector(t(4), t(8), t(6, 4), t(6, 8)), 8, 3),
    "context": Case(lambda t: ref.context(t(6), t(6, 8)), 6),
    "attention": Case(lambda t: ref.attention(t(8), t(6, 8), t(6, 3)), 8, 3),
    "sdpa": Case(lambda t: ref.sdpa(t(5, 8), t(6, 8), t(6, 3)), 8, 3),
    "self_attention": Case(lambda t: ref.self_attention(t(6, 8), causal=True), 8, 3),
    "multi_head": Case(lambda t: ref.multi_head(t(6, 8), t(8, 8), t(8, 8), t(8, 8), t(8, 8), 2), 8, 8),
    "rnn_step": Case(lambda t: ref.rnn_step(t(3), t(4), t(4, 4), t(4, 3)), 4, 2),
    "rnn_forward": Case(lambda t: ref.rnn_forward(t(6, 3), t(4, 4), t(4, 3), t(4), "tanh"), 4, 12),
    "decoder_step": Case(lambda t: ref.decoder_step(t(3), t(4), t(6, 4), params(t, 7, 4)), 8, 6),
    "decoder_step s3": Case(lambda t: ref.decoder_step(t(3), t(4), t(6, 4), params(t, 7, 11), "s3"), 11, 6),
    "step_function": Case(lambda t: steps(t)(0, t(4)), 8, 6),
    "sequence_prob": Case(lambda t: ref.sequence_prob(steps(t), [1, 2], t(4), 0), 8, 12),
    "sequence_logprob": Case(lambda t: ref.sequence_logprob(steps(t), [1, 2], t(4), 0), 8, 12),
    "initial_state": Case(lambda t: ref.initial_state(t(6, 4))),
    "chain_prob": Case(lambda t: ref.chain_prob(t(5).abs()), 5),
    "softmax_jacobian": Case(lambda t: ref.softmax_jacobian(t(6)), 6),
    "softmax_vjp": Case(lambda t: ref.softmax_vjp(t(6), t(6)), 6, 2),
    "grad_attention": Case(lambda t: ref.grad_attention(t(5, 8), t(6, 8), t(6, 3), t(5, 3)), 8, 4),
}
# entries that are all different in every dtype: a tie may be broken either way
EXACT: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "hard_alignment": ref.hard_alignment,
    "aligned_positions": ref.aligned_positions,
    "threshold_alignment": lambda a: ref.threshold_alignment(a, 0.4),
    "causal_mask": lambda a: ref.causal_mask(6, a),
}


@pytest.fixture(autouse=True)
def _full_products() -> Iterator[None]:
    """TF32 off: it keeps 10 bits of a float32 and would leave these bounds."""
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    yield
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before


def evaluate(case: Case, dtype: torch.dtype, device: str, target: torch.dtype) -> list[torch.Tensor]:
    """Return the results as float64 on the CPU; `dtype` is what inputs are rounded to."""
    generator = torch.Generator().manual_seed(20)

    def draw(*shape: int) -> torch.Tensor:
        numbers = 2 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1
        return numbers.to(dtype).to(target).to(device)

    result = case.call(draw)
    parts = [result] if isinstance(result, (torch.Tensor, float)) else list(result)
    for part in parts:
        if isinstance(part, torch.Tensor):
            assert part.device.type == device
            assert part.dtype in (target, torch.bool, torch.int64)
    return [torch.as_tensor(part).cpu().to(torch.float64) for part in parts]


def bound(dtype: torch.dtype, case: Case, wanted: torch.Tensor) -> float:
    size = max(1.0, float(wanted.abs().max()))
    return STEPS[dtype] * torch.finfo(dtype).eps * case.depth * (2 * case.terms + 8) * size


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", STEPS, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_the_reference_keeps_its_bounds(name: str, dtype: torch.dtype, device: str) -> None:
    if device == "mps" and dtype is torch.float64:
        pytest.skip("MPS has no float64")
    case = CASES[name]
    found = evaluate(case, dtype, device, dtype)
    wanted = evaluate(case, dtype, "cpu", torch.float64)
    assert len(found) == len(wanted) > 0
    for got, true in zip(found, wanted, strict=True):
        assert got.shape == true.shape
        assert bool(torch.isfinite(true).all())
        assert float((got - true).abs().max()) <= bound(dtype, case, true)


@pytest.mark.parametrize("name", CASES)
def test_numpy_and_torch_agree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for library in LIBRARIES:
        monkeypatch.setattr(sys.modules[__name__], "ref", Reference(library))
        results.append(evaluate(CASES[name], torch.float64, "cpu", torch.float64))
    for numpy, tensor in zip(*results, strict=True):
        assert float((numpy - tensor).abs().max()) <= bound(torch.float64, CASES[name], numpy)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", STEPS, ids=str)
@pytest.mark.parametrize("name", EXACT)
def test_choices_and_masks_are_the_same_exactly(name: str, dtype: torch.dtype, device: str) -> None:
    if device == "mps" and dtype is torch.float64:
        pytest.skip("MPS has no float64")
    order = torch.randperm(48, generator=torch.Generator().manual_seed(7))
    weights = (order.to(torch.float64) / 64).reshape(6, 8)
    got = EXACT[name](weights.to(dtype).to(device))
    assert got.device.type == device
    assert torch.equal(got.cpu().to(torch.float64), EXACT[name](weights).to(torch.float64))


@pytest.mark.parametrize("name", ["dot_scores", "sdpa", "multi_head", "rnn_forward"])
def test_inputs_cut_to_the_bits_of_tf32_leave_the_bounds(name: str) -> None:
    """The bound of float32 is tight enough to see TF32: 10 bits of the inputs, sums in float32."""
    case = CASES[name]
    cut = evaluate(case, torch.float16, "cpu", torch.float32)
    wanted = evaluate(case, torch.float32, "cpu", torch.float64)
    worst = max(
        float((got - true).abs().max()) / bound(torch.float32, case, true)
        for got, true in zip(cut, wanted, strict=True)
    )
    assert worst > 1


def test_every_function_on_tensors_has_a_case() -> None:
    without = {"beam_search", "exhaustive", "greedy_decode", "table_step"}  # searches: lists of tokens
    without |= {"count_ops", "count_params", "sequential_depth"}  # integers
    functions = {name for name in ref.__all__ if name.islower() and not name.startswith("_")}
    assert functions - without <= set(CASES) | set(EXACT)
