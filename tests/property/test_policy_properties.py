"""Rules about marks: late work never gains, attempts and drops against brute force."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from engine.course.policies import AssignmentRules, CountedAttempts, LatePenalty
from engine.marks.late_work import AttemptPoints, LateTime, after_penalty, choose, days_to_use, exact, rounded
from engine.marks.weighted_groups import indices_to_drop

FULL = Fraction(10)
percents = st.integers(0, 100).map(Decimal) | st.decimals(0, 100, places=2)
points = st.integers(0, 20).map(lambda half: Fraction(half, 2))
lates = st.builds(
    LatePenalty,
    per=st.sampled_from(["day", "hour"]),
    percent=percents,
    of=st.sampled_from(["score", "points"]),
    cap=st.none() | percents,
    floor=st.none() | percents,
)


@given(lates, points, st.integers(0, 40))
def test_late_work_loses_more_the_later_it_is_and_never_gains(
    rule: LatePenalty, score: Fraction, units: int
) -> None:
    left = [after_penalty(rule, score, FULL, n) for n in range(units + 1)]
    assert left[0] == score
    assert left == sorted(left, reverse=True)
    assert all(0 <= value <= score for value in left)


@given(lates, points, st.integers(1, 40))
def test_a_penalty_in_decimals(rule: LatePenalty, score: Fraction, units: int) -> None:
    """The same in decimal numbers, whose products and differences of so few digits are exact."""
    earned, full = Decimal(score.numerator) / score.denominator, Decimal(10)
    off = min(rule.percent * units, Decimal(100) if rule.cap is None else rule.cap)
    left = earned - (earned if rule.of == "score" else full) * off / 100
    if rule.floor is not None and left < full * rule.floor / 100:
        left = min(earned, full * rule.floor / 100)
    assert after_penalty(rule, score, FULL, units) == Fraction(max(left, Decimal(0)))


tries = st.lists(
    st.builds(AttemptPoints, score=points, lateness=st.integers(0, 4).map(LateTime), in_time=st.booleans()),
    max_size=5,
)
shares = st.lists(st.decimals(0, 1, places=1), min_size=1, max_size=4).map(
    lambda found: tuple(sorted(found, reverse=True))
)
attempts = st.builds(
    CountedAttempts,
    count=st.none() | st.integers(1, 4),
    which=st.sampled_from(["best", "last", "first", "average"]),
) | st.builds(CountedAttempts, count=st.none() | st.integers(1, 4), which=st.just("decaying"), shares=shares)


@given(tries, attempts, st.none() | lates, st.integers(0, 3))
def test_attempts_against_a_plain_loop(
    made: list[AttemptPoints], rule: CountedAttempts, late: LatePenalty | None, free: int
) -> None:
    counted = []
    for one in made:
        if one.in_time and (rule.count is None or len(counted) < rule.count):
            share = Fraction(1)
            if rule.which == "decaying":
                share = Fraction([*rule.shares, *[rule.shares[-1]] * 9][len(counted)])
            units = max(0, one.lateness.units - free)
            counted.append(after_penalty(late, one.score * share, FULL, units))
    choice = choose(AssignmentRules(late=late, attempts=rule), FULL, made, free)
    if not counted:
        assert choice is None
        return
    assert choice is not None
    assert (
        choice.value
        == {
            "best": max(counted),
            "decaying": max(counted),
            "last": counted[-1],
            "first": counted[0],
            "average": sum(counted, Fraction(0)) / len(counted),
        }[rule.which]
    )
    assert 0 <= choice.value <= made[choice.index].score, "never above what the shown attempt earned"
    assert len(choice.used) == len(counted) and choice.index in choice.used


@given(tries, attempts, lates)
def test_being_later_never_helps_and_late_days_never_harm(
    made: list[AttemptPoints], rule: CountedAttempts, late: LatePenalty
) -> None:
    rules = AssignmentRules(late=late, attempts=rule)
    later = [AttemptPoints(one.score, LateTime(one.lateness.units + 1), one.in_time) for one in made]
    now, then = choose(rules, FULL, made), choose(rules, FULL, later)
    forgiven = choose(rules, FULL, later, 1)
    if now is not None and then is not None and forgiven is not None:
        assert then.value <= now.value == forgiven.value


marks = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, 12)).map(
        lambda pair: (Fraction(min(pair)), Fraction(max(*pair, 1)))
    ),
    min_size=1,
    max_size=7,
)


@given(marks, st.integers(0, 8))
def test_what_is_dropped_leaves_the_best_share_of_all_subsets(
    made: list[tuple[Fraction, Fraction]], count: int
) -> None:
    def share(kept: tuple[int, ...]) -> Fraction:
        return sum((made[k][0] for k in kept), Fraction(0)) / sum(made[k][1] for k in kept)

    left_out = indices_to_drop(made, count)
    keep = max(1, len(made) - count)
    kept = tuple(k for k in range(len(made)) if k not in left_out)
    assert len(kept) == keep
    assert share(kept) == max(share(subset) for subset in combinations(range(len(made)), keep))


@given(st.lists(points, min_size=1, max_size=7), st.integers(0, 8))
def test_of_equal_full_points_the_lowest_are_dropped(scores: list[Fraction], count: int) -> None:
    left_out = indices_to_drop([(score, FULL) for score in scores], count)
    gone = min(count, len(scores) - 1)
    assert sorted(scores[place] for place in left_out) == sorted(scores)[:gone]


@given(st.lists(points, min_size=1, max_size=6).map(sorted), st.integers(0, 6), st.integers(0, 6))
def test_late_days_are_the_fewest_that_give_the_most(rising: list[Fraction], left: int, most: int) -> None:
    def worth(days: int) -> Fraction:
        return rising[min(days, len(rising) - 1)]

    allowed = range(min(left, most) + 1)
    best = max(worth(days) for days in allowed)
    assert days_to_use(left, most, worth) == min(days for days in allowed if worth(days) == best)


@given(st.integers(0, 10**9))
def test_points_go_to_exact_numbers_and_back(millionths: int) -> None:
    assert exact(millionths / 10**6) == Fraction(millionths, 10**6)
    assert rounded(Fraction(millionths, 10**6)) == millionths / 10**6
