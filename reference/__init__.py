"""The mathematics of the lectures: every key of an exercise is computed here.

It is written over the array API standard: numpy's arrays give numpy's, and torch isn't imported then; torch's
tensors give tensors, on their device and differentiable. Any floating dtype, which results keep, and leading
batch axes everywhere. It imports nothing of the engine. S0 to S4, F-01 … and D-1 … in docstrings are
the documents, faults and differences of ``docs/sources.md``.

``import reference`` is free: numpy comes in with the first name that needs it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "1.0.0"

if TYPE_CHECKING:
    from reference.alignment import aligned_positions, hard_alignment, threshold_alignment
    from reference.attending import AttentionResult, attention, context, sdpa
    from reference.counts import count_ops, count_params, sequential_depth
    from reference.decoder import DecoderStep, decoder_step, initial_state
    from reference.errors import (
        ArgumentError,
        CircularityError,
        DeviceError,
        DtypeError,
        ShapeError,
        TableError,
    )
    from reference.gradients import AttentionGradients, grad_attention, softmax_jacobian, softmax_vjp
    from reference.masks import causal_mask
    from reference.probability import chain_prob, sequence_logprob, sequence_prob
    from reference.projected import multi_head, self_attention
    from reference.rnn import rnn_forward, rnn_step
    from reference.scores import (
        additive_scores,
        alignment_vector,
        bilinear_scores,
        concat_scores,
        dot_scores,
        scaled_dot_scores,
    )
    from reference.search import Hypothesis, beam_search, exhaustive, greedy_decode
    from reference.stepping import step_function
    from reference.tables import table_step
    from reference.weights import masked_softmax, softmax

# where each name lives; no submodule has the name of a function, or it would hide it
_HOMES = {
    "alignment": ("aligned_positions", "hard_alignment", "threshold_alignment"),
    "attending": ("AttentionResult", "attention", "context", "sdpa"),
    "counts": ("count_ops", "count_params", "sequential_depth"),
    "decoder": ("DecoderStep", "decoder_step", "initial_state"),
    "errors": (
        "ArgumentError",
        "CircularityError",
        "DeviceError",
        "DtypeError",
        "ShapeError",
        "TableError",
    ),
    "gradients": ("AttentionGradients", "grad_attention", "softmax_jacobian", "softmax_vjp"),
    "masks": ("causal_mask",),
    "probability": ("chain_prob", "sequence_logprob", "sequence_prob"),
    "projected": ("multi_head", "self_attention"),
    "rnn": ("rnn_forward", "rnn_step"),
    "scores": (
        "additive_scores",
        "alignment_vector",
        "bilinear_scores",
        "concat_scores",
        "dot_scores",
        "scaled_dot_scores",
    ),
    "search": ("Hypothesis", "beam_search", "exhaustive", "greedy_decode"),
    "stepping": ("step_function",),
    "tables": ("table_step",),
    "weights": ("masked_softmax", "softmax"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "ArgumentError",
    "AttentionGradients",
    "AttentionResult",
    "CircularityError",
    "DecoderStep",
    "DeviceError",
    "DtypeError",
    "Hypothesis",
    "ShapeError",
    "TableError",
    "__version__",
    "additive_scores",
    "aligned_positions",
    "alignment_vector",
    "attention",
    "beam_search",
    "bilinear_scores",
    "causal_mask",
    "chain_prob",
    "concat_scores",
    "context",
    "count_ops",
    "count_params",
    "decoder_step",
    "dot_scores",
    "exhaustive",
    "grad_attention",
    "greedy_decode",
    "hard_alignment",
    "initial_state",
    "masked_softmax",
    "multi_head",
    "rnn_forward",
    "rnn_step",
    "scaled_dot_scores",
    "sdpa",
    "self_attention",
    "sequence_logprob",
    "sequence_prob",
    "sequential_depth",
    "softmax",
    "softmax_jacobian",
    "softmax_vjp",
    "step_function",
    "table_step",
    "threshold_alignment",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
