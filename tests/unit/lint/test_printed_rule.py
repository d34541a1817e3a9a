"""Declared errata stand exactly where the recomputation finds a fault, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import problems
from engine.authoring.lint.rules import printed
from engine.authoring.lint.subject import FindingSeverity, LintFinding, LintSubject
from engine.items import ProblemSpec

BANK = Path(problems.__file__).parent / "l16"
Data = dict[str, Any]


def findings(item: str, change: Callable[[Data], object] = lambda data: None) -> list[LintFinding]:
    """Lint the printed exercise of an item of ours after a change to its data."""
    data = yaml.safe_load((BANK / f"{item}.yaml").read_text(encoding="utf-8"))
    change(data)
    subject = LintSubject(ProblemSpec.model_validate(data), "0", {}, 1)
    return list(printed.check(subject))


def only(found: list[LintFinding]) -> LintFinding:
    assert len(found) == 1, [f.message for f in found]
    assert found[0].severity is FindingSeverity.ERROR
    return found[0]


@pytest.mark.parametrize(
    "item",
    [
        "l16-ex1-context-vector",
        "l16-ex2-greedy-vs-beam",
        "l16-ex3-softmax-weights",
        "l16-ex4-problems-addressed",
        "l16-ex5-alignment-vector",
    ],
)
def test_the_five_exercises_pass_as_declared(item: str) -> None:
    assert findings(item) == []


def drop(*ids: str) -> Callable[[Data], None]:
    def change(data: Data) -> None:
        data["errata"] = [e for e in data["errata"] if e["id"] not in ids]
        if not data["errata"]:
            del data["errata"]
            data["status"] = "ok"

    return change


def test_exercise_3_without_its_declaration_fails_with_the_numbers() -> None:
    messages = [f.message for f in findings("l16-ex3-softmax-weights", drop("F-02"))]
    (told,) = [m for m in messages if m.startswith("no printed option is the key rounded")]
    assert "option (a) is the nearest" in told
    assert "exact value (0.665241, 0.244728, 0.090031), rounded (0.665, 0.245, 0.090)" in told
    assert "(a) 0.000969" in told
    assert "(b) 0.094241" in told
    assert "(c) 0.165241" in told
    assert "(d) 0.032241" in told


def test_exercise_3_tells_what_to_declare() -> None:
    found = findings("l16-ex3-softmax-weights", drop("F-02"))[0]
    assert found.next_step == "declare an erratum of kind nearest_option_misrounded with intended_option: a"


def test_exercise_5_without_its_declaration_fails_with_the_numbers() -> None:
    found = only(findings("l16-ex5-alignment-vector", drop("F-03", "F-01")))
    assert found.message.startswith("no printed option is right: even the nearest, (b),")
    assert "exact value (0.148885, 0.739783), rounded (0.149, 0.740)" in found.message
    assert "(b) 0.504783" in found.message
    assert found.next_step == "declare an erratum of kind no_correct_option"


def test_exercise_5_keeps_failing_when_only_the_other_erratum_stays() -> None:
    found = only(findings("l16-ex5-alignment-vector", drop("F-03")))
    assert found.message.startswith("no printed option is right")


def repair(item: str, options: Data) -> list[LintFinding]:
    def change(data: Data) -> None:
        data["printed"]["options"].update(options)
        data["printed"]["key"] = "a"

    return findings(item, change)


def test_an_erratum_that_is_no_longer_true_fails() -> None:
    found = only(repair("l16-ex3-softmax-weights", {"a": [0.665, 0.245, 0.09]}))
    assert found.message.startswith("erratum F-02 isn't true: printed option (a) is the key exactly rounded")
    found, order = repair("l16-ex5-alignment-vector", {"a": [0.149, 0.74]})
    assert found.message.startswith("erratum F-03 isn't true")
    assert order.got == "a, shuffled", (
        "letters have a meaning again, and the stem doesn't say that they differ"
    )


def test_an_erratum_of_the_wrong_kind_fails() -> None:
    def wrong_kind(data: Data) -> None:
        data["errata"][0] |= {"kind": "no_correct_option", "intended_option": None, "accept_intended": False}

    found = findings("l16-ex3-softmax-weights", wrong_kind)[0]
    assert (found.expected, found.got) == ("nearest_option_misrounded", "no_correct_option")

    def flattering(data: Data) -> None:
        data["errata"][0]["kind"] = "nearest_option_misrounded"

    found = findings("l16-ex5-alignment-vector", flattering)[0]
    assert (found.expected, found.got) == ("no_correct_option", "nearest_option_misrounded")


def test_another_intended_option_than_the_nearest_fails() -> None:
    def other(data: Data) -> None:
        data["errata"][0]["intended_option"] = "d"

    found = findings("l16-ex3-softmax-weights", other)[0]
    assert (found.expected, found.got) == ("a", "d")


def test_an_option_far_away_can_not_be_accepted() -> None:
    def accept(data: Data) -> None:
        data["errata"][0] |= {"intended_option": "b", "accept_intended": True}

    assert any(
        "accepts an option though none is near" in f.message
        for f in findings("l16-ex5-alignment-vector", accept)
    )


def test_a_wrong_printed_key_fails() -> None:
    def swap(data: Data) -> None:
        data["printed"]["key"] = "b"

    found = findings("l16-ex1-context-vector", swap)
    assert any(f.expected == "a" and f.got == "b" for f in found)


def test_a_wrong_expression_fails() -> None:
    def swap(data: Data) -> None:
        data["printed"]["expr"] = "context(reverse(w), H)"

    found = findings("l16-ex1-context-vector", swap)
    assert any("isn't what the recomputation gives" in f.message and f.expected == "b" for f in found)


def test_an_expression_that_fails_is_one_finding() -> None:
    def broken(data: Data) -> None:
        data["printed"]["expr"] = "context(w, nothing)"

    assert "can't be recomputed" in only(findings("l16-ex1-context-vector", broken)).message


def test_an_impossible_exercise_can_not_be_scored_as_printed() -> None:
    def score(data: Data) -> None:
        data["printed"]["scored"] = True

    assert "can't be scored as it is printed" in only(findings("l16-ex5-alignment-vector", score)).message


def test_two_right_options_fail() -> None:
    def double(data: Data) -> None:
        data["printed"]["options"]["d"] = [1.7, 0.3]

    assert any(
        "more than one printed option is right: (a), (d)" in f.message
        for f in findings("l16-ex1-context-vector", double)
    )


def test_letters_of_the_scored_version_follow_the_print() -> None:
    def shuffle(data: Data) -> None:
        data["stem"] = (
            data["stem"].replace("The options stand in another", "").replace("order than in the lecture.", "")
        )

    def move(data: Data) -> None:
        data["answer"]["options"].reverse()

    assert only(findings("l16-ex1-context-vector", shuffle)).got == "a, shuffled"
    assert findings("l16-ex1-context-vector", lambda data: None) == [], "the stem says that the order differs"
    assert only(findings("l16-ex2-greedy-vs-beam", move)).got == "c"
    assert only(findings("l16-ex4-problems-addressed", move)).got == "b, c, d"


def test_numbers_without_an_expression_fail() -> None:
    def forget(data: Data) -> None:
        del data["printed"]["expr"]

    assert "no expression to recompute" in findings("l16-ex1-context-vector", forget)[0].message


def test_status_says_whether_there_are_errata() -> None:
    def ok(data: Data) -> None:
        data["status"] = "ok"

    def erratum(data: Data) -> None:
        data["status"] = "erratum"

    assert only(findings("l16-ex5-alignment-vector", ok)).expected == "erratum"
    assert "declares none" in only(findings("l16-ex1-context-vector", erratum)).message


def test_an_erratum_about_options_needs_the_printed_options() -> None:
    def forget(data: Data) -> None:
        del data["printed"]

    assert "none are quoted" in only(findings("l16-ex3-softmax-weights", forget)).message
