"""Choices, orders, matchings and tokens."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product

import pytest

from engine.answers import (
    answer_type,
    blank_hint,
    chance_score,
    policy_text,
    right_responses,
    wrong_responses,
)
from engine.answers.multiple_choice import POLICIES, chance_of, score_of
from engine.errors import ResponseFormatError
from engine.model import ChoiceOption, FloatArray, KnownWrong, Part, RenderedText


def text(words):
    return RenderedText(words, words, words)


def grade(field, answer):
    return answer_type(field.type).grade(field, answer)


SINGLE = Part(
    "answer",
    "single_choice",
    1.0,
    key_ids=("b",),
    options=(
        ChoiceOption("a", text("[0.571, 0.286, 0.143]"),
               value=FloatArray((3,), (0.571429, 0.285714, 0.142857)),
               misconception="m-base2", feedback="Powers of 2."),
        ChoiceOption("b", text("[0.665, 0.245, 0.090]"), correct=True,
               value=FloatArray((3,), (0.665241, 0.244728, 0.090031))),
        ChoiceOption("c", text("none of these"), feedback="One of them is."),
    ),
    settings={
        "decimals": 3,
        "accepted": [
            {"letter": "a", "erratum": "F-02", "note": "Misrounded.", "shape": [3],
             "numbers": ["0.665", "0.244", "0.091"]},
        ],
    },
)  # fmt: skip


@pytest.mark.parametrize(
    "answer",
    [
        "b",
        "B",
        "(b)",
        "b)",
        "b.",
        " b ",
        "option b",
        "Answer: (b)",
        "Antwort b",
        "réponse : b",
        "[0.665, 0.245, 0.090]",
        "0.665 0.245 .09",
        "[0.665, 0.245, 0.09]",
    ],
)
def test_single_choice_by_letter_text_or_numbers(answer):
    assert grade(SINGLE, answer).is_full


def test_a_wrong_option_names_its_mistake():
    result = grade(SINGLE, "a")
    assert result.points == 0
    assert [(d.misconception, d.message) for d in result.diagnosis] == [("m-base2", "Powers of 2.")]
    result = grade(SINGLE, "None of  these.")
    assert (result.diagnosis, result.message) == ((), "(c) isn't right. One of them is.")


def test_a_printed_option_that_an_erratum_accepts():
    result = grade(SINGLE, "[0.665, 0.244, 0.091]")
    assert result.is_full
    assert result.notes == ("Misrounded.",)
    assert "printed option (a)" in result.message
    with pytest.raises(ResponseFormatError):
        grade(SINGLE, "[0.665, 0.244, 0.092]")


@pytest.mark.parametrize(
    "answer", ["d", "a, b", "ab", "?", "7", "0.665", "x" * 20_000, "the second", "a b c"]
)
def test_what_is_not_one_option_is_a_format_error(answer):
    with pytest.raises(ResponseFormatError):
        grade(SINGLE, answer)


def multiple(policy="net-correct"):
    options = tuple(ChoiceOption(c, text(f"option {c}"), correct=c in "acd", misconception=m) for c, m in
                    zip("abcde", [None, "m-neg", None, None, None], strict=True))  # fmt: skip
    return Part(
        "answer", "multiple_choice", 3.0, key_ids=tuple("acd"), options=options, settings={"policy": policy}
    )


@pytest.mark.parametrize(
    "answer",
    [
        "a, c, d",
        "acd",
        "d c a",
        "A and C and D",
        "(a)(c)(d)",
        "a;c;d",
        "a c d d",
        "(a), (c), (d)",
        "{a, c, d}",
        "a/c/d",
    ],
)
def test_multiple_choice_notations(answer):
    assert grade(multiple(), answer).is_full


@pytest.mark.parametrize("answer", ["f", "none", "a, 1", "abf", "all"])
def test_multiple_choice_format_errors(answer):
    with pytest.raises(ResponseFormatError):
        grade(multiple(), answer)


@pytest.mark.parametrize(
    ("policy", "answer", "points"),
    [
        ("net-correct", "a, c", 2.0),
        ("net-correct", "a, c, d, b", 2.0),
        ("net-correct", "a, b", 0.0),
        ("net-correct", "b, e", 0.0),
        ("exact", "a, c", 0.0),
        ("exact", "a, c, d", 3.0),
        ("each-answer", "a, c", 3 * 4 / 5),
        ("each-answer", "b", 3 * 1 / 5),
        ("coverage", "a, c", 2.0),
        ("coverage", "a, b", 3 * (1 / 3) * (1 / 2)),
        ("each-answer", "", 0.0),
        ("exact", " ", 0.0),
    ],
)
def test_policies(policy, answer, points):
    assert grade(multiple(policy), answer).points == pytest.approx(points)


def test_messages_of_multiple_choice():
    result = grade(multiple(), "a, b, e")
    assert result.message == "(b) and (e) don't belong here. 2 right options are missing."
    assert [d.misconception for d in result.diagnosis] == ["m-neg"]


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_policies_are_fair_and_chance_is_the_mean_over_all_picks(policy):
    options, right = frozenset("abcde"), frozenset("ab")
    scores = []
    for count in range(1, 6):
        for picked in combinations(sorted(options), count):
            score = score_of(policy, 5, right, frozenset(picked))
            assert 0 <= score <= 1
            assert (score == 1) == (set(picked) == right)
            scores.append(score)
    assert len(scores) == 31
    assert chance_of(policy, 5, 2) == pytest.approx(float(sum(scores) / 31))
    assert score_of(policy, 5, right, frozenset()) == 0
    with pytest.raises(ValueError, match="unknown policy"):
        score_of("magic", 5, right, right)


def ordering(policy="pairs", count=4):
    names = "abcdefgh"[:count]
    options = tuple(ChoiceOption(c, text(f"card {c}")) for c in names)
    return Part("answer", "ordering", 1.0, key_ids=tuple(reversed(names)), options=options,
                settings={"policy": policy, "feedback": "Later needs earlier."})  # fmt: skip


@pytest.mark.parametrize(
    "answer", ["d c b a", "d, c, b, a", "dcba", "D > C > B > A", "d -> c -> b -> a", "[d,c,b,a]"]
)
def test_ordering_notations(answer):
    assert grade(ordering(), answer).is_full


@pytest.mark.parametrize(
    ("policy", "answer", "points"),
    [
        ("pairs", "c d b a", 4 / 6),
        ("pairs", "a b c d", 0.0),
        ("positions", "c d b a", 0.5),
        ("positions", "a d c b", 0.0),
        ("exact", "c d b a", 0.0),
    ],
)
def test_ordering_policies(policy, answer, points):
    result = grade(ordering(policy), answer)
    assert result.points == pytest.approx(points)
    assert "Later needs earlier." in result.message


@pytest.mark.parametrize(
    ("answer", "reason"),
    [("d c b", "card a is missing"), ("d c b a a", "more than once"), ("d c b e", "no e")],
)
def test_ordering_format_errors(answer, reason):
    with pytest.raises(ResponseFormatError, match=reason):
        grade(ordering(), answer)


@pytest.mark.parametrize("policy", ["exact", "positions", "pairs"])
def test_chance_of_orders_is_the_mean_over_all_orders(policy):
    field = ordering(policy)
    points = [grade(field, " ".join(order)).points for order in permutations("abcd")]
    assert chance_score(field) == pytest.approx(sum(points) / 24)


def matching(policy="each-answer"):
    prompts = tuple(ChoiceOption(str(i), text(f"p{i}"), feedback=f"About {i}.") for i in (1, 2, 3))
    targets = tuple(ChoiceOption(c, text(f"t{c}")) for c in "abcd")
    return Part("answer", "matching", 3.0, key_ids=("c", "a", "a"), options=targets, prompts=prompts,
                settings={"policy": policy})  # fmt: skip


@pytest.mark.parametrize(
    "answer",
    ["1-c, 2-a, 3-a", "1c 2a 3a", "1: c; 2: a; 3: a", "3=a\n2=a\n1=c", "c a a", "c, a, a", "caa",
     "1->c, 2->a, 3->a",
     "(1) (c), (2) (a), (3) (a)", "1 C 2 A 3 A", "{1: c, 2: a, 3: a}", "1 – c, 2 − a, 3-a"],
)  # fmt: skip
def test_matching_notations(answer):
    assert grade(matching(), answer).is_full


def test_matching_credit_and_feedback():
    result = grade(matching(), "1-c, 2-b")
    assert result.points == pytest.approx(1.0)
    assert result.message == "1 of 3 pairs is right; 2 and 3 are not. About 2."
    assert grade(matching("exact"), "1-c, 2-b, 3-a").points == 0


@pytest.mark.parametrize(
    "answer", ["1-e", "4-a", "1-c, 1-a", "c a", "c a a a", "1-", "1", "?", "1-c 2 3", "x" * 20_000, "1c,,q"]
)
def test_matching_format_errors(answer):
    with pytest.raises(ResponseFormatError):
        grade(matching(), answer)


def test_chance_of_matchings():
    field = matching()
    points = [grade(field, " ".join(picked)).points / 3 for picked in product("abcd", repeat=3)]
    assert chance_score(field) == pytest.approx(sum(points) / 64)
    field = matching("exact")
    assert chance_score(field) == pytest.approx(float(Fraction(1, 64)))


def token(**settings):
    known = (KnownWrong("m-step-max", "Another prefix.", text="A C"),)
    return Part("answer", "token", 1.0, key_ids=("B C", "b then c"), known_wrong=known,
                settings={"case_sensitive": False, **settings})  # fmt: skip


@pytest.mark.parametrize(
    "answer", ["B C", "b c", " B  C ", "B, C", "[B, C]", "B -> C", "(b;c)", "b then c", '"B C"']
)
def test_tokens(answer):
    assert grade(token(), answer).is_full


def test_wrong_tokens():
    result = grade(token(), "a c")
    assert [d.misconception for d in result.diagnosis] == ["m-step-max"]
    assert result.points == 0
    assert not grade(token(case_sensitive=True), "b c").is_full
    assert not grade(token(), "BC").is_full
    for answer in ("x" * 201, "[]", ",,"):
        with pytest.raises(ResponseFormatError):
            grade(token(), answer)


@pytest.mark.parametrize("field", [SINGLE, multiple(), ordering(), matching(), token()], ids=lambda f: f.type)
def test_every_field_tests_itself(field):
    for answer in right_responses(field):
        assert grade(field, answer).is_full, answer
    wrong = wrong_responses(field)
    assert wrong
    for answer, misconception in wrong:
        result = grade(field, answer)
        assert not result.is_full
        if misconception:
            assert misconception in [d.misconception for d in result.diagnosis]
    assert blank_hint(field)
    assert policy_text(field)
    assert grade(field, " ").points == 0


def test_scoring_rules_are_shown_where_guessing_is_a_decision():
    assert blank_hint(SINGLE) == "one letter, a to c"
    for field in (multiple(), ordering(), matching()):
        assert blank_hint(field).endswith("; " + policy_text(field))


def test_markup_in_answers_is_only_shown():
    with pytest.raises(ResponseFormatError) as caught:
        grade(SINGLE, "[bold]x[/bold]\x1b[31m<script>")
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("length", [30, 3000])
def test_an_option_is_read_by_its_own_text_however_long_and_nothing_much_longer(length):
    long = "word " * length + "end"
    field = Part(
        "answer",
        "single_choice",
        1.0,
        key_ids=("a",),
        options=(ChoiceOption("a", text(long), correct=True), ChoiceOption("b", text("b"))),
    )
    assert grade(field, long.replace(" ", "\n ")).is_full
    with pytest.raises(ResponseFormatError, match="at most"):
        grade(field, long + " " * max(2000, len(long)) + "x")


THREE = tuple(ChoiceOption(letter, text(f"card {letter}")) for letter in "abc")


@pytest.mark.parametrize(
    "answer",
    ["c-a-b", "c – a – b", "c → a → b", "c => a => b", "ｃ，ａ，ｂ", "c then a then b", "(c) - (a) - (b)"],
)
def test_an_order_is_read_as_people_write_it(answer):
    assert grade(Part("answer", "ordering", 1.0, key_ids=("c", "a", "b"), options=THREE), answer).is_full


def test_letters_with_words_between_them_and_a_range_that_is_none():
    field = Part("answer", "multiple_choice", 1.0, key_ids=("a", "c"), options=THREE)
    assert grade(field, "a und c").is_full
    with pytest.raises(ResponseFormatError):
        grade(field, "a-c")
