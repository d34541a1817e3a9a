"""A course from ``init`` to the graded quiz file."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest
import yaml

from engine.answers import right_response
from engine.course import Course
from engine.quiz import fill_in_text

ROSTER = 'id,name,email\n007,James,j@example.org\ns2,"Doe, Zoë",z@example.org\n'


@pytest.fixture
def course(grade) -> Path:
    assert grade("init", "course", "--title", "Attention").code == 0
    Path("course/roster.csv").write_text(ROSTER, encoding="utf-8")
    assert grade("quiz", "new", "l16", "--course", "course").code == 0
    return Path("course")


def filled(course: Path, student: str, *, wrong: bool = False) -> str:
    with Course.open(course).open_store() as store:
        quiz = next(q for q in store.quizzes("l16") if q.student == student)
    answers = {q.number: {p.id: right_response(p) for p in q.variant.parts} for q in quiz.questions}
    if wrong:
        answers[1] = dict.fromkeys(answers[1], "")
    return fill_in_text(quiz, answers)


def test_init_makes_a_secret_nobody_else_reads_and_never_overwrites(grade, course: Path) -> None:
    secret = course / ".softmark/secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    before = secret.read_bytes()
    assert grade("init", "course").code == 0
    assert secret.read_bytes() == before
    assert (course / "roster.csv").read_text(encoding="utf-8") == ROSTER


def test_each_student_gets_an_own_variant_and_the_same_again(grade, course: Path) -> None:
    files = {p.name: p.read_text(encoding="utf-8") for p in (course / "quizzes/l16").glob("*.yaml")}
    assert set(files) == {"l16-007.yaml", "l16-s2.yaml"}
    stems = [[q["stem"] for q in yaml.safe_load(text)["questions"]] for text in files.values()]
    titles = [[q["title"] for q in yaml.safe_load(text)["questions"]] for text in files.values()]
    assert titles[0] == titles[1]
    assert stems[0] != stems[1]
    assert grade("quiz", "new", "l16", "--course", "course").code == 0
    assert files == {p.name: p.read_text(encoding="utf-8") for p in (course / "quizzes/l16").glob("*.yaml")}


def test_no_file_that_a_student_gets_holds_a_key(course: Path) -> None:
    secret = (course / ".softmark/secret").read_bytes()
    with Course.open(course).open_store() as store:
        quizzes = store.quizzes("l16")
    looked_for = 0
    for quiz in quizzes:
        files = list((course / "quizzes/l16").glob(f"*-{quiz.student}.*"))
        assert {path.suffix for path in files} == {".yaml", ".html"}
        for path in files:
            text = path.read_text(encoding="utf-8")
            assert secret.hex() not in text
            assert not re.search(r"\bm-[a-z]", text), "a misconception's id"
            assert not re.search(r"\b(seed|misconception)\b", text)
            for question in quiz.questions:
                for part in question.variant.parts:
                    if part.key is not None and len(part.key.data) > 1:
                        assert right_response(part) not in text
                        looked_for += 1
    assert looked_for >= 2 * len(quizzes) > 0


def test_a_right_file_gets_full_marks_and_is_recorded(grade, course: Path) -> None:
    Path("mine.yaml").write_text(filled(course, "007"), encoding="utf-8")
    said = grade("submit", "mine.yaml", "--course", "course", "--json")
    assert said.code == 0, said.out
    result = said.json()
    assert result["score"] == pytest.approx(result["max_score"])
    assert {report["student"] for report in result["reports"]} == {"007"}
    assert {report["mode"] for report in result["reports"]} == {"marks"}
    with Course.open(course).open_store() as store:
        attempts = list(store.attempts(student="007"))
    assert len(attempts) == len(result["reports"])
    assert all(a.variant is not None and a.response is not None and a.report.item_version for a in attempts)


def test_edited_points_stems_and_options_change_nothing(grade, course: Path) -> None:
    text = filled(course, "s2", wrong=True)
    honest = grade_json(grade, text)
    edited = re.sub(r"points: \d+", "points: 100", text).replace("Compute the", "Don't compute the")
    cheating = grade_json(grade, edited)
    assert (cheating["score"], cheating["max_score"]) == (honest["score"], honest["max_score"])
    assert any("100 points" in note for report in cheating["reports"] for note in report["notes"])


def grade_json(grade, text: str) -> dict:
    Path("mine.yaml").write_text(text, encoding="utf-8")
    said = grade("submit", "mine.yaml", "--course", "course", "--json")
    assert said.code in (0, 1), said
    return said.json()


BROKEN = {
    "no-yaml": ("[1, 2", 2),
    "no-quiz": ("title: x\n", 2),
    "unknown": ("quiz: ffffffffffffffffffff\nquestions: []\n", 2),
    "twice": ("quiz: QUIZ\nquestions:\n- {number: 1, answer: a}\n- {number: 1, answer: b}\n", 2),
    "strange": ("quiz: QUIZ\nquestions:\n- {number: 99, answer: a}\n", 2),
    "numberless": ("quiz: QUIZ\nquestions:\n- {answer: a}\n", 2),
    "python": ("quiz: QUIZ\nquestions: !!python/object/apply:os.system ['touch owned']\n", 2),
    "alias": ("quiz: &a QUIZ\nquestions: [*a]\n", 2),
    "not-utf8": (b"quiz: \xff\xfe\n", 2),
    "binary": (bytes(range(256)), 2),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_quiz_file_gets_one_clear_message_and_no_mark(grade, course: Path, name: str) -> None:
    content, code = BROKEN[name]
    quiz = yaml.safe_load((course / "quizzes/l16/l16-s2.yaml").read_text(encoding="utf-8"))["quiz"]
    raw = content if isinstance(content, bytes) else content.replace("QUIZ", quiz).encode()
    Path("mine.yaml").write_bytes(raw)
    said = grade("submit", "mine.yaml", "--course", "course")
    assert said.code == code, said
    assert said.err.startswith("error: ")
    assert not Path("owned").exists()
    with Course.open(course).open_store() as store:
        assert list(store.attempts()) == []


def test_one_unreadable_answer_records_nothing_and_says_where(grade, course: Path) -> None:
    text = filled(course, "007")
    with Course.open(course).open_store() as store:
        quiz = next(q for q in store.quizzes("l16") if q.student == "007")
    question = next(q for q in quiz.questions if q.variant.parts[0].type == "vector")
    answers = {question.number: {question.variant.parts[0].id: "nan, 1, 2"}}
    Path("mine.yaml").write_text(fill_in_text(quiz, answers), encoding="utf-8")
    said = grade("submit", "mine.yaml", "--course", "course")
    assert said.code == 2
    assert "Nothing was recorded" in said.out
    with Course.open(course).open_store() as store:
        assert list(store.attempts()) == []
    Path("mine.yaml").write_text(text, encoding="utf-8")
    assert grade("submit", "mine.yaml", "--course", "course").code == 0


def test_practice_needs_no_course(grade, monkeypatch: pytest.MonkeyPatch) -> None:
    assert grade("quiz", "new", "l16").code == 0
    said = grade("submit", "l16-me.yaml")
    assert said.code == 1  # all blank
    assert "Total: 0 of" in said.out


def test_a_blueprint_with_faults_names_them_all_with_their_places(grade) -> None:
    Path("plan.yaml").write_text("title: x\nsections:\n- cuont: 3\n  topics: [softmax]\n- items: 7\n")
    said = grade("quiz", "new", "plan.yaml")
    assert said.code == 2
    assert "plan.yaml:3:3" in said.err
    assert "plan.yaml:5:10" in said.err
    assert "count" in said.err


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ("- {items: [softmax]}", "code exercise"),
        ("- {items: [context-vector, context-vector]}", "twice"),
        ("- {count: 99, topics: [greedy-search]}", "too few"),
        ("- {items: [contxt-vector]}", "context-vector"),
        ("- {title: x}", "asks for nothing"),
    ],
)
def test_a_blueprint_that_cannot_be_filled_says_why(grade, sections: str, words: str) -> None:
    Path("plan.yaml").write_text(f"title: x\nsections:\n{sections}\n")
    said = grade("quiz", "new", "plan.yaml")
    assert said.code == 2
    assert words in said.err
