"""The prose of an item as the :class:`engine.model.RenderedText` that is shown."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from engine.errors import DrawError
from engine.model import RenderedText
from engine.prose.markdown import ProseError, render_prose
from engine.prose.stems import TemplateFault, fill_template, is_template

__all__ = ["formula_text", "render_text"]


def render_text(
    template: str, names: Mapping[str, Any], *, inline: bool = False, where: str = "text"
) -> RenderedText:
    """Return prose as plain text, HTML with MathML, and LaTeX.

    Parameters
    ----------
    template : str
        Markdown with ``$…$`` and ``$$…$$`` maths and jinja2 expressions.
    names : mapping of str to value, DrawnValue or TemplateFigure
        What the template may use.
    inline : bool
        One run of words, without paragraphs.
    where : str
        What is rendered, for the error.

    Raises
    ------
    engine.errors.DrawError
        The template or its maths is faulty.
    """
    try:
        if not is_template(template):
            return _fixed(template, inline)
        return render_prose(fill_template(template, names), inline=inline)
    except (TemplateFault, ProseError) as error:
        raise DrawError(f"the {where} can't be shown: {error}", where=where) from None


# Most options, hints and notes are the same in every variant; 4,096 of them are a large bank.
@lru_cache(maxsize=4096)
def _fixed(source: str, inline: bool) -> RenderedText:
    return render_prose(source, inline=inline)


@lru_cache(maxsize=4096)
def formula_text(source: str) -> RenderedText:
    """Return one formula (LaTeX without dollars) as a text."""
    return render_prose(f"${source}$", inline=True)
