"""The runner itself: hostile and good submissions side by side, restarts, closing, refusals."""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import arena_world
import pytest
from arena_client import ATTACKS

from engine.errors import EngineError, SandboxError
from engine.runner import Call, CallStatus, Job, Limits, Runner, WireArray
from engine.sandbox import SandboxOptions, open_runner
from engine.sandbox.tiers import missing_layers

_GOOD = "def double(x, axis=-1):\n    return x * 2\n"
_X = WireArray("numpy", "float64", (3,), struct.pack("<3d", 1.0, 2.0, 3.0))
_TWICE = struct.pack("<3d", 2.0, 4.0, 6.0)
# one of each way to end badly; none of them needs a target
_BAD = (
    "crash/null",
    "crash/exit_zero",
    "crash/close_everything",
    "crash/double_free",
    "resource/cpu_spin",
    "resource/memory_zeros",
    "resource/recursion_in_c",
    "forge/garbage_to_channel",
    "early/huge_length",
    "flood/print",
    "flood/huge_array",
    "process/fork_only",
    "giants/broadcast",
)


@pytest.fixture(scope="module", params=["T1", "T2"])
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    if missing_layers(request.param):
        if os.environ.get("CI"):
            pytest.fail(f"CI must run everything: {missing_layers(request.param)}")
        pytest.skip(str(missing_layers(request.param)))
    with open_runner(SandboxOptions(tier=request.param), slots=2) as opened:
        yield opened


def _hostile_job(name: str) -> Job:
    source = ATTACKS[name].source({"naive": False, "long_s": 30.0})
    return Job(source, "bad.py", (Call("softmax", (_X,)),), Limits(wall_s=1.0, call_s=1.0, memory_mib=256))


def _good_job(calls: int = 3) -> Job:
    return Job(_GOOD, "good.py", (Call("double", (_X,)),) * calls, Limits(wall_s=30.0, call_s=20.0))


def _is_right(runner: Runner) -> bool:
    result = runner.run(_good_job())
    return [o.value.data for o in result.outcomes if o.status is CallStatus.RETURNED] == [_TWICE] * 3


def test_good_submissions_are_right_beside_hostile_ones(runner: Runner) -> None:
    """Two slots, two threads each for good and bad: nobody's answer goes to somebody else."""
    with ThreadPoolExecutor(4) as pool:
        bad = [pool.submit(runner.run, _hostile_job(name)) for name in _BAD]
        good = [pool.submit(_is_right, runner) for _ in range(2 * len(_BAD))]
        assert all(future.result() for future in good)
        statuses = {name: future.result().outcomes[0].status for name, future in zip(_BAD, bad, strict=True)}
    wanted = {
        "crash/null": CallStatus.RETURNED,  # only its second call crashes
        "crash/exit_zero": CallStatus.CRASHED,
        "resource/cpu_spin": CallStatus.TIMED_OUT,
        "forge/garbage_to_channel": CallStatus.PROTOCOL_VIOLATION,
        "flood/huge_array": CallStatus.RETURNED,  # within this job's larger cap
        "process/fork_only": CallStatus.RETURNED,
        "giants/broadcast": CallStatus.TOO_LARGE,
    }
    assert {name: statuses[name] for name in wanted} == wanted


def test_answers_do_not_get_mixed_up(runner: Runner) -> None:
    """Many jobs at once, each with a number of its own."""

    def ask(number: int) -> bool:
        leaf = WireArray("numpy", "float64", (1,), struct.pack("<d", float(number)))
        outcome = runner.run(Job(_GOOD, "good.py", (Call("double", (leaf,)),))).outcomes[0]
        return bool(outcome.value.data == struct.pack("<d", 2.0 * number))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(ask, range(60)))


def test_a_crash_in_one_call_leaves_the_others(runner: Runner) -> None:
    source = (
        "import os\nimport numpy as np\n\n\ndef softmax(x, axis=-1):\n"
        "    if x[0] == 2.0:\n        os.abort()\n    return x\n"
    )
    leaves = [WireArray("numpy", "float64", (1,), struct.pack("<d", float(n))) for n in range(5)]
    result = runner.run(Job(source, "some.py", tuple(Call("softmax", (leaf,)) for leaf in leaves)))
    statuses = [outcome.status for outcome in result.outcomes]
    assert statuses == [CallStatus.RETURNED] * 2 + [CallStatus.CRASHED] + [CallStatus.RETURNED] * 2
    assert [o.value.data for o in result.outcomes if o.value is not None] == [
        leaf.data for n, leaf in enumerate(leaves) if n != 2
    ]


@pytest.mark.parametrize("tier", ["T1", "T2"])
def test_a_killed_zygote_costs_no_mark(tier: str) -> None:
    """The machine's fault is an engine error, and the next submission is graded."""
    if missing_layers(tier):
        pytest.skip(str(missing_layers(tier)))
    arena_world.become_subreaper()
    before = set(arena_world.descendants())
    with open_runner(SandboxOptions(tier=tier)) as runner:
        assert _is_right(runner)
        zygotes = [pid for pid in arena_world.descendants() if pid not in before]
        assert zygotes
        source = "def f():\n    while True:\n        pass\n"
        long_job = Job(source, "slow.py", (Call("f"),), Limits(30.0, 25.0))
        failures: list[BaseException] = []

        def run() -> None:
            try:
                runner.run(long_job)
            except EngineError as error:
                failures.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        # the student's code runs once a new process has computed for a while; before that, a lost zygote is
        # replaced and nothing is lost
        while not any(
            arena_world.processor_s(pid) > 1.0
            for pid in arena_world.descendants()
            if pid not in before and pid not in zygotes
        ):
            assert thread.is_alive()
        arena_world.kill_all_but_wait(zygotes)
        thread.join(30)
        assert not thread.is_alive()
        assert len(failures) == 1
        assert _is_right(runner)
    left = [pid for pid in arena_world.descendants() if pid not in before]
    assert left == []


def test_closing_twice_and_running_afterwards() -> None:
    runner = open_runner()
    runner.close()
    runner.close()
    with pytest.raises(SandboxError):
        runner.run(_good_job())


@pytest.mark.parametrize(
    "wrong",
    [{"options": SandboxOptions(tier="T9")}, {"slots": 0}],
    ids=["tier", "slots"],
)
def test_wrong_demands_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(SandboxError):
        open_runner(**wrong)  # type: ignore[arg-type]


_ODD_SOURCES = {
    "huge": ("x = 1\n" * 900_000 + _GOOD, CallStatus.RETURNED),
    "empty": ("", CallStatus.RETURNED),
    "surrogate": ("x = '\ud800'\n" + _GOOD, CallStatus.RAISED),
    "nul": ("\0" + _GOOD, CallStatus.RAISED),
    "nested": ("(" * 5000 + ")" * 5000, CallStatus.RAISED),
    "long sum": ("x = " + "+".join(["1"] * 200_000), CallStatus.RAISED),
    "long number": ("x = " + "1" * 5000, CallStatus.RAISED),
    "carriage returns": (_GOOD.replace("\n", "\r"), CallStatus.RETURNED),
    "declares utf-7": ("# -*- coding: utf-7 -*-\n" + _GOOD, CallStatus.RETURNED),
}


@pytest.mark.parametrize("name", _ODD_SOURCES)
def test_odd_sources_end_in_a_result(runner: Runner, name: str) -> None:
    source, status = _ODD_SOURCES[name]
    result = runner.run(Job(source, "odd.py", (Call("double", (_X,)),), functions=("double",)))
    assert result.load.status is status
    assert (result.load.exception is not None) == (status is CallStatus.RAISED)
    assert (result.missing == ()) == (result.outcomes[0].status is CallStatus.RETURNED)


@pytest.mark.parametrize("filename", ["x" * 10**5 + ".py", "\x1b[31m\n.py", "\ud800.py", "/etc/passwd", ""])
def test_odd_file_names_end_in_a_result(runner: Runner, filename: str) -> None:
    source = "def f():\n    raise ValueError('as expected')\n"
    outcome = runner.run(Job(source, filename, (Call("f"),))).outcomes[0]
    assert outcome.exception is not None
    assert (outcome.exception.type, outcome.exception.text, outcome.exception.line) == (
        "ValueError",
        "as expected",
        2,
    )


@pytest.mark.parametrize("function", ["__import__", "double.__globals__", "__builtins__", "", "\ud800"])
def test_only_the_file_s_own_functions_are_called(runner: Runner, function: str) -> None:
    outcome = runner.run(Job(_GOOD, "good.py", (Call(function, ("os",)),))).outcomes[0]
    assert outcome.status is CallStatus.NOT_RUN


def test_thousands_of_calls(runner: Runner) -> None:
    result = runner.run(Job(_GOOD, "good.py", (Call("double", (_X,)),) * 3000))
    assert {outcome.status for outcome in result.outcomes} == {CallStatus.RETURNED}
    assert len(result.outcomes) == 3000
