r"""Backslashes in GIFT: ``\~ \= \# \{ \} \:`` and ``\\`` stand for the character, ``\n`` for a line end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from engine.variants.maths.symbols import SYMBOLS

__all__ = ["find_marks", "first_mark", "unescaped"]

_PAIR = re.compile(r"\\([\\:#={}~n])")
_DELIMITER = re.compile(r"\\{1,2}([()\[\]])|\$\$")
_MACRO = re.compile(r"n[A-Za-z]+")


def find_marks(text: str, marks: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Yield the positions of characters of ``marks`` that no backslash takes their meaning from."""
    stop = len(text) if end is None else end
    for found in _searched(marks).finditer(text, start, stop):
        if len(found[0]) == 1:
            yield found.start()


@lru_cache(maxsize=16)
def _searched(marks: str) -> re.Pattern[str]:
    return re.compile(_PAIR.pattern + f"|[{re.escape(marks)}]")


def first_mark(text: str, marks: str, start: int = 0, end: int | None = None) -> int:
    """Return the first such position, -1 if there is none."""
    return next(find_marks(text, marks, start, end), -1)


def unescaped(text: str) -> str:
    r"""Return a text with its escapes resolved.

    Inside a formula ``\nu``, ``\neq`` and other macros of LaTeX that begin with n stay what they are.
    """
    out: list[str] = []
    at = 0
    is_formula = False
    while at < len(text):
        if (edge := _DELIMITER.match(text, at)) is not None:
            is_formula = edge[1] in ("(", "[") if edge[1] else not is_formula
            out.append(f"\\{edge[1]}" if edge[1] else "$$")
            at = edge.end()
            continue
        pair = _PAIR.match(text, at)
        if pair is None:
            out.append(text[at])
            at += 1
        elif pair[1] == "n" and is_formula and _is_macro(text, at + 1):
            out.append("\\n")
            at += 2
        else:
            out.append("\n" if pair[1] == "n" else pair[1])
            at += 2
    return "".join(out)


def _is_macro(text: str, at: int) -> bool:
    found = _MACRO.match(text, at)
    return found is not None and found[0] in SYMBOLS
