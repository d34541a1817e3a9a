"""Formulas can be read: as formulas where pages show them, and as text in a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.lint.finding import Finding
from engine.lint.subject import Subject
from engine.lint.texts import Written, written_texts

__all__ = ["check"]

RULE = "formulas"
LONGEST_INLINE = 110  # characters of plain text, about a line
# What looks like maths and stands outside dollars: an index, a power, a product, a root, a Greek name.
_BARE = re.compile(
    r"\b[A-Za-z]_[A-Za-z0-9]\b|\b[A-Za-z0-9]\^\w|\b\d+ ?\* ?\d+\b|\b(?:sqrt|exp)\(|\b(?:alpha|sigma)_\w"
)
_LEFT_OVER = re.compile(r"\\[A-Za-z]+")
_MATHS = re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)
_CODE = re.compile(
    r"```.*?```|`[^`\n]*`|\{%(?:[^{%]|\{(?!%)|%(?!\}))*+%\}"
    r"|\{\{(?:[^{}]|\{(?!\{)|\}(?!\}))*+\}\}",
    re.DOTALL,
)


def check(subject: Subject) -> Iterator[Finding]:
    """Yield maths outside dollars, LaTeX that stays in the plain text, and formulas that don't fit a line."""
    for written in _prose(subject):
        prose = _MATHS.sub(" ", _CODE.sub(" ", written.text))
        if (bare := _BARE.search(prose)) is not None:
            yield subject.warning(
                RULE,
                f"{bare[0]!r} is maths outside dollars",
                written.loc,
                next_step=f"write it as a formula: ${bare[0]}$",
            )
    for variant in subject.variants[:1]:
        shown = [(variant.stem, "stem"), *((hint, "hints") for hint in variant.hints)]
        shown += [(variant.solution, "solution")] if variant.solution else []
        for text, where in shown:
            if not subject.is_code and (left := _LEFT_OVER.search(text.plain)) is not None:
                yield subject.warning(
                    RULE, f"the plain text shows {left[0]!r}", (where,), got=text.plain[:80]
                )
    yield from _long(subject)


def _prose(subject: Subject) -> list[Written]:
    """Return the texts of the item itself, without its notes on the source.

    Messages and feedback of a code exercise are shown as they stand, beside code: they hold no formulas.
    """
    plain = {"erratum", "feedback"} if subject.is_code else {"erratum"}
    return [written for written in written_texts(subject.spec) if written.kind not in plain]


def _long(subject: Subject) -> Iterator[Finding]:
    from engine.variants.maths import MathsError, maths_forms

    for written in _prose(subject):
        for formula in re.findall(r"(?<!\$)\$([^$\n]+)\$(?!\$)", _CODE.sub("0.123", written.text)):
            try:
                plain, _ = maths_forms(formula, False)
            except MathsError:
                continue  # the loader has said so, or it is filled in only later
            if len(plain) > LONGEST_INLINE:
                yield subject.warning(
                    RULE,
                    "a formula within a line is longer than a line",
                    written.loc,
                    expected=f"at most {LONGEST_INLINE} characters",
                    got=f"{len(plain)}: {plain[:60]} …",
                    next_step="put it on a line of its own, between $$ and $$",
                )
