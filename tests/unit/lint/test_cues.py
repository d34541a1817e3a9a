"""`grade lint --strict`: what gives the right options away over the variants of an item."""

from __future__ import annotations

from typing import Any

import pytest

from engine.authoring.lint.rules.cues import ABSOLUTE, HEDGES, words_of

pytestmark = pytest.mark.slow

Data = dict[str, Any]
RIGHT = [
    "The encoder reads first.",
    "A decoder writes last.",
    "States follow one another.",
    "Tokens get read in turn.",
]
WRONG = [
    "The decoder writes first.",
    "Tokens are read in turns.",
    "States stand in a circle.",
    "The encoder writes a word.",
    "Words are sorted by size.",
    "Two states share a token.",
]


def alike(texts: list[str]) -> list[str]:
    """Pad texts to the same length, so that only what a test adds differs."""
    return [f"{text[:-1] + ' ':o<52}." for text in texts]


def choice(right: list[str], wrong: list[str], *, kind: str = "single_choice", draw: Any = (1, 3)) -> Data:
    options = [{"text": text, "correct": True, "feedback": "So it is."} for text in right]
    options += [{"text": text, "feedback": "It isn't so."} for text in wrong]
    return {"type": kind, "options": options, "draw": list(draw) if isinstance(draw, tuple) else draw}


def found(spoiler, answer: Data, stem: str = "Which statement is true?") -> list[str]:
    def change(data: Data) -> None:
        data.pop("variants", None)
        data.update(answer=answer, stem=stem, covers=[])

    report = spoiler.lint("io-length-claims", change, seeds=100, strict=True)
    return [finding.message for finding in report.warnings if finding.rule == "cues"]


def test_options_that_are_alike_give_nothing_away(spoiler) -> None:
    assert found(spoiler, choice(alike(RIGHT), alike(WRONG))) == []
    assert found(spoiler, choice(alike(RIGHT), alike(WRONG), kind="multiple_choice", draw=6)) == []


@pytest.mark.parametrize(
    ("word", "side", "message"),
    [
        ("always", "wrong", "absolute words mark the wrong options"),
        ("only", "right", "absolute words mark the right options"),
        ("usually", "right", "hedging words mark the right options"),
        ("perhaps", "wrong", "hedging words mark the wrong options"),
    ],
)
def test_words_that_mark_one_side(spoiler, word: str, side: str, message: str) -> None:
    def marked(texts: list[str], there: str) -> list[str]:
        mark = word if there == side else "x" * len(word)
        return [f"{text} ({mark})" for text in alike(texts)]

    assert message in found(spoiler, choice(marked(RIGHT, "right"), marked(WRONG, "wrong")))
    both = [[f"{text} ({word})" for text in alike(texts)] for texts in (RIGHT, WRONG)]
    assert found(spoiler, choice(*both)) == []


@pytest.mark.parametrize(
    ("side", "messages"),
    [
        ("right", ["the longest option is right too often", "the shortest option is right too seldom"]),
        ("wrong", ["the longest option is right too seldom", "the shortest option is right too often"]),
    ],
)
@pytest.mark.parametrize(("kind", "draw"), [("single_choice", (1, 3)), ("multiple_choice", 6)])
def test_a_key_that_can_be_told_by_its_length(
    spoiler, side: str, messages: list[str], kind: str, draw: Any
) -> None:
    more = " This goes on."
    right = [text + more * (side == "right") for text in alike(RIGHT)]
    wrong = [text + more * (side == "wrong") for text in alike(WRONG)]
    assert found(spoiler, choice(right, wrong, kind=kind, draw=draw)) == messages


def test_short_options_are_not_told_by_their_length(spoiler) -> None:
    assert found(spoiler, choice(["eleven", "twelve", "twenty"], ["1", "2", "3", "4", "5"])) == []


def test_a_stem_that_holds_its_key(spoiler) -> None:
    said = "the option with most words of the stem is right in most variants"
    stem = "A machine gets the final vector of its input and loses details. What explains that?"
    right = ["It gets the final vector.", "The vector is final there.", "Details of input get lost."]
    assert found(spoiler, choice(alike(right), alike(WRONG)), stem) == [said]
    echoing = [f"{text[:-1]}, the final vector." for text in WRONG]
    assert found(spoiler, choice(alike(right), alike(echoing)), stem) == []


def test_a_number_of_right_options_that_never_changes(spoiler) -> None:
    said = "2 of 6 options are right in every variant"
    assert found(spoiler, choice(alike(RIGHT), alike(WRONG), kind="multiple_choice", draw=(2, 4))) == [said]
    assert found(spoiler, choice(alike(RIGHT), alike(WRONG), kind="multiple_choice", draw=6)) == []


def test_words_are_whole_words() -> None:
    assert ABSOLUTE.search("It never ends.")
    assert not ABSOLUTE.search("It is known; the lonely mustard stays wherever.")
    assert not ABSOLUTE.search("They differ from each other and aren't needed any more.")
    assert HEDGES.search("It can happen.")
    assert not HEDGES.search("It can't happen, it cannot, it couldn't; a canal.")


def test_words_of_a_text_are_what_it_is_about() -> None:
    assert words_of("What is computed here? Computing it takes the same states.") == {"comput", "states"}
