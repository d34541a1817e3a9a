"""Several attempts in the terminal: falling credit, new variants, never more than the full marks."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from engine.pages.feedback import page_name

PLAN = """title: Week
credit: [1, 0.7, 0.4]
sections:
- {items: [t-sum], points: 2}
- {items: [t-pick], points: 1}
"""


@pytest.fixture
def week(classroom, grade):
    classroom.plan(PLAN)
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    return classroom


def test_a_later_attempt_earns_its_share(week, grade, typing) -> None:
    typing(week.wrong("007", 1), week.key("007", 2), "", "1", week.key("007", 1), "", "")
    said = grade("quiz", "take", week.file("007"))
    assert said.code == 0, said
    assert "attempt 2 of 3 · now at most 1.4 points" in said.out
    assert "Another attempt is possible: 1 (at most 1.4 points)" in said.out
    assert "This counts 70 % (attempt 2 of 3)." in said.out
    assert "Total: 2.4 of 3 points" in said.out
    assert week.scores("007") == [("t-sum", 0.0, 1.0), ("t-pick", 1.0, 1.0), ("t-sum", 1.4, 0.7)]


def test_a_number_keeps_its_variant_and_shows_the_last_answer(week, grade, typing) -> None:
    typing(week.wrong("007", 1), week.key("007", 2), "", "1", "=", "", "")
    said = grade("quiz", "take", week.file("007"))
    assert "last time: -1 (= repeats it)" in said.out
    assert len(week.variants("007", 1)) == 1
    # the same answer again is the same submission: no attempt is used
    assert [entry for entry in week.scores("007") if entry[0] == "t-sum"] == [("t-sum", 0.0, 1.0)]


def test_a_choice_gets_a_new_variant_for_each_attempt(week, grade, typing) -> None:
    typing(week.key("007", 1), week.wrong("007", 2), "", "2")
    grade("quiz", "take", week.file("007"))
    first, second = week.variants("007", 2)
    assert first.stem != second.stem
    written = yaml.safe_load(week.file("007").read_text(encoding="utf-8"))["questions"][1]
    assert written["retry"] == 1 and written["answer"] == ""
    assert written["stem"].split() == second.stem.plain.split()
    typing(week.key("007", 2, retry=1), "", "")
    said = grade("quiz", "take", week.file("007"))
    assert said.code == 0, said
    assert "Total: 2.7 of 3 points" in said.out


def test_nobody_chooses_among_variants_by_stopping(week, grade, typing) -> None:
    typing(week.key("007", 1), week.wrong("007", 2), "", "2")
    grade("quiz", "take", week.file("007"))
    # back to the first variant by hand, and another attempt asked for: the variant that waits comes again
    text = week.file("007").read_text(encoding="utf-8").replace("  retry: 1\n", "")
    week.file("007").write_text(text, encoding="utf-8")
    typing("", "2", "", "")
    said = grade("quiz", "take", week.file("007"))
    assert said.out.count("Question 2 of 2") == 2, "asked with the old variant, then with the one that waits"
    assert len(week.variants("007", 2)) == 2


def test_after_the_last_attempt_there_is_no_other(week, grade, typing) -> None:
    right = week.key("007", 2)
    typing("-1", right, "", "1", "-2", "", "1", "-3", "")
    said = grade("quiz", "take", week.file("007"))
    assert said.code == 1
    assert "1         3 of 3" in said.out
    assert said.out.count("Another attempt is possible") == 2
    assert [score for item, score, _ in week.scores("007") if item == "t-sum"] == [0.0, 0.0, 0.0]
    typing()
    again = grade("quiz", "take", week.file("007"))
    assert again.code == 1 and "Total: 1 of 3 points" in again.out


def test_a_blank_answer_uses_no_attempt(week, grade, typing) -> None:
    typing("", week.key("007", 2), "yes", "1", week.key("007", 1), "", "")
    said = grade("quiz", "take", week.file("007"))
    assert "Still open: question 1" in said.out
    assert "1         0 of 3    open    2" in said.out
    assert said.code == 0
    assert "Total: 3 of 3 points" in said.out


def test_a_choice_with_one_variant_is_asked_once(classroom, grade, typing) -> None:
    classroom.plan("title: W\ncredit: [1, 0.5]\nsections:\n- {items: [t-only]}\n")
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    typing(classroom.wrong("007", 1), "")
    said = grade("quiz", "take", classroom.file("007"))
    assert said.code == 1
    assert "Another attempt" not in said.out
    assert len(classroom.variants("007", 1)) == 1


def test_new_variants_for_all_where_the_plan_says_so(classroom, grade, typing) -> None:
    classroom.plan("title: W\nattempts: 2\nretry: new-variant\nsections:\n- {items: [t-sum]}\n")
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    typing("-1", "", "1")
    said = grade("quiz", "take", classroom.file("007"))
    assert "Every further attempt comes with a new variant." in said.out
    first, second = classroom.variants("007", 1)
    assert first.values != second.values


def test_files_handed_in_count_as_attempts_too(week, grade) -> None:
    right = {1: week.key("007", 1), 2: week.key("007", 2)}
    wrong = {1: "-1", 2: week.wrong("007", 2)}
    results = []
    for number, answers in enumerate((wrong, right, right)):
        path = week.answer_file("007", answers, f"{number}.yaml")
        results.append(grade("submit", path, "--course", "course", "--json").json())
    assert [result["score"] for result in results] == [0, 1.4, 1.4]
    # t-pick: the same options again are elimination, so that answer earns nothing and is no attempt
    assert [report["credit"] for report in results[1]["reports"]] == [0.7, 0.0]
    assert "answered before" in " ".join(results[1]["reports"][1]["notes"])
    assert results[2]["best"] == 1.4


def test_a_second_answer_to_the_same_options_is_said_to_earn_nothing(week, grade) -> None:
    for name, typed, pick in (("one", "-1", week.wrong("007", 2)), ("two", "-1", week.key("007", 2))):
        Path(name, "007").mkdir(parents=True)
        week.answer_file("007", {1: typed, 2: pick}, f"{name}/007/week.yaml")
    assert "earns nothing" not in grade("batch", "one", "--course", "course", "--out", "out").out
    shown = Path("out/students") / page_name("007")
    before = shown.read_text(encoding="utf-8")
    assert before.count("Attempts used: 1 of 3.") == 2 and "You gave another answer" not in before
    assert before.count("Another attempt needs new options.") == 1, "numbers can be worked out again"

    said = grade("batch", "two", "--course", "course", "--out", "out")
    assert said.code == 1
    assert "note: 007/week.yaml: the answer to question 2 earns nothing by the rules of the quiz" in said.out
    assert "next: the student's page says why" in said.out
    page = shown.read_text(encoding="utf-8")
    assert "You gave another answer" in page and f"<bdi>{week.key('007', 2)}</bdi>" in page
    assert "These options were answered before, so this earns nothing and is no attempt" in page
    assert page.count("Attempts used: 1 of 3.") == 2, "the same number again, and options a second time"
    assert "Files that weren't graded" not in page, "the file was graded, all of it"

    for count in range(2):
        week.answer_file("007", {1: f"-{count + 5}"}, "two/007/week.yaml")
        assert "earns nothing" not in grade("batch", "two", "--course", "course", "--out", "out").out
    week.answer_file("007", {1: week.key("007", 1)}, "two/007/week.yaml")
    said = grade("batch", "two", "--course", "course", "--out", "out", "--json")
    (problem,) = said.json()["problems"]
    assert problem["noted"] and not problem["partly"] and "question 1 earns nothing" in problem["message"]
    page = shown.read_text(encoding="utf-8")
    assert "Attempts used: 3 of 3." in page and "this is number 4: it earns nothing." in page


def test_a_file_of_a_variant_that_was_never_drawn_is_refused(week, grade) -> None:
    path = week.answer_file("007", {1: "3"}, "mine.yaml")
    path.write_text(path.read_text().replace("number: 2", "number: 2\n  retry: 5"))
    said = grade("submit", path, "--course", "course")
    assert said.code == 2 and "retry: 5" in said.err and "Traceback" not in said.err
    path.write_text(path.read_text().replace("retry: 5", "retry: x"))
    said = grade("submit", path, "--course", "course")
    assert said.code == 2 and "mine.yaml:" in said.err
    assert week.scores("007") == []


def test_attempts_of_one_student_are_nobody_elses(week, grade, typing) -> None:
    typing("-1", week.wrong("007", 2), "", "")
    grade("quiz", "take", week.file("007"))
    typing(week.key("s2", 1), week.key("s2", 2), "")
    said = grade("quiz", "take", week.file("s2"))
    assert said.code == 0 and "Total: 3 of 3 points" in said.out


def test_what_is_typed_at_the_offers_may_be_nonsense(week, grade, typing) -> None:
    right = week.key("007", 2)
    typing("-1", right, "maybe", "9", "", "7", "x", "1 2", "")
    said = grade("quiz", "take", week.file("007"))
    assert said.code == 1
    assert "'maybe' is neither yes, no nor a question" in said.out
    assert said.out.count("please type some of 1") == 3


def test_an_answer_can_be_changed_before_it_is_handed_in(week, grade, typing) -> None:
    typing("-1", week.key("007", 2), "1", week.key("007", 1), "")
    said = grade("quiz", "take", week.file("007"))
    assert said.code == 0, said
    assert len(week.scores("007")) == 2


def test_practice_in_a_course_counts_nothing_there(week, grade, typing) -> None:
    typing("1", "a", "")
    said = grade("quiz", "take", "week", "--course", "course")
    assert "This is practice: it doesn't count." in said.out
    assert week.scores("me") == []
    assert Path("week-me.yaml").is_file()
    typing("", "")
    again = grade("quiz", "take", "week-me.yaml", "--course", "course")
    assert again.code in (0, 1) and "This is practice" in again.out
    assert week.scores("me") == []
