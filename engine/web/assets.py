"""What the site sends beside its pages: style sheet, scripts and icon; nothing comes from elsewhere."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from engine.pages.render import style_sheet

# One script a feature, loaded by the pages that have it; page.js is loaded by all.
_SCRIPTS = (
    *("page.js", "live.js", "marking.js", "lti.js", "line_numbers.js", "code.js"),
    *("timer.js", "answers.js", "order_fields.js", "number_fields.js"),
)
ASSETS = {
    "site.css": "text/css",
    "icon.svg": "image/svg+xml",
    **dict.fromkeys(_SCRIPTS, "text/javascript"),
}


@cache
def asset(name: str) -> bytes:
    """Return the bytes of one of `ASSETS`; the style sheet begins with that of all our pages."""
    content = (files("engine.web") / "static" / name).read_bytes()
    return style_sheet().encode() + content if name == "site.css" else content


@cache
def asset_digest(name: str) -> str:
    """Return what tells one state of a file from the next."""
    return hashlib.sha256(asset(name)).hexdigest()[:12]
