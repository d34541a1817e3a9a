"""What guessing earns, against the grading of every possible answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations, permutations, product
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.answers import answer_type
from engine.answers.base import GuessScore
from engine.model import ChoiceOption, FloatArray, Part, RenderedText, Variant
from engine.quiz.quiz_statistics import best_of, guess_variant

LETTERS = "abcdefgh"


def guess_part(part: Part) -> GuessScore:
    return answer_type(part.type).guess(part)


def text(words: str) -> RenderedText:
    return RenderedText(words, words, words)


def options(count: int, right: str = "") -> tuple[ChoiceOption, ...]:
    return tuple(ChoiceOption(c, text(f"option {c}"), correct=c in right) for c in LETTERS[:count])


def single(count: int) -> Part:
    return Part("answer", "single_choice", 2.0, key_ids=("b",), options=options(count, "b"))


def multiple(count: int, right: str, policy: str) -> Part:
    return Part(
        "answer",
        "multiple_choice",
        1.0,
        key_ids=tuple(right),
        options=options(count, right),
        settings={"policy": policy},
    )


def ordering(count: int, policy: str) -> Part:
    key = tuple(LETTERS[:count][::-1])
    return Part("answer", "ordering", 1.0, key_ids=key, options=options(count), settings={"policy": policy})


def matching(prompts: int, targets: int, policy: str) -> Part:
    left = tuple(ChoiceOption(str(n + 1), text(f"prompt {n}")) for n in range(prompts))
    key = tuple(LETTERS[n % targets] for n in range(prompts))
    return Part(
        "answer",
        "matching",
        1.0,
        key_ids=key,
        options=options(targets),
        prompts=left,
        settings={"policy": policy},
    )


def mean_of(part: Part, answers: Iterable[str]) -> float:
    kind = answer_type(part.type)
    return fmean(kind.grade(part, answer).points / part.points for answer in answers)


@pytest.mark.parametrize("count", [2, 3, 4, 6])
def test_one_option(count: int) -> None:
    assert guess_part(single(count)).mean == pytest.approx(mean_of(single(count), LETTERS[:count]))
    assert guess_part(single(count)).mean == pytest.approx(1 / count)


@pytest.mark.parametrize("policy", ["exact", "net-correct", "each-answer", "coverage"])
@pytest.mark.parametrize(("count", "right"), [(4, "a"), (4, "abc"), (5, "bd"), (6, "bcf")])
def test_several_options_with_the_number_of_picks_that_pays_best(policy: str, count: int, right: str) -> None:
    part = multiple(count, right, policy)
    best = max(
        mean_of(part, (",".join(picks) for picks in combinations(LETTERS[:count], picked)))
        for picked in range(1, count + 1)
    )
    assert guess_part(part).mean == pytest.approx(best)


def test_ticking_everything_pays_where_most_options_are_right() -> None:
    assert guess_part(multiple(4, "abc", "net-correct")).mean == pytest.approx(2 / 3)


@pytest.mark.parametrize("policy", ["exact", "net-correct", "each-answer", "coverage"])
def test_who_does_not_know_how_many_are_right_picks_as_many_as_pay_best_on_average(policy: str) -> None:
    rights = ["ABCD"[:count].lower() for count in (1, 2, 3, 4)]
    parts = [multiple(6, right, policy) for right in rights]
    parts = [replace(part, settings={**part.settings, "right_counts": [1, 2, 3, 4]}) for part in parts]

    def earns(part: Part, picked: int) -> float:
        return mean_of(part, (",".join(picks) for picks in combinations(LETTERS[:6], picked)))

    best = max(range(1, 7), key=lambda picked: round(fmean(earns(part, picked) for part in parts), 9))
    for part in parts:
        assert guess_part(part).mean == pytest.approx(earns(part, best))


def test_ticking_all_of_six_earns_less_than_one_pick_where_the_number_is_unknown() -> None:
    mean = fmean(
        guess_part(replace(part, settings={"policy": "net-correct", "right_counts": [1, 2, 3, 4]})).mean
        for part in (multiple(6, right, "net-correct") for right in ("a", "ab", "abc", "abcd"))
    )
    assert mean == pytest.approx(1 / 6)


@pytest.mark.parametrize("policy", ["exact", "positions", "pairs"])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_an_order(policy: str, count: int) -> None:
    part = ordering(count, policy)
    guess = guess_part(part)
    assert guess.is_exact
    assert guess.mean == pytest.approx(mean_of(part, (" ".join(o) for o in permutations(LETTERS[:count]))))


def test_a_long_order_is_simulated_and_says_so() -> None:
    guess = guess_part(ordering(8, "positions"))
    assert not guess.is_exact
    # each card is in its place once in eight; the sum of places has variance 1
    assert guess.mean == pytest.approx(1 / 8, abs=5 / (8 * 5000**0.5))
    assert guess == guess_part(ordering(8, "positions")), "the same figure every time"


@pytest.mark.parametrize("policy", ["each-answer", "exact"])
@pytest.mark.parametrize(("prompts", "targets"), [(2, 3), (3, 3), (4, 2), (3, 5)])
def test_pairs(policy: str, prompts: int, targets: int) -> None:
    part = matching(prompts, targets, policy)
    answers = (" ".join(letters) for letters in product(LETTERS[:targets], repeat=prompts))
    assert guess_part(part).mean == pytest.approx(mean_of(part, answers))


def test_numbers_and_words_are_not_guessed() -> None:
    number = Part(
        "answer", "number", 1.0, key=FloatArray((), (3.0,)), settings={"lower": ["3"], "upper": ["3"]}
    )
    word = Part("answer", "token", 1.0, key_ids=("cat",))
    assert guess_part(number).mean == guess_part(word).mean == 0


def test_chances_sum_to_one() -> None:
    parts = [single(4), multiple(5, "bd", "coverage"), ordering(5, "pairs"), matching(3, 4, "each-answer")]
    for part in parts:
        guess = guess_part(part)
        assert sum(guess.scores.values()) == pytest.approx(1)
        assert all(0 <= share <= 1 and chance >= 0 for share, chance in guess.scores.items())


def test_parts_add_up_by_their_points() -> None:
    parts = (single(4), multiple(5, "bd", "exact"))  # 2 points and 1 point
    variant = Variant("v", "i", "1", "T", text("s"), parts)
    guess = guess_variant(variant)
    assert guess.mean == pytest.approx((2 * 1 / 4 + 1 * 1 / 10) / 3)
    assert guess.scores[1.0] == pytest.approx(1 / 4 * 1 / 10)


CREDITS = st.lists(st.sampled_from([1.0, 0.7, 0.5, 0.4, 0.1]), min_size=1, max_size=3)
CHANCES = st.lists(st.integers(1, 9), min_size=1, max_size=4)


@given(CHANCES, CREDITS)
def test_the_best_of_several_attempts(weights: list[int], credit: list[float]) -> None:
    shares = [n / max(1, len(weights) - 1) for n in range(len(weights))]
    guess = GuessScore({share: w / sum(weights) for share, w in zip(shares, weights, strict=True)})
    expected = 0.0
    for outcome in product(guess.scores.items(), repeat=len(credit)):
        chance, best = 1.0, 0.0
        for (share, p), factor in zip(outcome, credit, strict=True):
            chance *= p
            best = max(best, share * factor)
        expected += chance * best
    assert best_of(guess, credit).mean == pytest.approx(expected)


def test_three_attempts_at_four_options() -> None:
    # right at once 1/4; else for 0.7; else for 0.4
    assert best_of(guess_part(single(4)), [1, 0.7, 0.4]).mean == pytest.approx(
        1 / 4 + 3 / 4 * 1 / 4 * 0.7 + (3 / 4) ** 2 * 1 / 4 * 0.4
    )
