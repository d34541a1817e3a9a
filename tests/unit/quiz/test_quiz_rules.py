"""What an attempt can earn: a share, never above 1, never rising."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model import QuizRules, ResultDisclosure
from engine.quiz.rules import deadline_text, not_on_files, rules_text, time_left

CREDITS = st.lists(st.integers(1, 100), min_size=1, max_size=5).map(
    lambda cents: tuple(n / 100 for n in sorted(cents, reverse=True))
)
RULES = st.builds(
    QuizRules,
    attempts=st.none() | st.integers(1, 6),
    credit=CREDITS,
    hint_cost=st.none() | st.integers(0, 100).map(lambda cents: cents / 100),
)


@given(RULES, st.integers(0, 8), st.integers(0, 12))
def test_a_share_never_rises_and_never_leaves_its_bounds(rules: QuizRules, before: int, hints: int) -> None:
    share = rules.share(before, hints)
    assert 0 <= share <= 1
    assert rules.share(before + 1, hints) <= share
    assert rules.share(before, hints + 1) <= share


@pytest.mark.parametrize(
    ("before", "hints", "share"),
    [
        (0, 0, Fraction(1)),
        (1, 0, Fraction(7, 10)),
        (2, 0, Fraction(4, 10)),
        (3, 0, Fraction(0)),
        (0, 1, Fraction(9, 10)),
        (1, 2, Fraction(7, 10) * Fraction(8, 10)),
        (0, 10, Fraction(0)),
        (0, 99, Fraction(0)),
    ],
)
def test_credit_and_hints_multiply(before: int, hints: int, share: Fraction) -> None:
    rules = QuizRules(attempts=3, credit=(1, 0.7, 0.4), hint_cost=0.1)
    assert rules.share(before, hints) == float(share)


def test_without_a_limit_every_attempt_counts_in_full() -> None:
    assert [QuizRules().share(n, 5) for n in (0, 1, 50)] == [1, 1, 1]
    assert not QuizRules().counts_attempts
    assert QuizRules(attempts=1).counts_attempts and QuizRules(hint_cost=0.0).counts_attempts


def test_levels_include_one_another_in_order() -> None:
    order = ["nothing", "score", "verdict", "feedback", "solution"]
    for i, level in enumerate(order):
        assert [ResultDisclosure(level).includes(ResultDisclosure(other)) for other in order] == [
            j <= i for j in range(5)
        ]


def test_the_deadline_itself_is_in_time() -> None:
    deadline = datetime(2026, 12, 1, 13, 0, tzinfo=timezone(timedelta(hours=1)))
    rules = QuizRules(
        deadline=deadline, show_before=ResultDisclosure.NOTHING, show_after=ResultDisclosure.SOLUTION
    )
    same_moment = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
    assert not rules.is_over(same_moment) and rules.disclosure(same_moment) is ResultDisclosure.NOTHING
    later = same_moment + timedelta(microseconds=1)
    assert rules.is_over(later) and rules.disclosure(later) is ResultDisclosure.SOLUTION
    assert deadline_text(deadline) == "Tue 1 Dec 2026, 13:00 UTC+01:00"
    assert deadline_text(same_moment) == "Tue 1 Dec 2026, 12:00 UTC"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "less than a minute"),
        (59, "less than a minute"),
        (60, "1 minute"),
        (7199, "119 minutes"),
        (7200, "2 hours"),
        (86_400, "24 hours"),
        (172_800, "2 days"),
    ],
)
def test_the_time_left_in_words(seconds: int, text: str) -> None:
    now = datetime(2026, 12, 1, tzinfo=UTC)
    assert time_left(now + timedelta(seconds=seconds), now) == text


@pytest.mark.parametrize(
    ("rules", "sentences"),
    [
        (QuizRules(), []),
        (QuizRules(attempts=1), ["One attempt at each question."]),
        (QuizRules(attempts=1, credit=(0.5,)), ["One attempt, for 50 %."]),
        (QuizRules(attempts=2), ["2 attempts at each question; the best counts."]),
        (
            QuizRules(attempts=3, credit=(1, 0.7, 0.4)),
            ["3 attempts at each question, for 100 %, 70 % and 40 % of its points; the best counts."],
        ),
        (QuizRules(hint_cost=0.125), ["Each hint takes 12.5 % off what an attempt can earn."]),
        (QuizRules(hint_cost=0), ["Hints are free."]),
        (QuizRules(show_before=ResultDisclosure.NOTHING), ["No result is shown."]),
    ],
)
def test_rules_in_words(rules: QuizRules, sentences: list[str]) -> None:
    assert [s for s in rules_text(rules) if "variant" not in s and "blank" not in s] == sentences


@pytest.mark.parametrize("new_variants", [True, False])
def test_a_file_says_nothing_that_only_a_sitting_gives(new_variants: bool) -> None:
    rules = QuizRules(attempts=2, credit=(1, 0.5), hint_cost=0.1, new_variants=new_variants)
    sentences = rules_text(rules, on_file=True)
    assert not [s for s in sentences if "hint" in s.lower() or "new variant" in s]
    assert sentences[0] == rules_text(rules)[0] and "only the first counts" in sentences[1]
    notes = not_on_files(rules)
    assert len(notes) == 2 and ("numbers can be answered again" in notes[1]) is new_variants
    assert not_on_files(QuizRules(attempts=1)) == []
