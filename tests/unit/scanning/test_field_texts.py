"""What bubbles say, as text; and every case in which a person must look."""

from __future__ import annotations

import pytest

import engine
from engine.model import Part
from engine.paper.sheet_questions import NumberDigits, SheetFieldKind, SheetQuestion
from engine.scanning.field_texts import FieldMarks, field_text

KINDS = SheetFieldKind


def choice(kind: SheetFieldKind) -> SheetQuestion:
    return SheetQuestion(1, "answer", "1", kind, tuple("abcd"))


def numbers(digits: NumberDigits, shape: tuple[int, ...] = ()) -> SheetQuestion:
    count = 1
    for size in shape:
        count *= size
    rows = tuple(str(i) for i in range(count)) if shape else ()
    return SheetQuestion(1, "answer", "1", KINDS.NUMBERS, rows=rows, digits=digits, shape=shape)


def marks(*filled: tuple[int, int, str], unsure: tuple[tuple[int, int, str], ...] = ()) -> FieldMarks:
    return FieldMarks(filled, unsure)


def digits_of(text: str, entry: int = 0) -> list[tuple[int, int, str]]:
    """Return one bubble for each column; a blank or ``_`` leaves it empty."""
    return [(entry, column, sign) for column, sign in enumerate(text) if sign not in " _"]


@pytest.mark.parametrize(
    ("filled", "text"),
    [("", ""), ("b", "b")],
)
def test_a_single_choice(filled: str, text: str) -> None:
    read = field_text(choice(KINDS.SINGLE), marks(*[(0, 0, x) for x in filled]), None)
    assert (read.text, read.reason) == (text, None)


def test_two_marks_where_one_counts_and_unsure_ones_go_to_a_person() -> None:
    read = field_text(choice(KINDS.SINGLE), marks((0, 0, "a"), (0, 0, "c")), None)
    assert read.reason == "several are filled where one counts: a and c"
    read = field_text(choice(KINDS.SINGLE), marks((0, 0, "a"), unsure=((0, 0, "c"),)), None)
    assert read.text == "a" and read.reason == "unclear whether c is filled"
    read = field_text(choice(KINDS.MULTIPLE), marks((0, 0, "d"), (0, 0, "a")), None)
    assert (read.text, read.reason) == ("a, d", None)


def test_what_is_empty_in_a_scan_that_loses_light_marks_goes_to_a_person() -> None:
    matching = SheetQuestion(1, "answer", "1", KINDS.MATCHING, tuple("ab"), ("1", "2"))
    box = SheetQuestion(1, "answer", "1", KINDS.BOX)
    whole = numbers(NumberDigits(2, 1, sign=False))
    for question, filled, is_certain in (
        (choice(KINDS.SINGLE), [], False),
        (choice(KINDS.SINGLE), [(0, 0, "b")], True),
        (choice(KINDS.MULTIPLE), [(0, 0, "b")], False),  # another one may have been there
        (matching, [(0, 0, "a")], False),
        (matching, [(0, 0, "a"), (1, 0, "b")], True),
        (whole, digits_of("_35"), False),
        (whole, digits_of("135"), True),
        (numbers(NumberDigits(2, 1)), [(0, 1, "1"), (0, 2, "3"), (0, 3, "5")], False),  # its sign
        (box, [], False),
    ):
        read = field_text(question, FieldMarks(tuple(filled), is_faint=True), None)
        assert (read.reason is None) is is_certain, (question, filled)
        assert is_certain or "look at the paper" in str(read.reason)


def test_matchings_and_orders() -> None:
    question = SheetQuestion(1, "answer", "1", KINDS.MATCHING, tuple("abc"), ("1", "2", "3"))
    assert field_text(question, marks((0, 0, "c"), (2, 0, "a")), None).text == "1-c, 3-a"
    assert field_text(question, marks((0, 0, "c"), (0, 0, "a")), None).reason is not None
    order = SheetQuestion(1, "answer", "1", KINDS.ORDERING, tuple("abc"), ("1.", "2.", "3."))
    assert field_text(order, marks((0, 0, "c"), (1, 0, "a"), (2, 0, "b")), None).text == "c, a, b"


@pytest.mark.parametrize(
    ("filled", "text"),
    [
        ("_03250", "3.250"),
        ("-_0270", "-0.270"),
        ("_ _270", "0.270"),
        ("_12___", "12"),
        ("__3___", "3"),
        ("-123__", "-12.3"),
        ("______", ""),
    ],
)
def test_numbers_with_empty_places_at_both_ends(filled: str, text: str) -> None:
    # sign, two digits, three decimals; the leading nought of "03" says nothing
    read = field_text(numbers(NumberDigits(2, 3)), marks(*digits_of(filled)), None)
    assert read.reason is None
    assert float(read.text or 0) == float(text or 0) and bool(read.text) == bool(text)


@pytest.mark.parametrize("filled", ["_1_5__", "_12_5_", "_1____", "-_____", "___2_5", "____5_"])
def test_gaps_in_numbers_go_to_a_person(filled: str) -> None:
    assert field_text(numbers(NumberDigits(2, 3)), marks(*digits_of(filled)), None).reason is not None


def test_two_digits_in_a_column_and_digits_that_are_only_written() -> None:
    question = numbers(NumberDigits(2, 1))
    twice = field_text(question, marks((0, 2, "1"), (0, 2, "7")), None)
    assert twice.reason is not None and "1 and 7" in twice.reason
    written = field_text(question, FieldMarks((), (), ((0, 2),)), None)
    assert written.reason is not None and "written above" in written.reason
    both = field_text(question, FieldMarks(((0, 2, "4"),), (), ((0, 2),)), None)
    assert (both.text, both.reason) == ("4", None)


def test_powers_of_ten_and_exact_numbers() -> None:
    power = numbers(NumberDigits(1, 2, exponent=2))
    assert field_text(power, marks(*digits_of("-123-_4")), None).text == "-1.23e-4"
    assert field_text(power, marks(*digits_of("_1_____")), None).text == "1"
    assert field_text(power, marks(*digits_of("_123-__")), None).reason is not None
    free = numbers(NumberDigits(free=6))
    assert field_text(free, marks(*digits_of("-17/64_")), None).text == "-17/64"
    assert field_text(free, marks(*digits_of("_17_64_")), None).reason is not None


def test_vectors_and_matrices() -> None:
    vector = numbers(NumberDigits(1, 1), (2,))
    assert field_text(vector, marks(*digits_of("_05"), *digits_of("-12", 1)), None).text == "[0.5, -1.2]"
    half = field_text(vector, marks(*digits_of("_05")), None)
    assert half.reason == "entry 2 is left empty"
    matrix = numbers(NumberDigits(1, 0, sign=False), (2, 2))
    filled = [bubble for entry in range(4) for bubble in digits_of(str(entry), entry)]
    assert field_text(matrix, marks(*filled), None).text == "[[0, 1], [2, 3]]"


def test_boxes_are_for_people_and_empty_ones_are_blank() -> None:
    box = SheetQuestion(1, "answer", "1", KINDS.BOX)
    assert field_text(box, FieldMarks(), None).reason is None
    assert field_text(box, FieldMarks(written=((0, -1),)), None).reason == "something is written here"


def part_of(item: str) -> Part:
    return engine.draw(engine.load_item(item), seed=3).parts[0]


def test_the_items_own_reader_has_the_last_word() -> None:
    part = part_of("greedy-trace-order")
    letters = tuple(option.id for option in part.options)
    places = tuple(str(i) for i in range(len(letters)))
    order = SheetQuestion(1, "answer", "1", KINDS.ORDERING, letters, places)
    twice = [(i, 0, letters[0]) for i in range(len(letters))]
    reason = field_text(order, marks(*twice), part).reason
    assert reason is not None and "named more than once" in reason
    right = [(i, 0, key) for i, key in enumerate(part.key_ids)]
    assert field_text(order, marks(*right), part).reason is None


def test_the_students_number_needs_all_its_digits() -> None:
    question = SheetQuestion(
        0, "student", "Student number", KINDS.STUDENT, digits=NumberDigits(4, sign=False)
    )
    assert field_text(question, marks(*digits_of("0042")), None).text == "0042"
    assert field_text(question, marks(*digits_of("00_2")), None).reason == "a digit is missing"
