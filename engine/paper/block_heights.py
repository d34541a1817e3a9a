"""How high something on a page is at most, without having it typeset.

What belongs together is kept on one page, by blocks that aren't broken. Such a block that is higher than a
page would be cut off, and to have everything measured takes as long as to typeset it twice. So heights are
estimated from above, and only what might be too high is measured.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil

from engine.model import RenderedText

# In points, for text of 11 points on A4: 90 characters in a line, and room between blocks.
_LINE_CHARACTERS = 80
_LINE = 18.0
_OPTION = 10.0
# The text of a letter page in large print is 650 points high. Headings and hints take some of it.
_MOST_ESTIMATED = 470.0
# Where it is measured; two thirds of a page would often be less than a question in large print.
MOST_MEASURED = {False: 470.0, True: 600.0}
_LARGE_SCALE = 18 / 11
# MathML is long: at 1.5 characters of it for one of text, three rows of a matrix count as three lines.
_MARKUP_SHARE = 1.5


def fits_together(
    texts: Iterable[RenderedText], options: Iterable[RenderedText], room: float, *, large: bool
) -> bool:
    """Return whether something is certainly lower than a page.

    Parameters
    ----------
    texts : iterable of RenderedText
        Its paragraphs.
    options : iterable of RenderedText
        Its options, each on a line of its own.
    room : float
        Space for working in mm.
    large : bool
        Whether it is in large print.
    """
    scale = _LARGE_SCALE if large else 1.0
    height = room / 25.4 * 72
    for text, extra in [*((text, 0.0) for text in texts), *((option, _OPTION) for option in options)]:
        # Pictures and tables are higher than their words are long.
        if "<svg" in text.html or "<table" in text.html:
            return False
        size = len(text.html) / _MARKUP_SHARE if "<math" in text.html else len(text.plain)
        lines = ceil(size / (_LINE_CHARACTERS / scale)) + text.plain.count("\n")
        height += (lines * _LINE + extra) * scale
    return height <= _MOST_ESTIMATED
