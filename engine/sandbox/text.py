"""Foreign text made safe to carry: student code printed or raised it."""

from __future__ import annotations

__all__ = ["clean"]

_MARK = "\N{REPLACEMENT CHARACTER}"
_DROPPED = dict.fromkeys((*range(32), *range(127, 160), 0x2028, 0x2029), _MARK)
_DROPPED |= dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F), _MARK)
for _kept in "\n\t":
    del _DROPPED[ord(_kept)]


def clean(text: str, most: int) -> str:
    """Return at most `most` characters without control characters, lone surrogates and direction marks."""
    text = text[:most].encode("utf-8", "replace").decode("utf-8")
    return text.replace("\r\n", "\n").translate(_DROPPED)
