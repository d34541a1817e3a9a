"""``grade report`` from a course's store: what it prints, what it writes, what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.course import Course
from engine.model import Mode, Outcome, Verdict
from engine.store import open_store
from tests.unit.analysis.classes import choice, code, hand_in

# right answers to a, b and c of four students; cleo left b blank
ANSWERS = {
    "007": ("k", "k", "k"),
    "ada": ("k", "k", "w"),
    "cleo": ("k", "", "w"),
    "dan": ("w", "w", "w"),
}


@pytest.fixture
def course(grade) -> Course:
    made = Course.init(Path("c"), "Deep Learning")
    Path("c/roster.csv").write_text("id,name\n007,James\nada,Ada Lovelace\ncleo,Cleo\ndan,Dan\n")
    with made.open_store() as store:
        for at, (student, words) in enumerate(ANSWERS.items()):
            questions = [
                (choice(item, "k", {"w": "m-no-scale"}, turn=at), {"answer": said})
                for item, said in zip("abc", words, strict=True)
            ]
            hand_in(store, student, "week-1", questions)
        code(
            store, "ada", "softmax", {"loads": Verdict.PASSED, "values": Verdict.FAILED}, mistakes=["m-base2"]
        )
        code(store, "ada", "softmax", {"loads": Verdict.PASSED, "values": Verdict.PASSED}, minutes=9)
        code(store, "dan", "sdpa", {"loads": Verdict.PASSED}, outcome=Outcome.UNGRADED)
    return made


# totals 3 2 1 0: sd of the shares .43, of the totals 1.29; alpha 3/2 (1 - (1/4 + 1/3 + 1/4) / (5/3)) = .75,
# its interval with F(3, 6) at .975 and .025 = 6.60 and 1/14.73; standard error 1.29 √.25
# item-rest of a: .75 / √(.75 · 2.75), of b: 1 / √2; upper-lower of a: 1 - .08/1.08
EXPECTED = """\
Quiz week-1 (quiz:week-1): 4 students
  mean 50 %, sd 43 %, alpha 0.75 (-0.65 to 0.98), standard error 0.65 points
item  N  mean  95 %          item-rest  upper-lower  alpha without  flags
a     4  0.75  0.30 to 0.95  0.52       0.93         0.73
b     4  0.50  0.15 to 0.85  0.71       1.00         0.50
c     4  0.25  0.05 to 0.70  0.52       0.93         0.73
  4 students: intervals are wide, and single answers decide over correlations.

Code exercises (code): 1 student
  mean 50 %
item     N  mean  95 %          item-rest  upper-lower  alpha without  flags
softmax  1  0.50  0.05 to 0.95
  1 student: intervals are wide, and single answers decide over correlations.

no figure: code/sdpa: 1 not graded yet
misconception  students  in
m-no-scale     3 of 4    c, a, b
m-base2        1 of 1    softmax

"""


def test_a_small_class_in_the_terminal(grade, course: Course) -> None:
    said = grade("report", "--course", "c")
    assert (said.code, said.err) == (0, "")
    assert said.out == EXPECTED


def test_what_is_named_is_shown(grade, course: Course) -> None:
    whole = grade("report", "--course", "c", "--json").json()
    assert [test["id"] for test in whole["tests"]] == ["quiz:week-1", "code"]
    only = grade("report", "--course", "c", "--quiz", "week-1", "--item", "b", "--json").json()
    (test,) = only["tests"]
    assert [item["item"] for item in test["items"]] == ["b"]
    assert test["students"] == 4
    assert (test["items"][0]["blank"], test["items"][0]["mean_share"]) == (1, 0.5)
    (code_only,) = grade("report", "--course", "c", "--code", "--json").json()["tests"]
    assert code_only["items"][0]["diagnoses"] == {"m-base2": 1}
    assert grade("report", "--course", "c", "--code", "--json").json()["later_attempts_left_out"] == 1


def test_files_are_written_and_named(grade, course: Course) -> None:
    said = grade("report", "--course", "c", "--out", "r/deep", "--abilities")
    assert said.code == 0
    names = [
        "items.csv",
        "distractors.csv",
        "misconceptions.csv",
        "checks.csv",
        "report.json",
        "abilities.csv",
    ]
    assert said.out.endswith(
        "page: r/deep/index.html\n" + "".join(f"table: r/deep/{name}\n" for name in names)
    )
    assert {path.name for path in Path("r/deep").iterdir()} == {"index.html", *names}
    held = Path("r/deep/misconceptions.csv").read_text(encoding="utf-8")
    assert '"007"' not in held and '"ada","Ada Lovelace",1,1,"softmax"' in held
    assert "Ada Lovelace" in Path("r/deep/index.html").read_text(encoding="utf-8")


def test_hidden_names(grade, course: Course) -> None:
    said = grade("report", "--course", "c", "--anonymous", "--out", "r", "--json")
    assert said.code == 0
    for text in (said.out, *(path.read_text(encoding="utf-8") for path in Path("r").iterdir())):
        assert "Lovelace" not in text and "cleo" not in text
    assert said.json()["misconceptions"][0]["holders"][0] == {
        "student": "Student 1",
        "name": "",
        "times": 3,
        "chances": 3,
        "items": ["a", "b", "c"],
    }


def test_nothing_is_there_yet(grade) -> None:
    Course.init(Path("c"), "Deep Learning")
    said = grade("report", "--course", "c", "--out", "r")
    assert said.code == 0
    assert said.out.startswith("there is no graded first attempt to report on\npage: r/index.html\n")
    assert "There is no graded first attempt to report on." in Path("r/index.html").read_text()


def test_only_work_that_waits_for_its_mark(grade) -> None:
    made = Course.init(Path("c"), "Deep Learning")
    with made.open_store() as store:
        code(store, "ada", "softmax", {"loads": Verdict.PASSED}, outcome=Outcome.UNGRADED)
    said = grade("report", "--course", "c")
    assert said.out == (
        "there is no graded first attempt to report on\nno figure: code/softmax: 1 not graded yet\n"
    )


def test_practice_outside_a_course(grade, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(exist_ok=True)
    with open_store(tmp_path / "home" / "practice.db") as store:
        code(store, "me", "softmax", {"loads": Verdict.PASSED}, mode=Mode.PRACTICE)
        code(store, "me", "sdpa", {"loads": Verdict.PASSED})
    document = grade("report", "--json").json()
    assert (document["title"], document["mode"]) == ("Practice", "practice")
    assert [item["item"] for item in document["tests"][0]["items"]] == ["softmax"]
    assert any(sentence.startswith("This is practice") for sentence in document["limits"])


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--quiz", "week-2"], "no quiz of this name was drawn"),
        (["--item", "aa"], "nobody handed in anything for 'aa' there"),
        (["--quiz", "week-1", "--item", "softmx"], "nobody handed in anything for 'softmx' there"),
        (["--abilities"], "--abilities writes a file"),
    ],
)
def test_what_it_refuses(grade, course: Course, arguments: list[str], error: str) -> None:
    said = grade("report", "--course", "c", *arguments)
    assert said.code == 2
    assert said.err.startswith(f"error: {error}")


def test_a_roster_at_fault_costs_names_only(grade, course: Course) -> None:
    Path("c/roster.csv").write_text("id,name\nada,Ada Lovelace\ndan,Dan\ndan,Dana\n")
    said = grade("report", "--course", "c", "--json")
    assert said.code == 0
    assert any(h["name"] == "Ada Lovelace" for m in said.json()["misconceptions"] for h in m["holders"])
