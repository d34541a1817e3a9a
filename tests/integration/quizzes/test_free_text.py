"""A question in words, from the blueprint to the gradebook: handed in, waiting, marked by a person, shown."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
import yaml

from engine.course import Course

COURSE = ("--course", "course")
PLAN = "title: W\nsections:\n- {items: [t-sum], points: 2}\n- {items: [t-words], points: 6}\n"
WORDS = """id: t-words
title: In words
source: {document: background}
difficulty: 2
bloom: understand
topics: [t-words]
stem: Explain why weights sum to 1.
answer:
  type: free_text
  max_words: 40
  rubric:
    - {id: softmax, title: the function, text: Names softmax., points: 1}
    - id: division
      title: what it does
      text: Says that it divides by the sum.
      points: 2
      levels: [{points: 2, text: Divides by the sum.}, {points: 1, text: Only that it scales.}]
  sample: Softmax divides each exponential by their sum.
hints: [Which function makes them?]
"""
TYPED = {"007": "Softmax: it divides\nby the sum.", "s2": "They are <b>probabilities</b>, =1+1."}


@pytest.fixture
def collected(classroom, grade):
    """A class that has handed in a quiz with a sum and a question in words, both sums right."""
    (classroom.folder / "problems" / "t-words.yaml").write_text(WORDS, encoding="utf-8")
    classroom.plan(PLAN)
    assert grade("quiz", "new", "week", *COURSE).code == 0
    for student, text in TYPED.items():
        Path("in", student).mkdir(parents=True)
        answers = {1: classroom.key(student, 1), 2: text}
        classroom.answer_file(student, answers, f"in/{student}/week.yaml")
    said = grade("batch", "in", *COURSE, "--out", "results")
    assert said.code == 0, said
    classroom.said = said.out
    return classroom


def the_id(grade, student: str) -> str:
    listed = json.loads(grade("mark", "answers", "week/t-words", "--all", "--json", *COURSE).out)
    return next(entry["id"] for entry in listed if entry["student"] == student)


def gradebook() -> dict[str, dict[str, str]]:
    with Path("results/gradebook.csv").open(encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def test_the_file_has_room_for_lines_and_any_sign(classroom, grade) -> None:
    (classroom.folder / "problems" / "t-words.yaml").write_text(WORDS, encoding="utf-8")
    classroom.plan(PLAN)
    assert grade("quiz", "new", "week", *COURSE).code == 0
    text = classroom.file("007").read_text(encoding="utf-8")
    assert "answer: |\n    \n" in text
    assert "marked by a person: the function (2 points) and what it does (4 points)" in " ".join(text.split())
    assert "Names softmax" not in text and "exponential" not in text
    filled = text.replace("answer: |\n    \n", 'answer: |\n    First: a # sign\n    - and "quotes"\n')
    Path("mine.yaml").write_text(filled, encoding="utf-8")
    said = grade("submit", "mine.yaml", *COURSE)
    assert (said.code, "A person marks question 2" in said.out) == (1, True), said
    with Course.open(classroom.folder).open_store() as store:
        (attempt,) = store.attempts(student="007", item="t-words")
    assert attempt.response.answers == {"answer": 'First: a # sign\n- and "quotes"\n'}


def test_a_batch_leaves_them_to_a_person_and_says_so(collected, grade) -> None:
    assert "2 answers wait to be marked by a person\n  next: grade mark answers" in collected.said
    assert "ungraded" not in collected.said
    assert gradebook()["007"]["total"] == "ungraded"
    page = Path("results/students/007.html").read_text(encoding="utf-8")
    assert "A person marks this." in page
    assert "machine" not in page and "Names softmax" not in page
    assert "To be marked by a person" in Path("results/index.html").read_text(encoding="utf-8")
    again = grade("batch", "in", *COURSE, "--out", "results")
    assert (again.code, "0 files graded, 2 kept from before" in again.out) == (0, True), again


def test_answers_are_listed_and_marked_one_by_one(collected, grade) -> None:
    listed = grade("mark", "answers", *COURSE)
    assert [line.split() for line in listed.out.splitlines()[1:2]] == [
        ["week/t-words", "In", "words", "2", "0"]
    ]
    blind = grade("mark", "answers", "week/t-words", "--blind", *COURSE).out
    assert "007" not in blind and "s2" not in blind
    name = the_id(grade, "007")
    shown = grade("mark", "answer", name, *COURSE).out
    for words in (
        "Explain why weights",
        "    by the sum.",
        "softmax (0, 0.5 or 1): Names",
        "2: Divides by the sum.",
    ):
        assert words in shown
    refused = grade("mark", "answer", name, "--points", "softmax=3", "--points", "division=2", *COURSE)
    assert (refused.code, "expected: 0, 0.5 or 1" in refused.err) == (2, True)
    marked = grade(
        "mark", "answer", name, "--points", "softmax=0.5", "--points", "division=2", "--remark",
        "softmax=say why", "--comment", "Good work.", "--save", "--by", "prof", *COURSE,
    )  # fmt: skip
    assert (marked.code, "2.5 of 3" in marked.out) == (0, True), marked
    assert collected.scores("007") == [("t-sum", 2.0, 1.0), ("t-words", 5.0, 1.0)]
    other = grade("mark", "answer", the_id(grade, "s2"), *COURSE).out
    assert "saved comment: Good work." in other
    assert grade("feedback", *COURSE, "--out", "pages").code == 0
    page = Path("pages/students/007.html").read_text(encoding="utf-8")
    for words in ("say why", "Good work.", "Divides by the sum.", "7 of 8"):
        assert words in re.sub("<[^>]*>", "", page)
    history = grade("regrade", "--history", "--student", "007", *COURSE).out
    assert "nothing was regraded yet" in history, "marks by rubric are no regrades"
    history = grade("regrade", "--history", "--student", "007", "--json", *COURSE).out
    assert "marked by its rubric" in history
    assert grade("mark", "answer", name, "--withdraw", *COURSE).code == 0
    assert collected.scores("007")[1] == ("t-words", None, 1.0)


def test_a_table_goes_out_and_comes_back(collected, grade) -> None:
    assert grade("mark", "export-answers", "week/t-words", "t.csv", *COURSE).code == 0
    text = Path("t.csv").read_text(encoding="utf-8-sig")
    assert "007" not in text and '"s2"' not in text
    rows = list(csv.reader(text.splitlines()))
    assert rows[0][5:] == ["softmax", "softmax comment", "division", "division comment", "comment"]
    assert rows[1][5] == "Names softmax. [0, 0.5 or 1]"
    rows[2][5:] = ["1", "", "1", "only scaled", "Fine."]
    rows[3][5] = "7"
    with Path("t.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows(rows)
    refused = grade("mark", "import-answers", "t.csv", *COURSE)
    assert (refused.code, "t.csv:4" in refused.err) == (2, True), refused
    stored = grade("mark", "import-answers", "t.csv", "--keep-going", *COURSE)
    assert (stored.code, stored.out) == (1, "1 stored, 0 were there already, 1 at fault, 1 still wait\n")
    again = grade("mark", "import-answers", "t.csv", "--keep-going", *COURSE)
    assert "0 stored, 1 were there already" in again.out
    typed = Path("t.csv").read_bytes()
    kept = grade("mark", "export-answers", "week/t-words", "t.csv", *COURSE)
    assert kept.code == 2 and "nothing is overwritten" in kept.err and Path("t.csv").read_bytes() == typed
    scores = sorted(collected.scores(student)[1][1] or 0 for student in TYPED)
    assert scores == [0, 4.0]


def test_a_gradebook_and_a_report_have_the_marks(collected, grade) -> None:
    for student in TYPED:
        assert grade("mark", "answer", the_id(grade, student), "--full", *COURSE).code == 0
    assert grade("batch", "in", *COURSE, "--out", "results").code == 0
    assert gradebook()["s2"]["week/t-words"] == "6"
    assert gradebook()["s2"]["total"] == "8"
    assert grade("report", *COURSE, "--out", "report").code == 0
    table = json.loads(grade("report", *COURSE, "--json").out)
    assert "t-words" in json.dumps(table)


def test_a_regrade_keeps_marks_unless_the_rubric_offers_other_points(collected, grade) -> None:
    assert grade("mark", "answer", the_id(grade, "007"), "--full", *COURSE).code == 0
    path = collected.folder / "problems" / "t-words.yaml"
    path.write_text(WORDS.replace("Names softmax.", "Names the softmax."), encoding="utf-8")
    said = grade("regrade", *COURSE, "--yes")
    assert "1 answer keeps the points that a person gave" in said.out, said
    assert collected.scores("007")[1] == ("t-words", 6.0, 1.0)
    path.write_text(
        WORDS.replace("text: Names softmax., points: 1", "text: Names it., points: 2"), encoding="utf-8"
    )
    said = grade("regrade", *COURSE, "--dry-run")
    assert "1 answer waits to be marked again, because the rubric offers other points now" in said.out
    assert "6 of 6" in said.out and "to be marked" in said.out
    assert "1 mark would go down and stays" in grade("regrade", *COURSE, "--dry-run", "--never-lower").out
    assert grade("regrade", *COURSE, "--yes").code == 0
    # The answer that waited has the new rubric too.
    for student in TYPED:
        assert "softmax (0, 0.5, 1, 1.5 or 2)" in grade("mark", "answer", the_id(grade, student), *COURSE).out


def test_everything_on_a_person_is_handed_out_and_erased(collected, grade) -> None:
    name = the_id(grade, "s2")
    assert grade("mark", "answer", name, "--full", "--comment", "seen", "--by", "prof", *COURSE).code == 0
    assert grade("store", "export-student", "s2", "--out", "s2.zip", *COURSE).code == 0
    import zipfile

    person = json.loads(zipfile.ZipFile("s2.zip").read("person.json"))
    (report,) = [row["report"] for row in person["attempts"] if row["item"] == "t-words"]
    (marks,) = report["marking"]
    assert (marks["points"], marks["comment"], marks["by"]) == (
        {"softmax": 1.0, "division": 2.0},
        "seen",
        "prof",
    )
    assert "exponential" not in json.dumps(person)
    assert grade("store", "erase-student", "s2", "--yes", *COURSE).code == 0
    assert "s2" not in grade("mark", "answers", "week/t-words", "--all", *COURSE).out


def test_taking_it_at_the_terminal(classroom, grade, typing) -> None:
    (classroom.folder / "problems" / "t-words.yaml").write_text(WORDS, encoding="utf-8")
    classroom.plan("title: W\nsections:\n- {items: [t-words], points: 6}\n")
    assert grade("quiz", "new", "week", *COURSE).code == 0
    typing("Softmax divides", "by the sum.", "", "y")
    said = grade("quiz", "take", str(classroom.file("007")), *COURSE)
    assert said.code == 0, said
    assert (
        "Total so far: 0 of 6 points\nA person marks question 1; the total is final after that." in said.out
    )
    answers = yaml.safe_load(classroom.file("007").read_text(encoding="utf-8"))["questions"][0]["answer"]
    assert answers == "Softmax divides\nby the sum.\n"


LONG = "word " * 41


def test_too_many_words_are_refused_where_they_can_be_shortened(classroom, grade, typing) -> None:
    (classroom.folder / "problems" / "t-words.yaml").write_text(WORDS, encoding="utf-8")
    classroom.plan(PLAN)
    assert grade("quiz", "new", "week", *COURSE).code == 0
    said = grade("submit", "t-words", "--answer", LONG, *COURSE)
    assert said.code == 2, said
    assert "this has 41 words" in said.out and "expected: at most 40 words" in said.out
    path = classroom.answer_file("007", {1: classroom.key("007", 1), 2: LONG}, "mine.yaml")
    said = grade("submit", str(path), *COURSE)
    assert (said.code, "Nothing was recorded" in said.out) == (2, True), said
    # At the terminal they are counted, and asked for again.
    classroom.plan("title: V\nsections:\n- {items: [t-words], points: 6}\n", "short")
    assert grade("quiz", "new", "short", *COURSE).code == 0
    typing(LONG, "", "Softmax divides.", "", "y")
    said = grade("quiz", "take", str(classroom.file("s2", "short")), *COURSE)
    assert "this has 41 words" in said.out and "  2 words, 38 left" in said.out
    assert "A person marks question 1" in said.out


def test_too_many_words_in_a_download_are_marked_and_the_marker_sees_them(classroom, grade) -> None:
    (classroom.folder / "problems" / "t-words.yaml").write_text(WORDS, encoding="utf-8")
    classroom.plan(PLAN)
    assert grade("quiz", "new", "week", *COURSE).code == 0
    Path("in/007").mkdir(parents=True)
    classroom.answer_file("007", {1: classroom.key("007", 1), 2: LONG}, "in/007/week.yaml")
    assert grade("batch", "in", *COURSE, "--out", "results").code == 0
    shown = grade("mark", "answer", the_id(grade, "007"), *COURSE).out
    assert "41 words, 1 too many" in shown


def test_it_is_drawn_only_where_a_section_asks_for_words(classroom, grade) -> None:
    (classroom.folder / "problems" / "t-words.yaml").write_text(WORDS, encoding="utf-8")
    classroom.plan("title: W\nsections:\n- {topics: [t-words], count: 1}\n")
    refused = grade("quiz", "new", "week", *COURSE)
    assert refused.code == 2
    classroom.plan("title: W\nsections:\n- {topics: [t-words], types: [free_text], count: 1}\n")
    assert grade("quiz", "new", "week", *COURSE).code == 0


def test_in_practice_the_sample_helps(classroom, grade) -> None:
    (classroom.folder / "problems" / "t-words.yaml").write_text(WORDS, encoding="utf-8")
    said = grade("submit", "t-words", "--answer", "Because of softmax.", *COURSE)
    assert (said.code, "to be marked" in said.out) == (0, True), said
    shown = grade("show", "t-words", "--solution", *COURSE).out
    assert "Softmax divides each exponential" in shown and "Names softmax." in shown
    assert "t-words" in grade("list", "--type", "free_text", *COURSE).out
