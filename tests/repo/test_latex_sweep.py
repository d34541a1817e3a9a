"""`make sweep` compiles every text with a real LaTeX engine, and says so where there is none."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sweep.latex_document import Document, faults_of

ROOT = Path(__file__).parents[2]
TEXTS = [("first", "good"), ("second", "line one\n\nline two"), ("third", "good")]


def fake_engine(folder: Path, log: str, exit_code: int) -> None:
    engine = folder / "pdflatex"
    engine.write_text(f"#!/bin/sh\ncat > texts.log <<'EOF'\n{log}\nEOF\nexit {exit_code}\n", encoding="utf-8")
    engine.chmod(engine.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def engine(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return lambda log, exit_code=0: fake_engine(tmp_path, log, exit_code)


def test_a_complaint_is_told_with_the_text_where_it_arose(engine, tmp_path):
    document = Document(TEXTS)
    line = document.source.split("\n").index("line two") + 1
    engine(f"./texts.tex:{line}: Undefined control sequence.\nl.{line} x\nall texts are set\n", 1)
    assert faults_of(document, tmp_path) == ["second: Undefined control sequence."]


@pytest.mark.parametrize(
    ("log", "fault"),
    [
        (
            "Missing character: There is no X in font y!\nall texts are set\n",
            "Missing character: There is no X",
        ),
        ("(\\end occurred inside a group at level 1)\nall texts are set\n", "inside a group"),
        ("! Emergency stop.\n", "Emergency stop"),
        ("nothing\n", "before the last text"),
    ],
)
def test_whatever_isnt_a_clean_end_is_a_fault(engine, tmp_path, log, fault):
    engine(log)
    assert any(fault in found for found in faults_of(Document(TEXTS), tmp_path))


def test_a_clean_run_has_no_fault(engine, tmp_path):
    engine("(./texts.tex\nall texts are set\n)\n")
    assert faults_of(Document(TEXTS), tmp_path) == []


def test_a_missing_engine_fails_the_sweep_and_says_what_to_install(tmp_path):
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-n0",
            "tests/sweep/latex_of_the_bank.py",
            "-k",
            "words_of_every_kind",
        ],
        cwd=ROOT,
        env=os.environ | {"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert "there is no pdflatex on this machine" in done.stdout
    assert "texlive-latex-base" in done.stdout
    assert "skipped" not in done.stdout


def test_make_sweep_installs_the_engine_and_compiles_the_bank():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    sweep = re.search(r"^sweep:.*?(?=^\S)", makefile, re.MULTILINE | re.DOTALL)[0]
    assert "latex" in sweep.split("\n")[0].split("##")[0].split()
    assert "tests/sweep/latex_of_the_bank.py" in sweep


@pytest.mark.skipif(not shutil.which("make"), reason="no make")
def test_make_latex_says_what_is_missing_where_it_cant_install(tmp_path):
    for tool in ("sh", "id", "bash", "make"):
        (tmp_path / tool).symlink_to(shutil.which(tool))
    done = subprocess.run(
        ["make", "-s", "latex"], cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "needs pdflatex" in done.stderr
    assert "texlive-latex-base" in done.stderr
