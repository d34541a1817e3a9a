"""Results live where the inputs live: tried on torch's meta device, which computes nothing.

Any operation that would mix in a tensor of another device fails there, so this finds on a machine
without a GPU what would break on one.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import reference as ref


def on(device: str, *shape: int) -> torch.Tensor:
    return torch.empty(*shape, dtype=torch.float64, device=device)


def params(device: str, wx: int, wy: int) -> dict[str, torch.Tensor]:
    return {
        "W": on(device, 3, 2), "U": on(device, 3, 2), "v": on(device, 3),
        "Wx": on(device, 2, wx), "Ws": on(device, 2, 2), "Wy": on(device, 5, wy),
    }  # fmt: skip


CALLS: dict[str, Callable[[str], object]] = {
    "softmax": lambda d: ref.softmax(on(d, 2, 3)),
    "temperature": lambda d: ref.softmax(on(d, 2, 3), 0, 0.5),
    "masked_softmax": lambda d: ref.masked_softmax(on(d, 2, 3), torch.ones(3, dtype=torch.bool, device=d)),
    "listed mask": lambda d: ref.masked_softmax(on(d, 2, 3), [True, False, True]),
    "dot": lambda d: ref.dot_scores(on(d, 2), on(d, 3, 2)),
    "scaled_dot": lambda d: ref.scaled_dot_scores(on(d, 2), on(d, 3, 2)),
    "bilinear": lambda d: ref.bilinear_scores(on(d, 2), on(d, 3, 4), on(d, 2, 4)),
    "additive": lambda d: ref.additive_scores(on(d, 2), on(d, 3, 4), on(d, 5, 2), on(d, 5, 4), on(d, 5)),
    "literal": lambda d: ref.additive_scores(
        on(d, 2), on(d, 3, 4), on(d, 1, 2), on(d, 1, 4), l16_literal=True
    ),
    "concat": lambda d: ref.concat_scores(on(d, 2), on(d, 3, 4), on(d, 5, 6), on(d, 5)),
    "alignment_vector": lambda d: ref.alignment_vector(on(d, 2), on(d, 4), on(d, 3, 2), on(d, 3, 4)),
    "context": lambda d: ref.context([0.5, 0.5], on(d, 2, 3)),
    "attention": lambda d: ref.attention(on(d, 2), on(d, 3, 2), score="additive", params=params(d, 4, 2)),
    "sdpa": lambda d: ref.sdpa(on(d, 2, 3), on(d, 4, 3), on(d, 4, 2), ref.causal_mask(4, on(d, 1))[:2]),
    "causal_mask": lambda d: ref.causal_mask(4, on(d, 1)),
    "self_attention": lambda d: ref.self_attention(on(d, 3, 2), causal=True),
    "multi_head": lambda d: ref.multi_head(on(d, 3, 4), *[on(d, 4, 4)] * 4, 2, [[True] * 3] * 3),
    "rnn_step": lambda d: ref.rnn_step(on(d, 3), on(d, 2), on(d, 2, 2), on(d, 2, 3)),
    "rnn_forward": lambda d: ref.rnn_forward(on(d, 4, 3), on(d, 2, 2), on(d, 2, 3), on(d, 2), "tanh"),
    "l16": lambda d: ref.decoder_step(on(d, 3), on(d, 2), on(d, 4, 2), params(d, 5, 2)),
    "s1": lambda d: ref.decoder_step(on(d, 3), on(d, 2), on(d, 4, 2), params(d, 3, 4), "s1"),
    "s2": lambda d: ref.decoder_step(on(d, 3), on(d, 2), on(d, 4, 2), params(d, 3, 4), "s2"),
    "s3": lambda d: ref.decoder_step(on(d, 3), on(d, 2), on(d, 4, 2), params(d, 5, 7), "s3"),
    "step_function": lambda d: ref.step_function(on(d, 4, 2), params(d, 5, 2), on(d, 6, 3))(0, on(d, 2)),
    "initial_state": lambda d: (ref.initial_state(on(d, 4, 2)), ref.initial_state(on(d, 4, 2), [1.0, 2.0])),
    "softmax_jacobian": lambda d: ref.softmax_jacobian(on(d, 3)),
    "softmax_vjp": lambda d: ref.softmax_vjp(on(d, 3), on(d, 3)),
    "grad_attention": lambda d: ref.grad_attention(
        on(d, 2, 3), on(d, 4, 3), on(d, 4, 2), on(d, 2, 2), ref.causal_mask(4, on(d, 1))[:2]
    ),
    "hard_alignment": lambda d: ref.hard_alignment(on(d, 2, 3)),
    "aligned_positions": lambda d: ref.aligned_positions(on(d, 2, 3)),
    "threshold_alignment": lambda d: ref.threshold_alignment(on(d, 2, 3), 0.5),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_results_stay_on_the_inputs_device(call: Callable[[str], object]) -> None:
    result = call("meta")
    tensors = [result] if isinstance(result, torch.Tensor) else list(result)  # type: ignore[call-overload]
    assert tensors and all(tensor.device.type == "meta" for tensor in tensors)


def test_every_function_that_returns_tensors_is_tried() -> None:
    without_tensors = {
        "beam_search", "exhaustive", "greedy_decode", "sequence_prob", "sequence_logprob", "table_step",
        "chain_prob", "count_ops", "count_params", "sequential_depth",
    }  # fmt: skip
    functions = {name for name in ref.__all__ if name.islower() and not name.startswith("_")}
    tried = set(CALLS) | {f"{name}_scores" for name in CALLS} | {"decoder_step"}
    assert functions - without_tensors <= tried
