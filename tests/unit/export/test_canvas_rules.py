"""The checker of Canvas packages takes what text2qti writes, and refuses what Canvas would lose."""

from __future__ import annotations

import io
import zipfile
from decimal import Decimal
from fractions import Fraction

import pytest
from text2qti.config import Config
from text2qti.qti import QTI
from text2qti.quiz import Quiz

from tests.oracles.canvas_rules import (
    CanvasImportError,
    CanvasPackage,
    mark_canvas,
    read_canvas_package,
    typed_number,
)

_TEXT = """\
Quiz title: Softmax

GROUP
pick: 1
points per question: 2

1. What is 2+3?
... It is a sum.
+ Yes.
- No.
a) 6
... One too many.
*b) 5

2. Which weight?
=   [0.265, 0.275]

END_GROUP

3. Which are vectors?
[*] a query
[*] a key
[ ] a score

4. Which function?
*   softmax
*   The softmax function

5. Say why.
____
"""


def _package(text: str = _TEXT) -> bytes:
    package: bytes = QTI(Quiz(text, config=Config())).zip_bytes()
    return package


@pytest.fixture(scope="module")
def package() -> CanvasPackage:
    return read_canvas_package(_package())


def _changed(old: str, new: str, *, drop: str = "") -> bytes:
    """Return the package of text2qti with another text in its files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(_package())) as before, zipfile.ZipFile(buffer, "w") as after:
        for name in before.namelist():
            text = before.read(name).decode()
            if not (drop and name.endswith(drop)):
                after.writestr(name, text.replace(old, new))
    return buffer.getvalue()


def test_reads_what_text2qti_writes(package: CanvasPackage) -> None:
    choice, number, several, text, essay = package.questions
    assert [question.type for question in package.questions] == [
        "multiple_choice_question",
        "numerical_question",
        "multiple_answers_question",
        "short_answer_question",
        "essay_question",
    ]
    assert package.groups[0].pick == 1 and len(package.groups[0].questions) == 2
    assert [(answer.right, answer.feedback) for answer in choice.answers] == [
        (False, "<p>One too many.</p>"),
        (True, ""),
    ]
    assert choice.feedback == {
        "general": "<p>It is a sum.</p>",
        "right": "<p>Yes.</p>",
        "wrong": "<p>No.</p>",
    }
    assert (number.answers[0].low, number.answers[0].high) == (Decimal("0.265"), Decimal("0.275"))
    assert [answer.right for answer in several.answers] == [True, True, False]
    assert [answer.text for answer in text.answers] == ["softmax", "The softmax function"]
    assert essay.answers == ()


@pytest.mark.parametrize(
    ("old", "new", "drop", "reason"),
    [
        ("short_answer_question", "text_only_question", "", "text-only blocks"),
        ("short_answer_question", "ordering_question", "", "unknown question type"),
        ("<vargte", "<or/><vargte", "", "precision"),
        ("varlte", "varlt", "", "without range"),
        ("0.265", "0.285", "", "empty range"),
        ('<varequal respident="response1">softmax', '<varequal respident="response1">', "", "empty accepted"),
        ("&lt;p&gt;Say why", "&lt;math&gt;Say why", "", "Canvas drops"),
        ("&lt;p&gt;Say why.&lt;/p&gt;", '&lt;img alt="" src="a.png"&gt;', "", "no picture"),
        ("<title>Softmax</title>", "<title>Other</title>", "", "two titles"),
        ("", "", "assessment_meta.xml", "listed or there"),
    ],
)
def test_refuses_what_canvas_loses(old: str, new: str, drop: str, reason: str) -> None:
    with pytest.raises(CanvasImportError, match=reason):
        read_canvas_package(_changed(old, new, drop=drop))


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("0.27", "0.27"),
        (" .27 ", "0.27"),
        ("0.26495", "0.265"),
        ("0.264949", "0.2649"),
        ("-0.00005", "-0.0001"),
        ("0.00004", "0"),
        ("2.7e-1", "0.27"),
        ("1,234.5", "1234.5"),
        ("3.", "3"),
        ("0,27", None),
        ("27%", None),
        ("1/3", None),
        ("\u22120.5", None),
        (".5e-1", None),
        ("", None),
        (".", None),
        ("-", None),
    ],
)
def test_typed_numbers(typed: str, sent: str | None) -> None:
    assert typed_number(typed) == (None if sent is None else Decimal(sent))


def test_marks(package: CanvasPackage) -> None:
    choice, number, several, text, essay = package.questions
    wrong, right = (answer.id for answer in choice.answers)
    assert [mark_canvas(choice, entered) for entered in (right, wrong, None)] == [1, 0, 0]
    assert [mark_canvas(number, entered) for entered in ("0.265", "0.26495", "0.2649", "x")] == [1, 1, 0, 0]
    query, key, score = (answer.id for answer in several.answers)
    assert mark_canvas(several, {query, key}) == 1
    assert mark_canvas(several, {query}) == Fraction(1, 2)
    assert mark_canvas(several, {query, key, score}) == Fraction(1, 2)
    assert mark_canvas(several, {score}) == 0
    assert [mark_canvas(text, entered) for entered in (" SOFTMAX ", "soft max")] == [1, 0]
    assert mark_canvas(essay, "because") is None
