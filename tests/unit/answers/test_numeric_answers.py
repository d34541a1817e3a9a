"""Number, vector and matrix answers: intervals, shapes, near misses, known mistakes, partial credit."""

from __future__ import annotations

import pytest

from engine.answers import answer_type, answer_types, blank_hint, chance_score, policy_text, right_responses
from engine.errors import ResponseFormatError, UsageError
from engine.model import FloatArray, KnownWrong, Part, Verdict


def part(kind="vector", shape=(3,), key=(0.665241, 0.244728, 0.090031), half=0.00055, place=3, **settings):
    lower = [f"{x - half:.6f}" for x in key]
    upper = [f"{x + half:.6f}" for x in key]
    known = settings.pop("known", ())
    stated = {
        "decimals": place, "significant": None, "working_decimals": 4, "tolerance": None,
        "places": [place] * len(key), "lower": lower, "upper": upper, "decimal_comma": False,
        "simplex": False, "near_credit": 0.0, "partial": "all", "unit": None,
    }  # fmt: skip
    return Part(
        "answer", kind, 2.0, key=FloatArray(shape, key), known_wrong=known, settings={**stated, **settings}
    )


def grade(field, text):
    return answer_type(field.type).grade(field, text)


def ids(result):
    return [d.misconception for d in result.diagnosis]


MISTAKES = (
    KnownWrong("m-base2", "Powers of 2.", FloatArray((3,), (0.571429, 0.285714, 0.142857))),
    KnownWrong("m-twin", "A twin.", FloatArray((3,), (0.571431, 0.285713, 0.142856))),
    KnownWrong("m-no-sum", "Not summed.", FloatArray((2, 3), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0))),
)


@pytest.mark.parametrize(
    "text",
    [
        "0.665, 0.245, 0.090",
        "[.665 .245 .09]",
        "0.66524 0.24473 0.09003",
        "0.665; 0.245; 0.09",
        "665/1000 49/200 9e-2",
    ],
)
def test_right_answers(text):
    result = grade(part(), text)
    assert (result.points, result.is_full, result.message) == (2.0, True, "Right.")
    assert result.checks[0].verdict is Verdict.PASSED
    assert result.diagnosis == ()


def test_one_wrong_entry_is_all_wrong_by_default():
    result = grade(part(), "0.665, 0.3, 0.09")
    assert result.points == 0
    assert result.message == "2 of 3 entries are right; entry 2 isn't."
    assert result.checks[0].verdict is Verdict.FAILED


def test_partial_credit_entry_by_entry():
    result = grade(part(partial="per-entry"), "0.665, 0.3, 0.5")
    assert result.points == pytest.approx(2 / 3)
    assert result.message == "1 of 3 entries is right; entry 2 and entry 3 aren't."


def test_the_interval_is_closed_and_decimal():
    field = part("number", (), (45.8,), half=0.2, place=None, decimals=None)
    assert grade(field, "46").is_full
    assert grade(field, "45.6").is_full
    assert not grade(field, "46.0000001").is_full


def test_a_miss_by_rounding_is_named_and_may_earn_credit():
    text = "0.665, 0.244, 0.091"
    result = grade(part(), text)
    assert (result.points, ids(result)) == (0, ["m-rounding"])
    assert "Entry 2 and entry 3 miss the right value by about one unit" in result.diagnosis[0].message
    assert grade(part(near_credit=0.5), text).points == 1.0
    assert grade(part(near_credit=0.5, partial="per-entry"), text).points == pytest.approx(
        2 * (1 + 0.5 + 0.5) / 3
    )


def test_a_larger_miss_is_no_rounding():
    assert ids(grade(part(near_credit=0.5), "0.665, 0.243, 0.092")) == []
    assert grade(part(near_credit=0.5), "0.665, 0.243, 0.092").points == 0


def test_whole_numbers_are_never_nearly_right():
    field = part("number", (), (12.0,), half=0, place=None, decimals=None)
    assert ids(grade(field, "13")) == []
    assert grade(field, "12.0").is_full
    field = part("number", (), (12.0,), half=0.5, place=0)
    assert ids(grade(field, "13")) == []


def test_known_mistakes_are_named_all_that_fit():
    result = grade(part(known=MISTAKES), "0.571, 0.286, 0.143")
    assert ids(result) == ["m-base2", "m-twin"]
    assert result.diagnosis[0].message == "Your answer is what this known mistake gives. Powers of 2."
    assert ids(grade(part(known=MISTAKES), "0.571, 0.286, 0.144")) == []


def test_a_known_mistake_of_another_shape_is_observed():
    field = part(known=MISTAKES)
    kind = answer_type("vector")
    with pytest.raises(ResponseFormatError, match="2 rows of 3 numbers, but the field takes 3 numbers"):
        kind.parse("1 2 3; 4 5 6", field)
    assert [d.misconception for d in kind.observe(field, "1 2 3; 4 5 6")] == ["m-no-sum"]
    assert kind.observe(field, "1 2 3; 4 5 7") == ()
    assert kind.observe(field, "nonsense") == ()


@pytest.mark.parametrize(
    ("kind", "shape", "text", "got"),
    [
        ("vector", (3,), "1 2", "2 numbers"),
        ("vector", (3,), "1", "1 number"),
        ("vector", (3,), "1 2 3 4", "4 numbers"),
        ("vector", (2,), "1 2; 3 4", "2 rows of 2 numbers"),
        ("matrix", (2, 2), "1 2", "2 numbers"),
        ("matrix", (2, 2), "1 2 3 4", "4 numbers"),
        ("matrix", (2, 2), "1 2; 3", "rows of 2, 1 numbers"),
        ("matrix", (2, 3), "1 2; 3 4; 5 6", "3 rows of 2 numbers"),
        ("matrix", (3, 1), "1 2 3", "3 numbers"),
        ("number", (), "1 2", "2 numbers"),
    ],
)
def test_nothing_is_broadcast_and_shapes_are_an_error_of_their_own(kind, shape, text, got):
    size = 1
    for n in shape:
        size *= n
    field = part(kind, shape, (1.0,) * size)
    with pytest.raises(ResponseFormatError) as caught:
        grade(field, text)
    assert caught.value.what.startswith(f"this is {got}, but the field takes ")


def test_a_decimal_comma_where_it_is_not_allowed_is_explained():
    with pytest.raises(ResponseFormatError, match="type a point"):
        grade(part(), "0,665,0,245,0,09")
    with pytest.raises(ResponseFormatError, match="put a blank or ; between"):
        grade(part("vector", (2,), (1.0, 2.0), decimal_comma=True), "1,2")
    assert grade(part(decimal_comma=True), "0,665 0,245 0,09").is_full


def test_weights_that_do_not_sum_to_one_are_told_so_apart():
    result = grade(part(simplex=True), "0.665, 0.245, 0.2")
    assert [(c.id, c.verdict, c.max_points) for c in result.checks[1:]] == [
        ("answer-weights", Verdict.FAILED, 0.0)
    ]
    assert result.checks[1].message == "The weights sum to 1.110, not to 1."
    result = grade(part(simplex=True), "-0.1, 0.5, 0.6")
    assert result.checks[1].message == "A weight is negative."
    assert grade(part(simplex=True), "0.5, 0.4, 0.1").checks[1].verdict is Verdict.PASSED
    # three weights rounded to 3 places may miss 1 by 0.0015
    assert grade(part(simplex=True), "0.5, 0.4, 0.101").checks[1].verdict is Verdict.PASSED
    assert grade(part(simplex=True), "0.5, 0.4, 0.102").checks[1].verdict is Verdict.FAILED


def test_rows_of_a_weight_matrix_sum_to_one_each():
    field = part("matrix", (2, 2), (0.5, 0.5, 0.3, 0.7), half=0.0005, simplex=True)
    assert grade(field, "0.5 0.5; 0.3 0.7").checks[1].verdict is Verdict.PASSED
    assert grade(field, "0.5 0.3; 0.5 0.7").checks[1].verdict is Verdict.FAILED


def test_partial_credit_of_matrices():
    key = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    text = "1 2 3; 4 5 7"
    result = grade(part("matrix", (2, 3), key, half=0.0005), text)
    assert result.points == 0
    assert result.message == "5 of 6 entries are right; row 2 column 3 isn't."
    assert grade(part("matrix", (2, 3), key, partial="per-row", half=0.0005), text).points == 1.0
    assert grade(part("matrix", (2, 3), key, partial="per-entry", half=0.0005), text).points == pytest.approx(
        5 / 3
    )


def test_units_may_be_typed():
    field = part("number", (), (546.0,), half=0, place=None, decimals=None, unit="tokens")
    for text in ("546", "546 tokens", "546tokens", "546 Tokens"):
        assert grade(field, text).is_full
    with pytest.raises(ResponseFormatError):
        grade(field, "546 bits")
    assert blank_hint(field) == "a whole number, in tokens"


@pytest.mark.parametrize("text", ["", "  ", "\n\t"])
def test_blank_answers_earn_nothing(text):
    result = grade(part(near_credit=1.0, partial="per-entry"), text)
    assert (result.points, result.is_blank, result.message) == (0.0, True, "No answer.")


@pytest.mark.parametrize(
    "field",
    [
        part(),
        part("vector", (2,), (-0.5, 1.25), place=2, half=0.005),
        part("number", (), (-0.5,), place=2, half=0.005),
        part("number", (), (12.0,), half=0, place=None, decimals=None),
        part("number", (), (12300.0,), half=50, place=-2, decimals=None, significant=3),
        part("matrix", (2, 3), (-1.0, 0.5, 0.0, 2.0, 3.25, -4.0), place=2, half=0.005),
        part("matrix", (1, 2), (0.5, 1.0), place=1, half=0.05),
        part("matrix", (2, 1), (0.5, 1.0), place=1, half=0.05),
        part("vector", (1,), (0.5,), place=1, half=0.05),
    ],
    ids=str,
)
def test_every_field_tests_itself(field):
    texts = right_responses(field)
    assert len(texts) >= 2
    assert all(grade(field, text).is_full for text in texts)


def test_hints_and_policies():
    assert blank_hint(part()) == "3 numbers to 3 decimal places, separated by commas or spaces"
    assert blank_hint(part("matrix", (1, 3), place=1)) == (
        "1 row of 3 numbers to 1 decimal place, with ; or a new line between rows"
    )
    assert blank_hint(part("number", (), (1.0,), place=None, decimals=None, significant=3)) == (
        "a number to 3 significant figures"
    )
    assert policy_text(part()) == "all entries must be right"
    assert policy_text(part(partial="per-entry")) == "each right entry earns its share"
    assert chance_score(part()) == 0


def test_the_registry():
    assert answer_types() == (
        "single_choice", "multiple_choice", "number", "vector", "matrix", "ordering", "matching", "token",
        "free_text",
    )  # fmt: skip
    with pytest.raises(UsageError, match="can't be typed"):
        answer_type("code")
    with pytest.raises(UsageError):
        answer_type("essay")
