"""``grade similar`` from the command line: folders, archives, the course's store, bad input."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.answers import right_response
from engine.course import Course
from engine.grading import grade_answers
from engine.model import CodeSubmission, GradeReport, Mode, Outcome, Quiz, Response
from engine.similarity.page import NOT_A_VERDICT
from engine.store import Attempt

NOW = datetime(2026, 11, 27, tzinfo=UTC)
ADA = """import numpy as np


def sdpa(Q, K, V, mask=None):
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -1e30)
    top = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - top)
    return e / e.sum(axis=-1, keepdims=True) @ V
"""
# the same with other names, two more variables, another order and a comment
BOB = """import numpy

def sdpa(queries, keys, values, mask=None):
    # my own work
    root = numpy.sqrt(queries.shape[-1])
    logits = queries @ numpy.swapaxes(keys, -1, -2) / root
    if mask is not None:
        logits = numpy.where(mask, logits, -1e9)
    shifted = logits - numpy.max(logits, axis=-1, keepdims=True)
    weights = numpy.exp(shifted)
    print(weights)
    total = weights.sum(axis=-1, keepdims=True)
    return weights / total @ values
"""
OTHERS = {
    "eve": "import torch.nn.functional as F\n\n\ndef sdpa(Q, K, V, mask=None):\n"
    "    return F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)\n",
    "kim": "def sdpa(Q, K, V, mask=None):\n    out = []\n    for q in Q:\n"
    "        out.append(attend(q, K, V))\n    return stack(out)\n",
}


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


CLASS = {
    "ada/sdpa.py": ADA,
    "bob/sdpa.py": BOB,
    **{f"{who}/sdpa.py": text for who, text in OTHERS.items()},
}


def test_a_folder_in_the_terminal(grade) -> None:
    write(Path("in"), {**CLASS, "lee/notes.txt": "hello"})
    said = grade("similar", "in")
    assert said.code == 0
    assert said.out.splitlines() == [
        "sdpa: 4 files of 4 students",
        "  usual here: half of the pairs share at most 0 %, 95 % 0 %",
        "  right solutions written independently: half at most 3 %, 95 % 27 %, the highest 40 %",
        "by structure  first  second  of first  of second  longest  surprise  words",
        "1             ada    bob     100 %     100 %      52       28        0      stands out",
        "",
        "not compared: lee/notes.txt: this kind of file isn't graded",
        NOT_A_VERDICT,
    ]


def test_an_archive_with_pages_and_json(grade) -> None:
    with zipfile.ZipFile("in.zip", "w") as made:
        for name, text in CLASS.items():
            made.writestr(name, text)
    said = grade("similar", "in.zip", "--out", "alike", "--json")
    (exercise,) = said.json()["exercises"]
    (pair,) = exercise["pairs"]
    assert (pair["first"], pair["second"], pair["stands_out"]) == ("ada", "bob", True)
    names = {old: new for passage in pair["passages"] for old, new in passage["names"].items()}
    assert names["Q"] == "queries" and names["e"] == "weights" and names["V"] == "values"
    assert said.json()["answers"] is None
    assert sorted(p.name for p in Path("alike").rglob("*") if p.is_file()) == [
        "01-structure-001.html",
        "answers.csv",
        "index.html",
        "similar.csv",
    ]
    hidden = grade("similar", "in.zip", "--anonymous", "--out", "alike", "--json")
    assert hidden.json()["exercises"][0]["pairs"][0]["first"] == "Student 1"
    assert "ada" not in Path("alike/index.html").read_text("utf-8")


def test_one_item_for_all_files_even_one_that_the_bank_does_not_have(grade) -> None:
    write(Path("in"), {"ada.py": ADA, "bob.py": BOB})
    for item in ("sdpa", "own-task"):
        (exercise,) = grade("similar", "in", "--item", item, "--json").json()["exercises"]
        assert (exercise["item"], exercise["files"]) == (item, 2)
        assert exercise["pairs"][0]["of_first"] == 1.0
    Path("given.py").write_text(ADA, encoding="utf-8")
    (exercise,) = grade("similar", "in", "--item", "own-task", "--starter", "given.py", "--json").json()[
        "exercises"
    ]
    assert exercise["pairs"] == [], "all of it was given"


def test_an_earlier_year_is_compared_with_this_one_only(grade) -> None:
    write(Path("in"), {"ada/sdpa.py": ADA, "eve/sdpa.py": OTHERS["eve"]})
    write(Path("old"), {"bob/sdpa.py": BOB, "ada/sdpa.py": BOB})
    (exercise,) = grade("similar", "in", "--against", "old", "--json").json()["exercises"]
    found = {(pair["first"], pair["second"]) for pair in exercise["pairs"]}
    assert found == {("ada", "ada (earlier)"), ("ada", "bob (earlier)")}
    write(Path("named"), {"bob.py": BOB})
    (exercise,) = grade("similar", "in", "--item", "sdpa", "--against", "named", "--json").json()["exercises"]
    assert {pair["second"] for pair in exercise["pairs"]} == {"bob (earlier)"}


def test_files_of_several_notebooks_and_broken_ones(grade) -> None:
    def cell(source: str) -> dict[str, object]:
        return {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}

    notebook = {
        "cells": [cell("%matplotlib inline"), cell(BOB)],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    _, _, body = ADA.partition("    scores")
    files = {
        "ada/sdpa.py": ADA,
        "note/sdpa.ipynb": json.dumps(notebook),
        "bom/sdpa.py": "\ufeff" + ADA.replace("top", "größte"),
        "two/sdpa.py": "from part import weights\n\n\ndef sdpa(Q, K, V, mask=None):\n"
        "    return weights(Q, K, mask) @ V\n",
        "two/part.py": "import numpy as np\n\n\ndef weights(Q, K, mask):\n    scores"
        + body.replace(" @ V", ""),
        "broken/sdpa.py": ADA.replace("np.exp(scores - top)", "np.exp(scores - top"),
        "huge/sdpa.py": "x = 1\n" * 100_000,
        "deep/sdpa.py": "x = " + "(" * 3_000,
        "latin/sdpa.py": "",
        **{f"other{i}/sdpa.py": f"x = f({i}, 1, 2, 3)\n" for i in range(8)},  # or ada's would be usual
    }
    write(Path("in"), files)
    Path("in/latin/sdpa.py").write_bytes(b"# caf\xe9\n")
    document = grade("similar", "in", "--json").json()
    (exercise,) = document["exercises"]
    found = {
        frozenset((p["first"], p["second"])): max(p["of_first"], p["of_second"]) for p in exercise["pairs"]
    }
    for who in ("note", "bom", "two", "broken"):
        assert found[frozenset(("ada", who))] > 0.5, who
    assert [problem["where"] for problem in document["problems"]] == ["latin/sdpa.py"]


@pytest.fixture
def course(grade) -> Course:
    assert grade("init", "dl", "--title", "Deep Learning").code == 0
    rows = "".join(f"s{i:02},Student No {i}\n" for i in range(30))
    Path("dl/roster.csv").write_text(f"id,name\n{rows}", encoding="utf-8")
    plan = "title: Week\nsections:\n  - items: [softmax-weights, softmax-shift]\n"
    Path("dl/blueprints/week.yaml").write_text(plan, encoding="utf-8")
    assert grade("quiz", "new", "week", "--course", "dl").code == 0
    return Course.open(Path("dl"))


def stored_code(student: str, source: str, modules: dict[str, str] | None = None) -> Attempt:
    report = GradeReport("sdpa", "v1", Outcome.RIGHT, 10.0, 10.0, mode=Mode.MARKS)
    submission = CodeSubmission(source, "sdpa.py", f"{student}{hash(source)}", modules or {})
    return Attempt.of_code(student, submission, report, started=NOW)


def answered(quiz: Quiz, texts: dict[str, str]) -> list[Attempt]:
    found = []
    for question in quiz.questions:
        (part,) = question.variant.parts[:1]
        response = Response({part.id: texts.get(question.variant.item, "")})
        report = grade_answers(question.variant, response, mode=Mode.MARKS, student=quiz.student)
        found.append(Attempt.of_answer(quiz.student, question, response, report, quiz=quiz.id, started=NOW))
    return found


def test_a_course_with_code_and_answers(grade, course: Course) -> None:
    with course.open_store() as store:
        quizzes = {quiz.student: quiz for quiz in store.quizzes("week")}
        theirs = next(q for q in quizzes["s21"].questions if q.variant.item == "softmax-weights")
        key = right_response(theirs.variant.parts[0])
        store.record_all(answered(quizzes["s04"], {"softmax-weights": key}))
        store.record_all(answered(quizzes["s05"], {"softmax-weights": "[0.111, 0.222, 0.667]"}))
        for student, source in (("s01", ADA), ("s02", "x = 1"), ("s03", OTHERS["kim"])):
            store.record(stored_code(student, source))
        store.record(stored_code("s02", "from part import sdpa\n", {"part": BOB}))
        before = [attempt.report for attempt in store.attempts()]
    said = grade("similar", "--course", "dl")
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0] == "sdpa: 4 files of 3 students"
    assert any(line.startswith("1             Student No 1 (s01)  Student No 2 (s02)") for line in lines)
    at = lines.index("wrong answers that match a classmate's key: 2 compared")
    assert lines[at + 2].split("  ")[0] == "Student No 4 (s04)"
    assert "Student No 21 (s21)" in lines[at + 2] and key in lines[at + 2]
    with course.open_store() as store:
        assert [attempt.report for attempt in store.attempts()] == before, "nothing is stored"

    only = grade("similar", "sdpa", "--course", "dl", "--json").json()
    assert [e["item"] for e in only["exercises"]] == ["sdpa"] and only["answers"]["compared"] == 0
    answers = grade("similar", "softmax-weights", "--course", "dl", "--json", "--anonymous").json()
    assert answers["exercises"] == []
    (pair,) = answers["answers"]["pairs"]
    assert (pair["answered_by"], pair["key_of"]) == ("Student 1", "Student 2")
    assert grade("similar", "softmax", "--course", "dl").code == 0, "nothing was handed in for it"


def test_bad_input_is_told_in_one_line(grade) -> None:
    write(Path("in"), CLASS)
    for arguments, code, text in (
        (["similar"], 2, "there is no course here"),
        (["similar", "sdpa"], 2, "there is no course here"),
        (["similar", "nowhere"], 2, "there is neither an item nor a folder 'nowhere'"),
        (["similar", "--item", "sdpa"], 2, "--item says what all code in a folder is for"),
        (["similar", "in", "--against", "nowhere"], 2, "does not exist"),
        (["similar", "in", "--top", "0"], 2, "0 must be between 1 and 1000"),
        (["similar", "in", "--starter", "in"], 2, "is a directory"),
    ):
        said = grade(*arguments)
        assert (said.code, said.out) == (code, ""), arguments
        assert text in said.err, arguments
    Path("empty").mkdir()
    assert "nothing was handed in here" in grade("similar", "empty").err
    Path("taken").write_text("")
    said = grade("similar", "in", "--out", "taken")
    assert said.code == 3 and "the report can't be written" in said.err


def test_a_faulty_roster_only_takes_names_away(grade) -> None:
    assert grade("init", "c").code == 0
    Path("c/roster.csv").write_text("id,name\nada,Ada\nada,Bob\n", encoding="utf-8")
    said = grade("similar", "--course", "c")
    assert said.code == 0 and "roster" not in said.err
