"""C8: the decoder step of S0 (4)-(8), and what holds for every lecture's wiring."""

from __future__ import annotations

from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
from tests.oracles.arrays import Source, apart, dims, eps, seeds, sums_to_one, within

TINY = 1e-11
sizes = st.tuples(dims, dims, dims, dims, dims, st.integers(2, 5))  # n, ds, dh, de, da, V
presets = st.sampled_from(["l16", "s1", "s2", "s3"])


def drawn(seed: int, sizes, device: str, preset: str = "l16") -> dict[str, Any]:
    n, ds, dh, de, da, V = sizes
    dh = ds if preset == "s1" else dh
    source = Source(seed, device=device)
    into_state = de if preset in ("s1", "s2") else dh + de
    into_output = {"l16": ds, "s1": dh + ds, "s2": dh + ds, "s3": de + ds + dh}[preset]
    return {
        "y": source.normal(de), "s": source.normal(ds), "H": source.normal(n, dh), "preset": preset,
        "params": {
            "W": source.normal(da, ds), "U": source.normal(da, dh), "v": source.normal(da),
            "Wx": source.normal(ds, into_state), "Ws": source.normal(ds, ds),
            "Wy": source.normal(V, into_output),
        },
    }  # fmt: skip


def step(given: dict[str, Any], **changes: Any) -> ref.DecoderStep:
    """The step with some arguments or parameters replaced."""
    params = {**given["params"], **{k: v for k, v in changes.items() if k in given["params"]}}
    others = {k: v for k, v in changes.items() if k not in given["params"]}
    return ref.decoder_step(**{**given, **others, "params": params})


@given(seed=seeds, sizes=sizes, preset=presets)
def test_ranges(seed: int, sizes, preset: str, device: str) -> None:
    """P and weights sum to 1, |s| <= 1 (below 1 until tanh rounds to 1), c in the hull of H."""
    given = drawn(seed, sizes, device, preset)
    got = step(given)
    sums_to_one(got.weights)
    sums_to_one(got.probabilities)
    assert (got.state.abs() <= 1).all()
    assert (got.state.abs()[got.preactivation.abs() < 15] < 1).all()
    # the last unit of tanh is each library's own
    assert apart(got.state, torch.tanh(got.preactivation)) <= eps(got.state)
    within(got.context[None], given["H"])


@given(seed=seeds, sizes=sizes, preset=presets)
def test_encoder_order_does_not_matter(seed: int, sizes, preset: str, device: str) -> None:
    given = drawn(seed, sizes, device, preset)
    order = Source(seed, device=device).order(sizes[0])
    a, b = step(given), step(given, H=given["H"][order])
    assert apart(b.weights, a.weights[order]) <= TINY
    for name in ("context", "state", "probabilities"):
        assert apart(getattr(a, name), getattr(b, name)) <= TINY


@given(seed=seeds, sizes=sizes)
def test_v_zero_gives_the_mean(seed: int, sizes, device: str) -> None:
    given = drawn(seed, sizes, device)
    got = step(given, v=torch.zeros_like(given["params"]["v"]))
    assert apart(got.context, given["H"].mean(0)) <= TINY


@given(seed=seeds, sizes=sizes)
def test_W_zero_makes_the_weights_independent_of_s(seed: int, sizes, device: str) -> None:  # noqa: N802
    given = drawn(seed, sizes, device)
    W = torch.zeros_like(given["params"]["W"])
    assert torch.equal(step(given, W=W).weights, step(given, W=W, s=given["s"] + 1).weights)


@given(seed=seeds, sizes=sizes)
def test_W_belongs_to_the_state_and_U_to_the_encoder(seed: int, sizes, device: str) -> None:  # noqa: N802
    """With U = 0 all positions score alike."""
    given = drawn(seed, sizes, device)
    got = step(given, U=torch.zeros_like(given["params"]["U"]))
    assert apart(got.scores, got.scores[:1].expand_as(got.scores)) <= TINY
    assert apart(got.context, given["H"].mean(0)) <= TINY


@given(seed=seeds, sizes=sizes)
def test_sharp_v_picks_the_best_state(seed: int, sizes, device: str) -> None:
    given = drawn(seed, sizes, device)
    scores = step(given).scores
    top = scores.topk(min(2, sizes[0])).values
    if sizes[0] == 1 or top[0] - top[1] > 1e-3:
        got = step(given, v=1e5 * given["params"]["v"])
        assert apart(got.context, given["H"][scores.argmax()]) <= TINY


@given(seed=seeds, sizes=sizes)
def test_state_by_parts(seed: int, sizes, device: str) -> None:
    """Wx = 0 leaves tanh(Ws s); Ws = 0 and y = 0 leave tanh of the context's columns, which come first."""
    given, (_, _, dh, _, _, _) = drawn(seed, sizes, device), sizes
    Wx, Ws = given["params"]["Wx"], given["params"]["Ws"]
    got = step(given, Wx=torch.zeros_like(Wx))
    assert apart(got.state, torch.tanh(Ws @ given["s"])) <= TINY
    got = step(given, Ws=torch.zeros_like(Ws), y=torch.zeros_like(given["y"]))
    assert apart(got.state, torch.tanh(Wx[:, :dh] @ got.context)) <= TINY
    masked = Wx.clone()
    masked[:, :dh] = 0
    got = step(given, Wx=masked, Ws=torch.zeros_like(Ws))
    assert apart(got.state, torch.tanh(Wx[:, dh:] @ given["y"])) <= TINY


@given(seed=seeds, sizes=sizes, preset=presets)
def test_Wy_zero_gives_uniform_words(seed: int, sizes, preset: str, device: str) -> None:  # noqa: N802
    given = drawn(seed, sizes, device, preset)
    P = step(given, Wy=torch.zeros_like(given["params"]["Wy"])).probabilities
    assert apart(P, torch.full_like(P, 1 / sizes[-1])) <= TINY


@given(seed=seeds, sizes=sizes)
def test_words_have_the_log_ratio_of_the_logits(seed: int, sizes, device: str) -> None:
    """Of the new state's logits, not of the old one's or the context's."""
    given = drawn(seed, sizes, device)
    got = step(given)
    logits, logs = given["params"]["Wy"] @ got.state, got.probabilities.log()
    assert apart(logs - logs[0], logits - logits[0]) <= TINY


@given(seed=seeds, sizes=sizes)
def test_the_word_changes_the_state_but_not_the_context(seed: int, sizes, device: str) -> None:
    given = drawn(seed, sizes, device)
    a, b = step(given), step(given, y=given["y"] + 1)
    assert torch.equal(a.context, b.context)
    rows = given["params"]["Wx"][:, sizes[2] :].sum(-1)
    assert apart(b.preactivation - a.preactivation, rows) <= TINY


@given(seed=seeds, sizes=sizes)
def test_s1_scores_with_the_new_state(seed: int, sizes, device: str) -> None:
    given = drawn(seed, sizes, device, "s1")
    got = step(given)
    assert apart(got.scores, given["H"] @ got.state) <= TINY
    assert not got.scores.isnan().any()


@given(seed=seeds, sizes=sizes, preset=st.sampled_from(["s1", "s2"]))
def test_context_in_the_output_leaves_the_state_alone(seed: int, sizes, preset: str, device: str) -> None:
    given = drawn(seed, sizes, device, preset)
    assert torch.equal(step(given).state, step(given, H=given["H"] + 1).state)


@given(seed=seeds, sizes=sizes, preset=presets)
def test_output_blocks_stand_where_the_lecture_puts_them(seed: int, sizes, preset: str, device: str) -> None:
    """Logits are the sum over the blocks' own columns of Wy."""
    given = drawn(seed, sizes, device, preset)
    got = step(given)
    order = {
        "l16": [got.state],
        "s1": [got.context, got.state],
        "s2": [got.context, given["s"]],
        "s3": [given["y"], got.state, got.context],
    }[preset]
    logits, at = torch.zeros_like(got.probabilities), 0
    for block in order:
        logits = logits + given["params"]["Wy"][:, at : at + len(block)] @ block
        at += len(block)
    assert at == given["params"]["Wy"].shape[1]
    logs = got.probabilities.log()
    assert apart(logs - logs[0], logits - logits[0]) <= TINY
