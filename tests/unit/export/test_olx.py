"""Courses of Open edX: their files, what its problem block makes of them, and what is said to be lost."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from xml.etree import ElementTree

import pytest

from engine.export.exported_item import ExportedItem, exported_item
from engine.export.formats.olx import FORMAT
from engine.export.open_edx import ProblemWriter
from tests.live.openedx_problem import OpenEdxProblemBlock
from tests.unit.export.hostile_items import (
    LONG,
    bank_item,
    family_of,
    hostile_choice,
    hostile_matching,
    quiz_of,
)


@pytest.fixture(scope="module")
def block() -> Iterator[OpenEdxProblemBlock]:
    with OpenEdxProblemBlock() as running:
        yield running


def _files(data: bytes) -> dict[str, str]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        members = [member for member in archive if member.isfile()]
        assert {member.mtime for member in members} == {946_684_800}
        return {
            member.name: content.read().decode()
            for member in members
            if (content := archive.extractfile(member)) is not None
        }


def _problem(item: ExportedItem) -> str:
    return ProblemWriter().problem(item, ("softmax",))


def test_course_asks_one_variant_of_each_item() -> None:
    several = family_of(bank_item("softmax-ratio", 0), bank_item("softmax-ratio", 1), section="Warm-up")
    single = family_of(bank_item("softmax-shift"), section="Reading")
    calls: list[int] = []
    data = FORMAT.write(quiz_of(several, single), lambda: calls.append(1))
    assert len(calls) == 3
    assert data == FORMAT.write(quiz_of(several, single), lambda: None)
    assert gzip.decompress(data)
    files = _files(data)
    root = ElementTree.fromstring(files["course/course.xml"])
    assert (root.tag, root.get("url_name")) == ("course", "export")
    # Every pointer leads to a file, and every file is pointed to.
    pointed = {f"course/course/{root.get('url_name')}.xml"}
    for name, text in files.items():
        if not name.endswith(".svg") and "/problem/" not in name and name != "course/course.xml":
            pointed |= {f"course/{c.tag}/{c.get('url_name')}.xml" for c in ElementTree.fromstring(text)}
    assert pointed == {name for name in files if name.endswith(".xml")} - {"course/course.xml"}
    bank = ElementTree.fromstring(files["course/itembank/softmax-ratio.xml"])
    assert bank.get("max_count") == "1" and len(bank) == 2
    unit = ElementTree.fromstring(files["course/vertical/softmax-shift.xml"])
    assert [child.tag for child in unit] == ["problem"]
    titles = [ElementTree.fromstring(files[name]).get("display_name") for name in sorted(pointed)]
    assert {"Warm-up", "Reading", "Quiz & <test>"} <= set(titles)


def test_page_has_the_whole_item(block: OpenEdxProblemBlock) -> None:
    item = bank_item("beam-survivors")
    writer = ProblemWriter()
    page = block.page(writer.problem(item, ("beam", "difficulty-3")))
    assert page["title"] == item.title and page["weight"] == item.points
    assert page["tags"] == ["beam", "difficulty-3"]
    assert [field["tag"] for field in page["fields"]] == ["textline", "textline", "formulaequationinput"]
    assert r"\(b = 2\)" in page["html"]
    for hint in item.variant.hints:
        assert hint.plain.split("$")[0][:30] in page["hints"]
    (solution,) = [answer for answer in page["answers"].values() if "detailed-solution" in answer]
    (picture,) = writer.pictures.files
    assert f'src="/{picture}" alt="Beam search' in solution
    # Neither key nor feedback is in the page before an answer is given.
    assert "wrong order" not in page["html"] and "detailed-solution" not in page["html"]


def test_feedback_of_options_and_texts(block: OpenEdxProblemBlock) -> None:
    item = bank_item("softmax-shift")
    olx = _problem(item)
    (field,) = item.fields
    options = field.part.options
    assert len(options) > 2
    results = block.mark(olx, [[number] for number in range(len(options))])
    for option, result in zip(options, results, strict=True):
        assert result.share == (1 if option.correct else 0)
        assert bool(option.feedback) == bool(result.feedback[0])
    survivors = bank_item("beam-survivors")
    known = survivors.fields[0].part.known_wrong[0]
    wrong = block.mark(_problem(survivors), [[known.text, "", ""]])[0]
    assert known.feedback.split(":")[0] in wrong.feedback[0]


@pytest.mark.parametrize("multiple", [False, True])
def test_hostile_choice(block: OpenEdxProblemBlock, multiple: bool) -> None:
    item = hostile_choice(multiple=multiple)
    olx = _problem(item)
    page = block.page(olx)
    assert page["title"] == item.title.replace("\n", " ")
    assert LONG in page["fields"][0]["options"][1]
    assert "$\u2060seed" in unescape(page["html"]) and "{{ x }}" in page["html"]
    right = block.mark(olx, [[[0, 4]], [[1]], [[0, 1]]] if multiple else [[0], [1], [2]])
    assert [result.share for result in right] == [1, 0, 0.25 if multiple else 0]
    assert "{{ x }}" in right[1].feedback[0] and "1 $5" not in right[1].feedback[0]


@pytest.mark.parametrize("formulas", [False, True])
def test_hostile_matching(block: OpenEdxProblemBlock, formulas: bool) -> None:
    item = hostile_matching(formulas=formulas)
    olx = _problem(item)
    page = block.page(olx)
    options = page["fields"][0]["options"]
    assert len(options) == 3
    if formulas:
        assert options == ["a", "b", "c"] and r"\(x^2\)" in page["html"]
    a, b, _ = options
    shares = [result.share for result in block.mark(olx, [[b, a, b], [b, b, b], [a, None, a]])]
    assert shares == pytest.approx([1, 2 / 3, 0])
    wrong = block.mark(olx, [[a, a, b]])[0]
    assert "]]&gt;" in wrong.feedback[0] and wrong.feedback[1] == ""


def test_losses_are_said_for_each_item() -> None:
    said = {
        name: [
            (loss.field, loss.message, loss.is_refusal) for loss in FORMAT.losses(family_of(bank_item(name)))
        ]
        for name in ("softmax-ratio", "advantages-limitations", "score-params-table", "l16-full-pass")
    }
    assert said["softmax-ratio"] == [
        ("answer", "no feedback is shown for the numbers that known mistakes give", False)
    ]
    assert "halves" in said["advantages-limitations"][0][1]
    assert any("each card in its place" in message for _, message, _ in said["score-params-table"])
    assert any("earlier values" in message for _, message, _ in said["l16-full-pass"])
    shares = [message for field, message, _ in said["l16-full-pass"] if not field]
    assert shares == ["each of the 8 fields of the problem earns the same share"]


def test_answers_in_words_are_refused() -> None:
    losses = FORMAT.losses(family_of(bank_item("attention-cost-explained")))
    assert [loss.field for loss in losses if loss.is_refusal] == ["why"]


def test_a_right_text_that_cant_be_listed_is_said() -> None:
    item = bank_item("greedy-path")
    part = replace(item.variant.parts[0], key_ids=("A B", "A_or_B"))
    one = family_of(exported_item("greedy-path-001", replace(item.variant, parts=(part,))))
    assert any("_or_" in loss.message and not loss.is_refusal for loss in FORMAT.losses(one))
