"""GIFT: gift-pegjs parses the whole bank, and what is read back is what was written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.authoring.importing.import_file import import_file
from engine.export.exported_fields import NumbersField
from engine.export.exported_item import ExportedFamily, ExportedQuiz, exported_item
from engine.export.formats import quiz_format
from engine.items import load_spec
from engine.model import Part
from engine.variants import draw_seeded
from tests.oracles.gift_client import gift_questions, parsed_gift
from tests.oracles.moodle_rules import MoodleQuestion
from tests.unit.export.test_moodle_xml import BANK, SIGNS, drawn, family, hostile

GIFT = quiz_format("gift")


def text_of(*families: ExportedFamily) -> str:
    return GIFT.write(ExportedQuiz("q", "Week 3/4", families), lambda: None).decode()


def questions(*families: ExportedFamily) -> list[MoodleQuestion]:
    (tree,) = parsed_gift([text_of(*families)])
    assert "error" not in tree, tree
    return gift_questions(tree["questions"])


def losses(one: ExportedFamily) -> list[str]:
    return [loss.message for loss in GIFT.losses(one)]


def test_the_grammar_takes_the_whole_bank() -> None:
    families = [family(drawn(i, 0), drawn(i, 1)) for i in BANK.ids() if BANK.load(i).kind != "code"]
    text = text_of(*families)
    (tree,) = parsed_gift([text])
    assert "error" not in tree, tree
    found = gift_questions(tree["questions"])
    assert len(found) > 2 * len(families)
    assert {question.kind for question in found} == {
        "multichoice", "numerical", "matching", "shortanswer", "essay",
    }  # fmt: skip
    assert len({question.idnumber for question in found}) == len(found), "every question has an id of its own"
    assert text == text_of(*families)


def test_a_number_is_a_range_and_mistakes_have_their_feedback() -> None:
    variant = drawn("scaled-dot-score")
    (question,) = questions(family(variant))
    field = exported_item("x", variant).fields[0]
    assert isinstance(field, NumbersField)
    (entry,) = field.entries
    right, *wrong = question.answers
    assert float(right.text) - right.tolerance == pytest.approx(float(entry.lower), abs=1e-12)
    assert float(right.text) + right.tolerance == pytest.approx(float(entry.upper), abs=1e-12)
    assert [(a.fraction, a.feedback) for a in wrong] == [(0, known.feedback) for known in field.wrong]
    assert question.tags[-1] == "scaled-dot-score" and question.idnumber == "scaled-dot-score-001"


def test_several_fields_become_questions_that_are_drawn_by_themselves() -> None:
    one = family(drawn("softmax-weights", 0), drawn("softmax-weights", 1))
    found = questions(one)
    assert len(found) == 6
    assert len({question.category for question in found}) == 3, "each entry has a category of its own"
    assert found[0].category.endswith("/entry 1") and "Enter entry 1 only." in found[0].text
    assert "each entry is a question of its own, and is drawn by itself" in losses(one)


def test_orders_are_places_and_unused_targets_stay() -> None:
    (order,) = questions(family(drawn("decoder-step-order")))
    cards = len(drawn("decoder-step-order").parts[0].options)
    assert [stem for stem, _ in order.pairs] == [f"Place {n}" for n in range(1, cards + 1)]
    pairs = drawn("limiting-cases")
    (question,) = questions(family(pairs))
    assert {target for _, target in question.pairs} == {o.text.plain for o in pairs.parts[0].options}


@pytest.mark.parametrize("kind", ["single_choice", "multiple_choice", "token"])
def test_signs_are_escaped(kind: str) -> None:
    made = ExportedFamily("history-impact", SIGNS, (SIGNS,), (SIGNS,), 1.0, "", (hostile(kind),))
    (question,) = questions(made)
    assert question.name == SIGNS.replace("<", "‹").replace(">", "›")
    if kind == "token":
        assert question.answers[0].text == "so\\*ft {max}~#="
    else:
        assert len(question.answers) == 4 and "~ = # :" in question.answers[2].text
        assert question.single is (kind == "single_choice")


def test_an_arrow_in_an_answer_is_refused_and_capitals_are_said() -> None:
    part = Part("answer", "token", 1.0, key_ids=("A -> B",), settings={"case_sensitive": True})
    one = family(replace(drawn("greedy-path"), parts=(part,)))
    assert [loss.is_refusal for loss in GIFT.losses(one)].count(True) <= 1
    assert "upper and lower case count as the same" in losses(one)


def test_a_right_text_that_cant_be_listed_is_said() -> None:
    part = Part("answer", "token", 1.0, key_ids=("B", "A -> B"))
    some, none = (
        losses(family(replace(drawn("greedy-path"), parts=(one,))))
        for one in (part, replace(part, key_ids=("B",)))
    )
    assert any("hold ->" in message for message in some) and not any("->" in message for message in none)


def test_what_comes_back(tmp_path: Path) -> None:
    items = ["bottleneck-why", "scaled-dot-score", "limiting-cases", "greedy-path"]
    variants = [drawn(item) for item in items]
    path = tmp_path / "q.gift"
    path.write_text(text_of(*map(family, variants)), encoding="utf-8")
    report = import_file(path, tmp_path / "out", BANK)
    assert report.skipped == ()
    for item, variant in zip(report.items, variants, strict=True):
        spec = load_spec(item.path, registry=BANK.registry())
        back = draw_seeded(spec, version="v", registry={}, seed=0)
        (old,), (new,) = variant.parts, back.parts
        assert (new.type, back.stem.plain, back.title) == (old.type, variant.stem.plain, variant.title)
        assert {o.text.plain for o in new.options} == {o.text.plain for o in old.options}
        assert {known.feedback for known in new.known_wrong} <= {k.feedback for k in old.known_wrong}
        assert spec.difficulty == BANK.load(variant.item).difficulty
