"""Pictures in texts: one file per kind, and every picture as SVG, in characters and in LaTeX.

A template function (``heatmap(A, rows, columns)``) puts a picture into the Markdown as a fenced block of
JSON; :mod:`engine.prose.markdown` takes the block out again and gets its forms from :func:`picture_text`. So
the Markdown around a picture is parsed once for all variants, and no word of it is ever markup.
"""

from __future__ import annotations

from engine.prose.pictures import beam_tree, heatmap
from engine.prose.pictures.registry import (
    FENCE,
    PICTURE_FUNCTIONS,
    PICTURES,
    PictureFault,
    StemPicture,
    picture_text,
)

__all__ = ["FENCE", "PICTURES", "PICTURE_FUNCTIONS", "PictureFault", "StemPicture", "picture_text"]

_KINDS = (heatmap, beam_tree)
