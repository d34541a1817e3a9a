"""Properties of the reference are tried on torch's tensors and on numpy's arrays."""

from __future__ import annotations

from tests.oracles.libraries import library, pytest_generate_tests

__all__ = ["library", "pytest_generate_tests"]
