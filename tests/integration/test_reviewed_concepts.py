"""Every concept item was reviewed by a reader, in the wording that it has now."""

from __future__ import annotations

from pathlib import Path

import pytest

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
