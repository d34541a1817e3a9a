"""The check cell of an assignment's notebook: grades what this kernel ran, as ``grade submit`` does.

It works without the notebook's file, which may not be saved, and wherever the kernel was started: what counts
is what ran. The kernel's inputs are written into a notebook of their own, and the command grades that in a
process of its own, so that no key is ever in the kernel's memory. Nothing is recorded.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["check"]

_RUN = "from engine.commands import main; main()"
# Jupyter shows about so many characters of a line; a longer one would be broken anywhere.
_WIDTH = 100
_MOST_MODULES = 100


def check(item: str, *, seed: int = 0, question: str = "") -> float | None:
    """Grade what this kernel ran for an item, print the feedback and return the points.

    Parameters
    ----------
    item : str
    seed, question : int, str
        Which variant an answer is for, and a digest of what it asked.

    Returns
    -------
    float or None
        Points; 0 where it can't be read, None where it couldn't be graded. A cell that ends with it has the
        points as its value, which nbgrader takes for partial credit.
    """
    shell = _shell()
    if shell is None:
        print("The check cell works in a notebook: open it in Jupyter and run it there.", file=sys.stderr)  # noqa: T201
        return None
    # As typed, magics included: intake treats them as it does those of a file.
    inputs = [str(text) for text in shell.history_manager.input_hist_raw]
    with tempfile.TemporaryDirectory(prefix="softmark-") as name:
        folder = Path(name)
        _copy_modules(Path.cwd(), folder, inputs)
        notebook, report = folder / "notebook.ipynb", folder / "report.json"
        notebook.write_text(kernel_notebook(inputs, item, seed, question), encoding="utf-8")
        # -P: a file of the student's that is called like a package must not be loaded in its place.
        command = [sys.executable, "-P", "-c", _RUN, "submit", item, str(notebook), "--report", str(report)]
        # Kernels ask for colours, which would be broken into pieces with the lines.
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
        environment.pop("FORCE_COLOR", None)
        # The folder is the kernel's: a course around it offers its own items.
        run = subprocess.run(
            command, capture_output=True, check=False, env=environment, encoding="utf-8", errors="replace"
        )
        # On standard output, since nbgrader takes anything on standard error for a failed check.
        print(_readable(f"{run.stdout}{run.stderr}"))  # noqa: T201
        if run.returncode not in (0, 1, 2):
            print("This wasn't graded, and that isn't your fault: run the cell again.", file=sys.stderr)  # noqa: T201
            return None
        return _points(report)


def kernel_notebook(inputs: Sequence[str], item: str, seed: int, question: str) -> str:
    """Return what a kernel ran as a notebook, which intake reads by the same rules as one that is handed in.

    Parameters
    ----------
    inputs : sequence of str
        By execution count; the first, of count 0, is empty.
    item, seed, question : str, int, str
        As of :func:`check`.
    """
    kind = {"kind": "answer", "seed": seed, "question": question} if question else {"kind": "code"}
    cells = [
        {
            "cell_type": "code",
            "execution_count": count,
            "id": f"in-{count}",
            "metadata": {},
            "outputs": [],
            "source": text,
        }
        for count, text in enumerate(inputs)
        if text.strip()
    ]
    metadata: dict[str, Any] = {"softmark": {"history": True, "items": [{"item": item, **kind}]}}
    metadata["language_info"] = {"name": "python"}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def _shell() -> Any:
    # No IPython, no kernel: it isn't imported for that.
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def _copy_modules(here: Path, folder: Path, inputs: Sequence[str]) -> None:
    """Copy the files beside the notebook that its code may import; which of them it does is seen later."""
    try:
        files = {path.stem: path for path in sorted(here.glob("*.py"))}
    except OSError:
        return
    texts = ["\n".join(text for text in inputs if "import" in text)]
    copied: set[str] = set()
    while texts:
        words = set(re.findall(r"\w+", texts.pop()))
        for stem in sorted((words & files.keys()) - copied)[: _MOST_MODULES - len(copied)]:
            copied.add(stem)
            try:
                data = files[stem].read_bytes()
                (folder / f"{stem}.py").write_bytes(data)
            except OSError:
                continue
            texts.append(data.decode("utf-8", "replace"))


def _readable(text: str) -> str:
    """Break long lines between words, with what continues a line below its text."""
    lines: list[str] = []
    for line in text.rstrip().split("\n"):
        # Code is indented, and stays as it is.
        if len(line) <= _WIDTH or line.startswith("    "):
            lines.append(line.rstrip())
            continue
        # The columns of a table end with two blanks at least: the last one holds the sentences.
        table = re.match(r".*\S {2,}(?=\S)", line[: _WIDTH // 2])
        hang = " " * min(len(table[0]) if table else 2, _WIDTH // 3)
        lines += textwrap.wrap(
            line, _WIDTH, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False,
            drop_whitespace=True, replace_whitespace=False,
        )  # fmt: skip
    return "\n".join(lines)


def _points(report: Path) -> float:
    try:
        score = json.loads(report.read_text(encoding="utf-8")).get("score")
    except (OSError, ValueError, AttributeError):
        return 0.0
    return float(score) if isinstance(score, int | float) else 0.0
