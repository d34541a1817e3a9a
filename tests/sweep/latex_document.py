"""One LaTeX document of many texts, compiled by pdfLaTeX, and its complaints brought back to the texts."""

from __future__ import annotations

import bisect
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from engine.prose.markdown import PREAMBLE

__all__ = ["NO_ENGINE", "Document", "faults_of"]

NO_ENGINE = (
    "there is no pdflatex on this machine, so nothing was compiled; `make latex` installs one "
    "(Debian and Ubuntu: apt-get install texlive-latex-base)"
)
_COMPLAINT = re.compile(
    r"^\S*?texts\.tex:(\d+): (.*)|^(Missing character: .*)|^(! .*|\(\\end occurred .*)", re.MULTILINE
)
_LAST = "all texts are set"
_TIMEOUT_S = 300


class Document:
    """Texts one after the other, each known by the line at which it starts."""

    def __init__(self, texts: Sequence[tuple[str, str]]) -> None:
        """Lay out (name, LaTeX) pairs."""
        lines = ["\\documentclass{article}", *PREAMBLE.splitlines()]
        # an environment, so that what a text leaves open is found at its end
        lines += ["\\newenvironment{onetext}{}{\\par}", "\\begin{document}"]
        self._starts: list[int] = []
        self._names = [name for name, _ in texts]
        for _, latex in texts:
            self._starts.append(len(lines) + 1)
            lines += ["\\begin{onetext}", *latex.split("\n"), "", "\\end{onetext}"]
        self.source = "\n".join([*lines, f"\\typeout{{{_LAST}}}", "\\end{document}", ""])

    def name_at(self, line: int) -> str:
        """Return the name of the text on a line."""
        at = bisect.bisect_right(self._starts, line) - 1
        return self._names[at] if at >= 0 else "the preamble"


def faults_of(document: Document, folder: Path) -> list[str]:
    """Return what pdfLaTeX complains of, each as ``name: complaint``; nothing if all is well.

    Raises
    ------
    FileNotFoundError
        There is no pdfLaTeX.
    """
    engine = shutil.which("pdflatex")
    if engine is None:
        raise FileNotFoundError(NO_ENGINE)
    (folder / "texts.tex").write_text(document.source, encoding="utf-8")
    # a text could read or write files by macros, were it not escaped; nor is the machine's own set-up read
    environment = os.environ | {"openin_any": "p", "openout_any": "p", "max_print_line": "1000"}
    done = subprocess.run(
        [
            engine,
            "-draftmode",
            "-no-shell-escape",
            "-interaction=nonstopmode",
            "-file-line-error",
            "texts.tex",
        ],
        cwd=folder,
        env=environment,
        capture_output=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    log = (folder / "texts.log").read_text(encoding="utf-8", errors="replace")
    faults = []
    for line, complaint, missing, other in _COMPLAINT.findall(log):
        faults.append(f"{document.name_at(int(line))}: {complaint}" if line else missing or other)
    if not faults and (done.returncode or f"\n{_LAST}\n" not in log):
        faults.append(f"pdflatex ended with exit code {done.returncode} before the last text")
    return faults
