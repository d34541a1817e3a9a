"""Exams as pages: every item of the bank, in both sizes, with nothing cut off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pypdfium2
import pytest

from engine import COMMON_PACKAGES
from engine.items.bank import Bank, builtin_root
from engine.model import Quiz, QuizQuestion, RenderedText
from engine.paper.exam_text import ExamCover, exam_body
from engine.paper.printed_order import part_label, printed_order, printed_questions, sheet_fields
from engine.paper.sheet_layout import lay_out_sheet
from engine.paper.typeset import ExamJob, make_exams
from engine.paper.typst_text import typst_plain, typst_text
from engine.prose.markdown import render_prose
from engine.variants import draw_seeded

_PER_EXAM = 15


@pytest.fixture(scope="module")
def quizzes() -> list[Quiz]:
    bank = Bank([builtin_root()], packages=COMMON_PACKAGES)
    specs = [bank.load(summary.id) for summary in bank.summaries()[0]]
    variants = [
        draw_seeded(spec, version="v", registry=bank.registry(), seed=3)
        for spec in specs
        if spec.kind != "code"
    ]
    starts = range(0, len(variants), _PER_EXAM)
    return [
        Quiz(
            f"q{start}",
            "bank",
            "The bank",
            "s1",
            tuple(
                QuizQuestion(number, variant, variant.points)
                for number, variant in enumerate(variants[start : start + _PER_EXAM], start=1)
            ),
        )
        for start in starts
    ]


def bounds(path: Path) -> Iterator[tuple[int, float, float, float, float]]:
    """Yield page, left, bottom, right and top of each thing on a page's text area, in points."""
    for number, page in enumerate(pypdfium2.PdfDocument(path), start=1):
        for item in page.get_objects():
            yield number, *item.get_bounds()


@pytest.mark.parametrize(("paper", "large"), [("a4", False), ("letter", True)])
def test_no_item_of_the_bank_hangs_over_the_edge(
    quizzes: list[Quiz], tmp_path: Path, paper: str, large: bool
) -> None:
    jobs = []
    for number, quiz in enumerate(quizzes, start=1):
        ordered = printed_order(quiz, b"secret")
        printed = printed_questions(ordered)
        cover = ExamCover("Course", quiz.title, "Ada Lovelace", "s1", "", number)
        body = exam_body(cover, ordered, printed, large=large)
        layout = lay_out_sheet(
            sheet_fields(ordered), paper="letter" if paper == "letter" else "a4", large=large
        )
        target = str(tmp_path / f"{number}.pdf")
        jobs.append(ExamJob(target, "x", "x", "x", body, paper, large, "ABC", number, layout))
    made = make_exams(jobs)
    side = 22 / 25.4 * 72
    width, height = (210 / 25.4 * 72, 297 / 25.4 * 72) if paper == "a4" else (612.0, 792.0)
    head = 30 / 25.4 * 72
    for job, exam in zip(jobs, made, strict=True):
        outside = [
            place
            for place in bounds(Path(job.target))
            if place[0] < exam.sheet
            and place[2] < height - head  # a code may reach into the margin
            and (place[1] < side - 2 or place[3] > width - side + 2 or place[2] < _FOOT - 2)
        ]
        assert outside == []


_FOOT = 8 / 25.4 * 72  # the margin is 20 mm high, and the foot of a page stands in it


def test_a_formula_wider_than_the_page_is_made_smaller(tmp_path: Path) -> None:
    rows = r" \\ ".join(" & ".join(["-0.2512"] * 15) for _ in range(3))
    matrix = rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}"
    text = render_prose(f"$$A = {matrix}$$\n\n$$a = 1, \\qquad B = {matrix}$$")
    target = tmp_path / "wide.pdf"
    make_exams([ExamJob(str(target), "x", "x", "x", typst_text(text), "a4", large=False)])
    places = list(bounds(target))
    assert len(places) > 90
    assert all(place[1] > 60 and place[3] < 536 for place in places)


def test_questions_change_places_within_their_section_only(quizzes: list[Quiz]) -> None:
    questions = tuple(
        QuizQuestion(q.number, q.variant, q.points, "first" if q.number <= 10 else "second")
        for q in quizzes[0].questions
    )
    quiz = Quiz("q", "quiz", "Quiz", "s1", questions)
    orders = {tuple(q.number for q in printed_order(quiz, secret)) for secret in (b"a", b"b", b"c")}
    assert len(orders) == 3
    for order in orders:
        assert sorted(order[:10]) == list(range(1, 11)) and sorted(order[10:]) == list(range(11, 16))
    assert printed_order(quiz, b"a", shuffled=False) == questions
    # All copies of a version have its order, whoever they are for.
    other = Quiz("q2", "quiz", "Quiz", "s2", questions)
    assert printed_order(other, b"a") == printed_order(quiz, b"a")


def test_fields_are_named_by_the_place_of_their_question() -> None:
    assert [part_label(3, 0, 1), part_label(3, 0, 2), part_label(3, 1, 2)] == ["3", "3.1", "3.2"]


@pytest.mark.parametrize(
    ("markdown", "written"),
    [
        ("a *b* **c** `d`", '#"a ";#emph[#"b";];#" ";#strong[#"c";];#" ";#raw("d");'),
        (r"*\#x* \$", '#emph[#"#x";];#" $";'),
        ("1. a\n2. b", '#enum(start: 1, [#"a";], [#"b";],)'),
        ("- a", '#list([#"a";],)'),
        ("> a", '#quote(block: true)[#"a";]'),
        ("```\n#let x\n```", '#raw("#let x", block: true)'),
    ],
)
def test_prose_is_written_by_calls_and_strings(markdown: str, written: str) -> None:
    assert typst_text(render_prose(markdown)) == written


def test_a_formula_of_an_older_store_that_cannot_be_set_shows_its_source() -> None:
    mathml = '<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline"><mi>x</mi></math>'
    assert typst_text(RenderedText("x", mathml, r"$\oldmacro$")) == r'#raw("\\oldmacro");'


def test_names_are_no_markup() -> None:
    assert typst_plain('#panic() "x" \\ \x00\u202e') == '#"#panic() \\"x\\" \\\\   "'
