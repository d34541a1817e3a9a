"""Pages of every kind for the browser: real items, really graded, and names that want to break out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

from engine.code import exercise_of, freeze_plan
from engine.code.explain.in_process import TrustedRunner
from engine.grading import grade_answers, grade_code
from engine.hand_ins import IntakeProblem
from engine.items import builtin_bank
from engine.marks.class_table import ClassTable, ColumnMark, ItemResult, StudentResults, TableColumn
from engine.model import CodeSubmission, GradeReport, Mode, Outcome, Quiz, Response, ResultDisclosure, Variant
from engine.pages import feedback_page, key_page, quiz_page, summary_page
from engine.pages.feedback import page_name
from engine.quiz import compose
from engine.quiz.answer_key import quiz_key
from engine.quiz.blueprint import Blueprint, PlacedBlueprint
from engine.store import Store
from engine.variants import draw_seeded

__all__ = ["HOSTILE_NAME", "class_pages", "feedback_pages", "some_results"]

NOW = datetime(2026, 11, 27, 12, 30, tzinfo=UTC)
HOSTILE_NAME = '<b onmouseover=alert(1)>\u202eevil\u2066</b> "&' + "Wort" * 30
RIGHT = """import numpy as np
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
BASE_TWO = RIGHT.replace("np.exp(", "np.exp2(")
UNSCALED = """import numpy as np
def sdpa(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2)
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ V
"""


def graded_code(item: str, source: str) -> ItemResult:
    """Return a code result as a class's run makes it."""
    bank = builtin_bank()
    exercise = exercise_of(bank, item)
    sha256 = hashlib.sha256(source.encode()).hexdigest()
    submission = CodeSubmission(source, f"{item}.py", sha256)
    with TrustedRunner() as runner:
        plan = freeze_plan(exercise, b"p" * 32)
        report = grade_code(exercise, plan, submission, runner, mode=Mode.MARKS, student="ada")
    return _result(
        replace(report, tier="T1"), TableColumn("~", 0, item, exercise.title, report.max_score), sha256
    )


def graded_answer(item: str, answers: Mapping[str, str], number: int = 1, **more: object) -> ItemResult:
    """Return a quiz result; answers may hold ``{key}`` for the right one."""
    from engine.answers import right_response

    variant = draw_seeded(
        builtin_bank().load(item), version="0" * 16, registry=builtin_bank().registry(), seed=7
    )
    typed = {part.id: answers.get(part.id, "").format(key=right_response(part)) for part in variant.parts}
    report = grade_answers(variant, Response(typed), mode=Mode.MARKS, student="ada")
    column = TableColumn("week-1", number, item, variant.title, report.max_score)
    return _result(report, column, "cd" * 32, variant=variant, answers=typed, **more)


def _result(
    report: GradeReport, column: TableColumn, sha256: str, variant: Variant | None = None, **more: object
) -> ItemResult:
    fields = {"filename": "week 1.yaml" if variant else f"{column.item}.py"} | more
    return ItemResult(column, report, sha256, NOW, variant=variant, **fields)  # type: ignore[arg-type]


@cache
def some_results() -> dict[str, Sequence[ItemResult]]:
    """Return results of every kind by what they show."""
    wrong = graded_code("softmax", BASE_TWO)
    sdpa = graded_code("sdpa", UNSCALED)
    solved = {"disclosure": ResultDisclosure.SOLUTION}
    late = ColumnMark(
        2.5, 2.0, ("Handed in 1 day after the due date: 20 % off.",), comment="See me – nice try!"
    )
    blank = GradeReport("softmax", "v", Outcome.UNGRADED, None, 2.0, mode=Mode.MARKS, notes=("zygote died",))
    unread = replace(blank, outcome=Outcome.FORMAT_ERROR)
    column = TableColumn("~", 0, "softmax", "Softmax", 2.0)
    choice = graded_answer("softmax-shift", {"answer": "a"}, 3)
    return {
        "right": [graded_code("softmax", RIGHT), graded_answer("softmax-weights", {"answer": "{key}"})],
        "wrong": [
            graded_answer("softmax-weights", {"answer": "0.9 0.3 -0.2"}, 1, **solved),
            graded_answer("self-attention-weights", {"answer": "1 0 0; 0 1 0; 0 0 1"}, 2, **solved),
            choice,
            graded_answer("decoder-full-step", {"w": "{key}", "P": "0.3 0.3 0.4"}, 4, **solved),
            wrong,
            sdpa,
        ],
        "ungraded": [_result(blank, column, "ef" * 32), sdpa],
        "unreadable": [
            _result(unread, column, "ef" * 32, reason="line 3: this is no Python"),
            graded_answer("softmax-weights", {"answer": "nan, what"}),
        ],
        "excused": [replace(wrong, mark=ColumnMark(1.0, None, ("Ill, with a certificate.",), excused=True))],
        "dropped": [replace(wrong, mark=ColumnMark(1.0, 1.0, dropped=True)), sdpa],
        "late": [replace(wrong, mark=late, handed=NOW, marked_late=True, attempts=3)],
        "hidden": [replace(wrong, disclosure=ResultDisclosure.NOTHING), choice],
        "empty": [],
    }


def feedback_pages() -> dict[str, str]:
    """Return feedback pages by what they show."""
    pages = {}
    for name, items in some_results().items():
        student = StudentResults("ada", "Ada Lovelace", tuple(items))
        if name == "excused":
            missing = TableColumn("~", 0, "sdpa", "Attention", 4.0)
            student = replace(
                student, without_work=((missing, ColumnMark(None, 0.0, ("Nothing was handed in.",))),)
            )
        pages[name] = feedback_page(student, title="Deep Learning: attention")
    items = some_results()["wrong"]
    evil = [
        replace(item, filename=HOSTILE_NAME, column=replace(item.column, title=HOSTILE_NAME))
        for item in items[:1] + items[-2:-1]
    ]
    evil[0] = replace(evil[0], mark=ColumnMark(1.0, 0.5, (HOSTILE_NAME,), comment=HOSTILE_NAME))
    problem = IntakeProblem(HOSTILE_NAME, HOSTILE_NAME, HOSTILE_NAME)
    hostile = StudentResults(HOSTILE_NAME, HOSTILE_NAME, tuple(evil), (problem,))
    return pages | {"hostile": feedback_page(hostile, title=HOSTILE_NAME)}


def class_pages(store: Store) -> dict[str, str]:
    """Return the pages about a class: summary, quiz and keys."""
    names = {"ada": "Ada Lovelace", "kim": HOSTILE_NAME, "007": "Émilie"}
    given = dict(zip(names, (some_results()[kind] for kind in ("wrong", "ungraded", "late")), strict=True))
    students = [StudentResults(student, names[student], tuple(items)) for student, items in given.items()]
    columns = {item.column for student in students for item in student.items}
    table = ClassTable("Deep Learning", tuple(sorted(columns)), tuple(s.row() for s in students))
    links = {student: f"students/{page_name(student)}" for student in names}
    problem = IntakeProblem(HOSTILE_NAME, "leads out of the archive", "rename it", "kim")
    quizzes = _quizzes(list(names))
    store.save_quizzes(quizzes)
    keys = [quiz_key(store, quiz, builtin_bank()) for quiz in quizzes]
    return {
        "summary": summary_page(table, links=links, problems=(problem,), ignored=(".DS_Store",)),
        "quiz": quiz_page(quizzes[0], student=HOSTILE_NAME),
        "key": key_page(keys, names=names),
    }


def _quizzes(students: list[str]) -> list[Quiz]:
    items = ["softmax-weights", "seq2seq-roles", "l16-full-pass", "greedy-trace-order", "softmax-shift"]
    plan = PlacedBlueprint(Blueprint.model_validate({"title": "Week 1", "sections": [{"items": items}]}))
    return compose(plan, builtin_bank(), students, secret=b"s" * 32, name="week-1")
