"""Tables of a class joined with roster and quizzes: every row is a hand-in, a problem or ignored."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from engine.course import Roster, Student, read_roster
from engine.errors import CourseError, UsageError
from engine.hand_ins import AnswerTable, FileKind, HandedFile, IntakeResult, StudentFiles
from engine.intake.row_hand_ins import take_answers
from engine.items import builtin_bank
from engine.model import Quiz
from engine.quiz import compose
from engine.quiz.blueprint import Blueprint, PlacedBlueprint
from engine.store import Store, open_store

ITEMS = ["softmax-weights", "l16-ex2-greedy-vs-beam", "l16-full-pass"]
ROSTER = Roster(
    (
        Student("007", "Emmy Nöther", "emmy@b", "enoe"),
        Student("ada", "Ada Lovelace", "ada@b"),
        Student("b1", "Bob Smith"),
        Student("b2", "Bob Smith"),
    )
)


def quizzes(name: str, *students: str, items: list[str] = ITEMS, attempt: int = 0) -> list[Quiz]:
    plan = PlacedBlueprint(
        Blueprint.model_validate({"title": "T", "sections": [{"items": items, "points": 2}]})
    )
    return compose(plan, builtin_bank(), list(students), secret=b"s" * 32, name=name, attempt=attempt)


@pytest.fixture(scope="module")
def drawn() -> dict[str, Quiz]:
    return {quiz.student: quiz for quiz in quizzes("week-1", "007", "ada", "b1")}


@pytest.fixture
def store(tmp_path: Path, drawn: dict[str, Quiz]):
    with open_store(tmp_path / "store.db") as opened:
        opened.save_quizzes(list(drawn.values()))
        yield opened


def take(
    store: Store, tmp_path: Path, text: str, *, name: str = "answers.csv", roster: Roster = ROSTER, **more
) -> IntakeResult:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    before = IntakeResult((), tables=(AnswerTable(path, name),))
    after = take_answers(before, store, roster=roster, **more)
    assert after.tables == ()
    return after


def handed(intake: IntakeResult) -> dict[str, list[HandedFile]]:
    return {student.student: list(student.files) for student in intake.students}


def told(intake: IntakeResult) -> list[tuple[str, str, str | None]]:
    return [(problem.where, problem.message, problem.student) for problem in intake.problems]


def test_rows_become_hand_ins_for_the_students_own_quizzes(
    store: Store, tmp_path: Path, drawn: dict[str, Quiz]
) -> None:
    intake = take(store, tmp_path, 'id,1,2,3.e\nada,"[1, 2]",b,1\nenoe,3,,\n')
    (ada,) = handed(intake)["ada"]
    (emmy,) = handed(intake)["007"]
    assert ada.filled is not None and ada.filled.quiz == drawn["ada"].id
    assert ada.filled.answers == {1: {"answer": "[1, 2]"}, 2: {"answer": "b"}, 3: {"e": "1"}}
    assert ada.filled.questions == {1, 2, 3} and ada.kind is FileKind.QUIZ and ada.item is None
    assert (ada.name, ada.handed, ada.sequence) == ("answers.csv:2", None, 0)
    assert emmy.filled is not None and emmy.filled.quiz == drawn["007"].id and emmy.sha256 != ada.sha256
    assert not intake.problems and not intake.ignored


def test_several_rows_are_attempts_in_the_order_of_their_times(store: Store, tmp_path: Path) -> None:
    text = (
        "id,1,handed\nada,1,2026-07-01 12:00\nada,2,2026-07-01 10:00\nada,3,2026-07-01T09:00+00:00\nada,4,\n"
    )
    files = handed(take(store, tmp_path, text, zone=ZoneInfo("Europe/Berlin")))["ada"]
    assert [(file.name[-1], file.sequence) for file in files] == [("3", 0), ("4", 1), ("2", 2), ("5", 3)]
    assert [file.handed for file in files] == [
        datetime(2026, 7, 1, 8, tzinfo=UTC),
        datetime(2026, 7, 1, 9, tzinfo=UTC),
        datetime(2026, 7, 1, 10, tzinfo=UTC),
        None,
    ]


def test_times_that_cant_be_read_are_told_once_and_the_rows_are_graded(store: Store, tmp_path: Path) -> None:
    intake = take(store, tmp_path, "id,1,handed\nada,1,3/4/2026 10:00\n007,2,4/5/2026 10:00\n")
    assert set(handed(intake)) == {"ada", "007"}
    assert told(intake) == [
        ("answers.csv:2", "when this row and 1 more were handed in can't be read ('3/4/2026 10:00')", None)
    ]


def test_people_who_arent_known(store: Store, tmp_path: Path) -> None:
    text = "id,1\nadda,1\nstranger,2\nBob Smith,3\n,4\nb2,5\n"
    intake = take(store, tmp_path, text)
    assert handed(intake) == {}
    assert [(p.where[-1], p.message, p.next_step, p.student) for p in intake.problems] == [
        (
            "2",
            "no quiz week-1 was drawn for adda",
            "nobody in the roster has this id: did you mean ada?",
            None,
        ),
        (
            "3",
            "no quiz week-1 was drawn for stranger",
            "nobody in the roster has this id: add the student to the roster, or fix the row",
            None,
        ),
        ("4", "this can be b1 or b2", "fill in the student's id", None),
        ("5", "nothing in this row says whose it is", "fill in the student's id", None),
        ("6", "no quiz week-1 was drawn for b2", "draw it for this student: grade quiz new", "b2"),
    ]
    refused = take(store, tmp_path, text, refuse_unlisted=True)
    assert [p.message for p in refused.problems][:2] == [
        "adda isn't in the roster",
        "stranger isn't in the roster",
    ]


def test_without_a_roster_ids_are_taken_as_they_are(store: Store, tmp_path: Path) -> None:
    intake = take(store, tmp_path, "id,1\nada,1\n007,2\n7,3\n", roster=Roster())
    assert set(handed(intake)) == {"ada", "007"}
    assert told(intake) == [("answers.csv:4", "no quiz week-1 was drawn for 7", "7")]


def test_fields_that_contradict_one_another(store: Store, tmp_path: Path) -> None:
    intake = take(
        store, tmp_path, "id,email,name,1\nada,emmy@b,,1\nada,ada@b,Nickname,2\n,emmy@b,Ada Lovelace,3\n"
    )
    assert [file.name for file in handed(intake)["ada"]] == ["answers.csv:3"] and len(handed(intake)) == 1
    assert told(intake) == [
        ("answers.csv:2", "this row names more than one student: id means ada, email means 007", None),
        (
            "answers.csv:4",
            "this row names more than one student: email means 007, name means ada",
            None,
        ),
    ]


def test_the_name_settles_what_the_address_leaves_open(store: Store, tmp_path: Path) -> None:
    intake = take(store, tmp_path, "name,id,1\nBob Smith,b1,1\n")
    assert set(handed(intake)) == {"b1"} and not intake.problems


def test_who_is_disputed_in_the_roster_isnt_joined(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text("id,name\nada,Ada\nb1,Bob\nb1,Kim\n007,Bob\n")
    with pytest.raises(CourseError):
        read_roster(path)
    roster = read_roster(path, tolerant=True)
    intake = take(store, tmp_path, "id,name,1\nada,,1\nb1,,2\n,Kim,3\n007,Bob,4\n", roster=roster)
    assert set(handed(intake)) == {"ada", "007"}
    assert [
        (where, what.startswith("this is unclear in the roster: "), who) for where, what, who in told(intake)
    ] == [
        ("answers.csv:3", True, None),
        ("answers.csv:4", True, None),
    ]


# --- which quiz ---


def test_the_quiz_of_a_table(store: Store, tmp_path: Path) -> None:
    (other,) = quizzes("week-2", "ada")
    store.save_quiz(other)

    def quiz_of(text: str, name: str = "answers.csv", quiz: str | None = None) -> set[str | None]:
        files = handed(take(store, tmp_path, text, name=name, quiz=quiz)).get("ada", [])
        return {file.filled.quiz if file.filled else None for file in files}

    first = store.quizzes("week-1", "ada")[0].id
    assert quiz_of("id,1\nada,1\n", quiz="week-2") == {other.id}
    assert quiz_of("id,1\nada,1\n", name="week-2.csv") == {other.id}
    assert quiz_of("id,1\nada,1\n", name="week-2.csv", quiz="week-1") == {first}
    assert quiz_of("id,quiz,1\nada,week-2,1\n", quiz="week-1") == {other.id}
    assert quiz_of(f"id,quiz,1\nada,{other.id},1\nada,week-1,2\n") == {first, other.id}
    intake = take(store, tmp_path, "id,1\nada,1\n007,2\n")
    assert handed(intake) == {}
    assert [(p.where, p.message, p.next_step) for p in intake.problems] == [
        (
            "answers.csv",
            "nothing says which quiz this answers: no row of it is graded",
            "--quiz NAME, or a column `quiz`, with one of: week-1, week-2",
        )
    ]
    with pytest.raises(UsageError, match="no quiz 'week-3' was drawn"):
        quiz_of("id,1\nada,1\n", quiz="week-3")


def test_a_quiz_that_isnt_the_students(store: Store, tmp_path: Path, drawn: dict[str, Quiz]) -> None:
    theirs = drawn["007"].id
    intake = take(store, tmp_path, f"id,quiz,1\nada,{theirs},1\nada,week1,2\nada,exam,3\n")
    assert handed(intake) == {}
    assert [(p.message, p.next_step) for p in intake.problems] == [
        (f"quiz {theirs} was made for another student", "it is 007's: find out whose answers these are"),
        ("no quiz 'week1' was drawn", "did you mean week-1?"),
        ("no quiz 'exam' was drawn", "--quiz NAME, or a column `quiz`, with one of: week-1"),
    ]


def test_two_quizzes_of_a_name_have_to_be_told_apart(store: Store, tmp_path: Path) -> None:
    (again,) = quizzes("week-1", "ada", attempt=1)
    store.save_quiz(again)
    intake = take(store, tmp_path, f"id,quiz,1\nada,,1\nada,{again.id},2\n")
    assert [file.name for file in handed(intake)["ada"]] == ["answers.csv:3"]
    assert told(intake) == [("answers.csv:2", "2 quizzes week-1 were drawn for ada", "ada")]


def test_a_class_without_any_quiz(tmp_path: Path) -> None:
    with open_store(tmp_path / "empty.db") as empty:
        intake = take(empty, tmp_path, "id,1\nada,1\n")
    assert [(p.message.split(":")[0], p.next_step) for p in intake.problems] == [
        ("nothing says which quiz this answers", "draw it: grade quiz new")
    ]


# --- heads, blanks, faults ---


def test_heads_that_no_quiz_knows_are_told_once(store: Store, tmp_path: Path) -> None:
    intake = take(store, tmp_path, "id,softmax-weight,3,Comments\nada,1,2,fine\n007,1,,\n")
    assert handed(intake) == {}
    assert [(p.where, p.message, p.next_step) for p in intake.problems] == [
        ("answers.csv:2", "nothing in this row answers a question of the quiz", "check the column headings"),
        ("answers.csv:3", "nothing in this row answers a question of the quiz", "check the column headings"),
        (
            "answers.csv:1",
            "'softmax-weight': the quiz has no such question; 2 answers aren't marked",
            "did you mean softmax-weights?",
        ),
        (
            "answers.csv:1",
            "'3': question 3 has the parts e, w, c; 1 answer isn't marked",
            "a column for each: 3.e, 3.w, 3.c",
        ),
        (
            "answers.csv:1",
            "'Comments': the quiz has no such question; 1 answer isn't marked",
            "the questions are 1 to 3: head a column with its number or its item's id",
        ),
    ]


def test_a_question_that_only_others_were_asked(store: Store, tmp_path: Path) -> None:
    for quiz in (*quizzes("own", "ada", items=ITEMS[:1]), *quizzes("own", "007", items=ITEMS[1:2])):
        store.save_quiz(quiz)
    text = f"id,{ITEMS[0]},{ITEMS[1]}\nada,1,\n007,,b\n007,2,b\n"
    intake = take(store, tmp_path, text, quiz="own")
    assert {student: len(files) for student, files in handed(intake).items()} == {"ada": 1, "007": 2}
    assert told(intake) == [
        ("answers.csv:4", "'softmax-weights': the quiz has no such question of this student", "007")
    ]


def test_a_row_without_answers_is_no_hand_in(store: Store, tmp_path: Path) -> None:
    intake = take(store, tmp_path, "id,1,2\nada,,\n007,1,\n")
    assert set(handed(intake)) == {"007"} and not intake.problems
    assert intake.ignored == ("answers.csv:2: no answer in this row",)


def test_damage_is_told_and_the_rest_of_the_row_is_graded(store: Store, tmp_path: Path) -> None:
    intake = take(store, tmp_path, "id,1,2\nada,01.Feb,b\n007,=1/3,\n")
    (ada,) = handed(intake)["ada"]
    assert ada.filled is not None and ada.filled.questions == {2}
    assert ada.filled.answers == {2: {"answer": "b"}}
    assert told(intake) == [
        ("answers.csv:2", "question 1: a spreadsheet has made a date or time of it (01.Feb)", "ada"),
        ("answers.csv:3", "question 1: the cell holds a formula (=1/3): formulas aren't computed", "007"),
    ]
    assert "007" not in handed(intake)


@pytest.mark.parametrize(
    ("name", "text", "where", "what"),
    [
        ("a.csv", "a,b\n1,2\n", "a.csv:1", "the first line names no column that says who answered"),
        ("a.csv", "\0id,1\n", "a.csv", "the table isn't a text file"),
        ("a.xlsx", "id,1\n", "a.xlsx", "this isn't a workbook that can be read"),
        ("a.yaml", "ada: [\n", "a.yaml:1", "a list that was opened with '[' isn't closed"),
    ],
)
def test_a_file_that_cant_be_read_stops_no_other(
    store: Store, tmp_path: Path, name: str, text: str, where: str, what: str
) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "good.csv").write_text("id,1\nada,1\n")
    code = HandedFile(tmp_path / "x.py", "x.py", FileKind.CODE, "softmax", "0")
    before = IntakeResult(
        (StudentFiles("ada", (code,), "Ada L"), StudentFiles("zoe", ())),
        tables=(AnswerTable(tmp_path / name, name), AnswerTable(tmp_path / "good.csv", "good.csv")),
    )
    after = take_answers(before, store, roster=ROSTER)
    assert [(s.student, s.label, [f.name for f in s.files]) for s in after.students] == [
        ("ada", "Ada L", ["x.py", "good.csv:2"]),
        ("zoe", "", []),
    ]
    ((place, message, _),) = told(after)
    assert place == where and what in message
