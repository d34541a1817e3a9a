"""Runs student code behind several layers; see docs/security-model.md."""

from engine.sandbox.opening import open_runner

__all__ = ["open_runner"]
