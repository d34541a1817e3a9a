"""Files beside the submission: found by every kind of import, after every library, named in errors."""

from __future__ import annotations

import struct
import textwrap

import pytest

from engine.runner import Call, CallOutcome, CallStatus, Job, Limits, Runner, RunResult, WireArray
from engine.sandbox.replies import ChildDialogue, JobResults, Reply

PATIENT = Limits(wall_s=60.0, call_s=30.0, memory_mib=512)
ONE = WireArray("numpy", "float64", (1,), struct.pack("<d", 1.0))


def run(runner: Runner, source: str, *calls: Call, filename: str = "hand-in.py", **modules: str) -> RunResult:
    texts = {name: textwrap.dedent(text) for name, text in modules.items()}
    return runner.run(Job(textwrap.dedent(source), filename, calls, PATIENT, modules=texts))


def value(runner: Runner, source: str, **modules: str) -> object:
    result = run(runner, source, Call("f"), **modules)
    assert result.load.status is CallStatus.RETURNED, result.load
    (outcome,) = result.outcomes
    assert outcome.status is CallStatus.RETURNED, outcome
    return outcome.value


HELPERS = """
    from numbers_of_mine import TWO
    def double(x): return TWO * x
    _hidden = 3
"""
NUMBERS = "TWO = 2"


@pytest.mark.parametrize(
    "source",
    [
        "import helpers\ndef f(): return helpers.double(21)",
        "import helpers as h\ndef f(): return h.double(21)",
        "from helpers import double\ndef f(): return double(21)",
        "from helpers import *\ndef f(): return double(21)",
        "from .helpers import double as d\ndef f(): return d(21)",
        "from . import helpers\ndef f(): return helpers.double(21)",
        "def f():\n    from helpers import double\n    return double(21)",
        "import helpers, numbers_of_mine\ndef f(): return helpers.double(21) * (helpers.TWO == 2)",
    ],
)
def test_every_kind_of_import_finds_them(any_runner: Runner, source: str) -> None:
    assert value(any_runner, source, helpers=HELPERS, numbers_of_mine=NUMBERS) == 42


def test_relative_imports_between_them_share_one_module(any_runner: Runner) -> None:
    first = """
        from .state import seen
        import state
        def add():
            seen.append(1)
            return seen is state.seen
    """
    source = """
        import state, first
        from . import first as again
        def f(): return first.add(), again.add(), len(state.seen)
    """
    assert value(any_runner, source, first=first, state="seen = []") == (True, True, 2)


def test_no_file_shadows_a_library(any_runner: Runner) -> None:
    fake = "raise SystemExit('mine')\n"
    source = """
        import random, numpy, torch, math
        from statistics import mean
        def f(): return mean([1.0, 3.0]), math.sqrt(4.0), float(torch.ones(2).sum()), type(random).__name__
    """
    names = ("random", "numpy", "torch", "math", "statistics", "typing", "sys")
    assert value(any_runner, source, **dict.fromkeys(names, fake)) == (2.0, 2.0, 2.0, "module")


@pytest.mark.parametrize("name", ["child", "submission", "wire", "calls", "tests"])
def test_names_of_our_own_parts_are_free(any_runner: Runner, name: str) -> None:
    assert value(any_runner, f"from {name} import g\ndef f(): return g()", **{name: "def g(): return 7"}) == 7


def test_an_error_within_one_names_its_file_and_line(any_runner: Runner) -> None:
    helpers = """\
        def fail(x):
            y = x + 1
            return y[5]
    """
    source = "import numpy as np\nfrom helpers import fail\ndef f(x): return fail(x)\ndef g(x): return x[7]\n"
    result = run(any_runner, source, Call("f", (ONE,)), Call("g", (ONE,)), helpers=helpers)
    first, second = (outcome.exception for outcome in result.outcomes)
    assert first is not None and (first.type, first.file, first.line) == ("IndexError", "helpers.py", 3)
    assert second is not None and (second.type, second.file, second.line) == ("IndexError", None, 4)


@pytest.mark.parametrize(
    ("helpers", "kind", "text", "file", "line"),
    [
        ("x = 1\ndef g(:\n", "SyntaxError", "invalid syntax", "helpers.py", 2),
        ("x = 1\n\ny = 1 / 0\n", "ZeroDivisionError", "division by zero", "helpers.py", 3),
        ("g = 1\nimport nowhere\n", "ModuleNotFoundError", "No module named 'nowhere'", "helpers.py", 2),
        ("h = 1\n", "ImportError", "cannot import name 'g' from 'helpers' (helpers.py)", None, 2),
    ],
)
def test_what_fails_in_one_is_told_and_the_rest_is_loaded(
    any_runner: Runner, helpers: str, kind: str, text: str, file: str | None, line: int
) -> None:
    source = "import math\nfrom helpers import g\ndef f(): return 1\n"
    result = run(any_runner, source, Call("f"), helpers=helpers)
    told = result.failed[0]
    assert told.type == kind and text in told.text
    assert (told.file, told.line) == (file, line)
    assert result.load.status is CallStatus.RETURNED and result.outcomes[0].value == 1


def test_circular_imports_work_where_python_lets_them_and_are_told_where_not(any_runner: Runner) -> None:
    first, second = "import second\ndef a(): return second.b()", "import first\ndef b(): return 5"
    assert value(any_runner, "import first\ndef f(): return first.a()", first=first, second=second) == 5
    (told,) = run(
        any_runner, "import first", first="from second import b\na = 1", second="from first import a\nb = 2"
    ).failed
    assert told.type == "ImportError" and "cannot import name 'a' from" in told.text
    assert (told.file, told.line) == ("second.py", 1)


def test_a_module_with_the_submissions_own_source_is_the_submission(any_runner: Runner) -> None:
    source = textwrap.dedent("""
        import helpers
        loads = []
        loads.append(1)
        def f(): return helpers.count()
    """)
    helpers = "import softmax\ndef count(): return len(softmax.loads)"
    assert value(any_runner, source, helpers=helpers, softmax=source) == 1


def test_each_job_has_its_own(any_runner: Runner) -> None:
    source = "from helpers import g\ndef f(): return g"
    assert value(any_runner, source, helpers="g = 1") == 1
    assert value(any_runner, source, helpers="g = 2") == 2
    (told,) = run(any_runner, source).failed
    assert told.text == "No module named 'helpers'"


def test_a_helper_can_use_torch_where_the_submission_does_not(any_runner: Runner) -> None:
    helpers = "import torch\ndef total(n): return float(torch.ones(n).sum())"
    assert value(any_runner, "from helpers import total\ndef f(): return total(3)", helpers=helpers) == 3.0


# the trusted runner registers no modules, so our own files use neither
@pytest.mark.parametrize("any_runner", ["T3"], indirect=True)
def test_dataclasses_and_sources_of_helpers_are_found(any_runner: Runner) -> None:
    helpers = """
        from __future__ import annotations
        import inspect
        from dataclasses import dataclass
        @dataclass
        class Pair:
            a: int
            b: int = 2
        def text(): return inspect.getsource(Pair).splitlines()[1].strip()
    """
    source = "from helpers import Pair, text\ndef f(): return Pair(1).b, text()"
    assert value(any_runner, source, helpers=helpers) == (2, "class Pair:")


def test_a_name_that_was_not_handed_in_is_no_place(any_runner: Runner) -> None:
    source = """
        def f():
            exec(compile("1 / 0", "other.py", "exec"))
    """
    told = run(any_runner, source, Call("f"), helpers="").outcomes[0].exception
    assert told is not None and (told.file, told.line) == (None, 3)


def test_a_child_that_makes_up_a_file_name_is_not_believed() -> None:
    from engine.runner import ExceptionInfo

    lie = CallOutcome(CallStatus.RAISED, exception=ExceptionInfo("ValueError", "no", 3, "secret-0.73.py"))
    dialogue = ChildDialogue(0, 1, 100)
    dialogue.load, dialogue.replies[0] = CallOutcome(CallStatus.RETURNED), Reply(0, lie, 0)
    results = JobResults(Job("", "f.py", (Call("f"),), modules={"helpers": ""}), "T1")
    results.merge(dialogue, None)
    assert results.finish(b"").outcomes[0].exception == ExceptionInfo("ValueError", "no")
