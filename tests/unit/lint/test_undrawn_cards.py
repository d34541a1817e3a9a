"""`grade lint --strict`: a solution that speaks of a card which not every variant shows."""

from __future__ import annotations

from typing import Any

import pytest

from engine.authoring.lint.rules.stem_text import fragments

Data = dict[str, Any]


def found(spoiler, item: str, solution: str) -> list[str]:
    report = spoiler.lint(item, lambda data: data.update(solution=solution), strict=True)
    return [finding.got for finding in report.warnings if finding.rule == "undrawn"]


QUOTES = [
    ("hard-vs-soft", "The numbers ${{ tex(chosen) }}$ select one state."),
    ("term-thesaurus", r"The score of S0 is called $\hat{\alpha}^{(t,t')}$."),
]


@pytest.mark.parametrize(("item", "solution"), QUOTES)
def test_what_only_a_card_shows(spoiler, item: str, solution: str) -> None:
    assert len(found(spoiler, item, solution)) == 1
    assert found(spoiler, item, f"It depends. More generally: {solution}") == []


def test_what_the_stem_shows_may_be_used(spoiler) -> None:
    assert (
        found(spoiler, "softmax-shift", "The scores were ${{ tex(e) }}$, and they are ${{ tex(c * e) }}$.")
        == []
    )


def test_a_condition_says_when_a_card_is_shown(spoiler) -> None:
    said = "It is one. {% if m == 1 %}Here $m + 1 + 1 + 1$ is 4.{% endif %}"
    assert found(spoiler, "l16-type-error", said) == []


def test_a_lone_letter_is_no_quotation() -> None:
    assert fragments(r"Is $\mathbf{W}_a$ or $d$ or {{ m }} meant?") == set()
    assert fragments(r"Is $\mathbf{q}^\top \mathbf{k}$ meant, or ${{ tex( w ) }}$?") == {
        r"q^\topk",
        "{{tex(w)}}",
    }
