"""The words of a file: its own names, comments and texts. They show plain copies of what all write alike."""

from __future__ import annotations

import builtins
import io
import keyword
import re
import tokenize
from collections.abc import Iterator

from engine.python_source import MAX_CHARACTERS

__all__ = ["words"]

_OURS = re.compile(r"noqa|type: ?ignore|coding[:=]|^# --- .* ---$|fmt: ")
_KNOWN = frozenset(dir(builtins)) | frozenset(keyword.kwlist) | {"self", "np", "torch", "math", "numpy"}


def words(source: str) -> frozenset[str]:
    """Return the words that say something about who wrote a text; nothing in it can make this fail."""
    return frozenset(_words(source[:MAX_CHARACTERS].replace("\0", " ").removeprefix("\ufeff")))


def _words(text: str) -> Iterator[str]:
    before, name, depth = "", "", 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if name and not (token.string == "=" and depth):  # else it is the name of a library's argument
                yield name
            name = ""
            if token.type == tokenize.COMMENT and not _OURS.search(token.string):
                yield from _phrase("#", token.string.lstrip("#"))
            elif token.type == tokenize.STRING:
                yield from _phrase('"', token.string.strip("rbfuRBFU\"'"))
            elif token.type == tokenize.NAME and before != "." and token.string not in _KNOWN:
                name = token.string if len(token.string) > 1 else ""
            depth += (token.string in "([{") - (token.string in ")]}") if token.type == tokenize.OP else 0
            before = token.string
    except (tokenize.TokenError, SyntaxError):  # what came before it counts
        return


def _phrase(kind: str, text: str) -> Iterator[str]:
    plain = " ".join(text.split()).casefold()
    if sum(c.isalpha() for c in plain) >= 3:
        yield f"{kind} {plain}"
