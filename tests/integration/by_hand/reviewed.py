"""Which items were read against the lectures, and in which wording.

    python -m tests.integration.by_hand.reviewed --changed        # which have to be read (again)
    python -m tests.integration.by_hand.reviewed --read ITEM ...  # these were read as they are now

Reading means: stem, every option, card or prompt with its feedback, notes, hints and solution, with the
lecture beside them, for what is wrong, ambiguous or missing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import yaml

from engine.items import ProblemSpec
from tests.integration.by_hand.drawing import bank

__all__ = ["content_hash", "status"]

FILE = Path(__file__).with_name("reviewed.yaml")
_HEAD = "# Items that were read against the lectures, with a hash of what was read; see reviewed.py.\n"
_READ = {
    "title",
    "parameters",
    "derived",
    "constraints",
    "stem",
    "answer",
    "steps",
    "misconceptions",
    "hints",
    "solution",
    "errata",
}


def content_hash(spec: ProblemSpec) -> str:
    """Return a hash of what there is to read; layout, comments and notes for lecturers don't count."""
    content = spec.model_dump(mode="json", by_alias=True, exclude_defaults=True, include=_READ)
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_hashes() -> dict[str, str]:
    return yaml.safe_load(FILE.read_text(encoding="utf-8")) or {} if FILE.exists() else {}


def status(item: str) -> str:
    """Say whether an item is as it was when it was read."""
    known = read_hashes().get(item)
    if known is None:
        return "not read"
    return "read" if known == content_hash(bank().load(item)) else "changed since it was read"


def main() -> None:
    """Store hashes of items that were read, or list those that have to be read."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--read", nargs="+", metavar="ITEM", default=[])
    parser.add_argument("--changed", action="store_true")
    given = parser.parse_args()
    hashes = read_hashes() | {item: content_hash(bank().load(item)) for item in given.read}
    if given.read:
        lines = [f'{item}: "{known}"\n' for item, known in sorted(hashes.items())]
        FILE.write_text(_HEAD + "".join(lines), encoding="utf-8")
    if given.changed:
        items = [spec.id for spec in bank().readable()[0] if spec.kind != "code"]
        for item in items:
            if status(item) != "read":
                print(f"{item}: {status(item)}")  # noqa: T201


if __name__ == "__main__":
    main()
