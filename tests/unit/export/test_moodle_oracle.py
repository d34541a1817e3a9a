"""The checker of Moodle's rules against cases whose outcome in Moodle is known."""

from __future__ import annotations

import pytest

from tests.oracles.moodle_cloze import cloze_fields
from tests.oracles.moodle_marks import (
    choice_mark,
    cloze_mark,
    match_mark,
    number_mark,
    order_mark,
    text_mark,
    typed_value,
)
from tests.oracles.moodle_rules import LISTED, ImportedFile, MoodleAnswer, MoodleQuestion, imported

NUMBER = (MoodleAnswer("0.27", 1.0, tolerance=0.005), MoodleAnswer("0.73", 0.0, "the other", 0.005))


def read(body: str) -> ImportedFile:
    return imported(f'<?xml version="1.0" encoding="UTF-8"?><quiz>{body}</quiz>'.encode())


def question(kind: str, inside: str) -> str:
    head = "<name><text>n</text></name><questiontext format='html'><text>q</text></questiontext>"
    return f"<question type='{kind}'>{head}{inside}</question>"


ORDERING = (
    "<layouttype>VERTICAL</layouttype><selecttype>ALL</selecttype><selectcount>2</selectcount>"
    "<gradingtype>ABSOLUTE_POSITION</gradingtype><showgrading>HIDE</showgrading>"
    "<answer><text>a</text></answer><answer><text>b</text></answer>"
)


def test_an_ordering_without_shownumcorrect_aborts_a_whole_import() -> None:
    assert "shownumcorrect" in " ".join(read(question("ordering", ORDERING)).problems)
    assert not read(question("ordering", ORDERING + "<shownumcorrect>1</shownumcorrect>")).problems


def test_only_listed_fractions_are_taken() -> None:
    shares = "<answer fraction='{}'><text>a</text></answer><answer fraction='100'><text>b</text></answer>"
    assert len(LISTED) == 41  # Moodle's list with its negatives, 0 and both whole ones
    for share in ("33.33333", "-16.66667", "14.28571", "5", "0"):
        assert not read(question("multichoice", shares.format(share))).problems
    for share in ("33", "45", "37.5", "-14.3"):
        assert "isn't listed" in " ".join(read(question("multichoice", shares.format(share))).problems)


@pytest.mark.parametrize(
    ("path", "fits"),
    [
        ("$module$/top/Attention/softmax", True),
        ("$course$/top/Attention", False),
        ("Attention", False),
        ("$module$/Attention", False),
        ("$module$/top/a//b", True),
    ],
)
def test_categories_hang_on_the_question_bank(path: str, *, fits: bool) -> None:
    found = read(f"<question type='category'><category><text>{path}</text></category></question>")
    assert (not found.problems) is fits


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("0.27", 0.27), (" 0.27 ", 0.27), (".27", 0.27), ("2.7e-1", 0.27), ("2.7x10^-1", 0.27),
        ("0,27", 27.0), ("27%", 27.0), ("1 000.5", 1000.5), ("1,000.5", 1000.5), ("0.27 points", 0.27),
        ("1/3", 1.0), ("about 0.27", None), ("\u22120.27", None), ("", None), ("x", None),
    ],
)  # fmt: skip
def test_numbers_are_read_as_moodle_reads_them(typed: str, value: float | None) -> None:
    assert typed_value(typed) == value


@pytest.mark.parametrize(
    ("typed", "mark", "place"),
    [
        ("0.27", 1.0, 0), ("0.265", 1.0, 0), ("0.275", 1.0, 0), ("0.2649999", 0.0, None),
        ("0.27500001", 0.0, None), ("0.73", 0.0, 1), ("0,27", 0.0, None), ("27%", 0.0, None), ("", 0.0, None),
    ],
)  # fmt: skip
def test_the_tolerance_includes_its_bounds(typed: str, mark: float, place: int | None) -> None:
    assert number_mark(NUMBER, typed) == (mark, place)


def test_short_answers_have_wildcards() -> None:
    answers = (MoodleAnswer("soft\\*max", 1.0), MoodleAnswer("re*", 0.5))
    assert text_mark(answers, "Soft*Max") == (1.0, 0)
    assert text_mark(answers, "soft and max") == (0.0, None)
    assert text_mark(answers, "ReLU") == (0.5, 1)
    assert text_mark((MoodleAnswer("ReLU", 1.0),), "relu", usecase=True) == (0.0, None)


def test_penalties_of_several_choices_stop_at_zero() -> None:
    answers = [MoodleAnswer("a", 0.5), MoodleAnswer("b", 0.5), MoodleAnswer("c", -0.5)]
    marks = [choice_mark(answers, picked, single=False) for picked in ([], [0], [0, 1], [0, 1, 2], [2])]
    assert marks == [0, 0.5, 1, 0.5, 0]


def test_pairs_and_orders() -> None:
    pairs = MoodleQuestion("matching", "n", "q", pairs=(("a", "1"), ("b", "2"), ("", "3")))
    assert match_mark(pairs, ["1", "3"]) == 0.5
    cards = tuple(MoodleAnswer(card, 1.0) for card in "abc")
    marks = {
        grading: order_mark(MoodleQuestion("ordering", "n", "q", answers=cards, grading=grading), [1, 0, 2])
        for grading in ("ALL_OR_NOTHING", "ABSOLUTE_POSITION", "RELATIVE_ALL_PREVIOUS_AND_NEXT")
    }
    assert marks == {
        "ALL_OR_NOTHING": 0,
        "ABSOLUTE_POSITION": pytest.approx(1 / 3),
        "RELATIVE_ALL_PREVIOUS_AND_NEXT": pytest.approx(2 / 3),
    }


def test_cloze_fields_and_their_weights() -> None:
    text = (
        "<p>x = {1:NUMERICAL:=0.5:0.01#good~%0%0.7:0.01#no}, y = {3:SHORTANSWER_C:=a&#126;b\\}} and "
        "{MC} {2:MULTICHOICE_H:yes~=no#&lt;b&gt; &#35;1}</p>"
    )
    fields, faults = cloze_fields(text)
    assert faults == []
    assert [(part.kind, part.weight) for part in fields] == [
        ("numerical", 1),
        ("shortanswer", 3),
        ("multichoice", 2),
    ]
    assert fields[0].answers[1].feedback == "no"
    assert fields[1].answers[0].text == "a~b}"
    assert fields[2].answers[1].feedback == "<b> #1"
    assert cloze_mark(fields, ["0.505", "A~b}", [1]]) == (0.5, [1.0, 0.0, 1.0])


def test_cloze_texts_that_moodle_refuses() -> None:
    for text in ("{1:NUMERICAL:=abc}", "{1:NUMERICAL:%50%3}", "no field", "{1:SA:=a", "{1:MC:=a}"):
        assert cloze_fields(text)[1], text


def test_pictures_lie_beside_their_text() -> None:
    head = "<name><text>n</text></name><graderinfo format='html'><text></text></graderinfo>"
    text = "<questiontext format='html'><text>&lt;img src='@@PLUGINFILE@@/a.png'/&gt;</text>{}</questiontext>"
    file = "<file name='a.png' path='/' encoding='base64'>iVBORw0=</file>"
    essay = "<question type='essay'>" + head + text + "</question>"
    assert not read(essay.format(file)).problems
    assert read(essay.format("")).problems
    assert read(essay.format(file.replace("a.png", "b.png"))).problems
