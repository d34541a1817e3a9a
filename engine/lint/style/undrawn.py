"""A solution doesn't speak of cards that a student never saw.

Of a pool each variant shows a part. What a solution takes from one card, its formula or its drawn number, is
unknown to students who got others. A sentence on all cards belongs behind the words "More generally" (or "In
general"), or into an ``{% if … %}`` of the condition under which its card is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.lint.finding import Finding
from engine.lint.subject import Subject

__all__ = ["check", "fragments"]

_POOLS = ("options", "prompts", "cards")
_FILLED = re.compile(r"\{\{((?:[^{}]|\{(?!\{)|\}(?!\}))*+)\}\}", re.DOTALL)
_FORMULA = re.compile(r"\$\$?([^$]+)\$\$?")
_GENERAL = re.compile(r"\b(?:more generally|in general)\b.*", re.IGNORECASE | re.DOTALL)
_CONDITION = re.compile(r"\{% if (?:(?!\{% (?:if|endif)).)*+\{% endif %\}", re.DOTALL)
_FONT = re.compile(r"\\(?:mathbf|mathrm|hat)\{(\w+)\}|\\hat(?=\\)")
_NAME = re.compile(r"[A-Za-z_]\w*(?!\w*\()")
_LEAST = 6  # characters of a formula that is told from others: a lone letter is everybody's


def check(subject: Subject) -> Iterator[Finding]:
    """Yield formulas and filled-in values that a solution takes from a card which may not be shown."""
    spec = subject.spec
    if spec.solution is None:
        return
    told = fragments(_GENERAL.sub("", _CONDITION.sub(" ", spec.solution)))
    asked = " ".join([spec.stem, *(step.prompt for step in spec.steps)])
    known, names = fragments(asked), _names(" ".join(_FILLED.findall(asked)))
    for _, answer in spec.answers:
        if getattr(answer, "draw", None) is None:
            continue
        for pool in _POOLS:
            for entry in getattr(answer, pool, ()):
                shared = {one for one in fragments(entry.text) & told if not _is_shown(one, known, names)}
                if shared:
                    yield subject.warning(
                        "undrawn",
                        "the solution speaks of a card that not every variant shows",
                        ("solution",),
                        got=f"{min(shared)}, as in: {' '.join(entry.text.split())[:60]}",
                        next_step='begin that sentence with "More generally", or say it of all cards',
                    )


def fragments(text: str) -> set[str]:
    """Return the filled-in expressions of a text, and its formulas where they are long enough to be known."""
    filled = {"{{" + "".join(found.split()) + "}}" for found in _FILLED.findall(text)}
    formulas = {_FONT.sub(r"\1", "".join(found.split())) for found in _FORMULA.findall(_FILLED.sub("", text))}
    return {one for one in filled if "(" in one} | {one for one in formulas if len(one) >= _LEAST}


def _names(expressions: str) -> set[str]:
    return set(_NAME.findall(expressions))


def _is_shown(fragment: str, known: set[str], names: set[str]) -> bool:
    """Tell whether every variant shows a fragment, or all values from which it is computed."""
    return fragment in known or (fragment.startswith("{{") and _names(fragment) <= names)
