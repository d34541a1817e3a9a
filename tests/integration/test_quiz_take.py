"""``grade quiz take``: answers typed in the terminal, saved at once."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import yaml

PLAN = "title: Two\nsections:\n- items: [l16-ex2-greedy-vs-beam, softmax-weights]\n"


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch):
    return lambda *lines: monkeypatch.setattr(
        "sys.stdin", io.StringIO("".join(line + "\n" for line in lines))
    )


def answers() -> list[str]:
    document = yaml.safe_load(Path("two-me.yaml").read_text(encoding="utf-8"))
    return [question["answer"] for question in document["questions"]]


def test_answers_are_asked_saved_and_graded(grade, say) -> None:
    Path("two.yaml").write_text(PLAN)
    say("b", "0.1, 0.2, 0.7", "")
    said = grade("quiz", "take", "two.yaml")
    assert said.code == 1  # the second one is wrong
    assert answers() == ["b", "0.1, 0.2, 0.7"]
    assert "Total: 1 of 2 points" in said.out


def test_what_cannot_be_read_is_asked_again_at_once(grade, say) -> None:
    Path("two.yaml").write_text(PLAN)
    say("nonsense", "z", "b", "nan", "0.1, 0.2, 0.7", "")
    said = grade("quiz", "take", "two.yaml")
    assert answers() == ["b", "0.1, 0.2, 0.7"]
    assert "nonsense" in said.out


def test_stopping_keeps_the_answers_and_taking_goes_on(grade, say) -> None:
    Path("two.yaml").write_text(PLAN)
    say("b")  # the end of the input stands for Ctrl-C at the second question
    said = grade("quiz", "take", "two.yaml")
    assert said.code == 1
    assert "your answers are in" in said.out
    assert answers() == ["b", ""]
    say("0.1, 0.2, 0.7", "")
    said = grade("quiz", "take", "two-me.yaml")
    assert "Total: 1 of 2 points" in said.out


def test_open_questions_are_asked_about_before_handing_in(grade, say) -> None:
    Path("two.yaml").write_text(PLAN)
    say("b", "", "n")
    said = grade("quiz", "take", "two.yaml")
    assert "Still open: question 2" in said.out
    assert "Total" not in said.out
