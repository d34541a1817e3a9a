"""``grade quiz check``: what a quiz will be like, before anybody gets it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

PLAN = "title: W\ncredit: [1, 0.5]\nsections:\n- {items: [t-sum], points: 2}\n- {items: [t-pick, t-only]}\n"


def test_the_table_tells_variants_keys_and_guessing(classroom, grade) -> None:
    classroom.plan(PLAN)
    said = grade("quiz", "check", "week", "--course", "course", "--students", "40")
    assert said.code == 1
    lines = {line.split()[0]: line.split() for line in said.out.splitlines() if line[:1].isdigit()}
    assert lines["1"][1:4] == ["t-sum", "number", "2"] and lines["1"][7:9] == ["0", "%"]
    assert int(lines["1"][5]) == 40, "forty students, forty variants"
    # one of four: first at full marks, else at half: 1/4 + 3/4 · 1/4 · 1/2
    assert lines["2"][7:9] == ["34.4", "%"]
    # one variant only, so it is asked once
    assert lines["3"][5:9] == ["1", "1", "25", "%"]
    share = (0 * 2 + 0.34375 + 0.25) / 4
    assert f"Guessing earns {100 * share:.1f} % of the points on average." in said.out
    assert "warning: question 3: all 40 students have the same variant (there is no other)" in said.out
    assert "warning: question 3: 2 attempts, but 1 variant: each variant is asked once" in said.out
    assert "\x1b" not in said.out


def test_it_is_the_draw_of_quiz_new_and_stores_nothing(classroom, grade) -> None:
    classroom.plan("title: W\nsections:\n- {count: 1, topics: [t-choices]}\n")
    before = sorted(str(path) for path in classroom.folder.rglob("*") if "store.db" not in path.name)
    document = grade("quiz", "check", "week", "--course", "course", "--json").json()
    assert document["students"] == 2, "the roster's"
    assert sorted(str(p) for p in classroom.folder.rglob("*") if "store.db" not in p.name) == before
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    (item,) = {q.variant.item for q in classroom.quiz("007").questions}
    assert document["questions"][0]["items"] == {item: 2}


def test_rules_that_do_nothing_for_files_are_said_in_a_course_and_are_no_warning(classroom, grade) -> None:
    head = "title: W\ncredit: [1, 0.5]\nhint_cost: 0.1\n"
    classroom.plan(f"{head}sections:\n- {{items: [t-sum]}}\n")
    for command in ("check", "new"):
        said = grade("quiz", command, "week", "--course", "course")
        assert said.code == 0
        assert (
            "note: `hint_cost` does nothing for students who fill in the file: hints are given in" in said.out
        )
        assert (
            "note: a new variant for a further attempt at a choice, an order, pairs or words is drawn in "
            "`grade quiz take` and on the site only" in said.out
        )
    classroom.plan("title: W\nsections:\n- {items: [t-sum]}\n", "free")
    for command in ("check", "new"):
        assert "note:" not in grade("quiz", command, "free", "--course", "course").out


def test_times_that_items_say_are_added_up(classroom, grade) -> None:
    path = classroom.folder / "problems/t-sum.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "minutes: 1.5\n", encoding="utf-8")
    classroom.plan("title: W\nsections:\n- {items: [t-sum]}\n")
    said = grade("quiz", "check", "week", "--course", "course")
    assert (said.code, said.out.count("warning")) == (0, 0)
    assert "Expected time: 1.5 minutes." in said.out
    classroom.plan(PLAN)
    said = grade("quiz", "check", "week", "--course", "course")
    assert "Expected time: unknown; the items of 2 of 3 questions don't say `minutes`." in said.out


def test_what_students_earned_before_is_shown(classroom, grade) -> None:
    classroom.plan(PLAN)
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    path = classroom.answer_file("007", {1: classroom.key("007", 1), 2: classroom.wrong("007", 2)}, "a.yaml")
    grade("submit", path, "--course", "course")
    document = grade("quiz", "check", "week", "--course", "course", "--json").json()
    assert [question["observed"] for question in document["questions"]] == [1, 0, 0]


WARNED = {
    "the deadline": "deadline: 2020-01-01T00:00Z\nsections:\n- {items: [t-sum]}\n",
    "t-only has no hints": "hint_cost: 0.1\nsections:\n- {items: [t-only]}\n",
    "t-only has no worked solution": "deadline: 2099-01-01T00:00Z\nsections:\n- {items: [t-only]}\n",
}


@pytest.mark.parametrize("words", WARNED)
def test_a_warning_for(classroom, grade, words: str) -> None:
    classroom.plan(f"title: W\n{WARNED[words]}")
    said = grade("quiz", "check", "week", "--course", "course")
    assert said.code == 1
    assert any(words in line for line in said.out.splitlines() if line.startswith("warning: "))


def test_drawn_items_about_a_lecture_are_named(classroom, grade) -> None:
    words = "to a lecture that students may not know"
    sections = "sections:\n- {items: [timeline], count: 3, topics: [history]}\n"
    for head, is_warned in (("", True), ("source: [S0, S1, S2, S3, S4]\n", False)):
        classroom.plan(f"title: W\n{head}{sections}")
        document = grade("quiz", "check", "week", "--course", "course", "--json").json()
        about = [warning for warning in document["warnings"] if words in warning]
        assert bool(about) == is_warned
        # a pinned item was chosen by somebody who has read it
        assert not any("timeline" in warning for warning in about)


def test_families_per_student_are_counted_and_compared(classroom, grade) -> None:
    hard = (classroom.folder / "problems/t-pick.yaml").read_text(encoding="utf-8")
    (classroom.folder / "problems/t-pick.yaml").write_text(hard.replace("difficulty: 2", "difficulty: 5"))
    classroom.plan(
        "title: W\nsections:\n- {count: 1, topics: [t-numbers, t-choices], points: 1, per_student: true}\n"
    )
    document = grade("quiz", "check", "week", "--course", "course", "--json", "--students", "60").json()
    (question,) = document["questions"]
    assert set(question["items"]) == {"t-sum", "t-pick", "t-only"}
    assert sum(question["items"].values()) == 60 and min(question["items"].values()) >= 8
    assert question["difficulty"] == {"least": 2, "mean": question["difficulty"]["mean"], "greatest": 5}
    assert document["difficulty_of_students"] == {"least": 2, "greatest": 5}
    assert any("differ in difficulty" in warning for warning in document["warnings"])


def test_families_per_student_share_a_column_of_the_gradebook(classroom, grade) -> None:
    classroom.plan(
        "title: W\nsections:\n- {count: 1, topics: [t-numbers, t-choices], points: 2, per_student: true}\n"
    )
    (classroom.folder / "roster.csv").write_text("id\n" + "".join(f"s{n}\n" for n in range(12)))
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    items = set()
    for number in range(12):
        student = f"s{number}"
        items.add(classroom.quiz(student).questions[0].variant.item)
        Path("in", student).mkdir(parents=True)
        classroom.answer_file(student, {1: classroom.key(student, 1)}, f"in/{student}/week.yaml")
    assert len(items) > 1
    assert grade("batch", "in", "--course", "course", "--out", "out").code == 0
    rows = Path("out/gradebook.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0] == '"student","name","week/question-1","total"'
    assert {row.split(",", 2)[2] for row in rows[1:]} == {"2,2"}


def test_a_blueprint_that_cannot_be_used(classroom, grade) -> None:
    classroom.plan("title: W\nsections:\n- {count: 3, topics: [t-numbers]}\n")
    said = grade("quiz", "check", "week", "--course", "course")
    assert said.code == 2 and "week.yaml:3:11" in said.err
    said = grade("quiz", "check", "week", "--course", "course", "--students", "0")
    assert said.code == 2
    assert grade("quiz", "check", "nope").code == 2


def test_every_builtin_blueprint_can_be_checked(grade) -> None:
    import problems

    for path in sorted((Path(problems.__file__).parent / "blueprints").glob("*.yaml")):
        document = grade("quiz", "check", path.stem, "--students", "3", "--json").json()
        assert document["points"] > 0 and len(document["questions"]) >= 3
        assert yaml.safe_load(path.read_text(encoding="utf-8"))["title"] == document["title"]


def test_code_exercises_of_a_quiz_are_listed_and_their_starters_written(classroom, grade) -> None:
    classroom.plan(PLAN.replace("title: W\n", "title: W\nexercises: [softmax]\n"))
    assert "Code exercise: softmax (10 points" in grade("quiz", "check", "week", "--course", "course").out
    said = grade("quiz", "new", "week", "--course", "course")
    assert said.code == 0
    folder = classroom.folder / "quizzes/week"
    starter = folder / "starters/softmax.py"
    there = Path("course/quizzes/week/starters")
    assert f"starters of the code exercises in {there}: softmax.py" in said.out
    assert "def softmax(" in starter.read_text(encoding="utf-8")
    page = (folder / "week-007.html").read_text(encoding="utf-8")
    assert "grade submit softmax FILE" in page
    filled = yaml.safe_load((folder / "week-007.yaml").read_text(encoding="utf-8"))
    assert [(e["item"], e["points"]) for e in filled["exercises"]] == [("softmax", 10)]
    path = classroom.answer_file("007", {1: classroom.key("007", 1)}, "a.yaml")
    assert grade("submit", path, "--course", "course").code in (0, 1), "the list doesn't disturb the way back"


def test_a_pinned_item_beyond_what_was_taught_is_warned_of(classroom, grade) -> None:
    classroom.plan("title: W\nneeds: [seq2seq]\nsections:\n- {items: [softmax-weights]}\n")
    said = grade("quiz", "check", "week", "--course", "course")
    assert said.code == 1
    assert "question 1: softmax-weights needs " in said.out


def test_a_time_limit_that_is_too_short_is_a_warning(classroom, grade) -> None:
    path = classroom.folder / "problems/t-sum.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "minutes: 20\n", encoding="utf-8")
    for limit, warned in ((15, True), (20, False)):
        classroom.plan(f"title: W\ntime_limit: {limit}\nsections:\n- {{items: [t-sum]}}\n")
        said = grade("quiz", "check", "week", "--course", "course")
        text = "the time limit is 15 minutes, and the questions take about 20 minutes"
        assert (text in said.out) is warned
        assert f"You have {limit} minutes from when you start" in said.out
