"""Every picture says in words what it shows, with its numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.lint.finding import Finding
from engine.lint.subject import Subject

__all__ = ["check"]

_PICTURE = re.compile(r"<svg\b(?:(?!</?svg\b).)*+</svg>", re.DOTALL | re.IGNORECASE)
_LABEL = re.compile(
    r'\baria-label="([^"]*)"|<title\b[^>]*>(.*?)</title>|<desc\b[^>]*>(.*?)</desc>', re.DOTALL
)


def check(subject: Subject) -> Iterator[Finding]:
    """Yield pictures without an alternative text, or with one that has no number."""
    for variant in subject.variants[:1]:
        texts = [("stem", variant.stem)] + ([("solution", variant.solution)] if variant.solution else [])
        for where, text in texts:
            for picture in _PICTURE.findall(text.html):
                words = " ".join("".join(found) for found in _LABEL.findall(picture))
                if not re.search(r"\d", words):
                    yield subject.warning(
                        "pictures",
                        "a picture has no alternative text that carries its numbers",
                        (where,),
                        got=words[:80] or "no text",
                    )
