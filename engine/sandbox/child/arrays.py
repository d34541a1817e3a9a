"""Arrays to and from the wire, on the child's side, what was written into them, and their gradients.

Types are compared with ``type(x) is …`` and sizes before anything is copied: a tensor of 10**12
elements that shares one is 4 bytes in memory until ``contiguous()`` is called on it.
"""

from __future__ import annotations

import bisect
import math
import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .wire import ITEM_SIZES, MAX_DEPTH, ArrayNode, PlacedNode, TooLargeError, UnsupportedError

# a table, because numpy computes dtype.name again each time, in Python
_NAMES = {np.dtype(name): name for name in ITEM_SIZES if name != "bfloat16"}
_NUMPY_SCALARS = frozenset(dtype.type for dtype in _NAMES)
_LITTLE = "<|=" if sys.byteorder == "little" else "<|"  # dtype.byteorder of what needn't be turned round
_CPU = "cpu"
_OVERWRITTEN = -57.0  # exact in every floating dtype, and no number of any plan
_device = _CPU


def place_tensors(device: str) -> None:
    """Make tensors on this device from now on, and take them from it as well as from the CPU."""
    global _device
    _device = device


def device() -> str:
    """Return where tensors are made."""
    return _device


def device_is_lost() -> bool:
    """Return whether the device answers nothing any more; waits for what it is still doing."""
    if _device == _CPU:
        return False
    torch = sys.modules["torch"]
    try:
        torch.accelerator.synchronize() if hasattr(torch, "accelerator") else torch.cuda.synchronize()
    except RuntimeError:
        return True
    return False


def describe(value: Any, limit: int) -> ArrayNode:
    """Return the array node of `value`.

    Parameters
    ----------
    value : object
        Whatever student code returned.
    limit : int
        Most bytes that it may take.

    Raises
    ------
    UnsupportedError
        With a code, for everything but plain dense CPU arrays of a listed dtype (see :func:`plain`).
    TooLargeError
    """
    kind = type(value)
    if kind is np.ndarray:
        return _from_numpy(value, limit)
    if kind in _NUMPY_SCALARS:
        return _from_numpy(np.asarray(value), limit)
    torch = sys.modules.get("torch")
    if torch is not None and kind is torch.Tensor:
        return _from_torch(torch, value, limit)
    raise UnsupportedError(_code(value))


def plain(value: Any, depth: int = 0) -> Any:
    """Return a result with matrices, masked arrays, parameters and named tuples as what they are made of.

    Arrays keep their memory. Hidden entries of a masked array hold no number, so they become NaN.
    """
    kind: type[Any] = type(value)
    if depth > MAX_DEPTH:  # a list may hold itself; the writer refuses it
        return value
    if kind is list or kind is tuple:
        entries = [plain(entry, depth + 1) for entry in value]
        same = all(new is old for new, old in zip(entries, value, strict=True))
        return value if same else kind(entries)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return tuple(plain(entry, depth + 1) for entry in tuple.__iter__(value))
    if issubclass(kind, np.ma.MaskedArray) and value.dtype.kind == "f" and np.ma.is_masked(value):
        return np.ma.filled(value, np.nan)
    if kind is not np.ndarray and issubclass(kind, np.ndarray):
        return np.ndarray.view(value, np.ndarray)
    torch = sys.modules.get("torch")
    if torch is not None and kind is torch.nn.Parameter:
        return torch.Tensor.as_subclass(value, torch.Tensor)  # `.data` would lose the graph
    return value


def _code(value: Any) -> str:
    """Return one of the fixed codes; nothing of the value itself gets into it."""
    kind = type(value)
    if kind in _CODES:
        return _CODES[kind]
    if issubclass(kind, (np.ndarray, np.generic)):
        return "array-subclass"
    torch = sys.modules.get("torch")
    if torch is not None and issubclass(kind, torch.Tensor):
        return "tensor-subclass"
    return "object"


_CODES: dict[type, str] = {
    types.GeneratorType: "generator",
    types.CoroutineType: "coroutine", types.AsyncGeneratorType: "coroutine",
    types.FunctionType: "function", types.BuiltinFunctionType: "function",
    set: "set", frozenset: "set", bytes: "bytes", bytearray: "bytes", complex: "complex",
    range: "iterator", map: "iterator", zip: "iterator", filter: "iterator",
    type: "class",
}  # fmt: skip


def _check_size(dtype: str, shape: tuple[int, ...], limit: int) -> None:
    if math.prod(shape) * ITEM_SIZES[dtype] > limit:
        raise TooLargeError("bytes")


def _from_numpy(array: Any, limit: int) -> ArrayNode:
    dtype = array.dtype
    name = _NAMES.get(dtype) or _NAMES.get(dtype.newbyteorder("="))
    if name is None:
        raise UnsupportedError("dtype")
    _check_size(name, array.shape, limit)
    little = array if dtype.byteorder in _LITTLE else array.astype(dtype.newbyteorder("<"))
    return ArrayNode("numpy", name, array.shape, little.tobytes())


def _from_torch(torch: Any, tensor: Any, limit: int) -> ArrayNode:
    name = str(tensor.dtype).removeprefix("torch.")
    if tensor.layout is not torch.strided or tensor.device.type not in (_CPU, _device) or tensor.is_quantized:
        raise UnsupportedError("tensor-kind")
    if name not in ITEM_SIZES:
        raise UnsupportedError("dtype")
    shape = tuple(int(n) for n in tensor.shape)
    _check_size(name, shape, limit)
    plain = tensor.detach().resolve_conj().resolve_neg().contiguous().cpu()
    # by way of an integer of the same size: a single element may have any stride, which view(uint8) refuses
    data = (plain.view(torch.int16) if name == "bfloat16" else plain).numpy().tobytes()
    return ArrayNode("torch", name, shape, data)


def writes_through(value: Any, arguments: Sequence[Any], limit: int) -> bool:
    """Write over the arrays of a result that is encoded already; return whether that changes an argument.

    Afterwards everything is put back: the next call must not fail because a program keeps its results. What
    shares no memory with an argument isn't written to: it can't change one, and where it is an argument of an
    earlier call the grader may be looking at it right now.

    Parameters
    ----------
    value : object
        The result.
    arguments : sequence of object
        Those of the call.
    limit : int
        Most bytes of one of them.
    """
    torch = sys.modules.get("torch")
    arrays = list(_arrays(torch, arguments))
    written = [array for array in _arrays(torch, [value]) if any(_meet(array, other) for other in arrays)]
    if not written:
        return False
    before = [describe(array, limit).data for array in arrays]
    originals = [array.copy() if type(array) is np.ndarray else array.detach().clone() for array in written]
    for array in written:
        if type(array) is np.ndarray:
            _overwrite_array(array)
        else:
            _overwrite_tensor(torch, array)
    changed = any(describe(array, limit).data != data for array, data in zip(arrays, before, strict=True))
    for array, original in zip(written, originals, strict=True):
        _put_back(array, original)
    return changed


def _put_back(array: Any, original: Any) -> None:
    if type(array) is np.ndarray:
        if array.flags.writeable:
            array[...] = original
        return
    try:
        array.detach().copy_(original)
    except RuntimeError:  # as in _overwrite_tensor
        return


# What is kept alive is taken from the submission's own memory: enough for what a plan's calls return, and no
# cause for running out of it.
_MAX_KEPT = 1000
_MAX_KEPT_BYTES = 4 << 20


class KeptResults:
    """The results of earlier calls, kept alive so that memory which comes twice is the same memory."""

    def __init__(self) -> None:
        self._lists: list[list[Any]] = []
        self._arrays: list[Any] = []
        # their memory: stretches that have no byte in common, in rising order
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._bytes = 0

    def again(self, value: Any) -> bool:
        """Return whether a result is made of the memory of an earlier one, and remember it."""
        if type(value) is list:
            is_known = any(value is other for other in self._lists)
            if len(self._lists) < _MAX_KEPT:
                self._lists.append(value)
            if is_known:
                return True
        arrays = list(_arrays(sys.modules.get("torch"), [value]))
        bounds = [_bounds(array) for array in arrays]
        overlaps = any(first < last for first, last in (self._met(*place) for place in bounds))
        for array, (start, end) in zip(arrays, bounds, strict=True):
            if len(self._arrays) < _MAX_KEPT and self._bytes + end - start <= _MAX_KEPT_BYTES:
                self._arrays.append(array)
                self._bytes += end - start
                first, last = self._met(start, end)
                self._starts[first:last] = [min([start, *self._starts[first:last]])]
                self._ends[first:last] = [max([end, *self._ends[first:last]])]
        return overlaps

    def _met(self, start: int, end: int) -> tuple[int, int]:
        """Return the first stretch that some memory has a part of, and the one after the last."""
        first = bisect.bisect_right(self._ends, start)
        return first, max(first, bisect.bisect_left(self._starts, end))


def _meet(array: Any, other: Any) -> bool:
    if type(array) is np.ndarray and type(other) is np.ndarray:
        return np.may_share_memory(array, other)
    (start, end), (low, high) = _bounds(array), _bounds(other)
    return bool(start < high and low < end)


def _bounds(array: Any) -> tuple[int, int]:
    """Return the first and the last address of an array's entries; nothing at all for an empty one."""
    if type(array) is np.ndarray:
        if not array.size:
            return 0, 0
        start = array.__array_interface__["data"][0]
        if array.flags.c_contiguous:
            return start, start + array.nbytes
        item, strides = array.itemsize, array.strides
    else:
        if not array.numel() or array.layout is not sys.modules["torch"].strided:
            return 0, 0
        start, item = array.data_ptr(), array.element_size()
        if array.is_contiguous():
            return start, start + item * array.numel()
        strides = tuple(step * item for step in array.stride())
    low = high = start
    for n, step in zip(array.shape, strides, strict=True):
        low, high = low + min(0, (n - 1) * step), high + max(0, (n - 1) * step)
    return low, high + item


def _arrays(torch: Any, values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        kind = type(value)
        if kind is list or kind is tuple:
            yield from _arrays(torch, value)
        elif kind is dict:
            yield from _arrays(torch, value.values())
        elif kind is np.ndarray or (torch is not None and kind is torch.Tensor):
            yield value


def _overwrite_array(array: Any) -> None:
    if array.flags.writeable and array.dtype == np.bool_:
        np.logical_not(array, out=array)
    elif array.flags.writeable and array.dtype.kind == "f":
        array.fill(_OVERWRITTEN)


def _overwrite_tensor(torch: Any, tensor: Any) -> None:
    plain = tensor.detach()
    try:
        if plain.dtype == torch.bool:
            plain.logical_not_()
        elif plain.is_floating_point():
            plain.fill_(_OVERWRITTEN)
    except RuntimeError:  # one that was expanded, or made in inference mode, can't be written to
        return


def make_array(node: ArrayNode) -> Any:
    """Return a fresh, writeable array of its own memory (strided or read-only where the node says so)."""
    return _make_torch(node) if node.library == "torch" else _make_numpy(node)


def _make_numpy(node: ArrayNode) -> Any:
    flat = np.frombuffer(node.data, dtype=np.dtype(node.dtype).newbyteorder("<"))
    array = flat.astype(np.dtype(node.dtype), copy=True).reshape(node.shape)
    if not node.contiguous and array.ndim:
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), dtype=array.dtype)
        wide[..., ::2] = array
        array = wide[..., ::2]
    array.flags.writeable = node.writeable
    return array


def _make_torch(node: ArrayNode) -> Any:
    import torch

    dtype = getattr(torch, node.dtype)
    if not len(node.data):
        return torch.empty(node.shape, dtype=dtype, device=_device)
    tensor = torch.frombuffer(bytearray(node.data), dtype=dtype).reshape(node.shape).to(_device)
    if not node.contiguous and tensor.dim():
        wide = torch.zeros((*tensor.shape[:-1], 2 * tensor.shape[-1]), dtype=dtype, device=_device)
        wide[..., ::2] = tensor
        tensor = wide[..., ::2]
    return tensor


def view_array(node: PlacedNode, memory: Any) -> Any:
    """Return the array that lies in `memory`, a writeable buffer, where the node says; nothing is copied."""
    gaps = not node.contiguous and node.shape
    shape = (*node.shape[:-1], 2 * node.shape[-1]) if gaps else node.shape
    if node.library == "torch":
        import torch

        dtype = getattr(torch, node.dtype)
        count = math.prod(shape)
        tensor = torch.frombuffer(memory, dtype=dtype, count=count, offset=node.offset).reshape(shape)
        return tensor[..., ::2] if gaps else tensor
    array: Any = np.ndarray(shape, np.dtype(node.dtype), memory, node.offset)
    if gaps:
        array = array[..., ::2]
    if not node.writeable:
        array.flags.writeable = False
    return array


class MismatchError(Exception):
    """There is nothing to differentiate: the value has no graph, or its arrays don't fit the cotangents."""


def track(arguments: Iterable[Any]) -> list[Any]:
    """Make every floating tensor among the arguments a leaf of the graph.

    Returns
    -------
    list of torch.Tensor
        In the order of the arguments; those in lists, tuples and dicts too, in theirs.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return []
    tensors = [x for x in _arrays_in(list(arguments)) if type(x) is torch.Tensor and x.is_floating_point()]
    for tensor in tensors:
        tensor.requires_grad_(True)
    return tensors


def differentiate(value: Any, cotangents: list[Any], inputs: list[Any]) -> list[Any]:
    """Return the gradients of the sum of ``output * cotangent`` with respect to `inputs`.

    Parameters
    ----------
    value : object
        What the function returned; its arrays are met in order, those in containers too.
    cotangents : list of (torch.Tensor or None)
        One for each array of `value`, of the same shape; None leaves that array out.
    inputs : list of torch.Tensor
        From :func:`track`.

    Returns
    -------
    list of (torch.Tensor or None)
        None for an input that isn't used.

    Raises
    ------
    MismatchError
        No array depends on an input by a graph, or their number or shapes differ from the cotangents'.
    Exception
        Whatever autograd, or a backward function of the student's own, raises.
    """
    arrays = list(_arrays_in(value))
    if len(arrays) != len(cotangents):
        raise MismatchError
    pairs = [(a, c) for a, c in zip(arrays, cotangents, strict=True) if c is not None]
    if any(tuple(a.shape) != tuple(c.shape) for a, c in pairs):
        raise MismatchError
    pairs = [(a, c) for a, c in pairs if getattr(a, "requires_grad", False)]
    if not pairs or not inputs:
        raise MismatchError
    torch = sys.modules["torch"]
    # given the weights itself, `grad` would load torch's symbolic shapes: a quarter of a second
    weighted = sum((a * c).sum() for a, c in pairs)
    return list(torch.autograd.grad(weighted, inputs, allow_unused=True))


def _arrays_in(value: Any) -> Iterator[Any]:
    """Yield arrays and tensors in order; the depth of what comes here is bounded by the wire."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _arrays_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _arrays_in(item)
    elif hasattr(value, "shape") and hasattr(value, "dtype"):
        yield value
