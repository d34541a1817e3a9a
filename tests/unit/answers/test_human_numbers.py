"""Numbers in the spellings of people: decimal commas, thousands, words around them, every minus sign."""

from __future__ import annotations

import unicodedata
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.answers import answer_type, blank_hint
from engine.errors import ResponseFormatError
from engine.model import FloatArray, KnownWrong, Part
from tests.timing import cpu_seconds


def part(kind, shape, key, *, place=3, half=None, known=(), **settings):
    half = (0 if place == 0 else 0.5 * 10.0**-place) if half is None else half
    stated = {
        "decimals": place,
        "significant": None,
        "tolerance": None,
        "places": [place] * len(key),
        "lower": [f"{x - half:.6f}" if half else f"{x:g}" for x in key],
        "upper": [f"{x + half:.6f}" if half else f"{x:g}" for x in key],
    }
    return Part(
        "answer", kind, 1.0, key=FloatArray(shape, key), known_wrong=known, settings=stated | settings
    )


HALF = part("number", (), (0.5,))
COUNT = part("number", (), (25270.0,), place=0)
STEPS = part("number", (), (28.0,), place=0)
WEIGHTS = part("vector", (3,), (0.058, 0.652, 0.290))
SCORES = part("vector", (3,), (5.0, -15.0, -9.0), place=0)
TABLE = part("matrix", (2, 2), (0.5, 0.25, 0.125, 0.75))
MASK = part("matrix", (3, 3), (1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0), place=0)


def grade(field, text):
    return answer_type(field.type).grade(field, text)


def refused(field, text):
    with pytest.raises(ResponseFormatError) as caught:
        grade(field, text)
    assert "costs no attempt" in (caught.value.next_step or "")
    return caught.value


RIGHT = [
    (
        HALF,
        [
            "0,5",
            ",5",
            "0.5",
            "+0,500",
            "0,5.",
            "x = 0,5",
            "w: 0.5",
            "≈ 0.5",
            "~0.5",
            "0.5 (rounded)",
            "= 0.5",
            "0.500 (rounded to 3 decimals)",
            "'0.5'",
            '"0,5"',
            "０．５",
            "α = 0.5",
            "w_1 = 0.5",
            "(0,5)",
        ],
    ),
    (
        COUNT,
        ["25270", "25270.", "25270.0", "2.527e4", "25270 parameters", "n = 25270", "50540/2", "２５２７０"],
    ),
    (STEPS, ["28 steps", "28 Steps.", "28steps", "28.0", "28 multiplications", "[28]"]),
    (
        WEIGHTS,
        [
            "0,058 0,652 0,290",
            "0,058; 0,652; 0,290",
            "0,058, 0,652, 0,290",
            "0,058\n0,652\n0,290",
            "[0,058; 0,652; 0,290]",
            "w = [0.058, 0.652, 0.290]",
            "(0.058, 0.652, 0.290) (rounded)",
            "0.058, 0.652 and 0.290",
            "0,058 und 0,652 und 0,29",
            "[0.058, 0.652, 0.290].",
            "α: 0.058 0.652 0.290",
            "(,058 ,652 ,290)",
            "c^(t) = 0.058; 0.652; 0.290",
        ],
    ),
    (
        SCORES,
        [
            "5, -15, -9",
            "5 −15 －9",
            "5,-15,-9",
            "5.0, -15.0, -9.0",
            "[5; -15; -9]",
            "5 – 15".replace("– 15", "–15 –9"),
        ],
    ),
    (
        TABLE,
        [
            "0,5 0,25; 0,125 0,75",
            "0,5 0,25\n0,125 0,75",
            "[[0,5 0,25] [0,125 0,75]]",
            "0,5, 0,25; 0,125, 0,75",
            "[[0,5; 0,25], [0,125; 0,75]]".replace("; ", " "),
            "A = [[0.5, 0.25], [0.125, 0.75]]",
        ],
    ),
    (MASK, ["1 0 0; 1 1 0; 1 1 1", "1,0,0\n1,1,0\n1,1,1", "[[1,0,0],[1,1,0],[1,1,1]]"]),
]


@pytest.mark.parametrize(("field", "text"), [(field, text) for field, texts in RIGHT for text in texts])
def test_what_is_clear_is_read(field, text):
    assert grade(field, text).is_full


@pytest.mark.parametrize(
    "text", ["25,270", "25 270", "25'270", "25’270", "25\u2009270", "25\u00a0270", "25\u202f270", "25_270"]
)
def test_thousands_get_the_right_advice(text):
    assert refused(COUNT, text).what == "write large numbers without separators: 25270"


def test_a_point_may_separate_thousands_and_is_no_whole_number():
    for text in ("25.270", "25.000", "1.000.000"):
        assert "without separators: " + text.replace(".", "") in refused(COUNT, text).what
    assert refused(HALF, "12,345.5").what == "write large numbers without separators: 12345.5"
    assert refused(HALF, "12.345,5").what == "write large numbers without separators: 12345.5"
    assert refused(HALF, "1 234.5").what == "write large numbers without separators: 1234.5"
    assert "such as 25270" in refused(SCORES, "25,270 30,100 40,200").what


def test_what_could_be_thousands_is_not_decided():
    error = refused(HALF, "1,234")
    assert (error.what, error.expected) == (
        "a comma can be a decimal mark or separate thousands here",
        "1.234 with a decimal point, or 1234 without separators",
    )
    course = part("number", (), (1.234,), decimal_comma=True)
    assert grade(course, "1,234").is_full
    assert grade(part("number", (), (0.234,)), "0,234").is_full
    assert grade(part("number", (), (1234.567,)), "1234,567").is_full
    refused(part("vector", (2,), (1.234, 5.678)), "1,234 5,678")
    assert grade(part("vector", (2,), (1.234, 0.678)), "1,234 0,678").is_full


@pytest.mark.parametrize("text", ["0,058,0,652,0,290", "0,058 0.652 0,290", "0,1 0,2"])
def test_commas_that_can_not_be_decided_cost_nothing(text):
    refused(WEIGHTS, text)
    refused(part("vector", (4,), (0.0, 1.0, 0.0, 2.0)), "0,1 0,2")


@pytest.mark.parametrize(
    "text",
    [
        "30 (million)",
        "28 thousand",
        "28 k",
        "28 %",
        "28 MB",
        "28 or 29",
        "28 (29)",
        "2 * 14 = 28",
        "28 dozen",
        "- x = 28",
    ],
)
def test_words_that_may_change_a_number_stay(text):
    refused(STEPS, text)


@pytest.mark.parametrize(
    ("field", "text", "what"),
    [
        (part("number", (), (6.0,), place=0), "6.5", "a whole number, and 6.5 isn't one"),
        (part("number", (), (6.0,), place=0), "13/2", "a whole number, and 6.5 isn't one"),
        (part("number", (), (6.0,), place=0), "6,5", "whole numbers, without a decimal mark"),
        (SCORES, "5.4, -15.3, -9", "not whole: entry 1 (5.4) and entry 2 (-15.3)"),
        (MASK, "0.6 0 0; 1 1 0; 1 1 1", "not whole: row 1 column 1 (0.6)"),
    ],
)  # fmt: skip
def test_a_whole_number_field_takes_whole_numbers(field, text, what):
    assert refused(field, text).what.endswith(what)


def test_a_whole_number_is_right_or_not():
    for text, right in (("590", False), ("594", True), ("593", False), ("594.0", True), ("5.94e2", True)):
        result = grade(part("number", (), (594.0,), place=0, near_credit=1.0), text)
        assert (result.is_full, result.diagnosis) == (right, ())


def test_a_mistake_that_is_not_whole_is_named_and_costs_nothing():
    known = (KnownWrong("m-sqrt-n", "The root of n.", value=FloatArray((), (57**0.5,))),)
    field = part("number", (), (7.0,), place=0, known=known)
    for text in ("7.5", "7.55", "7.6", "7.5498"):
        refused(field, text)
        assert [d.misconception for d in answer_type("number").observe(field, text)] == ["m-sqrt-n"]
    assert answer_type("number").observe(field, "7.3") == ()
    assert [d.misconception for d in grade(field, "8").diagnosis] == ["m-sqrt-n"]


def test_only_a_slip_in_the_last_place_is_called_rounding():
    field = part("number", (), (45.8,), place=1, half=0.2)
    assert grade(field, "45.5").diagnosis == ()
    narrow = part("number", (), (0.1917,), place=3)
    assert [d.misconception for d in grade(narrow, "0.191").diagnosis] == ["m-rounding"]
    assert grade(narrow, "0.190").diagnosis == ()


def test_a_wide_field_says_what_it_accepts():
    assert blank_hint(part("number", (), (45.8,), place=1, half=0.2)).endswith(
        "; up to 0.2 off counts as right"
    )
    assert "counts as right" not in blank_hint(HALF)
    assert blank_hint(COUNT) == "a whole number"


DASHES = [
    chr(code)
    for code in range(0x110000)
    if unicodedata.category(chr(code)) == "Pd" or "MINUS SIGN" in unicodedata.name(chr(code), "")
]
# they mean "about", "to", or an operation
NO_MINUS = set("\u301c\u3030\u30a0\u2e1a\u2e17\u2e40\u2e5d")


@pytest.mark.parametrize("dash", DASHES, ids=lambda dash: f"U+{ord(dash):04X}")
def test_every_dash_is_a_minus_sign_or_costs_nothing(dash):
    field = part("number", (), (-0.125,))
    name = unicodedata.name(dash)
    if dash in NO_MINUS or (
        name not in {"MINUS SIGN", "HEAVY MINUS SIGN"} and "MINUS SIGN" in name and "MODIFIER" not in name
    ):
        try:
            assert grade(field, f"{dash}0.125").is_full
        except ResponseFormatError:
            return
    assert grade(field, f"{dash}0.125").is_full
    assert grade(field, f" {dash} 0.125 ").is_full
    assert grade(part("number", (), (0.5,)), f"5e{dash}1").is_full or dash in "\u207b\u208b"


@pytest.mark.parametrize(
    "sign", "\u2212\uff0d\ufe63\u207b\u208b\u2010\u2011\u2012\u2013\u2014\u2015\u02d7\u2796"
)
def test_the_usual_minus_signs(sign):
    assert grade(part("vector", (2,), (-0.1111, 0.5), place=4), f"{sign}0.1111, 0.5").is_full


@pytest.mark.parametrize("sign", "+\uff0b\ufe62\u207a\u2795")
def test_the_usual_plus_signs(sign):
    assert grade(HALF, f"{sign}0.5").is_full


# --- no spelling turns a wrong answer right -----------------------------------------------

entries = st.integers(-9999, 9999).map(lambda n: Fraction(n, 1000))


def spelt(value: Fraction, comma: bool, minus: str, zero: bool) -> str:
    digits = f"{abs(float(value)):.3f}"
    digits = digits if zero or not digits.startswith("0.") else digits[1:]
    digits = digits.replace(".", ",") if comma else digits
    return (minus if value < 0 else "") + digits


@given(
    st.lists(entries, min_size=3, max_size=3),
    st.lists(entries, min_size=3, max_size=3),
    st.booleans(),
    st.sampled_from("-\u2212\u2013\uff0d"),
    st.booleans(),
    st.sampled_from([", ", " ", "; ", "\n", "  ", " and "]),
    st.sampled_from(["{}", "[{}]", "({})", "w = {}", "{} (rounded)", "{}.", "“{}”"]),
)
def test_no_spelling_changes_a_vector(key, answer, comma, minus, zero, glue, frame):
    text = frame.format(glue.join(spelt(value, comma, minus, zero) for value in answer))
    field = part("vector", (3,), tuple(map(float, key)))
    try:
        result = grade(field, text)
    except ResponseFormatError:
        assert comma  # all could be thousands
        assert all(abs(value) >= 1 for value in answer) or not zero
        return
    assert result.is_full is (answer == key)


@given(
    st.integers(-(10**9), 10**9),
    st.integers(-(10**9), 10**9),
    st.sampled_from([",", " ", "'", "_", ".", "\u2009", ""]),
)
def test_no_grouping_of_thousands_changes_a_count(key, answer, mark):
    text = f"{answer:,}".replace(",", mark)
    field = part("number", (), (float(key),), place=0)
    field.settings["lower"] = field.settings["upper"] = [str(key)]
    if mark and abs(answer) >= 1000:
        assert str(abs(answer)) in refused(field, text).what
    else:
        assert grade(field, text).is_full is (answer == key)


@pytest.mark.parametrize(
    "text",
    ["(" * 9800, "[" * 4900 + "]" * 4900, "0.1 " * 2400, "," * 9800, "a" * 9800, " " * 9800 + "1", "1" * 9800,
     "[0.1," * 1900,
     "-" * 9800, "array(" * 1600, "0,1" * 3000, "x=" * 4000, "'" * 9800,
     "1 / " * 2400, "(" * 200 + "1" + ")" * 200],
)  # fmt: skip
@pytest.mark.parametrize("field", [HALF, WEIGHTS, TABLE, MASK], ids=["number", "vector", "matrix", "mask"])
def test_what_is_longer_than_any_answer_is_refused_at_once(field, text):
    assert cpu_seconds(lambda: refused(field, text), 0.05) < 0.05


@pytest.mark.parametrize(
    ("field", "text"),
    [
        (HALF, "0.5\u200b"),
        (HALF, "\ufeff0,5"),
        (HALF, "ungefähr 0,5"),
        (HALF, "environ 0,5"),
        (HALF, "0,5 (gerundet)"),
        (STEPS, "28 Schritte"),
        (STEPS, "28 étapes"),
        (SCORES, "\u200e5; -15; -9"),
        (part("number", (), (-0.25,)), "minus 0.25"),
        (part("number", (), (-0.25,)), "moins 0,25"),
    ],
)
def test_words_of_neighbours_and_marks_without_width_are_read_past(field, text):
    result = grade(field, text)
    assert result.points == result.max_points


@pytest.mark.parametrize("text", ["5 minus 3", "minus minus 0.25", "0.25 minus", "minus"])
def test_a_word_for_minus_is_read_at_the_beginning_only(text):
    refused(part("number", (), (-0.25,)), text)
