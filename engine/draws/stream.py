"""The one source of randomness of a draw: PCG64's raw integers and our own arithmetic on them.

NumPy promises the raw stream of a bit generator across releases, and doesn't promise that of
``Generator``'s methods; so bounded integers, choices and shuffles are made here.  Known values
are pinned in ``tests/unit/draws/test_stream.py``: a variant that a student was given
yesterday must be the same tomorrow.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")
_WORD = 1 << 64
# Raw integers come from numpy in blocks: a call costs far more than one integer, and a draw takes dozens.
_BUFFER = 64


def draw_key(secret: bytes, item: str, student: str, attempt: int) -> bytes:
    """Return the 32-byte key of one draw.

    HMAC-SHA256 under the course secret over canonical JSON of ``[item, student, attempt]``.
    The item's version isn't part of it, so a corrected typo redraws nobody.

    Parameters
    ----------
    secret : bytes
        The course secret.
    item, student : str
        Any text; JSON quoting keeps the fields apart.
    attempt : int
        From 0.
    """
    message = json.dumps([item, student, attempt], ensure_ascii=True, separators=(",", ":"))
    return hmac.new(secret, message.encode("ascii"), hashlib.sha256).digest()


def seeded_key(seed: int, item: str | None = None) -> bytes:
    """Return the key of ``--seed``: an open draw that needs no secret.

    Parameters
    ----------
    seed : int
    item : str, optional
        For the order of options: with one key for all items, all keys of a seed would stand at the
        same letter. The numbers of a seed are drawn without it.
    """
    name = f"softmark seed {seed}" if item is None else f"softmark seed {seed} of {item}"
    return hashlib.sha256(name.encode("utf-8")).digest()


class RandomStream:
    """A deterministic stream of draws.

    Parameters
    ----------
    seed : int
        Any non-negative integer; equal seeds give equal streams on every platform.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._source: np.random.PCG64 | None = None
        self._words: list[int] = []
        self._used = 0

    @classmethod
    def of_key(cls, key: bytes, purpose: str = "") -> RandomStream:
        """Return the stream of a draw key; each purpose has a stream of its own."""
        return cls(int.from_bytes(hashlib.sha256(key + b"\x00" + purpose.encode()).digest(), "big"))

    @classmethod
    def keyed(cls, secret: bytes, item: str, student: str, attempt: int) -> RandomStream:
        """Return the stream of (item, student, attempt) under a course secret."""
        return cls.of_key(draw_key(secret, item, student, attempt))

    @property
    def used(self) -> int:
        """How many raw integers have been taken: 0 means that nothing was random."""
        return self._used

    def word(self) -> int:
        """Return the next raw integer, 0 … 2**64 - 1."""
        if not self._words:
            # Seeding costs more than a short draw: an item that draws nothing shouldn't pay for it.
            if self._source is None:
                self._source = np.random.PCG64(self._seed)
            self._words = self._source.random_raw(_BUFFER).tolist()[::-1]
        self._used += 1
        return self._words.pop()

    def below(self, bound: int) -> int:
        """Return an integer from 0 to ``bound - 1``, each equally likely.

        Words at or above the largest multiple of `bound` are thrown away, so there is no bias.

        Raises
        ------
        ValueError
            `bound` isn't between 1 and 2**64.
        """
        if not 1 <= bound <= _WORD:
            raise ValueError(f"a bound must be between 1 and 2**64, not {bound}")
        # Beyond the last whole multiple of the bound, small results would be a little more likely.
        limit = _WORD - _WORD % bound
        while (word := self.word()) >= limit:
            pass
        return word % bound

    def between(self, low: int, high: int) -> int:
        """Return an integer from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def choice(self, values: Sequence[T]) -> T:
        """Return one of `values`, each equally likely."""
        return values[self.below(len(values))]

    def shuffled(self, values: Sequence[T]) -> list[T]:
        """Return `values` in a random order, each order equally likely (Fisher-Yates)."""
        cards = list(values)
        for last in range(len(cards) - 1, 0, -1):
            other = self.below(last + 1)
            cards[last], cards[other] = cards[other], cards[last]
        return cards

    def sample(self, values: Sequence[T], count: int) -> list[T]:
        """Return `count` different elements of `values` in random order (the first steps of a shuffle).

        Raises
        ------
        ValueError
            There are fewer than `count`.
        """
        if count > len(values):
            raise ValueError(f"can't take {count} of {len(values)}")
        cards = list(values)
        for first in range(count):
            other = first + self.below(len(cards) - first)
            cards[first], cards[other] = cards[other], cards[first]
        return cards[:count]
