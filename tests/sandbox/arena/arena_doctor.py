"""Lets the doctor examine a sandbox, whole or with layers off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.runner import Runner
from engine.sandbox import SandboxOptions, doctor, open_runner
from engine.sandbox.child.layers import Layers


def examine(tier: str, layers: Layers) -> dict[str, Any]:
    """Return the doctor's report on `tier` with these layers, as JSON values."""

    def opener(options: SandboxOptions) -> Runner:
        return open_runner(options, layers=layers)

    usual = doctor.open_runner
    doctor.open_runner = opener
    try:
        report = doctor.examine(tier)
    finally:
        doctor.open_runner = usual
        for left in Path("/tmp").glob("softmark-doctor*"):  # what acts make where nothing stops them
            left.rmdir() if left.is_dir() and not left.is_symlink() else left.unlink()
    return {
        "ok": report.healthy,
        "tier": report.tier,
        "acts": {act.id: act.stopped for act in report.acts},
        "promised": {act.id: act.promised for act in report.acts},
        "what": {act.id: act.what for act in report.acts},
    }
