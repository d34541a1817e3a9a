"""The command line starts light: what each command imports, on real input, in a new process."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import engine.text.cache as text_cache

HEAVY = ("torch", "numpy", "pydantic", "rich", "sqlalchemy", "hypothesis", "jinja2", "yaml", "engine.model")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["submit", "--help"],
        ["quiz", "new", "--help"],
        ["new", "item", "--help"],
        ["preview", "--help"],
    ],
)
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import sys\nfrom cli import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit as stop:\n    assert not stop.code\n"
        f"print('HEAVY', [m for m in {HEAVY!r} if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "HEAVY []" in done.stdout


ROOT = Path(__file__).parents[2]
LIBRARIES = "torch numpy hypothesis pydantic sqlalchemy alembic rich jinja2 markdown_it yaml"


# What reads an item, what draws one, and what opens a store.
READS = "numpy pydantic yaml jinja2"
DRAWS = f"{READS} markdown_it"
STORES = "sqlalchemy pydantic yaml numpy"

# a command line -> the libraries among those above that it may import, in this order in one folder: what is
# kept of the bank is there from the second on
SESSION: tuple[tuple[str, str], ...] = (
    ("list", READS),
    ("list --topic softmax", ""),
    ("show softmax-weights", f"{DRAWS} rich"),
    ("show softmax-weights", "rich"),
    ("show softmax", f"{DRAWS} rich"),
    ("show softmax --json", ""),
    ("hint softmax-weights", "rich"),
    ("start softmax", READS),
    ("submit softmax-weights --answer '[0.1, 0.2, 0.7]'", "rich numpy"),
    ("submit softmax-weights --seed 5 --answer '[0.1, 0.2, 0.7]'", f"{DRAWS} rich"),
    ("submit softmax good.py --json", f"{READS} hypothesis rich"),
    ("coverage", f"{READS} rich"),
    ("lint softmax-weights", DRAWS),
    ("schema", "pydantic"),
    ("quiz check l16", f"{DRAWS} sqlalchemy alembic rich"),
    ("init c --example", f"{READS} sqlalchemy alembic"),
    ("course check --course c", f"{STORES} alembic"),
    ("quiz new l16 --course c", f"{DRAWS} sqlalchemy"),
    ("quiz key l16 --course c", f"{DRAWS} sqlalchemy rich"),
    ("quiz deadline l16 --course c", f"{STORES} rich"),
    ("submit c/quizzes/l16/l16-ada.yaml --course c", f"{STORES} rich jinja2"),
    ("submit softmax-weights --answer '[0.1, 0.2, 0.7]' --student ada --course c", f"{STORES} rich"),
    ("intake c/quizzes/l16 --course c", f"{STORES} rich"),
    ("batch in --course c --out r", f"{STORES} rich jinja2"),
    ("mark set ada softmax --score 1 --course c", STORES),
    ("mark list --course c", f"{STORES} rich"),
    ("regrade --all --yes --course c", f"{DRAWS} sqlalchemy rich"),
    ("report --course c --out rep", f"{STORES} jinja2 rich"),
    ("feedback --course c --out fb", f"{STORES} jinja2 rich"),
    ("export csv --out marks.csv --course c", f"{STORES} jinja2 rich"),
    ("store check --course c", f"{STORES} rich"),
)
GOOD = """import numpy as np

def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
_SCRIPT = """
import os, sys
from engine.commands import run

printed = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
code = run(sys.argv[2:])
sys.stdout.flush()
os.write(printed, " ".join(m for m in sys.argv[1].split() if m in sys.modules).encode())
sys.exit(code)
"""


def _code_state() -> str:
    """Return the state of our code and libraries, under which everything is kept for later commands."""
    text_cache._code_state.cache_clear()
    return text_cache._code_state()


def test_each_command_imports_what_it_needs(tmp_path: Path) -> None:
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        before = _code_state()
        failed, needless = _session(folder)
        assert failed == {}
        # Where a file of the engine was saved or a library was installed meanwhile, what was kept no longer
        # held, and the next command made it again with all that it takes. That is no fault of the command.
        if before == _code_state():
            break
    assert needless == {}


def _session(folder: Path) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return what failed, and what imported more than it may, of all lines in an empty folder."""
    (folder / "good.py").write_text(GOOD)
    environment = os.environ | {"SOFTMARK_HOME": str(folder / "home"), "PYTHONPATH": str(ROOT)}
    needless, failed = {}, {}
    for line, allowed in SESSION:
        if line.startswith("batch"):
            (folder / "in").mkdir()
            for path in (folder / "c" / "quizzes" / "l16").glob("*.yaml"):
                (folder / "in" / path.name).write_bytes(path.read_bytes())
        done = subprocess.run(
            [sys.executable, "-c", _SCRIPT, LIBRARIES, *shlex.split(line)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        if done.returncode not in (0, 1):
            failed[line] = done.stderr
        if others := set(done.stdout.split()) - set(allowed.split()):
            needless[line] = sorted(others)
    return failed, needless
