"""Pictures in texts: one file per kind, each drawn as SVG, in characters and in LaTeX.

A template function (``heatmap(A, rows, columns)``) puts a picture into the Markdown as a fenced block of
JSON; :mod:`engine.variants.prose` takes the block out again and asks :func:`drawn` for its three forms.
So the Markdown around a picture is parsed once for all variants, and no word of it is ever markup.
"""

from __future__ import annotations

from engine.variants.pictures import alignment_grid, beam_tree, heatmap
from engine.variants.pictures.registry import (
    FENCE,
    PICTURE_FUNCTIONS,
    PICTURES,
    Picture,
    PictureFault,
    drawn,
)

__all__ = ["FENCE", "PICTURES", "PICTURE_FUNCTIONS", "Picture", "PictureFault", "drawn"]

_KINDS = (heatmap, alignment_grid, beam_tree)
