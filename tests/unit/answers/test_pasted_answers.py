"""Answers as they come from notebooks, typesetters, tables and forms: read as meant, or refused in words."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.answers import answer_type
from engine.answers.typed_text import unpasted
from engine.errors import ResponseFormatError
from engine.model import ChoiceOption, FloatArray, Part, RenderedText


def text(words: str) -> RenderedText:
    return RenderedText(words, words, words)


TEXTS = {
    "a": "They stay as they are.",
    "b": "All three grow, by the factor 3.",
    "c": "Positions with a 'negative' score; these get 0.",
    "d": "All three",
}


def choice(kind: str, *right: str) -> Part:
    options = tuple(
        ChoiceOption(label, text(words), correct=label in right) for label, words in TEXTS.items()
    )
    return Part("answer", kind, 1.0, key_ids=right, options=options)


def number_field(kind: str, shape: tuple[int, ...], key: tuple[float, ...]) -> Part:
    ends = [f"{value:.6f}" for value in key]
    settings = {"decimals": 3, "places": [3] * len(key), "lower": ends, "upper": ends}
    return Part("answer", kind, 1.0, key=FloatArray(shape, key), settings=settings)


def parse(part: Part, typed: str):
    return answer_type(part.type).parse(typed, part)


MATRIX = [
    r"\begin{pmatrix} 0.5 & -0.25 \\ 1 & 2 \end{pmatrix}",
    r"$$\begin{bmatrix}0.5&-0.25\\1&2\\\end{bmatrix}$$",
    r"A = \left[\begin{array}{cc}0.5 & -0.25 \\ 1 & 2\end{array}\right]",
    r"0.5 & -0.25 \\ 1 & 2",
    "| 0.5 | -0.25 |\n| 1 | 2 |",
    "|0.5|-0.25|\n|1|2|",
    "| a | b |\n|---|:-:|\n| 0.5 | -0.25 |\n| 1 | 2 |",
    "0.5 | -0.25\n1 | 2",
    "0.5\t-0.25\n1\t2",
    "0,5; -0,25\n1; 2",
    "0.5;-0.25\n1;2",
    "- [0.5, -0.25]\n- [1, 2]",
    "array([[np.float64(0.5), np.float64(-0.25)], [np.float64(1.0), np.float64(2.0)]])",
    "⎡0.5 -0.25⎤\n⎣1 2⎦",
    "<(0.5, -0.25), (1, 2)>",
    "[[½, -¼], [1, 2·10^0]]",
]


@pytest.mark.parametrize("typed", MATRIX)
def test_a_matrix_from_elsewhere(typed: str) -> None:
    part = number_field("matrix", (2, 2), (0.5, -0.25, 1.0, 2.0))
    assert parse(part, typed) == (Fraction(1, 2), Fraction(-1, 4), 1, 2)


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("2.5·10^-3", "2.5e-3"),
        ("-2.5 × 10⁻³", "-2.5e-3"),
        ("1.2 x 10^{-2}", "1.2e-2"),
        ("3*10**(2)", "3e2"),
        (r"4 \times 10^5", "4e5"),
        ("1½", "3/2"),
        ("0.1½", "0.1½"),
        (r"-\frac{1}{3}", "-1/3"),
        (r"\boxed{3.5}", "3.5"),
        ("np.float64(0.5)", "0.5"),
        ("3{,}5", "3,5"),
        ("2*3", "2*3"),
        ("a10^2", "a10^2"),
        ("3*100^2", "3*100^2"),
    ],
)
def test_only_notation_is_changed(typed: str, plain: str) -> None:
    assert unpasted(typed) == plain


@given(st.integers(-(10**6), 10**6), st.integers(-20, 20))
def test_powers_of_ten_keep_their_value(digits: int, exponent: int) -> None:
    for sign in ("·10^", " x 10^", "*10**"):
        assert Decimal(unpasted(f"{digits}{sign}{exponent}")) == Decimal(digits).scaleb(exponent)


def test_dashes_before_lines_arent_taken_for_minus_signs() -> None:
    part = number_field("vector", (2,), (0.5, 0.25))
    with pytest.raises(ResponseFormatError, match="the dash before each line"):
        parse(part, "- 0.5\n- 0.25")
    assert parse(part, "-0.5\n-0.25") == (Fraction(-1, 2), Fraction(-1, 4))


@pytest.mark.parametrize(
    "typed",
    [
        "b",
        '"b"',
        "**b**",
        "`b`",
        "- b",
        "the answer is b",
        "Answer: (b)",
        TEXTS["b"],
        f'"{TEXTS["b"]}"',
        f"b) {TEXTS['b']}",
        f"(b) {TEXTS['b'][:-1]}",
        f"B: {TEXTS['b']}",
        f"b - {TEXTS['b']}",
        f"b\n{TEXTS['b']}",
    ],
)
def test_one_option_in_any_form(typed: str) -> None:
    assert parse(choice("single_choice", "b"), typed) == "b"


def test_a_text_in_another_alphabet_that_looks_the_same() -> None:
    assert parse(choice("single_choice", "a"), "а") == "a"
    with pytest.raises(ResponseFormatError):  # third of its alphabet, and alike to no letter of ours
        parse(choice("single_choice", "b"), "в")


@pytest.mark.parametrize("typed", [f"a) {TEXTS['b']}", f"{TEXTS['a']} {TEXTS['b']}", "All three grow", "2"])
def test_what_fits_no_one_option_is_refused(typed: str) -> None:
    with pytest.raises(ResponseFormatError):
        parse(choice("single_choice", "b"), typed)


@pytest.mark.parametrize(
    "typed",
    [
        "['b', 'c']",
        "- b\n- c",
        f"{TEXTS['b']}; {TEXTS['c']}",
        f"{TEXTS['c']}, {TEXTS['b']}",
        f"{TEXTS['b']}\n{TEXTS['c']}",
        f'"{TEXTS["b"]}", "{TEXTS["c"]}"',
        f"b) {TEXTS['b']}; c) {TEXTS['c']}",
        f"{TEXTS['b'][:-1]};{TEXTS['c'][:-1]}",
    ],
)
def test_several_options_in_any_form(typed: str) -> None:
    assert parse(choice("multiple_choice", "b", "c"), typed) == {"b", "c"}


def test_a_text_that_begins_another_one_is_itself() -> None:
    part = choice("multiple_choice", "b", "d")
    assert parse(part, "All three; They stay as they are.") == {"a", "d"}
    assert parse(part, "All three grow, by the factor 3.; All three") == {"b", "d"}


@pytest.mark.parametrize(
    "typed",
    [
        "1. c 2. a 3. d 4. b",
        "1) c\n2) a\n3) d\n4) b",
        "1-c, 2-a, 3-d, 4-b",
        "2=a 1=c 4=b 3=d",
        '["c", "a", "d", "b"]',
        "c – a – d – b",
        "\n".join(TEXTS[label] for label in "cadb"),
        "\n".join(f"{n + 1}. {TEXTS[label]}" for n, label in enumerate("cadb")),
    ],
)
def test_an_order_in_any_form(typed: str) -> None:
    assert parse(choice("ordering", *"cadb"), typed) == tuple("cadb")


@pytest.mark.parametrize(
    "typed", ["1-c, 1-a, 2-d, 3-b", "1-c, 2-a, 3-d", "0-c 1-a 2-d 3-b", "1-c 2-a 3-d 4-e"]
)
def test_places_that_arent_an_order_are_refused(typed: str) -> None:
    with pytest.raises(ResponseFormatError):
        parse(choice("ordering", *"cadb"), typed)


@pytest.mark.parametrize(
    "typed",
    [
        "{'1': 'b', '2': 'a'}",
        "[(1, b), (2, a)]",
        "b-1, a-2",
        "Q1: b, Q2: a",
        "1 | b\n2 | a",
        "1⇒b, 2⇒a",
        "1_b 2_a",
        "b-a",
        f"1 - {TEXTS['b']}\n2 - {TEXTS['a']}",
        f"2: {TEXTS['a'][:-1]}; 1: {TEXTS['b']}",
    ],
)
def test_pairs_in_any_form(typed: str) -> None:
    options = choice("matching").options
    part = Part("answer", "matching", 1.0, key_ids=("b", "a"), options=options, prompts=(
        ChoiceOption("1", text("first")), ChoiceOption("2", text("second")),
    ))  # fmt: skip
    assert parse(part, typed) == {"1": "b", "2": "a"}


@pytest.mark.parametrize(
    "typed",
    [
        "(start) A B B",
        "<s> ABB",
        "[start] → A → B → B",
        "y = A B B",
        "Sequence: ABB",
        "Ａ Ｂ Ｂ",
        "$A B B$",
        r"A\ B\ B",
        "А В В",
    ],
)
def test_sequences_in_any_form(typed: str) -> None:
    part = Part("answer", "token", 1.0, key_ids=("A B B",))
    assert answer_type("token").grade(part, typed).points == 1


def test_an_end_token_that_the_exercise_lacks_is_called_so() -> None:
    part = Part("answer", "token", 1.0, key_ids=("A B B",))
    with pytest.raises(ResponseFormatError, match="has no end token"):
        parse(part, "A B B <eos>")


@pytest.mark.parametrize("spoilt", [0, 1, 2, 3])
def test_a_wrong_number_stays_wrong_in_every_notation(spoilt: int) -> None:
    values = ["0.5", "-0.25", "1", "2"]
    part = number_field("matrix", (2, 2), (0.5, -0.25, 1.0, 2.0))
    for typed in MATRIX:
        other = typed.replace(values[spoilt], "0.75", 1) if spoilt < 2 else typed.replace("2", "7")
        if other != typed:
            try:
                assert parse(part, other) != (Fraction(1, 2), Fraction(-1, 4), 1, 2)
            except ResponseFormatError:
                continue
