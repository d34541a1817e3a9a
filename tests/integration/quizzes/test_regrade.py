"""``grade regrade``: an item is corrected after the class was graded."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.course import Course

PLAN = "title: W\nsections:\n- {items: [t-sum, t-only], points: 2}\n"
COURSE = ("--course", "course")


def correct(classroom, item, before, after) -> None:
    path = classroom.folder / "problems" / f"{item}.yaml"
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


def collect(classroom, grade, name="in", out="results") -> None:
    assert grade("batch", name, *COURSE, "--out", out, "--json").code in (0, 1)


def hand_in(classroom, student, answers, folder="in") -> None:
    Path(folder, student).mkdir(parents=True, exist_ok=True)
    classroom.answer_file(student, answers, f"{folder}/{student}/week.yaml")


def values(classroom, student, number=1):
    drawn = classroom.variants(student, number)[0].values
    return tuple(int(drawn[name].entries[0]) for name in "ab")


@pytest.fixture
def marked(classroom, grade):
    """A class marked with a faulty key: a - b where the item asks for the sum."""
    correct(classroom, "t-sum", "key: a + b", "key: a - b + 0")
    correct(classroom, "t-sum", "expr: a - b,", "expr: a + b,")
    classroom.plan(PLAN)
    assert grade("quiz", "new", "week", *COURSE).code == 0
    for student in ("007", "s2"):
        a, b = values(classroom, student)
        # 007 adds, as the item asks; s2 subtracts, as the faulty key does
        answer = str(a + b if student == "007" else a - b)
        hand_in(classroom, student, {1: answer, 2: classroom.key(student, 2)})
    collect(classroom, grade)
    correct(classroom, "t-sum", "key: a - b + 0", "key: a + b")
    correct(classroom, "t-sum", "expr: a + b,", "expr: a - b,")
    return classroom


def test_the_differences_are_shown_and_nothing_is_written(marked, grade) -> None:
    assert marked.scores("007") == [("t-sum", 0.0, 1.0), ("t-only", 2.0, 1.0)]
    said = grade("regrade", *COURSE, "--dry-run")
    assert said.code == 0, said
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    assert lines == [
        "student column was is now difference because",
        "007 week/t-sum 0 of 2 2 of 2 +2",
        "s2 week/t-sum 2 of 2 0 of 2 -2 m-difference",
        "",
        "2 marks change, 0 stay the same, 2 were already marked with the current item",
        "2 drawn quizzes get the current keys",
        "nothing was written",
    ]
    assert marked.scores("007")[0] == ("t-sum", 0.0, 1.0)


def test_batch_says_that_a_regrade_is_due_until_it_is_done(marked, grade) -> None:
    def said() -> tuple[str, dict[str, int]]:
        told = grade("batch", "in", *COURSE, "--out", "results").out
        return told, grade("batch", "in", *COURSE, "--out", "results", "--json").json()["changed_items"]

    note = "t-sum has changed since 2 results were marked; they keep the marks they have"
    told, changed = said()
    assert f"note: {note}\n  next: grade regrade t-sum --dry-run" in told and changed == {"t-sum": 2}
    assert note in Path("results/index.html").read_text(encoding="utf-8")
    assert grade("regrade", "t-sum", *COURSE, "--yes").code == 0
    told, changed = said()
    assert "changed since" not in told and changed == {}
    assert "stand as they" not in Path("results/index.html").read_text(encoding="utf-8")


def test_marks_keys_and_history_are_written(marked, grade) -> None:
    said = grade("regrade", "t-sum", *COURSE, "--yes", "--by", "prof", "--cause", "wrong sign", "--json")
    assert said.code == 0, said
    told = said.json()
    assert [(c["student"], c["old"]["score"], c["new"]["score"]) for c in told["changes"]] == [
        ("007", 0.0, 2.0),
        ("s2", 2.0, 0.0),
    ]
    assert marked.scores("007") == [("t-sum", 2.0, 1.0), ("t-only", 2.0, 1.0)]
    assert marked.key("007", 1) == str(sum(values(marked, "007")))
    history = grade("regrade", *COURSE, "--history", "--json").json()
    assert [(h["student"], h["by"], h["cause"], h["run"]) for h in history] == [
        ("007", "prof", "wrong sign", told["run"]),
        ("s2", "prof", "wrong sign", told["run"]),
    ]
    assert history[0]["old"]["item_version"] != history[0]["new"]["item_version"]
    # once is enough
    again = grade("regrade", *COURSE, "--yes", "--json").json()
    assert (again["changes"], again["current"], again["run"]) == ([], 4, None)
    key = grade("quiz", "key", "week", "--student", "007", *COURSE, "--json").json()
    assert [q["item_changed_since"] for q in key[0]["questions"]] == [False, False]


def test_what_is_handed_in_later_is_marked_alike(marked, grade) -> None:
    assert grade("regrade", *COURSE, "--yes").code == 0
    a, b = values(marked, "s2")
    hand_in(marked, "s2", {1: str(a + b), 2: marked.key("s2", 2)}, "later")
    collect(marked, grade, "later")
    assert marked.scores("s2")[2] == ("t-sum", 2.0, 1.0)
    # and the same files again are no new attempts
    collect(marked, grade)
    assert len(marked.scores("s2")) == 3


def test_a_mark_by_hand_stands_above(marked, grade) -> None:
    from datetime import UTC, datetime

    from engine.store import HandMark

    with Course.open(marked.folder).open_store() as store:
        store.hand_marks.add(HandMark("s2", "week/t-sum", 1.5, False, "", "prof", datetime.now(UTC)))
    said = grade("regrade", *COURSE, "--dry-run")
    assert "a mark set by hand overrides it" in said.out
    assert [c["by_hand"] for c in grade("regrade", *COURSE, "--dry-run", "--json").json()["changes"]] == [
        False,
        True,
    ]


def test_credit_and_what_the_rules_said_stay(classroom, grade) -> None:
    correct(classroom, "t-sum", "key: a + b", "key: a + b + 1")
    classroom.plan("title: W\ncredit: [1, 0.5]\nsections:\n- {items: [t-sum], points: 2}\n")
    assert grade("quiz", "new", "week", *COURSE).code == 0
    a, b = values(classroom, "007")
    for turn, answer in enumerate((a + b + 5, a + b)):
        hand_in(classroom, "007", {1: str(answer)}, f"turn-{turn}")
        collect(classroom, grade, f"turn-{turn}")
    assert classroom.scores("007") == [("t-sum", 0.0, 1.0), ("t-sum", 0.0, 0.5)]
    correct(classroom, "t-sum", "key: a + b + 1", "key: a + b")
    assert grade("regrade", *COURSE, "--yes").code == 0
    assert classroom.scores("007") == [("t-sum", 0.0, 1.0), ("t-sum", 1.0, 0.5)]
    with Course.open(classroom.folder).open_store() as store:
        second = list(store.attempts(student="007"))[1]
    assert second.report.notes == ("This counts 50 % (attempt 2 of 2).",)


def test_an_answer_that_can_be_read_now_gets_its_credit(classroom, grade) -> None:
    correct(classroom, "t-sum", "decimals: 0", "decimals: 3")
    correct(classroom, "t-sum", "Give a whole number.", "Give 3 decimals.")
    classroom.plan("title: W\ncredit: [1, 0.5]\nsections:\n- {items: [t-sum], points: 2}\n")
    assert grade("quiz", "new", "week", *COURSE).code == 0
    a, b = values(classroom, "007")
    hand_in(classroom, "007", {1: f"{a + b},000"})  # a decimal comma, or thousands
    collect(classroom, grade)
    assert classroom.scores("007") == [("t-sum", None, 1.0)]
    correct(classroom, "t-sum", "decimals: 3", "decimals: 3, decimal_comma: true")
    assert grade("regrade", *COURSE, "--yes").code == 0
    assert classroom.scores("007") == [("t-sum", 2.0, 1.0)]


def test_what_has_no_key_any_more_is_listed_and_kept(marked, grade) -> None:
    correct(
        marked, "t-sum", "  b: {kind: integer", "  c: {kind: integer, range: [1, 9]}\n  b: {kind: integer"
    )
    said = grade("regrade", *COURSE, "--yes")
    assert said.code == 1
    assert "needs a person: 007 week/t-sum: the item draws c now, which this variant doesn't have" in said.out
    assert marked.scores("007")[0] == ("t-sum", 0.0, 1.0)


def test_an_item_that_is_gone_is_listed(marked, grade) -> None:
    (marked.folder / "problems/t-sum.yaml").unlink()
    said = grade("regrade", *COURSE, "--dry-run")
    assert said.code == 1
    assert "the bank has no item of this name any more" in said.out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--quiz", "weak"), "no quiz of this name was drawn"),
        (("--student", "nobody"), "nothing is stored about this student"),
        (("t-some",), "t-some"),
        ((), "nobody can be asked here"),
    ],
)
def test_wrong_use_is_told(marked, grade, options, told) -> None:
    said = grade("regrade", *options, *COURSE)
    assert said.code == 2
    assert told in said.err
    assert marked.scores("007")[0] == ("t-sum", 0.0, 1.0)


def test_an_item_with_faults_stops_before_anything_is_written(marked, grade) -> None:
    correct(marked, "t-sum", "key: a + b", "key: a +")
    said = grade("regrade", *COURSE, "--yes")
    assert said.code == 2
    assert "t-sum.yaml:" in said.err or "t-sum" in said.err
    assert marked.scores("007")[0] == ("t-sum", 0.0, 1.0)


def test_with_never_lower_nobody_loses_by_the_correction(marked, grade) -> None:
    assert marked.scores("s2") == [("t-sum", 2.0, 1.0), ("t-only", 2.0, 1.0)]
    said = grade("regrade", *COURSE, "--never-lower", "--yes")
    assert said.code == 0, said
    assert "1 mark would go down and stays as it is (--never-lower)" in said.out
    assert marked.scores("007") == [("t-sum", 2.0, 1.0), ("t-only", 2.0, 1.0)]
    assert marked.scores("s2") == [("t-sum", 2.0, 1.0), ("t-only", 2.0, 1.0)], "as it was"
