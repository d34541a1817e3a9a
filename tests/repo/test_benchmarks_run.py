"""Every script of benchmarks/ runs in its quick form and prints figures that can be right."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "benchmarks").glob("*.py"))

# lines without which a script's table isn't there; a new script needs none to be run
SAID = {
    "class": ["submissions"],
    "cluster": [
        r"2 workers of a slot: \d",
        r"hand-ins while \d+ programs of a class are graded",
        r"at 100 %: grade batch \d+ MiB",
    ],
    "cluster_simulation": [r"workers +per s", r"the server's cores \d", "knee"],
    "code_grading": [
        "all as known",
        "outcomes as known: 4 of 4",
        "with explanations",
        "Where the time goes",
    ],
    "counterexamples": [r"all: \d+ functions"],
    "diagnosis": [r"share of \d+ gradings: right"],
    "draw_variants": ["l16-full-pass"],
    "export": [r"moodle softmax-ratio +\d", r"gift context-bounds +\d"],
    "figures_page": ["## Kill matrices", "3 programs: 0 points, 0 names"],
    "irt": ["500 students"],
    "quiz": ["answers/s", "quiz new, 3 students"],
    "right_code": ["softmax: \\d+ files x 1 seeds, 0 failures"],
    "scanned_sheets": [r"wrong\w* +0\b"],
    "similar": ["AUC"],
    "startup": ["grade list, again", "grade submit torch file"],
    "zygotes": [r"start, processor s +\d", "an empty submission at T"],
    "web": [r"a save, ms +\d", r"confirmed but not in the store: 0; requests that failed: 0"],
    "web_code": [r"one after another +3", "pages meanwhile"],
    "watch": [r"right +1 ", "new +1 ", "again +1 "],
}


def test_there_are_scripts() -> None:
    assert set(SAID) <= {path.stem for path in SCRIPTS}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_quick_form_runs_and_prints_figures(script: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    before = _page()
    done = subprocess.run(
        [sys.executable, str(script), "--quick"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-4000:])
    for line in SAID.get(script.stem, []):
        assert re.search(line, done.stdout), (line, done.stdout)
    numbers = [float(text.replace(",", "")) for text in re.findall(r"\d[\d,]*\.?\d*", done.stdout)]
    assert len(numbers) >= 2 and any(numbers), done.stdout
    assert not re.search(r"\b(nan|inf)\b", done.stdout), done.stdout
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.rglob("pyvenv.cfg")), "an environment of a peer was made"
    assert _page() == before, "the quick form wrote the committed page"


def _page() -> bytes:
    return (ROOT / "docs/code-figures.md").read_bytes()
