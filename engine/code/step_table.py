"""The argument ``step`` of a search: a decoder's next-token probabilities as a table.

Students' searches call a function; grading needs data, which can be hashed, shrunk, printed and sent to the
sandbox, where it becomes a function again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import SpecialArgument, leaf_of
from engine.runner import StepFunction

State = tuple[int, ...]  # all tokens that were fed so far, the start symbol first


@dataclass(frozen=True)
class StepTable(SpecialArgument):
    """The argument ``step`` of a search.

    Parameters
    ----------
    rows : tuple of (tokens, probabilities)
        Probabilities of the next token by the tokens fed after the start symbol, all of one length.
    other : tuple of float
        Probabilities after all other tokens.
    dtype : str
        In which they arrive.
    """

    rows: tuple[tuple[State, tuple[float, ...]], ...]
    other: tuple[float, ...]
    dtype: str = "float64"

    @property
    def entries(self) -> int:
        """Number of probabilities."""
        return (len(self.rows) + 1) * len(self.other)

    @property
    def vocabulary(self) -> int:
        """Number of tokens."""
        return len(self.other)

    def after(self, tokens: State) -> tuple[float, ...]:
        """Return the probabilities after these tokens, which follow the start symbol."""
        return self._by_tokens.get(tokens, self.other)

    def along(self, tokens: Sequence[int]) -> list[tuple[float, ...]]:
        """Return the probabilities before each of these tokens: after none of them, after the first …

        It takes time in proportion to their number: beyond the longest row of the table nothing is looked up.
        """
        longest = self._longest
        return [
            self.after(tuple(tokens[:place])) if place <= longest else self.other
            for place in range(len(tokens))
        ]

    @cached_property
    def _longest(self) -> int:
        return max((len(tokens) for tokens, _ in self.rows), default=0)

    @cached_property
    def _by_tokens(self) -> dict[State, tuple[float, ...]]:
        return dict(self.rows)

    def step(self) -> Callable[[Any, Any], tuple[Any, State]]:
        """Return the function itself, the one that stands beside student code; rows are numpy arrays."""
        from engine.sandbox.child.calls import make_step
        from engine.sandbox.child.wire import StepNode

        return make_step(StepNode("step", *self._arrays()), np.copy)

    def wire(self, library: str) -> StepFunction:
        """Return what crosses to the child."""
        tokens, chances = self._arrays()
        return StepFunction("step", leaf_of(tokens, "numpy"), leaf_of(chances, library))

    def _arrays(self) -> tuple[NDArray[Any], NDArray[Any]]:
        tokens = np.full((len(self.rows), max((len(key) for key, _ in self.rows), default=0)), -1)
        for row, (key, _) in zip(tokens, self.rows, strict=True):
            row[: len(key)] = key
        return tokens, np.array(self._all(), dtype=self.dtype)

    def _all(self) -> list[tuple[float, ...]]:
        return [*(row for _, row in self.rows), self.other]

    def python(self, name: str, library: str) -> str:
        """Return lines of Python that define the function."""
        make = "np.array" if library == "numpy" else "torch.tensor"
        kind = f"{'np' if library == 'numpy' else 'torch'}.{self.dtype}"
        rows = "".join(f"\n    {tokens!r}: {list(row)!r}," for tokens, row in self.rows)
        table = f"table = {{{rows}\n}}  # by the tokens after bos\n\n" if rows else ""
        other = repr(list(self.other))
        row_text = f"table.get(s[1:], {other})" if rows else other
        dtype = "" if self.dtype == "float64" and library == "numpy" else f", dtype={kind}"
        return (
            f"{table}\ndef {name}(y, s):\n    s = (*s, int(y))\n    return {make}({row_text}{dtype}), s\n\n"
        )

    def described(self) -> str:
        """Return a few words for a message."""
        return "step"

    def key(self) -> Hashable:
        """Return what equal tables share."""
        return (self.rows, self.other, self.dtype)

    def weight(self) -> tuple[float, ...]:
        """Return tokens to read, decimals to read, and how uneven the rows are."""
        numbers = [p for row in self._all() for p in row]
        return (
            float(sum(len(tokens) for tokens, _ in self.rows)),
            float(sum(len(repr(p)) for p in numbers)),
            float(sum(p * (1 + place) for row in self._all() for place, p in enumerate(row))),
            float(self.dtype != "float64"),
        )

    def simpler(self) -> Iterable[StepTable]:
        """Return tables with a row or a token less, or with a rounder row."""
        for place in range(len(self.rows)):
            yield replace(self, rows=self.rows[:place] + self.rows[place + 1 :])
        if self.dtype != "float64":
            yield replace(self, dtype="float64")
        if self.vocabulary > 1:
            yield self._without_last_token()
        for place, (tokens, row) in enumerate(self.rows):
            for rounder in _rounder(row):
                yield replace(self, rows=(*self.rows[:place], (tokens, rounder), *self.rows[place + 1 :]))
        for rounder in _rounder(self.other):
            yield replace(self, other=rounder)

    def _without_last_token(self) -> StepTable:
        last = self.vocabulary - 1
        rows = tuple((tokens, _cut(row)) for tokens, row in self.rows if last not in tokens)
        return replace(self, rows=rows, other=_cut(self.other))


def _cut(row: tuple[float, ...]) -> tuple[float, ...]:
    # the first token gets the chance of the last, so that the row still sums to 1
    return (row[0] + row[-1], *row[1:-1])


def _rounder(row: tuple[float, ...]) -> Iterable[tuple[float, ...]]:
    # one certain token is easiest to read, then halves and quarters
    size = len(row)
    for place in range(size):
        yield tuple(1.0 if token == place else 0.0 for token in range(size))
    order = sorted(range(size), key=lambda token: -row[token])
    for first in (0.5, 0.75):
        for likely, unlikely in ((order[0], order[1]), (order[1], order[0])) if size > 1 else ():
            yield tuple(
                first if token == likely else 1 - first if token == unlikely else 0.0 for token in range(size)
            )
