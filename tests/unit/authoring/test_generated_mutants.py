"""Wrong programs made from right ones: what the operators make, and what trying them says."""

from __future__ import annotations

import ast
import shutil
import time
from collections import Counter
from pathlib import Path

import pytest

from engine.authoring.mutation.edits import header, splice, whole_number
from engine.authoring.mutation.generated import generated_mutants
from engine.authoring.mutation.operators import OPERATORS
from engine.authoring.mutation.survey import MutantSurvey, matches, survey_mutants
from engine.authoring.mutation.trials import STOPPED, TrialJob, try_programs
from engine.code import exercise_of, load_exercise
from engine.items import EquivalentSpec, builtin_bank, builtin_root, item_version, load_spec

SEED = (b"lint 1",)


def after(source: str, function: str = "f") -> dict[str, list[str]]:
    """Return what the operators make of a source: by operator, the changed statements."""
    made: dict[str, list[str]] = {}
    for mutant in generated_mutants({"solution.py": source}, function):
        made.setdefault(mutant.id.split(":")[1], []).append(mutant.after)
    return made


def of_return(expression: str, head: str = "import numpy as np\n") -> dict[str, list[str]]:
    made = after(f"{head}def f(x, y):\n    return {expression}\n")
    return {name: [text.removeprefix("return ") for text in texts] for name, texts in made.items()}


@pytest.mark.parametrize(
    ("operator", "expression", "expected"),
    [
        ("axis", "np.sum(x, axis=-1)", {"np.sum(x, axis=0)", "np.sum(x, axis=-2)", "np.sum(x)"}),
        ("keepdims", "x.max(keepdims=True)", {"x.max(keepdims=False)"}),
        ("transposition", "x.T", {"x"}),
        ("transposition", "np.swapaxes(x, 1, 2)", {"x"}),
        ("transposition", "x.swapaxes(1, 2)", {"x"}),
        ("scale", "x / y", {"x", "x / y / y", "x * y"}),
        ("scale", "np.sqrt(x)", {"x"}),
        ("swap", "g(x, y)", {"g(y, x)"}),
        ("swap", "x - y", {"y - x"}),
        ("swap", "[x, y]", {"[y, x]"}),
        ("polarity", "~x", {"x"}),
        ("polarity", "x <= y", {"x < y", "x >= y"}),
        ("polarity", "np.where(x, 1.0, y)", {"np.where(~x, 1.0, y)"}),
        ("condition", "x if y else 0", {"x", "0", "x if True else 0", "x if False else 0"}),
        ("condition", "x and y", {"x", "y", "x or y"}),
        ("reduction", "x.max()", {"x.min()", "x.mean()", "x.sum()"}),
        ("function", "np.exp(x)", {"x", "np.exp2(x)"}),
        ("sign", "-x", {"x"}),
        ("sign", "x + y", {"x - y", "x", "y"}),
        ("product", "x @ y", {"x * y"}),
        ("off-by-one", "x[3]", {"x[4]", "x[2]"}),
        ("off-by-one", "list(range(x))", {"list(range(x + 1))", "list(range(x - 1))", "list(range(1, x))"}),
        ("off-by-one", "np.tri(x)", {"np.tri(x, k=1)", "np.tri(x, k=-1)"}),
        ("broadcast", "x[:, None]", {"x", "x[None, :]"}),
        ("name", "x", {"y"}),
    ],
)
def test_each_operator_changes_what_it_is_for(operator: str, expression: str, expected: set[str]) -> None:
    assert set(of_return(expression)[operator]) == expected


def test_statements_are_left_out_computed_in_place_and_rounded() -> None:
    source = (
        "def f(x, m):\n    y = x - m.max()\n    y = y * 2\n    for _ in y:\n        break\n    return y\n"
    )
    made = after(source)
    assert made["missing"] == ["pass", "pass"]  # the first y is needed, the second and the break aren't
    assert (
        made["in-place"] == ["m -= 1"] if False else made.get("in-place") is None
    )  # x isn't used as an array
    made = after("def f(x):\n    y = x - x.max()\n    return y, x\n")
    assert made["in-place"] == ["x -= x.max(); y = x"]
    assert "x = x.astype('float32'); y = x - x.max()" in made["dtype"]
    assert "return (y, x.astype('float64'))" in made["dtype"]


def test_torch_has_its_own_words() -> None:
    head = "import torch\n"
    assert (
        "x.float()" in of_return("x.exp()", head)["dtype"][0]
        or "x.exp().float()" in of_return("x.exp()", head)["dtype"]
    )
    made = after("import torch\ndef f(x):\n    return x.masked_fill(x > 0, 0.0)\n")
    assert made["in-place"] == ["return x.masked_fill_(x > 0, 0.0)"]
    assert set(of_return("torch.triu(x)", head)["off-by-one"]) == {
        "torch.triu(x, diagonal=1)",
        "torch.triu(x, diagonal=-1)",
    }


def test_a_change_keeps_the_rest_of_the_text_and_what_binds_more_strongly() -> None:
    source = 'def f(a, b):\n    """Ä."""\n    return 2 / (a + b)  # why\n'
    mutants = generated_mutants({"s.py": source}, "f")
    texts = {mutant.source for mutant in mutants}
    assert 'def f(a, b):\n    """Ä."""\n    return (a + b) / 2  # why\n' in texts
    assert 'def f(a, b):\n    """Ä."""\n    return 2 / (a - b)  # why\n' in texts
    assert all('"""Ä."""' in text and "# why" in text for text in texts if "/ 2" in text)


def test_what_an_error_says_is_not_changed() -> None:
    source = "def f(n):\n    if n < 1:\n        raise ValueError(f'n is {n - 1}')\n    return n\n"
    assert all("ValueError(f'n is {n - 1}')" in m.source for m in generated_mutants({"s.py": source}, "f"))


@pytest.mark.slow
def test_every_mutant_of_the_bank_parses_differs_and_has_an_id_of_its_own() -> None:
    bank = builtin_bank()
    operators: Counter[str] = Counter()
    for item in bank.code_ids():
        exercise = exercise_of(bank, item)
        mutants = generated_mutants(exercise.solutions, exercise.function)
        originals = {name: ast.dump(ast.parse(text)) for name, text in exercise.solutions.items()}
        trees = [(m.file, ast.dump(ast.parse(m.source))) for m in mutants]
        assert len(set(trees)) == len(trees)
        assert all(tree != originals[file] for file, tree in trees)
        assert len({m.id for m in mutants}) == len(mutants) >= 20
        assert all(m.diff() and m.before != m.after for m in mutants)
        operators.update(m.id.split(":")[1] for m in mutants)
    assert set(operators) == {operator.name for operator in OPERATORS}


def test_a_header_is_one_line_and_a_number_keeps_its_sign() -> None:
    loop, branch = ast.parse("for i in x:\n    pass\n").body[0], ast.parse("if x: y = 1\nelse: z = 2").body[0]
    assert header(loop) == "for i in x:"
    assert header(branch) == "if x:"
    assert whole_number(ast.parse("-3", mode="eval").body) == -3
    assert whole_number(ast.parse("True", mode="eval").body) is None
    (statement,) = ast.parse("é = a + b").body
    assert isinstance(statement, ast.Assign)
    assert splice("é = a + b", statement.value, "c") == "é = c"


def test_a_declaration_finds_its_mutant_by_the_statement_and_not_by_the_line() -> None:
    def entry(line: str, becomes: str, file: str | None = None) -> EquivalentSpec:
        return EquivalentSpec(file=file, line=line, becomes=(becomes,), because="It is right.")

    source = (
        "import numpy as np\n\n\ndef f(x):\n    if x.ndim == 0:\n        return x\n    return x['a'] + 1\n"
    )
    mutants = {m.after: m for m in generated_mutants({"s.py": source}, "f")}
    plus = mutants["return x['a'] + 2"]
    assert matches(entry('return x["a"]+1', "return x['a'] + 2"), plus)
    assert matches(entry('return x["a"]+1', "return x['a'] + 2", "s.py"), plus)
    assert not matches(entry('return x["a"]+1', "return x['a'] + 2", "other.py"), plus)
    assert not matches(entry("return x", "return x['a'] + 2"), plus)
    assert matches(entry("if x.ndim == 0:", "if True:"), mutants["if True:"])


@pytest.fixture
def exercise_folder(tmp_path: Path) -> Path:
    """A copy of the exercise softmax-vjp that a test may spoil."""
    return Path(shutil.copytree(builtin_root() / "code" / "softmax-vjp", tmp_path / "softmax-vjp"))


def survey(folder: Path, *edits: tuple[str, str], seconds: float = 100) -> MutantSurvey:
    path = folder / f"{folder.name}.yaml"
    text = path.read_text(encoding="utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")
    spec = load_spec(path)
    exercise = load_exercise(spec, folder, item_version(spec, path))
    return survey_mutants(spec, folder, exercise, SEED, seconds=seconds)


@pytest.mark.slow
def test_a_rubric_kills_all_but_what_is_declared(exercise_folder: Path) -> None:
    result = survey(exercise_folder)
    assert result.with_verdict("survives") == [] and result.untried == () and result.idle == ()
    killed = result.with_verdict("killed")
    assert len(killed) > 50 and all(entry.killed_by for entry in killed)
    assert all(entry.because for entry in result.with_verdict("equivalent"))


@pytest.mark.slow
def test_a_hole_and_a_stale_declaration_are_seen(exercise_folder: Path) -> None:
    path = exercise_folder / "softmax-vjp.yaml"
    stale = "  equivalent:\n    - {line: return w, becomes: [return g], because: It is right.}\n"
    before = "  equivalent:\n" if "  equivalent:\n" in path.read_text(encoding="utf-8") else "  mutants:\n"
    after = stale if before == "  equivalent:\n" else stale + before
    result = survey(exercise_folder, ("property: dtype", "property: shape"), (before, after))
    survivors = {entry.mutant.id.split(":")[1] for entry in result.with_verdict("survives")}
    assert survivors == {"dtype"}
    assert result.idle == (0,)


def test_what_there_is_no_time_for_is_counted(exercise_folder: Path) -> None:
    result = survey(exercise_folder, seconds=0)
    assert result.tried == () and len(result.untried) > 50
    assert result.idle == ()  # nobody knows yet


HANGING = {
    "loops": "def softmax_vjp(w, g):\n    while True:\n        pass\n",
    "hoards": "def softmax_vjp(w, g):\n    x = [0]\n    while True:\n        x = x * 4\n",
    "quits": "import os\n\n\ndef softmax_vjp(w, g):\n    os._exit(0)\n",
    "prints and reads": "def softmax_vjp(w, g):\n    print('!')\n    input()\n",
}


@pytest.mark.slow
def test_a_program_that_never_ends_is_stopped_and_the_next_is_tried(
    capfd: pytest.CaptureFixture[str],
) -> None:
    bank = builtin_bank()
    folder = bank.path("softmax-vjp").parent
    job = TrialJob(bank.load("softmax-vjp"), folder, bank.version("softmax-vjp"), SEED)
    right = (folder / "solution_numpy.py").read_text(encoding="utf-8")
    deadline = time.monotonic() + 300
    kills = dict(try_programs(job, [*HANGING.values(), right], deadline=deadline, children=1))
    assert kills[0] == kills[2] == (frozenset({STOPPED}),)
    assert all(kills[1]) and all(kills[3])
    assert kills[4] == (frozenset(),)
    assert capfd.readouterr() == ("", "")
