"""Clients that others wrote give exported items our marks, or those that a rule of the page gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.generators.same_marks import PAGE, Comparison, marking_clients, page, results
from tests.clients.qti_players import needs_players

pytestmark = needs_players
REPOSITORY = Path(__file__).parents[2]
# words are marked by people: there is nothing to try
LEAST = 40


@pytest.fixture(scope="module")
def tried() -> Iterator[tuple[str, dict[str, list[Comparison]]]]:
    with marking_clients() as clients:
        found = results(clients)
        yield page(clients, found), found


def test_no_mark_differs_without_a_rule(tried: tuple[str, dict[str, list[Comparison]]]) -> None:
    _, found = tried
    wrong = [
        (name, one.subject.item.name, [answer.text for answer in one.answer], one.ours, one.theirs)
        for name, comparisons in found.items()
        for one in comparisons
        if not one.is_explained
    ]
    assert not wrong


def test_every_type_is_tried_with_at_least_forty_answers(
    tried: tuple[str, dict[str, list[Comparison]]],
) -> None:
    for name, comparisons in tried[1].items():
        counts = Counter(
            part.type
            for one in comparisons
            for part in one.subject.item.variant.parts
            if part.type != "free_text"
        )
        assert min(counts.values()) >= LEAST, (name, counts)


def test_most_differences_are_of_spelling_and_none_of_a_key(
    tried: tuple[str, dict[str, list[Comparison]]],
) -> None:
    # what we mark as right in its usual form is right everywhere
    for comparisons in tried[1].values():
        for one in comparisons:
            if all(answer.what == "right" for answer in one.answer):
                assert one.theirs == pytest.approx(one.ours, abs=1e-3), one.subject.item.name


def test_the_page_shows_these_marks(tried: tuple[str, dict[str, list[Comparison]]]) -> None:
    assert (REPOSITORY / PAGE).read_text(encoding="utf-8") == tried[0], (
        "write it again: python -m docs.generators.same_marks"
    )
