"""The audit of the lecture's exercises and other numbers of the lectures, recomputed."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

import pytest
import torch

import reference as ref


def put(values: Any, device: str) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, device=device)


def rounded(x: torch.Tensor, places: int) -> list[float]:
    """Rounded half-even, and it must not matter that it isn't half-up."""
    unit = Decimal(1).scaleb(-places)
    exact = [Decimal(v) for v in x.cpu().tolist()]
    even = [v.quantize(unit, ROUND_HALF_EVEN) for v in exact]
    assert even == [v.quantize(unit, ROUND_HALF_UP) for v in exact]
    return [float(v) for v in even]


def distance(x: torch.Tensor, option: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(x.cpu().tolist(), option, strict=True))


class TestExercise1:
    OPTIONS = {"a": [1.70, 0.30], "b": [1.30, 0.70], "c": [1.50, 0.50], "d": [2.00, 0.40]}  # noqa: RUF012

    def test_option_a_is_exact(self, device: str) -> None:
        c = ref.context(put([0.3, 0.7], device), put([[1, 1], [2, 0]], device))
        assert rounded(c, 6) == [1.7, 0.3]
        assert [k for k, v in self.OPTIONS.items() if v == rounded(c, 2)] == ["a"]

    def test_what_b_and_c_are(self, device: str) -> None:
        H = put([[1, 1], [2, 0]], device)
        assert rounded(ref.context(put([0.7, 0.3], device), H), 2) == self.OPTIONS["b"]
        assert rounded(ref.context(put([0.5, 0.5], device), H), 2) == self.OPTIONS["c"]


class TestExercise3:
    OPTIONS = {  # noqa: RUF012
        "a": [0.665, 0.244, 0.091], "b": [0.571, 0.286, 0.143],
        "c": [0.500, 0.333, 0.167], "d": [0.633, 0.267, 0.100],
    }  # fmt: skip

    def test_no_option_is_right_to_three_places(self, device: str) -> None:
        """F-02."""
        w = ref.softmax(put([2, 1, 0], device))
        assert rounded(w, 6) == [0.665241, 0.244728, 0.090031]
        assert rounded(w, 3) == [0.665, 0.245, 0.090]
        assert rounded(w, 3) not in self.OPTIONS.values()

    def test_a_is_clearly_the_intended_one(self, device: str) -> None:
        w = ref.softmax(put([2, 1, 0], device))
        gaps = [abs(x - y) for x, y in zip(w.cpu().tolist(), self.OPTIONS["a"], strict=True)]
        assert [round(g, 6) for g in gaps] == [0.000241, 0.000728, 0.000969]
        others = {k: distance(w, v) for k, v in self.OPTIONS.items() if k != "a"}
        assert min(others, key=others.__getitem__) == "d" and round(others["d"], 4) == 0.0322
        assert math.isclose(sum(self.OPTIONS["a"]), 1.0)

    def test_what_b_and_c_are(self, device: str) -> None:
        base2 = ref.softmax(put([2, 1, 0], device) * math.log(2))
        assert rounded(base2, 3) == self.OPTIONS["b"]
        assert [round(float(Fraction(k, 6)), 3) for k in (3, 2, 1)] == self.OPTIONS["c"]


class TestExercise5:
    OPTIONS = {  # noqa: RUF012
        "a": [0.621, -0.182], "b": [0.524, 0.235], "c": [0.462, 0.156], "d": [0.715, -0.324],
    }  # fmt: skip

    @staticmethod
    def given(device: str) -> tuple[torch.Tensor, ...]:
        W1, W2 = put([[0.5, -0.3], [0.2, 0.4]], device), put([[0.1, 0.2], [-0.3, 0.1]], device)
        return put([1, 2], device), put([0.5, 1], device), W1, W2

    def test_no_option_is_right_nor_close(self, device: str) -> None:
        """F-03."""
        a = ref.alignment_vector(*self.given(device))
        assert rounded(a, 6) == [0.148885, 0.739783]
        assert rounded(a, 3) == [0.149, 0.740]
        gaps = {k: round(distance(a, v), 3) for k, v in self.OPTIONS.items()}
        assert gaps == {"b": 0.505, "c": 0.584, "a": 0.922, "d": 1.064}

    def test_it_is_no_score(self, device: str) -> None:
        """F-01: two entries for one position; the literal reading is refused, v repairs it."""
        h, s, W1, W2 = self.given(device)
        with pytest.raises(ref.ShapeError, match="F-01"):
            ref.additive_scores(s, h[None], W2, W1, l16_literal=True)
        e = ref.additive_scores(s, h[None], W2, W1, put([1, 1], device))
        assert rounded(e, 6) == [0.888668]

    def test_the_distractors_of_the_corrected_version(self, device: str) -> None:
        h, s, W1, W2 = self.given(device)
        assert rounded(ref.alignment_vector(h, s, W2, W1), 3) == [0.422, 0.380]
        assert rounded(ref.alignment_vector(h, s, W1.mT, W2.mT), 3) == [0.572, 0.604]
        assert rounded(ref.alignment_vector(h, s, W1, W2 * 0), 3) == [-0.100, 0.762]
        assert rounded(torch.atanh(ref.alignment_vector(h, s, W1, W2)), 3) == [0.150, 0.950]


def test_effect_of_the_scale(device: str) -> None:
    """Curriculum, row scale-effect: logits (4, 2, 0), d = 4."""
    K = put([[2, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]], device)
    q, identity = put([[2, 0, 0, 0]], device), torch.eye(3, dtype=torch.float64, device=device)
    assert rounded(ref.sdpa(q, K, identity)[0], 3) == [0.665, 0.245, 0.090]
    assert rounded(ref.sdpa(q, K, identity, scale=None)[0], 3) == [0.867, 0.117, 0.016]
    assert rounded(ref.sdpa(q, K, identity, scale=4.0)[0], 3) == [0.506, 0.307, 0.186]


def test_literal_index_error_gives_equal_weights(device: str) -> None:
    """F-08: the sum over i of exp(score_j) makes every weight 1/T, whatever the scores."""
    e = put([2, 1, 0], device)
    literal = torch.stack([x.exp() / sum(x.exp() for _ in e) for x in e])
    assert rounded(literal, 6) == [0.333333] * 3
    assert not torch.allclose(literal, ref.softmax(e))


def test_concat_form_is_the_two_matrix_form(device: str) -> None:
    """D-3: W1 = [W U], w2 = v."""
    generator = torch.Generator().manual_seed(0)
    shapes = (3,), (5, 4), (2, 3), (2, 4), (2,)
    q, K, W, U, v = (torch.randn(s, dtype=torch.float64, generator=generator).to(device) for s in shapes)
    joint = ref.concat_scores(q, K, torch.cat([W, U], dim=1), v)
    assert torch.allclose(joint, ref.additive_scores(q, K, W, U, v), rtol=0, atol=1e-12)


def test_length_normalisation_flips_the_order() -> None:
    """Curriculum, row beam-length-normalised: 0.20 with two words, 0.173 with four."""
    short, long = math.log(0.20), math.log(0.173)
    assert short > long and short / 2 < long / 4
    assert float(ref.chain_prob([0.5, 0.4])) == pytest.approx(0.20)


def test_vanishing_factor_is_a_chain_of_steps() -> None:
    """S3 challenge 3: a linear RNN's factor w^(T-1), 5.726e-3 for w = 0.9, T = 50; 66 steps to 1e-3."""
    assert f"{float(ref.chain_prob([0.9] * 49)):.3e}" == "5.726e-03"
    assert float(ref.chain_prob([0.9] * 66)) < 1e-3 < float(ref.chain_prob([0.9] * 65))
