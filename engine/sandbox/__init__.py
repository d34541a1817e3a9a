"""Runs student code behind several layers; see docs/security-model.md."""

from __future__ import annotations

from engine.runner import SandboxOptions
from engine.sandbox.tiers import open_runner

__all__ = ["SandboxOptions", "open_runner"]
