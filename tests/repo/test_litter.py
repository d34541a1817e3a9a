"""Every command, in an empty folder with an empty home: nothing is left but what was named and one folder.

All commands run one after another in one new process (hypothesis and torch decide at their import where they
write); after each one the new files are listed.
"""

from __future__ import annotations

import ast
import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
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
    ("print l16 --student ada --course c", ("work/c/prints/",)),
    ("quiz deadline l16 --course c", ()),
    ("quiz publish l16 --course c", ()),
    ("quiz codes l16 --html slips.html --course c", ("work/slips.html",)),
    ("quiz close l16 --course c", ()),
    ("find-variant 0.5 --course c", ()),
    ("course allow ada l16 --days 2 --course c", ()),
    ("course allowances --course c", ()),
    ("course withdraw 1 --course c", ()),
    ("course requests --course c", ()),
    ("course decide 1 --refuse --answer no --course c", ()),
    ("course student ada --course c", ()),
    ("serve --check --course c", ()),
    ("scan marks.csv --course c", ()),
    ("lti register moodle http://127.0.0.1:9 --client-id a --course c", ()),
    ("lti status --course c", ()),
    ("lti members --course c", ()),
    ("lti send --course c", ()),
    ("lti keys rotate --course c", ()),
    ("new item layer-norm --type number --course c", ("work/c/problems/layer-norm.yaml",)),
    ("new item my-code --type code --course c", ("work/c/problems/my-code/",)),
    ("lint layer-norm my-code --course c --seeds 3", ()),
    ("mutants my-code --seconds 1 --course c", ()),
    ("preview layer-norm --course c --port 0 --no-browser", ()),
    ("intake in --course c", ()),
    ("batch in --course c --out r", ("work/r/",)),
    ("similar --course c --out alike", ("work/alike/",)),
    ("similar in --item softmax --course c", ()),
    ("mark set ada softmax --score 7 --course c", ()),
    ("mark import marks.csv --course c", ()),
    ("mark list --course c", ()),
    ("mark answers --course c", ()),
    ("mark answer 1 --course c", ()),
    ("mark export-answers l16/why answers.csv --course c", ()),
    ("mark import-answers marks.csv --course c", ()),
    ("regrade --all --yes --course c", ()),
    ("report --course c --out rep", ("work/rep/",)),
    ("feedback --course c --out fb", ("work/fb/",)),
    ("feedback verify fb/students/ada.html in/ada/softmax.py --course c", ()),
    ("export gradebook csv --out marks-out.csv --course c", ("work/marks-out.csv",)),
    ("export quiz moodle softmax-weights --out bank.xml --course c", ("work/bank.xml",)),
    ("export notebook softmax softmax-weights --out week-3.ipynb", ("work/week-3.ipynb",)),
    ("autograder make softmax --out a.zip --course c", ("work/a.zip",)),
    ("autograder results --root nothing", ("work/nothing/results/results.json",)),
    ("store check --course c", ()),
    ("store backup b.db --course c", ("work/b.db",)),
    ("store copy d.db --course c", ("work/d.db",)),
    ("store export-student ada --course c", ("work/ada.zip",)),
    ("store erase-student ada --course c", ()),
    ("import questions.gift --out imported", ("work/imported/",)),
    ("worker --until-empty --store postgresql://nobody@127.0.0.1:9/none", ()),
    ("worker allow nobody --course c", ()),
    ("worker accounts --course c", ()),
    ("worker withdraw nobody --course c", ()),
    ("queue status --course c", ()),
    ("queue new --course c", ()),
    ("queue pause --course c", ()),
    ("queue resume --course c", ()),
    ("queue weight Example 2 --course c", ()),
    ("queue drain 1 --course c", ()),
    ("queue retry --all --course c", ()),
    ("queue cancel --all --course c", ()),
    ("doctor", ()),
]
# These end at a question, or are about what only a person on the site or a learning system can have left.
REFUSED = (
    "quiz take", "course decide", "mark answer ", "mark export-answers", "mark import-answers", "lti members",
    "lti send", "scan ", "worker ", "queue ",
)  # fmt: skip
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
    groups = {" ".join(path[:n]) for path, _ in walk(grade) for n in range(1, len(path))}
    lines = {
        next((name for n in (3, 2, 1) if (name := " ".join(line.split()[:n])) in called), "")
        for line, _ in SESSION
    }
    missing = called - groups - lines
    assert missing == set()


def made_folder(folder: Path) -> Path:
    for name in ("work/in/ada", "work/in/emmy", "home", "temporary"):
        (folder / name).mkdir(parents=True)
    for student in ("ada", "emmy"):
        (folder / f"work/in/{student}/softmax.py").write_text(NEARLY)
    (folder / "work/marks.csv").write_text("student,column,score,comment,excused\nemmy,softmax,3,,\n")
    (folder / "work/questions.gift").write_text("::one:: Two and two? {#4}\n")
    return folder


def environment_in(folder: Path) -> dict[str, str]:
    unwanted = ("XDG_", "SOFTMARK_", "HYPOTHESIS_", "MPLCONFIGDIR", "TORCH", "TMP", "TEMP")
    return {k: v for k, v in os.environ.items() if not k.startswith(unwanted)} | {
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "temporary"),
        "PYTHONPATH": str(ROOT),
    }


def ran(
    script: str, lines: Sequence[str], folder: Path, environment: dict[str, str], start: Callable[[], None]
) -> list[tuple[str, int, list[str]]]:
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(list(lines))],
        cwd=folder / "work",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        preexec_fn=start,
    )
    assert done.returncode == 0, done.stderr
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, int, list[str]]]:
    folder = made_folder(tmp_path_factory.mktemp("litter"))
    return ran(_SCRIPT, [line for line, _ in SESSION], folder, environment_in(folder), lambda: None)


# What needs no store of one's own; a number is the exit code, where it isn't 0.
HOMELESS = {
    "list": 0,
    "show softmax-weights --solution": 0,
    "show softmax": 0,
    "hint softmax-weights": 0,
    "start softmax": 0,
    "submit softmax-weights --seed 7 --answer '[0.1, 0.2, 0.7]'": 1,
    "submit softmax in/ada/softmax.py --tier T3": 1,
    "watch softmax in/ada/softmax.py --tier T3": 1,
    "lint softmax-weights --seeds 3": 0,
    "coverage": 0,
    "init c": 0,
    "quiz new l16 --course c": 2,  # nobody is in the roster
    "intake in --course c": 0,
    "batch in --course c --out r --unsafe-local": 0,
    "report --course c --out rep": 0,
    "export csv --out out.csv --course c": 0,
    "doctor": 0,
}
_NO_NAME = "import pwd\ndef nobody(uid): raise KeyError(uid)\npwd.getpwuid = nobody\n"


def _without_privileges() -> None:
    """Have file modes hold for the administrator, too: without CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH."""
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="capabilities are Linux's")
@pytest.mark.parametrize("case", ["read-only", "unset", "a file", "full"])
def test_without_a_home_that_can_be_written_commands_do_their_work(tmp_path: Path, case: str) -> None:
    folder = made_folder(tmp_path)
    environment, script = environment_in(folder), _SCRIPT
    home = folder / "home"
    if case == "read-only":
        home.chmod(0o500)
    elif case == "unset":  # and the system knows of none
        del environment["HOME"]
        script = _NO_NAME + _SCRIPT
    elif case == "a file":
        home.rmdir()
        home.write_text("")
    else:
        environment["XDG_CACHE_HOME"] = "/dev/full"
        home.chmod(0o500)
    lines = list(HOMELESS)[: None if case in ("read-only", "unset") else 7]
    done = ran(script, lines, folder, environment, _without_privileges)
    assert {line: code for line, code, _ in done} == {line: HOMELESS[line] for line in lines}
    allowed = ("work/c/", "work/r/", "work/rep/", "work/out.csv", "work/softmax.py", "temporary/matplotlib-")
    assert [name for _, _, new in done for name in new if not name.startswith(allowed)] == []
    assert list((folder / "temporary").iterdir()) == []  # matplotlib removes its folder when it ends
    home.chmod(0o700)


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
        assert code != 2 or line.startswith(REFUSED), f"grade {line} ended with {code}"
        for name in allowed:
            assert any(n.startswith(name) for n in new), f"grade {line} didn't write {name}"
    cache = [name for _, _, new in left for name in new if name.startswith(CACHE)]
    assert any(name.startswith(f"{CACHE}bank/") for name in cache), "nothing was kept of the bank"


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
