"""The page with the keys: valid, harmless, complete."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import html5lib
import pytest

from engine.answers import right_response
from engine.items import builtin_bank
from engine.model import Quiz
from engine.pages import key_page
from engine.quiz import compose
from engine.quiz.answer_key import quiz_key
from engine.quiz.blueprint import Blueprint, PlacedBlueprint
from engine.store import open_store

ITEMS = ["softmax-weights", "seq2seq-roles", "advantages-limitations", "l16-full-pass", "greedy-trace-order"]


@pytest.fixture
def quizzes() -> list[Quiz]:
    plan = PlacedBlueprint(
        Blueprint.model_validate({"title": "Week <1> & more", "sections": [{"items": ITEMS}]})
    )
    return compose(plan, builtin_bank(), ["007", "<b>s2</b>"], secret=b"s" * 32, name="q")


def page_of(quizzes: list[Quiz], folder: Path, **names: str) -> str:
    with open_store(folder / "store.db") as store:
        store.save_quizzes(quizzes)
        return key_page([quiz_key(store, quiz, builtin_bank()) for quiz in quizzes], names=names)


def text_of(page: str) -> str:
    # a page that no browser has to mend
    tree = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page)
    assert not {e.tag for e in tree.iter() if isinstance(e.tag, str)} & {
        "script",
        "img",
        "iframe",
        "form",
        "link",
    }
    ids = [e.attrib["id"] for e in tree.iter() if "id" in e.attrib]
    assert len(ids) == len(set(ids))
    return " ".join(" ".join(tree.find("body").itertext()).split())


@pytest.mark.slow
def test_every_key_of_every_student_is_there(quizzes: list[Quiz], tmp_path: Path) -> None:
    shown = text_of(page_of(quizzes, tmp_path))
    for quiz in quizzes:
        assert quiz.student in shown
        for question in quiz.questions:
            for part in question.variant.parts:
                assert right_response(part) in shown
    assert shown.count("Worked solution") == sum(
        q.variant.solution is not None for quiz in quizzes for q in quiz.questions
    )
    assert "Week <1> & more" in shown and "another version" not in shown


def test_a_changed_item_is_marked(quizzes: list[Quiz], tmp_path: Path) -> None:
    first = quizzes[0].questions[0]
    older = replace(first, variant=replace(first.variant, item_version="0" * 16))
    quiz = replace(quizzes[0], questions=(older, *quizzes[0].questions[1:]))
    assert text_of(page_of([quiz], tmp_path)).count("another version of this item now") == 1


def test_names_are_foreign_text(quizzes: list[Quiz], tmp_path: Path) -> None:
    page = page_of(quizzes, tmp_path, **{"007": "\u202e<script>alert(1)</script>"})
    assert "<script" not in page and "\u202e" not in page
    assert "<script>alert(1)</script>" in text_of(page)
