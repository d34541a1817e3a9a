"""Packages for Canvas: what its importer makes of them, beside what text2qti writes."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from decimal import Decimal
from xml.etree import ElementTree

import pytest
from text2qti.config import Config
from text2qti.qti import QTI
from text2qti.quiz import Quiz

from engine.export.canvas_questions import QuestionWriter
from engine.export.exported_fields import NumberEntry
from engine.export.exported_item import ExportedItem
from engine.export.formats.canvas import FORMAT
from engine.export.listed_numbers import number_texts
from tests.oracles.canvas_rules import (
    CanvasPackage,
    CanvasQuestion,
    element_paths,
    mark_canvas,
    read_canvas_package,
)
from tests.unit.export.hostile_items import (
    LONG,
    bank_item,
    family_of,
    hostile_choice,
    hostile_matching,
    quiz_of,
)


def _package(*items: ExportedItem) -> CanvasPackage:
    return read_canvas_package(FORMAT.write(quiz_of(*(family_of(item) for item in items)), lambda: None))


def _question(item: ExportedItem) -> CanvasQuestion:
    (question,) = _package(item).questions
    return question


def test_quiz_asks_one_variant_of_each_item() -> None:
    families = (
        family_of(
            bank_item("softmax-ratio", 0), bank_item("softmax-ratio", 1), category=("Attention", "Softmax")
        ),
        family_of(bank_item("beam-survivors")),
    )
    calls: list[int] = []
    data = FORMAT.write(quiz_of(*families), lambda: calls.append(1))
    assert len(calls) == 3
    assert data == FORMAT.write(quiz_of(*families), lambda: None)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    package = read_canvas_package(data)
    assert package.title == "Quiz & <test>"
    assert [(group.pick, len(group.questions)) for group in package.groups] == [(1, 2), (1, 1)]
    assert package.groups[0].title == "Attention - Softmax - The ratio of two attention weights"
    for family, group in zip(families, package.groups, strict=True):
        assert group.points == Decimal(str(family.points))
        assert {question.points for question in group.questions} == {group.points}
    assert package.points == sum(group.points for group in package.groups)
    assert [name for name in package.files if name.startswith("images/")]


def _tree(data: bytes, name: str) -> ElementTree.Element:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        paths = [path for path in archive.namelist() if path.endswith(".xml") and name in path.split("/")[-1]]
        (path,) = [path for path in paths if not path.endswith("_meta.xml")]
        return ElementTree.fromstring(archive.read(path))


_TEXT = """\
Quiz title: Softmax

GROUP
pick: 1
points per question: 2

1. Choice?
... General.
a) 6
... One too many.
*b) 5

END_GROUP

GROUP
pick: 1
points per question: 1

2. Number?
... General.
=   [0.265, 0.275]

END_GROUP

GROUP
pick: 1
points per question: 1

3. Several?
... General.
[*] a
[*] b
[ ] c
... No.

END_GROUP

GROUP
pick: 1
points per question: 1

4. Text?
... General.
*   softmax

END_GROUP

GROUP
pick: 1
points per question: 1

5. Essay?
... General.
____

END_GROUP
"""
# What text2qti doesn't write: fields with several responses, as Canvas's own exports have them.
_OWN = {"response_lid[ident]", "setvar[action varname]", "respcondition[]"}


def test_files_are_built_as_text2qti_builds_them() -> None:
    theirs = QTI(Quiz(_TEXT, config=Config())).zip_bytes()
    items = ("softmax-shift", "softmax-ratio", "advantages-limitations", "greedy-path", "why-scaled-scores")
    ours = FORMAT.write(quiz_of(*(family_of(bank_item(name)) for name in items)), lambda: None)
    kinds = [question.type for question in read_canvas_package(ours).questions]
    assert len(set(kinds)) == 5
    assessment, manifest = (
        [element_paths(_tree(data, name)) for data in (ours, theirs)]
        for name in ("assessment", "imsmanifest")
    )
    # Ours names no rendering that theirs hasn't, and nothing of theirs is missing but a date and rights.
    assert assessment[0] - assessment[1] == set()
    assert assessment[1] - assessment[0] == set()
    assert manifest[0] - manifest[1] == set()
    assert {path.rsplit("/", 1)[1] for path in manifest[1] - manifest[0]} <= {
        *("lifeCycle[]", "contribute[]", "date[]", "dateTime[]", "rights[]", "value[]", "description[]"),
        *("copyrightAndOtherRestrictions[]", "string[]"),
    }


def test_several_responses_are_built_as_canvas_builds_them() -> None:
    data = FORMAT.write(
        quiz_of(family_of(bank_item("l16-full-pass")), family_of(hostile_matching())), lambda: None
    )
    theirs = element_paths(_tree(QTI(Quiz(_TEXT, config=Config())).zip_bytes(), "assessment"))
    added = {path.rsplit("/", 1)[1] for path in element_paths(_tree(data, "assessment")) - theirs}
    within = {"material[]", "mattext[texttype]", "render_choice[]", "response_label[ident]", "conditionvar[]"}
    assert added - within - {"varequal[respident]"} == _OWN


@pytest.mark.parametrize("multiple", [False, True])
def test_hostile_choice(multiple: bool) -> None:
    item = hostile_choice(multiple=multiple)
    question = _question(item)
    assert question.title == item.title
    assert LONG in question.answers[1].text.replace("&amp;", "&")
    assert [answer.right for answer in question.answers] == [True, False, False, False, multiple]
    assert all("{{ x }}" in answer.feedback for answer in question.answers)
    assert 'data-equation-content="a &lt; b"' in question.answers[2].text
    ids = [answer.id for answer in question.answers]
    if multiple:
        assert [mark_canvas(question, set(picked)) for picked in (ids[::4], ids[:2])] == [1, 0]
    else:
        assert [mark_canvas(question, name) for name in ids] == [1, 0, 0, 0, 0]


@pytest.mark.parametrize("formulas", [False, True])
def test_hostile_matching(formulas: bool) -> None:
    question = _question(hostile_matching(formulas=formulas))
    by_text = {text: name for name, text in question.matches.items()}
    if formulas:
        assert set(by_text) == {"a", "b", "c"} and "equation_image" in question.html
    a, b = [by_text[text] for text in sorted(by_text)][:2]
    left = [answer.id for answer in question.answers]
    assert mark_canvas(question, dict(zip(left, (b, a, b), strict=True))) == 1
    assert mark_canvas(question, {left[0]: b, left[1]: b}) == pytest.approx(1 / 3)


def test_numbers_below_four_decimals_are_texts() -> None:
    question = _question(bank_item("vanishing-gradient-factor", 7))
    assert question.type == "fill_in_multiple_blanks_question"
    (blank,) = question.blanks
    accepted = [answer.text for answer in question.answers]
    assert accepted[0].startswith("0.0000") and any("e-" in text for text in accepted)
    assert all(mark_canvas(question, {blank: text}) == 1 for text in accepted)
    assert mark_canvas(question, {blank: "0.0000"}) == 0


@pytest.mark.parametrize(
    ("right", "lower", "upper", "texts"),
    [
        ("5", "5", "5", ["5"]),
        (
            "-0.50",
            "-0.5",
            "-0.5",
            ["-0.50", "\u22120.50", "-.50", "\u2212.50", "-0.5", "\u22120.5", "-.5", "\u2212.5"],
        ),
        ("0.00", "-0.005", "0.005", ["0.00", ".00", "0"]),
        ("0.27", "0.26", "0.275", ["0.27", ".27", "0.26", ".26"]),
        ("0.000020", "0.00002", "0.00002", ["0.000020", ".000020", "0.00002", ".00002", "2e-5"]),
    ],
)
def test_texts_of_numbers(right: str, lower: str, upper: str, texts: list[str]) -> None:
    assert number_texts(NumberEntry("", right, Decimal(lower), Decimal(upper))) == texts


def test_every_blank_is_right_with_the_key() -> None:
    items = [bank_item(name) for name in ("l16-full-pass", "score-params-table", "alignment-not-monotone")]
    for item in items:
        question = _question(item)
        first = {
            blank: next(a.text for a in question.answers if a.blank == blank) for blank in question.blanks
        }
        assert mark_canvas(question, first) == 1
        counts = Counter(answer.blank for answer in question.answers)
        assert max(counts.values()) < 60
        assert mark_canvas(question, dict([first.popitem()])) == pytest.approx(1 / len(question.blanks))


def test_losses_are_said_for_each_item() -> None:
    said = {
        name: [
            (loss.field, loss.message, loss.is_refusal) for loss in FORMAT.losses(family_of(bank_item(name)))
        ]
        for name in ("advantages-limitations", "l16-full-pass", "attention-cost-explained")
    }
    # Canvas marks several options as our net-correct rule does.
    assert not any("pick" in message for _, message, _ in said["advantages-limitations"])
    full = [message for _, message, _ in said["l16-full-pass"]]
    assert "each of the 8 blanks of the question earns the same share" in full
    assert any("compares characters" in message for message in full)
    assert [field for field, _, refused in said["attention-cost-explained"] if refused] == ["why"]


def test_pictures_have_their_words() -> None:
    writer = QuestionWriter()
    written = writer.question(bank_item("beam-survivors"))
    (path,) = writer.pictures.files
    assert f"%24IMS-CC-FILEBASE%24/{path}&quot; alt=&quot;Beam search with 2 hypotheses" in written
    assert b"<svg" in writer.pictures.files[path]
