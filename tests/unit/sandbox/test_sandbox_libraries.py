"""Which process a submission runs in, one with numpy alone or one with torch: no verdict depends on it."""

from __future__ import annotations

import os
import struct
import textwrap
import time
from collections.abc import Iterator

import pytest

from engine.runner import Call, CallStatus, Job, Limits, Runner, RunResult, StepFunction, WireArray
from engine.sandbox import SandboxOptions, open_runner
from engine.sandbox.child.modules import COMPILER
from engine.sandbox.requests import encode_plan, library_of, shown_library, shows_torch
from engine.sandbox.tiers import missing_layers
from engine.sandbox.zygote_runner import SandboxRunner

PATIENT = Limits(wall_s=60.0, call_s=30.0, memory_mib=512)
_X = WireArray("numpy", "float64", (2,), struct.pack("<2d", 1.0, 2.0))
_T = WireArray("torch", "float64", (2,), struct.pack("<2d", 1.0, 2.0))
_HIDDEN = "torch = __import__('tor' + 'ch')\n"  # what no reading of the source shows


def _tiers(*names: str) -> list[object]:
    return [
        pytest.param(tier, marks=pytest.mark.skipif(bool(missing_layers(tier)), reason=f"no {tier} here"))
        for tier in names
    ]


@pytest.fixture(scope="module", params=_tiers("T1", "T2", "T3"))
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    with open_runner(SandboxOptions(tier=request.param, unsafe_local=True)) as opened:
        yield opened


def _run(runner: Runner, source: str, *calls: Call, limits: Limits = PATIENT) -> RunResult:
    return runner.run(Job(textwrap.dedent(source), "hand-in.py", calls, limits))


@pytest.mark.parametrize(
    "source",
    [
        "import torch",
        "import numpy as np, torch",
        "import numpy; import torch.nn.functional as F",
        "from torch import nn",
        "try:\n    import torch\nexcept ImportError:\n    torch = None",
        "def f():\n\tfrom torch.nn import Linear",
        "import torchvision",
        "from einops.layers.torch import Rearrange",
        "t = __import__('torch')",
        'import importlib\nt = importlib.import_module("torch.linalg")',
    ],
)
def test_an_import_of_torch_shows(source: str) -> None:
    assert shows_torch(["x = 1", f"import numpy as np\n{source}\n"])


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\n",
        "import numpy as np  # torch isn't needed\n",
        '"""As torch.softmax does it."""\nimport numpy as np\n',
        "# from here on: no torch\n",
        "torch = 1\n",
        "",
    ],
)
def test_a_mention_of_torch_is_no_import(source: str) -> None:
    assert not shows_torch([source])


@pytest.mark.parametrize(
    ("source", "library"),
    [
        ("optimiser = torch.optim.SGD(parameters)", COMPILER),
        ("from torch import optim", COMPILER),
        ("g = torch.func.grad(f)(x)", COMPILER),
        ("f = torch.compile(f)", COMPILER),
        ("g, = torch.autograd.grad(y, x, weights)", COMPILER),
        ("y.backward( weights )", COMPILER),
        ("y.backward()", "torch"),
        ("optimum = torch.nn.functional.softmax(x, dim=-1)", "torch"),
    ],
)
def test_what_needs_the_compiler_shows(source: str, library: str) -> None:
    assert shown_library([f"import torch\n{source}\n"]) == library
    assert shown_library([source.replace("from torch import", "import")]) == "numpy"


def test_reading_a_hostile_source_takes_no_time() -> None:
    began = time.process_time()
    assert not shows_torch(["import " * 300_000 + "xtorch", "'" * 10**6 + "torch", "'torch " * 10**5])
    hostile = ["import torch", ".backward(" + " " * 10**6, "torch." * 10**5, "a" * 10**6]
    assert shown_library(hostile) == "torch"
    assert time.process_time() - began < 2.0


def test_arrays_of_torch_need_it_wherever_they_stand() -> None:
    step = StepFunction("step", WireArray("numpy", "int64", (0, 0), b""), _T)
    for tensors in (
        Call("f", (_T,)),
        Call("f", (), {"x": [_X, {"deep": _T}]}),
        Call("f", (_X,), cotangents=(None, _T)),
        Call("f", (step,)),
        Call("f", (_T,), return_arguments=True),
    ):
        job = Job("", "f.py", (Call("f", (_X,)), tensors))
        assert library_of(job, encode_plan(job, shared=True)) == "torch"
    job = Job("", "f.py", (Call("f", (_X,), return_arguments=True),))
    assert library_of(job, encode_plan(job, shared=True)) == "numpy"


def test_each_file_runs_beside_what_it_needs(runner: Runner) -> None:
    look = "def f(x):\n    import sys\n    return 'tor' + 'ch' in sys.modules\n"
    for source, call, library in (
        (f"import numpy\n{look}", Call("f", (_X,)), "numpy"),
        (f"{look}def g():\n    import torch\n", Call("f", (_X,)), "torch"),
        (look, Call("f", (_T,)), "torch"),
    ):
        result = _run(runner, source, call)
        assert (result.library, result.outcomes[0].value) == (library, library == "torch"), source


def test_a_file_beside_it_may_import_torch(runner: Runner) -> None:
    job = Job(
        "from helpers import one\ndef f(): return one()\n",
        "f.py",
        (Call("f"),),
        PATIENT,
        modules={"helpers": "import torch\ndef one(): return torch.ones(1, dtype=torch.float64)\n"},
    )
    result = runner.run(job)
    assert result.library == "torch"
    assert result.outcomes[0].value == WireArray("torch", "float64", (1,), struct.pack("<d", 1.0))


@pytest.mark.parametrize(
    "source",
    [
        f"{_HIDDEN}def f(): return torch.ones(1, dtype=torch.float64)\n",
        f"def f():\n    {_HIDDEN}    return torch.ones(1, dtype=torch.float64)\n",
        """
        import importlib.util, numpy as np
        def f():
            assert importlib.util.find_spec("tor" + "ch") is not None
            return np.ones(1)
        """,
        """
        import functorch, sys
        def f():
            library = sys.modules["tor" + "ch"]
            return library.ones(1, dtype=library.float64)
        """,
    ],
    ids=["loading", "call", "question", "package"],
)
def test_torch_that_comes_unforeseen_is_there_all_the_same(runner: Runner, source: str) -> None:
    """The whole job runs again: what the first run printed or took counts for nothing."""
    source = textwrap.dedent(source)
    assert not shows_torch([source])
    calls = (Call("g", (_X,)), Call("f"), Call("g", (_X,)))
    result = _run(
        runner, f"print('loaded')\ndef g(x):\n    print('called')\n    return x + 1\n{source}", *calls
    )
    assert result.library == "torch"
    assert [outcome.status for outcome in result.outcomes] == [CallStatus.RETURNED] * 3, result.outcomes
    assert result.outcomes[1].value.data == struct.pack("<d", 1.0)
    assert result.outcomes[0].value == result.outcomes[2].value
    assert result.output.split() == ["loaded", "called", "called"]


@pytest.mark.parametrize(
    "source",
    [
        "getattr(torch, 'opt' + 'im').SGD([torch.ones(2, requires_grad=True)], 0.1).step()",
        "getattr(torch, 'fu' + 'nc').grad(lambda x: x.sum())(torch.ones(2))",
        "getattr(torch.ones(2, requires_grad=True) * 2, 'back' + 'ward')(torch.ones(2))",
    ],
    ids=["optimiser", "transform", "gradient"],
)
def test_the_compiler_that_comes_unforeseen_is_there_all_the_same(runner: Runner, source: str) -> None:
    source = f"import torch\ndef f():\n    print('called')\n    {source}\n    return 1\n"
    assert shown_library([source]) == "torch"
    result = _run(runner, source, Call("f"), Call("f"))
    assert result.library == "torch"
    assert [outcome.value for outcome in result.outcomes] == [1, 1], result.outcomes
    assert result.output.split() == ["called", "called"]


@pytest.mark.parametrize("tier", _tiers("T1", "T2"))
def test_the_first_run_takes_no_time_from_the_second(tier: str) -> None:
    source = f"import time\ntime.sleep(1.5)\ndef f():\n    {_HIDDEN}    return 1\n"
    with open_runner(SandboxOptions(tier=tier)) as runner:
        result = _run(runner, source, Call("f"), limits=Limits(wall_s=2.0, call_s=2.0))
    assert (result.library, result.outcomes[0].status) == ("torch", CallStatus.RETURNED), result


def test_an_exit_status_asks_for_each_library_once(runner: Runner) -> None:
    result = _run(runner, "import os\ndef f(): os._exit(73)\ndef g(): return 1\n", Call("f"), Call("g"))
    assert result.library == "torch"
    statuses = [outcome.status for outcome in result.outcomes]
    assert statuses == [CallStatus.CRASHED, CallStatus.RETURNED]


@pytest.mark.parametrize("tier", _tiers("T1", "T2"))
def test_a_forged_reply_before_it_is_a_violation(tier: str) -> None:
    with open_runner(SandboxOptions(tier=tier)) as runner:
        source = f"import os\nos.write(3, {bytes(100)!r})\nos._exit(73)\n"
        result = _run(runner, source, Call("f"))
    assert (result.library, result.outcomes[0].status) == ("numpy", CallStatus.PROTOCOL_VIOLATION)


def test_numpy_computes_the_same_beside_torch(runner: Runner) -> None:
    source = """
        import numpy as np
        def f(x):
            a = np.random.default_rng(0).normal(size=(40, 40)) * x[0]
            return [np.exp(a), a @ a, np.linalg.svd(a)[1], (a.astype(np.float16) @ a.astype(np.float16))]
    """
    light, heavy = (
        _run(runner, source + more, Call("f", (_X,))) for more in ("", "\n        import torch\n")
    )
    assert (light.library, heavy.library) == ("numpy", "torch")
    assert light.outcomes[0].value == heavy.outcomes[0].value


def _zygotes(runner: SandboxRunner) -> list[list[str]]:
    return [[name for name, nest in slot.items() if nest._pending is not None] for slot in runner._slots]


def test_zygotes_are_started_when_they_are_needed() -> None:
    if missing_layers("T2"):
        pytest.skip("T2 isn't possible here")
    with SandboxRunner("T2", 2) as runner:
        assert _zygotes(runner) == [[], []]
        _run(runner, "")
        assert _zygotes(runner) == [["numpy"], []]
        _run(runner, "import torch")
        assert _zygotes(runner) == [["numpy"], ["torch"]]
    with SandboxRunner("T2", 1, sources=["import numpy"]) as runner:
        assert _zygotes(runner) == [["numpy"]]
    with SandboxRunner("T2", 1, sources=["import numpy\nimport torch"]) as runner:
        assert _zygotes(runner) == [["torch"]]
    with SandboxRunner("T2", 2, sources=["import torch", "import numpy"]) as runner:
        assert _zygotes(runner) == [["numpy", "torch"]] * 2
    with SandboxRunner("T2", 1, sources=["from torch import optim"]) as runner:
        assert _zygotes(runner) == [[COMPILER]]


def test_either_zygote_that_is_lost_is_replaced() -> None:
    if missing_layers("T2"):
        pytest.skip("T2 isn't possible here")
    with SandboxRunner("T2", 1) as runner:
        for source in ("def f(): return 1\n", "import torch\ndef f(): return 1\n"):
            for _ in range(2):
                result = _run(runner, source, Call("f"))
                assert result.outcomes[0].value == 1
                nest = runner._slots[0][result.library]
                assert nest._pending is not None
                os.kill(nest._pending.result()._process.pid, 9)
