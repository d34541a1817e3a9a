"""Every concept item was reviewed by a reader, in the wording that it has now."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from engine.model import Variant
from tests.integration.by_hand.drawing import bank, variant_of
from tests.oracles.review import RECORD, concept_files, main, missing_reviews, reviews, store

NEXT_STEP = (
    "Read the item again beside the lectures: each statement with its feedback, notes, hints and solution. "
    'Then run: python tests/oracles/review.py ITEM "what was checked or changed"'
)


def test_every_concept_item_was_reviewed_as_it_is_now() -> None:
    wrong = missing_reviews(concept_files())
    assert wrong == {}, f"{wrong}. {NEXT_STEP}"


def test_every_review_says_what_was_looked_at() -> None:
    vague = {item for item, review in reviews().items() if len(review["checked"].split()) < 4}
    assert vague == set()


SHEET = Path(__file__).parents[2] / "docs" / "checked-concepts.md"
ROW = re.compile(
    r"^\| ([a-z0-9-]+) \| `([a-z0-9-]+)` \| (\d+) \| (\w+) \| (.+) \| (.+) \| (yes|no) \|$", re.M
)


def _entered(variant: Variant, answer: str) -> bool:
    """Whether the letters of a row are a variant's key; without a part's name they are the only part's."""
    pieces = [piece.strip() for piece in answer.split(", ")]
    named = [re.fullmatch(r"(?:\*(\w+)\* )?([a-z ]+)", piece) for piece in pieces]
    parts = {part.id: part for part in variant.parts}
    for match in named:
        assert match, answer
        part = parts[match[1] or variant.parts[0].id]
        letters = sorted(match[2].split()) if part.type == "multiple_choice" else match[2].split()
        key = sorted(part.key_ids) if part.type == "multiple_choice" else list(part.key_ids)
        if letters != key:
            return False
    return True


def test_the_sheet_of_answers_has_ten_of_each_topic_and_every_item() -> None:
    rows = ROW.findall(SHEET.read_text(encoding="utf-8"))
    assert {row[1] for row in rows} == set(concept_files())
    assert set(Counter(row[0] for row in rows).values()) == {10}
    assert {row[0] for row in rows} == {bank().load(item).topics[0] for item in concept_files()}


def test_answers_on_the_sheet_are_the_keys_of_the_variants_as_they_are_now() -> None:
    stale = []
    for _, item, seed, name, answer, key, agree in ROW.findall(SHEET.read_text(encoding="utf-8")):
        assert (agree == "yes") == (answer == key), (item, seed)
        variant = variant_of(item, int(seed))
        if variant.id != name:
            stale.append((item, int(seed)))
        else:
            assert _entered(variant, key), (item, seed)
    assert len(stale) <= 20, f"{stale} have changed since; answer them again from their stems"


@pytest.fixture
def two_items(tmp_path: Path) -> dict[str, Path]:
    files = {name: tmp_path / f"{name}.yaml" for name in ("first", "second")}
    for name, path in files.items():
        path.write_text(f"id: {name}\n", encoding="utf-8")
    return files


def test_what_was_not_reviewed_or_has_changed_is_found(tmp_path: Path, two_items: dict[str, Path]) -> None:
    record = tmp_path / "record.yaml"
    assert missing_reviews(two_items, record) == dict.fromkeys(two_items, "was never reviewed")
    for name, path in two_items.items():
        store(name, path, "read every option", record)
    assert missing_reviews(two_items, record) == {}
    two_items["first"].write_bytes(b"id: first\r\n")
    assert missing_reviews(two_items, record) == {}, "the line ends of Windows change no word"
    two_items["first"].write_text("id: first\ntitle: Another\n", encoding="utf-8")
    assert set(missing_reviews(two_items, record)) == {"first"}
    assert "changed since it was reviewed" in missing_reviews(two_items, record)["first"]
    assert set(missing_reviews({"first": two_items["first"]}, record)) == {"first", "second"}


@pytest.mark.parametrize("arguments", [[], ["timeline"], ["timeline", " "], ["no-such-item", "read it"]])
def test_the_script_writes_nothing_without_an_item_and_a_sentence(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = RECORD.read_bytes()
    assert main(arguments) == 2
    assert RECORD.read_bytes() == before
    assert capsys.readouterr().err
