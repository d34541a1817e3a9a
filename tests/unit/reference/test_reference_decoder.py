"""Decoder steps: the worked instance, each lecture's preset against loops, and the wirings."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch

import reference as ref
from reference.wiring import PRESETS, wire
from tests.oracles import loops
from tests.oracles.arrays import WIDE, Source, listed, same

DE, DS, DH, DA, N, V = 2, 4, 3, 5, 6, 7
PRESET_SIZES = {  # columns of Wx and Wy
    "l16": (DH + DE, DS),
    "s1": (DE, DS + DS),
    "s2": (DE, DH + DS),
    "s3": (DH + DE, DE + DS + DH),
}


def inputs(source: Source, preset: str, *lead: int) -> dict[str, Any]:
    """y, s, H and params; s1 forces equal sizes of both kinds of states."""
    dh = DS if preset == "s1" else DH
    x, y = PRESET_SIZES[preset]
    return {
        "y": source.normal(*lead, DE),
        "s": source.normal(*lead, DS),
        "H": source.normal(*lead, N, dh),
        "params": {
            "W": source.normal(DA, DS), "U": source.normal(DA, dh), "v": source.normal(DA),
            "Wx": source.normal(DS, x, scale=0.5), "Ws": source.normal(DS, DS, scale=0.5),
            "Wy": source.normal(V, y),
        },
    }  # fmt: skip


def test_worked_instance_to_six_decimals(device: str) -> None:
    """Curriculum, row decoder-full-step: S0 (4)-(8) by hand."""

    def put(values: Any) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.float64, device=device)

    params = {
        "W": put([[0.5, 0], [0.2, 0.4]]), "U": put([[0.3, -0.2], [0.1, 0.6]]), "v": put([1, 2]),
        "Wx": put([[0.4, -0.3, 0.2, 0.1], [0.1, 0.5, -0.2, 0.3]]),
        "Ws": put([[0.2, 0.1], [-0.1, 0.3]]), "Wy": put([[1, 0], [0, 1], [1, -1]]),
    }  # fmt: skip
    step = ref.decoder_step(put([1, 0]), put([0.5, -0.5]), put([[1, 0], [0, 1], [1, 1]]), params)
    expected = {
        "scores": [0.500520, 0.974193, 1.410475],
        "weights": [0.196460, 0.315492, 0.488048],
        "context": [0.684508, 0.803540],
        "preactivation": [0.282741, 0.070221],
        "state": [0.275440, 0.070106],
        "probabilities": [0.364077, 0.296495, 0.339428],
    }
    assert step._fields == tuple(expected)
    for name, numbers in expected.items():
        got = getattr(step, name).cpu().tolist()
        assert [round(x, 6) for x in got] == numbers, name


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("preset", PRESETS)
def test_presets_equal_loops(preset: str, dtype: torch.dtype, device: str) -> None:
    given = inputs(Source(61, dtype, device), preset)
    got = ref.decoder_step(**given, preset=preset)
    y, s, H = listed(given["y"], given["s"], given["H"])
    p = {name: listed(value)[0] for name, value in given["params"].items()}
    want = getattr(loops, f"decoder_{preset}")(y, s, H, p)
    for name, value in want.items():
        field = getattr(got, name)
        assert field.dtype == dtype and field.device.type == device
        same(field, value, slack=4)


@pytest.mark.parametrize("preset", PRESETS)
def test_leading_axes_mean_one_step_each(preset: str, device: str) -> None:
    given = inputs(Source(62, device=device), preset, 2, 3)
    got = ref.decoder_step(**given, preset=preset)
    for i, j in itertools.product(range(2), range(3)):
        each = {name: given[name][i, j] for name in ("y", "s", "H")}
        one = ref.decoder_step(**each, params=given["params"], preset=preset)
        for name in one._fields:
            same(getattr(got, name)[i, j], getattr(one, name))


@pytest.mark.parametrize("preset", PRESETS)
def test_one_sentence_serves_many_states(preset: str, device: str) -> None:
    given = inputs(Source(63, device=device), preset, 3)
    H, y = given["H"][0], given["y"][0]
    got = ref.decoder_step(y, given["s"], H, given["params"], preset)
    one = ref.decoder_step(y, given["s"][2], H, given["params"], preset)
    same(got.probabilities[2], one.probabilities)
    same(got.state[2], one.state)


def test_mask_hides_encoder_positions(device: str) -> None:
    given = inputs(Source(64, device=device), "l16")
    mask = torch.tensor([True, False, True, True, False, False], device=device)
    got = ref.decoder_step(**given, mask=mask)
    short = ref.decoder_step(given["y"], given["s"], given["H"][mask], given["params"])
    same(got.probabilities, short.probabilities)
    assert (got.weights[~mask] == 0).all()


@pytest.mark.parametrize("score", ["dot", "scaled_dot", "bilinear", "concat"])
def test_other_scores(score: str, device: str) -> None:
    source = Source(65, device=device)
    given = inputs(source, "l16")
    given["s"] = source.normal(DS)
    given["H"] = source.normal(N, DS)
    more = {"bilinear": {"W": source.normal(DS, DS)}, "concat": {"W1": source.normal(DA, 2 * DS),
            "w2": source.normal(DA)}}.get(score, {})  # fmt: skip
    params = {**given["params"], **more, "Wx": source.normal(DS, DS + DE)}
    got = ref.decoder_step(given["y"], given["s"], given["H"], params, score=score)
    e = getattr(loops, f"{score}_scores")(*listed(given["s"], given["H"], *more.values()))
    same(got.scores, e)


def test_literal_decoder_with_one_row(device: str) -> None:
    source = Source(66, device=device)
    given = inputs(source, "l16")
    params = {**given["params"], "W": source.normal(1, DS), "U": source.normal(1, DH)}
    got = ref.decoder_step(given["y"], given["s"], given["H"], params, score="l16_literal")
    with_v = {**params, "v": torch.ones(1, dtype=torch.float64, device=device)}
    same(got.scores, ref.decoder_step(given["y"], given["s"], given["H"], with_v).scores)


def test_s2_updates_its_state_after_the_word(device: str) -> None:
    """P must not depend on y_t, which is chosen from it."""
    source = Source(67, device=device)
    given = inputs(source, "s2")
    other = {**given, "y": source.normal(DE)}
    a, b = ref.decoder_step(**given, preset="s2"), ref.decoder_step(**other, preset="s2")
    assert torch.equal(a.probabilities, b.probabilities)
    assert not torch.allclose(a.state, b.state)


@pytest.mark.parametrize(
    ("preset", "changes"),
    [
        ("l16", {"query_state": "current"}),
        ("l16", {"query_state": "current", "order": "attend_then_rnn"}),
        ("l16", {"query_state": "current", "order": "attend_then_rnn", "context_in": "output"}),
        ("l16", {"order": "rnn_then_attend"}),
        ("s1", {"order": "attend_then_rnn"}),
        ("s1", {"context_in": "both"}),
        ("s1", {"context_in": "state"}),
        ("s2", {"context_in": "state", "order": "rnn_then_attend"}),
        ("s2", {"order": "rnn_then_attend"}),
        ("s2", {"query_state": "current"}),
        ("s3", {"query_state": "current"}),
    ],
)
def test_circular_wirings_are_refused(preset: str, changes: dict[str, Any], device: str) -> None:
    given = inputs(Source(68, device=device), preset)
    with pytest.raises(ref.CircularityError, match="F-09"):
        ref.decoder_step(**given, preset=preset, **changes)


def test_every_allowed_wiring_computes_each_value_before_its_use() -> None:
    """Follows the data flow of all combinations by itself, and agrees on which are possible."""
    choices = itertools.product(
        PRESETS, ("prev", "current"), ("attend_then_rnn", "rnn_then_attend"), ("state", "output", "both")
    )
    for preset, query_state, order, context_in in choices:
        known = {"previous_state", "token"}
        if preset == "s2":
            known.remove("token")  # its y_t is chosen from P, which needs the context
        possible = True
        for stage in order.split("_then_"):
            if stage == "attend":
                possible &= query_state == "prev" or "state" in known
                known |= {"context", "token"}
            else:
                possible &= (context_in == "output" or "context" in known) and "token" in known
                known.add("state")
        options: dict[str, Any] = {"query_state": query_state, "order": order, "context_in": context_in}
        if not possible:
            with pytest.raises(ref.CircularityError):
                wire(preset, **options)
            continue
        wiring = wire(preset, **options)
        assert (wiring.query_state, wiring.order, wiring.context_in) == (query_state, order, context_in)
        assert set(wiring.output) <= known
        assert ("context" in wiring.output) == (context_in in ("output", "both"))


def test_l16_with_the_context_in_the_output(device: str) -> None:
    """Luong's order from the S0 preset: the state first, then attention with it."""
    source = Source(69, device=device)
    y, s, H = source.normal(DE), source.normal(DS), source.normal(N, DH)
    params = {
        "W": source.normal(DA, DS), "U": source.normal(DA, DH), "v": source.normal(DA),
        "Wx": source.normal(DS, DE), "Ws": source.normal(DS, DS), "Wy": source.normal(V, DH + DS),
    }  # fmt: skip
    got = ref.decoder_step(y, s, H, params, query_state="current", context_in="output")
    p = {name: listed(value)[0] for name, value in params.items()}
    state = loops.rnn_step(*listed(y, s), p["Ws"], p["Wx"], math.tanh)
    e = loops.additive_scores(state, *listed(H), p["W"], p["U"], p["v"])
    c = loops.context(loops.softmax(e), *listed(H))
    same(got.state, state)
    same(got.scores, e)
    same(got.probabilities, loops.softmax(loops.product(p["Wy"], [*c, *state])))
    before = ref.decoder_step(y, s, H, params, order="rnn_then_attend", context_in="output")
    same(before.scores, loops.additive_scores(*listed(s, H), p["W"], p["U"], p["v"]))


def test_context_in_both_joins_context_first(device: str) -> None:
    source = Source(70, device=device)
    given = inputs(source, "l16")
    params = {**given["params"], "Wy": source.normal(V, DH + DS)}
    got = ref.decoder_step(given["y"], given["s"], given["H"], params, context_in="both")
    plain = ref.decoder_step(**given)
    same(got.state, plain.state)
    same(got.probabilities, loops.softmax(loops.product(*listed(params["Wy"]), [*listed(got.context)[0],
         *listed(got.state)[0]])))  # fmt: skip


def test_s3_without_context_in_the_output(device: str) -> None:
    source = Source(71, device=device)
    given = inputs(source, "s3")
    params = {**given["params"], "Wy": source.normal(V, DE + DS)}
    got = ref.decoder_step(given["y"], given["s"], given["H"], params, "s3", context_in="state")
    entering = [*listed(given["y"])[0], *listed(got.state)[0]]
    same(got.probabilities, loops.softmax(loops.product(*listed(params["Wy"]), entering)))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"preset": "s4"}, "preset is 's4'"),
        ({"query_state": "next"}, "query_state is 'next'"),
        ({"order": "luong"}, "order is 'luong'"),
        ({"context_in": "input"}, "context_in is 'input'"),
        ({"score": "cosine"}, "score is 'cosine'"),
    ],
)
def test_unknown_choices_are_named(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ref.ArgumentError, match=text):
        ref.decoder_step(**inputs(Source(72), "l16"), **options)


@pytest.mark.parametrize("missing", ["W", "U", "v", "Wx", "Ws", "Wy"])
def test_missing_parameters_are_named(missing: str) -> None:
    given = inputs(Source(73), "l16")
    del given["params"][missing]
    with pytest.raises(ref.ArgumentError, match=f"params lacks {missing}"):
        ref.decoder_step(**given)


def test_dot_score_needs_no_weights(device: str) -> None:
    given = inputs(Source(74, device=device), "s1")
    for name in ("W", "U", "v"):
        del given["params"][name]
    assert ref.decoder_step(**given, preset="s1").probabilities.shape == (V,)


def test_initial_state(device: str) -> None:
    source = Source(75, device=device)
    H = source.normal(2, N, DH)
    assert torch.equal(ref.initial_state(H), H[:, -1])
    own = source.normal(DS)
    assert torch.equal(ref.initial_state(H, own), own)


def test_steps_are_differentiable(device: str) -> None:
    given = inputs(Source(76, device=device), "l16")
    names = list(given["params"])
    leaves = [x.requires_grad_() for x in (given["y"], given["s"], given["H"], *given["params"].values())]

    def probabilities(y: torch.Tensor, s: torch.Tensor, H: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
        return ref.decoder_step(y, s, H, dict(zip(names, rest, strict=True))).probabilities

    assert torch.autograd.gradcheck(probabilities, leaves)
