"""Fingerprints of a normal form by winnowing (Schleimer, Wilkerson and Aiken, SIGMOD 2003).

Every run of ``GRAM`` tokens of a statement is hashed; of any ``WINDOW`` hashes in a row the smallest is
kept. So two statements that share a run of at least ``GUARANTEE`` = ``GRAM + WINDOW - 1`` tokens share a
fingerprint, and no run of fewer than ``GRAM`` tokens is ever seen, but for statements that are shorter as a
whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

from engine.similar.normal import Normal, Token

__all__ = ["GRAM", "GUARANTEE", "LEAST", "WINDOW", "all_grams", "fingerprints", "grams"]

GRAM = 6
WINDOW = 3
GUARANTEE = GRAM + WINDOW - 1
LEAST = 4
"""Statements of fewer tokens say nothing: ``return x``, ``pass``, ``i = 0``."""


def fingerprints(normal: Normal) -> frozenset[int]:
    """Return the fingerprints of a file."""
    return frozenset(h for statement in normal.statements for h in _winnowed(statement.tokens))


def all_grams(normal: Normal) -> frozenset[int]:
    """Return the hash of every gram: what has to be known of a file that doesn't count."""
    return frozenset(hashed for statement in normal.statements for hashed, _, _ in grams(statement.tokens))


def _winnowed(tokens: Sequence[Token]) -> Iterator[int]:
    hashes = [hashed for hashed, _, _ in grams(tokens)]
    for start in range(max(1, len(hashes) - WINDOW + 1)):
        if hashes:
            yield min(hashes[start : start + WINDOW])


def grams(tokens: Sequence[Token]) -> list[tuple[int, int, int]]:
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


def _texts(tokens: Sequence[Token]) -> list[str]:
    """Return the texts, a student's own name as the number of names that came before it first."""
    seen: dict[str, int] = {}
    return [f"·{seen.setdefault(t.name, len(seen))}" if t.name else t.text for t in tokens]


@lru_cache(maxsize=100_000)
def _hash(text: str) -> int:
    # Python's own hash differs from run to run, and with it what is kept.
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big")
