"""Fingerprints of a normal form by winnowing (Schleimer, Wilkerson and Aiken, SIGMOD 2003).

Every run of ``GRAM`` tokens of a statement is hashed; of any ``WINDOW`` hashes in a row the smallest is
kept. So two statements that share a run of at least ``GUARANTEE`` = ``GRAM + WINDOW - 1`` tokens share a
fingerprint, and no run of fewer than ``GRAM`` tokens is ever seen, but for statements that are shorter as a
whole.
"""

from __future__ import annotations

import builtins
import hashlib
import io
import keyword
import re
import tokenize
from collections.abc import Iterator, Sequence
from functools import lru_cache

from engine.code.source import MAX_CHARACTERS
from engine.similarity.normal_form import NormalForm
from engine.similarity.tokens import CodeToken

__all__ = ["GRAM", "GUARANTEE", "LEAST", "WINDOW", "all_grams", "fingerprints", "grams", "words"]

# Six tokens are about one short assignment: shorter runs are in every solution of an exercise, and longer
# ones miss copies in which every other expression was touched.
GRAM = 6
WINDOW = 3
GUARANTEE = GRAM + WINDOW - 1
LEAST = 4
"""Statements of fewer tokens say nothing: ``return x``, ``pass``, ``i = 0``."""


def fingerprints(normal: NormalForm) -> frozenset[int]:
    """Return the fingerprints of a file."""
    return frozenset(h for statement in normal.statements for h in _winnowed(statement.tokens))


def all_grams(normal: NormalForm) -> frozenset[int]:
    """Return the hash of every gram: what has to be known of a file that doesn't count."""
    return frozenset(hashed for statement in normal.statements for hashed, _, _ in grams(statement.tokens))


def _winnowed(tokens: Sequence[CodeToken]) -> Iterator[int]:
    hashes = [hashed for hashed, _, _ in grams(tokens)]
    for start in range(max(1, len(hashes) - WINDOW + 1)):
        if hashes:
            yield min(hashes[start : start + WINDOW])


def grams(tokens: Sequence[CodeToken]) -> list[tuple[int, int, int]]:
    """Return (hash, first token, number of tokens) of each gram of a statement.

    The student's own names count by where they came last in the gram, so that no renaming changes a hash and
    ``x - max(x)`` is another one than ``x - max(y)``.
    """
    if len(tokens) < LEAST:
        return []
    size = min(GRAM, len(tokens))
    return [
        (_hash("\n".join(_texts(tokens[start : start + size]))), start, size)
        for start in range(len(tokens) - size + 1)
    ]


def _texts(tokens: Sequence[CodeToken]) -> list[str]:
    # A student's own name counts as the number of names that came before it first, so that no renaming hides
    # it.
    numbers: dict[str, int] = {}
    return [f"·{numbers.setdefault(t.name, len(numbers))}" if t.name else t.text for t in tokens]


@lru_cache(maxsize=100_000)
def _hash(text: str) -> int:
    # Python's own hash differs from run to run, and with it what is kept.
    # Python's own hash differs from run to run, and the ranking of pairs must not.
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big")


# The words of a file: its own names, comments and texts. They show plain copies of what all write alike.

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
