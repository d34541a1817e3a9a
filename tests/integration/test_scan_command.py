"""``grade scan``: from scanned sheets to marks, with everything that is unclear left to a person."""

from __future__ import annotations

import base64
import csv
import io
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pypdfium2
import pytest

from benchmarks.scans.simulated_scans import DPI
from engine.answers import kind_of
from engine.course import Course
from engine.model import Mode, Outcome
from engine.paper.print_record import PrintRecord, read_record, write_record
from engine.paper.sheet_layout import SheetBubble, SheetLayout
from tests.live.printed_exam import (
    BLUEPRINT,
    PRINT,
    PrintedClass,
    bubbles_of,
    filled_images,
    filled_pages,
    print_class,
    right_text,
    save,
)

typst = pytest.importorskip("typst")
ROOT = Path(__file__).parents[2]
# Number of each question in the blueprint's order.
SINGLE, MULTIPLE, MATCHING, NUMBER, TOKEN = 1, 2, 3, 4, 5


@pytest.fixture
def printed(grade) -> PrintedClass:
    return print_class(grade)


def right_answers(
    printed: PrintedClass, student: str, *, without: tuple[int, ...] = (TOKEN,)
) -> dict[int, str]:
    quiz = printed.quizzes[student]
    return {q.number: right_text(q.variant.parts[0]) for q in quiz.questions if q.number not in without}


def attempts(student: str) -> dict[int, object]:
    with Course.open(Path("dl")).open_store() as store:
        return dict(enumerate(store.attempts(student=student, mode=Mode.MARKS)))


def outcomes(student: str) -> dict[str, Outcome]:
    return {a.item: a.report.outcome for a in attempts(student).values()}  # type: ignore[attr-defined]


def scan(grade, *arguments: object):  # type: ignore[no-untyped-def]
    return grade("scan", *arguments, "--course", "dl", "--json", "--by", "prof")


def test_a_sheet_that_is_certain_gets_the_marks_that_typed_answers_get(grade, printed: PrintedClass) -> None:
    pages = filled_pages(printed, "ada", right_answers(printed, "ada"))
    upside_down = [cv2.rotate(page, cv2.ROTATE_180) for page in reversed(pages)]
    save("scans/ada.tiff", *upside_down)
    said = scan(grade, "scans")
    assert said.code == 0, said.out + said.err
    (exam,) = said.json()["prints"]
    assert [item["student"] for item in exam["handed_in"]] == ["ada"]
    assert {item["student"] for item in exam["not_scanned"]} == {"bob", "007"}
    found = outcomes("ada")
    assert found.pop("greedy-path") is Outcome.WRONG  # its box was left empty
    assert len(found) == 7 and set(found.values()) == {Outcome.RIGHT}
    # Again: nothing is doubled, whatever the name of the file.
    before = len(attempts("ada"))
    save("again.tiff", *pages)
    again = scan(grade, "scans", "again.tiff")
    assert again.code == 0 and again.json()["pages"] == {"new": 0, "known": 2 * len(pages)}
    assert len(attempts("ada")) == before


def test_what_is_unclear_waits_for_a_person_and_is_decided_with_who_and_when(
    grade, printed: PrintedClass
) -> None:
    answers = right_answers(printed, "bob")
    layout = printed.layouts["bob"]
    part = printed.quizzes["bob"].questions[0].variant.parts[0]
    other = next(option.id for option in part.options if not option.correct)
    (crossed,) = bubbles_of(layout, SINGLE, other)
    pages = filled_pages(printed, "bob", answers, crossed=(crossed,), written=(TOKEN,))
    files = [save(f"bob-{i}.png", page) for i, page in enumerate(pages)]
    said = scan(grade, *files)
    assert said.code == 1
    (exam,) = said.json()["prints"]
    (waiting,) = exam["waiting"]
    assert {item["field"] for item in waiting["fields"]} == {f"{SINGLE}/answer", f"{TOKEN}/answer"}
    assert not attempts("bob") and not exam["handed_in"]
    page = Path(exam["page"]).read_text()
    assert page.count("data:image/png;base64,") == 2
    assert "img-src data:" in page and "<script" not in page
    # What the item's reader refuses is no decision.
    refused = scan(grade, "--decide", f"{PRINT}/2/{SINGLE}/answer=zebra")
    assert refused.code == 2 and "can't be read" in refused.err
    table = Path("dl/prints") / PRINT / "decisions.csv"
    rows = list(csv.reader(io.StringIO(table.read_text())))
    key = kind_of("token").right_responses(printed.quizzes["bob"].questions[TOKEN - 1].variant.parts[0])[0]
    for row in rows[1:]:
        row[5] = {f"{SINGLE}/answer": answers[SINGLE], f"{TOKEN}/answer": key}[row[2]]
    table.write_text("\n".join(",".join(f'"{cell}"' for cell in row) for row in rows))
    decided = scan(grade, "--decisions", table)
    assert decided.code == 0, decided.out + decided.err
    assert set(outcomes("bob").values()) == {Outcome.RIGHT}
    with Course.open(Path("dl")).open_store() as store:
        stored = store.scans.decisions(PRINT)
        assert [(d.copy, d.by, d.student) for d in stored] == [(2, "prof", "bob")] * 2
        actions = [entry.action for _, entry in store.audit.newest(50)]
    assert actions.count("scan.decide") == 2 and actions.count("scan.hand_in") == 1
    late = scan(grade, "--decide", f"{PRINT}/2/{SINGLE}/answer={other}")
    assert late.code == 2 and "handed in already" in late.err


def test_missing_pages_other_exams_and_photos_are_listed_with_their_reason(
    grade, printed: PrintedClass
) -> None:
    pages = filled_pages(printed, "ada", right_answers(printed, "ada"))
    assert len(pages) > 1
    save("one.jpg", pages[0])
    save("blank.png", np.full((1754, 1240), 230, np.uint8))
    noise = np.random.default_rng(1).integers(0, 255, (900, 1200), dtype=np.uint8)
    save("photo.jpg", cv2.GaussianBlur(noise, (0, 0), 3))
    covered = pages[1].copy()
    covered[:, :160] = 250
    covered[:, -160:] = 250
    save("covered.png", covered)
    Path("empty.pdf").write_bytes(b"")
    Path("notes.pdf").write_bytes(b"hello")
    Path("broken.pdf").write_bytes(b"%PDF-1.7\nbroken")
    said = scan(
        grade, "one.jpg", "blank.png", "photo.jpg", "covered.png", "empty.pdf", "notes.pdf", "broken.pdf"
    )
    assert said.code == 1
    result = said.json()
    assert result["pages"] == {"new": 1, "known": 0, "blank": 1}
    reasons = {problem["file"]: problem["reason"] for problem in result["problems"]}
    assert "no code" in reasons["photo.jpg"]
    assert "empty" in reasons["empty.pdf"] and "isn't a PDF" in reasons["notes.pdf"]
    assert "damaged" in reasons["broken.pdf"]
    (waiting,) = result["prints"][0]["waiting"]
    assert any("missing" in reason for reason in waiting["reasons"])
    assert not attempts("ada")
    # The page that was missing comes later.
    save("two.png", *pages[1:2])
    assert scan(grade, "two.png").code == 0
    assert outcomes("ada")


def test_black_and_white_scans_leave_what_is_empty_to_a_person_and_a_grey_scan_settles_it(
    grade, printed: PrintedClass
) -> None:
    from PIL import Image

    answers = {k: v for k, v in right_answers(printed, "ada").items() if k != SINGLE}
    pages = filled_pages(printed, "ada", answers)
    for i, page in enumerate(pages):
        # As an office scanner saves it: one bit for a pixel, packed as faxes are.
        large = cv2.resize(page, None, fx=4 / 3, fy=4 / 3, interpolation=cv2.INTER_CUBIC)
        Image.fromarray(large > 128).save(f"fax-{i}.tif", compression="group4")
    said = scan(grade, *(f"fax-{i}.tif" for i in range(len(pages))))
    assert said.json()["problems"] == []
    (waiting,) = said.json()["prints"][0]["waiting"]
    read = {item["field"]: item for item in waiting["fields"]}
    assert f"{SINGLE}/answer" in read and f"{MATCHING}/answer" not in read
    assert all("light marks are lost" in item["reason"] for item in read.values())
    assert read[f"{NUMBER}/answer"]["read_as"] == answers[NUMBER], "its sign isn't certain"
    assert not attempts("ada")
    for i, page in enumerate(pages):
        save(f"grey-{i}.png", page)
    assert scan(grade, *(f"grey-{i}.png" for i in range(len(pages)))).code == 0
    assert outcomes("ada")["softmax-stability"] is Outcome.WRONG


def test_a_page_that_came_out_black_is_not_passed_over(grade, printed: PrintedClass) -> None:
    save("black.png", np.zeros((1754, 1240), np.uint8))
    (problem,) = scan(grade, "black.png").json()["problems"]
    assert "black all over" in problem["reason"]


def test_scans_of_one_page_that_differ_wait_for_a_person(grade, printed: PrintedClass) -> None:
    answers = right_answers(printed, "ada")
    first = filled_pages(printed, "ada", answers)
    second = filled_pages(printed, "ada", {k: v for k, v in answers.items() if k != SINGLE})
    for i, page in enumerate([*first, *second]):
        save(f"both/{i}.png", page)
    (exam,) = scan(grade, "both").json()["prints"]
    (waiting,) = exam["waiting"]
    assert [item["field"] for item in waiting["fields"]] == [f"{SINGLE}/answer"]
    assert "differ" in waiting["fields"][0]["reason"]
    assert scan(grade, "--decide", f"{PRINT}/1/{SINGLE}/answer=-").code == 0
    assert outcomes("ada")["softmax-stability"] is Outcome.WRONG


def test_a_scan_that_differs_after_its_exam_was_handed_in_is_named(grade, printed: PrintedClass) -> None:
    answers = right_answers(printed, "ada")
    for i, page in enumerate(filled_pages(printed, "ada", answers)):
        save(f"first/{i}.png", page)
    assert scan(grade, "first").json()["prints"][0]["differing_after_hand_in"] == []
    changed = {k: v for k, v in answers.items() if k != SINGLE}
    for i, page in enumerate(filled_pages(printed, "ada", changed)):
        save(f"later/{i}.png", page)
    (exam,) = scan(grade, "later").json()["prints"]
    assert exam["differing_after_hand_in"] == [{"copy": 1, "fields": [f"{SINGLE}/answer"]}]
    assert exam["handed_in"] == exam["waiting"] == [] and exam["handed_in_before"] == 1
    said = grade("scan", "later", "--course", "dl")
    assert (
        f"copy 1 was handed in before, and its scans say something else now: question {SINGLE}." in said.out
    )


def test_a_table_that_decides_a_place_twice_is_refused(grade, printed: PrintedClass) -> None:
    for i, page in enumerate(filled_pages(printed, "bob", right_answers(printed, "bob"), written=(TOKEN,))):
        save(f"in/{i}.png", page)
    assert scan(grade, "in").code == 1
    table = Path("dl/prints") / PRINT / "decisions.csv"
    row = f"{PRINT},2,{TOKEN}/answer,,x,"
    table.write_text(f"print,copy,field,read as,reason,decision\n{row}A\n{row}B\n")
    said = scan(grade, "--decisions", table)
    assert said.code == 2 and f"{PRINT}/2/{TOKEN}/answer is decided in line 2 already" in said.err
    assert not attempts("bob")


def test_bad_calls_say_what_to_do(grade, printed: PrintedClass) -> None:
    assert grade("init", "other").code == 0
    for arguments, expected in (
        (("--course", "dl"), "nothing to read"),
        (("--course", "other", "dl"), "printed nothing"),
        (("--course", "dl", "--decide", "nonsense"), "PRINT/COPY/FIELD=TEXT"),
        (("--course", "dl", "--decide", "NOPE/1/1/answer=a"), "no print"),
        (("--course", "dl", "--decide", f"{PRINT}/99/1/answer=a"), "no copy 99"),
        (("--course", "dl", "--decide", f"{PRINT}/1/1/answer=a"), "nothing of copy 1 was scanned"),
    ):
        said = grade("scan", *arguments)
        assert said.code == 2 and expected in said.err, said
    Path("t.csv").write_text("a,b\n1,2\n")
    said = grade("scan", "--course", "dl", "--decisions", "t.csv")
    assert said.code == 2 and "isn't a table of decisions" in said.err


def test_a_run_that_is_killed_is_completed_by_the_next_one(grade, printed: PrintedClass) -> None:
    for student in ("ada", "bob"):
        pages = filled_pages(printed, student, right_answers(printed, student))
        for i, page in enumerate(pages):
            save(f"in/{student}-{i}.png", page)
    total = len(list(Path("in").iterdir()))
    for place, pages in (
        ("in-scanned-page:2", 1),  # one is stored, the second is taken back
        ("before-record:1", total),
        ("between-rows:3", total),
        ("before-log:2", total),
    ):
        ran = subprocess.run(
            [sys.executable, "-m", "cli", "scan", "in", "--course", "dl"],
            env={**os.environ, "SOFTMARK_CRASH_AT": place, "PYTHONPATH": str(ROOT)},
            capture_output=True,
        )
        assert ran.returncode == -signal.SIGKILL, (place, ran.stdout, ran.stderr)
        with Course.open(Path("dl")).open_store() as store:
            assert len(store.scans.pages(PRINT)) == pages, place
        # An exam is handed in as a whole, with its line in the log, or not at all.
        assert {len(attempts("ada")), len(attempts("bob"))} <= {0, 8}, place
    said = scan(grade, "in")
    assert said.code == 0
    assert len(attempts("ada")) == len(attempts("bob")) == 8


def test_positions_of_another_version_are_refused_and_nothing_is_read(grade, printed: PrintedClass) -> None:
    layouts = tuple({**layout, "version": 99} for layout in printed.record.layouts)
    write_record(Path("dl/prints") / PRINT, replace(printed.record, layouts=layouts))
    for i, page in enumerate(filled_pages(printed, "ada", {})):
        save(f"in/{i}.png", page)
    said = scan(grade, "in")
    assert said.code == 2 and "version of Softmark that printed them" in said.err


def test_two_sheets_of_one_student_wait_until_one_is_void(grade, printed: PrintedClass) -> None:
    record = printed.record
    twin = replace(record.copies[1], student="ada", quiz=record.copies[0].quiz, version=0, layout=0)
    write_record(
        Path("dl/prints") / PRINT, replace(record, copies=(record.copies[0], twin, record.copies[2]))
    )
    printed.layouts["bob"] = printed.layouts["ada"]  # type: ignore[index]
    answers = right_answers(printed, "ada")
    for student in ("ada", "bob"):
        for i, page in enumerate(filled_pages(printed, student, answers)):
            save(f"in/{student}-{i}.png", page)
    (exam,) = scan(grade, "in").json()["prints"]
    assert {item["copy"]: item["reasons"] for item in exam["waiting"]} == {
        1: ["its student handed in copy 2 too"],
        2: ["its student handed in copy 1 too"],
    }
    assert not attempts("ada")
    refused = scan(grade, "--decide", f"{PRINT}/2/copy=maybe")
    assert refused.code == 2 and "can be void" in refused.err
    (exam,) = scan(grade, "--decide", f"{PRINT}/2/copy=void").json()["prints"]
    assert (exam["void"], [item["copy"] for item in exam["handed_in"]], exam["waiting"]) == (1, [1], [])


def test_a_sheet_counts_as_handed_in_when_it_was_written(grade, printed: PrintedClass) -> None:
    source = ["#set page(width: 210mm, height: 297mm, margin: 0mm)"]
    for i, page in enumerate(filled_pages(printed, "ada", right_answers(printed, "ada"))):
        save(f"{i}.jpg", page)
        source.append(f'#image("{i}.jpg", width: 210mm, height: 297mm)')
    Path("ada.typ").write_text("\n".join(source))
    Path("ada.pdf").write_bytes(typst.compile("ada.typ"))
    assert scan(grade, "ada.pdf", "--written", "2026-11-20 10:00").code == 0
    times = {attempt.handed.isoformat()[:16] for attempt in attempts("ada").values()}  # type: ignore[attr-defined]
    assert times == {"2026-11-20T10:00"}


def sheets_of(
    record: PrintRecord, number: int, answers: dict[int, str], *, crossed: tuple[SheetBubble, ...] = ()
) -> list[np.ndarray]:
    """Return the answer sheet of a copy out of its printed PDF, filled in."""
    copy = record.copy(number)
    assert copy is not None
    layout = SheetLayout.from_json(record.layout(copy))
    (path,) = Path("dl/prints", record.id).rglob(copy.file)
    with pypdfium2.PdfDocument(path) as document:
        assert len(document) == copy.pages
        images = [
            np.squeeze(document[i].render(scale=DPI / 72, grayscale=True).to_numpy()).astype(np.float32) / 255
            for i in range(copy.sheet - 1, copy.pages)
        ]
    return filled_images(layout, images[: len(layout.pages)], answers, crossed=crossed)


def test_printed_exams_come_back_with_the_marks_of_typed_answers_and_spares_find_their_students(
    grade,
) -> None:
    assert grade("init", "dl").code == 0
    Path("dl/roster.csv").write_text("id,name\n1001,Ada\n0042,Bob\n")
    Path("dl/blueprints/mid.yaml").write_text(BLUEPRINT)
    assert grade("print", "mid", "--spare", "1", "--course", "dl").code == 0
    (name,) = [path.name for path in Path("dl/prints").iterdir() if path.is_dir()]
    record = read_record(Path("dl/prints", name))
    ada, spare = record.copies[0], next(copy for copy in record.copies if copy.is_spare)
    with Course.open(Path("dl")).open_store() as store:
        quiz = store.load_quiz(ada.quiz, "1001")
        assert quiz is not None
    answers = {q.number: right_text(q.variant.parts[0]) for q in quiz.questions if q.number != TOKEN}
    for i, page in enumerate(sheets_of(record, ada.number, answers)):
        save(f"in/ada-{i}.png", page)
    for i, page in enumerate(sheets_of(record, spare.number, {0: "0042"})):
        save(f"in/spare-{i}.png", page)
    # The pages with the questions come along, and are passed over.
    (path,) = Path("dl/prints", name).rglob(ada.file)
    said = scan(grade, "in", path)
    (exam,) = said.json()["prints"]
    assert said.json()["pages"]["questions"] == ada.sheet - 1
    handed = [(item["copy"], item["student"]) for item in exam["handed_in"]]
    assert handed == [(ada.number, "1001"), (spare.number, "0042")] and exam["waiting"] == []
    # The PDF's own sheets never were on paper.
    assert {problem["page"] for problem in said.json()["problems"]} == {*range(ada.sheet, ada.pages + 1)}
    assert all("file for the printer" in problem["reason"] for problem in said.json()["problems"])
    found = outcomes("1001")
    assert found.pop("greedy-path") is Outcome.WRONG and set(found.values()) == {Outcome.RIGHT}
    assert set(outcomes("0042").values()) == {Outcome.WRONG}


def test_questions_that_changed_places_are_named_as_on_paper_wherever_a_person_decides(grade) -> None:
    assert grade("init", "dl").code == 0
    Path("dl/roster.csv").write_text("id,name\n" + "".join(f"{n},Student {n}\n" for n in range(1001, 1007)))
    Path("dl/blueprints/mid.yaml").write_text(BLUEPRINT)
    assert grade("print", "mid", "--course", "dl").code == 0
    (name,) = [path.name for path in Path("dl/prints").iterdir() if path.is_dir()]
    record = read_record(Path("dl/prints", name))
    copy, moved = next(
        (copy, field)
        for copy in record.copies
        for field in SheetLayout.from_json(record.layout(copy)).questions
        if field.kind.value == "single" and field.label != str(field.number)
    )
    (crossed,) = bubbles_of(SheetLayout.from_json(record.layout(copy)), moved.number, "a")
    for i, page in enumerate(sheets_of(record, copy.number, {moved.number: "a"}, crossed=(crossed,))):
        save(f"in/{i}.png", page)
    said = grade("scan", "in", "--course", "dl")
    assert said.code == 1
    place, words = f"{name}/{copy.number}/{moved.number}/answer", f"question {moved.label}: unclear whether a"
    (row,) = [line for line in said.out.splitlines() if line.endswith(place)]
    assert words in row
    rows = list(csv.reader(io.StringIO(Path("dl/prints", name, "decisions.csv").read_text())))
    assert [(row[2], row[4]) for row in rows[1:]] == [(f"{moved.number}/answer", f"{words} is filled")]
    assert "not scanned: copy " in said.out and "(Student 100" in said.out
    page = Path("dl/prints", name, "scans.html").read_text()
    assert page.count("<li>Copy ") == 5, "who wasn't scanned is named"
    # What was decided is repeated with the paper's number, and nothing is said about files that nobody named.
    decided = grade("scan", "--course", "dl", "--decide", f"{place}=a")
    assert f"decided: copy {copy.number}, question {moved.label} ({moved.number}/answer): a" in decided.out
    assert "pages read" not in decided.out and decided.code == 0


def test_whose_a_spare_copy_is_can_be_decided_by_the_table(grade) -> None:
    assert grade("init", "dl").code == 0
    Path("dl/roster.csv").write_text("id,name\n1001,Ada\n1002,Bob\n")
    Path("dl/blueprints/mid.yaml").write_text(BLUEPRINT)
    assert grade("print", "mid", "--spare", "2", "--course", "dl").code == 0
    (name,) = [path.name for path in Path("dl/prints").iterdir() if path.is_dir()]
    record = read_record(Path("dl/prints", name))
    first, second = (copy for copy in record.copies if copy.is_spare)
    for copy, number in ((first, "9999"), (second, "1001"), (record.copies[0], "")):
        for i, page in enumerate(sheets_of(record, copy.number, {0: number} if number else {})):
            save(f"in/{copy.number}-{i}.png", page)
    (exam,) = scan(grade, "in").json()["prints"]
    # Nothing untrue about the store beside the reason that counts.
    assert {item["copy"]: item["reasons"] for item in exam["waiting"]} == {
        1: [f"its student handed in copy {second.number} too"],
        first.number: ["nobody in the roster has the student number 9999"],
        second.number: ["its student handed in copy 1 too"],
    }
    table = Path("dl/prints", name, "decisions.csv")
    rows = list(csv.reader(io.StringIO(table.read_text())))
    asked = {(int(row[1]), row[2]): row for row in rows[1:]}
    assert set(asked) == {(1, "copy"), (first.number, "student"), (second.number, "copy")}
    assert asked[first.number, "student"][3] == "9999"
    page = Path("dl/prints", name, "scans.html").read_text()
    assert f"--decide {name}/{first.number}/student=ID" in page
    assert f"--decide {name}/{second.number}/copy=void" in page
    assert page.count("data:image/png;base64,") == 1, "the number of a spare copy is shown"
    asked[first.number, "student"][5] = "1002"
    asked[second.number, "copy"][5] = "void"
    table.write_text("\n".join(",".join(f'"{cell}"' for cell in row) for row in rows))
    said = scan(grade, "--decisions", table)
    assert said.code == 0, said.out + said.err
    (exam,) = said.json()["prints"]
    handed = [(item["copy"], item["student"]) for item in exam["handed_in"]]
    assert handed == [(1, "1001"), (first.number, "1002")]
    # Who was given a spare copy isn't looked for any longer.
    assert exam["not_scanned"] == [] and exam["void"] == 1


def test_a_picture_shows_the_field_alone_and_rings_what_is_filled_too_often(grade) -> None:
    assert grade("init", "dl").code == 0
    Path("dl/roster.csv").write_text("id,name\n1001,Ada\n")
    items = "title: T\nsections: [{title: A, items: [context-vector, softmax-weights, who-introduced]}]\n"
    Path("dl/blueprints/t.yaml").write_text(items)
    assert grade("print", "t", "--keep-order", "--course", "dl").code == 0
    (name,) = [path.name for path in Path("dl/prints").iterdir() if path.is_dir()]
    record = read_record(Path("dl/prints", name))
    layout = SheetLayout.from_json(record.layout(record.copies[0]))
    (page,) = layout.pages
    of_field = [bubble for bubble in page.bubbles if layout.questions[bubble.question].number == 2]
    # The third number of the second question stands at the left, below the first question.
    lower = [bubble for bubble in of_field if bubble.entry == 2]
    assert min(b.y for b in lower) > max(b.y for b in of_field if b.entry < 2)
    (sheet,) = sheets_of(record, 1, {2: "0.5 0.25 0.25"})
    (other,) = [b for b in lower if b.column == 1 and b.value == "7"]
    pixels = sheet.shape[1] / layout.size[0]
    radius = round(layout.radius * pixels)
    cv2.circle(sheet, (round(other.x * pixels), round(other.y * pixels)), radius, 60, -1, cv2.LINE_AA)
    save("in/0.png", sheet)
    (exam,) = scan(grade, "in").json()["prints"]
    reasons = {item["field"]: item["reason"] for item in exam["waiting"][0]["fields"]}
    assert reasons == {"2/answer": "in one column several are filled where one counts: 0 and 7"}
    with Course.open(Path("dl")).open_store() as store:
        (scanned,) = store.scans.pages(name)
    ((_, encoded),) = scanned.pictures.items()
    picture = cv2.imdecode(np.frombuffer(base64.b64decode(encoded), np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    purple = (picture[..., 2].astype(int) - picture[..., 1] > 60).astype(np.uint8)
    rings, _ = cv2.connectedComponents(purple)
    assert rings - 1 == 2, "one around each of the two"
    # It is as wide as its upper part alone, which stands at the right; the lower one is put below that.
    width = {part: max(xs) - min(xs) for part, xs in _extents(of_field).items()}
    high = max(b.y for b in of_field) - min(b.y for b in of_field)
    assert width["all"] > width["upper"] + 30
    assert picture.shape[1] / picture.shape[0] < (width["upper"] + 20) / high


def _extents(bubbles: list[SheetBubble]) -> dict[str, list[float]]:
    return {"all": [b.x for b in bubbles], "upper": [b.x for b in bubbles if b.entry < 2]}
