"""``grade feedback verify``: is this the file that a page is about, and does the store know it?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.options import course_option, json_option, store_option
from engine.errors import UsageError

if TYPE_CHECKING:
    from engine.commands.workplace import Workplace
    from engine.report.receipt import Receipt
    from engine.store import Attempt

__all__ = ["verify"]

_PAGE_LIMIT = 32 * 2**20


@dataclass(frozen=True)
class _Checked:
    """A receipt, the file that it is about if one was given, and what the store has; None: not asked."""

    receipt: Receipt
    file: str | None
    attempt: Attempt | None
    asked: bool

    @property
    def fails(self) -> bool:
        return self.file is not None and self.asked and self.attempt is None


@click.command("verify")
@click.argument("page", type=click.Path(path_type=Path))
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@json_option
@course_option
@store_option
def verify(page: Path, files: tuple[Path, ...], as_json: bool, course_path: Path | None) -> int:
    """Check that FILE is what was graded on PAGE, by its SHA-256, and that the store has that result.

    FILE is a .py or .ipynb file (with the files that it imports beside it), or a filled-in quiz. A page
    alone proves nothing, for anybody can write one: only the course's store does.

    Exit code 0: every FILE is what the page is about, and the store has it; 1: not so; 2: bad usage or input.

    \b
    Example:
      grade feedback verify results/students/ada.html softmax.py --course attention-2026
    """
    from engine.commands.workplace import find_workplace

    workplace = find_workplace(course_path)
    receipts = _receipts(page)
    hashes = {str(path): _hashes(workplace, path) for path in files}
    checked = _checked(workplace, receipts, hashes)
    strangers = _strangers(receipts, hashes)
    if as_json:
        click.echo(json.dumps(_json(checked, strangers), ensure_ascii=False, indent=2))
    else:
        _tell(checked, strangers)
    return 1 if strangers or any(one.fails for one in checked) else 0


def _receipts(page: Path) -> list[Receipt]:
    from engine.intake.decoding import read_bytes
    from engine.report.receipt import read_receipts

    found = read_receipts(read_bytes(page, _PAGE_LIMIT, UsageError).decode("utf-8", "replace"))
    if not found:
        raise UsageError(
            "this page holds no receipt", where=str(page), expected="a feedback page with at least one result"
        )
    return found


def _hashes(workplace: Workplace, path: Path) -> Mapping[str | None, str]:
    """Return the hashes of a file by item: of code, which may be for any item, under None."""
    from engine.intake import read_code_file

    if path.suffix.lower() not in {".yaml", ".yml"}:
        return {None: read_code_file(path).sha256}
    return _answer_hashes(workplace, path)


def _answer_hashes(workplace: Workplace, path: Path) -> Mapping[str | None, str]:
    from engine.intake import read_text_file
    from engine.quiz import as_answered, read_filled
    from engine.store import quiz_responses, response_sha256

    filled = read_filled(read_text_file(path), path.name)
    place, quiz = workplace.of_quiz(filled, path)
    with place.open_store() as store:
        quiz = as_answered(store, quiz, filled.retries)
    return {
        question.variant.item: response_sha256(question.variant.id, response, quiz.id)
        for question, response in zip(quiz.questions, quiz_responses(quiz, filled.answers), strict=True)
    }


def _checked(
    workplace: Workplace, receipts: Sequence[Receipt], hashes: Mapping[str, Mapping[str | None, str]]
) -> list[_Checked]:
    owners = {sha256: name for name, found in hashes.items() for sha256 in found.values()}
    asked = workplace.course is not None or workplace.store is not None
    if not asked:
        return [_Checked(receipt, owners.get(receipt.sha256), None, False) for receipt in receipts]
    with workplace.open_store() as store:
        return [
            _Checked(
                receipt,
                owners.get(receipt.sha256),
                next(
                    (
                        attempt
                        for attempt in store.attempts(student=receipt.student, item=receipt.item)
                        if attempt.submission == receipt.sha256
                    ),
                    None,
                ),
                True,
            )
            for receipt in receipts
        ]


def _strangers(
    receipts: Sequence[Receipt], hashes: Mapping[str, Mapping[str | None, str]]
) -> list[tuple[str, str | None]]:
    """Return the files, and of quizzes the items, that the page isn't about."""
    known = {receipt.sha256 for receipt in receipts}
    answered = {receipt.item for receipt in receipts if receipt.is_answer}
    found: list[tuple[str, str | None]] = []
    for name, own in hashes.items():
        wrong = [item for item, sha256 in own.items() if sha256 not in known]
        # A question that the page doesn't show is no contradiction, if another one is there.
        told = [item for item in wrong if item is None or item in answered]
        found += [(name, item) for item in told]
        if len(wrong) == len(own) and not told:
            found.append((name, None))
    return found


def _json(checked: Sequence[_Checked], strangers: Sequence[tuple[str, str | None]]) -> dict[str, Any]:
    return {
        "receipts": [
            {
                "student": one.receipt.student,
                "item": one.receipt.item,
                "sha256": one.receipt.sha256,
                "file": one.file,
                "in_store": one.attempt is not None if one.asked else None,
                "score": one.attempt.report.score if one.attempt else None,
            }
            for one in checked
        ],
        "others": [{"file": name, "item": item} for name, item in strangers],
    }


def _tell(checked: Sequence[_Checked], strangers: Sequence[tuple[str, str | None]]) -> None:
    from engine.commands.render import show_table
    from engine.foreign import clean_line

    rows = [
        [one.receipt.student, one.receipt.item, one.file or "no file given for it", _stored(one)]
        for one in checked
    ]
    show_table(["student", "item", "the same file", "store"], rows)
    for name, item in strangers:
        about = "not what this page is about" if item is None else f"another answer to {item} was graded"
        click.echo(f"{clean_line(name)}: {about}")


def _stored(one: _Checked) -> str:
    from engine.commands.render import number

    if not one.asked:
        return "not asked: there is no course here"
    if one.attempt is None:
        return "not in the store"
    report = one.attempt.report
    score = "no mark" if report.score is None else f"{number(report.score)} of {number(report.max_score)}"
    changed = "" if report.item_version == one.receipt.version else "; marked again since"
    return f"graded, {score}{changed}"
