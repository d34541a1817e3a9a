"""When a sitting is open, as properties: deadline, time limit, extra time and grace fit together."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.course.policies import Policies
from engine.marks.late_work import extended_rules, terms_of
from engine.model import QuizRules
from engine.quiz.rules import duration_text, rules_text
from engine.quiz.timing import NETWORK_GRACE, SittingState, SittingTimes
from engine.store.timed import TimedSitting

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
MINUTES = st.integers(-300, 300).map(lambda n: NOW + timedelta(minutes=n))
TIMES = st.builds(
    SittingTimes,
    opens=st.none() | MINUTES,
    closes=st.none() | MINUTES,
    limit=st.none() | st.integers(1, 200).map(lambda n: timedelta(minutes=n)),
)


def sitting(started: datetime, ended: datetime | None = None) -> TimedSitting:
    return TimedSitting("q", "ada", started, started + timedelta(days=9), ended)


@given(TIMES, MINUTES, MINUTES)
def test_an_answer_is_taken_exactly_while_there_is_time(
    times: SittingTimes, started: datetime, now: datetime
) -> None:
    begun = sitting(started)
    end, left = times.ends_at(started), times.seconds_left(begun, now)
    if times.is_open(begun, now):
        assert end is None or (now <= end and left is not None)
        assert times.opens is None or now >= times.opens
    if end is not None:
        assert times.closes is None or end <= times.closes
        assert times.limit is None or end <= started + times.limit
        assert (left == 0) == (end - now < timedelta(seconds=1))
        later = end + timedelta(microseconds=1)
        assert not times.is_open(begun, later)
        # The grace only lets in what comes a little later; it opens nothing before its time.
        if times.opens is None or later >= times.opens:
            assert times.is_open(begun, later, NETWORK_GRACE)
        assert not times.is_open(begun, end + NETWORK_GRACE + timedelta(microseconds=1), NETWORK_GRACE)
    assert times.state(sitting(started, now), now) is SittingState.OVER, "ended early by the student"
    if times.limit is not None:
        assert not times.is_open(None, now), "a time limit must have begun"


@given(
    st.integers(1, 500),
    st.lists(st.tuples(st.integers(1, 400), st.booleans()), max_size=4),
    MINUTES,
)
def test_more_time_is_never_less(limit: int, extra: list[tuple[int, bool]], deadline: datetime) -> None:
    entries = [
        {"student": "ada", "percent": percent, **({"assignment": "q"} if only else {})}
        for percent, only in extra
    ]
    rules = QuizRules(time_limit=limit, deadline=deadline)
    longer = extended_rules(rules, terms_of(Policies.model_validate({"extra_time": entries}), "ada", "q"))
    most = max((percent for percent, _ in extra), default=0)
    assert longer.time_limit == pytest.approx(limit * (1 + most / 100))
    assert longer.deadline == deadline, "extra time moves no deadline"
    before, after = (SittingTimes.of(r).ends_at(NOW) for r in (rules, longer))
    assert before is not None and after is not None and before <= after <= max(deadline, after)


@pytest.mark.parametrize(
    ("minutes", "text"),
    [
        (45, "45 minutes"), (60, "1 hour"), (75, "1 hour 15 minutes"), (56.25, "56 minutes 15 seconds"),
        (1, "1 minute"),
    ],
)  # fmt: skip
def test_a_time_limit_is_said_in_words(minutes: float, text: str) -> None:
    assert duration_text(minutes) == text
    rules = QuizRules(time_limit=minutes)
    assert any(text in sentence for sentence in rules_text(rules))
    assert not any(text in sentence for sentence in rules_text(rules, on_file=True)), (
        "a file has no beginning"
    )
    assert rules_text(replace(rules, time_limit=None)) == []
