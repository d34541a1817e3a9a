"""What was found as CSV and JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine import __version__
from engine.foreign import clean_line, csv_cell, csv_text
from engine.similar.findings import Findings, Found
from engine.similar.labels import Labels
from engine.similar.side import Detail, ranges
from engine.similar.work import Spread

__all__ = ["NOT_A_VERDICT", "answers_csv", "as_json", "pairs_csv"]

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


def pairs_csv(exercises: Iterable[Found], labels: Labels) -> str:
    """Return one line for each pair of either list; shares from 0 to 1."""
    rows = []
    for found in exercises:
        for kind, details in (("structure", found.pairs), ("wording", found.by_wording)):
            for rank, entry in enumerate(details, start=1):
                pair = entry.pair
                named = [csv_cell(labels.of(work)) for work in (pair.first, pair.second)]
                figures = [
                    round(pair.share_first, 4),
                    round(pair.share_second, 4),
                    pair.shared,
                    entry.longest,
                ]
                bits = [round(pair.surprise, 2), round(pair.wording, 2)]
                out = "yes" if found.is_close(entry) else "no"
                rows.append([csv_cell(found.comparison.item), kind, rank, *named, *figures, *bits, out])
    return csv_text(_PAIR_COLUMNS, rows)


def answers_csv(findings: Findings, labels: Labels) -> str:
    """Return one line for each wrong answer that is a classmate's key."""
    rows = []
    for crossing in findings.crossings.found if findings.crossings else ():
        pair = [csv_cell(labels.student(crossing.who)), csv_cell(labels.student(crossing.whose))]
        for answer in crossing.answers:
            texts = [csv_cell(text) for text in (answer.item, answer.part, answer.answer, answer.key)]
            rows.append([*pair, *texts, answer.chance, crossing.chance, crossing.expected])
    return csv_text(_ANSWER_COLUMNS, rows)


def as_json(findings: Findings, labels: Labels) -> dict[str, Any]:
    """Return the documented object of ``grade similar --json``."""
    crossings = findings.crossings
    return {
        "note": NOT_A_VERDICT,
        "engine_version": __version__,
        "exercises": [_exercise(found, labels) for found in findings.exercises],
        "answers": None
        if crossings is None
        else {
            "compared": crossings.compared,
            "pairs_compared": crossings.pairs,
            "explained_by_chance": crossings.explained,
            "pairs": [
                {
                    "answered_by": labels.student(crossing.who),
                    "key_of": labels.student(crossing.whose),
                    "chance": crossing.chance,
                    "expected": crossing.expected,
                    "answers": [
                        {
                            "item": answer.item,
                            "part": answer.part,
                            "answer": clean_line(answer.answer),
                            "key": answer.key,
                            "chance": answer.chance,
                            "holders": answer.holders,
                        }
                        for answer in crossing.answers
                    ],
                }
                for crossing in crossings.found
            ],
        },
        "not_compared": len(findings.problems),
        "problems": [
            {"where": problem.where, "message": problem.message}
            for problem in (() if labels.is_hidden else findings.problems)  # they name people
        ],
    }


def _exercise(found: Found, labels: Labels) -> dict[str, Any]:
    comparison = found.comparison
    return {
        "item": comparison.item,
        "files": comparison.files,
        "students": comparison.students,
        "usual": _spread(comparison.spread),
        "independent": None if found.known is None else _spread(found.known),
        "pairs": [_pair(entry, found, labels) for entry in found.pairs],
        "by_wording": [_pair(entry, found, labels) for entry in found.by_wording],
        "groups": [[labels.of(work) for work in group] for group in comparison.groups],
        "identical": [[labels.of(work) for work in group] for group in comparison.identical],
    }


def _spread(spread: Spread) -> dict[str, float | int]:
    return {
        "pairs": spread.pairs,
        "half": round(spread.half, 4),
        "most": round(spread.most, 4),
        "highest": round(spread.highest, 4),
    }


def _pair(entry: Detail, found: Found, labels: Labels) -> dict[str, Any]:
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
        "stands_out": found.is_close(entry),
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
