"""What commands decide and hand out is in the course's log, by whom, and once."""

from __future__ import annotations

import getpass
import re
from datetime import timedelta
from pathlib import Path

import pytest

import engine.commands as commands
from engine.course import Course
from engine.quiz.rules import now
from engine.store.audit import ACTIONS, COMMAND_LINE, AuditEntry
from engine.store.student_requests import RequestKind
from engine.store.timed import NO_END

ROSTER = "id,name,email\nada,Ada Ashby,ada@example.edu\nbob,Bob Byrd,\n"
PLAN = "title: Week\nsections:\n  - items: [softmax-weights]\n"
ENGINE = Path(commands.__file__).parents[1]


@pytest.fixture
def course(grade) -> Course:
    made = Course.init(Path("c"), "T")
    (made.folder / "roster.csv").write_text(ROSTER)
    (made.blueprints / "week.yaml").write_text(PLAN)
    assert grade("quiz", "new", "week", "--course", "c").code == 0
    return made


def logged(course: Course) -> list[AuditEntry]:
    with course.open_store() as store:
        return [entry for _, entry in store.audit.newest(100)][::-1]


def last(course: Course) -> tuple[str, str, str | None, dict[str, object]]:
    entry = logged(course)[-1]
    details = {name: value for name, value in entry.details.items() if value is not None}
    return entry.action, entry.subject, entry.student, details


def test_each_decision_and_each_thing_handed_out_is_one_line(grade, course: Course) -> None:
    with course.open_store() as store:
        for subject in ("week", "softmax"):
            store.requests.ask("ada", RequestKind.EXTENSION, subject, "I was ill.", now())
    Path("marks.csv").write_text("student,column,score\nada,softmax,3\nbob,softmax,4\n")
    quiz, ada = "week", "ada"
    steps: list[tuple[str, list[tuple[str, str, str | None, dict[str, object]]]]] = [
        ("quiz new week", []),  # nobody is new
        ("quiz publish week", [("quiz.publish", quiz, None, {"students": 2})]),
        ("quiz publish week", []),
        ("quiz publish", []),
        (
            "quiz deadline week 2999-01-01T00:00Z --student ada",
            [("quiz.deadline", quiz, ada, {"deadline": "2999-01-01T00:00:00+00:00"})],
        ),
        ("quiz deadline week none", [("quiz.deadline", quiz, None, {"deadline": "none"})]),
        ("quiz deadline week", []),
        ("quiz key week", [("quiz.key", quiz, None, {})]),
        ("quiz key week --student bob", [("quiz.key", quiz, "bob", {})]),
        ("quiz codes week --withdraw", []),
        ("quiz withdraw", []),  # a mistake
        ("course allow ada week --days 2 --reason ill", [
            ("allowance.add", quiz, ada, {"kind": "deadline", "days": 2, "reason": "ill"}),
        ]),
        ("course withdraw 1", [("allowance.withdraw", quiz, ada, {})]),
        ("course withdraw 1", []),
        ("course decide 1 --grant --days 3 --answer Fine", [
            ("request.granted", quiz, ada, {"request": 1, "days": 3}),
        ]),
        ("course decide 2 --refuse --answer No", [("request.refused", "softmax", ada, {"request": 2})]),
        ("mark ada softmax --score 7", [("mark.set", "softmax", ada, {"score": 7.0})]),
        ("mark ada softmax --score 7", []),
        ("mark ada softmax --withdraw", [("mark.withdraw", "softmax", ada, {})]),
        ("mark import marks.csv", [
            ("mark.set", "softmax", ada, {"score": 3.0}), ("mark.set", "softmax", "bob", {"score": 4.0}),
        ]),
        ("mark list", []),
        ("export csv --out marks-out.csv", [("export.gradebook", "Gradebook for csv", None, {})]),
        ("feedback --out pages --student ada", [("export.pages", "Feedback pages", ada, {})]),
        ("report", [("export.analysis", "Item analysis of everything", None, {})]),
        ("similar", [("export.similar", "Similar hand-ins of everything", None, {})]),
        ("find-variant 0.5", [("variant.find", "all quizzes", None, {"matches": ...})]),
        ("autograder make softmax --out a.zip", [("export.autograder", "softmax", None, {})]),
        ("store backup b.db", [("store.backup", "b.db", None, {})]),
        ("store check", []),
        ("store export-student ada", [("student.export", "everything stored", ada, {})]),
        ("store erase-student bob", []),
        ("quiz publish week --withdraw", [("quiz.withdraw", quiz, None, {})]),
        ("quiz publish week --withdraw", []),
        ("quiz close week", []),
    ]  # fmt: skip
    for line, expected in steps:
        before = len(logged(course))
        grade(*line.split(), "--course", "c")
        lines = logged(course)[before:]
        found = [
            (e.action, e.subject, e.student, {k: v for k, v in e.details.items() if v is not None})
            for e in lines
        ]
        for wanted, got in zip(expected, found, strict=False):
            for name in [name for name, value in wanted[3].items() if value is ...]:
                wanted[3][name] = got[3][name]
        assert found == expected, line
        assert all((e.by, e.role) == (getpass.getuser(), COMMAND_LINE) for e in lines), line


def test_whom_by_names_is_in_the_log(grade, course: Course) -> None:
    assert grade("mark", "ada", "softmax", "--score", "7", "--by", "Prof. Weber", "--course", "c").code == 0
    assert (logged(course)[-1].by, logged(course)[-1].role) == ("Prof. Weber", COMMAND_LINE)


def test_the_sittings_that_a_command_closes_are_in_the_log(
    grade, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    with course.open_store() as store:
        for quiz in store.quizzes("week"):
            store.timed.begin(quiz, now(), NO_END)
    assert grade("quiz", "deadline", "week", (now() + timedelta(seconds=1)).isoformat(), "--course", "c")
    later = now() + timedelta(minutes=2)
    monkeypatch.setattr("engine.quiz.rules.now", lambda: later)
    before = len(logged(course))
    assert grade("quiz", "close", "week", "--course", "c").out == "2 sittings handed in\n"
    assert {(e.action, e.student) for e in logged(course)[before:]} == {
        ("quiz.closed", "ada"),
        ("quiz.closed", "bob"),
    }


def test_an_erased_student_leaves_one_line_that_doesnt_name_the_student(grade, course: Course) -> None:
    assert grade("mark", "ada", "softmax", "--score", "7", "--course", "c").code == 0
    reason = "as agreed with ada ASHBY (ada@example.edu), and ada"
    allowed = ("course", "allow", "bob", "week", "--days", "2", "--reason", reason, "--course", "c")
    assert grade(*allowed).code == 0
    assert grade("store", "erase-student", "ada", "--course", "c", "--yes").code == 0
    entries = logged(course)
    assert last(course)[:3] == ("student.erase", "a student", None)
    assert not any(entry.student == "ada" for entry in entries)
    # Three letters may be a word, or another person's name.
    kept = "as agreed with [erased] ([erased]), and ada"
    assert [e.details["reason"] for e in entries if e.action == "allowance.add"] == [kept]
    with course.open_store() as store:
        assert [entry.reason for entry in store.allowances.current("bob")] == [kept]


def test_where_there_is_no_store_none_is_made_for_the_log(grade) -> None:
    made = Course.init(Path("new"), "T")
    assert grade("autograder", "make", "softmax", "--out", "a.zip", "--course", "new").code == 0
    assert Path("a.zip").exists() and not Path(made.store_place).exists()


def test_practice_has_no_log(grade) -> None:
    assert grade("quiz", "new", "l16", "--student", "me").code == 0
    assert grade("quiz", "key", "l16").code == 0  # nobody else's business


def test_every_action_is_known_by_its_words() -> None:
    """Whatever is written into the log has a kind and words for the page that shows it."""
    written = re.compile(
        r"\b(?:log|log_by|log_without_store|(?<![.])note|LogLine)\(\s*(?:\w+, )*\"([a-z_]+(?:[.-][a-z_]+)+)\""
    )
    actions = set()
    for path in [*(ENGINE / "web").rglob("*.py"), *(ENGINE / "commands").rglob("*.py")]:
        text = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
        actions |= {match[1] for match in written.finditer(text.replace("( ", "("))}
    assert len(actions) > 30
    assert sorted(actions - ACTIONS.keys()) == []
