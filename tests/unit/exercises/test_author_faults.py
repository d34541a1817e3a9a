"""Whatever is wrong with an author's file has a message with file and line, and makes no mark."""

from __future__ import annotations

import re
import signal
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.authoring.lint.lint_items import lint_item
from engine.code import CodeExercise, freeze_plan
from engine.errors import EngineError, SpecError
from engine.items import builtin_bank, load_spec
from engine.model import GradeReport, Outcome, Verdict

Load = Callable[..., CodeExercise]
Grade = Callable[[CodeExercise, str], GradeReport]
LAST = 'exercise = Exercise({"x": array("... n d", scores()), "factor": array("d")}, relations=[doubled])'
RIGHT = "def scale_rows(x, factor):\n    return x * factor\n"


EDITS = """
exercise.py | @relation( | @relation(( | exercise.py:4 | this isn't Python:
exercise.py | import Exercise, | import Exersise, | exercise.py:2 | raised ImportError: cannot
exercise.py | exercise = Ex | exercises = Ex | exercise.py:1 | defines no exercise
exercise.py | exercise = Ex | exercise = len; Ex | exercise.py:1 | is of type builtin_function
exercise.py | exercise = Ex | raise SystemExit(0); Ex | exercise.py:8 | raised SystemExit: 0
exercise.py | ... n d | n ... d | exercise.py:8 | isn't the name of an axis
exercise.py | relations= | size_one=['m'], relations= | exercise.py:8 | no axis is called 'm'
exercise.py | relations= | size_long=['n'], relations= | exercise.py:8 | 'n' has no strategy under sizes
exercise.py | =[doubled] | =[doubled, doubled] | exercise.py:8 | two relations are called
exercise.py | =[doubled] | =[doubled.on('far')] | exercise.py:8 | no variation is called 'far'
exercise.py | =[doubled] | =[], returns='matrix' | exercise.py:8 | returns='matrix'
exercise.py | 2 * call.result) | 3 * call.result) | exercise.py:4 | itself breaks the relation
exercise.py | relations= | valid=lambda x, f: False, relations= | exercise.py:8 | false for all hidden inputs
exercise.py | relations= | valid=lambda x, f: x.ndim < 3, relations= | exercise.py:8 | with leading axes
exercise.py | relations= | valid=lambda x, f: x.size < 65, relations= | exercise.py:8 | inputs with n = 65
exercise.py | relations= | variations={'one': len}, relations= | exercise.py:8 | can't be called 'one'
exercise.py | relations= | variations={'a': lambda a: {'x': 1}}, relations= | exercise.py:8 | that don't fit
exercise.py | scores() | lambda values, shape: values.eighths(2, (2,)) | exercise.py:8 | hidden inputs gives
exercise.py | 2 * call.x) | call.y) | exercise.py:6 | the call has no argument 'y'
exercise.py | x=2 | z=2 | exercise.py:6 | has no argument 'z'
exercise.py | x=2 * call.x | x=call.x[:, :1] | exercise.py:4 | arguments don't fit:
exercise.py | scores() | lambda values, shape: 1 / 0 | exercise.py:8 | raised ZeroDivisionError
exercise.py | relations= | reference='none.py', relations= | exercise.py:8 | the folder has no none.py
exercise.py | relations= | returns=list('abcdef'), relations= | exercise.py:8 | instead of 6
solution.py | x * factor | x * facto | solution.py:2 | raised NameError
solution.py | x * factor | x * (factor | solution.py:2 | this isn't Python: '(' was never closed
solution.py | return x | x | exercise.py:8 | the reference returns NoneType, where real numbers are due
solution.py | x * factor | x * factor * 1j | exercise.py:8 | the reference returns complex128, where
solution.py | x * factor | 'x' | exercise.py:8 | where real numbers are due
exercise.py | relations= | valid=lambda x: True, relations= | exercise.py:8 | valid= can't be called with 2
exercise.py | =[doubled] | =[len] | exercise.py:8 | isn't made by @
exercise.py | ("Doubling x must double the result.") | ⏎ | exercise.py:4 | the sentence is missing
exercise.py | return call.close | call.close | exercise.py:4 | returns None, not True or False
exercise.py | relations= | variations={'a': {}}, relations= | exercise.py:8 | is not a callable
exercise.py | relations= | variations={'a': lambda a: a['x']}, relations= | exercise.py:8 | some of
exercise.py | relations= | variations={'a': lambda a: {'y': 1}}, relations= | exercise.py:8 | not {'y'
exercise.py | relations= | refuses={'a': lambda a, b: {}}, relations= | exercise.py:8 | 'a' can't
exercise.py | array("d") | array("d", 5) | exercise.py:8 | an array is written array('... n d')
exercise.py | array("d") | array(("d",)) | exercise.py:8 | an array is written array('... n d')
exercise.py | array("d") | 1e-5 | exercise.py:8 | a hypothesis strategy such as just(1e-05)
exercise.py | array("d") | array("e") | solution.py:2 | it was called with (
exercise.py | =[doubled] | =[sums_to_one("x")] | exercise.py:8 | 'sums-to-one' raised
solution.py | scale_rows | scale_row | solution.py:1 | defines no function scale_rows
solution.py | (x, factor) | (x) | solution.py:1 | takes fewer than 2
solution.py | * factor | * __import__('random').random() | exercise.py:8 | gives another result
yaml | (x, factor) | (x, scale) | yaml:12 | are x, factor; these are
yaml | y: doubled | y: tripled | yaml:17 | no property is called
yaml | signature: | examples: [{x: [[1]]}]⏎signature: | yaml:12 | factor: this argument is
yaml | signature: | examples: [{x: [[1, 2]], factor: [1]}]⏎signature: | yaml:12 | elsewhere 2
yaml | signature: | examples: [{x: [[1], []], factor: [1]}]⏎signature: | yaml:12 | fit: x:
yaml | signature: | examples: [{y: 1}]⏎signature: | yaml:12 | has no such argument
"""
"""File, text, what it becomes, where the fault is, words of its message."""


@pytest.mark.parametrize("edit", EDITS.strip().splitlines())
def test_a_fault_has_its_place(load: Load, edit: str) -> None:
    file, old, new, place, words = (cell.strip().replace("⏎", "\n  ") for cell in edit.split(" | "))
    with pytest.raises(SpecError) as caught:
        load((file.replace("yaml", "scale-rows.yaml"), old, new))
    (fault,) = caught.value.diagnostics
    assert words in fault.message
    assert f"{fault.file}:{fault.line}".endswith(place)


def test_a_kink_everywhere_is_named_with_what_to_do(load: Load) -> None:
    text = "    import numpy as np\n    return x * abs(np.sin(8 * np.pi * factor))"  # at every eighth
    with pytest.raises(SpecError) as caught:
        load(("solution.py", "    return x * factor", text))
    (fault,) = caught.value.diagnostics
    assert re.fullmatch(
        r"no gradient with respect to factor can be expected: where factor\[0\] is \S+, the reference has a "
        r"kink or a jump; leave factor out by gradients=\[…\], or let entries= stay away from such places",
        fault.message,
    )
    assert f"{fault.file}:{fault.line}".endswith("exercise.py:8")
    load(("exercise.py", "relations=", "gradients=['x'], relations="))


def test_a_relation_is_about_one_of_several_arrays(load: Load, grade: Grade) -> None:
    two = "returns=['big', 'small'], relations=["
    files = [
        ("exercise.py", "relations=[doubled]", two + "linear_in('x').of('small')]"),
        ("exercise.py", "import Exercise,", "import Exercise, linear_in,"),
        ("solution.py", "return x * factor", "return x * x, x * factor"),
    ]
    exercise = load(*files, ("scale-rows.yaml", "property: doubled", "property: linear-small"))
    assert grade(exercise, "def scale_rows(x, factor):\n    return x * x, x * factor\n").score == 3
    wrong = grade(exercise, "def scale_rows(x, factor):\n    return x * x, x * x * factor\n")
    assert "small: The result must be linear in x." in wrong.checks[-1].message
    with pytest.raises(SpecError, match="returns no 'tiny'"):
        load(("exercise.py", ".of('small')", ".of('tiny')"))
    with pytest.raises(SpecError, match=r"\.of\('NAME'\) says which"):
        load(("exercise.py", ".of('tiny')", ""))


def test_a_missing_file_is_a_fault_of_the_item(load: Load, folder: Path) -> None:
    (folder / "exercise.py").unlink()
    with pytest.raises(SpecError, match=r"there is no file exercise\.py beside this one"):
        load()


def test_a_file_that_is_mended_is_read_anew(load: Load) -> None:
    with pytest.raises(SpecError):
        load(("exercise.py", "2 * call.result)", "3 * call.result)"))
    assert load(("exercise.py", "3 * call.result)", "2 * call.result)")).inputs.argument_names == (
        "x",
        "factor",
    )


def test_a_plan_that_cannot_be_drawn_makes_no_mark(load: Load) -> None:
    """It works while the exercise is loaded, and fails for another seed."""
    entries = (
        "calls = []\n\ndef entries(values, shape):\n    calls.append(1)\n"
        "    return values.eighths(2, shape) if len(calls) < 40 else 1 / 0\n\n@relation"
    )
    exercise = load(("exercise.py", "@relation", entries), ("exercise.py", "scores())", "entries)"))
    words = r"(?s)the plan can't be drawn.*exercise\.py:\d+: .*ZeroDivisionError"
    with pytest.raises(EngineError, match=words):
        for seed in range(40):
            freeze_plan(exercise, bytes([seed]))


RAISES = textwrap.dedent("""
    @relation("Nothing may be found.")
    def doubled(call):
        if abs(call.result).max() > 1e6:
            raise LookupError("an author's oversight")
        return True
""")


def _relation(body: str) -> tuple[str, str, str]:
    text = (
        '@relation("Doubling x must double the result.")\ndef doubled(call):\n'
        "    return call.close(call.again(x=2 * call.x), 2 * call.result)\n"
    )
    return ("exercise.py", text, body)


def test_a_relation_that_raises_leaves_the_attempt_ungraded(load: Load, grade: Grade) -> None:
    exercise = load(_relation(RAISES))
    assert grade(exercise, RIGHT).score == 3
    report = grade(exercise, "def scale_rows(x, factor):\n    return 1e7 * x * factor\n")
    assert report.outcome is Outcome.UNGRADED, report.checks
    text = " ".join(report.notes)
    assert re.search(r"the relation doubled is at fault.*exercise\.py:\d+.*LookupError", text)


def test_a_relation_that_asks_by_the_result_is_found_out(load: Load, grade: Grade) -> None:
    body = (
        '@relation("Nothing changes.")\ndef doubled(call):\n'
        "    return call.close(call.again(x=call.x + (call.result - call.x * call.factor)), call.result)\n"
    )
    exercise = load(_relation(body))
    assert grade(exercise, RIGHT).score == 3
    report = grade(exercise, "def scale_rows(x, factor):\n    return x * factor + 1\n")
    assert report.outcome is Outcome.UNGRADED and "a call that depends on a result" in " ".join(report.notes)


def test_what_is_not_finite_never_reaches_an_authors_function(load: Load, grade: Grade) -> None:
    body = (
        '@relation("All is well.")\ndef doubled(call):\n'
        "    return bool((call.result == call.result).all()) or 1 / 0\n"
    )
    exercise = load(_relation(body))
    body = "    y = x * factor\n    y[0, 0] = np.nan\n    return y\n"
    source = f"import numpy as np\ndef scale_rows(x, factor):\n{body}"
    report = grade(exercise, source)
    (check,) = (check for check in report.checks if check.id == "doubled")
    assert check.verdict is Verdict.FAILED


def test_an_authors_file_cannot_write_into_arguments(load: Load) -> None:
    with pytest.raises(SpecError, match="read-only"):
        load(("exercise.py", "return call.close(", "call.x[0] = 1\n    return call.close("))


def test_what_an_authors_file_prints_is_no_output_of_the_command(
    load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    load(("exercise.py", "exercise = ", "print('a thought')\nexercise = "))
    out, err = capsys.readouterr()
    assert (out, err) == ("", "a thought\n")


def test_nothing_is_written_beside_the_file(load: Load, folder: Path) -> None:
    before = set(folder.rglob("*"))
    load()
    assert set(folder.rglob("*")) == before


@pytest.mark.parametrize("place", ["main thread", "beside another alarm", "a thread of a batch"])
def test_a_file_that_never_ends_is_interrupted_at_its_line(
    load: Load, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr("engine.code.exercise._LONGEST_S", 0.5)
    # The tests' limit is an alarm, too.
    if place == "main thread":
        signal.setitimer(signal.ITIMER_REAL, 0)
    elif place == "beside another alarm":
        signal.setitimer(signal.ITIMER_REAL, 120)
    edit = ("exercise.py", "exercise = ", "while True:\n    pass\nexercise = ")
    with pytest.raises(SpecError) as caught, ThreadPoolExecutor(1) as threads:
        threads.submit(load, edit).result() if place == "a thread of a batch" else load(edit)
    assert (signal.getitimer(signal.ITIMER_REAL)[0] > 0) is (place != "main thread")
    (fault,) = caught.value.diagnostics
    assert fault.line in (8, 9) and "TimeoutError: the file was still running after 0.5 s" in fault.message


def test_a_check_that_a_plan_never_tries_makes_no_mark(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    exercise = load()
    whole = exercise.inputs.plan(b"seed")
    groups = {key: group for key, group in whole.groups.items() if key != "doubled"}
    monkeypatch.setattr(type(exercise.inputs), "plan", lambda self, seed: replace(whole, groups=groups))
    with pytest.raises(EngineError, match="the plan of this seed never tries doubled"):
        freeze_plan(exercise, b"seed")


def test_lint_finds_plans_that_differ_for_one_seed(load: Load, folder: Path) -> None:
    new = "lambda values, shape: values.eighths(2, shape) + (next(turns) - 40) / 8)"
    turns = "import itertools\nturns = itertools.count()\n\n@relation"
    load(("exercise.py", "@relation", turns), ("exercise.py", "scores())", new))
    path = folder / "scale-rows.yaml"
    findings = [
        finding.message for finding in lint_item(load_spec(path), path, builtin_bank(), seeds=1).findings
    ]
    assert any("gives another plan when it is asked again with the same seed" in text for text in findings)


def _findings(folder: Path) -> str:
    path = folder / "scale-rows.yaml"
    return " ".join(f.message for f in lint_item(load_spec(path), path, builtin_bank(), seeds=1).findings)


def test_lint_says_which_input_a_solution_fails(load: Load, folder: Path) -> None:
    load(
        (
            "exercise.py",
            "relations=",
            "refuses={'none': lambda arguments: {'x': arguments['x'] * 0}}, relations=",
        ),
        ("scale-rows.yaml", "property: doubled", "property: refuses"),
    )
    assert re.search(
        r"doesn't pass check doubled: .* But scale_rows\(array of shape .* gave", _findings(folder)
    )


def test_lint_says_which_file_is_not_python(load: Load, folder: Path) -> None:
    (folder / "wrong.py").write_text("x = 1\ndef (", encoding="utf-8")
    (folder / "starter.py").write_text("x = ", encoding="utf-8")
    mutant = "  mutants: [{id: odd, file: wrong.py, killed_by: [values], feedback: Odd.}]\n"
    load(("scale-rows.yaml", "  checks:\n", f"{mutant}  checks:\n"))
    text = _findings(folder)
    assert "the mutant odd can't be loaded: " in text
    assert (
        "the starter file can't be loaded: Loading the file raised SyntaxError: invalid syntax (line 1)"
        in text
    )


def test_a_search_leaves_out_inputs_for_which_the_reference_raises(load: Load) -> None:
    picky = "if x.max() > 3.9:\n        raise IndexError\n    return x"
    inputs = load(
        ("exercise.py", "scores()", "scores(3)"),
        ("exercise.py", "2 * call.x", "call.x / 2"),
        ("exercise.py", "2 * call.result", "call.result / 2"),
        ("solution.py", "return x", picky),
    ).inputs
    assert inputs.is_valid_input((np.ones((2, 3)), np.ones(3)))
    assert not inputs.is_valid_input((4 * np.ones((2, 3)), np.ones(3)))


def test_a_search_leaves_out_inputs_for_which_the_reference_gives_no_number(load: Load) -> None:
    text = "import numpy as np\n    return np.sqrt(x + 4) * factor"
    inputs = load(("exercise.py", "2 * call.", "call."), ("solution.py", "return x * factor", text)).inputs
    assert inputs.is_valid_input((np.ones((2, 3)), np.ones(3)))
    assert not inputs.is_valid_input((-5 * np.ones((2, 3)), np.ones(3)))
