"""``grade print``: from a blueprint to exams on paper, and what of it is recorded."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pikepdf
import pypdfium2
import pytest
import zxingcpp

from engine.answers import right_response
from engine.course import Course
from engine.model import Quiz
from engine.paper.exam_draws import assign_spare
from engine.paper.page_codes import PageCode
from engine.paper.print_record import PrintRecord, print_ids, read_record
from engine.paper.sheet_layout import SheetLayout

ROSTER = "id,name\n1001,Ada Lovelace\n1002,Grace Hopper\n1003,Zoë عمر & Söhne #1 $x_2$ {a}\n"
BLUEPRINT = """title: "Paper & pencil: {{ }} ~ = # $ <b> ]]> 😀"
time_limit: 45
exercises: [softmax]
sections:
  - title: Weights
    items: [softmax-weights, context-vector, l16-ex4-problems-addressed, l16-ex2-greedy-vs-beam]
    points: 2
  - title: Order
    items: [greedy-trace-order]
    points: 3
"""


@pytest.fixture
def course(grade) -> Path:
    assert grade("init", "course", "--title", "Attention").code == 0
    Path("course/roster.csv").write_text(ROSTER, encoding="utf-8")
    Path("course/blueprints/paper.yaml").write_text(BLUEPRINT, encoding="utf-8")
    return Path("course")


def the_print(course: Path) -> tuple[Path, PrintRecord]:
    (name,) = print_ids(course)
    folder = course / "prints" / name
    return folder, read_record(folder)


def texts(path: Path) -> list[str]:
    return [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(path)]


def codes_of(path: Path) -> list[set[PageCode | None]]:
    """Return the codes on each page, as an ordinary office scanner at 150 dpi would see them."""
    pages = []
    for page in pypdfium2.PdfDocument(path):
        picture = page.render(scale=150 / 72).to_pil().convert("L")
        pages.append({PageCode.parse(code.text) for code in zxingcpp.read_barcodes(picture)})
    return pages


def stored(course: Path) -> list[Quiz]:
    with Course.open(course).open_store() as store:
        return store.quizzes("paper")


def all_files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_each_student_gets_an_exam_of_their_own(grade, course: Path) -> None:
    done = grade("print", "paper", "--course", "course", "--spare", 1)
    assert done.code == 0, done.err
    assert "4 exams of 4 versions, 1 of them spare" in done.out
    assert "not on paper: softmax" in done.err
    folder, record = the_print(course)
    assert record.is_complete and record.quiz == "paper"
    assert [copy.student for copy in record.copies] == ["1001", "1002", "1003", None]
    quizzes = {quiz.id: quiz for quiz in stored(course)}
    assert len(quizzes) == 3  # nobody's quiz is in the store

    for copy in record.copies[:3]:
        path = folder / "exams" / copy.file
        pages = texts(path)
        assert len(pages) == copy.pages
        # Every page says which it is; a sheet begins on a leaf of its own.
        assert copy.sheet % 2 == 1 and copy.sheet + 1 >= copy.pages > copy.sheet - 1
        assert codes_of(path) == [
            {PageCode(record.id, copy.number, page, copy.pages)} for page in range(1, copy.pages + 1)
        ]
        assert all(f"Page {n} of {copy.pages}" in pages[n - 1] for n in range(1, copy.sheet))
        quiz = quizzes[copy.quiz]
        assert quiz.student == copy.student
        version = record.version(copy)
        assert sorted(q.number for q in version.questions) == [1, 2, 3, 4, 5]
        assert version.questions[-1].number == 5  # another section stays last
        whole = " ".join(" ".join(pages).split())
        assert "45 minutes" in whole and "11 points" in whole
        for question in version.questions:
            drawn = next(q for q in quiz.questions if q.number == question.number)
            assert question.variant == drawn.variant.id
            assert [part.options for part in question.parts] == [
                tuple(option.id for option in part.options) for part in drawn.variant.parts
            ]
            assert f"{question.label} {drawn.variant.title}" in whole.replace("\x02", "")
        # No key, and no worked solution.
        for drawn in quiz.questions:
            assert drawn.variant.solution is not None
            assert drawn.variant.solution.plain[:40] not in whole
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(p.stat().st_mode) for p in folder.rglob("*") if p.is_file()} == {0o600}
    spare = texts(folder / "exams" / record.copies[3].file)
    assert "Student number" in spare[0] and "Spare copy 4" in spare[0]
    layout = SheetLayout.from_json(record.layout(record.copies[3]))
    assert layout.questions[0].part == "student"


def walk(node: pikepdf.Object, kinds: list[str], missing: list[pikepdf.Object]) -> None:
    """Collect the kinds of tags, and the pictures and formulas without alternative text."""
    if isinstance(node, pikepdf.Array):
        for kid in node:
            walk(kid, kinds, missing)
    elif isinstance(node, pikepdf.Dictionary) and "/S" in node:
        kinds.append(str(node.S))
        if str(node.S) in ("/Figure", "/Formula") and not str(node.get("/Alt", "")):
            missing.append(node)
        walk(node.get("/K", pikepdf.Array()), kinds, missing)


def test_exams_are_tagged_and_complete_in_themselves(grade, course: Path) -> None:
    assert grade("print", "paper", "--course", "course", "--student", "1001").code == 0
    folder, record = the_print(course)
    for path in (folder / "exams" / record.copies[0].file, next((folder / "keys").iterdir())):
        with pikepdf.open(path) as pdf:
            assert pdf.Root.MarkInfo.Marked
            assert str(pdf.Root.Lang) == "en"
            kinds: list[str] = []
            missing: list[pikepdf.Object] = []
            walk(pdf.Root.StructTreeRoot.K, kinds, missing)
            assert "/H1" in kinds and "/H2" in kinds and "/Formula" in kinds and "/P" in kinds
            assert missing == []
            with pdf.open_metadata() as meta:
                assert meta["pdfuaid:part"] == "1"
            for page in pdf.pages:
                for font in page.Resources.get("/Font", {}).values():
                    kid = font.DescendantFonts[0] if "/DescendantFonts" in font else font
                    assert any(name in kid.FontDescriptor for name in ("/FontFile2", "/FontFile3"))


def test_the_merged_file_begins_each_exam_on_an_odd_page(grade, course: Path) -> None:
    assert grade("print", "paper", "--course", "course", "--out", "all.pdf").code == 0
    folder, record = the_print(course)
    assert Path("all.pdf").read_bytes() == (folder / "exams.pdf").read_bytes()
    merged = texts(Path("all.pdf"))
    place = 0
    for copy in record.copies:
        assert place % 2 == 0
        assert merged[place : place + copy.pages] == texts(folder / "exams" / copy.file)
        place += copy.pages + copy.pages % 2
    assert place == len(merged)


def test_the_same_print_has_the_same_bytes(grade, course: Path) -> None:
    assert grade("print", "paper", "--course", "course", "--spare", 1).code == 0
    folder, _ = the_print(course)
    before = all_files(folder)
    for path in sorted(folder.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    assert grade("print", "paper", "--course", "course", "--spare", 1).code == 0
    assert all_files(folder) == before


def test_versions_go_round_and_neighbours_differ(grade, course: Path) -> None:
    done = grade("print", "paper", "--course", "course", "--versions", 2, "--spare", 1, "--json")
    assert done.code == 0, done.err
    assert [entry["version"] for entry in done.json()["copies"]] == ["A", "B", "A", "B"]
    folder, record = the_print(course)
    assert len(record.versions) == 2
    assert sorted(p.name for p in (folder / "keys").iterdir()) == ["version-A.pdf", "version-B.pdf"]
    asked = {q.student: [question.variant.id for question in q.questions] for q in stored(course)}
    assert asked["1001"] == asked["1003"] != asked["1002"]
    assert len({quiz.id for quiz in stored(course)}) == 3
    # Printed again it is the same print, and another number of versions is refused.
    again = grade("print", "paper", "--course", "course", "--versions", 2, "--spare", 1, "--json")
    assert again.json() == done.json()
    refused = grade("print", "paper", "--course", "course", "--versions", 3)
    assert refused.code == 2 and "drawn already, in 2 versions" in refused.err
    too_many = grade("print", "paper", "--course", "course", "--name", "p2", "--versions", 4)
    assert too_many.code == 2 and "more versions than students" in too_many.err


def test_a_key_booklet_has_keys_intervals_and_solutions(grade, course: Path) -> None:
    assert grade("print", "paper", "--course", "course", "--student", "1002").code == 0
    folder, _ = the_print(course)
    (booklet,) = (folder / "keys").iterdir()
    whole = " ".join(" ".join(texts(booklet)).split())
    (quiz,) = stored(course)
    for question in quiz.questions:
        for part in question.variant.parts:
            if not part.options:
                assert right_response(part) in whole
    assert whole.count("Worked solution") == len(quiz.questions)
    assert "Counts as right:" in whole and "Scored:" in whole


def test_options_and_key_of_a_question_stand_on_one_page_of_a_key_booklet(grade, course: Path) -> None:
    items = ["softmax-stability", "high-weight-reading", "who-introduced", "l16-ex5-alignment-vector"]
    Path("course/blueprints/paper.yaml").write_text(
        f"title: T\nsections: [{{title: A, items: [{', '.join(items)}]}}]\n"
    )
    assert grade("print", "paper", "--course", "course").code == 0
    folder, _ = the_print(course)
    for booklet in (folder / "keys").iterdir():
        pages = texts(booklet)
        assert sum(page.count("(a)") for page in pages) == len(items)
        for page in pages:
            assert page.count("(a)") == page.count("(c)") == page.count("Scored:"), page


def test_a_spare_is_stored_for_whoever_used_it(grade, course: Path) -> None:
    assert grade("print", "paper", "--course", "course", "--spare", 2).code == 0
    folder, record = the_print(course)
    spare = record.copies[-1]
    with Course.open(course).open_store() as store:
        quiz = assign_spare(store, folder, spare, "1002")
        assert assign_spare(store, folder, spare, "1002") == quiz
        assert [(q.id, q.attempt) for q in store.quizzes("paper", "1002")][-1] == (spare.quiz, 1)
        guest = assign_spare(store, folder, record.copies[-2], "guest")
    assert guest.attempt == 0 and guest.student == "guest"
    assert [q.variant.id for q in guest.questions] != [q.variant.id for q in quiz.questions]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing"], "nothing"),
        (["paper", "--out", "exams.txt"], "ends in .pdf"),
        (["paper", "--out", "no/where.pdf"], "there is no such folder"),
        (["paper", "--student", "a\nb"], "student"),
        (["paper", "--name", "a/b"], "name of a quiz"),
    ],
)
def test_what_cannot_be_printed_is_refused(grade, course: Path, arguments: list[str], words: str) -> None:
    refused = grade("print", *arguments, "--course", "course")
    assert refused.code == 2
    assert words in refused.err
    assert not (course / "prints").exists()
    assert stored(course) == []


def test_an_id_that_is_not_in_the_roster_is_named_before_paper_is_wasted(grade, course: Path) -> None:
    said = grade("print", "paper", "--course", "course", "--student", "1001", "--student", "10O2")
    assert said.code == 0
    assert "note: 10O2 isn't in the roster, and has an exam all the same; did you mean '1002'?" in said.err
    assert "1001" not in said.err


def test_a_question_stays_on_one_page_with_its_options_and_a_blank_page_says_so(grade, course: Path) -> None:
    # The third question would begin low on the second page; its formulas are long as source only.
    items = "context-vector, softmax-weights, l16-ex5-alignment-vector"
    Path("course/blueprints/paper.yaml").write_text(f"title: T\nsections: [{{title: A, items: [{items}]}}]\n")
    assert grade("print", "paper", "--keep-order", "--spare", 1, "--course", "course").code == 0
    folder, record = the_print(course)
    for copy in record.copies:
        pages = texts(folder / "exams" / copy.file)
        (of_title,) = [place for place, text in enumerate(pages) if "Alignment vector" in text and place > 0]
        assert all(f"({letter})" in pages[of_title] for letter in "abcde")
        assert all(f"age {place} of {len(pages)}" in text for place, text in enumerate(pages, start=1))
        blank = [place for place, text in enumerate(pages, start=1) if "This page is left blank" in text]
        assert blank == [copy.sheet - 1]
        assert "Field 3" not in pages[copy.sheet - 2], "the questions end on a front"
        # How numbers are filled in is told on paper; the sheet of a spare copy doesn't say its number twice.
        assert "the bubble of each digit below it" in pages[0].replace("\r\n", " ")
        assert pages[copy.sheet - 1].count(f"Copy {copy.number}") == 1


@pytest.mark.parametrize("size", [(), ("--large-print", "--paper", "letter")])
def test_what_is_higher_than_a_page_is_broken_and_never_cut_off(
    grade, course: Path, size: tuple[str, ...]
) -> None:
    Path("course/blueprints/paper.yaml").write_text(
        "title: T\nsections: [{title: A, items: [l16-full-pass, decoder-full-step, limiting-cases]}]\n"
    )
    assert grade("print", "paper", *size, "--student", "1001", "--course", "course").code == 0
    folder, record = the_print(course)
    (copy,) = record.copies
    spaces = 0
    with pypdfium2.PdfDocument(folder / "exams" / copy.file) as document:
        for number in range(copy.sheet - 1):
            for shape in document[number].get_objects(filter=[pypdfium2.raw.FPDF_PAGEOBJ_PATH]):
                left, bottom, right, top = shape.get_bounds()
                # Spaces for working are as wide as the text; below 20 mm are the footer and the edge.
                if right - left > 400:
                    spaces += top - bottom > 60
                    assert bottom > 20 / 25.4 * 72 - 1, f"page {number + 1}"
    assert spaces >= 8, "a space for each step"


def test_one_version_for_all_says_nothing_of_others(grade, course: Path) -> None:
    for count, says in ((1, False), (2, True)):
        assert (
            grade("print", "paper", "--versions", count, "--name", f"v{count}", "--course", "course").code
            == 0
        )
        (exam,) = [
            f
            for f in Path("course/prints").glob("*/exams/001-1001.pdf")
            if read_record(f.parents[1]).quiz == f"v{count}"
        ]
        assert ("Your neighbours have other versions" in texts(exam)[0]) is says


def test_an_empty_roster_prints_spares_only(grade, course: Path) -> None:
    (course / "roster.csv").write_text("id,name\n")
    refused = grade("print", "paper", "--course", "course")
    assert refused.code == 2 and "the roster is empty" in refused.err
    assert grade("print", "paper", "--course", "course", "--spare", 2).code == 0
    _, record = the_print(course)
    assert [copy.is_spare for copy in record.copies] == [True, True]


HOSTILE = r"""
id: hostile-text
title: 'A ]]> & {x} ~ = # : $ "q" \ ` <script> @ref *b* _i_ 😀 שלום'
source: {document: S0, file: notes.txt}
variants: 1
topics: [softmax]
difficulty: 1
bloom: apply
stem: |
  Which `#let x = 1` is \$5 & 100 % of {{ '{' }}y{{ '}' }} ~ = # : @cite <label>
  // no comment /* nor this */ שלום 😀 漢字?

  = no heading

  + no list
answer:
  type: single_choice
  options:
    - text: LONG
      correct: true
    - text: '#panic("x") \] ] [ ] { } ``` ''''''  $ $ '
    - text: "\\#strong[no] <b>no</b>"
solution: "It is `#1`."
"""


def test_hostile_texts_are_printed_as_they_stand(grade, course: Path) -> None:
    long = r"word#\$\_\*@ " * 200
    text = HOSTILE.replace("text: LONG", f"text: '{long}'")
    text = text.replace("$ $ '", r"\$ \$ '")
    (course / "problems/hostile-text.yaml").write_text(text.lstrip(), encoding="utf-8")
    (course / "blueprints/hostile.yaml").write_text(
        "title: 'T ]]> & {x} ~ = # : $ 😀'\nsections:\n  - {title: '#S $ *', items: [hostile-text]}\n",
        encoding="utf-8",
    )
    name = '"#panic() $ ]]> & 😀 שלום 漢字 \u202eabc"'
    (course / "roster.csv").write_text(f"id,name\n1,{name}\n", encoding="utf-8")
    for options in ([], ["--large-print", "--paper", "letter"]):
        done = grade("print", "hostile", "--course", "course", *options, "--json")
        assert done.code == 0, done.err
        path = Path(done.json()["copies"][0]["file"])
        pages = texts(path)
        whole = "".join("".join(pages).replace("\x02", "").split())
        assert whole.count("word#$_*@") == 200
        for words in (
            "#letx=1",
            "//nocomment/*northis*/",
            "=noheading",
            '#panic("x")',
            "#strong[no]",
            "漢字",
        ):
            assert words in whole, words
        # Nothing hangs over the edge of the paper, at which a printer would cut it off.
        for page in pypdfium2.PdfDocument(path):
            width, height = page.get_size()
            for item in page.get_objects():
                left, bottom, right, top = item.get_bounds()
                assert left >= -1 and right <= width + 1 and bottom >= -1 and top <= height + 1
        if options:
            assert (round(width), round(height)) == (612, 792)


def test_a_name_of_one_endless_word_stays_on_the_paper(grade, course: Path) -> None:
    (course / "roster.csv").write_text(f"id,name\n1,{'x' * 150}\n2,{'Wider ' * 30}\n", encoding="utf-8")
    done = grade("print", "paper", "--course", "course", "--json")
    assert done.code == 0, done.err
    for copy in done.json()["copies"]:
        for page in pypdfium2.PdfDocument(copy["file"]):
            width, _ = page.get_size()
            assert all(item.get_bounds()[2] < width for item in page.get_objects())


def test_a_print_that_was_killed_goes_on(grade, course: Path) -> None:
    roster = "id,name\n" + "".join(f"{n},Student {n}\n" for n in range(1001, 1011))
    (course / "roster.csv").write_text(roster)
    command = [sys.executable, "-m", "cli", "print", "paper", "--course", str(course.absolute())]
    root = Path(__file__).parents[2]
    process = subprocess.Popen(command, cwd=root, env=os.environ, start_new_session=True)
    deadline = time.monotonic() + 240
    while not list(course.glob("prints/*/exams/*.pdf")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    folder, record = the_print(course)
    before = {p: p.stat().st_mtime_ns for p in folder.glob("exams/*.pdf")}
    assert not record.is_complete
    assert grade("print", "paper", "--course", "course").code == 0
    folder, record = the_print(course)
    assert record.is_complete and len(record.copies) == 10
    assert {p: p.stat().st_mtime_ns for p in before} == before  # what was made is kept
    resumed = all_files(folder / "exams")
    for path in folder.glob("exams/*"):
        path.unlink()
    assert grade("print", "paper", "--course", "course").code == 0
    assert all_files(folder / "exams") == resumed
