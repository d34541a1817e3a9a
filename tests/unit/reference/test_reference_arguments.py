"""Bad and unusual arguments: shapes, dtypes, devices, foreign arrays."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import reference as ref

E, M = torch.ones(3), torch.ones(3, 2)
PARAMS = {
    "W": torch.ones(4, 5), "U": torch.ones(4, 2), "v": torch.ones(4),
    "Wx": torch.ones(5, 3), "Ws": torch.ones(5, 5), "Wy": torch.ones(7, 5),
}  # fmt: skip


def decode(**changes: Any) -> ref.DecoderStep:
    return ref.decoder_step(torch.ones(1), torch.ones(5), M, {**PARAMS, **changes})


@pytest.mark.parametrize(
    ("call", "argument", "shape"),
    [
        (lambda: ref.softmax(torch.tensor(1.0)), "x", ()),
        (lambda: ref.softmax(torch.ones(2, 0)), "x", (2, 0)),
        (lambda: ref.softmax(E, axis=1), "x", (3,)),
        (lambda: ref.masked_softmax(torch.ones(0), torch.ones(0, dtype=torch.bool)), "scores", (0,)),
        (lambda: ref.masked_softmax(E, torch.tensor([True, False])), "mask", (2,)),
        (lambda: ref.masked_softmax(E, torch.tensor([True])), "mask", (1,)),
        (lambda: ref.masked_softmax(E, torch.tensor(True)), "mask", ()),
        (lambda: ref.masked_softmax(E, torch.ones(2, 3, dtype=torch.bool)), "mask", (2, 3)),
        (lambda: ref.masked_softmax(torch.ones(4, 3), torch.ones(2, 3, dtype=torch.bool)), "mask", (2, 3)),
        (lambda: ref.dot_scores(E, M), "K", (3, 2)),
        (lambda: ref.dot_scores(torch.ones(2), torch.ones(2)), "K", (2,)),
        (lambda: ref.dot_scores(torch.ones(2), torch.ones(0, 2)), "K", (0, 2)),
        (lambda: ref.dot_scores(torch.ones(0), torch.ones(3, 0)), "q", (0,)),
        (lambda: ref.dot_scores(torch.tensor(1.0), M), "q", ()),
        (lambda: ref.scaled_dot_scores(torch.tensor(1.0), M), "q", ()),
        (lambda: ref.scaled_dot_scores(E, M), "K", (3, 2)),
        (lambda: ref.bilinear_scores(E, M, torch.ones(2, 3)), "W", (2, 3)),
        (lambda: ref.additive_scores(E, M, torch.ones(4, 2), torch.ones(4, 3), torch.ones(4)), "W", (4, 2)),
        (lambda: ref.additive_scores(E, M, torch.ones(4, 3), torch.ones(5, 2), torch.ones(4)), "U", (5, 2)),
        (lambda: ref.additive_scores(E, M, torch.ones(4, 3), torch.ones(4, 2), torch.ones(3)), "v", (3,)),
        (lambda: ref.additive_scores(E, M, torch.ones(3, 3), M, E[:, None]), "v", (3, 1)),
        (lambda: ref.concat_scores(E, M, torch.ones(4, 6), torch.ones(4)), "W1", (4, 6)),
        (lambda: ref.concat_scores(E, M, torch.ones(4, 5), torch.ones(5)), "w2", (5,)),
        (lambda: ref.alignment_vector(E, torch.ones(2), torch.ones(4, 3), torch.ones(5, 2)), "W_s", (5, 2)),
        (lambda: ref.context(E, torch.ones(2, 3)), "values", (2, 3)),
        (lambda: ref.context(torch.ones(2, 4, 3), torch.ones(2, 3, 5)), "values", (2, 3, 5)),
        (lambda: ref.attention(torch.ones(2), M, torch.ones(4, 2)), "V", (4, 2)),
        (lambda: ref.attention(torch.ones(2), M, score=lambda q, K: K), "score(q, K)", (3, 2)),
        (lambda: ref.attention(torch.ones(2), M, score=lambda q, K: 1.0), "score(q, K)", ()),
        (lambda: ref.sdpa(torch.ones(2), M, M), "Q", (2,)),
        (lambda: ref.sdpa(torch.ones(4, 3), M, M), "K", (3, 2)),
        (lambda: ref.sdpa(torch.ones(4, 2), M, torch.ones(2, 2)), "V", (2, 2)),
        (lambda: ref.sdpa(torch.ones(5, 4, 2), torch.ones(6, 3, 2), torch.ones(6, 3, 2)), "K", (6, 3, 2)),
        (lambda: ref.sdpa(M, M, M, torch.ones(4, 3, dtype=torch.bool)), "mask", (4, 3)),
        (lambda: ref.self_attention(M, torch.ones(3, 2), torch.ones(2, 2)), "Wq", (3, 2)),
        (lambda: ref.self_attention(M, torch.ones(2, 3), torch.ones(2, 2)), "Wk", (2, 2)),
        (lambda: ref.self_attention(M, torch.ones(2, 3)), "Wq", (2, 3)),
        (lambda: ref.self_attention(M, None, torch.ones(2, 3)), "Wk", (2, 3)),
        (lambda: ref.self_attention(M, Wv=torch.ones(3, 3)), "Wv", (3, 3)),
        (
            lambda: ref.multi_head(M, *[torch.ones(2, 4)] * 3, torch.ones(3, 2), 2),
            "Wo",
            (3, 2),
        ),
        (lambda: ref.rnn_step(E, torch.ones(2), torch.ones(2, 3), torch.ones(2, 3)), "W", (2, 3)),
        (lambda: ref.rnn_step(E, torch.ones(2), torch.ones(2, 2), torch.ones(3, 2)), "U", (3, 2)),
        (lambda: ref.rnn_forward(E, torch.ones(2, 2), torch.ones(2, 3), torch.ones(2)), "X", (3,)),
        (lambda: ref.rnn_forward(torch.ones(0, 3), torch.ones(2, 2), torch.ones(2, 3), torch.ones(2)), "X",
         (0, 3)),
        (lambda: ref.softmax_jacobian(torch.tensor(1.0)), "w", ()),
        (lambda: ref.softmax_vjp(E, torch.ones(2)), "g", (2,)),
        (lambda: ref.grad_attention(M, M, M, torch.ones(2, 2)), "G", (2, 2)),
        (lambda: ref.hard_alignment(torch.tensor(1.0)), "A", ()),
        (lambda: ref.aligned_positions(torch.ones(2, 0)), "A", (2, 0)),
        (lambda: ref.chain_prob(torch.tensor(0.5)), "p", ()),
        (lambda: decode(Wx=torch.ones(5, 4)), "Wx", (5, 4)),
        (lambda: decode(Wx=torch.ones(4, 3)), "Wx", (4, 3)),
        (lambda: decode(Ws=torch.ones(5, 4)), "Ws", (5, 4)),
        (lambda: decode(Wy=torch.ones(7, 2)), "Wy", (7, 2)),
        (lambda: decode(W=torch.ones(4, 2)), "W", (4, 2)),
        (lambda: ref.greedy_decode(torch.ones(5, 3) / 3), "table", (5, 3)),
        (lambda: ref.greedy_decode(torch.ones(3) / 3), "table", (3,)),
        (lambda: ref.greedy_decode(torch.ones(0, 3)), "table", (0, 3)),
        (lambda: ref.initial_state(E), "H", (3,)),
    ],
)  # fmt: skip
def test_shape_errors_name_argument_shape_and_expectation(
    call: Callable[[], object], argument: str, shape: tuple[int, ...]
) -> None:
    with pytest.raises(ref.ShapeError) as caught:
        call()
    error = caught.value
    assert (error.argument, error.shape) == (argument, shape)
    assert str(error).startswith(f"{argument} has shape {shape}, expected {error.expected}")
    assert error.expected
    assert isinstance(error, ref.ArgumentError) and isinstance(error, ValueError)


def test_shape_errors_survive_pickling() -> None:
    error = pickle.loads(pickle.dumps(ref.ShapeError("K", (1, 2), "(n, d)", "why")))
    assert (error.argument, error.shape, error.expected, error.note) == ("K", (1, 2), "(n, d)", "why")
    assert str(error) == "K has shape (1, 2), expected (n, d): why"


def test_expectation_names_known_sizes() -> None:
    with pytest.raises(ref.ShapeError, match=r"expected \(\.\.\., n, d\) with d = 3"):
        ref.dot_scores(E, M)


@pytest.mark.parametrize(
    "mask", [torch.ones(3), torch.ones(3, dtype=torch.int64), [1, 0, 1], [0.0, 1.0, 1.0]]
)
def test_only_boolean_masks(mask: Any) -> None:
    with pytest.raises(ref.DtypeError, match="True = may attend"):
        ref.masked_softmax(E, mask)


@pytest.mark.parametrize(
    "value",
    [
        torch.ones(3, dtype=torch.complex64), torch.ones(3, dtype=torch.bool), np.array(["1", "2"]),
        np.array([1j]), np.array([True]), [[1.0], [1.0, 2.0]], ["a"], np.ones(3, dtype=np.longdouble),
        torch.ones(3).to(torch.float8_e4m3fn), [None, 1.0], np.array([object()]),
    ],
)  # fmt: skip
def test_only_real_numbers(value: Any) -> None:
    with pytest.raises(ref.DtypeError, match=r"^x "):
        ref.softmax(value)


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan"), float("inf")])
def test_temperature_must_be_positive_and_finite(temperature: float) -> None:
    with pytest.raises(ref.ArgumentError, match="temperature"):
        ref.softmax(E, temperature=temperature)


@pytest.mark.parametrize("scale", ["sqrt_d", 0.0, float("nan"), float("inf"), "2"])
def test_unknown_scales(scale: Any) -> None:
    with pytest.raises(ref.ArgumentError, match="scale"):
        ref.sdpa(M, M, M, scale=scale)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ref.causal_mask(-1), "n is -1"),
        (lambda: ref.causal_mask(2.5), "n is 2.5"),  # type: ignore[arg-type]
        (lambda: ref.causal_mask(True), "n is True"),
        (lambda: ref.multi_head(M, *[torch.ones(2, 4)] * 3, torch.ones(4, 2), 3), "h is 3"),
        (lambda: ref.multi_head(M, *[torch.ones(2, 4)] * 2, torch.ones(2, 3), torch.ones(3, 2), 2), "Wv"),
        (lambda: ref.multi_head(M, *[torch.ones(2, 4)] * 3, torch.ones(4, 2), 0), "h is 0"),
        (lambda: ref.rnn_step(E, E, torch.ones(3, 3), torch.ones(3, 3), "relu"), "activation"),  # type: ignore[arg-type]
        (lambda: ref.attention(torch.ones(2), M, score="cosine"), "score is 'cosine'"),
        (lambda: ref.attention(torch.ones(2), M, score="additive", params={"W": M}), "params lacks U, v"),
        (lambda: ref.attention(torch.ones(2), M, score="bilinear"), "params lacks W"),
        (lambda: ref.threshold_alignment(E, 1.5), "threshold"),
        (lambda: ref.threshold_alignment(E, float("nan")), "threshold"),
        (lambda: ref.chain_prob(torch.tensor([0.5, 1.5])), "between 0 and 1"),
        (lambda: ref.chain_prob(torch.tensor([0.5, float("nan")])), "between 0 and 1"),
        (lambda: ref.initial_state(M, "encoder_first"), "s0"),
        (lambda: ref.additive_scores(E, M, E, E, E, l16_literal=True), "l16_literal"),
    ],
)
def test_other_arguments_are_named(call: Callable[[], object], text: str) -> None:
    with pytest.raises(ref.ArgumentError, match=text):
        call()


def test_missing_v_names_the_fault_of_the_lecture() -> None:
    with pytest.raises(ref.ShapeError, match="F-01"):
        ref.additive_scores(E, M, torch.ones(4, 3), torch.ones(4, 2))
    with pytest.raises(ref.ShapeError, match="F-01") as caught:
        ref.additive_scores(E, M, torch.ones(1, 3), torch.ones(2, 2), l16_literal=True)
    assert caught.value.argument == "U"
    with pytest.raises(ref.ShapeError, match="F-01"):
        ref.attention(E, M, score="l16_literal", params={"W": torch.ones(2, 3), "U": torch.ones(2, 2)})


def test_tensors_on_two_devices() -> None:
    with pytest.raises(ref.DeviceError, match="K is on meta, but q is on cpu"):
        ref.dot_scores(torch.ones(2), torch.ones(3, 2, device="meta"))
    with pytest.raises(ref.DeviceError, match="mask is on meta"):
        ref.masked_softmax(E, torch.ones(3, dtype=torch.bool, device="meta"))


class TestConversions:
    """Numbers, lists and numpy arrays become tensors; floating arguments decide the dtype."""

    def test_python_floats_are_float64(self) -> None:
        assert ref.softmax([0.1, 0.2]).dtype == torch.float64
        assert ref.context([0.3, 0.7], [[1, 1], [2, 0]]).tolist() == pytest.approx([1.7, 0.3], abs=1e-15)

    @pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64, torch.uint8])
    def test_integers_become_float64(self, dtype: torch.dtype, device: str) -> None:
        got = ref.softmax(torch.tensor([2, 1, 0], dtype=dtype, device=device))
        assert got.dtype == torch.float64 and got.device.type == device

    def test_the_floating_argument_decides(self, device: str) -> None:
        weights = torch.tensor([0.25, 0.75], dtype=torch.float32, device=device)
        assert ref.context(weights, torch.tensor([[1], [2]], device=device)).dtype == torch.float32
        assert ref.context(weights, weights.double()[:, None]).dtype == torch.float64
        assert ref.context(weights.half(), weights.bfloat16()[:, None]).dtype == torch.float32

    def test_lists_go_to_the_tensors_device(self, device: str) -> None:
        got = ref.context([0.5, 0.5], torch.ones(2, 3, dtype=torch.float64, device=device))
        assert got.device.type == device

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f8", "<f4"])
    def test_numpy_arrays_keep_their_width(self, dtype: Any) -> None:
        x = np.array([3.0, 1.0, 2.0], dtype=dtype)
        got = ref.softmax(x[::-1])
        assert got.numpy().dtype == np.dtype(dtype).newbyteorder("=")
        assert got.argmax() == 2

    def test_read_only_arrays_are_not_written_to(self) -> None:
        x = np.array([1.0, 2.0])
        x.flags.writeable = False
        mask = np.array([True, False])
        mask.flags.writeable = False
        assert ref.masked_softmax(x, mask).tolist() == [1.0, 0.0]
        got = ref.softmax(x)
        got += 1
        assert x.tolist() == [1.0, 2.0]

    def test_empty_batches_stay_empty(self, device: str) -> None:
        assert ref.softmax(torch.ones(0, 3, device=device)).shape == (0, 3)
        Q, K = torch.ones(0, 2, 4, device=device), torch.ones(0, 3, 4, device=device)
        assert ref.sdpa(Q, K, K).shape == (0, 2, 4)


TOKENS = torch.ones(2, 3)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: ref.softmax(E, axis=None), "axis is None, expected a whole number"),
        (lambda: ref.softmax(E, axis=1.0), "axis is 1.0"),
        (lambda: ref.softmax(E, axis=True), "axis is True"),
        (lambda: ref.softmax(E, temperature="x"), "temperature is 'x', expected a number"),
        (lambda: ref.softmax(E, temperature=True), "temperature is True"),
        (lambda: ref.sdpa(TOKENS, TOKENS, TOKENS, scale=[1, 2]), "scale is [1, 2]"),
        (lambda: ref.sdpa(TOKENS, TOKENS, TOKENS, scale=True), "scale is True"),
        (lambda: ref.self_attention(TOKENS, causal="no"), "causal is 'no', expected True or False"),
        (lambda: ref.self_attention(TOKENS, causal=1), "causal is 1"),
        (lambda: ref.threshold_alignment(E, "0.5"), "threshold is '0.5'"),
        (lambda: ref.softmax([1.0, math.inf]), "x holds NaN or +inf"),
        (lambda: ref.softmax([1.0, math.nan]), "x holds NaN or +inf"),
        (lambda: ref.softmax([-math.inf, -math.inf]), "nothing but -inf"),
        (lambda: ref.softmax([1.0, math.inf], temperature=2.0), "x holds NaN or +inf"),
        (lambda: ref.masked_softmax([1.0, math.inf], [True, True]), "scores holds NaN or +inf"),
        (lambda: ref.masked_softmax([-math.inf, 1.0], [True, False]), "nothing but -inf"),
        (lambda: ref.hard_alignment([0.2, math.nan]), "A holds NaN"),
        (lambda: ref.aligned_positions([0.2, math.nan]), "A holds NaN"),
        (lambda: ref.dot_scores([2**53 + 1], [[1]]), "at most 2**53"),
        (lambda: ref.dot_scores(torch.tensor([-(2**60)]), [[1]]), "at most 2**53"),
        (lambda: ref.sequence_logprob([[0.5, 0.5]], [0, 1]), "the length of seq is 2"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(call, says) -> None:
    with pytest.raises(ref.ArgumentError) as caught:
        call()
    assert says in str(caught.value)


def test_minus_infinity_beside_a_finite_score_gets_no_weight() -> None:
    assert ref.softmax([0.0, -math.inf]).tolist() == [1.0, 0.0]
    assert ref.masked_softmax([math.nan, 0.0], [False, True]).tolist() == [0.0, 1.0]


def test_a_state_of_the_wrong_size_is_named_and_not_a_matrix() -> None:
    params = {"Wx": torch.ones(3, 5), "Ws": torch.ones(3, 3), "Wy": torch.ones(4, 3)}
    params |= {"W": torch.ones(5, 3), "U": torch.ones(5, 2), "v": torch.ones(5)}
    with pytest.raises(ref.ShapeError) as caught:
        ref.decoder_step(torch.ones(3), torch.ones(4), torch.ones(6, 2), params)
    assert str(caught.value).startswith("s has shape (4,), expected (..., ds) with ds = 3")


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (torch.ones(2, 1, dtype=torch.bool), "(2, 3) or one that broadcasts to it, with last axis 3"),
        (torch.ones(3, dtype=torch.bool), None),
        (torch.ones(4, 3, dtype=torch.bool), "with last axis 3"),
    ],
)
def test_the_message_on_a_mask_never_recommends_what_was_given(mask, expected) -> None:
    if expected is None:
        ref.masked_softmax(torch.ones(2, 3), mask)
        return
    with pytest.raises(ref.ShapeError) as caught:
        ref.masked_softmax(torch.ones(2, 3), mask)
    assert expected in str(caught.value)


@pytest.mark.parametrize("shape", [(3, 2, 5, 5), (3, 5), (5, 4), (2, 5, 1)])
def test_a_mask_for_heads_is_held_against_the_tokens(shape) -> None:
    X, W = torch.ones(2, 5, 4), torch.ones(4, 4)
    with pytest.raises(ref.ShapeError) as caught:
        ref.multi_head(X, W, W, W, W, 2, mask=torch.ones(shape, dtype=torch.bool))
    assert caught.value.shape == shape, "the shape that was given, without the axis of the heads"
    assert "(2, 5, 5) or one that broadcasts to it, with last axis 5" in str(caught.value)
