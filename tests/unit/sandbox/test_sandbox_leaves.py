"""Arrays in the child: exact types, sizes before copies, every dtype both ways."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from engine.sandbox.child.arrays import describe, make_array, plain
from engine.sandbox.child.wire import ITEM_SIZES, ArrayNode, TooLargeError, UnsupportedError

LIMIT = 10**6
NUMPY = [name for name in ITEM_SIZES if name != "bfloat16"]


def _bytes(dtype: str, count: int) -> bytes:
    if dtype == "bool":
        return bytes(i % 2 for i in range(count))
    return bytes(i % 60 for i in range(ITEM_SIZES[dtype] * count))


@pytest.mark.parametrize(
    ("library", "dtype"),
    [*itertools.product(["numpy"], NUMPY), *itertools.product(["torch"], ITEM_SIZES)],
)
@pytest.mark.parametrize("shape", [(), (3,), (0, 2), (2, 3, 1)])
@pytest.mark.parametrize("contiguous", [True, False])
def test_every_dtype_both_ways(library: str, dtype: str, shape: tuple[int, ...], contiguous: bool) -> None:
    data = _bytes(dtype, int(np.prod(shape)))
    array = make_array(ArrayNode(library, dtype, shape, data, contiguous, True))
    assert tuple(array.shape) == shape
    back = describe(array, LIMIT)
    assert (back.library, back.dtype, back.shape, bytes(back.data)) == (library, dtype, shape, data)


def test_layout_is_as_asked() -> None:
    strided = make_array(ArrayNode("numpy", "float64", (2, 2), bytes(32), False, False))
    assert not strided.flags.c_contiguous
    assert not strided.flags.writeable
    tensor = make_array(ArrayNode("torch", "float64", (2, 2), bytes(32), False, True))
    assert not tensor.is_contiguous()
    plain = make_array(ArrayNode("numpy", "float64", (2, 2), bytes(32)))
    plain[0, 0] = 1.0
    assert plain.flags.owndata or plain.base is not None


def test_inputs_share_no_memory() -> None:
    node = ArrayNode("torch", "float64", (2,), bytes(16))
    first, second = make_array(node), make_array(node)
    first[0] = 5.0
    assert second[0] == 0.0
    assert bytes(node.data) == bytes(16)


def test_numpy_scalars_are_arrays_without_axes() -> None:
    for value in (np.float32(1.5), np.int64(2), np.bool_(True), np.complex64(1j)):
        node = describe(value, LIMIT)
        assert node.shape == ()
        assert node.dtype == value.dtype.name


def test_other_byte_orders_and_views_are_normalised() -> None:
    wanted = np.arange(6, dtype="<f8").reshape(2, 3)
    for array in (wanted.astype(">f8"), np.asfortranarray(wanted), wanted[::-1][::-1]):
        assert bytes(describe(array, LIMIT).data) == wanted.tobytes()
    tensor = torch.from_numpy(wanted.copy())
    assert bytes(describe(tensor.t().contiguous().t(), LIMIT).data) == wanted.tobytes()
    assert (
        describe(torch.tensor([1 + 2j]).conj(), LIMIT).data == np.array([1 - 2j], dtype="complex64").tobytes()
    )


def test_gradients_are_left_behind() -> None:
    tensor = torch.ones(2, requires_grad=True) * 2
    assert bytes(describe(tensor, LIMIT).data) == torch.full((2,), 2.0).numpy().tobytes()


class _Subclass(torch.Tensor):
    pass


class _Array(np.ndarray):
    pass


def _unsupported() -> list[tuple[Any, str]]:
    return [
        (_Subclass([1.0]), "tensor-subclass"),
        (torch.nn.Parameter(torch.ones(1)), "tensor-subclass"),
        (np.ones(2).view(_Array), "array-subclass"),
        (np.ma.masked_array([1.0], [True]), "array-subclass"),
        (np.array([object()]), "dtype"),
        (np.array([1], dtype=[("a", "i4")]), "dtype"),
        (np.array(["x"]), "dtype"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "dtype"),
        (np.longdouble(1), "array-subclass"),
        (torch.eye(2).to_sparse(), "tensor-kind"),
        (torch.empty(2, device="meta"), "tensor-kind"),
        (torch.ones(2).to(torch.float8_e4m3fn), "dtype"),
        ((i for i in ()), "generator"),
        (lambda: None, "function"),
        (len, "function"),
        ({1}, "set"),
        (b"x", "bytes"),
        (1j, "complex"),
        (range(3), "iterator"),
        (int, "class"),
        (object(), "object"),
    ]


@pytest.mark.parametrize(
    ("value", "code"), _unsupported(), ids=lambda v: v if isinstance(v, str) else type(v).__name__
)
def test_everything_else_has_a_code(value: Any, code: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        describe(value, LIMIT)
    assert str(caught.value) == code


def test_a_claimed_class_is_not_believed() -> None:
    class Liar:
        @property
        def __class__(self) -> Any:  # type: ignore[override]
            return torch.Tensor

    with pytest.raises(UnsupportedError):
        describe(Liar(), LIMIT)


@pytest.mark.parametrize(
    "giant",
    [
        lambda: torch.zeros(1).expand(10**12),
        lambda: np.broadcast_to(np.zeros(1), (10**12,)),
        lambda: np.lib.stride_tricks.as_strided(np.zeros(1), (10**9, 10**9), (0, 0)),
    ],
)
def test_lazy_giants_are_measured_before_they_are_copied(giant: Any) -> None:
    with pytest.raises(TooLargeError):
        describe(giant(), LIMIT)


class _Pair(NamedTuple):
    first: Any
    second: Any


def test_what_an_array_or_a_tuple_is_made_of_is_taken() -> None:
    own, hidden = np.ones(2).view(_Array), np.ma.masked_array([1.0, 2.0], [False, True])
    found = plain(_Pair(own, [hidden, torch.nn.Parameter(torch.ones(1)), 3]))
    assert type(found) is tuple and type(found[0]) is np.ndarray and np.shares_memory(found[0], own)
    assert np.array_equal(found[1][0], [1.0, np.nan], equal_nan=True)
    assert type(found[1][1]) is torch.Tensor and found[1][2] == 3
    same = [np.ones(1), (1, 2)]
    same.append(same)
    assert plain(same) is same  # a list that comes twice must be known again
