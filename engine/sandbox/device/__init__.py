"""Grading with tensors on a device such as a GPU, in one-shot workers; see docs/security-model.md."""

from engine.sandbox.device.pool import WorkerPool
from engine.sandbox.device.runner import DeviceRunner

__all__ = ["DeviceRunner", "WorkerPool"]
