"""The checks that every peer runs: the same properties as Softmark's, on a few inputs of its own.

They lie beside a peer's test files, which only call them, so all peers do the same work.  Each check
takes a :class:`Call` and raises AssertionError.  Where the environment names a file in
``CHECK_SECONDS``, what each check took is appended to it: the time a peer can't save.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Call", "check", "near"]


class Call:
    """A student's function that takes and gives numpy arrays, whatever library it is written in.

    It gets torch tensors if loading the submission has imported torch.
    """

    def __init__(self, function: Callable[..., Any] | None) -> None:
        assert callable(function), "the function isn't defined"
        self._function = function

    @property
    def uses_torch(self) -> bool:
        return "torch" in sys.modules

    def native(self, value: Any) -> Any:
        """Return a fresh copy of an array in the submission's library."""
        if not isinstance(value, np.ndarray):
            return value
        return sys.modules["torch"].as_tensor(value.copy()) if self.uses_torch else value.copy()

    def raw(self, *args: Any, **named: Any) -> Any:
        """Call with arguments that are native already; the result must be an array of the library.

        Lists are read as arrays of float64, so that they cost the check of the dtype alone.
        """
        result = self._function(*args, **named)
        if isinstance(result, list):
            return np.asarray(result)
        wanted = sys.modules["torch"].Tensor if self.uses_torch else np.ndarray
        assert isinstance(result, wanted), f"gave back {type(result).__name__}"
        return result

    def __call__(self, *args: Any, **named: Any) -> np.ndarray:
        result = self.raw(*map(self.native, args), **{k: self.native(v) for k, v in named.items()})
        return result if isinstance(result, np.ndarray) else result.detach().numpy()


def check(function: Callable[[Call], None]) -> Callable[[Call], None]:
    """Record how long a check takes."""

    @functools.wraps(function)
    def timed(call: Call) -> None:
        begun = time.perf_counter()
        try:
            with np.errstate(all="ignore"):
                function(call)
        finally:
            if path := os.environ.get("CHECK_SECONDS"):
                with open(path, "a", encoding="ascii") as file:  # noqa: PTH123
                    file.write(f"{time.perf_counter() - begun:.9f}\n")

    return timed


def near(got: np.ndarray, wanted: Any, rtol: float = 1e-9, atol: float = 1e-12) -> None:
    """Assert that shapes are equal and entries close."""
    wanted = np.asarray(wanted)
    assert got.shape == wanted.shape, f"shape {got.shape}, expected {wanted.shape}"
    np.testing.assert_allclose(got, wanted, rtol=rtol, atol=atol)
