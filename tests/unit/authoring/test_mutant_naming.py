"""``grade mutants``: what it lists, and that naming a mutant writes all of it or nothing, with a message."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.authoring.mutation import naming
from engine.authoring.mutation.generated import GeneratedMutant, generated_mutants
from engine.authoring.mutation.naming import killers_to_name, with_entry
from engine.authoring.mutation.survey import TriedMutant
from engine.authoring.mutation.trials import STOPPED
from engine.commands import run
from engine.errors import UsageError
from engine.items import CodeAnswer, load_spec
from tests.unit.exercises.conftest import FILES

SWAPPED = "solution:scale:2:12"  # returns x alone: the values are wrong, doubling holds
LISTED = """  mutants:
    - id: m-old
      file: mutants/old.py
      killed_by: [values]
      feedback: It is old.
  # the last line
"""
Grade = Callable[..., tuple[int, str, str]]


@pytest.fixture
def grade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Call ``grade mutants scale-rows/scale-rows.yaml`` beside that folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOFTMARK_HOME", str(tmp_path / "home"))
    (tmp_path / "scale-rows" / "mutants").mkdir(parents=True)
    for name, text in FILES.items():
        (tmp_path / "scale-rows" / name).write_text(text, encoding="utf-8")
    (tmp_path / "scale-rows/mutants/old.py").write_text("def scale_rows(x, factor):\n    return x\n")

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(["mutants", "scale-rows/scale-rows.yaml", *arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return call


def rewrite(old: str, new: str) -> None:
    path = Path("scale-rows/scale-rows.yaml")
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def files() -> dict[str, bytes]:
    return {
        str(path): path.read_bytes() for path in sorted(Path().rglob("scale-rows/**/*")) if path.is_file()
    }


def refusal(grade: Grade, *arguments: str) -> str:
    """Return the message of a call that must end with exit code 2 and change nothing."""
    before = files()
    code, out, err = grade(*arguments)
    assert (code, out) == (2, "") and files() == before
    return err


FLOW = "  mutants: [{id: m-old, file: mutants/old.py, killed_by: [values], feedback: Old.}]\n"
REFUSED = {
    "name": (["--name", "Bad Name"], "--name can't be used", "got: 'Bad Name'"),
    "name with a line end": (["--name", "a\nb"], "--name can't be used", "expected: small letters, digits"),
    "name in use": (["--name", "m-old"], "there is a mutant m-old already", "next: choose another --name"),
    "no feedback": (["--name", "m-a", "--feedback", ""], "must read something", "next: add --feedback TEXT"),
    "two lines": (["--name", "m-a", "--feedback", "a\nb"], "--feedback can't be used", "expected: one line"),
    "long": (["--name", "m-a", "--feedback", "a" * 1001], "--feedback can't be used", "1 to 1,000"),
    "feedback alone": (["--feedback", "Hm."], "--feedback goes with --name", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_used_is_refused(case: str, grade: Grade) -> None:
    rewrite("  checks:\n", LISTED + "  checks:\n")
    arguments, what, more = REFUSED[case]
    feedback = [] if "--feedback" in arguments else ["--feedback", "Hm."]
    message = refusal(grade, SWAPPED, *arguments, *feedback)
    assert what in message and more in message


def test_a_name_goes_with_one_mutant(grade: Grade) -> None:
    message = refusal(grade, "--name", "m-a", "--feedback", "Hm.")
    assert "--name goes with one mutant" in message and "grade mutants ITEM MUTANT --name ID" in message


def test_a_mutant_that_nobody_made_is_refused_with_the_nearest(grade: Grade) -> None:
    message = refusal(grade, "solution:scale:2:21")
    assert "scale-rows has no generated mutant solution:scale:2:21" in message and SWAPPED in message
    assert "next: grade mutants scale-rows/scale-rows.yaml lists them" in message


def test_no_exercise_that_comes_with_the_program_is_changed(
    grade: Grade, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["mutants", "softmax", "solution_numpy:keepdims:5:19", "--name", "m-a"]) == 2
    message = capsys.readouterr().err
    assert "this exercise comes with Softmark" in message and "next: copy its folder" in message


def test_a_file_of_the_name_stays(grade: Grade) -> None:
    Path("scale-rows/mutants/m_a.py").write_text("mine")
    message = refusal(grade, SWAPPED, "--name", "m-a", "--feedback", "Hm.")
    assert "scale-rows/mutants/m_a.py: a file of this name exists, and nothing is overwritten" in message


def test_a_survivor_has_no_check_that_could_be_named(grade: Grade) -> None:
    message = refusal(grade, "solution:dtype:2:5", "--name", "m-a", "--feedback", "Hm.")
    assert "solution:dtype:2:5 passes every check" in message and "declare it under equivalent" in message


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("  checks:\n", FLOW + "  checks:\n", "mutants"),
        (FILES["scale-rows.yaml"].split("answer:")[1], "", "answer"),
    ],
)
def test_into_brackets_nothing_is_inserted(old: str, new: str, key: str, grade: Grade) -> None:
    flow = ""
    if key == "answer":
        flow = (
            " {type: code, function: scale_rows, signature: 'scale_rows(x, factor)', "
            "solutions: [solution.py], checks: [{id: values, property: values, points: 1}]}\n"
        )
    rewrite(old, new + flow)
    message = refusal(grade, SWAPPED, "--name", "m-a", "--feedback", "Hm.")
    assert f"scale-rows.yaml: {key} is written in brackets" in message and "on lines of its own" in message


@pytest.mark.parametrize("place", ["mutants", "scale-rows.yaml"])
def test_what_cannot_be_written_leaves_everything_as_it_was(
    place: str, grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(naming, "create_all" if place == "mutants" else "_replace", refuse)
    message = refusal(grade, SWAPPED, "--name", "m-a", "--feedback", "Hm.")
    assert "can't be written" in message and "got: Permission denied" in message
    assert f"scale-rows/{place}" in message and "next: check that" in message


def test_an_entry_that_makes_the_file_unreadable_is_taken_back(
    grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(naming, "with_entry", lambda text, lines, where: text + "\n: [")
    message = refusal(grade, SWAPPED, "--name", "m-a", "--feedback", "Hm.")
    assert "the entry can't be written" in message


@pytest.mark.parametrize("listed", [LISTED, ""], ids=["behind others", "first"])
def test_a_named_mutant_is_an_entry_and_a_file(listed: str, grade: Grade) -> None:
    if listed:
        rewrite("  checks:\n", listed + "  checks:\n")
    before = Path("scale-rows/scale-rows.yaml").read_text(encoding="utf-8")
    code, out, _ = grade(SWAPPED, "--name", "m-a", "--feedback", "Say “why”.", "--json")
    assert code == 0
    assert json.loads(out) == {
        "file": "scale-rows/mutants/m_a.py", "killed_by": ["values"], "reference_only": True
    }  # fmt: skip
    assert Path("scale-rows/mutants/m_a.py").read_text() == "def scale_rows(x, factor):\n    return x\n"
    answer = load_spec(Path("scale-rows/scale-rows.yaml")).answer
    assert isinstance(answer, CodeAnswer)
    entry = answer.mutants[-1]
    assert (entry.id, entry.killed_by, entry.feedback) == ("m-a", ("values",), "Say “why”.")
    after = Path("scale-rows/scale-rows.yaml").read_text(encoding="utf-8")
    assert [line for line in before.splitlines() if line not in after.splitlines()] == []


def test_the_line_ends_of_the_problem_file_stay(grade: Grade) -> None:
    path = Path("scale-rows/scale-rows.yaml")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    before = path.read_bytes()
    assert grade(SWAPPED, "--name", "m-a", "--feedback", "Hm.")[0] == 0
    after = path.read_bytes()
    assert after.startswith(before) and after.count(b"\n") == after.count(b"\r\n") == before.count(b"\n") + 5


def test_mutants_are_listed_by_verdict(grade: Grade) -> None:
    code, out, _ = grade("--only", "survives", "--json")
    listed = json.loads(out)
    assert code == 0 and listed["not_tried"] == 0
    survivors = {entry["id"]: entry for entry in listed["mutants"]}
    assert set(survivors) == {"solution:dtype:2:5", "solution:dtype:2:5:2"}
    first = survivors["solution:dtype:2:5"]
    assert (first["verdict"], first["file"], first["because"]) == ("survives", "solution.py", None)
    assert first["becomes"] == "return (x * factor).astype('float32')"
    assert first["diff"] == ["-     return x * factor", f"+     {first['becomes']}"]
    code, out, _ = grade("--only", "killed")
    lines = out.splitlines()
    assert code == 0 and "9 generated mutants: 7 killed, 0 declared equivalent, 2 not" in lines
    assert any(SWAPPED in line and "killed" in line for line in lines) and "survives" not in out
    assert grade("--only", "equivalent")[1].startswith("9 generated mutants: 7 killed")
    assert grade("--only", "dead")[0] == 2


def test_one_mutant_is_shown_with_its_difference(grade: Grade) -> None:
    code, out, _ = grade(SWAPPED)
    assert code == 0
    assert out.splitlines()[:3] == [f"{SWAPPED}: killed", "-     return x * factor", "+     return x"]
    assert "plan 1: values" in out
    assert json.loads(grade(SWAPPED, "--json")[1])["killed_by"][0] == ["values"]


def _tried(*kills: set[str]) -> TriedMutant:
    mutant: GeneratedMutant = generated_mutants({"solution.py": FILES["solution.py"]}, "scale_rows")[0]
    return TriedMutant(mutant, tuple(map(frozenset, kills)))


def test_only_checks_that_fail_on_every_plan_are_named_laws_before_comparisons() -> None:
    rubric = ["shape", "values", "a", "b", "c", "d"]
    every = _tried(set(rubric), {"values", "a", "b", "c", "d"})
    assert killers_to_name(every, frozenset({"values"}), rubric) == ["a", "b", "c"]
    assert killers_to_name(_tried({"values", "a"}, {"values"}), frozenset({"values"}), rubric) == ["values"]
    with pytest.raises(UsageError, match="is noticed by no check of the rubric for sure") as caught:
        killers_to_name(_tried({"a"}, {"b"}), frozenset(), rubric)
    assert caught.value.got == "killed by a, b"
    with pytest.raises(UsageError, match="was stopped"):
        killers_to_name(_tried({STOPPED}), frozenset(), rubric)


def test_an_entry_keeps_line_ends_and_a_last_line_without_one() -> None:
    text = "answer:\r\n  mutants:\r\n    - id: a"
    assert with_entry(text, ["- id: b"], "f") == text + "\r\n    - id: b\r\n"
    text = "answer:\n  type: code # why\n"
    assert with_entry(text, ["- id: b"], "f") == text + "  mutants:\n    - id: b\n"
