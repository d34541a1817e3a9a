"""A student's weights beside the right ones, as heatmaps that need no colour and as a table.

Both pictures have one scale and one cell width, so that they can be compared by looking.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from markupsafe import Markup

from engine.answers import kind_of
from engine.answers.asked_precision import NumericSettings
from engine.answers.numeric import NumericType
from engine.errors import ResponseFormatError
from engine.model import ComparedWeights, FloatArray, Part
from engine.prose.pictures.heatmap import MOST, Heatmap, PictureCaptions
from engine.prose.pictures.registry import minus

T = TypeVar("T")

_MOST_PLACES = 6  # decimals: a difference beyond them is one of rounding, which no reader looks for
_LARGE = 1e5  # from here on in powers of ten: weights so large are overflow, whatever their digits
_WRONG = "✗ "


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry in the table of a view: row and column, its value, and the right one where that is shown."""

    row: int
    column: int
    value: str
    right: str | None
    is_wrong: bool


@dataclass(frozen=True, slots=True)
class WeightsView:
    """What a page shows of one array of weights.

    Parameters
    ----------
    call, place : str
        For code: the call, and where in its result the weights are.
    pictures : tuple of Markup
        The student's own; then the right ones, where they may be shown.
    lines : tuple
        The same numbers, entry by entry.
    """

    call: str
    place: str
    pictures: tuple[Markup, ...]
    lines: tuple[_Entry, ...]

    @property
    def has_right(self) -> bool:
        """Whether the right weights are shown."""
        return len(self.pictures) > 1


@dataclass(frozen=True, slots=True)
class _WeightsHeatmap(Heatmap):
    """A heatmap whose entries may be infinite or NaN, with a frame and a sign at what isn't right.

    ``values`` hold `low` where ``texts`` say that there is no finite number; ``texts`` begin with the sign
    where an entry isn't right; ``low``, ``high`` and ``width`` are set from outside, so that two of them are
    drawn alike.
    """

    low: float = 0.0
    high: float = 1.0
    title: str = ""
    wrong: frozenset[tuple[int, int]] = frozenset()
    width: float = 0.0

    def __post_init__(self) -> None:
        """Skip the checks of a heatmap in a problem file: an author had no part in this one."""

    def alt_text(self) -> str:
        """Return every number, row by row."""
        rows = (
            f"Row {i + 1}: "
            + ", ".join(minus(text).removeprefix(_WRONG) + self.note(i, j) for j, text in enumerate(texts))
            + "."
            for i, texts in enumerate(self.texts)
        )
        return f"{self.title}, {len(self.rows)} by {len(self.columns)}. {' '.join(rows)}"

    def captions(self) -> PictureCaptions:
        """Return whose weights they are and how the signs are read; for HTML alone."""
        legend = " Framed, with ✗: not right." if self.wrong else ""
        return PictureCaptions("", f"{self.title}.{legend}", "")

    def cell_width(self) -> float:
        """Return the width set from outside, if that is larger."""
        # With both arguments: a dataclass with slots is another class than the one that super() would find.
        return max(super(_WeightsHeatmap, self).cell_width(), self.width)

    def note(self, i: int, j: int) -> str:
        """Return that an entry isn't right, if it isn't."""
        return " (not right)" if (i, j) in self.wrong else ""

    def svg_mark(self, i: int, j: int, x: float, y: float, width: float) -> str:
        """Return the bar, and the frame around what isn't right."""
        bar = super(_WeightsHeatmap, self).svg_mark(i, j, x, y, width)
        if (i, j) not in self.wrong:
            return bar
        return (
            f'{bar}<rect x="{x + 2:g}" y="{y + 2:g}" width="{width - 4:g}" height="{self.CELL_HEIGHT - 4}" '
            f'fill="none" stroke="currentColor" stroke-width="2"/>'
        )


def code_weights(weights: Sequence[ComparedWeights]) -> list[WeightsView]:
    """Return the views of the weights in a report: of public inputs, so that everything is shown."""
    # Two decimals to begin with, as papers print weights; more where they hide the difference.
    return [_view(w.got, w.right, w.differing, 2, w.call, w.place) for w in weights]


def answered_weights(part: Part, text: str, *, with_key: bool) -> WeightsView | None:
    """Return the view of weights that were typed.

    Parameters
    ----------
    part : Part
    text : str
        As typed.
    with_key : bool
        Whether the right weights are shown as well.

    Returns
    -------
    WeightsView or None
        None where no weights are asked for, or where what was typed can't be read as so many numbers.
    """
    key, kind, settings = part.key, kind_of(part.type), NumericSettings.of(part)
    if key is None or not settings.simplex or not isinstance(kind, NumericType):
        return None
    shape = _rows_and_columns(key.shape)
    # Larger ones can't be shown as a picture: cells would be too narrow for their numbers.
    if not text.strip() or max(shape) > MOST:
        return None
    try:
        entries = kind.parse(text, part)
    except ResponseFormatError:
        return None
    wrong = [i for i, is_right in enumerate(kind.right_entries(part, entries)) if not is_right]
    places = next((place for place in settings.places if place), 2)
    right = FloatArray(shape, key.data) if with_key else None
    return _view(FloatArray(shape, tuple(map(float, entries))), right, wrong, places)


def _rows_and_columns(shape: tuple[int, ...]) -> tuple[int, int]:
    return (shape[0], shape[1]) if len(shape) == 2 else (1, shape[0])


def _view(
    values: FloatArray,
    right: FloatArray | None,
    wrong: Collection[int],
    places: int,
    call: str = "",
    place: str = "",
) -> WeightsView:
    rows, columns = values.shape
    arrays = [values, *([right] if right else [])]
    texts = _texts(arrays, wrong, min(places, _MOST_PLACES))
    finite = [value for array in arrays for value in array.data if math.isfinite(value)]
    # Weights lie between 0 and 1; what doesn't stretches the scale of both pictures.
    low, high = min([0.0, *finite]), max([1.0, *finite])
    pictures = [
        _WeightsHeatmap(
            rows=tuple(str(i + 1) for i in range(rows)),
            columns=tuple(str(j + 1) for j in range(columns)),
            values=_nested([value if math.isfinite(value) else low for value in array.data], columns),
            texts=_nested([_WRONG * (i in marks) + word for i, word in enumerate(words)], columns),
            low=low,
            high=high,
            title=title,
            wrong=frozenset(divmod(i, columns) for i in marks),
        )
        for array, words, title, marks in zip(
            arrays, texts, ("Your weights", "The right weights"), (set(wrong), set()), strict=False
        )
    ]
    width = max(picture.cell_width() for picture in pictures)
    markup = tuple(Markup(replace(picture, width=width).html()) for picture in pictures)
    return WeightsView(call, place, markup, tuple(_entries(texts, columns, set(wrong))))


def _nested(flat: Sequence[T], columns: int) -> tuple[tuple[T, ...], ...]:
    return tuple(tuple(flat[i : i + columns]) for i in range(0, len(flat), columns))


def _entries(texts: Sequence[Sequence[str]], columns: int, wrong: Collection[int]) -> Iterator[_Entry]:
    right = [minus(text) for text in texts[1]] if len(texts) > 1 else None
    for index, text in enumerate(texts[0]):
        row, column = divmod(index, columns)
        yield _Entry(row + 1, column + 1, minus(text), right[index] if right else None, index in wrong)


def _texts(arrays: Sequence[FloatArray], wrong: Collection[int], places: int) -> list[list[str]]:
    """Return the numbers as they are printed, with as many places as it takes to tell wrong from right."""
    while True:
        texts = [[_text(value, places) for value in array.data] for array in arrays]
        # "0.50 isn't right, right is 0.50" would look like a fault of ours.
        same = len(texts) > 1 and any(texts[0][i] == texts[1][i] for i in wrong)
        if not same or places >= _MOST_PLACES:
            return texts
        places += 1


def _text(value: float, places: int) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    text = f"{value:.3g}" if abs(value) >= _LARGE else f"{value:.{places}f}"
    return text.lstrip("-") if float(text) == 0 else text
