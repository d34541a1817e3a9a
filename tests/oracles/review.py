"""Which concept items were reviewed, when, in which bytes, and what the reviewer looked at or changed.

    python tests/oracles/review.py ITEM "what was checked or changed, in one sentence"

A concept item has an answer that somebody wrote by hand: options, pairs to match, cards to order. No
computation can say that such a key is right, so a person reads stem, options, feedback, notes, hints and
solution beside the lectures. The script stores that for the file as it is now.
"""

from __future__ import annotations

import datetime
import hashlib
import sys
from pathlib import Path
from typing import TypedDict

import yaml

from engine.items import ProblemSpec, builtin_bank

__all__ = ["RECORD", "Review", "concept_files", "digest", "missing_reviews", "reviews", "store"]

RECORD = Path(__file__).with_name("reviewed_concepts.yaml")
_HEAD = "# Concept items that were read as a sceptical lecturer would; written by review.py, not by hand.\n"
_BY_HAND = ("options", "prompts", "cards")


class Review(TypedDict):
    """One entry of the record."""

    sha256: str
    date: str
    checked: str


def _written_by_hand(spec: ProblemSpec) -> bool:
    answers = [spec.answer, *(step.answer for step in spec.steps)]
    return any(getattr(answer, field, None) for answer in answers for field in _BY_HAND)


def concept_files() -> dict[str, Path]:
    """Return the files of all concept items of the built-in bank by item id."""
    bank = builtin_bank()
    specs = [spec for spec in bank.readable()[0] if spec.kind != "code"]
    return {spec.id: bank.path(spec.id) for spec in specs if _written_by_hand(spec)}


def digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, with the line ends of Unix."""
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def reviews(record: Path = RECORD) -> dict[str, Review]:
    """Return the entries of the record by item id."""
    return (yaml.safe_load(record.read_text(encoding="utf-8")) or {}) if record.exists() else {}


def missing_reviews(files: dict[str, Path], record: Path = RECORD) -> dict[str, str]:
    """Return what is wrong with the record, by item id: not reviewed, changed since, or no longer there."""
    known = reviews(record)
    wrong = {item: "isn't a concept item (any more)" for item in known if item not in files}
    for item, path in files.items():
        if item not in known:
            wrong[item] = "was never reviewed"
        elif known[item]["sha256"] != digest(path):
            wrong[item] = f"changed since it was reviewed on {known[item]['date']}"
    return wrong


def store(item: str, path: Path, checked: str, record: Path = RECORD) -> None:
    """Write the entry of an item for its file as it is now; entries of other items stay."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    entries = reviews(record) | {item: Review(sha256=digest(path), date=today, checked=checked)}
    text = yaml.safe_dump(
        dict(sorted(entries.items())),
        sort_keys=False,
        allow_unicode=True,
        width=100,
        default_flow_style=False,
    )
    record.write_text(_HEAD + text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Store one review; 0 if that was done, 2 if the arguments don't say which or what."""
    files = concept_files()
    if len(arguments) != 2 or not arguments[1].strip():
        print(__doc__, file=sys.stderr)  # noqa: T201
        return 2
    item, checked = arguments
    if item not in files:
        print(f"There is no concept item {item!r} in problems/.", file=sys.stderr)  # noqa: T201
        return 2
    store(item, files[item], " ".join(checked.split()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
