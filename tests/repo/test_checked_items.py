"""The sheet of items that were checked by hand is up to date, and every line of it agrees."""

from __future__ import annotations

import re
from collections import Counter

from tests.integration.by_hand.drawing import bank
from tests.integration.by_hand.reviewed import content_hash, status
from tests.integration.by_hand.sheet import PAGE, page

_ROW = re.compile(r"^\| `([a-z0-9-]+)` \| \d+ \| .* \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def test_the_sheet_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.integration.by_hand.sheet"


def test_every_topic_has_ten_lines_and_none_disagrees() -> None:
    topics = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    expected = {spec.topics[0] for spec in bank().readable()[0] if spec.kind != "code"}
    assert {topic.splitlines()[0] for topic in topics} == expected
    for topic in topics:
        verdicts = Counter(verdict for _, verdict, _ in _ROW.findall(topic))
        assert verdicts["yes"] + verdicts["open"] == 10


def test_a_changed_word_makes_an_item_unread() -> None:
    spec = bank().load("softmax-weights")
    assert content_hash(spec) == content_hash(spec.model_copy(update={"difficulty": 5}))
    assert content_hash(spec) != content_hash(spec.model_copy(update={"stem": spec.stem + " Now."}))
    assert status("no-such-item") == "not read"
