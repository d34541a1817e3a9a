"""``grade feedback``: pages from the store alone, archives for upload, and receipts that are checked."""

from __future__ import annotations

import hashlib
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from engine.course import Course
from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.quiz import hand_in, read_filled
from engine.store import Attempt

NOW = datetime(2026, 11, 27, 12, 30, tzinfo=UTC)
SOURCE = "def softmax(x, axis=-1):\n    return x\n"
SHA256 = hashlib.sha256(SOURCE.encode()).hexdigest()
MOODLE = "Ada Lovelace_101_assignsubmission_file_"


def give(course: Path, student: str, filename: str, score: float = 4.0, item: str = "softmax") -> None:
    report = GradeReport(
        item, "v1", Outcome.PARTIAL, score, 10.0, student=student, mode=Mode.MARKS, tier="T1"
    )
    submission = CodeSubmission(SOURCE, filename, SHA256)
    with Course.open(course).open_store() as store:
        store.record(Attempt.of_code(student, submission, report, started=NOW))


@pytest.fixture
def course(grade) -> Path:
    assert grade("init", "course", "--title", "Attention & more").code == 0
    (Path("course") / "roster.csv").write_text("id,name\nada,Ada Lovelace\nzoe,Zoe\n", encoding="utf-8")
    give(Path("course"), "ada", f"{MOODLE}/softmax.py")
    give(Path("course"), "bob", "bob/softmax.py")
    return Path("course")


def test_everybody_gets_a_page_from_the_store_and_nothing_is_graded(grade, course: Path) -> None:
    said = grade("feedback", "--out", "out", "--course", course)
    assert (said.code, said.out, said.err) == (0, f"3 pages: {Path('out/students')}\n", "")
    pages = {path.stem: path.read_text(encoding="utf-8") for path in Path("out/students").iterdir()}
    assert sorted(pages) == ["ada", "bob", "zoe"]
    assert "Feedback for <bdi>Ada Lovelace</bdi>" in pages["ada"] and "Attention &amp; more" in pages["ada"]
    assert "4</strong> of 10 points" in pages["ada"] and "Nothing was graded." in pages["zoe"]


def test_the_pages_are_those_of_a_class_run(grade, course: Path) -> None:
    handed = Path("in/zoe")
    handed.mkdir(parents=True)
    (handed / "softmax.py").write_text("def softmax(:\n", encoding="utf-8")
    assert grade("batch", "in", "--course", course, "--out", "batch").code == 1
    ada = page_of(grade, course)
    assert ada.read_bytes() == Path("batch/students/ada.html").read_bytes()
    zoe = page_of(grade, course, "zoe").read_text(encoding="utf-8")
    assert "This can't be read, so it wasn't graded and costs no attempt." in zoe


def test_one_student_only_and_nobody_that_isnt_there(grade, course: Path) -> None:
    said = grade("feedback", "--out", "out", "--course", course, "--student", "bob", "--json")
    assert said.code == 0
    page = str(Path("out/students/bob.html"))
    assert said.json() == {"pages": {"bob": page}, "zip": None, "packed": 0, "bytes": 0, "left_out": []}
    said = grade("feedback", "--out", "other", "--course", course, "--student", "eve")
    assert said.code == 2 and "no student with this id is in the roster or in the store" in said.err
    assert not Path("other").exists()


def test_moodle_gets_its_folders_back_and_who_cant_be_packed_is_told(grade, course: Path) -> None:
    said = grade("feedback", "--out", "out", "--course", course, "--zip", "moodle")
    archive = Path("out/feedback-moodle.zip")
    assert said.code == 1
    assert said.out.splitlines() == [
        f"3 pages: {Path('out/students')}",
        f"1 page, {archive.stat().st_size / 1024:.0f} KiB: {archive}",
        "not packed: bob: no hand-in in the store has a name as Moodle gives it: "
        "NAME_NUMBER_assignsubmission_file_",
        "not packed: zoe: nothing was handed in",
    ]
    with zipfile.ZipFile(archive) as packed:
        assert packed.namelist() == [f"{MOODLE}/feedback.html"]
        assert packed.read(f"{MOODLE}/feedback.html") == Path("out/students/ada.html").read_bytes()


def test_plain_packs_everybody_and_an_archive_without_pages_is_none(grade, course: Path) -> None:
    assert grade("feedback", "--out", "out", "--course", course, "--zip", "plain").code == 0
    with zipfile.ZipFile("out/feedback-plain.zip") as packed:
        assert packed.namelist() == [f"{name}/feedback.html" for name in ("ada", "bob", "zoe")]
    old = Path("out/feedback-canvas.zip")
    old.write_bytes(b"of another run")
    said = grade("feedback", "--out", "out", "--course", course, "--zip", "canvas")
    assert said.code == 1 and "no archive was written: no page can be packed" in said.out
    assert said.out.splitlines()[-1] == (
        "  next: grade the download of the learning system as it is, or take --zip plain"
    )
    assert not old.exists()


def test_names_can_be_those_of_one_assignment(grade, course: Path) -> None:
    give(course, "ada", "Ada Lovelace_202_assignsubmission_file_/sdpa.py", item="sdpa")
    for assignment, number in (("softmax", 101), ("sdpa", 202)):
        grade("feedback", "--out", "out", "--course", course, "--zip", "moodle", "--assignment", assignment)
        with zipfile.ZipFile("out/feedback-moodle.zip") as packed:
            (name,) = packed.namelist()
        assert name == f"Ada Lovelace_{number}_assignsubmission_file_/feedback.html"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say where to write the pages"),
        (["--out", "out", "--assignment", "softmax"], "--assignment is for --zip"),
        (["--out", "out", "--course", "nowhere"], "this isn't a course folder"),
        (["--out", "out"], "there is no course here"),
        (["--out", "out", "--zip", "blackboard"], "'blackboard' is not one of"),
    ],
)
def test_bad_usage_is_one_message(grade, arguments: list[str], message: str) -> None:
    said = grade("feedback", *arguments)
    assert said.code == 2 and message in said.err


def test_a_misspelt_assignment_is_told_once(grade, course: Path) -> None:
    said = grade("feedback", "--out", "out", "--course", course, "--zip", "plain", "--assignment", "sofmax")
    assert said.code == 2 and "did you mean softmax?" in said.err
    assert not Path("out/feedback-plain.zip").exists()


def test_rules_that_cant_be_read_keep_everything_back(grade, course: Path) -> None:
    settings = course / "course.yaml"
    text = "title: T\npolicies:\n  assignments: {softmax: {release: never}}\n  late_days: many\n"
    settings.write_text(text, encoding="utf-8")
    said = grade("feedback", "--out", "out", "--course", course)
    assert said.code == 2 and "course.yaml:4:14" in said.err
    assert not Path("out").exists()
    # grade batch writes pages all the same, for the teacher: they show nothing that was to be kept back
    Path("in/ada").mkdir(parents=True)
    Path("in/ada/softmax.py").write_text(SOURCE, encoding="utf-8")
    assert grade("batch", "in", "--course", course, "--out", "results").code == 1
    page = Path("results/students/ada.html").read_text(encoding="utf-8")
    assert "1 of 1 results aren't shown now" in page and "Checks" not in page


def test_a_folder_that_cant_be_written(grade, course: Path) -> None:
    Path("file").write_text("x", encoding="utf-8")
    said = grade("feedback", "--out", "file", "--course", course)
    assert said.code == 3 and "the report can't be written" in said.err
    assert "the grades are in the store" in said.err


# --- receipts ---


def page_of(grade, course: Path, student: str = "ada") -> Path:
    assert grade("feedback", "--out", "out", "--course", course, "--student", student).code == 0
    return Path("out/students") / f"{student}.html"


def test_the_file_that_was_graded_is_known_again(grade, course: Path) -> None:
    page, file = page_of(grade, course), Path("softmax.py")
    file.write_text(SOURCE, encoding="utf-8")
    said = grade("feedback", "verify", page, file, "--course", course)
    assert said.code == 0
    assert said.out.split("\n")[1].split() == ["ada", "softmax", "softmax.py", "graded,", "4", "of", "10"]
    file.write_text(SOURCE + "\n", encoding="utf-8")
    said = grade("feedback", "verify", page, file, "--course", course)
    assert said.code == 1 and "softmax.py: not what this page is about" in said.out


def test_a_page_that_somebody_wrote_isnt_in_the_store(grade, course: Path) -> None:
    page, file = page_of(grade, course), Path("softmax.py")
    file.write_text("x = 1\n", encoding="utf-8")
    forged = hashlib.sha256(file.read_bytes()).hexdigest()
    page.write_text(page.read_text(encoding="utf-8").replace(SHA256, forged), encoding="utf-8")
    said = grade("feedback", "verify", page, file, "--course", course)
    assert said.code == 1 and "not in the store" in said.out
    alone = grade("feedback", "verify", page, file)
    assert alone.code == 0 and "not asked: there is no course here" in alone.out


def test_what_was_marked_again_since_is_told(grade, course: Path) -> None:
    page, file = page_of(grade, course), Path("softmax.py")
    file.write_text(SOURCE, encoding="utf-8")
    page.write_text(page.read_text(encoding="utf-8").replace('data-version="v1"', 'data-version="v0"'))
    said = grade("feedback", "verify", page, file, "--course", course)
    assert said.code == 0 and "graded, 4 of 10; marked again since" in said.out


@pytest.mark.parametrize(
    ("text", "message"),
    [("<p>hello</p>", "this page holds no receipt"), ("", "empty"), ("\0", "receipt")],
)
def test_what_is_no_page_is_one_message(grade, course: Path, text: str, message: str) -> None:
    Path("page.html").write_text(text, encoding="utf-8")
    Path("softmax.py").write_text(SOURCE, encoding="utf-8")
    said = grade("feedback", "verify", "page.html", "softmax.py", "--course", course)
    assert said.code == 2 and message in said.err
    missing = grade("feedback", "verify", "gone.html", "softmax.py", "--course", course)
    assert missing.code == 2


def test_the_answers_of_a_quiz_are_known_again(grade, course: Path) -> None:
    plan = {"title": "Week", "sections": [{"items": ["softmax-weights", "softmax-shift"]}]}
    (course / "blueprints" / "week.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    assert grade("quiz", "new", "week", "--course", course).code == 0
    file = course / "quizzes/week/week-ada.yaml"
    blank = file.read_text(encoding="utf-8")
    file.write_text(blank.replace("answer: ''", "answer: a"), encoding="utf-8")
    filled = read_filled(file)
    with Course.open(course).open_store() as store:
        quiz = store.load_quiz(filled.quiz)
        assert quiz is not None
        hand_in(store, quiz, filled, mode=Mode.MARKS, started=NOW, filename=file.name, keep_unreadable=True)
    page = page_of(grade, course)
    said = grade("feedback", "verify", page, file, "--course", course, "--json")
    assert said.code == 0
    answers = {r["item"]: r for r in said.json()["receipts"] if r["item"] != "softmax"}
    assert {(r["file"], r["in_store"]) for r in answers.values()} == {(str(file), True)}
    assert answers["softmax-shift"]["score"] is not None and said.json()["others"] == []
    file.write_text(blank.replace("answer: ''", "answer: b"), encoding="utf-8")
    said = grade("feedback", "verify", page, file, "--course", course)
    assert said.code == 1 and "another answer to softmax-shift was graded" in said.out
