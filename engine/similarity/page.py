"""Write the pages of a comparison: an index, and a page for each pair with both files side by side.

The same findings go into CSV and JSON files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import __version__
from engine.pages.render import render, report_errors, write_pages
from engine.similarity.compare import CLOSE_SHARE, CLOSE_SURPRISE
from engine.similarity.findings import ExerciseFindings, SimilarityFindings, odds
from engine.similarity.fingerprints import GRAM
from engine.similarity.gather import FileLabels, FilePair, SimilaritySpread
from engine.similarity.passages import COLOURS, PairDetail, ranges
from engine.text.tables import csv_text, text_cell
from engine.text.words import clean_line

NOT_A_VERDICT = (
    "This is evidence to read, not a verdict: two people can find the same solution, or may be allowed to "
    "work together. No mark changes."
)

_PAIR_COLUMNS = (
    "item",
    "list",
    "rank",
    "first",
    "second",
    "of_first",
    "of_second",
    "shared",
    "longest",
    "surprise",
    "wording",
    "stands_out",
)
_ANSWER_COLUMNS = (
    "answered_by",
    "key_of",
    "item",
    "part",
    "answer",
    "key",
    "chance",
    "pair_chance",
    "expected",
)


def pairs_csv(exercises: Iterable[ExerciseFindings], labels: FileLabels) -> str:
    """Return one line for each pair of either list; shares from 0 to 1."""
    rows = []
    for exercise in exercises:
        for kind, details in (("structure", exercise.pairs), ("wording", exercise.by_wording)):
            for rank, entry in enumerate(details, start=1):
                pair = entry.pair
                named = [text_cell(labels.of(work)) for work in (pair.first, pair.second)]
                figures = [
                    round(pair.share_first, 4),
                    round(pair.share_second, 4),
                    pair.shared,
                    entry.longest,
                ]
                bits = [round(pair.surprise, 2), round(pair.wording, 2)]
                out = "yes" if exercise.is_close(entry) else "no"
                rows.append([text_cell(exercise.comparison.item), kind, rank, *named, *figures, *bits, out])
    return csv_text([_PAIR_COLUMNS, *rows], quote_texts=True)


def answers_csv(findings: SimilarityFindings, labels: FileLabels) -> str:
    """Return one line for each wrong answer that is a classmate's key."""
    rows = []
    for match in findings.copied_answers.unlikely if findings.copied_answers else ():
        pair = [text_cell(labels.student(match.who)), text_cell(labels.student(match.whose))]
        for answer in match.answers:
            texts = [text_cell(text) for text in (answer.item, answer.part, answer.answer, answer.key)]
            rows.append([*pair, *texts, answer.chance, match.chance, match.expected])
    return csv_text([_ANSWER_COLUMNS, *rows], quote_texts=True)


def as_json(findings: SimilarityFindings, labels: FileLabels) -> dict[str, Any]:
    """Return the documented object of ``grade similar --json``."""
    copied_answers = findings.copied_answers
    return {
        "note": NOT_A_VERDICT,
        "engine_version": __version__,
        "exercises": [_exercise(exercise, labels) for exercise in findings.exercises],
        "answers": None
        if copied_answers is None
        else {
            "compared": copied_answers.compared,
            "pairs_compared": copied_answers.pairs,
            "explained_by_chance": copied_answers.explained,
            "pairs": [
                {
                    "answered_by": labels.student(match.who),
                    "key_of": labels.student(match.whose),
                    "chance": match.chance,
                    "expected": match.expected,
                    "answers": [
                        {
                            "item": answer.item,
                            "part": answer.part,
                            "answer": clean_line(answer.answer),
                            "key": answer.key,
                            "chance": answer.chance,
                            "holders": answer.holders,
                        }
                        for answer in match.answers
                    ],
                }
                for match in copied_answers.unlikely
            ],
        },
        "not_compared": len(findings.problems),
        "problems": [
            {"where": problem.where, "message": problem.message}
            for problem in (() if labels.is_hidden else findings.problems)  # they name people
        ],
    }


def _exercise(findings: ExerciseFindings, labels: FileLabels) -> dict[str, Any]:
    comparison = findings.comparison
    return {
        "item": comparison.item,
        "files": comparison.files,
        "students": comparison.students,
        "usual": _spread(comparison.spread),
        "independent": None if findings.known is None else _spread(findings.known),
        "pairs": [_pair(entry, findings, labels) for entry in findings.pairs],
        "by_wording": [_pair(entry, findings, labels) for entry in findings.by_wording],
        "groups": [[labels.of(work) for work in group] for group in comparison.groups],
        "identical": [[labels.of(work) for work in group] for group in comparison.identical],
    }


def _spread(spread: SimilaritySpread) -> dict[str, float | int]:
    return {
        "pairs": spread.pairs,
        "half": round(spread.half, 4),
        "most": round(spread.most, 4),
        "highest": round(spread.highest, 4),
    }


def _pair(entry: PairDetail, findings: ExerciseFindings, labels: FileLabels) -> dict[str, Any]:
    pair = entry.pair
    return {
        "first": labels.of(pair.first),
        "second": labels.of(pair.second),
        "files": [labels.filename(pair.first), labels.filename(pair.second)],
        "of_first": round(pair.share_first, 4),
        "of_second": round(pair.share_second, 4),
        "shared": pair.shared,
        "longest": entry.longest,
        "surprise": round(pair.surprise, 2),
        "wording": round(pair.wording, 2),
        "stands_out": findings.is_close(entry),
        "passages": [
            {
                "first": ranges(passage.first),
                "second": ranges(passage.second),
                "tokens": passage.tokens,
                "names": {clean_line(a): clean_line(b) for a, b in passage.names.items()},
            }
            for passage in entry.passages
        ],
    }


_PACKAGE = "engine.similarity"


@dataclass(frozen=True, slots=True)
class _Row:
    page: str
    first: str
    second: str
    pair: FilePair
    longest: int
    is_close: bool


@dataclass(frozen=True, slots=True)
class _ComparisonPage:
    row: _Row
    findings: ExerciseFindings
    detail: PairDetail


@dataclass(frozen=True, slots=True)
class _Exercise:
    findings: ExerciseFindings
    pairs: list[_ComparisonPage]
    by_wording: list[_ComparisonPage]


def write_similarity_pages(
    out: Path, findings: SimilarityFindings, labels: FileLabels, *, title: str
) -> Path:
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
            exercise_findings,
            _sheets(exercise_findings, f"{number:02}-structure", exercise_findings.pairs, labels),
            _sheets(exercise_findings, f"{number:02}-wording", exercise_findings.by_wording, labels),
        )
        for number, exercise_findings in enumerate(findings.exercises, start=1)
    ]
    texts = {
        sheet.row.page: _pair_page(sheet, labels)
        for exercise in exercises
        for sheet in (*exercise.pairs, *exercise.by_wording)
    }
    # The index comes last: it never names a page that isn't there yet.
    texts["similar.csv"] = pairs_csv(findings.exercises, labels)
    texts["answers.csv"] = answers_csv(findings, labels)
    texts["index.html"] = _index_page(findings, exercises, labels, title)
    *others, index = write_pages(out, texts)
    with report_errors(out):
        for old in set((out / "pairs").glob("[0-9][0-9]-*-[0-9][0-9][0-9].html")) - set(others):
            old.unlink()
    return index


def _sheets(
    findings: ExerciseFindings, prefix: str, details: Sequence[PairDetail], labels: FileLabels
) -> list[_ComparisonPage]:
    # The files are numbered: a link must not give a name away.
    return [
        _ComparisonPage(
            _Row(
                f"pairs/{prefix}-{rank:03}.html",
                labels.of(entry.pair.first),
                labels.of(entry.pair.second),
                entry.pair,
                entry.longest,
                findings.is_close(entry),
            ),
            findings,
            entry,
        )
        for rank, entry in enumerate(details, start=1)
    ]


def _pair_page(sheet: _ComparisonPage, labels: FileLabels) -> str:
    pair = sheet.detail.pair
    return render(
        "pair.html.j2",
        package=_PACKAGE,
        item=sheet.findings.comparison.item,
        comparison=sheet.findings.comparison,
        known=sheet.findings.known,
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


def _index_page(
    findings: SimilarityFindings, exercises: Sequence[_Exercise], labels: FileLabels, title: str
) -> str:
    parts = [
        {
            "comparison": exercise.findings.comparison,
            "known": exercise.findings.known,
            "rows": [sheet.row for sheet in exercise.pairs],
            "by_wording": [sheet.row for sheet in exercise.by_wording],
            "groups": [[labels.of(work) for work in group] for group in exercise.findings.comparison.groups],
        }
        for exercise in exercises
    ]
    matches = [
        {
            "who": labels.student(match.who),
            "whose": labels.student(match.whose),
            "match": match,
            "expected": f"{match.expected:.2g}",
        }
        for match in (findings.copied_answers.unlikely if findings.copied_answers else ())
    ]
    return render(
        "index.html.j2",
        package=_PACKAGE,
        title=title,
        engine_version=__version__,
        downloads=["similar.csv", *(["answers.csv"] if findings.copied_answers else [])],
        parts=parts,
        copied_answers=findings.copied_answers,
        matches=matches,
        problems=findings.problems,
        hidden=labels.is_hidden,
        odds=odds,
        gram=GRAM,
        close_share=CLOSE_SHARE,
        close_surprise=CLOSE_SURPRISE,
    )
