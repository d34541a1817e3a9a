"""Templates → self-contained HTML: no script, no network, every text escaped.

A page travels by mail and learning systems and is opened from a disk years later, so it needs nothing beside
itself; and it shows what students typed, so nothing in it may run.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from datetime import UTC, datetime, tzinfo
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from engine.errors import StoreError
from engine.model import Outcome, RenderedText, Verdict
from engine.text.files import replace_text, write_errors
from engine.text.times import local_text
from engine.text.words import clean, clean_line, count_noun, percent, plain_points, points_text

# Value → (sign, words, style class): a colour never says anything alone, for eyes and printers without it.
OUTCOMES: dict[Outcome, tuple[str, str, str]] = {
    Outcome.RIGHT: ("✓", "right", "right"),
    Outcome.PARTIAL: ("◐", "partly right", "partial"),
    Outcome.WRONG: ("✗", "not right", "wrong"),
    Outcome.FORMAT_ERROR: ("?", "unreadable", "partial"),
    Outcome.UNGRADED: ("…", "not graded yet", "waiting"),
}
VERDICTS: dict[Verdict, tuple[str, str, str]] = {
    Verdict.PASSED: ("✓", "passed", "right"),
    Verdict.FAILED: ("✗", "failed", "wrong"),
    Verdict.SKIPPED: ("–", "skipped", "waiting"),
    Verdict.TIMED_OUT: ("✗", "took too long", "wrong"),
    Verdict.OUT_OF_MEMORY: ("✗", "out of memory", "wrong"),
    Verdict.CRASHED: ("✗", "crashed", "wrong"),
    Verdict.ENGINE_ERROR: ("…", "fault of ours", "waiting"),
    Verdict.WAITING: ("…", "to be marked", "waiting"),
}


def points(score: float | None, maximum: float) -> str:
    """Return ``7.5 of 10 points``; a dash where there is no score."""
    return f"{'–' if score is None else plain_points(score)} of {points_text(maximum)}"


# Whose clocks the page that is being rendered shows times by: macros have no other way to know.
_CLOCKS: ContextVar[tzinfo] = ContextVar("clocks", default=UTC)


def moment(when: datetime) -> Markup:
    """Return a time to the minute by the page's clocks, for people and programs."""
    zone = _CLOCKS.get()
    iso = when.astimezone(zone).isoformat(timespec="seconds")
    words = local_text(when, zone, with_zone=True)
    return Markup('<time datetime="{}">{}</time>').format(iso, words)


# Of one value on a page. Longer ones are output of a program gone wild, and would make the page unusable.
MOST_SHOWN = 20_000
# Possessive: no backtracking, however much text stands behind a tag that isn't closed.
_FORMULA = re.compile("<math(?:(?!</?math).)*+</math>", re.DOTALL)
_WIDE = 20  # characters of a formula, which is never broken: a phone has room for as many


def _finish(value: Any) -> Any:
    # Runs on every expression before it is escaped, so that no template can forget it.
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return clean(value, MOST_SHOWN)


def _verbatim(value: Any) -> Markup:
    # For values of form fields, which come back when the form is sent: escaped, but neither cut nor cleaned.
    # Browsers show them in a box of their own. Only surrogates, which no page can hold, are replaced.
    return escape(str(value).encode("utf-8", "replace").decode("utf-8"))


def _html(text: RenderedText) -> Markup:
    return Markup(text.html)


def _scrolls(text: RenderedText, name: str = "") -> Markup:
    # What a phone may have to scroll sideways must be reachable by keyboard too: it gets a tab stop, and
    # a name where the text alone doesn't say what it is, such as a matrix without a sentence.
    formulas = (re.sub(r"<[^<>]*+>|\s", "", formula) for formula in _FORMULA.findall(text.html))
    is_wide = re.search("<(table|pre)", text.html) or any(len(formula) > _WIDE for formula in formulas)
    group = Markup(' role="group" aria-label="{}"').format(name) if name else ""
    return Markup(' tabindex="0"{}').format(group) if is_wide else Markup()


@cache
def _style(package: str | None = None) -> tuple[Markup, str]:
    """Return the style sheet with a package's own, and its hash for the content security policy.

    The policy allows this one sheet by its hash, so that a style that got into a page does nothing.
    """
    css = (files("engine.pages") / "templates" / "style.css").read_text(encoding="utf-8")
    if package and (more := files(package) / "templates" / "more.css").is_file():
        css += more.read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(css.encode("utf-8")).digest()).decode("ascii")
    return Markup(css), f"'sha256-{digest}'"


def style_sheet() -> str:
    """Return the style sheet of all our pages."""
    return str(_style()[0])


@cache
def _environment(package: str | None) -> Environment:
    # A package's templates come first, so that it may extend or replace ours.
    packages = [package] if package else []
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name, "templates") for name in [*packages, "engine.pages"]]),
        # Whatever a student typed is text. Only RenderedText, which the engine made, passes the html filter.
        autoescape=True,
        finalize=_finish,
        undefined=StrictUndefined,  # a misspelt name is an error, and no empty cell in somebody's page
        trim_blocks=True,
        lstrip_blocks=True,
    )
    css, digest = _style(package)
    environment.globals |= {"style": css, "style_hash": digest, "outcomes": OUTCOMES, "verdicts": VERDICTS}
    environment.filters |= {
        "html": _html,
        "verbatim": _verbatim,
        "scrolls": _scrolls,
        "line": clean_line,
        "number": plain_points,
        "points": points_text,
        "count_noun": count_noun,
        "moment": moment,
        "local_text": local_text,
        "percent": partial(percent, decimals=0),  # a page has room for many figures, not for their decimals
        "whole": "{:.0f}".format,
    }
    environment.globals["points"] = points
    return environment


def render(template: str, *, package: str | None = None, zone: tzinfo = UTC, **values: Any) -> str:
    """Return the page that a template gives.

    Parameters
    ----------
    template : str
    package : str, optional
        Package that has it in a folder ``templates``, if it isn't ours; it may extend ours, and its
        ``more.css`` is added to our style sheet.
    zone : tzinfo
        By whose clocks the ``moment`` filter shows times.
    **values
        What the template shows.

    Notes
    -----
    Strings are cleaned and escaped, but values of form fields only escaped, by the ``verbatim`` filter.
    :class:`engine.model.RenderedText` values are shown by the ``html`` filter, which trusts that form
    because the engine made it, in an element with ``scrolls`` of them.
    """
    token = _CLOCKS.set(zone)
    try:
        return _environment(package).get_template(template).render(**values)
    finally:
        _CLOCKS.reset(token)


def report_errors(folder: Path) -> AbstractContextManager[None]:
    """Raise a :class:`StoreError` that says what to do, where a file of a report can't be written."""
    step = "make room or choose another folder; the grades are in the store"
    return write_errors("the report can't be written", folder, next_step=step, kind=StoreError)


def write_pages(folder: Path, pages: Mapping[str, str]) -> list[Path]:
    """Write the files of a report into one folder, and return their paths.

    Each is replaced in one step: a run that is stopped leaves old or new files, never half ones.

    Parameters
    ----------
    folder : Path
        Made where it isn't there.
    pages : mapping of str to str
        Text by file name, ``/`` between folders; written in this order.

    Raises
    ------
    StoreError
        One of them can't be written.
    """
    paths = [folder / name for name in pages]
    with report_errors(folder):
        for parent in dict.fromkeys([folder, *(path.parent for path in paths)]):
            parent.mkdir(parents=True, exist_ok=True)
        for path, text in zip(paths, pages.values(), strict=True):
            replace_text(path, text)
    return paths
