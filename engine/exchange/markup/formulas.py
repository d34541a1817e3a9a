r"""Formulas in foreign texts: ``$$…$$``, ``\(…\)`` and ``\[…\]``, into the LaTeX that we can typeset.

A single dollar is a dollar, as in Moodle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.exchange.markup.blocks import Formula
from engine.variants.maths import MathsError, maths_forms

__all__ = ["looks_like_dollar_maths", "normal_formula", "split_formulas"]

_CLOSING = {"$$": "$$", "\\(": "\\)", "\\[": "\\]"}
_OPENING = re.compile(r"\$\$|\\[(\[]")
_DOLLARS = re.compile(r"(?<![\\$])\$(?=[^\s$])[^$\n]{0,120}?[\\^_][^$\n]{0,120}?(?<!\s)\$(?!\$)")

_SYNONYMS = {
    "dfrac": "\\frac", "tfrac": "\\frac", "cfrac": "\\frac", "lt": "<", "gt": ">", "bm": "\\boldsymbol",
    "textrm": "\\text", "mbox": "\\text", "textnormal": "\\text", "textit": "\\text", "hbox": "\\text",
    "displaystyle": "", "textstyle": "", "scriptstyle": "", "limits": "", "nolimits": "", "nonumber": "",
    "lbrack": "[", "rbrack": "]", "dotsc": "\\ldots", "dotsb": "\\cdots", "colon": ":", "thinspace": "\\,",
    "big": "", "Big": "", "bigg": "", "Bigg": "", "bigl": "", "bigr": "", "Bigl": "", "Bigr": "",
    "biggl": "", "biggr": "", "middle": "", "intercal": "\\top",
}  # fmt: skip
_MACRO = re.compile(r"\\([A-Za-z]+)\*?(?![A-Za-z])")
_ENVIRONMENTS = {"align": "aligned", "gather": "aligned", "equation": "aligned", "smallmatrix": "matrix"}
_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{([A-Za-z]+)\*?\}")
_ARRAY = re.compile(r"\\begin\s*\{array\}\s*\{[lcr| ]*\}")
_FRACTION = re.compile(r"\\frac\s*(\d)\s*(\d)(?!\d)")
_SCRIPT = re.compile(r"([_^])\s*(\d)(?=\d)")
_TEMPLATE = re.compile(r"\{(?=[{%#])")


def split_formulas(text: str) -> Iterator[str | Formula]:
    """Yield the stretches of a text and its formulas, in order; linear in its length."""
    at = start = 0
    hopeless: set[str] = set()
    while (opening := _OPENING.search(text, at)) is not None:
        closing = _CLOSING[opening[0]]
        end = -1 if closing in hopeless else text.find(closing, opening.end())
        if end < 0 or not text[opening.end() : end].strip():
            if end < 0:
                hopeless.add(closing)
            at = opening.end()
            continue
        if start < opening.start():
            yield text[start : opening.start()]
        yield Formula(text[opening.end() : end], display=opening[0] != "\\(")
        at = start = end + len(closing)
    if start < len(text):
        yield text[start:]


def looks_like_dollar_maths(text: str) -> bool:
    """Tell whether single dollars seem to be meant as the ends of a formula."""
    return _DOLLARS.search(text) is not None


def normal_formula(source: str) -> str | None:
    """Return a formula as our subset of LaTeX has it, or None where it can't be typeset.

    Other names of what we know are replaced; nothing else changes.
    """
    formula = " ".join(source.split())
    formula = _ARRAY.sub(r"\\begin{matrix}", formula).replace("\\end{array}", "\\end{matrix}")
    formula = _ENVIRONMENT.sub(_environment, formula)
    formula = _MACRO.sub(_macro, formula)
    formula = _FRACTION.sub(r"\\frac{\1}{\2}", formula)
    formula = _SCRIPT.sub(r"\1{\2}", formula)
    formula = _TEMPLATE.sub("{ ", formula).strip()
    try:
        maths_forms(formula, False)
    except MathsError:
        return None
    return None if not formula or re.search(r"(?<!\\)\$", formula) else formula


def _macro(found: re.Match[str]) -> str:
    other = _SYNONYMS.get(found[1])
    if other is None:
        return found[0].rstrip("*") if found[1] == "operatorname" else found[0]
    follows = found.string[found.end() : found.end() + 1]
    return f"{other} " if other[-1:].isalpha() and follows.isalpha() else other


def _environment(found: re.Match[str]) -> str:
    return f"\\{found[1]}{{{_ENVIRONMENTS.get(found[2], found[2])}}}"
