"""What the site sends beside its pages: style sheet, script and icon; nothing comes from elsewhere."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from engine.pages.render import style_sheet

ASSETS = {"site.css": "text/css", "site.js": "text/javascript", "icon.svg": "image/svg+xml"}


@cache
def asset(name: str) -> bytes:
    """Return the bytes of one of `ASSETS`; the style sheet begins with that of all our pages."""
    content = (files("engine.web") / "static" / name).read_bytes()
    return style_sheet().encode() + content if name == "site.css" else content


@cache
def asset_digest(name: str) -> str:
    """Return what tells one state of a file from the next."""
    return hashlib.sha256(asset(name)).hexdigest()[:12]
