"""``grade export notebook``: what is in the file, and what a real kernel says when it runs it."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from engine.items import builtin_bank
from engine.practice.check_cell import kernel_notebook
from tests.assignment_notebooks import BASE_2, RIGHT_MASK, RIGHT_SOFTMAX, cell_of, code_cell, filled
from tests.integration.conftest import Grade

ITEMS = ("softmax", "softmax-weights", "l16-full-pass", "causal-mask", "why-scaled-scores", "alignment-read")
SCHEMA = {"grade", "grade_id", "locked", "schema_version", "solution", "task"}


@pytest.fixture
def week(grade: Grade) -> dict[str, Any]:
    said = grade("export", "notebook", *ITEMS, "--seed", 7, "--title", "Week *3*", "--out", "week-3.ipynb")
    assert said.code == 0, said.err
    assert said.out.startswith("6 items, 24.5 points: week-3.ipynb\n")
    return dict(json.loads(Path("week-3.ipynb").read_text(encoding="utf-8")))


def sources(notebook: dict[str, Any]) -> dict[str, str]:
    return {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}


def test_it_is_a_valid_notebook_and_the_same_each_time(grade: Grade, week: dict[str, Any]) -> None:
    nbformat.validate(nbformat.from_dict(week))
    assert (week["nbformat"], week["nbformat_minor"]) == (4, 5)
    before = Path("week-3.ipynb").read_bytes()
    arguments = ("export", "notebook", *ITEMS, "--seed", 7, "--title", "Week *3*", "--out", "again.ipynb")
    assert grade(*arguments).code == 0
    assert Path("again.ipynb").read_bytes() == before
    assert len({cell["id"] for cell in week["cells"]}) == len(week["cells"])


@pytest.mark.parametrize(
    ("title", "heading"),
    [("a\nb  # c", "# a b \\# c"), ("", "# Assignment"), ("<b> $x$", "# &lt;b> \\$x\\$")],
)
def test_a_title_is_one_line_of_plain_words(grade: Grade, title: str, heading: str) -> None:
    assert grade("export", "notebook", "causal-mask", "--title", title, "--out", "a.ipynb").code == 0
    text = sources(json.loads(Path("a.ipynb").read_text(encoding="utf-8")))["title"]
    assert text.startswith(f"{heading}\n\nWork in the cell below")


def test_statements_hold_tex_pictures_and_points(week: dict[str, Any]) -> None:
    text = sources(week)
    assert text["title"].startswith("# Week \\*3\\*\n")
    assert text["softmax-statement"].startswith("## 1. ")
    assert r"$$w_j = \frac{\exp(x_j)}{\sum_k \exp(x_k)}$$" in text["softmax-statement"]
    assert "(3 points)" in text["l16-full-pass-statement"].split("\n")[0]
    assert "**e** (1 point)" in text["l16-full-pass-statement"]
    assert "![Heatmap, 5 by 5. Row ta:" in text["alignment-read-statement"]
    assert "<math" not in json.dumps(week)
    steps = text["l16-full-pass-answer"]
    assert "answer_l16_full_pass = {\n    # 3 numbers to 3 decimal places, separated by " in steps
    assert [line for line in steps.split("\n") if '""' in line] == [
        '    "e": "",',
        '    "w": "",',
        '    "c": "",',
    ]


def test_no_key_and_no_solution_is_in_the_file(week: dict[str, Any]) -> None:
    text = json.dumps(week)
    for item in ITEMS:
        spec = builtin_bank().load(item)
        for hidden in (*spec.hints, spec.solution or ""):
            assert not hidden or hidden.strip()[:60] not in text
    # The right weights of the seed, worked out by hand.
    assert not re.search(r"0\.054|0\.653|0\.293", text)
    assert "np.exp(" not in text and "np.tril" not in text


def test_nbgrader_knows_what_each_cell_is(week: dict[str, Any]) -> None:
    flags = {}
    for cell in week["cells"][1:]:
        ours = cell["metadata"]["nbgrader"]
        assert set(ours) - {"points"} == SCHEMA and ours["schema_version"] == 3
        assert ours["grade_id"] == cell["id"] and re.fullmatch(r"[A-Za-z0-9_-]+", cell["id"])
        flags[cell["id"]] = (ours["grade"], ours["solution"], ours["locked"], ours.get("points"))
    assert flags["softmax-statement"] == (False, False, True, None)
    assert flags["softmax-solution"] == (False, True, False, None)
    assert flags["softmax-check"] == (True, False, True, 10)
    assert flags["softmax-weights-answer"] == (False, False, False, None)
    assert flags["why-scaled-scores-answer"] == (True, True, False, 4)
    assert sum(points or 0 for *_, points in flags.values()) == 24.5


def test_bad_input_is_refused_and_nothing_is_overwritten(grade: Grade, week: dict[str, Any]) -> None:
    Path("week-3.ipynb").write_text("my work", encoding="utf-8")
    said = grade("export", "notebook", "softmax", "--out", "week-3.ipynb")
    assert said.code == 2 and "nothing is overwritten" in said.err
    assert Path("week-3.ipynb").read_text(encoding="utf-8") == "my work"
    # a notebook with plots is larger than anything that is read as a text
    for work in (b"plots" * 300_000, b"\xff\xfe\x00"):
        Path("week-3.ipynb").write_bytes(work)
        said = grade("export", "notebook", "softmax", "--out", "week-3.ipynb")
        assert said.code == 2 and "nothing is overwritten" in said.err and "--force" in said.err
        assert Path("week-3.ipynb").read_bytes() == work
    assert grade("export", "notebook", "softmax", "--out", "week-3.ipynb", "--force").code == 0
    assert (
        "softmax is named twice" in grade("export", "notebook", "softmax", "softmax", "--out", "a.ipynb").err
    )
    assert "ends in .ipynb" in grade("export", "notebook", "softmax", "--out", "a.txt").err
    assert "did you mean" in grade("export", "notebook", "sofmax", "--out", "a.ipynb").err.lower()
    assert grade("export", "notebook", "softmax", "--out", "no/a.ipynb").code == 2
    assert not list(Path().glob("a.*"))


def test_items_of_the_course_alone_are_named(grade: Grade) -> None:
    assert grade("init", "course", "--title", "Attention").code == 0
    assert grade("new", "item", "own-item", "--type", "number", "--course", "course").code == 0
    said = grade("export", "notebook", "softmax", "own-item", "--out", "a.ipynb", "--course", "course")
    assert said.code == 0
    assert "the check cell grades nothing on their machines: own-item\n" in said.out
    entries = json.loads(Path("a.ipynb").read_text(encoding="utf-8"))["metadata"]["softmark"]["items"]
    assert entries[0] == {"item": "softmax", "kind": "code"}
    assert re.fullmatch("[0-9a-f]{32}", entries[1]["seal"])


# A real kernel, which knows nothing of the file.


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make this Python the kernel ``python3``, in a folder that isn't the notebook's; return that folder."""
    spec = tmp_path / "jupyter" / "kernels" / "python3"
    spec.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    # IPC keeps it off the network; a warning about TCP would be noise.
    (spec / "kernel.json").write_text(
        json.dumps({"argv": argv, "display_name": "here", "language": "python"})
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("SOFTMARK_HOME", str(tmp_path / "home"))
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


def run(notebook: dict[str, Any], folder: Path) -> dict[str, tuple[str, str | None]]:
    """Run all cells; return what each check cell printed, and its value."""
    node = nbformat.reads(json.dumps(notebook), as_version=4)
    client = NotebookClient(
        node,
        timeout=300,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    results: dict[str, tuple[str, str | None]] = {}
    for cell in node.cells:
        if cell.cell_type == "code":
            text = "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stdout")
            noise = [o for o in cell.outputs if o.output_type == "stream" and o.name == "stderr"]
            assert not (cell.id.endswith("-check") and noise), noise
            value = [o.data["text/plain"] for o in cell.outputs if o.output_type == "execute_result"]
            results[cell.id] = (text, value[0] if value else None)
    return results


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_check_cells_say_in_a_kernel_what_submit_says(
    grade: Grade, week: dict[str, Any], kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = filled(
        week,
        {
            "softmax-solution": BASE_2.replace("import numpy as np\n", "from lazy import np\n"),
            "softmax-weights-answer": 'answer_softmax_weights = "0.054, 0.653, 0.293"',
            "l16-full-pass-answer": 'answer_l16_full_pass = {"e": "one", "w": "", "c": ""}',
            "causal-mask-solution": "def causal_mask(n:\n    return n\n",
        },
    )
    # A module beside the kernel, a file that is called like a package, and an experiment that fails.
    (kernel / "lazy.py").write_text("import numpy as np\n", encoding="utf-8")
    (kernel / "engine.txt").write_text("", encoding="utf-8")
    (kernel / "click.py").write_text("raise SystemExit('the wrong click')\n", encoding="utf-8")
    notebook["cells"].insert(1, code_cell("%time 1 + 1\nassert False, 'an experiment'"))
    results = run(notebook, kernel)
    text, value = results["softmax-check"]
    assert re.match(r"softmax: partial — 6\.25 of 10 points\n", text) and value == "6.25"
    assert "→ m-base2: These are the weights that powers of 2 give. Softmax uses powers of e." in text
    assert "Traceback" not in text and max(map(len, text.split("\n"))) <= 110
    assert results["softmax-weights-check"][0].startswith("softmax-weights: right — 1 of 1 point\n")
    assert results["softmax-weights-check"][1] == "1.0"
    assert results["l16-full-pass-check"][0].startswith("l16-full-pass: unreadable — no mark")
    assert results["l16-full-pass-check"][1] == "0.0"
    text, value = results["causal-mask-check"]
    assert re.match(r"error: notebook: Python can't read line 1 of In \[\d+\]: ", text) and value == "0.0"
    assert "fix that cell, run it, then run this check cell again" in text
    # The same words as the command has for the same work, line breaks aside.
    Path("softmax.py").write_text(BASE_2, encoding="utf-8")
    said = grade("submit", "softmax", "softmax.py").out
    assert results["softmax-check"][0].split()[:60] == said.split()[:60]
    assert not (kernel / "notebook.ipynb").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_what_ran_last_counts_in_a_kernel(week: dict[str, Any], kernel: Path) -> None:
    check = "".join(cell_of(week, "softmax-check")["source"])
    steps = [
        (
            check,
            r"error: notebook: this kernel hasn't run a cell that defines softmax\n  next: run the cell of",
        ),
        ("@broken\ndef helper(x): pass", None),
        ("def helper(e, axis):\n    return e / e.sum(axis=axis, keepdims=True)", None),
        ("import numpy as np\n\ndef softmax(x, axis=-1):\n    return x", None),
        (RIGHT_SOFTMAX.replace("e / e.sum(axis=axis, keepdims=True)", "helper(e, axis)"), None),
        (check, r"softmax: right — 10 of 10 points\n"),
        ("def softmax(x, axis=-1):\n    raise NotImplementedError('write me')", None),
        (check, r"softmax: wrong — 0 of 10 points\n"),
    ]
    notebook = {
        **week,
        "cells": [{**code_cell(text), "id": f"s{n}-check"} for n, (text, _) in enumerate(steps)],
    }
    results = run(notebook, kernel)
    for number, (_, pattern) in enumerate(steps):
        if pattern:
            assert re.match(pattern, results[f"s{number}-check"][0]), results[f"s{number}-check"][0]


def test_a_check_outside_a_notebook_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    from engine.practice.check_cell import check

    if "IPython" not in sys.modules:
        assert check("softmax") is None
        assert "works in a notebook" in capsys.readouterr().err


def test_the_kernel_loads_nothing_heavy() -> None:
    import subprocess

    code = (
        "import sys; import engine.practice.check_cell; "
        "print([m for m in ('torch', 'numpy', 'engine.items', 'reference') if m in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=True
    )
    assert run.stdout.strip() == "[]"


def test_a_check_in_a_kernel_within_a_course_needs_no_seal(grade: Grade) -> None:
    """As where the folders of an nbgrader course lie in the folder of ours."""
    assert grade("init", "attention-2026", "--title", "Attention").code == 0
    week = ("softmax-weights", "--seed", 7, "--course", "attention-2026", "--out", "week.ipynb")
    assert grade("export", "notebook", *week).code == 0
    (entry,) = json.loads(Path("week.ipynb").read_text(encoding="utf-8"))["metadata"]["softmark"]["items"]
    inputs = ["", 'answer_softmax_weights = "0.054, 0.653, 0.293"']
    text = kernel_notebook(inputs, "softmax-weights", entry["seed"], entry["question"])
    Path("kernel.ipynb").write_text(text, encoding="utf-8")
    checked = ("submit", "softmax-weights", "kernel.ipynb", "--course", "attention-2026")
    assert grade(*checked).out.startswith("softmax-weights: right — 1 of 1 point\n")
    # For a student it would be recorded: then the seal is needed.
    refused = grade(*checked, "--student", "ada")
    assert refused.code == 2 and "isn't one that the course handed out" in refused.err


def test_the_mask_is_right_too(grade: Grade, week: dict[str, Any]) -> None:
    notebook = filled(week, {"causal-mask-solution": RIGHT_MASK})
    Path("mine.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    assert grade("submit", "causal-mask", "mine.ipynb").code == 0
