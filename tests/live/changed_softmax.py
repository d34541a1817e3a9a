"""An exercise that a course changes after its class was graded: what a regrade must find."""

from __future__ import annotations

import shutil
from pathlib import Path

SOFTMAX = Path(__file__).parents[2] / "problems" / "code" / "softmax"


def change_softmax(course: Path) -> None:
    """Give a course a softmax of its own: two checks have other points, their sum stays."""
    own = course / "problems" / "softmax"
    shutil.copytree(SOFTMAX, own, ignore=shutil.ignore_patterns("__pycache__"))
    spec = own / "softmax.yaml"
    text = spec.read_text(encoding="utf-8")
    for check, before, now in (("sum1", "1", "0.5"), ("order", "0.5", "1")):
        old = f"{{id: {check}, property: {check}, points: {before},"
        assert old in text
        text = text.replace(old, f"{{id: {check}, property: {check}, points: {now},")
    spec.write_text(text, encoding="utf-8")
