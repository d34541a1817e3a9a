"""Moodle XML: the whole bank passes Moodle's own rules, and what is read back is what was written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from html import unescape
from pathlib import Path

import pytest

from engine.answers import right_response
from engine.authoring.importing.import_file import import_file
from engine.export.exported_fields import EssayField, NumbersField, OrderField
from engine.export.exported_item import ExportedFamily, ExportedItem, ExportedQuiz, exported_item
from engine.export.formats import quiz_format
from engine.export.formats.moodle_xml import listed_share, moodle_category
from engine.export.moodle_html import moodle_text
from engine.grading import grade_answers
from engine.items import ProblemSpec, load_spec
from engine.items.answer_specs import MultipleChoiceAnswer, OrderingAnswer, SingleChoiceAnswer
from engine.items.bank import Bank, builtin_root
from engine.model import ChoiceOption, Mode, Outcome, Part, Response, Variant
from engine.prose.markdown import render_prose
from engine.variants import draw_seeded
from tests.oracles.moodle_rules import LISTED, MoodleQuestion, imported

BANK = Bank([builtin_root()])
MOODLE = quiz_format("moodle")
SIGNS = "]]> & < > \" ' { } ~ = # : $$ @@ \U0001f600 \u05e9\u05dc\u05d5\u05dd {1:SA:=a} {#1}"


PROSE = SIGNS.replace("$", "\\$").replace("<", "\\<")


def drawn(item: str, seed: int = 0, **settings: object) -> Variant:
    variant = draw_seeded(BANK.load(item), version="v", registry=BANK.registry(), seed=seed)
    parts = tuple(replace(part, settings={**part.settings, **settings}) for part in variant.parts)
    return replace(variant, parts=parts) if settings else variant


def family(*variants: Variant) -> ExportedFamily:
    spec = BANK.load(variants[0].item)
    items = tuple(exported_item(f"{spec.id}-{n:03}", variant) for n, variant in enumerate(variants, 1))
    tags = (*spec.topics, f"difficulty-{spec.difficulty}", spec.bloom, spec.id)
    return ExportedFamily(spec.id, spec.title, spec.topics[:1], tags, items[0].points, "", items)


def written(*families: ExportedFamily) -> bytes:
    return MOODLE.write(ExportedQuiz("quiz", "Week 3/4 <b>", families), lambda: None)


def questions(*families: ExportedFamily) -> list[MoodleQuestion]:
    found = imported(written(*families))
    assert found.problems == []
    return found.questions


def losses(item: str, **settings: object) -> list[str]:
    return [loss.message for loss in MOODLE.losses(family(drawn(item, **settings)))]


def _families() -> Iterator[ExportedFamily]:
    for item in BANK.ids():
        if BANK.load(item).kind != "code":
            yield family(drawn(item, 0), drawn(item, 1))


def test_moodle_takes_the_whole_bank() -> None:
    families = list(_families())
    data = written(*families)
    found = imported(data)
    assert found.problems == []
    assert len(families) > 100 and len(found.questions) >= 2 * len(families)
    assert data == written(*_families()), "the same quiz gives the same bytes"
    assert not [loss for one in families for loss in MOODLE.losses(one) if loss.is_refusal]
    kinds = {question.kind for question in found.questions}
    assert kinds == {"multichoice", "numerical", "matching", "ordering", "shortanswer", "essay", "cloze"}
    # formulas are TeX, and no element of MathML is left
    assert b"<math" not in data and b"\\(" in data


def test_variants_lie_in_a_category_of_their_own() -> None:
    first, second = questions(family(drawn("softmax-weights", 0), drawn("softmax-weights", 1)))
    spec = BANK.load("softmax-weights")
    assert first.category == second.category == moodle_category(["Week 3/4 <b>", spec.topics[0], spec.title])
    assert first.category.startswith("$module$/top/Week 3//4 ‹b›/")
    assert (first.name, second.name) == (f"{spec.title} – 1", f"{spec.title} – 2")
    assert (first.idnumber, second.idnumber) == ("softmax-weights-001", "softmax-weights-002")
    assert set(first.tags) == {*spec.topics, f"difficulty-{spec.difficulty}", spec.bloom, spec.id}
    assert len(first.hints) == len(spec.hints) > 0 and first.general


@pytest.mark.parametrize("title", ["/etc and /tmp/", "//", "a//b", "Is a<b or b>a?", "x\n y"])
def test_a_title_stays_one_name_of_a_category(title: str) -> None:
    one = replace(family(drawn("softmax-weights")), title=title)
    found = imported(MOODLE.write(ExportedQuiz("quiz", f"Quiz{title}", (one,)), lambda: None))
    assert found.problems == []
    # as Moodle takes a path apart: at each slash that stands alone
    names = [
        name.strip().replace("//", "/") for name in re.split("(?<!/)/(?!/)", found.questions[0].category)
    ]
    shown = " ".join(title.split()).replace("<", "‹").replace(">", "›")
    assert names == ["$module$", "top", f"Quiz{shown}", one.category[0], shown]


def test_items_with_one_title_keep_categories_of_their_own() -> None:
    alike = [
        replace(family(drawn(item)), title=title, category=("softmax",))
        for item, title in (
            ("softmax-ratio", "Softmax"),
            ("softmax-weights", " SOFTMAX"),
            ("scale-symbol", "x"),
        )
    ]
    categories = [question.category.split("/")[-1] for question in questions(*alike)]
    assert categories == ["Softmax (softmax-ratio)", "SOFTMAX (softmax-weights)", "x"]
    gift = quiz_format("gift").write(ExportedQuiz("quiz", "Q", tuple(alike)), lambda: None).decode()
    lines = [line for line in gift.splitlines() if line.startswith("$CATEGORY: ")]
    assert (
        len(set(lines)) == len([line for line in lines if "softmax/SOFTMAX (softmax-weights)/" in line]) + 2
    )


def test_numbers_keep_bounds_mistakes_and_near_credit() -> None:
    variant = drawn("scaled-dot-score", near_credit=0.5)
    (question,) = questions(family(variant))
    field = exported_item("x", variant).fields[0]
    assert isinstance(field, NumbersField)
    (entry,) = field.entries
    full = [answer for answer in question.answers if answer.fraction == 1]
    spans = [(float(a.text) - a.tolerance, float(a.text) + a.tolerance) for a in full]
    assert min(low for low, _ in spans) == pytest.approx(float(entry.lower), abs=1e-12)
    assert max(high for _, high in spans) == pytest.approx(float(entry.upper), abs=1e-12)
    assert Decimal(full[0].text) == Decimal(entry.right), "what Moodle shows as right is the rounded key"
    assert [a.fraction for a in question.answers if 0 < a.fraction < 1] == [0.5]
    assert [a.feedback for a in question.answers if a.fraction == 0] == [w.feedback for w in field.wrong]


def test_a_vector_is_a_row_of_fields_and_a_matrix_a_table() -> None:
    (vector,) = questions(family(drawn("softmax-weights")))
    assert (vector.kind, len(vector.fields)) == ("cloze", 3)
    assert all(part.kind == "numerical" and part.weight == 1 for part in vector.fields)
    (matrix,) = questions(family(drawn("sdpa-matrix")))
    assert matrix.text.count("<tr>") == 2 and len(matrix.fields) == 4


def test_steps_weigh_what_they_are_worth_and_words_become_a_question() -> None:
    variant = drawn("memory-weights")
    (steps,) = questions(family(variant))
    points = [part.points for part in variant.parts]
    field_counts = [len(part.key.data) if part.key is not None else 1 for part in variant.parts]
    assert len(steps.fields) == sum(field_counts)
    weights = iter(part.weight for part in steps.fields)
    sums = [sum(next(weights) for _ in range(count)) for count in field_counts]
    assert [Fraction(s, sum(sums)) for s in sums] == [Fraction(p) / Fraction(sum(points)) for p in points]
    both = questions(family(drawn("attention-cost-explained")))
    assert sorted(question.kind for question in both) == ["cloze", "essay"]
    assert sum(question.points for question in both if question.kind == "essay") > 0


def test_an_essay_brings_its_rubric_to_the_graders() -> None:
    variant = drawn("own-context-explained")
    (question,) = questions(family(variant))
    field = exported_item("x", variant).fields[0]
    assert isinstance(field, EssayField)
    for criterion in field.rubric:
        assert criterion.title.plain in question.grader
    assert "An answer that earns all points:" in question.grader


@pytest.mark.parametrize(
    ("policy", "shares"),
    [("net-correct", (1, -1)), ("exact", (1, -100)), ("coverage", (1, -1))],
)
def test_policies_of_several_choices_take_listed_shares(policy: str, shares: tuple[int, int]) -> None:
    (question,) = questions(family(drawn("history-impact", policy=policy)))
    fractions = {answer.fraction for answer in question.answers}
    assert fractions <= LISTED
    assert not question.single and sum(f > 0 for f in fractions) == sum(f < 0 for f in fractions) == 1
    said = losses("history-impact", policy=policy)
    assert bool(said) is (policy != "net-correct"), said


def test_where_every_decision_counts_each_option_is_a_field() -> None:
    variant = drawn("history-impact", policy="each-answer")
    (question,) = questions(family(variant))
    assert (question.kind, len(question.fields)) == ("cloze", len(variant.parts[0].options))
    assert (
        "each option is called right or wrong by itself" in losses("history-impact", policy="each-answer")[0]
    )


def test_shares_that_moodle_does_not_offer_are_said() -> None:
    assert listed_share(Fraction(1, 3)) == Fraction(1, 3)
    assert listed_share(Fraction(-1, 11)) == Fraction(-1, 10)
    assert {
        float(round(float(share), 7)) for share in map(listed_share, (Fraction(n, 97) for n in range(98)))
    } <= LISTED
    options = tuple(
        ChoiceOption(n, render_prose(f"option {n}", inline=True), n != "l") for n in "abcdefghijkl"
    )
    part = Part("answer", "multiple_choice", 1.0, key_ids=tuple("abcdefghijk"), options=options)
    many = replace(drawn("history-impact"), parts=(part,))
    assert "Moodle offers no share of 9.09091 %" in MOODLE.losses(family(many))[0].message


def test_an_order_says_how_it_is_marked_and_states_shownumcorrect() -> None:
    (question,) = questions(family(drawn("decoder-step-order", policy="exact")))
    assert question.grading == "ALL_OR_NOTHING"
    field = exported_item("x", drawn("decoder-step-order")).fields[0]
    assert isinstance(field, OrderField)
    texts = {card.id: card.text for card in field.cards}
    assert [re.sub("<[^>]*>", "", a.text) for a in question.answers] == [
        re.sub("<[^>]*>", "", moodle_text(texts[card]).html) for card in field.order
    ]
    assert b"<shownumcorrect>" in written(family(drawn("decoder-step-order")))
    assert losses("decoder-step-order", policy="pairs")[0].startswith("pairs of cards in the wrong order")


def test_a_text_to_pick_from_that_moodle_cannot_keep_is_refused() -> None:
    def with_targets(*texts: str) -> ExportedFamily:
        (part,) = drawn("limiting-cases").parts
        targets = tuple(
            ChoiceOption(name, render_prose(text, inline=True))
            for name, text in zip("ab", texts, strict=True)
        )
        keys = tuple("ab"[n % 2] for n in range(len(part.prompts)))
        return family(replace(drawn("limiting-cases"), parts=(replace(part, options=targets, key_ids=keys),)))

    assert not any(loss.is_refusal for loss in MOODLE.losses(with_targets("a", "b" * 255)))
    (refusal,) = (loss for loss in MOODLE.losses(with_targets("a", "b" * 256)) if loss.is_refusal)
    assert refusal.message == "a text to pick from has 256 characters; Moodle takes 255 characters"
    assert any(loss.is_refusal for loss in MOODLE.losses(with_targets("same  text", "same text")))


def test_pictures_lie_beside_the_text_with_their_description() -> None:
    item = next(i for i in BANK.ids() if BANK.load(i).kind != "code" and "<figure" in drawn(i).stem.html)
    (question, *_) = questions(family(drawn(item)))
    assert question.files[:1] == ("picture-1.svg",)
    assert re.search(r'<img src="@@PLUGINFILE@@/picture-1.svg" alt="[^"]{20,}"/>', question.text)


def hostile(kind: str) -> ExportedItem:
    texts = [f"{PROSE} one", "word & " * 280 + "end", f"$a < b$ {PROSE}", "`code {` *b*"]
    options = tuple(
        ChoiceOption(name, render_prose(text, inline=True), name == "a", feedback=SIGNS)
        for name, text in zip("abcd", texts, strict=True)
    )
    part = Part("answer", kind, 1.0, key_ids=("a",), options=options)
    if kind == "token":
        part = Part("answer", kind, 1.0, key_ids=("so*ft {max}~#=",), settings={"case_sensitive": True})
    program = SIGNS.replace("$", "")
    stem = render_prose(f"# {PROSE}\n\n- {PROSE}\n\n```\n{program}\n```\n\n$$\\frac{{a}}{{b}} < 1$$")
    hints = (render_prose(PROSE),)
    variant = Variant("v", "history-impact", "v", SIGNS, stem, (part,), hints=hints, solution=stem)
    return exported_item("signs-001", variant)


@pytest.mark.parametrize("kind", ["single_choice", "multiple_choice", "token"])
def test_signs_of_other_languages_stay_signs(kind: str) -> None:
    item = hostile(kind)
    both = replace(item.variant, parts=tuple(replace(item.variant.parts[0], id=step) for step in ("s", "t")))
    steps = exported_item("signs-002", both)
    for one in (item, steps):
        made = ExportedFamily("history-impact", SIGNS, (SIGNS,), (SIGNS,), 1.0, "", (one,))
        found = imported(MOODLE.write(ExportedQuiz("q", SIGNS, (made,)), lambda: None))
        assert found.problems == []
        (question,) = found.questions
        assert "{1:SA:=a}" not in question.text and "\U0001f600" in question.text
        answers = question.answers or question.fields[0].answers
        if kind == "token":
            assert answers[0].text == "so\\*ft {max}~#="
        else:
            assert unescape(answers[0].feedback).startswith("]]> & < > \" ' { } ~ = # :")


# --- read back ---


def test_the_whole_bank_comes_back_with_its_keys_and_options(tmp_path: Path) -> None:
    variants = {item: drawn(item) for item in BANK.ids() if BANK.load(item).kind != "code"}
    path = tmp_path / "q.xml"
    path.write_bytes(written(*map(family, variants.values())))
    report = import_file(path, tmp_path / "out", BANK)
    assert report.skipped == ()
    by_title = {variant.title: variant for variant in variants.values()}
    compared = 0
    for item in report.items:
        variant = by_title.get(item.name)
        if variant is None:  # an answer in words among steps is a question of its own
            assert item.type == "free_text"
            continue
        back = draw_seeded(load_spec(item.path, registry=BANK.registry()), version="v", registry={}, seed=0)
        # errata that are shown with the question stand in its text
        assert "<figure" in variant.stem.html or back.stem.plain.startswith(variant.stem.plain)
        old_parts = [part for part in variant.parts if part.type != "free_text" or len(variant.parts) == 1]
        if len(old_parts) != len(back.parts):  # pairs and orders among steps are menus, a step each
            assert {part.type for part in old_parts} & {"matching", "ordering"}
            continue
        right = {part.id: right_response(part) for part in back.parts}
        for old, new in zip(old_parts, back.parts, strict=True):
            compared += 1
            assert old.type == new.type
            if old.type in ("single_choice", "multiple_choice"):
                assert described(new) == described(old)
            elif old.type in ("ordering", "matching"):
                assert kind_words(new) == kind_words(old)
            elif old.type != "free_text":
                response = Response({**right, new.id: right_response(old)})
                graded = grade_answers(back, response, mode=Mode.PRACTICE, student=None)
                assert graded.outcome is Outcome.RIGHT, (variant.item, old.id)
    assert compared >= 180


def described(part: Part) -> dict[str, tuple[bool, str]]:
    return {option.text.plain: (option.correct, option.feedback) for option in part.options}


def read_back(tmp_path: Path, *families: ExportedFamily) -> list[ProblemSpec]:
    path = tmp_path / "q.xml"
    path.write_bytes(written(*families))
    report = import_file(path, tmp_path / "out", BANK)
    assert report.skipped == ()
    return [load_spec(item.path, registry=BANK.registry()) for item in report.items]


def test_a_choice_comes_back_with_its_options_feedback_and_hints(tmp_path: Path) -> None:
    variant = drawn("bottleneck-why")
    (spec,) = read_back(tmp_path, family(variant))
    assert isinstance(spec.answer, SingleChoiceAnswer)
    (part,) = variant.parts
    assert [option.correct for option in spec.answer.options] == [option.correct for option in part.options]
    back = draw_seeded(spec, version="v", registry={}, seed=0)
    shown = {option.text.plain: option.feedback for option in back.parts[0].options}
    assert shown == {option.text.plain: option.feedback for option in part.options}
    assert back.stem.plain == variant.stem.plain
    original = BANK.load("bottleneck-why")
    assert (spec.title, spec.difficulty, spec.bloom) == (original.title, original.difficulty, original.bloom)
    assert set(original.topics) <= set(spec.topics)
    assert [hint.plain for hint in back.hints] == [hint.plain for hint in variant.hints]
    assert back.solution is None or back.solution.plain == variant.solution.plain  # type: ignore[union-attr]


@pytest.mark.parametrize("policy", ["net-correct", "exact", "each-answer"])
def test_several_choices_come_back_with_their_policy(tmp_path: Path, policy: str) -> None:
    variant = drawn("history-impact", policy=policy)
    (spec,) = read_back(tmp_path, family(variant))
    assert isinstance(spec.answer, MultipleChoiceAnswer)
    texts = {render_prose(o.text, inline=True).plain: o.correct for o in spec.answer.options}
    assert texts == {option.text.plain: option.correct for option in variant.parts[0].options}
    if policy != "exact":  # whose nearest neighbour in Moodle is nearest to another rule of ours
        assert spec.answer.policy == policy


@pytest.mark.parametrize("item", ["scaled-dot-score", "softmax-weights", "sdpa-matrix", "memory-weights"])
def test_numbers_come_back_with_their_bounds(tmp_path: Path, item: str) -> None:
    variant = drawn(item)
    (spec,) = read_back(tmp_path, family(variant))
    back = draw_seeded(spec, version="v", registry={}, seed=0)
    assert spec.points == pytest.approx(variant.points, abs=1e-5)
    assert back.stem.plain == variant.stem.plain
    for old, new in zip(variant.parts, back.parts, strict=True):
        assert (new.type, new.points) == (old.type, pytest.approx(old.points, abs=1e-5))
        if old.key is None:
            continue
        assert new.key is not None and new.key.shape == old.key.shape
        bounds = [
            [float(bound) for bound in (*part.settings["lower"], *part.settings["upper"])]
            for part in (old, new)
        ]
        size = len(old.key.data)
        widest = max(high - low for low, high in zip(bounds[0][:size], bounds[0][size:], strict=True))
        # entries of a vector share the least tolerance of all; whole numbers get a thousandth
        assert all(abs(a - b) <= (widest if size > 1 else 2e-3) for a, b in zip(*bounds, strict=True))
        assert [k.feedback for k in new.known_wrong] == [
            k.feedback for k in old.known_wrong if k.value is not None and k.value.shape == old.key.shape
        ]


def test_orders_pairs_words_and_essays_come_back(tmp_path: Path) -> None:
    variants = [drawn(i) for i in ("limiting-cases", "greedy-path", "own-context-explained")]
    order = drawn("decoder-step-order", policy="positions")
    specs = read_back(tmp_path, family(order), *map(family, variants))
    assert [spec.kind for spec in specs] == ["ordering", "matching", "token", "free_text"]
    assert isinstance(specs[0].answer, OrderingAnswer) and specs[0].answer.policy == "positions"
    for spec, variant in zip(specs, [order, *variants], strict=True):
        back = draw_seeded(spec, version="v", registry={}, seed=0)
        (old,), (new,) = variant.parts, back.parts
        texts = {option.text.plain for option in old.options}
        assert {option.text.plain for option in new.options} == texts
        if old.type == "ordering":
            assert kind_words(new) == kind_words(old)
        if old.type == "matching":
            assert kind_words(new) == kind_words(old)
        if old.type == "free_text":
            assert [c["points"] for c in new.settings["rubric"]] == [
                c["points"] for c in old.settings["rubric"]
            ]
        assert spec.points == variant.points


def kind_words(part: Part) -> str:
    from engine.answers import answer_type

    return answer_type(part.type).key_words(part)
