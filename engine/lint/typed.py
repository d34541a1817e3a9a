"""What an author typed himself: a word that is meant isn't left over from a template."""

from __future__ import annotations

import html
import re

from engine.lint.texts import written_texts
from engine.spec.schema import ProblemSpec

__all__ = ["typed_text"]

_TEMPLATE = re.compile(
    r"\{\{(?:[^{}]|\{(?!\{)|\}(?!\}))*+\}\}|\{%(?:[^{%]|\{(?!%)|%(?!\}))*+%\}"
    r"|\{#(?:[^{#]|\{(?!#)|#(?!\}))*+#\}"
)
_ESCAPE = re.compile(r"\\(?=[^\sA-Za-z])")


def typed_text(spec: ProblemSpec) -> str:
    r"""Return all texts that an item shows, without what its templates fill in, escapes resolved.

    ``{\{`` and ``{&#123;`` are the two braces that they show.
    """
    shown = [written.text for written in written_texts(spec) if written.kind != "feedback"]
    plain = _TEMPLATE.sub("\n", "\n".join(shown))
    return _ESCAPE.sub("", html.unescape(plain)).replace("\u2212", "-")
