"""The pages: an index, and for each pair one with both files side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine import __version__
from engine.errors import StoreError
from engine.files import replace_text
from engine.report.pages import render
from engine.similar.findings import Findings, Found, odds
from engine.similar.groups import CLOSE_SHARE, CLOSE_SURPRISE
from engine.similar.labels import Labels
from engine.similar.side import COLOURS, Detail, ranges
from engine.similar.tables import answers_csv, pairs_csv
from engine.similar.winnow import GRAM
from engine.similar.work import Pair

__all__ = ["write_pages"]

_PACKAGE = "engine.similar"


@dataclass(frozen=True, slots=True)
class _Row:
    """One pair as the index has it."""

    page: str
    first: str
    second: str
    pair: Pair
    longest: int
    is_close: bool


@dataclass(frozen=True, slots=True)
class _Sheet:
    """One page to write."""

    row: _Row
    found: Found
    detail: Detail


@dataclass(frozen=True, slots=True)
class _Exercise:
    """One exercise with the pages of its pairs."""

    found: Found
    pairs: list[_Sheet]
    by_wording: list[_Sheet]


def write_pages(out: Path, findings: Findings, labels: Labels, *, title: str) -> Path:
    """Write ``index.html``, ``pairs/*.html``, ``similar.csv`` and ``answers.csv``; return the index.

    Pages of an earlier run that this one doesn't have are removed: a pair that isn't listed any more must
    not be found there.

    Raises
    ------
    StoreError
        The folder can't be written.
    """
    exercises = [
        _Exercise(
            found,
            _sheets(found, f"{number:02}-structure", found.pairs, labels),
            _sheets(found, f"{number:02}-wording", found.by_wording, labels),
        )
        for number, found in enumerate(findings.exercises, start=1)
    ]
    index = out / "index.html"
    try:
        (out / "pairs").mkdir(parents=True, exist_ok=True)
        written = set()
        for sheet in (sheet for e in exercises for sheet in (*e.pairs, *e.by_wording)):
            replace_text(out / sheet.row.page, _pair_page(sheet, labels))
            written.add(out / sheet.row.page)
        for old in set((out / "pairs").glob("[0-9][0-9]-*-[0-9][0-9][0-9].html")) - written:
            old.unlink()
        replace_text(out / "similar.csv", pairs_csv(findings.exercises, labels))
        replace_text(out / "answers.csv", answers_csv(findings, labels))
        replace_text(index, _index_page(findings, exercises, labels, title))
    except OSError as error:
        raise StoreError(
            "the pages can't be written",
            where=str(error.filename or out),
            got=error.strerror or str(error),
            next_step="make room or choose another folder",
        ) from error
    return index


def _sheets(found: Found, prefix: str, details: Sequence[Detail], labels: Labels) -> list[_Sheet]:
    """Return the pages of some pairs; their names tell nobody's name."""
    return [
        _Sheet(
            _Row(
                f"pairs/{prefix}-{rank:03}.html",
                labels.of(entry.pair.first),
                labels.of(entry.pair.second),
                entry.pair,
                entry.longest,
                found.is_close(entry),
            ),
            found,
            entry,
        )
        for rank, entry in enumerate(details, start=1)
    ]


def _pair_page(sheet: _Sheet, labels: Labels) -> str:
    pair = sheet.detail.pair
    return render(
        "pair.html.j2",
        package=_PACKAGE,
        item=sheet.found.comparison.item,
        comparison=sheet.found.comparison,
        known=sheet.found.known,
        pair=pair,
        detail=sheet.detail,
        first=sheet.row.first,
        second=sheet.row.second,
        file_first=labels.filename(pair.first),
        file_second=labels.filename(pair.second),
        hidden=labels.is_hidden,
        colours=COLOURS,
        ranges=ranges,
    )


def _index_page(findings: Findings, exercises: Sequence[_Exercise], labels: Labels, title: str) -> str:
    parts = [
        {
            "comparison": exercise.found.comparison,
            "known": exercise.found.known,
            "rows": [sheet.row for sheet in exercise.pairs],
            "by_wording": [sheet.row for sheet in exercise.by_wording],
            "groups": [[labels.of(work) for work in group] for group in exercise.found.comparison.groups],
        }
        for exercise in exercises
    ]
    crossed = [
        {
            "who": labels.student(crossing.who),
            "whose": labels.student(crossing.whose),
            "crossing": crossing,
            "expected": f"{crossing.expected:.2g}",
        }
        for crossing in (findings.crossings.found if findings.crossings else ())
    ]
    return render(
        "index.html.j2",
        package=_PACKAGE,
        title=title,
        engine_version=__version__,
        downloads=["similar.csv", *(["answers.csv"] if findings.crossings else [])],
        parts=parts,
        crossings=findings.crossings,
        crossed=crossed,
        problems=findings.problems,
        hidden=labels.is_hidden,
        odds=odds,
        gram=GRAM,
        close_share=CLOSE_SHARE,
        close_surprise=CLOSE_SURPRISE,
    )
