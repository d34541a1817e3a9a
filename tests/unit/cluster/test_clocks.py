"""No machine's clock enters a decision of the queue: all moments are the server's."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

FOLDER = Path(__file__).parents[3] / "engine" / "cluster"
CLOCKS = {"now", "today", "utcnow", "time", "time_ns", "localtime", "gmtime"}


def clocks_read(path: Path) -> Counter[str]:
    """Return which functions of ``datetime`` and ``time`` a module calls that tell the time of day."""
    calls = (node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    return Counter(
        f"{called.value.id}.{called.attr}"
        for called in calls
        if isinstance(called, ast.Attribute)
        and isinstance(called.value, ast.Name)
        and called.value.id in ("datetime", "date", "time")
        and called.attr in CLOCKS
    )


def test_clocks_are_read_for_the_store_and_the_log_only() -> None:
    read = {path.name: clocks_read(path) for path in FOLDER.glob("*.py")}
    # The store keeps when an attempt began, as on one machine; a line of the log says when it was written.
    assert {name: dict(found) for name, found in read.items() if found} == {
        "class_on_cluster.py": {"datetime.now": 1},
        "worker.py": {"datetime.now": 1},
    }


def test_a_clock_that_is_read_would_be_seen(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        "import time\nfrom datetime import datetime\ntime.time()\ndatetime.now()\ntime.monotonic()\n"
    )
    assert clocks_read(module) == {"time.time": 1, "datetime.now": 1}
