"""Words made safe for LaTeX."""

from __future__ import annotations

__all__ = ["escape_latex"]

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
}  # fmt: skip


def escape_latex(text: str) -> str:
    """Return text that LaTeX prints as it stands."""
    return "".join(_LATEX.get(character, character) for character in text)
