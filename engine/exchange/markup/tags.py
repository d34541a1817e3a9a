"""What each HTML tag means for a text of ours."""

from __future__ import annotations

__all__ = [
    "BOLD",
    "CODE",
    "DROPPED",
    "HEADINGS",
    "ITALIC",
    "LISTS",
    "PARAGRAPHS",
    "SCRIPTS",
    "STRUCK",
    "THROUGH",
    "VOID",
]

BOLD = {"b", "strong"}
ITALIC = {"i", "em", "var", "cite", "dfn"}
CODE = {"code", "tt", "kbd", "samp"}
STRUCK = {"s", "strike", "del"}
SCRIPTS = {"sub": "_", "sup": "^"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6", "caption", "legend", "dt", "summary"}
LISTS = {"ul": False, "ol": True, "menu": False}
PARAGRAPHS = {
    "p", "div", "section", "article", "header", "footer", "main", "aside", "nav", "center", "address", "dl",
    "dd", "figure", "figcaption", "details", "fieldset", "form", "hr", "body", "html", "thead", "tbody",
    "tfoot", "colgroup",
}  # fmt: skip
"""What begins and ends a paragraph and is nothing else here."""
THROUGH = {
    "span", "font", "small", "big", "u", "ins", "mark", "label", "nobr", "abbr",
    "acronym", "q", "bdi", "bdo", "wbr", "time", "data", "nolink", "tex", "col", "o:p", "head", "ruby", "rb",
}  # fmt: skip
"""What only changes the look, which isn't kept."""
DROPPED = {
    "script": "a script", "style": "a style sheet", "img": "a picture", "picture": "a picture",
    "svg": "a drawing (SVG)", "canvas": "a drawing", "iframe": "an embedded page", "object": "an object",
    "embed": "an object", "applet": "an applet", "video": "a film", "audio": "a sound",
    "input": "an input field", "button": "a button", "select": "a selection field",
    "textarea": "an input field", "map": "an image map", "title": "a page title",
    "noscript": "a text for browsers without scripts", "template": "a template", "xmp": "a listing",
    "noembed": "a text for old browsers", "noframes": "a text for old browsers", "frameset": "a frame set",
    "math": "a formula in MathML without its LaTeX", "meta": "page data", "link": "a link to a style sheet",
    "base": "page data", "source": "a film or sound", "track": "a film or sound", "area": "an image map",
}  # fmt: skip
"""What goes with all that it holds, and how the report calls it."""
VOID = {"img", "br", "hr", "input", "meta", "link", "base", "source", "track", "area", "embed", "wbr", "col"}
