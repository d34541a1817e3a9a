"""A question that states a limit of words in its text, and another one, or none, where they are counted."""

from __future__ import annotations

from typing import Any

import pytest

Data = dict[str, Any]


def found(spoiler, item: str, change) -> list[str]:
    report = spoiler.lint(item, change, strict=True)
    return [finding.message for finding in report.findings if "max_words" in finding.message]


@pytest.mark.parametrize("limit", [None, 130])
def test_the_limit_of_a_stem_is_the_one_that_is_counted(spoiler, limit: int | None) -> None:
    def change(data: Data) -> None:
        data["answer"]["max_words"] = limit
        if limit is None:
            del data["answer"]["max_words"]

    (message,) = found(spoiler, "why-scaled-scores", change)
    assert message.startswith("the question says at most 120 words, and ")
    assert found(spoiler, "why-scaled-scores", lambda data: None) == []


def test_the_limit_of_a_step_stands_in_its_prompt(spoiler) -> None:
    def change(data: Data) -> None:
        data["steps"][2]["answer"]["max_words"] = 90

    (message,) = found(spoiler, "attention-cost-explained", change)
    assert message == "the question says at most 100 words, and max_words is 90"
