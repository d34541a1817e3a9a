"""`grade lint --strict`: each matter of style, in an item that is otherwise in order."""

from __future__ import annotations

from typing import Any

import pytest

from engine.authoring.lint.rules.option_form import length
from engine.authoring.lint.rules.stem_text import asks

Data = dict[str, Any]
CHOICE = "io-length-claims"


def warnings(spoiler, item: str, change, rule: str) -> list[str]:
    report = spoiler.lint(item, change, strict=True)
    assert not report.errors, report.errors
    return [finding.message for finding in report.warnings if finding.rule == rule]


@pytest.mark.parametrize(
    "text",
    [
        "Which of these hold?",
        "Two states are given. Compute the context vector.",
        "Given are H and w: compute the vector. Round to 2 decimal places.",
        "The scores are 1 and 2.\n\nGive the weights, each to 3 decimals. Write them in brackets.",
        'Who said "what?"',
    ],
)
def test_a_question_or_an_instruction_asks(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "The context vector of these states",
        "Compute it. The states are these. Their weights are those. They are rounded.",
        "A decoder writes tokens.",
        "",
    ],
)
def test_a_statement_asks_nothing(text: str) -> None:
    assert not asks(text)


def test_a_stem_that_asks_nothing_is_told(spoiler) -> None:
    def state(data: Data) -> None:
        data["stem"] = "The scores are ${{ tex(e) }}$, and softmax makes weights of them."

    assert warnings(spoiler, "softmax-weights", state, "stem")
    assert not warnings(spoiler, "softmax-weights", lambda data: None, "stem")


def test_a_prompt_of_a_step_asks(spoiler) -> None:
    def state(data: Data) -> None:
        data["steps"][1]["prompt"] = "The attention weights."

    report = spoiler.lint("decoder-full-step", state, strict=True)
    (found,) = [finding for finding in report.warnings if finding.rule == "stem"]
    assert found.line is not None
    assert "steps" not in found.message


STANDS_OUT = {
    "All of the above.": "an option refers to the others: 'All of the above'",
    "None of the other options holds.": "an option refers to the others: 'None of the other options'",
    "Both a and b.": "an option refers to the others: 'Both a and b'",
    "The lengths must differ " + "and so on " * 30: "an option is much longer than the others",
}


@pytest.mark.parametrize("text", STANDS_OUT)
def test_options_that_stand_out(spoiler, text: str) -> None:
    found = warnings(spoiler, CHOICE, lambda data: data["answer"]["options"][5].update(text=text), "options")
    assert STANDS_OUT[text] in found


def test_right_options_that_are_longer_on_average(spoiler) -> None:
    def lengthen(data: Data) -> None:
        for option in data["answer"]["options"]:
            if option.get("correct"):
                option["text"] += " This is so in every language that we know of."

    assert warnings(spoiler, CHOICE, lengthen, "options") == ["the right options can be told by their length"]


def test_a_formula_counts_as_it_looks() -> None:
    assert length(r"$\mathbf{W}_1 \mathbf{h}^{(t')}$ is {{ tex(v) }}") == len("xxxxxx is xxxxxx")


def test_a_small_pool_is_told(spoiler) -> None:
    def shrink(data: Data) -> None:
        data["answer"]["options"] = data["answer"]["options"][1:8]
        data["answer"]["draw"] = [2, 2]

    assert "the pool of options is small" in warnings(spoiler, CHOICE, shrink, "options")


@pytest.mark.parametrize("bare", ["h_1", "x^2", "2 * 3", "sqrt(d)"])
def test_maths_outside_dollars(spoiler, bare: str) -> None:
    def add(data: Data) -> None:
        data["hints"] = [f"Think of {bare} first."]

    (found,) = warnings(spoiler, "softmax-weights", add, "formulas")
    assert "is maths outside dollars" in found


def test_a_formula_longer_than_a_line(spoiler) -> None:
    def add(data: Data) -> None:
        data["hints"] = ["$" + " + ".join(f"x_{{{i}}}" for i in range(40)) + "$"]

    assert warnings(spoiler, "softmax-weights", add, "formulas") == [
        "a formula within a line is longer than a line"
    ]


def test_a_solution_shows_the_variants_numbers(spoiler) -> None:
    found = warnings(
        spoiler, "softmax-weights", lambda d: d.update(solution="Exponentiate and divide."), "completeness"
    )
    assert found == ["the solution shows none of the variant's numbers"]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [("hints", [], "the item has no hint"), ("solution", None, "the item has no worked solution")],
)
def test_what_helps_is_missed_once(spoiler, key: str, value: object, message: str) -> None:
    report = spoiler.lint("softmax-weights", lambda d: d.update({key: value}), strict=True)
    assert [finding.message for finding in report.warnings] == [message]


def test_options_of_a_pool_say_why(spoiler) -> None:
    (found,) = warnings(
        spoiler, CHOICE, lambda data: data["answer"]["options"][0].pop("feedback"), "completeness"
    )
    assert found.startswith("an option of the pool has no feedback")


# --- effort -------------------------------------------------------------------------------


def test_the_work_is_counted(spoiler) -> None:
    report = spoiler.lint("softmax-weights", lambda data: data.pop("effort", None))
    assert report.facts["effort"] == {"operations": 6, "decimals": 1}  # three exponentials, three divisions
    # three scores: W2 s (4) and W1 h (3 x 4), tanh (6), v (6); softmax (6); context (6); state 8 + 4, tanh 2;
    # output 6, softmax 6
    report = spoiler.lint("decoder-full-step", lambda data: data.pop("effort", None))
    assert report.facts["effort"]["operations"] == 4 + 12 + 6 + 6 + 6 + 6 + 8 + 4 + 2 + 6 + 6


def test_a_search_counts_as_it_is_done_by_hand(spoiler) -> None:
    # V = 3, depth 2, b = 2: the products of 2 prefixes with 3 tokens, twice, and one for the probability
    report = spoiler.lint("beam-vs-greedy-sequence", lambda data: data.pop("effort", None))
    assert report.facts["effort"]["operations"] == 2 * 3 + 2 * 3 + 1


@pytest.mark.parametrize(
    ("effort", "messages"),
    [
        ({"operations": 6, "decimals": 1}, []),
        ({"operations": 5, "decimals": 1}, ["a variant takes more operations than the item states"]),
        ({"operations": 6, "decimals": 0}, ["a variant takes more decimals than the item states"]),
    ],
)
def test_bounds_are_held(spoiler, effort: dict[str, int], messages: list[str]) -> None:
    report = spoiler.lint("softmax-weights", lambda data: data.update(effort=effort))
    assert [finding.message for finding in report.errors] == messages


def test_a_computed_item_states_its_bounds_in_strict_lint(spoiler) -> None:
    found = warnings(spoiler, "softmax-weights", lambda data: data.pop("effort", None), "effort")
    assert found == ["the item doesn't say how much work it is at most"]


@pytest.mark.parametrize(
    ("minutes", "points", "is_fair"), [(2, 1, True), (2, 3, False), (19, 2, False), (19, 5, True)]
)
def test_points_keep_with_the_time_that_an_item_takes(spoiler, minutes, points, is_fair) -> None:
    report = spoiler.lint(
        "softmax-weights", lambda data: data.update(minutes=minutes, points=points), strict=True
    )
    found = [f for f in report.findings if "out of keeping with the time" in f.message]
    assert bool(found) is not is_fair
