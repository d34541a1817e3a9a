"""The benchmark of code grading: its table, its mixed class and its sums, without timing anything."""

from __future__ import annotations

import ast
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import yaml

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture(scope="module", autouse=True)
def scripts() -> Iterator[None]:
    """Let the scripts find each other, as when one of them is started."""
    sys.path.insert(0, str(BENCHMARKS))
    yield
    sys.path.remove(str(BENCHMARKS))


def script(name: str) -> ModuleType:
    return importlib.import_module(name)


# --- the known table ---


def test_the_class_is_ten_of_each_library_and_agrees_with_the_example() -> None:
    known = script("classes.table").read_class()
    assert len({handed.id for handed in known}) == 20
    assert sum(handed.torch for handed in known) == 10
    example = yaml.safe_load((ROOT / "examples/expected.yaml").read_text("utf-8"))
    for handed in known:
        student, item = handed.id.split("/")
        assert handed.outcome == example[student][item]["outcome"]


def test_the_table_names_checks_of_the_rubrics_in_their_order() -> None:
    """The rubrics may hold more: half precision, views and gradients are Softmark's own."""
    for item, checks in script("classes.table").known_checks().items():
        spec = yaml.safe_load((ROOT / f"problems/code/{item}/{item}.yaml").read_text("utf-8"))
        assert checks == [check["id"] for check in spec["answer"]["checks"] if check["id"] in checks]


def test_every_peer_runs_every_check_and_no_other() -> None:
    rounds = script("peers.rounds")
    for item, checks in script("classes.table").known_checks().items():
        for path in (f"for_pytest/test_{item}.py", f"for_gradescope/test_{item}.py", f"for_otter/{item}.py"):
            tree = ast.parse((BENCHMARKS / "peers" / path).read_text("utf-8"))
            named = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
            assert [rounds.check_id(name) for name in named if name.startswith("test_")] == checks, path


@pytest.fixture
def two(tmp_path: Path) -> tuple[object, ...]:
    ClassSubmission = script("classes.table").ClassSubmission
    right = ClassSubmission("a/x", tmp_path, "x", "right", False, frozenset())
    wrong = ClassSubmission(
        "b/x", tmp_path, "x", "partial", False, frozenset({"values"}), frozenset({"shape"})
    )
    return right, wrong


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ({"shape": "passed", "values": "passed"}, {"shape": "failed", "values": "failed"}, []),
        ({"shape": "passed", "values": "passed"}, {"shape": "passed", "values": "skipped"}, []),
        ({"shape": "passed", "values": "passed"}, {}, []),
        ({"shape": "passed"}, {}, ["a/x: values failed, known to have passed"]),
        (
            {"shape": "passed", "values": "skipped"},
            {},
            ["a/x: values skipped, known to have passed"],
        ),
        (
            {"shape": "passed", "values": "passed"},
            {"values": "passed"},
            ["b/x: values passed, known to have failed"],
        ),
        (
            {"shape": "passed", "values": "passed"},
            {"values": "engine_error"},
            ["b/x: values engine_error, known to have failed"],
        ),
    ],
)
def test_a_verdict_that_is_not_the_known_one_is_said(
    two: tuple[object, ...], right: dict[str, str], wrong: dict[str, str], said: list[str]
) -> None:
    assert script("classes.table").differences(two, [right, wrong], {"x": ["shape", "values"]}) == said


@pytest.mark.parametrize(
    "entry",
    [
        {"outcome": "right", "fails": ["values"]},
        {"outcome": "partial", "fails": []},
        {"outcome": "partial", "fails": ["no-such-check"]},
        {"outcome": "partial", "fails": ["values"], "open": ["values"]},
    ],
)
def test_a_table_that_contradicts_itself_is_refused(tmp_path: Path, entry: dict[str, object]) -> None:
    (tmp_path / "x.py").write_text("")
    table = {"checks": {"x": ["values"]}, "submissions": [{"file": "x.py", **entry}]}
    (tmp_path / "known.yaml").write_text(yaml.safe_dump(table))
    with pytest.raises(ValueError, match="x"):
        script("classes.table").read_class(tmp_path / "known.yaml", tmp_path)


# --- what peers write ---


def test_reports_of_the_peers_are_read(tmp_path: Path) -> None:
    rounds = script("peers.rounds")
    junit = tmp_path / "report.xml"
    junit.write_text(
        "<testsuites><testsuite><testcase name='test_perm_eq'/>"
        "<testcase name='test_sum1'><failure>no</failure></testcase></testsuite></testsuites>"
    )
    assert rounds.read_junit(junit) == {"perm-eq": "passed", "sum1": "failed"}
    assert rounds.read_junit(tmp_path / "none.xml") == {}
    results = tmp_path / "results.json"
    tests = [{"name": "test_perm_eq (test_softmax.TestSoftmax.test_perm_eq)", "status": "failed"}]
    results.write_text(json.dumps({"tests": tests}))
    assert rounds.read_gradescope(results) == {"perm-eq": "failed"}
    results.write_text("")
    assert rounds.read_gradescope(results) == {}


def test_the_shared_checks_pass_right_code_and_fail_wrong_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS / "peers"))
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    checks, softmax = script("checks"), script("checks.softmax")
    names = [name.replace("-", "_") for name in script("classes.table").known_checks()["softmax"]]

    def right(x: np.ndarray, axis: int = -1) -> np.ndarray:
        e = np.exp(x - x.max(axis=axis, keepdims=True))
        return np.asarray(e / e.sum(axis=axis, keepdims=True))

    def overflowing(x: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.asarray(np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True))

    def failed(function: object) -> set[str]:
        found = set()
        for name in names:
            try:
                getattr(softmax, name)(checks.Call(function))
            except AssertionError:
                found.add(name)
        return found

    assert failed(right) == set()
    assert failed(overflowing) == {"shift", "stable", "rows_apart"}
    assert failed(None) == set(names)


# --- the mixed class ---


def test_the_mixed_class_covers_every_exercise_and_no_two_files_are_equal() -> None:
    mixing = script("classes.mixing")
    exercises = mixing.read_exercises(ROOT / "problems/code")
    folders = {
        path.name for path in (ROOT / "problems/code").iterdir() if (path / f"{path.name}.yaml").exists()
    }
    assert {exercise.item for exercise in exercises} == folders
    programs = list(mixing.class_of(40 * len(exercises), exercises))
    assert len({program.source for program in programs}) == len(programs)
    assert {p.item for p in programs} == folders
    assert 2 * sum(p.right for p in programs) == len(programs)
    assert [p.source for p in mixing.class_of(40, exercises)] == [p.source for p in programs[:40]]
    for program in programs:
        compile(program.source, program.origin, "exec")


def test_a_renamed_function_does_what_it_did() -> None:
    source = "def f(x):\n    return x\n\n\ndef f_twice(x):\n    return f(x) + f(x)\n"
    space: dict[str, object] = {}
    exec(script("classes.mixing").renamed(source, "f_twice", "f"), space)
    assert space["f"](3) == 6  # type: ignore[operator]
    assert script("classes.mixing").renamed(source, "f", "f") == source


def test_no_exercise_is_no_class(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no code exercise"):
        script("classes.mixing").read_exercises(tmp_path)


def test_outcomes_that_are_not_the_known_ones_are_told() -> None:
    mixing, softmark = script("classes.mixing"), script("classes.softmark")
    right, wrong = mixing.Program("x", "solution", "", True), mixing.Program("x", "mutant", "", False)
    written = {"s1": right, "s2": wrong, "s3": wrong, "s4": right}
    found = softmark.surprises(written, {"s1": "right", "s2": "right", "s3": "partial"})
    assert found == ["x mutant (wrong): right", "x solution (right): not graded"]


# --- sums ---


def test_the_table_compares_with_the_fastest_peer() -> None:
    rows = {
        "slow": {"class": 40.0, "each": 2.0, "checks": 0.1},
        "fast": {"class": 20.0, "each": 1.0, "checks": 0.1},
        "Softmark T1, warm": {"class": 0.4, "each": 0.02},
    }
    lines = script("code_grading").compared(rows, ["slow", "fast"])
    assert lines[1].endswith("0.5 ×")
    assert lines[3].endswith("50.0 ×")
    assert lines[-1].endswith("50.0 ×, reached")
    rows["Softmark T1, warm"]["class"] = 1.0
    assert script("code_grading").compared(rows, ["slow", "fast"])[-1].endswith("NOT reached")
    assert len(script("code_grading").compared({"Softmark T1, warm": rows["Softmark T1, warm"]}, [])) == 2


def test_the_overhead_is_taken_submission_by_submission() -> None:
    found = {"softmark": [[0.010, 0.200, 0.030]], "fork": [[0.008, 0.190, 0.010]]}
    assert script("code_grading").overhead_ms(found, [0, 1, 2]) == pytest.approx(
        {"softmark": 30.0, "fork": 10.0, "overhead": 10.0}
    )


def test_stages_give_time_to_the_innermost_and_tell_the_explanation_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stages = script("classes.stages")
    ticks = iter([0.0, 1.0, 3.0, 4.0, 6.0, 7.0])
    monkeypatch.setattr(stages.time, "perf_counter", lambda: next(ticks))
    found = stages.Stages()
    with found.stage("explain"), found.stage("fork"):  # begins at 0 and at 1, ends at 3 and at 4
        pass
    with found.stage("fork"):  # from 6 to 7
        pass
    assert dict(found.seconds) == {"explain": 2.0, "explain: fork": 2.0, "fork": 1.0}


def test_every_stage_is_found_in_this_version_and_put_back() -> None:
    import engine.code.grade

    before = engine.code.grade.judge_all
    found = script("classes.stages").Stages()
    with found.watched():
        assert engine.code.grade.judge_all is not before
    assert engine.code.grade.judge_all is before
    assert found.missing == []


def test_options_say_what_is_run() -> None:
    parse = script("code_grading").parse_options
    assert (parse([]).rounds, parse([]).submissions, parse([]).parts) == (
        5,
        1000,
        ["class-of-20", "overhead", "mixed"],
    )
    assert (parse(["--quick"]).rounds, parse(["--quick"]).submissions) == (1, 4)
    assert parse(["--memory"]).parts == []
    assert parse(["--only", "mixed"]).parts == ["mixed"]
    assert script("code_grading")._steps("1000 250.5\nwarning: x\n2000 251.0\n") == [
        (1000, 250.5),
        (2000, 251.0),
    ]


def test_the_benchmark_of_paper_prints_exams_of_three_pages(tmp_path: Path) -> None:
    figures = script("paper").one_core(script("paper").SHORT, 1, tmp_path)
    assert figures["pages"] == 3
    assert 0 < figures["ms_source"] < figures["ms_an_exam"]
