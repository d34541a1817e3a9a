"""Items that somebody else might write, each with one fault: lint names it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.authoring.lint.lint_items import lint_item
from engine.items import builtin_bank, load_spec

pytestmark = pytest.mark.slow

Data = dict[str, Any]
Change = Callable[[Data], object]
SEEDS = 12

SOURCE = {"document": "S0", "file": "000_fe1562997ed4e4a6.txt", "section": "5.1", "equations": ["2=5"]}
NUMBERS: Data = {
    "id": "own",
    "title": "Weights of three scores",
    "source": [SOURCE],
    "difficulty": 2,
    "bloom": "apply",
    "topics": ["softmax"],
    "needs": ["attention", "alignment-score", "softmax"],
    "minutes": 3,
    "effort": {"operations": 6, "decimals": 1},
    "parameters": {"e": {"kind": "vector", "size": 3, "range": [-2, 3], "step": 0.1, "distinct": True}},
    "constraints": [{"expr": "max(e) - min(e) >= 0.8", "message": "the scores differ"}],
    "stem": "Three alignment scores are ${{ tex(e) }}$. Compute their softmax. Round to 3 decimal places.",
    "answer": {"type": "vector", "key": "softmax(e)", "decimals": 3, "working_decimals": 4, "simplex": True},
    "misconceptions": [{"id": "m-base2", "expr": "base2(e)"}, {"id": "m-neg", "expr": "softmax(-e)"}],
    "hints": ["Take the exponential of every score first."],
    "solution": "The exponentials ${{ tex(exp(e), 4) }}$ over their sum are ${{ tex(key, 3) }}$.",
}
COUNT: Data = {
    **NUMBERS,
    "title": "A product",
    "topics": ["alignment-score"],
    "minutes": 2,
    "effort": {"operations": 3, "decimals": 0},
    "parameters": {
        "a": {"kind": "vector", "size": 3, "range": [-5, 9], "exclude": [0, 1]},
        "b": {"kind": "vector", "size": 3, "range": [-5, 9], "exclude": [0, 1]},
    },
    "constraints": [{"expr": "abs(dot(a, b)) >= 3", "message": "the score isn't 0"}],
    "stem": "Compute the score ${{ tex(a) }}^\\top {{ tex(b) }}$ as a whole number.",
    "answer": {"type": "number", "key": "dot(a, b)", "decimals": 0},
    "misconceptions": [
        {"id": "m-sum", "expr": "sum(a) * sum(b)", "feedback": "This is the product of the sums."}
    ],
    "hints": ["Multiply entry by entry, then add."],
    "solution": "The products are ${{ tex(a * b) }}$, and their sum is {{ num(key) }}.",
}
CHOICE: Data = {
    **{name: NUMBERS[name] for name in ("id", "source", "topics", "needs")},
    "title": "What the weights are",
    "difficulty": 1,
    "bloom": "understand",
    "minutes": 1,
    "variants": 1,
    "stem": "What does softmax do with the scores of a step?",
    "answer": {
        "type": "single_choice",
        "options": [
            {"text": "It turns them into positive numbers of sum 1.", "correct": True},
            {"text": "It keeps the largest one and drops the rest.", "feedback": "That would be hard."},
            {"text": "It divides each by the largest of them.", "feedback": "Then the sum would not be 1."},
            {"text": "It moves them so that their mean is 0.", "feedback": "That of weights is above 0."},
        ],
    },
    "hints": ["Think of what a weight has to be."],
    "solution": "Exponentials are positive, and division by their sum gives the total 1.",
}
SIZED: Data = {
    **NUMBERS,
    "effort": {"operations": 8, "decimals": 1},
    "parameters": {
        "n": {"kind": "choice", "from": [3, 4]},
        "e": {"kind": "vector", "size": "n", "range": [-2, 3], "step": 0.1, "distinct": True},
    },
    "stem": "The {{ n }} scores are ${{ tex(e) }}$. Compute their softmax. Round to 3 decimal places.",
}
COUNTED: Data = {
    **COUNT,
    "parameters": {"n": {"kind": "integer", "range": [1, 5]}, "m": {"kind": "integer", "range": [1, 60]}},
    "constraints": [],
    "stem": "With n = {{ n }} and m = {{ m }}, what is the number of pairs, and one more?",
    "effort": {"operations": 1, "decimals": 0},
    "answer": {"type": "number", "key": "n * m + 1", "decimals": 0},
    "misconceptions": [{"id": "m-sum", "expr": "n + m + 1.5", "feedback": "This is a sum."}],
    "hints": ["Multiply."],
    "solution": "It is {{ key }}.",
    "variants": 199,
}
BASES = {"numbers": NUMBERS, "count": COUNT, "choice": CHOICE, "sized": SIZED, "counted": COUNTED}


def findings(folder: Path, base: str, change: Change = lambda data: None) -> list[str]:
    data = copy.deepcopy(BASES[base])
    change(data)
    path = folder / "own.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), encoding="utf-8")
    report = lint_item(load_spec(path), path, builtin_bank(), seeds=SEEDS, strict=True)
    # twelve variants of so small a family may share a key
    return [f"{f.rule}: {f.message}" for f in report.findings if "distinct keys" not in f.message]


@pytest.mark.parametrize("base", BASES)
def test_an_item_without_a_fault_has_no_finding(tmp_path: Path, base: str) -> None:
    assert findings(tmp_path, base) == []


def hint(text: str) -> Change:
    return lambda data: data["hints"].append(text)


def solution(text: str) -> Change:
    return lambda data: data.update(solution=f"{data['solution']} {text}")


def feedback(text: str) -> Change:
    return lambda data: data["misconceptions"][-1].update(feedback=text)


def stem(text: str) -> Change:
    return lambda data: data.update(stem=text)


def answer(**settings: Any) -> Change:
    return lambda data: data["answer"].update(settings)


def options(*texts: str, asked: str = "Which is it?") -> Change:
    """Replace the options; the first is right."""

    def change(data: Data) -> None:
        data.update(stem=asked, title="A choice")
        data["answer"]["options"] = [
            {"text": text, "correct": not at, "feedback": "See the solution."}
            for at, text in enumerate(texts)
        ]

    return change


UNVOUCHED = [
    "There are two negative scores here.",
    "The second score is negative, so its exponential lies below 1.",
    "Exactly one score lies below 0.",
    "Every score is positive.",
    "Begin with the negative score.",
    "A score is negative here.",
    "The second score is the largest.",
    "The largest score is the first one.",
    "The first weight is smaller than the third.",
    "The last state has most of the weight.",
    "More than half of the weight goes to the first state.",
    "The scores rise from left to right.",
    "The largest weight stands at position 2.",
    "The smallest score, {{ e[0] }}, gets the smallest weight.",
    "{{ e[1] }} is the largest of the scores.",
    "Use that the first two scores differ by 1.",
    "Since the first score is 0, its exponential is 1.",
    "The right weight is 0.5.",
    "State 3 dominates the mixture.",
    "The first and the last weight are equal.",
    "Most of the weight lies on the last state.",
    "All but one of the scores are positive.",
    "The scores have different signs.",
    "The sum of the scores is negative.",
    "No weight is above one half.",
]


@pytest.mark.parametrize("text", UNVOUCHED)
@pytest.mark.parametrize("place", [hint, solution, feedback])
def test_what_is_true_of_some_numbers_only_needs_a_claim(
    tmp_path: Path, text: str, place: Callable[[str], Change]
) -> None:
    found = findings(tmp_path, "numbers", place(text))
    assert any(message.startswith("claims: nothing says for which numbers") for message in found), found


@pytest.mark.parametrize(
    "text",
    [
        "The exponential of a negative number is positive.",
        "If the second score were the largest, its weight would be, too.",
        "The largest score has the largest weight.",
        "Softmax gives each position a weight above 0.",
        "Compare two. {% if e[0] > e[1] %}The first score is larger than the second.{% endif %}",
    ],
)
def test_what_is_always_true_needs_none(tmp_path: Path, text: str) -> None:
    assert findings(tmp_path, "numbers", hint(text)) == []


FALSE = [
    ("numbers", hint("{{ e[0] }} is larger than {{ e[1] }}.")),
    ("numbers", solution("Since ${{ e[0] }} > {{ e[1] }}$, it wins.")),
    ("numbers", solution("They add up to ${{ e[0] }} + {{ e[1] }} = {{ e[0] + e[1] + 1 }}$.")),
    ("numbers", feedback("These numbers sum to 1.4 and not to 1.")),
    ("count", feedback("This is twice the right number.")),
    ("count", feedback("This is half of the right number.")),
    ("count", feedback("This is too large.")),
    ("count", feedback("This is 10 times the right value.")),
    ("count", feedback("This is one more than the right number.")),
    ("count", feedback("This is 1 too small.")),
    ("count", feedback("You are off by one.")),
    ("count", feedback("This is smaller than 1.")),
    ("count", feedback("This number has the wrong sign.")),
    ("count", feedback("This number is negative.")),
    ("count", feedback("This is the right number with the opposite sign.")),
    ("sized", hint("Compute the three exponentials.")),
    ("sized", solution("Equal scores would have the weight 1/3.")),
    ("sized", hint("Since $n = 3$, the sum is a short one.")),
    (
        "sized",
        stem("The three alignment scores are ${{ tex(e) }}$. Compute their softmax. Round to 3 decimals."),
    ),
]


@pytest.mark.parametrize(("base", "change"), FALSE)
def test_what_is_false_of_drawn_numbers_is_found(tmp_path: Path, base: str, change: Change) -> None:
    assert any(message.startswith("claims: ") for message in findings(tmp_path, base, change))


SAME = [
    ("one half", "0.5", "0.7"),
    ("2/3", "0.667", "0.5"),
    ("three", "3", "4"),
    ("1000", "1,000", "100"),
    ("$10^3$", "1000", "100"),
    ("2 × 3", "6", "5"),
    ("0.33", "0.3", "0.5"),
    (r"$QK^\top/\sqrt{d}$", r"$\frac{1}{\sqrt{d}} Q K^\top$", r"$QK^\top$"),
    ("$e^{a-b}$", "$e^a / e^b$", "$e^{ab}$"),
    (r"$\frac{e^{x_i}}{\sum_j e^{x_j}}$", r"$\frac{1}{\sum_j e^{x_j - x_i}}$", r"$\frac{x_i}{\sum_j x_j}$"),
    (r"$q^\top W k$", r"$k^\top W^\top q$", r"$q^\top W^\top k$"),
    (r"$\tanh(Wq + Uk)$", r"$\tanh(Uk + Wq)$", r"$\tanh(Wq)$"),
    ("n·d", "d·n", "n + d"),
    ("[0.5, 0.5]", "[1/2, 1/2]", "[1, 0]"),
    (r"$1 - \sigma(x)$", r"$\sigma(-x)$", r"$\sigma(x)$"),
    (r"$\sum_{t'} \alpha^{(t,t')} h^{(t')}$", r"$\sum_k \alpha^{(t,k)} h^{(k)}$", r"$h^{(t)}$"),
    ("n times d", "d times n", "n plus d"),
]


@pytest.mark.parametrize("texts", SAME)
def test_two_options_of_one_meaning_are_found(tmp_path: Path, texts: tuple[str, ...]) -> None:
    found = [m for m in findings(tmp_path, "choice", options(*texts)) if m.startswith("keys: ")]
    assert len(found) == 1, found


@pytest.mark.parametrize(
    "texts",
    [
        (r"$q^\top W k$", r"$q^\top W^\top k$", r"$q^\top k$"),
        ("$n d^2$", "$n^2 d$", "$n d$"),
        (r"$\tanh(Wq)$", r"$\tanh(qW)$", "$Wq$"),
        ("$s_{t-1}$", "$s_t$", "$s_{t+1}$"),
        (r"$\sum_i a_i$", "$a_i$", r"$\sum_i a_i^2$"),
        ("3", "3.2", "4"),
    ],
)
def test_options_of_different_meaning_are_not_confused(tmp_path: Path, texts: tuple[str, ...]) -> None:
    assert not [m for m in findings(tmp_path, "choice", options(*texts)) if m.startswith("keys: ")]


def test_a_shape_is_no_product(tmp_path: Path) -> None:
    change = options("$2 \\times 3$", "$3 \\times 2$", "$6$", asked="What shape does the matrix have?")
    assert not [m for m in findings(tmp_path, "choice", change) if m.startswith("keys: ")]


@pytest.mark.parametrize(("right", "wrong"), [("7 > 5", "3 > 2"), ("2 < 1", "9 < 4")])
def test_an_option_that_compares_numbers_is_marked_as_it_is(tmp_path: Path, right: str, wrong: str) -> None:
    change = options(f"${right}$", f"${wrong}$", "$5 < 1$", asked="Which statement is true?")
    assert any(m.startswith("keys: this option is") for m in findings(tmp_path, "choice", change))
    change = options("$7 > 5$", "$3 > 4$", "$5 < 1$", asked="Which statement is true?")
    assert not [m for m in findings(tmp_path, "choice", change) if m.startswith("keys: ")]


FIELDS = [
    ("count", lambda d: d["answer"].update(tolerance=1), "keys: a whole number is asked for"),
    (
        "count",
        lambda d: d.update(answer={**d["answer"], "decimals": 1}),
        "asked: a whole number is asked for",
    ),
    (
        "count",
        lambda d: d.update(answer={"type": "number", "key": "dot(a, b)", "tolerance": 0.5}),
        "asked: a whole",
    ),
    (
        "count",
        lambda d: d.update(answer={"type": "number", "key": "dot(a, b)", "significant": 2}),
        "asked: a whole",
    ),
    ("count", answer(near_credit=1), "asked: whole numbers are never nearly right"),
    ("numbers", answer(decimals=2), "asked: the field is marked at another precision"),
    ("numbers", answer(decimals=4, working_decimals=6), "asked: the field is marked at another precision"),
    (
        "numbers",
        stem("Three alignment scores are ${{ tex(e) }}$. Compute their softmax."),
        "asked: the text doesn't",
    ),
    (
        "choice",
        stem("What does softmax do by equation (8) of the lecture?"),
        "asked: the text speaks of equation (8)",
    ),
    (
        "numbers",
        lambda d: d["misconceptions"].append({"id": "m-linear-norm", "expr": "base2(e)"}),
        "keys: m-base2 and",
    ),
    (
        "numbers",
        lambda d: d["misconceptions"].append({"id": "m-linear-norm", "expr": "e / 0"}),
        "keys: m-linear-norm",
    ),
]


@pytest.mark.parametrize(("base", "change", "said"), FIELDS)
def test_a_field_takes_what_its_text_asks_for(tmp_path: Path, base: str, change: Change, said: str) -> None:
    found = findings(tmp_path, base, change)
    assert any(message.startswith(said) for message in found), found


GIVEN = [
    ("numbers", hint("The weights are ${{ tex(softmax(e), 3) }}$.")),
    ("numbers", hint("The first weight is {{ num(softmax(e)[0], 3) }}.")),
    ("count", hint("The sum of the products is {{ dot(a, b) }}.")),
    ("count", stem("A program gives {{ dot(a, b) }}. Compute the score ${{ tex(a) }}^\\top {{ tex(b) }}$.")),
    (
        "choice",
        stem("Softmax turns scores into positive numbers of sum 1. What does softmax do with scores?"),
    ),
    ("choice", hint("It turns them into positive numbers of sum 1.")),
    ("choice", hint("The numbers that come out are positive, and their sum is 1.")),
    ("choice", lambda data: data.update(title="Softmax turns scores into positive numbers of sum 1")),
    ("choice", answer(shuffle=False)),
    ("choice", solution("The first option is right.")),
    ("choice", solution("Statement (b) is false.")),
    ("choice", lambda d: d["answer"]["options"][1].update(feedback="Option (a) is right.")),
]


@pytest.mark.parametrize(("base", "change"), GIVEN)
def test_a_text_that_gives_the_answer_away_is_found(tmp_path: Path, base: str, change: Change) -> None:
    assert any(message.startswith("giveaway: ") for message in findings(tmp_path, base, change))


def test_a_given_number_may_be_what_is_asked(tmp_path: Path) -> None:
    def change(data: Data) -> None:
        data["answer"] = {"type": "number", "key": "m", "decimals": 0}

    assert not [m for m in findings(tmp_path, "counted", change) if m.startswith("giveaway: ")]


def test_cards_in_their_right_order_and_cards_that_name_their_target_are_found(tmp_path: Path) -> None:
    def ordering(data: Data) -> None:
        cards = ["compute the scores", "apply softmax", "mix the states"]
        data["stem"] = "First compute the scores, then apply softmax, then mix the states. Put them in order."
        cards_of = [{"id": f"c{at}", "text": text} for at, text in enumerate(cards)]
        data["answer"] = {"type": "ordering", "feedback": "Scores come first.", "cards": cards_of}

    def matching(data: Data) -> None:
        data["stem"] = "Match each thing with its name."
        pairs = {"w": ("the weights of softmax", "weights"), "s": ("what is compared", "scores")}
        data["answer"] = {
            "type": "matching",
            "prompts": [
                {"text": text, "target": name, "feedback": "No."} for name, (text, _) in pairs.items()
            ],
            "targets": [{"id": name, "text": target} for name, (_, target) in pairs.items()],
        }

    assert "giveaway: the text gives the cards in their right order" in findings(tmp_path, "choice", ordering)
    found = [m for m in findings(tmp_path, "choice", matching) if m.startswith("giveaway: ")]
    assert found == ["giveaway: a card holds the name of its target: the weights of softmax"]


def test_a_gap_that_fits_the_key_alone_is_found(tmp_path: Path) -> None:
    change = options(
        "exponential", "sigmoid", "softmax", asked="The function is an …. Which word is missing?"
    )
    assert "cues: only the right option fits after 'an'" in findings(tmp_path, "choice", change)


COUNTS = [
    "A layer has {{ n }} weights, and m = {{ m }}. How many?",
    "There are {{ n }} layers, and m = {{ m }}. How many?",
    "A {{ n }}-th layer has m = {{ m }}. How many?",
    "The {{ n }}th layer has m = {{ m }}. How many?",
    "The {{ n }}rd layer has m = {{ m }}. How many?",
    "An {{ n + 1 }} × {{ n + 1 }} matrix, and m = {{ m }}. How many?",
    "A {{ m }} × {{ m }} matrix, and n = {{ n }}. How many?",
    "There are {{ n + 1 }} weight, and m = {{ m }}. How many?",
    "There is n = {{ n }} entry/entries, and m = {{ m }}. How many?",
    "A layer has {{ n }} parameter(s), and m = {{ m }}. How many?",
]


@pytest.mark.parametrize("text", COUNTS)
def test_the_words_fit_each_number_that_is_drawn(tmp_path: Path, text: str) -> None:
    numbers = lambda data: data["parameters"]["m"].update(range=[8, 8], exclude=[])  # noqa: E731
    found = findings(tmp_path, "counted", lambda data: (stem(text)(data), numbers(data)))
    assert any(message.startswith("prose: ") for message in found), found


LEFT_OVER = [
    "The score is {e[0]}.",
    "The score is { e[0] }.",
    "The score is [SCORE].",
    "TODO: say more.",
    "We call this fault F16.",
    "See docs/sources.md for it.",
    "See seed 11 for it.",
    "This distractor is the sum.",
]


@pytest.mark.parametrize("text", LEFT_OVER)
def test_what_an_author_left_behind_is_found(tmp_path: Path, text: str) -> None:
    assert any(message.startswith("prose: ") for message in findings(tmp_path, "numbers", hint(text)))


TIMES = [
    (
        "choice",
        lambda data: data.update(minutes=30, points=8),
        "the item asks for nothing that takes the time",
    ),
    ("numbers", lambda data: data.update(difficulty=5, minutes=1), "the item can't be done in the time"),
    ("numbers", lambda data: data.update(points=9), "the points are out of keeping"),
]


@pytest.mark.parametrize(("base", "change", "said"), TIMES)
def test_minutes_and_points_fit_the_work(tmp_path: Path, base: str, change: Change, said: str) -> None:
    assert any(m.startswith(f"completeness: {said}") for m in findings(tmp_path, base, change))


def test_a_text_says_what_students_have_been_taught(tmp_path: Path) -> None:
    found = findings(tmp_path, "choice", hint("As in beam search, look at the total."))
    assert [m.partition(",")[0] for m in found] == ["needs: the text says 'beam'"]


def test_a_hint_on_a_card_that_is_not_shown_is_found(tmp_path: Path) -> None:
    def change(data: Data) -> None:
        data["parameters"] = {"k": {"kind": "integer", "range": [2, 9]}}
        data.pop("variants")
        data["answer"].update(draw=[1, 2])
        data["answer"]["options"].append(
            {"text": "It adds {{ k }} to each.", "feedback": "Nothing is added."}
        )
        data["hints"] = ["What is the exponential of {{ k }}?"]

    found = findings(tmp_path, "choice", change)
    assert "undrawn: the hint speaks of a card that not every variant shows" in found
