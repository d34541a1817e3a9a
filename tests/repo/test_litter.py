"""Every command, in an empty folder with an empty home: nothing is left but what was named and one folder.

All commands run one after another in one new process (hypothesis and torch decide at their import where they
write); after each one the new files are listed.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.commands import grade
from tests.repo.command_lines import walk

ROOT = Path(__file__).parents[2]
OWN = "home/.config/softmark/"  # the practice store and secret, hints seen
CACHE = "home/.cache/softmark/"

# a command line -> what may be new afterwards below the folder, its home and its temporary folder: ends
# with "/" for a folder with all it holds. The exit code isn't looked at, only that it isn't 3.
SESSION: list[tuple[str, tuple[str, ...]]] = [
    ("help quiz", ()),
    ("version", ()),
    ("list", ()),
    ("show softmax-weights --solution", ()),
    ("schema", ()),
    ("coverage", ()),
    ("start softmax", ("work/softmax.py",)),
    ("start sdpa --notebook", ("work/sdpa.ipynb",)),
    ("hint softmax", ()),
    ("submit softmax-weights --seed 7 --answer '[0.1, 0.2, 0.7]'", ()),
    ("submit softmax softmax.py", ()),
    ("submit sdpa sdpa.ipynb --tier T3", ()),
    ("watch softmax softmax.py", ()),
    ("hint softmax softmax.py", ()),
    ("quiz check l16 --students 3", ()),
    ("quiz take practice", ("work/practice-me.yaml",)),
    ("submit practice-me.yaml", ()),
    ("init c --example", ("work/c/",)),
    ("course check --course c", ()),
    ("quiz check l16 --course c", ()),
    ("quiz new l16 --course c", ("work/c/quizzes/",)),
    ("quiz key l16 --course c", ()),
    ("quiz deadline l16 --course c", ()),
    ("new item layer-norm --type number --course c", ("work/c/problems/layer-norm.yaml",)),
    ("new item my-code --type code --course c", ("work/c/problems/my-code/",)),
    ("lint layer-norm my-code --course c --seeds 3", ()),
    ("preview layer-norm --course c --port 0 --no-browser", ()),
    ("intake in --course c", ()),
    ("batch in --course c --out r", ("work/r/",)),
    ("similar --course c --out alike", ("work/alike/",)),
    ("similar in --item softmax --course c", ()),
    ("mark set ada softmax --score 7 --course c", ()),
    ("mark import marks.csv --course c", ()),
    ("mark list --course c", ()),
    ("regrade --all --yes --course c", ()),
    ("report --course c --out rep", ("work/rep/",)),
    ("feedback --course c --out fb", ("work/fb/",)),
    ("feedback verify fb/students/ada.html in/ada/softmax.py --course c", ()),
    ("export csv --out marks-out.csv --course c", ("work/marks-out.csv",)),
    ("autograder make softmax --out a.zip --course c", ("work/a.zip",)),
    ("autograder results --root nothing", ("work/nothing/results/results.json",)),
    ("store check --course c", ()),
    ("store backup b.db --course c", ("work/b.db",)),
    ("store copy d.db --course c", ("work/d.db",)),
    ("store export-student ada --course c", ("work/ada.zip",)),
    ("store erase-student ada --course c", ()),
    ("import questions.gift --out imported", ("work/imported/",)),
    ("doctor", ()),
]
NEARLY = """import numpy as np

def softmax(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
"""
ALWAYS = (OWN, CACHE, "work/c/.softmark/")

_SCRIPT = """
import json, os, shlex, sys
from pathlib import Path
from engine.commands import run
from tests.builtin_bank import read_once

read_once()
root = Path("..").resolve()
def files():
    return {str(p.relative_to(root)) for p in root.rglob("*") if not p.is_dir()}

def stopped(*args, **kwargs):
    raise KeyboardInterrupt

import engine.commands.watch as blocks, engine.authoring.preview.server as server
shown = blocks.WatchOutput.report
blocks.WatchOutput.report = lambda self, *a: (shown(self, *a), stopped())
server.serve = lambda hub, listening, ready: ready("http://nowhere")
sys.stdin = open(os.devnull)
told = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
before = files()
for line in json.loads(sys.argv[1]):
    code = run(shlex.split(line))
    after = files()
    os.write(told, (json.dumps([line, code, sorted(after - before)]) + "\\n").encode())
    before = after
"""


def test_the_session_calls_every_command() -> None:
    called = {" ".join(path) for path, _ in walk(grade) if path and path != ("feedback",)}
    groups = {" ".join(path[:1]) for path, _ in walk(grade) if len(path) > 1}
    lines = {" ".join(line.split()[: 1 + (line.split()[0] in groups)]) for line, _ in SESSION}
    missing = called - groups - lines
    assert missing == set()


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, int, list[str]]]:
    folder = tmp_path_factory.mktemp("litter")
    for name in ("work/in/ada", "work/in/emmy", "home", "temporary"):
        (folder / name).mkdir(parents=True)
    for student in ("ada", "emmy"):
        (folder / f"work/in/{student}/softmax.py").write_text(NEARLY)
    (folder / "work/marks.csv").write_text("student,column,score,comment,excused\nemmy,softmax,3,,\n")
    (folder / "work/questions.gift").write_text("::one:: Two and two? {#4}\n")
    unwanted = ("XDG_", "SOFTMARK_", "HYPOTHESIS_", "MPLCONFIGDIR", "TORCH", "TMP", "TEMP")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(unwanted)}
    environment |= {
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "temporary"),
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, json.dumps([line for line, _ in SESSION])],
        cwd=folder / "work",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


def test_nothing_is_left_but_what_was_named(left: list[tuple[str, int, list[str]]]) -> None:
    litter = []
    for (line, allowed), (_, _, new) in zip(SESSION, left, strict=True):
        for name in new:
            if not any(name == a or (a.endswith("/") and name.startswith(a)) for a in (*ALWAYS, *allowed)):
                litter.append(f"grade {line}: {name}")
            if "__pycache__" in name or ".hypothesis" in name:
                litter.append(f"grade {line}: {name}")
    assert litter == []


def test_the_commands_did_their_work(left: list[tuple[str, int, list[str]]]) -> None:
    for (line, allowed), (_, code, new) in zip(SESSION, left, strict=True):
        assert code != 2 or line.startswith("quiz take"), f"grade {line} ended with {code}"
        for name in allowed:
            assert any(n.startswith(name) for n in new), f"grade {line} didn't write {name}"
    cache = [name for _, _, new in left for name in new if name.startswith(CACHE)]
    assert any("hypothesis" in name for name in cache), "hypothesis wrote its cache elsewhere"


def test_only_one_module_of_the_engine_lets_hypothesis_run() -> None:
    """Where ``@given`` is used, the place of its files must have been set before."""
    running = []
    for path in sorted((ROOT / "engine").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "hypothesis":
                running.append(str(path.relative_to(ROOT)))
    own = {"engine/code/planned_exercise.py"}
    others = [p for p in running if p not in own and "import strategies" not in (ROOT / p).read_text("utf-8")]
    assert others == []
