"""Standard output that can't be written: one message, an exit code, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CLI = Path(__file__).parents[2] / "cli.py"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, which only Linux has")
@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["schema"], ["show", "nope", "--json"]])
def test_output_to_a_full_disk_is_one_message(tmp_path: Path, arguments: list[str]) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "SOFTMARK_DEBUG"}
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [sys.executable, str(CLI), *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env=environment | {"SOFTMARK_HOME": str(tmp_path / "home")},
            timeout=60,
            check=False,
        )
    said = ended.stderr.decode()
    assert ended.returncode == (2 if "nope" in arguments else 3), said
    assert said.count("error: ") == 1
    assert "Traceback" not in said
    assert "Exception ignored" not in said


def test_the_command_alone_shows_its_help(grade) -> None:
    said = grade()
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("Usage: grade")


def test_a_mistyped_command_suggests_the_nearest(grade) -> None:
    said = grade("submti", "softmax", "--json")
    assert said.code == 2
    assert "Did you mean submit?" in said.json()["error"]["what"]
    assert "Did you mean" not in grade("zzzz").err
