"""The tree of a beam search: every hypothesis, kept or pruned, with its probabilities.

The SVG grows to the right: boxes for hypotheses, lines for words. Which hypotheses were kept is the verdict
of the reference, so that a picture can't disagree with the key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Self

from engine.expressions.values import as_float, as_tensor, decimal_text
from engine.prose.figures import TemplateFigure, figure_of, plain_value
from engine.prose.pictures.registry import (
    INDENT,
    WIDEST_LINE,
    PictureFault,
    StemPicture,
    checked_places,
    checked_words,
    columns_of,
    figure,
    latex_table,
    padded,
    picture,
    units,
    words_of,
)
from engine.text.words import agree, count_noun, escape_latex

# units of an SVG: two lines of text at 14, and as much more as keeps the boxes apart
_BOX_HEIGHT = 38
_ROW = 46
_START = "start"


def _tree_figure(hypotheses: Sequence[TreeHypothesis], alt_text: str, caption: str) -> str:
    box = max(units([f"✓ {h.words[-1]}" for h in hypotheses]), units([h.total for h in hypotheses])) + 12
    line = units([h.step for h in hypotheses]) + 22
    start = units([_START]) + 8
    heights = _heights(hypotheses)
    depth = max(len(h.words) for h in hypotheses)
    parts = [f'<text x="{start / 2:g}" y="{heights[()] + 5:g}">{_START}</text>']
    for hypothesis in hypotheses:
        left = start + (len(hypothesis.words) - 1) * (box + line) + line
        is_result = hypothesis.rank == 1 and len(hypothesis.words) == depth
        parts.append(_group(hypothesis, is_result, left, box, line, heights))
    width = start + depth * (box + line) + 2
    return figure(width, max(heights.values()) + _ROW / 2, alt_text, caption, "".join(parts))


def _heights(hypotheses: Sequence[TreeHypothesis]) -> dict[tuple[str, ...], float]:
    """Return the middle of each box: ends one below the other, the rest beside what continues it."""
    children: dict[tuple[str, ...], list[tuple[str, ...]]] = {(): []}
    for hypothesis in hypotheses:
        children[hypothesis.words] = []
        children[hypothesis.words[:-1]].append(hypothesis.words)
    heights: dict[tuple[str, ...], float] = {}
    ends = 0
    # they come in depth-first order, so that ends are met in the order in which they are drawn
    for hypothesis in hypotheses:
        if not children[hypothesis.words]:
            heights[hypothesis.words] = ends * _ROW + _ROW / 2
            ends += 1
    for words in reversed(children):
        if children[words]:
            beside = [heights[child] for child in children[words]]
            heights[words] = (beside[0] + beside[-1]) / 2
    return heights


def _group(
    hypothesis: TreeHypothesis,
    is_result: bool,
    left: float,
    box: float,
    line: float,
    heights: dict[tuple[str, ...], float],
) -> str:
    """Return the line to a box, the box, and what is written on them."""
    y, start = heights[hypothesis.words], heights[hypothesis.words[:-1]]
    # thickness and dashes, so that nothing depends on colour
    kept_stroke = 'stroke-width="2"' if hypothesis.rank else 'stroke-dasharray="4 3"'
    stroke = 'stroke-width="4"' if is_result else kept_stroke
    middle = left + box / 2
    mark = "✓" if hypothesis.rank else "✗"
    return (
        f"<g><title>{escape(hypothesis.summary(': '))}</title>"
        f'<g fill="none" stroke="currentColor" {stroke}>'
        f'<path d="M{left - line:g} {start:g}h8V{y:g}H{left:g}"/>'
        f'<rect x="{left:g}" y="{y - _BOX_HEIGHT / 2:g}" width="{box:g}" height="{_BOX_HEIGHT}" rx="4"/></g>'
        f'<text x="{left - 4:g}" y="{y - 5:g}" text-anchor="end">{escape(hypothesis.step)}</text>'
        f'<text x="{middle:g}" y="{y - 3:g}">{mark} {escape(hypothesis.words[-1])}</text>'
        f'<text x="{middle:g}" y="{y + 13:g}">{escape(hypothesis.total)}</text></g>'
    )


_LETTERS = "A B C D E F G H"
# enough for a beam of 4 over 5 words and 3 steps; a larger tree can't be read as a picture
_MOST_HYPOTHESES = 64
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
_NUMBERS_WIDTH = 40
"""Room in a line for all that is beside a hypothesis."""
_HEADS = ("hypothesis", "step", "in all")


@dataclass(frozen=True, slots=True)
class TreeHypothesis:
    """One hypothesis of a search.

    Parameters
    ----------
    words : tuple of str
    step : str
        Probability of its last word, as printed.
    total : str
        Probability of all its words, as printed.
    rank : int
        Its place among those that its step kept, from 1; 0 if it was pruned.
    """

    words: tuple[str, ...]
    step: str
    total: str
    rank: int

    def __post_init__(self) -> None:
        checked_words(self.words)
        if not self.words or not all(_NUMBER.fullmatch(text) for text in (self.step, self.total)):
            raise TypeError("a hypothesis has words and probabilities")
        if isinstance(self.rank, bool) or not isinstance(self.rank, int) or self.rank < 0:
            raise TypeError("a rank is a whole number")

    def fate(self) -> str:
        """Return ``kept as number 1``, or ``pruned``."""
        return f"kept as number {self.rank}" if self.rank else "pruned"

    def summary(self, separator: str) -> str:
        """Return its words, its probabilities and its fate, for who can't see the picture."""
        return f"{' '.join(self.words)}{separator}{self.step}, in all {self.total}, {self.fate()}"


@dataclass(frozen=True, slots=True)
class BeamTree(StemPicture):
    """All hypotheses of a search, each before those that continue it."""

    width: int
    hypotheses: tuple[TreeHypothesis, ...]

    def __post_init__(self) -> None:
        if isinstance(self.width, bool) or not isinstance(self.width, int) or self.width < 1:
            raise TypeError("a beam width is a whole number from 1")
        if not 1 <= len(self.hypotheses) <= _MOST_HYPOTHESES:
            raise PictureFault(
                f"a beam tree shows 1 to {_MOST_HYPOTHESES} hypotheses, got {len(self.hypotheses)}"
            )
        above: set[tuple[str, ...]] = {()}
        for hypothesis in self.hypotheses:
            if hypothesis.words[:-1] not in above or hypothesis.words in above:
                raise TypeError("a hypothesis comes after the one that it continues, and once")
            above.add(hypothesis.words)

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """Return the picture of some JSON data."""
        rows = ((tuple(words), *rest) for words, *rest in data["hypotheses"])
        return cls(data["width"], tuple(TreeHypothesis(*row) for row in rows))

    def data(self) -> dict[str, Any]:
        """Return the picture as JSON data."""
        return {
            "width": self.width,
            "hypotheses": [(h.words, h.step, h.total, h.rank) for h in self.hypotheses],
        }

    def _depth(self) -> int:
        return max(len(hypothesis.words) for hypothesis in self.hypotheses)

    def _title(self) -> str:
        return f"Beam search with {count_noun(self.width, 'hypothesis')}"

    def alt_text(self) -> str:
        """Return the alternative text: step by step, every hypothesis with its probabilities."""
        sentences = [f"{self._title()}."]
        for step in range(1, self._depth() + 1):
            parts = (h.summary(", ") for h in self.hypotheses if len(h.words) == step)
            sentences.append(f"Step {step}: {'; '.join(parts)}.")
        return " ".join(sentences)

    def plain(self) -> str:
        """Return it as a table whose first column is indented by step."""
        names = ["  " * (len(h.words) - 1) + " ".join(h.words) for h in self.hypotheses]
        if max(map(columns_of, names)) > WIDEST_LINE - _NUMBERS_WIDTH:
            names = ["  " * (len(h.words) - 1) + h.words[-1] for h in self.hypotheses]
        rows = [_HEADS, *((name, h.step, h.total) for name, h in zip(names, self.hypotheses, strict=True))]
        widths = [max(columns_of(row[i]) for row in rows) for i in range(len(_HEADS))]
        fates = ["", *(h.fate() for h in self.hypotheses)]
        lines = [
            "  ".join([padded(row[0], widths[0]), *map(str.rjust, row[1:], widths[1:]), fate]).rstrip()
            for row, fate in zip(rows, fates, strict=True)
        ]
        return f"{self._title()}:\n\n" + "\n".join(INDENT + line for line in lines)

    def html(self) -> str:
        """Return it as a figure."""
        caption = (
            f"{self._title()}. On a line: the probability of the word there; in a box: that of the whole "
            "hypothesis. Solid frames (✓) were kept, dashed ones (✗) pruned; the thickest is the result."
        )
        return _tree_figure(self.hypotheses, self.alt_text(), caption)

    def latex(self) -> str:
        """Return it as a ``tabular`` whose first column is indented by step."""
        return latex_table("lrrl", self._latex_lines(), f"{self._title()}.")

    def _latex_lines(self) -> Iterator[str]:
        yield " & ".join((*_HEADS, "")) + r" \\"
        yield r"\hline"
        for h in self.hypotheses:
            name = escape_latex(" ".join(h.words))
            indent = rf"\hspace*{{{len(h.words) - 1}em}}"
            yield rf"{indent}{name} & {h.step} & {h.total} & {h.fate()} \\"


@picture(BeamTree)
def beam_tree(T: Any, b: Any, vocabulary: str = "", places: int = 4) -> StemPicture:
    """Return a picture of a beam search of width b on a `probability_tree`.

    It shows every hypothesis, kept or pruned, with the probability of its last word and of all its words.
    """
    table = figure_of(T)
    if not isinstance(table, TemplateFigure) or len(table.shape) != 2:
        raise PictureFault("a beam tree needs a table of probabilities, one row for each prefix")
    count, size = table.shape
    if not vocabulary and size > len(_LETTERS.split()):
        raise PictureFault(f'the table has {count_noun(size, "word")}; name them: beam_tree(T, b, "…")')
    words = words_of(vocabulary or " ".join(_LETTERS.split()[:size]), size, "vocabulary")
    if len(set(words)) != size:
        raise PictureFault(f"a word appears twice in the vocabulary {' '.join(words)}")
    width = as_float(plain_value(b))
    if width != int(width) or width < 1:
        raise PictureFault(f"a beam width is a whole number from 1, got {width:g}")
    depth = _depth_of(count, size)
    return BeamTree(int(width), tuple(_searched(table, int(width), depth, words, checked_places(places))))


def _depth_of(count: int, size: int) -> int:
    rows = depth = 0
    while rows < count:
        rows += size**depth
        depth += 1
    if rows != count or size < 2:
        raise PictureFault(
            f"{count_noun(count, 'row')} of {count_noun(size, 'word')} {agree(count, 'are')} no full "
            "tree of prefixes"
        )
    return depth


def _searched(
    table: TemplateFigure, width: int, depth: int, words: tuple[str, ...], places: int
) -> Iterator[TreeHypothesis]:
    """Yield every hypothesis, each before those that continue it."""
    import reference

    numbers = as_tensor(table.value).tolist()
    # a computed table prints 0.3 for 0.30; numbers of one table get one number of decimals
    digits = max(len(text.partition(".")[2]) for text in table.texts())
    ranks = {
        tuple(hypothesis.tokens): place
        for step in range(1, depth + 1)
        for place, hypothesis in enumerate(
            reference.beam_search(as_tensor(table.value), b=width, max_len=step), 1
        )
    }

    def grown(prefix: tuple[int, ...], total: float) -> Iterator[TreeHypothesis]:
        row = _row_of(prefix, len(words))
        for token, word_probability in enumerate(numbers[row]):
            tokens, product = (*prefix, token), total * word_probability
            rank = ranks.get(tokens, 0)
            yield TreeHypothesis(
                tuple(words[t] for t in tokens),
                decimal_text(word_probability, digits),
                decimal_text(product, places),
                rank,
            )
            if rank and len(tokens) < depth:
                yield from grown(tokens, product)

    return grown((), 1.0)


def _row_of(prefix: tuple[int, ...], size: int) -> int:
    # all shorter prefixes stand before it; among those of its length it is a number in base `size`
    place = 0
    for token in prefix:
        place = place * size + token
    return sum(int(size**length) for length in range(len(prefix))) + place
