"""What is drawn for a variant: the random stream of a seed, and a function for each kind of parameter.

The stream is PCG64's raw integers and our own arithmetic on them. NumPy promises the raw integers of a bit
generator across releases, and doesn't promise those of ``Generator``'s methods; so bounded integers, choices
and shuffles are made here. Known values are pinned in ``tests/unit/draws/test_stream.py``: a variant that a
student was given yesterday must be the same tomorrow.

Parameters are drawn as decimal strings, never as binary floats: what a student reads (``0.1``) is then
exactly what the key is computed from. A new kind is a function here and one line in ``_KINDS``.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from engine.model import DrawnValue
from engine.text.words import count_noun

if TYPE_CHECKING:
    import numpy as np

    from engine.items import (
        ChoiceParameter,
        DecimalParameter,
        FixedParameter,
        IntegerParameter,
        MatrixParameter,
        ProbabilityTreeParameter,
        VectorParameter,
        WeightsParameter,
    )

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
                import numpy as np  # a tenth of a second, and marking an answer draws nothing

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


# Where entries must differ, so many draws of all of them before another try of the whole item is asked for.
TRIES = 200


class RedrawNeeded(Exception):  # noqa: N818 - a signal to the retry loop, never shown
    """This try failed; the text says at what."""


class ImpossibleDraw(Exception):  # noqa: N818 - turned into a DrawError by the retry loop
    """No try can succeed; the text says why."""


def decimal_text(value: Decimal) -> str:
    """Return a decimal in plain notation, zero without a sign."""
    # Decimal keeps the sign of a zero, and "-0" would puzzle whoever reads it.
    return format(abs(value) if value == 0 else value, "f")


# A class draws from the same few ranges again and again; building a grid costs more than drawing from it.
@lru_cache(maxsize=512)
def grid(low: Decimal, high: Decimal, step: Decimal, exclude: tuple[Decimal, ...]) -> tuple[str, ...]:
    """Return ``low``, ``low + step`` … up to ``high`` as texts, without the excluded values.

    Raises
    ------
    ImpossibleDraw
        Nothing is left, or the grid has over 100,000 values.
    """
    from engine.items.field_types import MAX_VALUES

    if (high - low) / step >= MAX_VALUES:
        raise ImpossibleDraw(f"the range {low} … {high} has over {MAX_VALUES} steps of {step}")
    count = int((high - low) // step) + 1 if high >= low else 0
    values = tuple(decimal_text(v) for k in range(count) if (v := low + k * step) not in exclude)
    if not values:
        raise ImpossibleDraw(f"the range {low} … {high} in steps of {step} leaves no value to draw")
    return values


def size_of(size: int | str, names: Mapping[str, Any]) -> int:
    """Return a size that is a number or an expression over earlier parameters.

    Raises
    ------
    ImpossibleDraw
        It isn't a whole number from 1 to 16.
    engine.errors.ExpressionError
        The expression can't be evaluated.
    """
    if isinstance(size, str):
        from engine.expressions.language import evaluate_number

        value = evaluate_number(size, names)
    else:
        value = size
    from engine.items.field_types import MAX_SIZE

    if value != int(value) or not 1 <= value <= MAX_SIZE:
        raise ImpossibleDraw(f"the size {size} is {value:g}, but must be a whole number from 1 to {MAX_SIZE}")
    return int(value)


def composition(total: int, parts: int, stream: RandomStream, distinct: bool) -> Sequence[int]:
    """Return `parts` positive integers that sum to `total`, each such list equally likely.

    Raises
    ------
    ImpossibleDraw
        There is none.
    RedrawNeeded
        With `distinct`, the bounded tries gave none without a repetition.
    """
    least = parts * (parts + 1) // 2 if distinct else parts  # 1 + 2 + … + parts
    if total < least:
        kind = "different positive" if distinct else "positive"
        raise ImpossibleDraw(
            f"{count_noun(total, 'step')} can't be split into {count_noun(parts, f'{kind} part')}"
        )
    for _ in range(TRIES):
        # Cuts at different places of a line of `total` steps: every composition is equally likely.
        cuts = sorted(stream.sample(range(1, total), parts - 1))
        sizes = [b - a for a, b in itertools.pairwise([0, *cuts, total])]
        if not distinct or len(set(sizes)) == parts:
            return sizes
    raise RedrawNeeded(f"no {count_noun(parts, 'different part')} of {count_noun(total, 'step')}")


def draw_choice(spec: ChoiceParameter, stream: RandomStream, names: Mapping[str, Any]) -> DrawnValue:
    """Draw one entry of the list, each equally likely."""
    chosen = stream.choice(spec.options)
    if isinstance(chosen, Decimal):
        return DrawnValue((), (decimal_text(chosen),))
    return DrawnValue((), (chosen,), text=True)


def draw_fixed(spec: FixedParameter, stream: RandomStream, names: Mapping[str, Any]) -> DrawnValue:
    """Return the value as it is written: a number, a word, or nested lists of numbers."""
    if isinstance(spec.value, str) and not _is_number(spec.value):
        return DrawnValue((), (spec.value,), text=True)
    shape, entries = _flatten(spec.value)
    return DrawnValue(shape, tuple(entries))


def _is_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def _flatten(value: Any) -> tuple[tuple[int, ...], list[str]]:
    if not isinstance(value, list | tuple):
        if isinstance(value, bool) or not _is_number(str(value)):
            raise ImpossibleDraw(f"a fixed value holds {str(value)[:40]!r}, which isn't a number")
        return (), [decimal_text(Decimal(str(value)))]
    rows = [_flatten(entry) for entry in value]
    shapes = {shape for shape, _ in rows}
    if len(shapes) != 1:
        raise ImpossibleDraw("a fixed value has no entries, or rows of different lengths")
    return (len(rows), *shapes.pop()), [entry for _, entries in rows for entry in entries]


def draw_integer(spec: IntegerParameter, stream: RandomStream, names: Mapping[str, Any]) -> DrawnValue:
    """Draw a whole number, both bounds included."""
    low, high = map(Decimal, spec.range)
    return DrawnValue((), (stream.choice(grid(low, high, Decimal(1), tuple(map(Decimal, spec.exclude)))),))


def steps_of_one(step: Decimal) -> int:
    """Return how many steps make 1.

    Raises
    ------
    ImpossibleDraw
        1 isn't a multiple of the step.
    """
    # 0.3 has no multiple at 1, so no weights in steps of it sum to 1.
    if step > 1 or Decimal(1) % step != 0:
        raise ImpossibleDraw(f"1 isn't a multiple of the step {step}")
    return int(1 / step)


def draw_weights(spec: WeightsParameter, stream: RandomStream, names: Mapping[str, Any]) -> DrawnValue:
    """Draw positive multiples of the step that sum to 1, each such list equally likely."""
    size = size_of(spec.size, names)
    parts = composition(steps_of_one(spec.step), size, stream, spec.distinct)
    return DrawnValue((size,), tuple(decimal_text(part * spec.step) for part in parts))


def draw_probability_tree(
    spec: ProbabilityTreeParameter, stream: RandomStream, names: Mapping[str, Any]
) -> DrawnValue:
    """Draw the rows in the order of the prefixes (), (0), (1) … (0,0), (0,1) …

    Each row holds positive multiples of the step, no two equal, that sum to 1.
    """
    words, steps = spec.vocabulary, steps_of_one(spec.step)
    rows = sum(words**length for length in range(spec.depth))
    entries = [
        decimal_text(part * spec.step)
        for _ in range(rows)
        for part in composition(steps, words, stream, distinct=True)
    ]
    return DrawnValue((rows, words), tuple(entries))


def draw_vector(spec: VectorParameter, stream: RandomStream, names: Mapping[str, Any]) -> DrawnValue:
    """Draw the entries; with ``distinct`` no two are equal."""
    size = size_of(spec.size, names)
    values = grid(*spec.range, spec.step, spec.exclude)
    if not spec.distinct:
        return DrawnValue((size,), tuple(stream.choice(values) for _ in range(size)))
    if size > len(values):
        raise ImpossibleDraw(
            f"{count_noun(size, 'distinct entry')}, but only "
            f"{count_noun(len(values), 'value')} to choose from"
        )
    return DrawnValue((size,), tuple(stream.sample(values, size)))


def draw_matrix(spec: MatrixParameter, stream: RandomStream, names: Mapping[str, Any]) -> DrawnValue:
    """Draw rows x columns entries; with ``distinct_rows`` no two rows are equal."""
    rows, columns = (size_of(size, names) for size in spec.shape)
    values = grid(*spec.range, spec.step, spec.exclude)
    if spec.distinct_rows and len(values) ** columns < rows:
        raise ImpossibleDraw(
            f"{count_noun(rows, 'distinct row')}, but only {count_noun(len(values) ** columns, 'row')} "
            "to choose from"
        )
    for _ in range(TRIES):
        matrix = [tuple(stream.choice(values) for _ in range(columns)) for _ in range(rows)]
        if not spec.distinct_rows or len(set(matrix)) == rows:
            return DrawnValue((rows, columns), tuple(entry for row in matrix for entry in row))
    raise RedrawNeeded(f"no {count_noun(rows, 'distinct row')}")


def draw_decimal(spec: DecimalParameter, stream: RandomStream, names: Mapping[str, Any]) -> DrawnValue:
    """Draw one value of the grid, both bounds included."""
    return DrawnValue((), (stream.choice(grid(*spec.range, spec.step, spec.exclude)),))


_KINDS: dict[str, Callable[[Any, RandomStream, Mapping[str, Any]], DrawnValue]] = {
    "fixed": draw_fixed,
    "integer": draw_integer,
    "decimal": draw_decimal,
    "choice": draw_choice,
    "vector": draw_vector,
    "matrix": draw_matrix,
    "weights": draw_weights,
    "probability_tree": draw_probability_tree,
}


def draw_parameter(spec: Any, stream: RandomStream, names: Mapping[str, Any]) -> DrawnValue:
    """Draw one parameter.

    Parameters
    ----------
    spec : one of :data:`engine.items.field_types.ParameterSpec`
    stream : RandomStream
    names : mapping of str to value
        The parameters before it, which sizes may use.

    Raises
    ------
    RedrawNeeded
        This try failed (say, no distinct rows); another may succeed.
    ImpossibleDraw
        No try can succeed: the range is empty, or the size isn't a whole number from 1 to 16.
    """
    return _KINDS[spec.kind](spec, stream, names)
