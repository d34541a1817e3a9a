"""Answer sheets read from simulated scans: bubbles right, wrong without a word, flagged; time for a sheet.

Usage: python benchmarks/scanned_sheets.py [--sheets N] [--seed N] [--json FILE] [--quick]
       [--threshold X] [--crosses N]

Sheets of every kind of field are filled in by students with their own pencils (scans/simulated_scans.py),
with changes of mind, crosses, smudges and dirt, and scanned at 150 dpi by two scanners, skewed by up to 5
degrees, half of them upside down. One sheet in ten is a trap on which other readers fail: nothing filled in,
every bubble of multiple choices filled, very light marks, a felt pen, bubbles filled by two thirds.

A bubble is *right* if it is read as the student meant it, or flagged where it was crossed; *wrong* if it is
read otherwise without being flagged. A page that can't be read is listed, and none of its bubbles counts.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scans.simulated_scans import SCANNERS, Intent, Student, printed_pages, scan
from engine.paper.page_codes import PageCode
from engine.paper.sheet_layout import (
    NumberDigits,
    SheetFieldKind,
    SheetLayout,
    SheetQuestion,
    lay_out_sheet,
)
from engine.paper.sheet_questions import student_number_question
from engine.scanning.bubble_reading import BubbleState, read_page
from engine.scanning.page_straightening import UnreadablePageError, find_codes, straighten

TRAPS = ("blank", "all", "light", "thick", "partial")
# Nine ordinary students, then one of a trap.
_TURN: tuple[str | None, ...] = (None,) * 9
_EXPECTED = {Intent.EMPTY: BubbleState.EMPTY, Intent.FILLED: BubbleState.FILLED}


def usual_exam() -> SheetLayout:
    """Return the answer sheet of a usual exam: choices, a matching, an order, numbers of all kinds."""
    kinds = SheetFieldKind
    questions = [student_number_question(7)]
    for number in range(1, 13):
        kind = kinds.SINGLE if number % 3 else kinds.MULTIPLE
        questions.append(
            SheetQuestion(number, "answer", str(number), kind, tuple("abcdef"[: 3 + number % 4]))
        )
    questions += [
        SheetQuestion(13, "answer", "13", kinds.MATCHING, tuple("abcd"), ("1", "2", "3", "4")),
        SheetQuestion(14, "answer", "14", kinds.ORDERING, tuple("abcde"), ("1.", "2.", "3.", "4.", "5.")),
        SheetQuestion(15, "a", "15.1", kinds.NUMBERS, digits=NumberDigits(2, 3)),
        SheetQuestion(15, "b", "15.2", kinds.NUMBERS, digits=NumberDigits(1, 2, exponent=1)),
        SheetQuestion(16, "answer", "16", kinds.NUMBERS, (), ("[1]", "[2]"), NumberDigits(1, 2), (2,)),
        SheetQuestion(17, "answer", "17", kinds.NUMBERS, digits=NumberDigits(free=6)),
        SheetQuestion(18, "answer", "18", kinds.BOX, lines=3),
    ]  # fmt: skip
    return lay_out_sheet(questions)


@dataclass
class ScanFigures:
    """What was measured."""

    pages: int = 0
    unread: list[str] = field(default_factory=list)
    bubbles: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    flagged_of: Counter[str] = field(default_factory=Counter)
    bubbles_of: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def total(self) -> int:
        return sum(self.bubbles.values())

    @property
    def flagged(self) -> int:
        return sum(n for (_, state), n in self.bubbles.items() if state == "unsure")

    def as_json(self) -> dict[str, Any]:
        decided = self.total - self.flagged
        return {
            "pages": self.pages,
            "pages_not_read": len(self.unread),
            "bubbles": self.total,
            "wrong_without_a_word": len(self.wrong),
            "right_of_decided_percent": 100 * (1 - len(self.wrong) / max(1, decided)),
            "flagged_percent": 100 * self.flagged / max(1, self.total),
            "flagged_percent_of_pencils": 100
            * sum(n for hand, n in self.flagged_of.items() if hand != "thick")
            / max(1, sum(n for hand, n in self.bubbles_of.items() if hand != "thick")),
            "flagged_percent_by_hand": {
                name: 100 * self.flagged_of[name] / count for name, count in sorted(self.bubbles_of.items())
            },
            "read_as": {
                f"{intent} read as {state}": n for (intent, state), n in sorted(self.bubbles.items())
            },
            "ms_a_page": 1000 * self.seconds / max(1, self.pages),
        }


def _cases(sheets: int, seed: int) -> Iterator[tuple[int, str | None, np.random.Generator]]:
    turn = [case for trap in TRAPS for case in (*_TURN, trap)]
    for number in range(sheets):
        yield number, turn[number % len(turn)], np.random.default_rng((seed, number))


def measure(
    sheets: int, seed: int = 0, *, only: Sequence[str] | None = None, threshold: float | None = None
) -> ScanFigures:
    """Read so many simulated pages; `only` draws traps alone, `threshold` scans in black and white."""
    layout = usual_exam()
    codes = [PageCode("K7QF2MXA", 42, i + 1, len(layout.pages)) for i in range(len(layout.pages))]
    printed = printed_pages(layout, codes)
    with_bubbles = [i for i, page in enumerate(layout.pages) if page.bubbles]
    figures = ScanFigures()
    for number, trap, random in _cases(sheets, seed):
        hand = only[number % len(only)] if only else trap
        index = with_bubbles[number % len(with_bubbles)]
        page = layout.pages[index]
        student = Student(random, hand)
        sheet = student.fill(printed[index], layout, page)
        kind = hand if hand in ("all", "blank") else student.hand.kind
        scanner = SCANNERS[number % len(SCANNERS)]
        image = scan(sheet, scanner, random, upside_down=bool(random.integers(2)), threshold=threshold)
        where = f"sheet {number} of seed {seed} ({hand or 'ordinary'}, {scanner})"
        figures.pages += 1
        begun = time.process_time()
        try:
            found = find_codes(image)
            if {item.code for item in found} != {codes[index]}:
                raise UnreadablePageError("its code can't be read")
            reading = read_page(straighten(image, found, layout, page), layout, page)
        except UnreadablePageError as error:
            figures.unread.append(f"{where}: {error}")
            continue
        finally:
            figures.seconds += time.process_time() - begun
        for item in reading.bubbles:
            intent = sheet.intents[item.bubble]
            figures.bubbles[intent.value, item.state.value] += 1
            figures.bubbles_of[kind] += 1
            if item.state is BubbleState.UNSURE:
                figures.flagged_of[kind] += 1
            elif item.state is not _EXPECTED.get(intent):
                figures.wrong.append(f"{where}: {item} was meant as {intent.value}")
    return figures


CROSS_WIDTHS = (0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6)


def measure_crosses(width: float, pages: int, seed: int = 0, *, scanner: str | None = None) -> dict[str, int]:
    """Read crosses that stay inside empty bubbles, drawn by a pen of so many mm, and count what they seem."""
    layout = usual_exam()
    codes = [PageCode("K7QF2MXA", 42, i + 1, len(layout.pages)) for i in range(len(layout.pages))]
    printed, page = printed_pages(layout, codes)[0], layout.pages[0]
    counts: Counter[BubbleState] = Counter()
    for number in range(pages):
        random = np.random.default_rng((seed, number, round(width * 10)))
        crossed = page.bubbles[number % 4 :: 4]
        sheet = Student(random).cross_inside(printed, crossed, layout.radius, width)
        image = scan(sheet, scanner or SCANNERS[number % len(SCANNERS)], random)
        reading = read_page(straighten(image, find_codes(image), layout, page), layout, page)
        counts.update(item.state for item in reading.bubbles if item.bubble in sheet.intents)
    return {
        "crosses": sum(counts.values()),
        "flagged": counts[BubbleState.UNSURE],
        "read_as_empty": counts[BubbleState.EMPTY],
    }


def main() -> None:
    """Measure, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sheets", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    parser.add_argument(
        "--threshold", type=float, help="scan in black and white: darker than this share of paper is black"
    )
    parser.add_argument("--crosses", type=int, default=0, help="pages of crosses inside bubbles for each pen")
    parser.add_argument("--quick", action="store_true", help="ten sheets, of which one is a trap")
    arguments = parser.parse_args()
    figures = measure(
        10 if arguments.quick else arguments.sheets, arguments.seed, threshold=arguments.threshold
    )
    result = figures.as_json()
    for name, value in result.items():
        print(f"{name:26} {value}")
    for width in CROSS_WIDTHS if arguments.crosses else ():
        row = measure_crosses(width, arguments.crosses, arguments.seed)
        share = 100 * row["flagged"] / row["crosses"]
        print(f"{row['crosses']} crosses of {width} mm: {share:.1f} % flagged, {row['read_as_empty']} empty")
    for line in (*figures.unread, *figures.wrong):
        print(line)
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
