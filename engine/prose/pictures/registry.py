"""The kinds of pictures, how one travels through a text, and what all of them share.

All ink is ``currentColor``, so that a picture follows the page into dark mode and onto paper, and what a
number means is never shown by colour alone. There is no style attribute, script, id or outside resource:
pages forbid them.
"""

from __future__ import annotations

import json
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from html import escape
from typing import Any, Self

from engine.model import RenderedText
from engine.text.words import agree, count_noun

FENCE = "softmark-picture"
"""The info string of a fenced block that holds a picture."""


class PictureFault(ValueError):  # noqa: N818 - reaches authors as a fault of their template
    """A picture that can't be drawn; the message says why."""


class StemPicture(ABC):
    """One picture: small plain data, checked when it is made, and its three forms."""

    @classmethod
    @abstractmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """Return the picture of some JSON data; faulty data is a KeyError, TypeError or PictureFault."""

    @abstractmethod
    def data(self) -> dict[str, Any]:
        """Return the picture as JSON data."""

    @abstractmethod
    def plain(self) -> str:
        """Return it in characters: a caption, then indented lines, which nothing wraps."""

    @abstractmethod
    def html(self) -> str:
        """Return it as a ``<figure>`` with inline SVG."""

    @abstractmethod
    def latex(self) -> str:
        """Return it in LaTeX that needs no package."""


PICTURES: dict[str, type[StemPicture]] = {}
PICTURE_FUNCTIONS: dict[str, Callable[..., str]] = {}
"""The functions of templates: each returns a fenced block."""


def picture(kind: type[StemPicture]) -> Callable[[Callable[..., StemPicture]], Callable[..., StemPicture]]:
    """Register a kind of picture under the name of the function that templates call for it."""

    def register(call: Callable[..., StemPicture]) -> Callable[..., StemPicture]:
        name = call.__name__

        @wraps(call)
        def fenced(*args: Any, **kwargs: Any) -> str:
            # a backtick in a word would end the block
            data = json.dumps(call(*args, **kwargs).data(), separators=(",", ":")).replace("`", "\\u0060")
            return f"\n\n```{FENCE} {name}\n{data}\n```\n\n"

        PICTURES[name] = kind
        PICTURE_FUNCTIONS[name] = fenced
        return call

    return register


def picture_text(name: str, data: str) -> RenderedText:
    """Return the picture that a fenced block holds.

    Parameters
    ----------
    name : str
        The kind, as the block's info string has it after ``softmark-picture``.
    data : str
        JSON.

    Raises
    ------
    PictureFault
        There is no such kind, or the data isn't what the kind's function writes.
    """
    kind = PICTURES.get(name)
    if kind is None:
        raise PictureFault(f"there is no picture {name[:40]!r}; there are {', '.join(sorted(PICTURES))}")
    try:
        parsed = kind.read(json.loads(data))
    except PictureFault:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise PictureFault(f"this block isn't what {name}(…) writes; call the function instead") from None
    return RenderedText(parsed.plain(), parsed.html(), parsed.latex())


# What all pictures share: checked words, widths, and the figure around an SVG.

# Units of an SVG at its font size of 14: a character, and what a wide one needs more. The typeface is the
# reader's, so that these are those of the widest usual one.
_CHARACTER = 9
_MORE = 4
_WIDE = re.compile("[MWmw@%&]")
# Longer words would make a heading of a column taller than its matrix.
LONGEST_WORD = 20
# An indented line is wrapped by nothing.
INDENT = "    "
# A terminal has 80 columns, of which the frame around a text may take four.
WIDEST_LINE = 76
# A picture that is wider is scrolled on a phone, and not shrunk until its numbers can't be read.
_SHRINKABLE = 520
# As many as a computed value is printed with.
_MOST_PLACES = 6


def words_of(words: Any, count: int, kind: str) -> tuple[str, ...]:
    """Return `count` words of a text with blanks between them; numbers from 1 if it is empty.

    Raises
    ------
    PictureFault
        There are more or fewer words, or one can't be shown.
    """
    if not isinstance(words, str):
        raise PictureFault(f"the {kind} words are one text, separated by spaces")
    headings = tuple(words.split()) or tuple(str(i + 1) for i in range(count))
    if len(headings) != count:
        raise PictureFault(
            f"{count_noun(count, f'{kind} word')} {agree(count, 'are')} needed, got {len(headings)}: "
            f"{' '.join(headings)[:60]}"
        )
    return checked_words(headings)


def checked_words(words: Iterable[Any]) -> tuple[str, ...]:
    """Return words of which each can be shown as it is.

    Raises
    ------
    PictureFault
        One is empty, too long, or holds a character that can't be seen.
    """
    checked = tuple(words)
    for word in checked:
        # control characters, and those that change the direction of what follows
        if not isinstance(word, str) or not word or not word.isprintable():
            raise PictureFault(f"the word {str(word)[:LONGEST_WORD]!a} can't be shown in a picture")
        if columns_of(word) > LONGEST_WORD:
            raise PictureFault(f"the word {word[:LONGEST_WORD]!r}… is longer than {LONGEST_WORD} characters")
    return checked


def checked_places(places: Any) -> int:
    """Return a number of decimal places.

    Raises
    ------
    PictureFault
        It is none, or too large.
    """
    if isinstance(places, bool) or not isinstance(places, int) or not 0 <= places <= _MOST_PLACES:
        raise PictureFault(f"places is a whole number from 0 to {_MOST_PLACES}, got {str(places)[:20]}")
    return places


def columns_of(word: str) -> int:
    """Return how many columns of a terminal a word takes."""
    if word.isascii():
        return len(word)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in word)


def padded(word: str, width: int, *, right: bool = False) -> str:
    """Return a word filled up with blanks to a width in a terminal."""
    blanks = " " * (width - columns_of(word))
    return blanks + word if right else word + blanks


def units(words: Iterable[str]) -> int:
    """Return the units of an SVG that the longest of some words needs, in any usual typeface."""
    return max(columns_of(word) * _CHARACTER + len(_WIDE.findall(word)) * _MORE for word in words)


def minus(number: str) -> str:
    """Return a number with the sign that people read and screen readers speak."""
    return number.replace("-", "−")


def latex_number(number: str) -> str:
    """Return a number in LaTeX, whose hyphen isn't a minus outside formulas."""
    return f"${number}$" if number.startswith("-") else number


def figure(width: float, height: float, alt_text: str, caption: str, body: str) -> str:
    """Return a ``<figure>``: the SVG of `body`, which is spoken as one sentence after the other.

    Parameters
    ----------
    width, height : float
        Size in units, which are pixels where there is room.
    alt_text : str
        The alternative text: it holds every number.
    caption : str
        How to read the picture, shown under it.
    body : str
        Elements of the SVG.
    """
    wide = width > _SHRINKABLE
    # a region that scrolls must be reachable by keyboard
    start = '<figure class="picture wide" tabindex="0">' if wide else '<figure class="picture">'
    return (
        f'{start}<svg role="img" aria-label="{escape(alt_text)}" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" font-size="14" text-anchor="middle" fill="currentColor">'
        f"{body}</svg><figcaption>{escape(caption)}</figcaption></figure>"
    )


def latex_table(columns: str, lines: Iterable[str], caption: str) -> str:
    """Return a ``tabular`` in a paragraph of its own; `caption` is LaTeX."""
    return "\n".join(
        [
            rf"\medskip\noindent\begin{{tabular}}{{{columns}}}",
            *lines,
            r"\end{tabular}",
            "",
            rf"\noindent{{\small {caption}}}\medskip",
        ]
    )
