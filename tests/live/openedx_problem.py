"""Open edX's problem block as a client: it marks responses in a process of its own environment.

``tests/clients/openedx_worker.py`` says what a response looks like.  ``make clients`` makes the environment.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

_ROOT = Path(__file__).parents[2]
_PYTHON = _ROOT / ".clients" / "openedx" / "bin" / "python"
_WORKER = _ROOT / "tests" / "clients" / "openedx_worker.py"

FieldValue = str | int | Sequence[int] | None


@dataclass(frozen=True, slots=True)
class OpenEdxResult:
    """How the block marked one response.

    Parameters
    ----------
    share : float or None
        Share of the points, 0 to 1; None where the block refused to mark and used no attempt.
    message : str
        Why it refused.
    feedback : tuple of str
        The HTML shown with each field.
    """

    share: float | None
    message: str = ""
    feedback: tuple[str, ...] = ()


class OpenEdxProblemBlock:
    """A running worker; use it as a context."""

    def __init__(self) -> None:
        if not _PYTHON.exists():
            raise RuntimeError(f"{_PYTHON.relative_to(_ROOT)} is missing; run: make clients")
        self._process = subprocess.Popen(
            [_PYTHON, _WORKER],
            env={**os.environ, "DJANGO_SETTINGS_MODULE": "openedx_settings"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def __enter__(self) -> OpenEdxProblemBlock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()

    def _ask(self, olx: str, responses: Sequence[Sequence[FieldValue]]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({"olx": olx, "responses": responses}) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        if "refused" in answer:
            raise ValueError(answer["refused"])
        return answer

    def page(self, olx: str) -> dict[str, Any]:
        """Return what the page of a problem has: title, weight, fields, HTML, hints, right answers."""
        page: dict[str, Any] = self._ask(olx, ())["problem"]
        return page

    def mark(self, olx: str, responses: Sequence[Sequence[FieldValue]]) -> list[OpenEdxResult]:
        """Return how each response is marked.

        Raises
        ------
        ValueError
            The block can't read the problem.
        """
        results = self._ask(olx, responses)["results"]
        return [
            OpenEdxResult(one.get("share"), one.get("message", ""), tuple(one.get("feedback", ())))
            for one in results
        ]
