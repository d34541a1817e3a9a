"""What an author typed himself: a word that is meant isn't left over from a template."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from engine.spec.schema import ProblemSpec

__all__ = ["typed_text"]

_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_ESCAPE = re.compile(r"\\(?=[^\sA-Za-z])")


def typed_text(spec: ProblemSpec) -> str:
    r"""Return all texts that an item shows, without what its templates fill in, escapes resolved.

    ``{\{`` and ``{&#123;`` are the two braces that they show.
    """
    plain = _TEMPLATE.sub("\n", "\n".join(_texts(spec)))
    return _ESCAPE.sub("", html.unescape(plain)).replace("\u2212", "-")


def _texts(spec: ProblemSpec) -> Iterator[str]:
    yield spec.stem
    yield from spec.hints
    yield from (erratum.note for erratum in spec.errata)
    if spec.solution is not None:
        yield spec.solution
    yield from _of_answer(spec.answer)
    for step in spec.steps:
        yield step.prompt
        yield from _of_answer(step.answer)


def _of_answer(answer: Any) -> Iterator[str]:
    for pool in ("options", "cards", "prompts", "targets"):
        yield from (entry.text for entry in getattr(answer, pool, ()))
