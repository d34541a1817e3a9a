"""Print exams, on one core and on all, and read scanned answer sheets.

Usage: python benchmarks/paper.py [--quick] [--sheets N] [--json FILE]

1. *A 3-page exam* (cover, three questions, answer sheet), each with variants of its own: Typst source, PDF
   with its codes, and file, on one core. Drawing isn't counted: `benchmarks/quiz.py` measures it.
2. *Items of the quiz l16* (8 questions) in the same way.
3. *A class*: exams in processes on all cores, merged for the printer, from start to end.
4. *Scanned sheets*: bubbles right, flagged, and wrong without being flagged; `scanned_sheets.py` by itself
   names each wrong one.

Processor time counts the compiler's threads too, so what else the machine does hardly matters.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

AIM_MS = 100.0
SHORT = ("l16-ex2-greedy-vs-beam", "l16-ex4-problems-addressed", "softmax-weights")
LONG = (
    *SHORT,
    "greedy-trace-order",
    "io-length-claims",
    "context-vector",
    "decoder-new-state",
    "l16-full-pass",
)
SECRET = b"benchmark"


def quizzes(items: tuple[str, ...], count: int) -> list[Any]:
    """Return a quiz of these items for each of so many students."""
    from engine.items import builtin_bank
    from engine.model import Quiz, QuizQuestion
    from engine.variants import draw

    bank = builtin_bank()
    known = [item for item in items if item in bank]
    drawn = []
    for student in range(count):
        variants = [
            draw(
                bank.load(item),
                version="v",
                registry=bank.registry(),
                secret=SECRET,
                student=f"s{student}",
            )
            for item in known
        ]
        questions = tuple(QuizQuestion(n, v, v.points) for n, v in enumerate(variants, start=1))
        drawn.append(Quiz(f"q{student}", "bench", "Benchmark", f"s{student}", questions))
    return drawn


def jobs_of(drawn: list[Any], folder: Path, first: int = 1) -> list[Any]:
    """Return what is typeset for these quizzes; their source is written here."""
    from engine.paper.exam_text import ExamCover, exam_body
    from engine.paper.printed_order import printed_order, printed_questions, sheet_fields
    from engine.paper.sheet_layout import lay_out_sheet
    from engine.paper.typeset import ExamJob

    jobs = []
    for number, quiz in enumerate(drawn, start=first):
        ordered = printed_order(quiz, SECRET)
        cover = ExamCover("Course", quiz.title, f"Student {number}", quiz.student, "", number)
        body = exam_body(cover, ordered, printed_questions(ordered))
        layout = lay_out_sheet(sheet_fields(ordered))
        target = str(folder / f"{number}.pdf")
        jobs.append(
            ExamJob(target, quiz.title, "Course", cover.owner, body, "a4", False, "BENCH", number, layout)
        )
    return jobs


def one_core(items: tuple[str, ...], count: int, folder: Path) -> dict[str, float]:
    """Return milliseconds of processor time an exam, and its pages."""
    from engine.paper.typeset import copy_fonts, make_exam, use_fonts

    fonts = folder / "fonts"
    fonts.mkdir()
    copy_fonts(fonts)
    use_fonts(str(fonts))
    drawn = quizzes(items, count + 2)
    # The first exams load fonts and what is imported.
    pages = [make_exam(job).pages for job in jobs_of(drawn[:2], folder)][-1]
    begin = time.process_time()
    jobs = jobs_of(drawn[2:], folder, 3)
    source = time.process_time() - begin
    for job in jobs:
        make_exam(job)
    spent = time.process_time() - begin
    return {"pages": pages, "ms_an_exam": 1000 * spent / count, "ms_source": 1000 * source / count}


def whole_class(count: int, folder: Path) -> dict[str, float]:
    """Return the seconds that a class's exams take from their quizzes to the merged file."""
    from engine.paper.typeset import make_exams, merge_exams

    drawn = quizzes(SHORT, count)
    begin = time.perf_counter()
    jobs = jobs_of(drawn, folder)
    make_exams(jobs)
    typeset = time.perf_counter() - begin
    merge_exams([Path(job.target) for job in jobs], folder / "merged.pdf")
    seconds = time.perf_counter() - begin
    return {
        "exams": count,
        "seconds": seconds,
        "exams_a_second": count / seconds,
        "merge_s": seconds - typeset,
    }


def scanned(pages: int) -> dict[str, Any]:
    """Read simulated scans, and print how many bubbles were right, flagged and wrong."""
    from benchmarks.scanned_sheets import measure

    row = measure(pages).as_json()
    print(
        f"{row['pages']} scanned pages, {row['bubbles']} bubbles: "
        f"{row['wrong_without_a_word']} wrong without being flagged (aim: 0), "
        f"{row['flagged_percent']:.2f} % flagged (aim: 1), "
        f"{row['ms_a_page']:.0f} ms a page, {row['pages_not_read']} pages left to a person"
    )
    return row


def main() -> None:
    """Measure, print a table, and write the figures where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="see that it works; no figures to quote")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--sheets", type=int, default=1000, help="scanned pages (default: 1000)")
    options = parser.parse_args()
    count = 3 if options.quick else 60
    figures: dict[str, Any] = {}
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start")
    for name, items in (("short", SHORT), ("l16", LONG)):
        with tempfile.TemporaryDirectory() as folder:
            figures[name] = one_core(items, count, Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        figures["class"] = whole_class(6 if options.quick else 200, Path(folder))
    for name in ("short", "l16"):
        row = figures[name]
        print(
            f"exam of {row['pages']} pages: {row['ms_an_exam']:.0f} ms of one core, "
            f"{row['ms_source']:.0f} of them for its source (aim for 3 pages: {AIM_MS:.0f})"
        )
    row = figures["class"]
    print(
        f"class of {row['exams']}: {row['seconds']:.1f} s, {row['exams_a_second']:.1f} exams a second, "
        f"merged in {row['merge_s']:.1f} s"
    )
    figures["scan"] = scanned(5 if options.quick else options.sheets)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
