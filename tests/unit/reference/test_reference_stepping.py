"""Decoders as step functions: whole greedy and beam searches against loops."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

import reference as ref
from tests.oracles import loops
from tests.oracles.arrays import Source, listed, same

V, DE, DS, N, DA = 4, 3, 2, 5, 3
COLUMNS = {"l16": (DS + DE, DS), "s1": (DE, 2 * DS), "s2": (DE, 2 * DS), "s3": (DS + DE, DE + 2 * DS)}


def drawn(seed: int, preset: str, device: str) -> tuple[torch.Tensor, dict[str, torch.Tensor], torch.Tensor]:
    """H, params and the embeddings of V words and a start symbol; encoder states as large as s."""
    source = Source(seed, device=device)
    x, y = COLUMNS[preset]
    params = {
        "W": source.normal(DA, DS), "U": source.normal(DA, DS), "v": source.normal(DA),
        "Wx": source.normal(DS, x), "Ws": source.normal(DS, DS), "Wy": source.normal(V, y, scale=2.0),
    }  # fmt: skip
    return source.normal(N, DS), params, source.normal(V + 1, DE)


def probabilities(preset: str, H: Any, p: Any, E: Any, words: list[int]) -> list[list[float]]:
    """P at each step when these words are the outputs, in the lecture's own order of things."""
    state, last, rows = H[-1], V, []
    for word in words:
        if preset == "s2":
            done = loops.decoder_s2(E[word], state, H, p)  # updates with the word itself
        else:
            done = getattr(loops, f"decoder_{preset}")(E[last], state, H, p)
        rows.append(done["probabilities"])
        state, last = done["state"], word
    return rows


@pytest.mark.parametrize("preset", COLUMNS)
@pytest.mark.parametrize("seed", range(5))
def test_searches_follow_the_lecture(preset: str, seed: int, device: str) -> None:
    H, params, E = drawn(seed, preset, device)
    step = ref.step_function(H, params, E, preset)
    h, e = listed(H, E)
    p = {name: listed(value)[0] for name, value in params.items()}
    greedy = ref.greedy_decode(step, ref.initial_state(H), V, -1, 6)
    for row, word in zip(probabilities(preset, h, p, e, greedy), greedy, strict=True):
        assert word == row.index(max(row))
    for tokens, logprob in ref.beam_search(step, ref.initial_state(H), 3, V, 0, 4):
        rows = probabilities(preset, h, p, e, tokens)
        want = math.fsum(math.log(row[word]) for row, word in zip(rows, tokens, strict=True))
        assert math.isclose(logprob, want, rel_tol=1e-10)
    total = ref.exhaustive(step, 3, s0=ref.initial_state(H), bos=V, eos=-1)
    assert math.isclose(math.fsum(math.exp(x.logprob) for x in total), 1.0, rel_tol=1e-12)


@pytest.mark.parametrize("preset", COLUMNS)
def test_the_word_matters_for_the_next_step(preset: str, device: str) -> None:
    """F-05: without the update of the state the printed loop would repeat itself."""
    H, params, E = drawn(9, preset, device)
    step = ref.step_function(H, params, E, preset)
    _, state = step(V, ref.initial_state(H))
    first, second = step(0, state)[0], step(1, state)[0]
    assert not torch.allclose(first, second)
    assert torch.equal(first, step(0, state)[0])


def test_choices_and_mask_are_passed_on(device: str) -> None:
    H, params, E = drawn(10, "l16", device)
    params["Wx"], params["Wy"] = params["Wx"][:, DS:], torch.ones(V, 2 * DS, device=device).double()
    mask = torch.tensor([True, True, False, False, True], device=device)
    choices: dict[str, Any] = {"query_state": "current", "context_in": "output", "score": "dot"}
    P, s = ref.step_function(H, params, E, mask=mask, **choices)(2, H[0])
    want = ref.decoder_step(E[2], H[0], H[mask], params, **choices)
    same(P, want.probabilities)
    same(s, want.state)


def test_refusals(device: str) -> None:
    H, params, E = drawn(11, "l16", device)
    with pytest.raises(ref.CircularityError, match="F-09"):
        ref.step_function(H, params, E, query_state="current")
    with pytest.raises(ref.ShapeError, match="embedding has shape"):
        ref.step_function(H, params, E[0])
    for word in (V + 1, -1):
        with pytest.raises(ref.ArgumentError, match=f"word {word} has no embedding"):
            ref.step_function(H, params, E)(word, H[-1])
