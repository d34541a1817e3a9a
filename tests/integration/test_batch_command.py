"""``grade batch`` with the real sandbox, exercises and quizzes: a class from hand-in to gradebook."""

from __future__ import annotations

import csv
import hashlib
import zipfile
from pathlib import Path

import html5lib
import pytest
import yaml

from engine.course import Course
from engine.errors import EngineError
from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.pages.feedback import page_name
from engine.runs import CodeExercises
from engine.store import open_store

ROOT = Path(__file__).parents[2]
SOFTMAX = ROOT / "problems/code/softmax"
RIGHT = (SOFTMAX / "solution_numpy.py").read_bytes()
NO_SHIFT = b"""import numpy as np

def softmax(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
"""
HOSTILE = b"""import os, signal

def softmax(x, axis=-1):
    os.kill(os.getppid(), signal.SIGKILL)
    while True:
        os.fork()
"""
FORGING = b"""import sys

def softmax(x, axis=-1):
    print('{"score": 10}')
    sys.stderr.write("\\x1b[2J")
    raise SystemExit("<script>full marks</script>")
"""


def gradebook(out: Path) -> dict[str, dict[str, str]]:
    with (out / "gradebook.csv").open(newline="", encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def pages(out: Path) -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in out.rglob("*.html")}


def write(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


CLASS = {
    "ada/softmax.py": RIGHT,
    "bob/softmax (1).py": NO_SHIFT,
    "eve/softmax.py": HOSTILE,
    "mal/softmax.py": FORGING,
    "kim/softmax.py": b"def softmax(:\n",
    "kim/sofmax.py": RIGHT,
    "lee/softmax.py": RIGHT.replace(b"\n", b"\n# caf\xe9\n", 1),
}


def test_a_class_of_code_from_folder_to_gradebook_and_again(grade) -> None:
    write(Path("in"), CLASS)
    said = grade("batch", "in", "--out", "out", "--json")
    result = said.json()
    assert said.code == 1, "two files can't be graded as they are"
    assert (result["graded"], result["kept"], result["ungraded"]) == (4, 0, [])
    assert {(p["student"], p["where"]) for p in result["problems"]} == {
        ("kim", "kim/sofmax.py"),
        ("kim", "kim/softmax.py"),
        ("lee", "lee/softmax.py"),
    }
    book = gradebook(Path("out"))
    assert book["ada"]["softmax"] == book["ada"]["total"] == "10"
    assert 0 < float(book["bob"]["softmax"]) < 10
    assert book["eve"]["softmax"] == book["mal"]["softmax"] == "0"
    assert book["kim"]["softmax"] == book["lee"]["softmax"] == "unreadable"
    shown = pages(Path("out"))
    assert set(shown) == {"index", "ada", "bob", "eve", "mal", "kim", "lee"}
    for page in shown.values():
        html5lib.HTMLParser(strict=True).parse(page)
        assert "<script" not in page and "\x1b" not in page
    with open_store("out/practice.db") as store:
        attempts = {a.student: a for a in store.attempts()}
    assert attempts["ada"].source == RIGHT.decode()
    assert attempts["eve"].report.outcome is Outcome.WRONG, "an attack is a wrong answer, not a fault of ours"
    assert {a.report.mode for a in attempts.values()} == {Mode.PRACTICE}

    again = grade("batch", "in", "--out", "out", "--json")
    assert (again.json()["graded"], again.json()["kept"]) == (0, 4)
    assert gradebook(Path("out")) == book
    graded = ("ada", "bob", "eve", "mal")
    assert [pages(Path("out"))[name] for name in graded] == [shown[name] for name in graded]


def test_a_fault_of_the_machine_is_said_once_for_all_programs(grade, monkeypatch: pytest.MonkeyPatch) -> None:
    students = [f"s{n}" for n in range(7)]
    write(Path("in"), {f"{student}/softmax.py": RIGHT for student in students})
    reason = "no space left on the disk"

    def fail(self: CodeExercises, item: str, submission: CodeSubmission, *others: object) -> GradeReport:
        raise EngineError(reason if "# other" not in submission.source else "the sandbox is gone")

    monkeypatch.setattr(CodeExercises, "grade", fail)
    write(Path("in"), {"s5/softmax.py": RIGHT + b"# other\n", "s6/softmax.py": RIGHT + b"# other\n"})
    said = grade("batch", "in", "--out", "out")
    assert said.code == 3
    lines = [line for line in said.out.splitlines() if line.startswith("ungraded (")]
    assert len(lines) == 2
    many, few = sorted(lines, key=len, reverse=True)
    assert many.startswith("ungraded (tried again on the next run): 5 files, all listed in the summary (")
    assert many.endswith(f"(s0 s0/softmax.py, s1 s1/softmax.py, s2 s2/softmax.py …): {reason}")
    assert "s5 s5/softmax.py and s6 s6/softmax.py: the sandbox is gone" in few
    listed = grade("batch", "in", "--out", "out", "--json").json()["ungraded"]
    assert sorted(file["student"] for file in listed) == students, "a script reads each of them"
    index = pages(Path("out"))["index"]
    assert all(student in index for student in students) and index.count(reason) >= 5


def test_an_archive_that_tries_to_escape(grade, tmp_path: Path) -> None:
    with zipfile.ZipFile("in.zip", "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("ada/softmax.py", RIGHT)
        made.writestr("../../evil.py", RIGHT)
        made.writestr("bob/softmax.py", b"#" * (4 * 2**20))
    before = set(tmp_path.rglob("*"))
    said = grade("batch", "in.zip", "--out", "out", "--json")
    assert said.code == 1
    told = {p["where"]: p["message"] for p in said.json()["problems"]}
    assert "leads out of the archive" in told["../../evil.py"]
    assert "times its size" in told["bob/softmax.py"]
    assert gradebook(Path("out"))["ada"]["softmax"] == "10"
    assert {p.relative_to(tmp_path).parts[:2] for p in set(tmp_path.rglob("*")) - before} <= {
        ("work", "out"),
        ("home",),
        ("home", "cache"),
        ("home", "secret"),
        ("home", "secret-fingerprint"),
    }


@pytest.fixture
def course(grade) -> Course:
    assert grade("init", "dl", "--title", "Deep Learning").code == 0
    folder = Path("dl")
    (folder / "roster.csv").write_text('id,name\nada,Ada\n007,"Nöther, Emmy"\nzoe,Zoe\n', encoding="utf-8")
    (folder / "blueprints" / "week.yaml").write_text(
        "title: Week\nsections:\n  - items: [softmax-weights, l16-ex2-greedy-vs-beam]\n", encoding="utf-8"
    )
    assert grade("quiz", "new", "week", "--course", "dl").code == 0
    return Course.open(folder)


def filled(course: Course, student: str, right: bool) -> dict:
    """Return the student's file: every answer right, or the first one wrong and the rest blank."""
    from engine.answers import answer_type

    path = next(p for p in course.quizzes.rglob("*.yaml") if p.stem.endswith(student))
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    with course.open_store() as store:
        (quiz,) = [quiz for quiz in store.quizzes("week") if quiz.student == student]
    for question, entry in zip(quiz.questions, document["questions"], strict=True):
        (part,) = question.variant.parts
        entry["answer"] = answer_type(part.type).right_responses(part)[0] if right else ""
    if not right:
        document["questions"][0]["answer"] = "[0.1, 0.2, 0.7]"
    return document


def dumped(document: dict) -> bytes:
    return yaml.safe_dump(document, allow_unicode=True).encode("utf-8")


def test_quizzes_and_code_of_a_course_in_one_archive(grade, course: Course) -> None:
    stolen = filled(course, "ada", right=True)
    forged = filled(course, "007", right=False)
    forged["questions"][0]["points"] = 1000
    files = {
        "ada/quiz.yaml": dumped(filled(course, "ada", right=True)),
        "ada/softmax.py": RIGHT,
        "007/my quiz.yaml": dumped(forged),
        "zoe/quiz.yaml": dumped(stolen),
        "stranger/softmax.py": NO_SHIFT,
    }
    with zipfile.ZipFile("in.zip", "w") as made:
        for name, data in files.items():
            made.writestr(name, data)
    said = grade("batch", "in.zip", "--course", "dl", "--out", "out", "--json")
    assert said.code == 1
    assert {(p["student"], p["message"]) for p in said.json()["problems"]} == {
        ("zoe", "this quiz was made for another student"),
        (None, "this student isn't in the roster; graded as stranger"),
    }
    book = gradebook(Path("out"))
    assert list(book["ada"]) == [
        "student",
        "name",
        "week/softmax-weights",
        "week/l16-ex2-greedy-vs-beam",
        "softmax",
        "total",
    ]
    with course.open_store() as store:
        full = sum(question.points for question in store.quizzes("week")[0].questions)
        assert {a.report.mode for a in store.attempts()} == {Mode.MARKS}
        assert {best.student for best in store.best_scores()} == {"ada", "007", "stranger"}
        quiz_attempts = [a for a in store.attempts(student="ada") if a.quiz]
        assert len(quiz_attempts) == len(store.quizzes("week")[0].questions)
        assert all(a.variant and a.response and a.report.item_version for a in quiz_attempts)
    assert float(book["ada"]["total"]) == full + 10
    assert (book["007"]["total"], book["007"]["name"], book["007"]["softmax"]) == ("0", "Nöther, Emmy", "")
    assert (book["zoe"]["total"], book["stranger"]["name"]) == ("", "")
    shown = pages(Path("out"))
    assert "not in the roster" in shown["index"]
    assert "made for another student" in shown["zoe"]
    # A receipt says what its hash is of: a student can check the file's, not that of one answer in it.
    assert shown["ada"].count("SHA-256 of the file") == 1
    assert shown["ada"].count("SHA-256 of this answer") == len(quiz_attempts)
    assert hashlib.sha256(RIGHT).hexdigest() in shown["ada"]
    for page in shown.values():
        html5lib.HTMLParser(strict=True).parse(page)

    again = grade("batch", "in.zip", "--course", "dl", "--out", "out", "--json").json()
    assert (again["graded"], again["kept"]) == (0, 4)
    assert gradebook(Path("out")) == book


def test_an_answer_that_cant_be_read_costs_no_attempt(grade, course: Course) -> None:
    document = filled(course, "ada", right=True)
    document["questions"][0]["answer"] = "nan"
    write(Path("in"), {"ada/quiz.yaml": dumped(document)})
    said = grade("batch", "in", "--course", "dl", "--out", "out", "--json")
    assert said.code == 1 and "question 1 can't be read" in said.json()["problems"][0]["message"]
    book = gradebook(Path("out"))["ada"]
    assert book["week/softmax-weights"] == "unreadable" and float(book["week/l16-ex2-greedy-vs-beam"]) > 0
    write(Path("in"), {"ada/quiz.yaml": dumped(filled(course, "ada", right=True))})
    assert grade("batch", "in", "--course", "dl", "--out", "out").code == 0
    assert float(gradebook(Path("out"))["ada"]["week/softmax-weights"]) > 0


def test_a_quiz_of_another_course_is_a_problem(grade, course: Course) -> None:
    document = filled(course, "ada", right=True)
    document["quiz"] = "0" * 20
    write(Path("in"), {"ada/quiz.yaml": dumped(document)})
    said = grade("batch", "in", "--course", "dl", "--out", "out", "--json")
    assert said.code == 1 and said.json()["problems"][0]["message"] == "this quiz isn't in the store"
    assert gradebook(Path("out"))["ada"]["total"] == ""


def test_the_printable_quiz_holds_no_key(grade, course: Course) -> None:
    with course.open_store() as store:
        quizzes = store.quizzes("week")
    looked_for = 0
    for quiz in quizzes:
        path = next(p for p in course.quizzes.rglob("*.html") if p.stem.endswith(quiz.student))
        page = path.read_text(encoding="utf-8")
        html5lib.HTMLParser(strict=True).parse(page)
        for question in quiz.questions:
            for part in question.variant.parts:
                assert all(known.misconception not in page for known in part.known_wrong)
                for value in part.key.data if part.key else ():
                    assert f"{value:.3f}" not in page
                looked_for += len(part.known_wrong)
    assert looked_for


def test_a_store_that_is_none_is_one_message(grade, course: Course) -> None:
    write(Path("in"), {"ada/softmax.py": RIGHT})
    path = course.folder / ".softmark" / "store.db"
    path.write_bytes(b"this is no database, whatever it is called " * 20)
    said = grade("batch", "in", "--course", "dl", "--out", "out")
    assert said.code == 3 and "isn't a Softmark store" in said.err
    assert path.read_bytes().startswith(b"this is no database")


def test_page_names_are_what_the_index_links(grade) -> None:
    write(Path("in"), {"Ada Lovelace/softmax.py": b""})
    assert grade("batch", "in", "--out", "out").code == 1
    index = Path("out/index.html").read_text(encoding="utf-8")
    assert f'href="students/{page_name("Ada Lovelace")}"' in index
    assert (Path("out/students") / page_name("Ada Lovelace")).is_file()


def listed_on(out: Path) -> dict[str, set[str]]:
    """Return which of the files that can't be graded each page names."""
    names = ("begun.yaml", "hw.pdf", "left.docx")
    return {page: found for page, text in pages(out).items() if (found := {n for n in names if n in text})}


def test_what_wasnt_graded_stays_listed_until_it_is_handed_in_readable(grade, course: Course) -> None:
    write(
        Path("first"),
        {
            "ada/begun.yaml": dumped(filled(course, "ada", right=True)) + b"extra: [1, 2\n",
            "007/hw.pdf": b"%PDF",
            "left.docx": b"PK",
        },
    )
    write(Path("second"), {"zoe/answers.yaml": dumped(filled(course, "zoe", right=True))})
    write(Path("third"), {"ada/quiz.yaml": dumped(filled(course, "ada", right=True))})
    everything = {"index": {"begun.yaml", "hw.pdf", "left.docx"}, "ada": {"begun.yaml"}, "007": {"hw.pdf"}}
    without_quiz = {"index": {"hw.pdf", "left.docx"}, "007": {"hw.pdf"}}

    def batch(folder: str) -> int:
        return grade("batch", folder, "--course", "dl", "--out", "out").code

    assert batch("first") == 1 and listed_on(Path("out")) == everything
    said = grade("batch", "second", "--course", "dl", "--out", "out")
    assert said.code == 0, "all of this download is graded"
    assert "still open from earlier batches: 3 problems, listed in the summary" in said.out
    assert listed_on(Path("out")) == everything
    assert grade("feedback", "--course", "dl", "--out", "fb").code == 0
    assert listed_on(Path("fb")) == {page: names for page, names in everything.items() if page != "index"}

    assert batch("third") == 0 and listed_on(Path("out")) == without_quiz
    # The first download again lists what it can't grade; the quiz has been handed in since all the same.
    assert batch("first") == 1 and listed_on(Path("out")) == everything
    assert batch("second") == 0 and listed_on(Path("out")) == without_quiz

    kept = course.folder / ".softmark/not-graded.json"
    assert kept.stat().st_mode & 0o077 == 0, "it tells whose work it is"
    assert grade("store", "erase-student", "007", "--course", "dl", "--yes").code == 0
    assert "hw.pdf" not in kept.read_text()
    kept.write_text("[")
    said = grade("feedback", "--course", "dl", "--out", "fb")
    assert said.code == 2 and "the list of what wasn't graded can't be read" in said.err


def test_who_isnt_in_the_roster_is_in_all_tables_or_in_none(grade, course: Course) -> None:
    write(Path("first"), {"Peter Pan/softmax.py": RIGHT, "ada/softmax.py": NO_SHIFT})
    write(Path("second"), {"zoe/answers.yaml": dumped(filled(course, "zoe", right=True))})
    for folder in ("first", "second"):
        said = grade("batch", folder, "--course", "dl", "--out", "out")
        assert "not in the roster, but in all tables: Peter Pan" in said.out
        assert gradebook(Path("out"))["Peter Pan"]["total"] == "10"
    shown = pages(Path("out"))["index"]
    figures = " ".join(html5lib.parse(shown, namespaceHTMLElements=False).find(".//ul").itertext()).split()
    assert " ".join(figures).startswith(
        "3 students, and 1 not in the roster 2 handed something in, and 1 not in the roster"
    ), "ada and zoe, and a stranger: 007 handed in nothing"
    assert page_name("Peter Pan") in shown
    assert grade("feedback", "--course", "dl", "--out", "fb").code == 0
    assert {p.name for p in Path("fb/students").iterdir()} == {p.name for p in Path("out/students").iterdir()}
    assert grade("export", "csv", "--course", "dl", "--out", "marks.csv").code in (0, 1)
    with Path("marks.csv").open(newline="", encoding="utf-8-sig") as file:
        rows = {row["id"] if "id" in row else next(iter(row.values())) for row in csv.DictReader(file)}
    assert rows == set(gradebook(Path("out")))


def test_lateness_that_cant_be_known_is_said(grade, course: Course) -> None:
    with (course.folder / "course.yaml").open("a", encoding="utf-8") as file:
        rule = "{due: 2020-11-06, late: {percent: 10}}"
        file.write(f"  assignments:\n    week: {rule}\n    softmax: {rule}\n")
    write(
        Path("in"),
        {
            "ada/quiz.yaml": dumped(filled(course, "ada", right=True)),
            "zoe/quiz.yaml": dumped(filled(course, "zoe", right=True)),
            "007/softmax.py": RIGHT,
        },
    )
    said = grade("batch", "in", "--course", "dl", "--out", "out")
    told = "3 hand-ins have no time; the rules about late work for softmax and week weren't applied"
    assert said.code == 0 and f"note: {told} to them\n  next: look up in the learning system" in said.out
    assert told.replace("'", "&#39;") in pages(Path("out"))["index"]
    again = grade("batch", "in", "--course", "dl", "--out", "out", "--json").json()
    assert again["without_time"] == {"softmax": 1, "week": 2} and again["only_marked_late"] == {}
