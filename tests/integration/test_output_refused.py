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


# docs/durability.md says which commands replace a file that they are told to write, and which never do.
REPLACES = (
    ("export quiz moodle softmax-ratio --out", "a.xml"),
    ("export gradebook csv --course c --out", "a.csv"),
    ("autograder make softmax --out", "a.zip"),
)
KEEPS = (
    ("export notebook softmax --out", "a.ipynb"),
    ("start softmax --to", "a.py"),
    ("store backup --course c", "a.db"),
    ("store export-student s1 --course c --out", "a.zip"),
)


@pytest.mark.parametrize(("words", "name"), REPLACES)
def test_what_can_be_written_again_is_replaced(grade, words: str, name: str) -> None:
    _small_course(grade)
    Path(name).write_text("old", encoding="utf-8")
    said = grade(*words.split(), name)
    assert said.code == 0, said.err
    assert Path(name).read_bytes() != b"old"


@pytest.mark.parametrize(("words", "name"), KEEPS)
def test_what_people_work_in_or_need_is_never_overwritten(grade, words: str, name: str) -> None:
    _small_course(grade)
    Path(name).write_text("old", encoding="utf-8")
    said = grade(*words.split(), name)
    assert said.code == 2 and "of th" in said.err and "name exists" in said.err, said.err
    assert Path(name).read_text(encoding="utf-8") == "old"


def _small_course(grade) -> None:
    assert grade("init", "c").code == 0
    Path("c/roster.csv").write_text("id,name\ns1,Ada\n", encoding="utf-8")
    answer = ("submit", "softmax-weights", "--answer", "[0.1, 0.2, 0.7]", "--student", "s1", "--course", "c")
    assert grade(*answer).code == 1
