"""Sheets with pencil marks as two scanners see them: no bubble is wrong without being flagged."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from benchmarks.scanned_sheets import TRAPS, measure, measure_crosses, usual_exam
from benchmarks.scans.simulated_scans import MM, SCANNERS, FilledSheet, printed_pages, scan
from engine.paper.page_codes import PageCode
from engine.paper.sheet_layout import (
    SheetBubble,
    SheetFieldKind,
    SheetLayout,
    SheetPage,
    SheetQuestion,
    lay_out_sheet,
)
from engine.scanning.bubble_reading import BubbleState, PageReading, read_page
from engine.scanning.page_straightening import UnreadablePageError, find_codes, straighten

pytest.importorskip("typst")

CODE = PageCode("K7QF2MXA", 7, 1, 2)


@pytest.fixture(scope="module")
def exam() -> tuple[SheetLayout, SheetPage, np.ndarray]:
    layout = usual_exam()
    codes = [PageCode("K7QF2MXA", 7, i + 1, len(layout.pages)) for i in range(len(layout.pages))]
    return layout, layout.pages[0], printed_pages(layout, codes)[0]


def read(exam: tuple[SheetLayout, SheetPage, np.ndarray], image: np.ndarray) -> PageReading:
    layout, page, _ = exam
    return read_page(straighten(image, find_codes(image), layout, page), layout, page)


def straight_scan(printed: np.ndarray, graphite: np.ndarray | None = None) -> np.ndarray:
    layer = np.zeros_like(printed) if graphite is None else graphite
    paper = (printed * 0.82 + 0.12) * (1 - layer * 0.88)
    return cv2.resize((paper * 255).astype(np.uint8), None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)


def states(reading: PageReading) -> dict[SheetBubble, BubbleState]:
    return {item.bubble: item.state for item in reading.bubbles}


def test_ordinary_sheets() -> None:
    figures = measure(6, seed=11)
    assert not figures.unread and not figures.wrong
    assert figures.flagged <= 0.02 * figures.total


def test_the_traps_of_other_readers() -> None:
    figures = measure(len(TRAPS), seed=12, only=TRAPS)
    assert not figures.unread and not figures.wrong
    assert figures.bubbles["empty", "filled"] == figures.bubbles["filled", "empty"] == 0


def test_a_page_of_which_nothing_is_filled_has_nothing_but_empty_bubbles(exam) -> None:
    assert set(states(read(exam, straight_scan(exam[2]))).values()) == {BubbleState.EMPTY}


def test_a_page_of_which_all_is_filled_has_nothing_but_filled_bubbles(exam) -> None:
    layout, page, printed = exam
    graphite = np.zeros_like(printed)
    for bubble in page.bubbles:
        centre = (round(bubble.x * MM), round(bubble.y * MM))
        cv2.circle(graphite, centre, round(layout.radius * MM), 0.6, -1, cv2.LINE_AA)
    assert set(states(read(exam, straight_scan(printed, graphite))).values()) == {BubbleState.FILLED}


@pytest.mark.parametrize("arm", [1.5, 1.8, 2.2])
def test_a_crossed_out_bubble_is_for_a_person_whatever_is_below_the_cross(exam, arm: float) -> None:
    layout, page, printed = exam
    bubble = page.bubbles[40]
    centre = (round(bubble.x * MM), round(bubble.y * MM))
    for is_filled in (False, True):
        graphite = np.zeros_like(printed)
        if is_filled:
            cv2.circle(graphite, centre, round(layout.radius * MM), 0.7, -1, cv2.LINE_AA)
        reach = layout.radius * arm
        for slope in (1, -1):
            ends = [
                (round((bubble.x + side * reach) * MM), round((bubble.y + side * slope * reach) * MM))
                for side in (-1, 1)
            ]
            cv2.line(graphite, ends[0], ends[1], 0.8, 7, cv2.LINE_AA)
        assert states(read(exam, straight_scan(printed, graphite)))[bubble] is BubbleState.UNSURE


@pytest.mark.parametrize("width", [0.5, 0.8])
@pytest.mark.parametrize("arm", [0.8, 1.0])
def test_a_cross_in_place_of_filling_is_for_a_person_however_thick_the_pen(
    exam, width: float, arm: float
) -> None:
    layout, page, printed = exam
    graphite = np.zeros_like(printed)
    crossed = page.bubbles[::7]
    for bubble in crossed:
        reach = layout.radius * arm
        for slope in (1, -1):
            ends = [
                (round((bubble.x + side * reach) * MM), round((bubble.y + side * slope * reach) * MM))
                for side in (-1, 1)
            ]
            cv2.line(graphite, ends[0], ends[1], 0.75, round(width * MM), cv2.LINE_AA)
    found = states(read(exam, straight_scan(printed, graphite)))
    assert {found[bubble] for bubble in crossed} == {BubbleState.UNSURE}


def test_the_faintest_mark_is_never_taken_for_none(exam) -> None:
    """From nothing to black in steps: empty, then unsure, then filled, and never back."""
    layout, page, printed = exam
    order = [BubbleState.EMPTY, BubbleState.UNSURE, BubbleState.FILLED]
    seen = []
    for black in (0.0, 0.03, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6, 0.9):
        graphite = np.zeros_like(printed)
        for bubble in page.bubbles[::9]:
            centre = (round(bubble.x * MM), round(bubble.y * MM))
            cv2.circle(graphite, centre, round(layout.radius * MM), black, -1, cv2.LINE_AA)
        found = states(read(exam, straight_scan(printed, graphite)))
        seen.append(max(order.index(found[bubble]) for bubble in page.bubbles[::9]))
        assert black < 0.15 or min(order.index(found[bubble]) for bubble in page.bubbles[::9]) > 0
    assert seen == sorted(seen) and seen[0] == 0 and seen[-1] == 2


def test_what_an_eraser_left_beside_dark_fills_is_for_a_person(exam) -> None:
    """Alone, or beside others as light, the same grey is what a hard pencil fills."""
    layout, page, printed = exam
    remains, *fills = page.bubbles[::9]
    grey = 0.3
    for others, state in ((0.9, BubbleState.UNSURE), (grey, BubbleState.FILLED), (0.0, BubbleState.FILLED)):
        graphite = np.zeros_like(printed)
        for bubble in (remains, *fills):
            centre = (round(bubble.x * MM), round(bubble.y * MM))
            black = grey if bubble is remains else others
            cv2.circle(graphite, centre, round(layout.radius * MM), black, -1, cv2.LINE_AA)
        found = states(read(exam, straight_scan(printed, graphite)))
        assert found[remains] is state
        assert {found[bubble] for bubble in fills} == {BubbleState.FILLED if others else BubbleState.EMPTY}


def test_a_torn_corner_one_code_less_and_a_dark_scan_are_read(exam) -> None:
    image = straight_scan(exam[2])
    torn = image.copy()
    torn[:230, :300] = 250
    torn[-330:, :330] = 250  # with it the second code, and two squares
    dark = (image.astype(float) * 0.45).astype(np.uint8)
    for changed in (torn, dark, cv2.rotate(torn, cv2.ROTATE_180), cv2.rotate(image, cv2.ROTATE_90_CLOCKWISE)):
        assert set(states(read(exam, changed)).values()) == {BubbleState.EMPTY}


@pytest.mark.parametrize("dpi", [150, 300])
@pytest.mark.parametrize(("threshold", "is_faint"), [(0.5, True), (0.7, True), (0.9, False)])
def test_black_and_white_is_read_and_says_whether_light_marks_are_lost(
    exam, dpi: int, threshold: float, is_faint: bool
) -> None:
    layout, page, printed = exam
    graphite = np.zeros_like(printed)
    dark, light = page.bubbles[::9], page.bubbles[4::9]
    for bubble in (*dark, *light):
        centre = (round(bubble.x * MM), round(bubble.y * MM))
        black = 0.9 if bubble in dark else 0.3
        cv2.circle(graphite, centre, round(layout.radius * MM), black, -1, cv2.LINE_AA)
    random = np.random.default_rng(dpi)
    sheet = FilledSheet(printed, graphite)
    reading = read(exam, scan(sheet, "feeder", random, dpi=dpi, threshold=threshold))
    found = states(reading)
    assert reading.is_faint is is_faint
    assert {found[bubble] for bubble in dark} == {BubbleState.FILLED}
    # A light mark is only ever taken for none where the page says so.
    assert is_faint or BubbleState.EMPTY not in {found[bubble] for bubble in light}
    others = set(page.bubbles) - {*dark, *light}
    assert {found[bubble] for bubble in others} == {BubbleState.EMPTY}


def test_a_scan_so_light_that_pencils_vanish_from_it_is_faint_in_grey_too(exam) -> None:
    image = straight_scan(exam[2]).astype(float)
    assert not read(exam, image.astype(np.uint8)).is_faint
    # As scanners do that make text crisp: what is lighter than two thirds of the way to paper becomes white.
    bright = np.clip((image - 30) / (image.max() * 0.7 - 30), 0, 1) * 215 + 40
    assert read(exam, bright.astype(np.uint8)).is_faint


def test_a_scan_so_dark_that_what_was_erased_is_black_is_refused(exam) -> None:
    image = straight_scan(exam[2])
    white = int(image.max())
    for almost in (0.96, 0.93):
        two_levels = np.where(image < white * almost, 0, 255).astype(np.uint8)
        with pytest.raises(UnreadablePageError, match="erased may look like a mark"):
            read(exam, two_levels)


def test_the_file_for_the_printer_is_no_scan(exam) -> None:
    page = cv2.resize((exam[2] * 255).astype(np.uint8), None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    with pytest.raises(UnreadablePageError, match="file for the printer"):
        read(exam, page)


def test_black_and_white_sheets_that_earlier_versions_printed_are_refused(exam) -> None:
    layout, page, printed = exam
    _, two_levels = cv2.threshold(straight_scan(printed), 128, 255, cv2.THRESH_BINARY)
    without = replace(page, tints=())
    with pytest.raises(UnreadablePageError, match="black and white"):
        read_page(straighten(two_levels, find_codes(two_levels), layout, without), layout, without)


@pytest.mark.parametrize("scanner", SCANNERS)
@pytest.mark.parametrize("width", [0.6, 0.8, 1.0, 1.2, 1.4])
def test_a_cross_inside_an_empty_bubble_is_for_a_person_in_pens_of_many_widths(
    exam, scanner: str, width: float
) -> None:
    figures = measure_crosses(width, 1, scanner=scanner)
    assert figures["crosses"] >= 60
    assert figures["read_as_empty"] == 0
    assert figures["flagged"] >= 0.95 * figures["crosses"]


def test_what_lies_over_bubbles_never_passes_for_empty_ones(exam) -> None:
    """A note stuck on the sheet, a folded corner, a white streak: what is below them is unseen."""
    layout, page, printed = exam
    graphite = np.zeros_like(printed)
    hidden = [bubble for bubble in page.bubbles if 60 < bubble.y < 180 and 60 < bubble.x < 150]
    for bubble in hidden:
        centre = (round(bubble.x * MM), round(bubble.y * MM))
        cv2.circle(graphite, centre, round(layout.radius * MM), 0.7, -1, cv2.LINE_AA)
    for threshold in (None, 0.5):
        sheet = FilledSheet(printed.copy(), graphite.copy())
        rows, columns = slice(round(55 * MM), round(185 * MM)), slice(round(55 * MM), round(155 * MM))
        sheet.image[rows, columns], sheet.graphite[rows, columns] = 1.0, 0.0
        image = scan(sheet, "feeder", np.random.default_rng(3), dpi=200, threshold=threshold)
        found = states(read(exam, image))
        assert len(hidden) > 40 and len(hidden) < len(page.bubbles) / 2
        assert {found[bubble] for bubble in hidden} == {BubbleState.UNSURE}
        far = [b for b in page.bubbles if not (50 < b.y < 190 and 50 < b.x < 160)]
        assert {found[bubble] for bubble in far} == {BubbleState.EMPTY}


def test_a_negative_is_read_and_a_mirrored_page_says_that_it_is(exam) -> None:
    image = straight_scan(exam[2])
    assert set(states(read(exam, 255 - image)).values()) == {BubbleState.EMPTY}
    for mirrored in (image[:, ::-1], image[::-1]):
        with pytest.raises(UnreadablePageError, match="mirrored"):
            read(exam, np.ascontiguousarray(mirrored))


def test_what_would_lose_marks_is_refused(exam) -> None:
    image = straight_scan(exam[2])
    covered = image.copy()
    covered[:, :100] = covered[:, -100:] = 250
    with pytest.raises(UnreadablePageError, match="too few"):
        read(exam, covered)
    faint = (image.astype(float) * 0.15 + 200).astype(np.uint8)
    with pytest.raises(UnreadablePageError):
        read(exam, faint)


@pytest.mark.parametrize("dpi", [100, 200, 300])
def test_other_resolutions_and_skews(exam, dpi: int) -> None:
    random = np.random.default_rng(dpi)
    sheet = FilledSheet(exam[2], np.zeros_like(exam[2]))
    image = scan(sheet, "flatbed", random, dpi=dpi)
    assert set(states(read(exam, image)).values()) == {BubbleState.EMPTY}


@pytest.fixture(scope="module")
def essays() -> tuple[SheetLayout, SheetPage, np.ndarray]:
    """A sheet with two boxes for answers in words."""
    questions = [SheetQuestion(n, "answer", str(n), SheetFieldKind.BOX, lines=8) for n in (1, 2)]
    layout = lay_out_sheet(questions)
    return layout, layout.pages[0], printed_pages(layout, [PageCode("K7QF2MXA", 7, 1, 1)])[0]


@pytest.mark.parametrize("scanner", SCANNERS)
@pytest.mark.parametrize("black", [0.15, 0.3])
def test_a_box_is_empty_only_if_not_even_a_faint_line_is_in_it(essays, scanner: str, black: float) -> None:
    """The lightest of the simulated pencils has 0.3; half of that can hardly be seen."""
    layout, page, printed = essays
    first, second = page.boxes
    random = np.random.default_rng(round(black * 100))
    sheet = FilledSheet(printed, np.zeros_like(printed))
    ends = [(round((first.x + dx) * MM), round((first.y + 20) * MM)) for dx in (10, 14)]
    cv2.line(sheet.graphite, ends[0], ends[1], black, round(0.4 * MM), cv2.LINE_AA)
    # A speck of dust is no answer.
    cv2.circle(sheet.graphite, (round((second.x + 9) * MM), round((second.y + 9) * MM)), 2, 0.6, -1)
    for _ in range(3):
        image = scan(sheet, scanner, random)
        reading = read_page(straighten(image, find_codes(image), layout, page), layout, page)
        assert reading.written == (first,)
