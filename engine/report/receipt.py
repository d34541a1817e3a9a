"""The receipt on a feedback page: what was handed in, by its hash; written into pages and read from them."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from html.parser import HTMLParser

from engine.course import ItemResult
from engine.foreign import clean_line

__all__ = ["MOST_RECEIPTS", "Receipt", "read_receipts", "receipt_of"]

MOST_RECEIPTS = 10_000
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Receipt:
    """What one entry of a page is about.

    Parameters
    ----------
    student, item : str
        As they stand on the page.
    sha256 : str
        Hash of a code file and the files that it imports, or of one answer
        (:func:`engine.store.response_sha256`).
    version : str
        Of the item that graded it.
    is_answer : bool
    """

    student: str
    item: str
    sha256: str
    version: str
    is_answer: bool

    @property
    def kind(self) -> str:
        """How the page marks it."""
        return "answer" if self.is_answer else "file"


def receipt_of(student: str, item: ItemResult) -> Receipt:
    """Return the receipt of one result."""
    report = item.report
    return Receipt(student, report.item, item.submission, report.item_version, item.variant is not None)


def read_receipts(page: str) -> list[Receipt]:
    """Return the receipts on a page, which anybody may have written: at most :data:`MOST_RECEIPTS`."""
    reader = _Reader()
    # The parser asserts that declarations are well-formed; what stands before a broken one counts.
    with contextlib.suppress(AssertionError):
        reader.feed(page)
    return reader.found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Receipt] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        sha256 = values.get("data-sha256", "")
        if tag != "dl" or not _SHA256.fullmatch(sha256) or len(self.found) >= MOST_RECEIPTS:
            return
        student, item, version = (
            clean_line(values.get(f"data-{name}", "")) for name in ("student", "item", "version")
        )
        self.found.append(Receipt(student, item, sha256, version, values.get("data-receipt") == "answer"))
