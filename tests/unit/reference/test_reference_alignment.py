"""Hard alignment, positions and thresholds."""

from __future__ import annotations

import pytest
import torch

import reference as ref
from tests.oracles import loops
from tests.oracles.arrays import NARROW, WIDE, Source, listed


@pytest.mark.parametrize("dtype", WIDE + NARROW)
def test_hard_alignment_equals_loops(dtype: torch.dtype, device: str) -> None:
    A = Source(91, dtype, device).weights(2, 4, 5)
    got = ref.hard_alignment(A)
    assert got.dtype == dtype and got.device.type == device
    assert got.tolist() == [loops.hard_alignment(rows) for rows in listed(A)[0]]
    columns = ref.hard_alignment(A, axis=-2)
    assert columns.mT.tolist() == [loops.hard_alignment(rows) for rows in listed(A.mT)[0]]
    assert ref.aligned_positions(A).tolist() == got.argmax(-1).tolist()
    assert ref.aligned_positions(A, axis=0).shape == (4, 5)


def test_ties_go_to_the_first(device: str) -> None:
    A = torch.tensor([[0.2, 0.4, 0.4], [0.4, 0.2, 0.4]], dtype=torch.float64, device=device)
    assert ref.hard_alignment(A).tolist() == [[0, 1, 0], [1, 0, 0]]
    assert ref.aligned_positions(A).tolist() == [1, 0]
    same = torch.full((3, 257), 0.25, device=device)
    assert ref.aligned_positions(same).tolist() == [0, 0, 0]


def test_integers_give_float64() -> None:
    assert ref.hard_alignment([[1, 3], [2, 0]]).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert ref.hard_alignment([[1, 3]]).dtype == torch.float64


@pytest.mark.parametrize("dtype", WIDE)
def test_threshold(dtype: torch.dtype, device: str) -> None:
    A = torch.tensor([[0.25, 0.5, 0.25], [0.125, 0.125, 0.75]], dtype=dtype, device=device)
    got = ref.threshold_alignment(A, 0.25)
    assert got.dtype == torch.bool and got.device.type == device
    assert got.tolist() == [[True, True, True], [False, False, True]]
    assert not ref.threshold_alignment(A, 1.0).any() and ref.threshold_alignment(A, 0.0).all()
