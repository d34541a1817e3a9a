"""When two short texts are the same answer."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["normal_token"]

_SEPARATORS = re.compile(r"[\s,;>→|]+|->")


def normal_token(text: str, case_sensitive: bool = False) -> str:
    """Return a text without what doesn't matter: brackets around it, separators, doubled blanks, case.

    ``[B, C]``, ``b  c`` and ``B -> C`` are the same.
    """
    composed = unicodedata.normalize("NFC", text).strip()
    if composed[:1] + composed[-1:] in ("[]", "()", '""', "''"):
        composed = composed[1:-1]
    words = " ".join(_SEPARATORS.sub(" ", composed.replace("->", " ")).split())
    return words if case_sensitive else words.casefold()
