"""What a runner gives back for honest and clumsy code, the same in every tier."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from engine import COMMON_PACKAGES
from engine.errors import EngineError, SandboxError
from engine.runner import (
    Call,
    CallStatus,
    Job,
    Limits,
    Runner,
    RunResult,
    StepFunction,
    WireArray,
)
from engine.sandbox import SandboxOptions, open_runner
from engine.sandbox.bwrap import find_layout, missing_packages, offer_packages
from engine.sandbox.tiers import missing_layers
from engine.sandbox.zygote_handle import ChildProcess, Zygote
from engine.sandbox.zygote_runner import SandboxRunner

# generous: a loaded machine is no reason to fail, and no test waits for these
PATIENT = Limits(wall_s=60.0, call_s=30.0, memory_mib=512)


def _available(tier: str) -> bool:
    return not missing_layers(tier)


TIERS = [
    pytest.param(tier, marks=pytest.mark.skipif(not _available(tier), reason=f"{tier} isn't possible here"))
    for tier in ("T1", "T2", "T3")
]


@pytest.fixture(scope="module", params=TIERS)
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    with open_runner(SandboxOptions(tier=request.param, unsafe_local=True)) as opened:
        yield opened


def leaf(*numbers: float, library: str = "numpy", dtype: str = "float64") -> WireArray:
    letter = {"float64": "d", "float32": "f"}[dtype]
    return WireArray(library, dtype, (len(numbers),), struct.pack(f"<{len(numbers)}{letter}", *numbers))


def run(runner: Runner, source: str, *calls: Call, limits: Limits = PATIENT, **more: Any) -> RunResult:
    return runner.run(Job(textwrap.dedent(source), "hand-in.py", calls, limits, **more))


def statuses(result: RunResult) -> list[str]:
    return [str(outcome.status) for outcome in result.outcomes]


def test_values_of_every_kind_come_back(runner: Runner) -> None:
    source = """
        import numpy as np, torch
        def double(x): return x * 2
        def tree(x): return {"a": (1, 2.5, None, True, "é"), "b": [np.float32(1.5), torch.tensor([2])]}
        def add(x, *, to): return x + to
    """
    calls = (
        Call("double", (leaf(1.0, 2.0),)),
        Call("double", (leaf(1.0, 2.0, library="torch", dtype="float32"),)),
        Call("tree", (None,)),
        Call("add", (leaf(1.0),), {"to": leaf(3.0)}),
    )
    result = run(runner, source, *calls, functions=("double", "nowhere", "tree"))
    assert result.load.status is CallStatus.RETURNED
    assert result.missing == ("nowhere",)
    assert result.tier == runner.tier
    values = [outcome.value for outcome in result.outcomes]
    assert values[0] == leaf(2.0, 4.0)
    assert values[1] == leaf(2.0, 4.0, library="torch", dtype="float32")
    assert values[2] == {
        "a": (1, 2.5, None, True, "é"),
        "b": [
            WireArray("numpy", "float32", (), struct.pack("<f", 1.5)),
            WireArray("torch", "int64", (1,), struct.pack("<q", 2)),
        ],
    }
    assert values[3] == leaf(4.0)


def test_arguments_come_back_as_they_are_afterwards(runner: Runner) -> None:
    source = """
        def spoil(x):
            x[0] = 9.0
    """
    spoiled = Call("spoil", (leaf(1.0, 2.0),), {}, True)
    fresh = Call("spoil", (leaf(1.0, 2.0),))
    first, second = run(runner, source, spoiled, fresh).outcomes
    assert first.arguments == (leaf(9.0, 2.0),)
    assert second.arguments is None


def test_a_table_becomes_a_function(runner: Runner) -> None:
    tokens = WireArray("numpy", "int64", (2, 1), struct.pack("<2q", -1, 4))
    chances = WireArray("numpy", "float64", (3, 2), struct.pack("<6d", 1.0, 0.0, 0.25, 0.75, 0.5, 0.5))
    step = StepFunction("step", tokens, chances)
    source = """
        def follow(step, s):
            first, s = step(int(9), s)
            first[0] = 7.0
            again, _ = step(9, ())
            second, s = step(4, s)
            other, s = step(4, s)
            return [again, second, other, s]
    """
    (outcome,) = run(runner, source, Call("follow", (step, ()))).outcomes
    assert outcome.value == [leaf(1.0, 0.0), leaf(0.25, 0.75), leaf(0.5, 0.5), (9, 4, 4)]


def test_one_bad_call_leaves_the_others(runner: Runner) -> None:
    source = """
        import os, sys, ctypes
        import numpy as np
        def f(what):
            if what == "raise": raise ValueError("nö")
            if what == "exit": sys.exit(3)
            if what == "interrupt": raise KeyboardInterrupt
            if what == "leave": os._exit(0)
            if what == "crash": ctypes.string_at(0)
            if what == "deep": return f(what)
            if what == "memory": return np.ones(10**11)
            if what == "generator": return (i for i in range(3))
            if what == "large": return np.zeros(10**6)
            return what
    """
    words = [
        "ok",
        "raise",
        "exit",
        "interrupt",
        "leave",
        "ok",
        "crash",
        "deep",
        "memory",
        "generator",
        "large",
        "ok",
    ]
    limits = Limits(wall_s=60.0, call_s=30.0, memory_mib=512, output_bytes=10**6)
    outcomes = run(runner, source, *(Call("f", (word,)) for word in words), limits=limits).outcomes
    by_word = dict(zip(words, outcomes, strict=True))
    assert [str(outcome.status) for outcome in outcomes] == [
        "returned",
        *["raised"] * 3,
        "crashed",
        "returned",
        "crashed",
        "raised",
        "out_of_memory",
        "unsupported",
        "too_large",
        "returned",
    ]
    raised = by_word["raise"].exception
    assert raised is not None
    assert (raised.type, raised.text, raised.line) == ("ValueError", "nö", 5)
    assert by_word["exit"].exception is not None
    assert by_word["exit"].exception.type == "SystemExit"
    assert by_word["deep"].exception is not None
    assert by_word["deep"].exception.type == "RecursionError"
    assert all(outcome.detail for outcome in outcomes if outcome.status not in ("returned", "raised"))


def test_endless_calls_are_stopped_and_the_others_go_on(runner: Runner) -> None:
    source = """
        import time
        def spin():
            while True: pass
        def stubborn():
            try:
                while True: pass
            except BaseException:
                return 1
        def sleep(): time.sleep(1000)
        def fine(): return 1
    """
    names = ("fine", "spin", "stubborn", "fine", "sleep", "fine")
    limits = Limits(wall_s=60.0, call_s=0.4)
    result = run(runner, source, *map(Call, names), limits=limits)
    stopped = "timed_out"
    assert statuses(result) == ["returned", stopped, stopped, "returned", stopped, "returned"]


def test_a_call_without_its_function_is_not_run(runner: Runner) -> None:
    result = run(runner, "x = 3\ndef f(): return 1\n", Call("g"), Call("x"), Call("f"))
    assert statuses(result) == ["not_run", "not_run", "returned"]


@pytest.mark.parametrize(
    ("source", "status", "error", "line"),
    [
        ("def f(:\n", "raised", "SyntaxError", 1),
        ("x = '\ud800'\n", "raised", "UnicodeEncodeError", None),
        ("x = 1\0\n", "raised", None, None),
        ("import os\nos._exit(5)\n", "crashed", None, None),
        ("(" * 100_000, "raised", None, None),
    ],
    ids=["syntax", "surrogate", "null", "exits", "nesting"],
)
def test_files_that_do_not_load(
    runner: Runner, source: str, status: str, error: str | None, line: int | None
) -> None:
    result = runner.run(Job(source, "hand-in.py", (Call("f"),), PATIENT))
    assert result.load.status == status
    assert statuses(result) == ["not_run"]
    if error is not None:
        assert result.load.exception is not None
        assert (result.load.exception.type, result.load.exception.line) == (error, line)


@pytest.mark.parametrize(
    ("failing", "error"),
    [
        ("raise OSError('no')", "OSError"),
        ("1 / 0", "ZeroDivisionError"),
        ("import sys; sys.exit(3)", "SystemExit"),
        ("assert f() == 2", "AssertionError"),
        ("import nothing_of_that_name", "ModuleNotFoundError"),
        ("import reference", "ModuleNotFoundError"),
        ("import yaml", "ModuleNotFoundError"),
        ("class Odd(BaseException): pass\nraise Odd", "Odd"),
    ],
)
def test_a_statement_that_fails_is_told_and_the_others_are_run(
    runner: Runner, failing: str, error: str
) -> None:
    source = f"def f(): return 1\n{failing}\nanswer = 5\ndef g(): return answer\n"
    result = runner.run(Job(source, "hand-in.py", (Call("f"), Call("g")), PATIENT, functions=("g",)))
    assert result.load.status is CallStatus.RETURNED and result.missing == ()
    (told,) = result.failed
    assert (told.type, told.line) == (error, 2 + failing.count("\n"))
    assert [outcome.value for outcome in result.outcomes] == [1, 5]


def test_only_the_first_failures_are_told(runner: Runner) -> None:
    source = "def f(): return 1\n" + "1 / 0\n" * 1000
    result = runner.run(Job(source, "hand-in.py", (Call("f"),), PATIENT))
    assert [told.line for told in result.failed] == [2, 3, 4]
    assert result.outcomes[0].value == 1


def test_a_file_keeps_its_docstring_and_its_future_when_run_statement_by_statement(runner: Runner) -> None:
    source = """\
'''What it is.'''
from __future__ import annotations
'''no docstring'''
size: int = 3
def f(x: nowhere = 1): return [__doc__, f.__annotations__["x"], __annotations__["size"]]
"""
    result = runner.run(Job(source, "hand-in.py", (Call("f"),), PATIENT))
    assert result.outcomes[0].value == ["What it is.", "nowhere", "int"], result


def test_memory_and_time_that_run_out_while_loading_end_it(runner: Runner) -> None:
    hungry = "def f(): return 1\nx = bytearray(1 << 40)\n"
    assert runner.run(Job(hungry, "hand-in.py", (Call("f"),), PATIENT)).load.status == "out_of_memory"
    busy = "try:\n    while True: pass\nexcept BaseException:\n    raise ValueError\n" * 50
    result = runner.run(Job(busy, "hand-in.py", (Call("f"),), Limits(wall_s=1.0)))
    assert result.load.status is CallStatus.TIMED_OUT


DRAWS = """
    import matplotlib.pyplot as plt, seaborn, tqdm
    from matplotlib import cm
    from tqdm.auto import tqdm as bar, trange
    from IPython.display import HTML
    from google.colab import drive
    from jaxtyping import Float
    import ipywidgets as widgets
    drive.mount("/content/drive")
    plt.rcParams["figure.figsize"] = (3, 4)
    fig, ax = plt.subplots()
    fig, (left, right) = plt.subplots(1, 2)
    fig, ((a, b), (c, d)) = plt.subplots(2, 2)
    line, = left.plot([1, 2], color=cm.viridis(0.5))
    first, *rest = plt.hist([1, 2])
    with plt.style.context("dark"):
        ax[0, 1].set_title(f"{ax.x:.2f}")
    for one in ax.flat:
        raise AssertionError
    @widgets.interact(x=(0, 1))
    def kept(x): return 7
    def f(x: Float[list, "n"] | None = None):
        total = 0
        for i in bar(range(3), desc="i"):
            total += i
        with tqdm.tqdm([10, 20], leave=False) as items:
            for item in items:
                items.set_postfix(item=item)
                total += item
        for i in trange(1, 3):
            total += 100 * i
        return [total, len(bar([5, 6])), kept(1)]
    def number(): return float(plt.x)
    def array(): import numpy; return numpy.asarray(plt.x())
    def sum_of(): return 1.0 + ax
    def itself(): return ax
"""


def test_packages_that_only_draw_or_show_progress_do_nothing_and_give_no_value(runner: Runner) -> None:
    names = ("f", "number", "array", "sum_of", "itself")
    result = run(runner, DRAWS, *map(Call, names))
    assert result.failed == ()
    assert result.outcomes[0].value == [3 + 30 + 300, 2, 7]
    assert statuses(result)[1:] == ["raised", "raised", "raised", "unsupported"]


COMPILED = """
    import collections, numpy as np, torch
    Pair = collections.namedtuple("Pair", "first second")
    @torch.compile
    def plainly(x): return x + 1
    @torch.compile(mode="max-autotune")
    def with_options(x): return x + 1
    later = torch.compile(lambda x: x + 1)
    def of_other_kinds():
        return Pair(np.ma.masked_array([1.0, 2.0], [False, True]), torch.nn.Parameter(torch.ones(1)))
"""


def test_compiled_functions_run_as_they_are_and_other_kinds_of_array_are_taken(runner: Runner) -> None:
    result = run(runner, COMPILED, *(Call(name, (1,)) for name in ("plainly", "with_options", "later")))
    assert result.failed == () and [outcome.value for outcome in result.outcomes] == [2, 2, 2]
    (outcome,) = run(runner, COMPILED, Call("of_other_kinds")).outcomes
    assert type(outcome.value) is tuple
    assert [leaf.library for leaf in outcome.value] == ["numpy", "torch"]


def test_a_notebook_has_display_and_a_file_of_a_stand_ins_name_wins(runner: Runner) -> None:
    source = "# --- code cell 1 ---\ndisplay(3)\nget_ipython().run_line_magic('a', 'b')\n"
    source += "from altair import g\ndef f(): return g()\n"
    modules = {"altair": "def g(): return 4"}
    result = runner.run(Job(source, "submission.py", (Call("f"),), PATIENT, modules=modules))
    assert result.failed == () and result.outcomes[0].value == 4


def test_a_file_that_never_loads_is_stopped(runner: Runner) -> None:
    result = run(runner, "import time\ntime.sleep(1000)\n", Call("f"), limits=Limits(wall_s=0.5))
    assert result.load.status is CallStatus.TIMED_OUT


def test_output_is_gathered_and_capped(runner: Runner) -> None:
    source = """
        import os, sys
        print("hello \\x1b[31m")
        print("error", file=sys.stderr)
        def f():
            os.write(1, b"raw\\n")
            print("x" * 10**6)
            return 1
    """
    result = run(runner, source, Call("f"))
    assert statuses(result) == ["returned"]
    assert result.output.startswith("hello \ufffd[31m\nerror\nraw\nxxx")
    assert len(result.output) == 20_000


def test_hostile_exceptions_are_described_safely(runner: Runner) -> None:
    source = """
        class Liar(type):
            @property
            def __name__(cls): raise SystemExit
        class Long(Exception):
            def __str__(self): return "x" * 10**6
        class Bad(Exception, metaclass=Liar):
            def __str__(self): raise KeyboardInterrupt
        class Text(str):
            def __getitem__(self, i): return 5
            def __len__(self): return 0
        class Sub(Exception):
            def __str__(self): return Text("sub")
        def f(kind): raise {"long": Long, "bad": Bad, "sub": Sub}[kind]()
    """
    found = [
        o.exception for o in run(runner, source, *(Call("f", (k,)) for k in ("long", "bad", "sub"))).outcomes
    ]
    assert [e and e.type for e in found] == ["Long", "Bad", "Sub"]
    assert [e and e.text for e in found] == ["x" * 2000, "(its text can't be shown)", "sub"]


def test_torch_can_train(runner: Runner) -> None:
    """Needs the modules, folders and threads that a plain fork breaks."""
    source = """
        import torch
        def train():
            w = torch.zeros(3, requires_grad=True)
            optimiser = torch.optim.AdamW([w], lr=0.1)
            ((w - 1) ** 2).sum().backward()
            optimiser.step()
            return w.detach()
        def attend():
            q = torch.ones(1, 2, 5, 8)
            return torch.nn.functional.scaled_dot_product_attention(q, q, q).shape[-1]
        def random():
            torch.seed()
            return float(torch.rand(1)) < 1.0
    """
    result = run(runner, source, Call("train"), Call("attend"), Call("random"))
    assert [o.status for o in result.outcomes] == [CallStatus.RETURNED] * 3, result.outcomes
    trained = struct.unpack("<3f", result.outcomes[0].value.data)
    assert trained == pytest.approx((0.1, 0.1, 0.1), abs=1e-6)
    assert [o.value for o in result.outcomes[1:]] == [8, True]


def test_modules_can_still_be_imported_in_the_child(runner: Runner) -> None:
    source = """
        def f():
            import xml.dom.minidom, sqlite3, torch.distributions, numpy.polynomial
            return sorted(m for m in ("xml.dom.minidom", "sqlite3") if m in __import__("sys").modules)
    """
    (outcome,) = run(runner, source, Call("f")).outcomes
    assert outcome.value == ["sqlite3", "xml.dom.minidom"]


def test_submissions_leave_nothing_to_the_next(runner: Runner) -> None:
    spoil = """
        import builtins, os, sys, numpy, torch
        builtins.left = 1
        numpy.exp = None
        torch.set_default_dtype(torch.float64)
        sys.modules["json"] = None
        os.environ["LEFT"] = "1"
        def f(): return 1
    """
    look = """
        import builtins, os, numpy, torch, json
        def f():
            spoilt = [hasattr(builtins, "left"), numpy.exp is None, "LEFT" in os.environ]
            return [*spoilt, str(torch.get_default_dtype())]
    """
    assert statuses(run(runner, spoil, Call("f"))) == ["returned"]
    assert run(runner, look, Call("f")).outcomes[0].value == [False, False, False, "torch.float32"]


def test_the_same_plan_object_may_meet_other_limits(runner: Runner) -> None:
    """The plan is encoded once for a class: its limits must not be those of an earlier job."""
    calls = (Call("f"),)
    source = "def f():\n    while True: pass\n"
    assert statuses(run(runner, "def f(): return 1\n", *calls)) == ["returned"]
    result = runner.run(Job(source, "a.py", calls, Limits(wall_s=30.0, call_s=0.3)))
    assert statuses(result) == ["timed_out"]


def test_a_job_without_calls_only_loads(runner: Runner) -> None:
    result = run(runner, "def f(): return 1\n", functions=("f", "g"))
    assert result.load.status is CallStatus.RETURNED
    assert (result.outcomes, result.missing) == ((), ("g",))


@pytest.mark.parametrize("tier", TIERS[:2])
def test_slots_work_side_by_side(tier: str) -> None:
    barrier_s = 0.3
    source = f"import time\ndef f(n):\n    time.sleep({barrier_s})\n    return n\n"
    with open_runner(SandboxOptions(tier=tier), slots=2) as runner, ThreadPoolExecutor(4) as pool:
        jobs = [Job(source, "a.py", (Call("f", (n,)),), PATIENT) for n in range(6)]
        results = list(pool.map(runner.run, jobs))
    assert [result.outcomes[0].value for result in results] == list(range(6))


@pytest.mark.parametrize("tier", TIERS)
def test_a_closed_runner_runs_nothing(tier: str) -> None:
    runner = open_runner(SandboxOptions(tier=tier, unsafe_local=True))
    runner.close()
    with pytest.raises(SandboxError):
        run(runner, "", Call("f"))


@pytest.mark.parametrize("tier", TIERS[:2])
def test_closing_ends_a_run_that_is_under_way(tier: str) -> None:
    """The attempt is ungraded, and nothing hangs."""
    runner = open_runner(SandboxOptions(tier=tier))
    run(runner, "")
    caught: list[BaseException] = []

    def sleep() -> None:
        try:
            run(runner, "import time\ntime.sleep(50)\n")
        except BaseException as error:
            caught.append(error)

    thread = threading.Thread(target=sleep)
    thread.start()
    while runner._free.qsize():  # type: ignore[attr-defined]
        time.sleep(0.01)
    runner.close()
    thread.join(30)
    assert not thread.is_alive()
    assert [type(error).__name__ for error in caught] in (["RunnerLostError"], ["SandboxError"])


@pytest.mark.parametrize("tier", TIERS[:2])
def test_a_layer_that_fails_stops_everything(tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel refuses this filter, so no student code may run: neither a mark nor a zero."""
    monkeypatch.setattr("engine.sandbox.confinement.compile_filter", lambda **_: bytes(8))
    with open_runner(SandboxOptions(tier=tier)) as runner, pytest.raises(SandboxError) as caught:
        run(runner, "raise SystemExit", Call("f"))
    assert caught.value.got is not None
    assert "seccomp" in caught.value.got


def test_a_program_that_is_gone_is_an_engine_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.sandbox.zygote_handle.bwrap_path", lambda: "/no/such/bwrap")
    runner = SandboxRunner("T1", 1)
    with pytest.raises(SandboxError) as caught:
        run(runner, "", Call("f"))
    assert "/no/such/bwrap" in str(caught.value.got)
    runner.close()


@pytest.mark.parametrize("tier", TIERS[:2])
def test_a_child_that_the_machine_kills_is_an_engine_error(
    tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it has taken student code yet or not: never a zero."""
    fork = Zygote.fork

    def fork_and_kill(*args: Any, **kwargs: Any) -> ChildProcess:
        child = fork(*args, **kwargs)
        child.kill()
        return child

    with open_runner(SandboxOptions(tier=tier)) as runner:
        run(runner, "")
        with monkeypatch.context() as patch:
            patch.setattr(Zygote, "fork", fork_and_kill)
            with pytest.raises(EngineError):
                run(runner, "import time\ntime.sleep(1000)\n", Call("f"))
        assert statuses(run(runner, "def f(): return 1\n", Call("f"))) == ["returned"]


_GRADER = """
import sys
from engine.runner import Job
from engine.sandbox import SandboxOptions, open_runner
runner = open_runner(SandboxOptions(tier=sys.argv[1]))
runner.run(Job("", "a.py", ()))
print("ready", flush=True)
runner.run(Job("while True: pass", "a.py", ()))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("tier", TIERS[:2])
def test_nothing_survives_a_killed_grader(tier: str) -> None:
    grader = subprocess.Popen([sys.executable, "-c", _GRADER, tier], stdout=subprocess.PIPE)
    assert grader.stdout is not None
    assert grader.stdout.readline() == b"ready\n"
    wanted = {"T1": 4, "T2": 2}[tier]  # two of bubblewrap's, the zygote, the second submission's child
    while len(family := _descendants(grader.pid)) < wanted:
        time.sleep(0.02)
    grader.kill()
    grader.wait()
    grader.stdout.close()
    # no deadline: if something survives, the test's own time limit says so
    while any(_alive(pid) for pid in family):
        time.sleep(0.05)


def _stat(pid: int) -> tuple[str, int]:
    """Return state and parent; a process that is gone counts as dead."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            state, parent = file.read().rpartition(")")[2].split()[:2]
    except OSError:
        return "X", 0
    return state, int(parent)


def _descendants(pid: int) -> set[int]:
    parents = {int(name): _stat(int(name))[1] for name in os.listdir("/proc") if name.isdigit()}
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def _alive(pid: int) -> bool:
    return _stat(pid)[0] not in "ZX"


@pytest.fixture
def offered() -> Iterator[None]:
    yield
    offer_packages(COMMON_PACKAGES)


@pytest.mark.parametrize("tier", ["T1", "T2", "T3"])
def test_a_package_can_be_imported_only_while_it_is_offered(tier: str, offered: None) -> None:
    if missing_layers(tier):
        pytest.skip(f"{tier} isn't possible here")
    source = "def f():\n    import scipy.special\n    return float(scipy.special.expit(0.0))\n"
    job = Job(source, "hand-in.py", (Call("f"),), PATIENT)
    for names, status in ((["scipy"], "returned"), ([], "raised")):
        offer_packages(names)
        with open_runner(SandboxOptions(tier=tier, unsafe_local=True)) as runner:
            (outcome,) = runner.run(job).outcomes
        assert outcome.status == status, outcome
        assert outcome.value == (0.5 if names else None)


def test_what_a_package_needs_is_offered_with_it_and_nothing_else(offered: None) -> None:
    offer_packages([])
    bare = set(find_layout().package_names)
    offer_packages(["scipy"])
    assert set(find_layout().package_names) - bare == {"scipy"}
    assert {"scipy", "scipy.libs"} <= {path.name for path in find_layout().packages}
    assert missing_packages(["scipy", "no_such_package_anywhere"]) == ("no_such_package_anywhere",)
