"""``grade hint``: one hint after the other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.sandbox import tiers

ROOT = Path(__file__).parents[2]
NO_SHIFT = """
import numpy as np

def softmax(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
"""


def test_hints_come_one_by_one_and_are_remembered(grade) -> None:
    first, second, third, after = (grade("hint", "softmax") for _ in range(4))
    assert first.out.startswith("Hint 1 of 3: Softmax doesn't change")
    assert first.out.splitlines()[1:] == ["  next: grade hint softmax"]
    assert second.out.startswith("Hint 2 of 3: ")
    assert third.out.startswith("Hint 3 of 3: ")
    assert third.out.splitlines()[1] == (
        "That was the last hint. The solution: grade show softmax --solution"
    )
    assert after.out.startswith("You have seen all 3 hints")
    assert "grade hint softmax --all" in after.out
    assert {said.code for said in (first, second, third, after)} == {0}
    # another item begins with its own first hint
    assert grade("hint", "sdpa").out.startswith("Hint 1 of ")


def test_the_last_step_leads_somewhere(grade) -> None:
    assert grade("show", "softmax", "--solution").code == 0


def test_all_and_reset(grade) -> None:
    told = grade("hint", "softmax", "--all", "--json").json()
    assert [hint["number"] for hint in told["hints"]] == [1, 2, 3]
    assert (told["item"], told["seen"], told["total"]) == ("softmax", 3, 3)
    assert grade("hint", "softmax", "--json").json()["hints"] == []
    assert grade("hint", "softmax", "--reset").out == "  next: grade hint softmax\n"
    assert grade("hint", "softmax", "--json").json()["hints"][0]["number"] == 1


def test_a_hint_of_a_variant_speaks_of_its_numbers_and_names_its_seed(grade) -> None:
    said = grade("hint", "softmax-weights", "--seed", 7)
    assert said.out.splitlines()[-1] == "  next: grade hint softmax-weights --seed 7"
    shown = grade("show", "softmax-weights", "--seed", 7, "--hints", "--json").json()
    assert said.out.splitlines()[0].endswith(shown["hints"][0])


def test_a_file_is_told_its_mistake_first(grade) -> None:
    Path("mine.py").write_text(NO_SHIFT)
    said = grade("hint", "softmax", "mine.py")
    lines = said.out.splitlines()
    assert said.code == 0
    assert lines[0].startswith("Your file: The exponential overflows here")
    assert lines[1].startswith("Hint 1 of 3: ")
    told = grade("hint", "softmax", "mine.py", "--json").json()
    assert told["hints"][0]["number"] == 2
    assert (told["report"]["verdict"], told["report"]["mode"]) == ("partial", "practice")


def test_a_right_file_uses_up_no_hint(grade) -> None:
    right = ROOT / "problems/code/softmax/solution_numpy.py"
    said = grade("hint", "softmax", right)
    assert said.out.splitlines() == ["Your file: every check passes, so there is nothing to correct."]
    assert grade("hint", "softmax").out.startswith("Hint 1 of 3")


def test_a_file_that_does_not_define_the_function_is_told_so(grade) -> None:
    Path("mine.py").write_text("def soft_max(x): return x\n")
    assert grade("hint", "softmax", "mine.py").out.startswith("Your file: The file doesn't define softmax(")


def test_without_a_sandbox_the_file_is_graded_with_a_notice(grade, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = tiers.MissingLayer("landlock", "this kernel has none", "use another")
    monkeypatch.setattr(tiers, "missing_layers", lambda tier: () if tier == "T3" else (missing,))
    Path("mine.py").write_text(NO_SHIFT)
    said = grade("hint", "softmax", "mine.py", "--json")
    assert said.json()["report"]["tier"] == "T3"
    assert said.err.startswith("note: no sandbox (tier T3)")
    assert said.err.count("\n") == 1


def test_a_course_keeps_the_record_of_its_own(grade) -> None:
    grade("init", "course")
    assert grade("hint", "softmax", "--course", "course").out.startswith("Hint 1")
    assert json.loads(Path("course/.softmark/hints.json").read_text()) == {"seen": {"softmax": 1}}
    assert grade("hint", "softmax").out.startswith("Hint 1")
    assert grade("hint", "softmax", "--course", "course").out.startswith("Hint 2")


def test_a_record_that_cannot_be_written_costs_no_hint(grade, monkeypatch: pytest.MonkeyPatch) -> None:
    import engine.practice.starter as hints

    def refuse(path: Path, text: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(hints, "replace_text", refuse)
    said = grade("hint", "softmax")
    assert said.code == 0
    assert said.out.startswith("Hint 1 of 3")
    assert "can't remember" in said.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("hint", "sofmax"), "did you mean softmax"),
        (("hint", "softmax", "missing.py"), "grade start softmax --to missing.py"),
        (("hint", "softmax", "."), "folder"),
        (("hint", "softmax-weights", "mine.py"), "asks for an answer"),
        (("hint", "softmax", "mine.txt"), ".py or .ipynb"),
        (("hint", "softmax", "latin.py"), "UTF-8"),
        (("hint", "softmax", "--reset", "--all"), "--reset is used by itself"),
        (("watch", "sofmax", "mine.py"), "did you mean softmax"),
        (("watch", "softmax", "missing.py"), "grade start softmax --to missing.py"),
        (("watch", "softmax", "."), "folder"),
        (("watch", "softmax", "mine.txt"), ".py or .ipynb"),
        (("watch", "softmax-weights", "mine.py"), "asks for an answer"),
        (("watch", "softmax", "mine.py", "--tier", "T9"), "T9"),
        (("watch", "softmax"), "name the file to watch"),
    ],
)
def test_bad_usage_is_told_with_the_way_out(grade, arguments: tuple[str, ...], words: str) -> None:
    Path("mine.py").write_text(NO_SHIFT)
    Path("mine.txt").write_text(NO_SHIFT)
    Path("latin.py").write_bytes(b"# na\xefve\n")
    said = grade(*arguments)
    assert said.code == 2
    assert words in said.err
    # a refusal uses up no hint
    assert grade("hint", "softmax").out.startswith("Hint 1 of 3")


def test_errors_come_as_json_where_json_was_asked_for(grade) -> None:
    said = grade("watch", "softmax", "missing.py", "--json")
    assert said.code == 2
    assert said.json()["error"]["where"] == "missing.py"
