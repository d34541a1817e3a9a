"""The page: a look at an item as HTML, with the style of our other pages."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from engine import __version__
from engine.authoring.preview.look import Look
from engine.lint import Severity
from engine.report.pages import render, style_sheet

__all__ = ["page_of", "script", "style"]

_PACKAGE = "engine.authoring.preview"


def page_of(look: Look, number: str, path: Path) -> str:
    """Return the page.

    Parameters
    ----------
    look : Look
    number : str
        Tells this page from the one before; open pages compare it.
    path : Path
        The file, as the person gave it.
    """
    findings = look.findings
    spec = look.spec
    return render(
        "preview.html.j2",
        package=_PACKAGE,
        number=number,
        file=str(path),
        title=spec.title if spec else path.name,
        at=look.at.strftime("%H:%M:%S"),
        spec=spec,
        kind=spec.kind.replace("_", " ") if spec else "",
        cards=look.cards,
        faults=look.faults,
        missing=look.missing,
        is_old=look.is_old,
        starter=look.starter or "",
        findings=findings,
        errors=sum(finding.severity is Severity.ERROR for finding in findings or ()),
        engine_version=__version__,
    )


@cache
def style() -> str:
    """Return the style sheet: that of all our pages, and what only this one needs."""
    return style_sheet() + _file("preview.css")


@cache
def script() -> str:
    """Return the script of the page."""
    return _file("preview.js")


def _file(name: str) -> str:
    return (files(_PACKAGE) / "templates" / name).read_text(encoding="utf-8")
