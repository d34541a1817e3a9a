"""Answer sheets: positions on both papers, what every item of the bank asks for, codes of pages."""

from __future__ import annotations

import itertools
import json
import math

import pytest

import engine
from engine.items import builtin_bank
from engine.paper.page_codes import CODE_SIGNS, PageCode
from engine.paper.sheet_drawing import draw_sheet
from engine.paper.sheet_layout import (
    MARK_SIZE,
    PAPER_SIZES,
    NumberDigits,
    SheetFieldKind,
    SheetLayout,
    SheetQuestion,
    lay_out_sheet,
)
from engine.paper.sheet_questions import sheet_question, student_number_question
from engine.scanning.field_texts import FieldMarks, field_text
from engine.text.words import typst_string

KINDS = SheetFieldKind


def all_kinds() -> list[SheetQuestion]:
    """Return one field of each kind, twice over, so that they take several pages."""
    once = [
        student_number_question(7),
        SheetQuestion(1, "answer", "1", KINDS.SINGLE, tuple("abcd"), note="one"),
        SheetQuestion(2, "answer", "2", KINDS.MULTIPLE, tuple("abcdefghijklmnopqrstuvwxyz")),
        SheetQuestion(3, "answer", "3", KINDS.MATCHING, tuple("abc"), ("1", "2", "3", "4")),
        SheetQuestion(4, "answer", "4", KINDS.ORDERING, tuple("abcde"), ("1.", "2.", "3.", "4.", "5.")),
        SheetQuestion(5, "a", "5 a", KINDS.NUMBERS, digits=NumberDigits(2, 3)),
        SheetQuestion(5, "b", "5 b", KINDS.NUMBERS, digits=NumberDigits(1, 2, exponent=2)),
        SheetQuestion(6, "answer", "6", KINDS.NUMBERS, digits=NumberDigits(free=6)),
        SheetQuestion(7, "answer", "7", KINDS.NUMBERS, (), ("[1]", "[2]"), NumberDigits(1, 2), (2,)),
        SheetQuestion(8, "answer", "8", KINDS.BOX, lines=4),
    ]
    return once + once


@pytest.mark.parametrize("paper", ["a4", "letter"])
@pytest.mark.parametrize("large", [False, True])
def test_nothing_on_a_sheet_lies_over_anything_else_and_all_of_it_on_the_paper(
    paper: str, large: bool
) -> None:
    layout = lay_out_sheet(all_kinds(), paper=paper, large=large)  # type: ignore[arg-type]
    assert len(layout.pages) > 1
    width, height = PAPER_SIZES[paper]
    radius = layout.radius
    for page in layout.pages:
        round_things = [(b.x, b.y, radius) for b in page.bubbles]
        round_things += [(r.x, r.y, radius) for r in (*page.references, *page.tints)]
        round_things += [(x, y, MARK_SIZE * 0.71) for x, y in page.marks]
        round_things += [(x + 8.5, y + 8.5, 8.5 * 1.42) for x, y in page.codes]
        for x, y, reach in round_things:
            assert x - reach / 1.42 > 5 and x + reach / 1.42 < width - 5
            assert y - reach / 1.42 > 5 and y + reach / 1.42 < height - 5
        for (x1, y1, r1), (x2, y2, r2) in itertools.combinations(round_things, 2):
            assert math.hypot(x1 - x2, y1 - y2) > r1 + r2, (x1, y1, x2, y2)
        for box in page.boxes:
            for x, y, reach in round_things:
                dx = max(box.x - x, 0, x - box.x - box.width)
                dy = max(box.y - y, 0, y - box.y - box.height)
                assert math.hypot(dx, dy) > reach


def test_every_value_of_every_field_has_exactly_one_bubble() -> None:
    questions = all_kinds()
    layout = lay_out_sheet(questions)
    places = [(b.question, b.entry, b.column, b.value) for page in layout.pages for b in page.bubbles]
    assert len(set(places)) == len(places)
    expected = set()
    for index, question in enumerate(questions):
        if question.kind is KINDS.BOX:
            continue
        if question.digits is None:
            rows = len(question.rows) or 1
            expected |= {(index, row, 0, option) for row in range(rows) for option in question.options}
            continue
        for entry in range(len(question.rows) or 1):
            for position, column in enumerate(question.digits.columns()):
                expected |= {(index, entry, position, value) for value in column.values}
    assert set(places) == expected


def test_a_layout_is_the_same_after_it_was_stored_and_for_the_same_questions() -> None:
    layout = lay_out_sheet(all_kinds(), paper="letter", large=True)
    stored = json.loads(json.dumps(layout.as_json()))
    assert SheetLayout.from_json(stored) == layout == lay_out_sheet(all_kinds(), paper="letter", large=True)
    for broken in ({**stored, "version": 9}, {**stored, "pages": [{}]}, {}, {**stored, "paper": "napkin"}):
        with pytest.raises(ValueError, match=r"layout has|no paper"):
            SheetLayout.from_json(broken)


@pytest.mark.parametrize("large", [False, True])
def test_every_item_of_the_bank_fits_on_a_sheet_and_its_key_and_mistakes_fit_on_its_grid(large: bool) -> None:
    bank = builtin_bank()
    for item in bank.ids():
        if item in bank.code_ids():
            continue
        variant = engine.draw(engine.load_item(item), seed=5)
        fields = [sheet_question(1, "1", part) for part in variant.parts]
        assert lay_out_sheet(fields, large=large).pages
        for field, part in zip(fields, variant.parts, strict=True):
            if part.key is None:
                continue
            assert field.kind is KINDS.NUMBERS and field.digits is not None
            assert len(field.rows or ("",)) == len(part.key.data)
            values = [
                *part.key.data,
                *[x for known in part.known_wrong if known.value for x in known.value.data],
            ]
            for value in values:
                if not field.digits.free and not field.digits.exponent:
                    digits = len(f"{abs(value):.{field.digits.decimals}f}".split(".")[0])
                    assert digits <= field.digits.whole, (item, value)


def test_a_mask_has_two_bubbles_for_each_entry_and_counts_keep_their_columns() -> None:
    variant = engine.draw(engine.load_item("causal-mask-matrix"), seed=5)
    mask, pairs = (sheet_question(1, f"1.{i}", part) for i, part in enumerate(variant.parts, start=1))
    (page,) = lay_out_sheet([mask, pairs]).pages
    of_mask = [bubble for bubble in page.bubbles if bubble.question == 0]
    assert len(of_mask) == 16 * 2 and {bubble.value for bubble in of_mask} == {"0", "1"}
    # With room for another mask below it on the same page.
    assert len(lay_out_sheet([mask, mask]).pages) == 1
    assert pairs.digits is not None and pairs.digits.whole >= 3 and pairs.digits.sign
    # What is filled in reads back as the key; and a vector of counts says nothing of its key's size.
    part = variant.parts[0]
    rows = [part.key.data[i : i + 4] for i in (0, 4, 8, 12)]  # type: ignore[union-attr]
    filled = tuple((i, 0, f"{value:g}") for i, value in enumerate(v for row in rows for v in row))
    text = field_text(mask, FieldMarks(filled), part).text
    assert json.loads(text) == [[int(value) for value in row] for row in rows]
    counts = engine.draw(engine.load_item("dot-scores"), seed=5).parts[0]
    grid = sheet_question(1, "1", counts).digits
    assert grid is not None and grid.top == 9 and grid.whole >= 3


def test_a_field_larger_than_a_page_is_refused() -> None:
    with pytest.raises(ValueError, match="doesn't fit on a page"):
        lay_out_sheet([SheetQuestion(1, "answer", "1", KINDS.BOX, lines=40)])


def test_codes_of_pages_are_read_back_and_one_wrong_sign_is_noticed() -> None:
    code = PageCode("K7QF2MXA", 42, 2, 3)
    text = code.text()
    assert PageCode.parse(text) == code == PageCode.parse(f" {text.lower()}\n")
    # Every other sign at every place: the check signs, or the form, give it away but for one in a thousand.
    slips = [
        text[:i] + sign + text[i + 1 :] for i in range(len(text)) for sign in CODE_SIGNS if sign != text[i]
    ]
    passed = [slip for slip in slips if PageCode.parse(slip) is not None]
    assert len(passed) <= len(slips) / 500
    for other in ("", "HTTPS://EXAMPLE.ORG", "SM/1/1/1*AA", "SMK7/0/1/1*AA", "x" * 10_000):
        assert PageCode.parse(other) is None


@pytest.mark.parametrize("fields", [("", 1, 1, 1), ("IL", 1, 1, 1), ("K7", 0, 1, 1), ("K7", 1, 3, 2)])
def test_codes_that_make_no_sense_are_never_printed(fields: tuple[str, int, int, int]) -> None:
    with pytest.raises(ValueError, match=r"named by|numbered from|no page"):
        PageCode(*fields)


def test_foreign_text_stays_text_in_typst() -> None:
    typst = pytest.importorskip("typst")
    hostile = 'a "quoted" \\ #panic("no") $x$ *b* ] } \n end \u202e rtl'
    layout = lay_out_sheet([SheetQuestion(1, "answer", hostile, KINDS.SINGLE, ("a", "b"))])
    source = draw_sheet(layout, [PageCode("K7", 1, 1, 1)], heading=hostile, instructions=hostile)
    assert typst.compile(source.encode()).startswith(b"%PDF")
    assert "\u202e" not in typst_string(hostile)
