"""The subset of LaTeX maths that stems may use: one parser, and a form for each medium.

latex2mathml was tried and isn't used: it takes unbalanced braces and unknown macros silently, lets
``<`` and ``&`` of ``\\text`` through unescaped, and breaks ``aligned``.
"""

from __future__ import annotations

from engine.prose.maths.mathml import mathml, maths_forms
from engine.prose.maths.parser import MathsError, parse_maths
from engine.prose.maths.plain import plain_maths

__all__ = ["MathsError", "mathml", "maths_forms", "parse_maths", "plain_maths"]
