"""The reference as each library sees it: one test, run on torch's tensors and again on numpy's arrays.

Tests draw and compare tensors, and call ``ref``. For numpy, every tensor on the way in becomes an array and
every array on the way out a tensor; what numpy doesn't have (bfloat16, other devices, autograd) stays as it
is. Either way, what comes out must belong to the library that went in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
import torch

import reference

LIBRARIES = ["torch", "numpy"]
_COUNTS = {"count_ops", "count_params", "sequential_depth"}  # of whole numbers, not of arrays


@pytest.fixture(scope="module", autouse=True)
def library(request: pytest.FixtureRequest) -> Iterator[None]:
    """Have a module's ``ref`` compute with one library."""
    if hasattr(request, "param"):
        request.module.ref = Reference(request.param)
        yield
        request.module.ref = reference
    else:
        yield


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if getattr(metafunc.module, "ref", None) is reference and hasattr(metafunc.module, "torch"):
        metafunc.parametrize("library", LIBRARIES, indirect=True, scope="module")


def _is_torch_only(x: torch.Tensor) -> bool:
    return x.device.type != "cpu" or x.requires_grad or x.dtype is torch.bfloat16 or "float8" in str(x.dtype)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _leaves(part)
    else:
        yield value


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {key: _changed(part, change) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_changed(part, change) for part in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_changed(part, change) for part in value)
    return change(value)


class Reference:
    """The package, its functions called on the arrays of one library."""

    def __init__(self, library: str) -> None:
        self.library = library

    def __getattr__(self, name: str) -> Any:
        value = getattr(reference, name)
        is_function = callable(value) and not isinstance(value, type) and name not in _COUNTS
        return self._called(value) if is_function else value

    def _called(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            as_arrays = self.library == "numpy" and not any(
                isinstance(leaf, torch.Tensor) and _is_torch_only(leaf) for leaf in _leaves((args, options))
            )
            if as_arrays:
                args, options = _changed(args, self._in), _changed(options, self._in)
            result = function(*args, **options)
            tensors = any(isinstance(leaf, torch.Tensor) for leaf in _leaves((args, options)))
            for leaf in _leaves(result):
                assert not isinstance(leaf, np.ndarray if tensors else torch.Tensor)
            return _changed(result, self._out)

        return call

    def _in(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.detach().numpy()
        if callable(value) and not isinstance(value, type):  # a score or a step, written for tensors
            return lambda *args: _changed(value(*_changed(args, self._out)), self._in)
        return value

    def _out(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return torch.from_numpy(value.copy())
        return self._called(value) if callable(value) and not isinstance(value, type) else value
