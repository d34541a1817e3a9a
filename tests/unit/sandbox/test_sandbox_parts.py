"""Tables, foreign text, endings, gathered results, users, layout, filter, tiers."""

from __future__ import annotations

import ast
import dataclasses
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.errors import RunnerLostError, SandboxError
from engine.runner import Call, CallOutcome, CallStatus, Job, SandboxOptions
from engine.sandbox import bwrap as users
from engine.sandbox import tiers
from engine.sandbox.bwrap import bwrap_arguments, find_layout, walkable_by_others
from engine.sandbox.child.calls import make_step
from engine.sandbox.child.layers import ALL_LAYERS, Layers
from engine.sandbox.child.wire import StepNode
from engine.sandbox.confinement import allowed_calls, compile_filter, libseccomp_version
from engine.sandbox.replies import ChildDialogue, JobResults, Reply, safe_text
from engine.sandbox.zygote_handle import ChildEnd
from engine.sandbox.zygote_runner import StopReason, outcome_of_end

linux = pytest.mark.skipif(sys.platform != "linux", reason="the layers are Linux's")


# --- step functions ---------------------------------------------------------------------


def _steps() -> tuple[Any, ...]:
    """Return the step function of one table."""
    tokens, chances = np.array([[-1], [1]]), np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]])
    return (make_step(StepNode("step", tokens, chances), np.copy),)


@pytest.mark.parametrize("token", [1, 1.0, True, np.int64(1), np.array(1), torch.tensor(1)])
@pytest.mark.parametrize("state", [(7,), [7], np.array([7]), torch.tensor([7]), (torch.tensor(7),)])
def test_a_step_compares_by_value(token: Any, state: Any) -> None:
    for step in _steps():
        row, after = step(token, state)
        assert (row.tolist(), after) == ([0.25, 0.75], (7, 1))
        assert step(y=token, s=state)[1] == (7, 1)


def test_a_step_answers_all_tokens() -> None:
    for step in _steps():
        assert step.__name__ == "step"
        assert step(7, ())[0].tolist() == [0.5, 0.5]
        assert step(1, ())[0].tolist() == [0.5, 0.5]
        assert step(0, (7,))[0].tolist() == [1.0, 0.0]
        assert step(1, (7, 1, 1))[0].tolist() == [1.0, 0.0]


def test_an_answer_can_be_spoiled() -> None:
    for step in _steps():
        step(7, ())[0][:] = 0
        assert step(7, ())[0].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    "arguments",
    [("1", ()), (None, ()), (object(), ()), ([1], ()), (0.5, ()), (float("nan"), ()), (float("inf"), ()),
     (1, None), (1, "s"), (1, 3), (1, [0.5]), (1, {}), (np.array([1, 2]), ())],
)  # fmt: skip
def test_a_step_refuses_what_is_no_token_or_state(arguments: tuple[Any, ...]) -> None:
    for step in _steps():
        with pytest.raises(LookupError, match="step"):
            step(*arguments)


# --- text -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain\n\ttext", "plain\n\ttext"),
        ("a\r\nb", "a\nb"),
        ("\x1b[31m\x07\x7f\x9b", "\ufffd[31m" + "\ufffd" * 3),
        ("\u202egnp.exe\u2066", "\ufffdgnp.exe\ufffd"),
        ("\ud800", "\ufffd"),
        ("é😀", "é😀"),
    ],
)
def test_text_is_cleaned(raw: str, shown: str) -> None:
    assert safe_text(raw, 100) == shown


def test_text_is_cut_first() -> None:
    assert safe_text("x" * 10**6, 5) == "xxxxx"


# --- endings ----------------------------------------------------------------------------


@linux
@pytest.mark.parametrize(
    ("stop", "status", "cpu_s", "wanted"),
    [
        (StopReason.DEADLINE, signal.SIGKILL, 0.0, CallStatus.TIMED_OUT),
        (StopReason.CALL_DEADLINE, signal.SIGKILL, 0.0, CallStatus.TIMED_OUT),
        (StopReason.CLOSED, signal.SIGKILL, 0.0, CallStatus.CRASHED),
        (StopReason.EXITED, signal.SIGSEGV, 0.0, CallStatus.CRASHED),
        (StopReason.EXITED, signal.SIGXCPU, 5.0, CallStatus.TIMED_OUT),
        (StopReason.EXITED, signal.SIGKILL, 5.2, CallStatus.TIMED_OUT),
        (StopReason.EXITED, 0, 0.0, CallStatus.CRASHED),
        (StopReason.EXITED, 7 << 8, 0.0, CallStatus.CRASHED),
    ],
)
def test_endings_are_told_apart(stop: StopReason, status: int, cpu_s: float, wanted: CallStatus) -> None:
    outcome = outcome_of_end(stop, ChildEnd(status, cpu_s), 5)
    assert outcome.status is wanted
    assert outcome.detail


@linux
def test_a_kill_from_outside_is_nobodys_mark() -> None:
    with pytest.raises(RunnerLostError, match="outside"):
        outcome_of_end(StopReason.EXITED, ChildEnd(signal.SIGKILL, 0.1), 5)


# --- results ----------------------------------------------------------------------------

_JOB = Job("", "a.py", tuple(Call("f") for _ in range(4)), functions=("f", "g"))
_LOADED = CallOutcome(CallStatus.RETURNED)
_CRASH = CallOutcome(CallStatus.CRASHED)


def _dialogue(first: int, *done: int, load: CallOutcome | None = _LOADED) -> ChildDialogue:
    dialogue = ChildDialogue(first, 4, 1000)
    dialogue.load, dialogue.missing = load, ("g", "<b>")
    for index in done:
        dialogue.replies[index] = Reply(index, CallOutcome(CallStatus.RETURNED, value=index), 1)
        dialogue.next = index + 1
    return dialogue


def test_a_crash_costs_one_call() -> None:
    results = JobResults(_JOB, "T1")
    assert results.next_call(1.0) == 0
    results.merge(_dialogue(0, 0), _CRASH)
    assert results.next_call(1.0) == 2
    results.merge(_dialogue(2, 2, 3), None)
    assert results.next_call(1.0) is None
    result = results.finish(b"printed\xff")
    assert [o.status for o in result.outcomes] == ["returned", "crashed", "returned", "returned"]
    assert result.missing == ("g",)  # only names that we asked for
    assert result.output == "printed\ufffd"
    assert result.tier == "T1"


def test_a_crash_in_the_last_call_needs_no_other_child() -> None:
    results = JobResults(_JOB, "T1")
    results.next_call(1.0)
    results.merge(_dialogue(0, 0, 1, 2), _CRASH)
    assert results.next_call(1.0) is None
    assert results.finish(b"").outcomes[3].status is CallStatus.CRASHED


def test_children_are_bounded() -> None:
    job = Job("", "a.py", tuple(Call("f") for _ in range(100)))
    results = JobResults(job, "T1")
    children = 0
    while (first := results.next_call(1.0)) is not None:
        children += 1
        dialogue = ChildDialogue(first, 100, 1000)
        dialogue.load = _LOADED
        results.merge(dialogue, _CRASH)
    outcomes = results.finish(b"").outcomes
    assert children == 16
    assert [o.status for o in outcomes] == ["crashed"] * 16 + ["not_run"] * 84
    assert "earlier calls" in outcomes[-1].detail


def test_no_time_means_no_other_child() -> None:
    results = JobResults(_JOB, "T1")
    results.next_call(1.0)
    results.merge(_dialogue(0), CallOutcome(CallStatus.TIMED_OUT))
    assert results.next_call(0.0) is None
    outcomes = results.finish(b"").outcomes
    assert [o.status for o in outcomes] == ["timed_out", "not_run", "not_run", "not_run"]
    assert "time" in outcomes[1].detail


def test_a_failed_load_runs_nothing() -> None:
    results = JobResults(_JOB, "T1")
    results.next_call(1.0)
    results.merge(_dialogue(0, load=None), _CRASH)
    assert results.next_call(1.0) is None
    result = results.finish(b"")
    assert result.load.status is CallStatus.CRASHED
    assert {o.status for o in result.outcomes} == {CallStatus.NOT_RUN}


def test_after_a_violation_nothing_counts() -> None:
    results = JobResults(_JOB, "T1")
    results.next_call(1.0)
    results.merge(_dialogue(0, 0), _CRASH)
    results.next_call(1.0)
    results.violate(CallOutcome(CallStatus.PROTOCOL_VIOLATION))
    assert results.next_call(1.0) is None
    assert {o.status for o in results.finish(b"").outcomes} == {CallStatus.PROTOCOL_VIOLATION}


# --- users ------------------------------------------------------------------------------


@linux
def test_slots_are_users_of_their_own() -> None:
    uids = {users.slot_user(slot) for slot in range(20)}
    assert len(uids) == 20
    assert min(uids) > 60000


@linux
def test_users_stay_within_a_containers_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users, "_largest_range", lambda: (0, 65536))
    uids = {users.slot_user(slot) for slot in range(20)}
    assert len(uids) == 20
    assert all(32768 <= uid < 65536 for uid in uids)


@linux
def test_an_ordinary_user_is_counted_with_what_runs_already() -> None:
    assert users.process_limit(namespaced=False, root=True) == 64
    assert users.process_limit(namespaced=False, root=False) > 128


# --- layout -----------------------------------------------------------------------------


def test_the_allowlist_names_packages_one_by_one() -> None:
    layout = find_layout()
    readable = set(layout.readable())
    folders = {folder for path in readable for folder in (path, *path.parents)}
    for site in layout.site_folders:
        assert site not in readable
        for name in ("pytest", "pydantic", "reference", "problems", "engine"):
            assert site / name not in folders
    root = Path(__file__).parents[3]
    assert not any(path == root or (root in path.parents and ".venv" not in path.parts) for path in readable)
    assert {"torch", "numpy"} <= set(layout.package_names)
    assert layout.standard / "json" in readable
    assert layout.standard not in readable
    assert not any(
        part in ("site-packages", "dist-packages") for path in readable for part in path.parts[-1:]
    )


def test_pythons_folders_among_the_c_libraries_are_left_out(tmp_path: Path) -> None:
    """Where there is no folder of its own for C libraries, /usr/lib holds site-packages too."""
    for folder in ("python3/dist-packages/reference", "python3.11", "perl"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "libc.so.6").touch()
    layout = dataclasses.replace(find_layout(), libraries=(tmp_path,))
    readable = layout.readable()
    assert {path for path in readable if tmp_path in (path, *path.parents)} == {
        tmp_path / "perl",
        tmp_path / "libc.so.6",
    }
    assert set(layout.masked_in_libraries) == {tmp_path / "python3", tmp_path / "python3.11"}
    command = bwrap_arguments(Path("bwrap"), layout, root=False, environment={})
    for folder in layout.masked_in_libraries:
        at = command.index(str(folder))
        assert command[at - 1] == "--tmpfs"
        assert command.index(str(tmp_path)) < at


def test_walking_needs_every_folder(tmp_path: Path) -> None:
    inner = tmp_path / "closed" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "closed").chmod(0o700)
    assert not walkable_by_others(inner)
    assert walkable_by_others(Path("/usr/lib") if Path("/usr/lib").is_dir() else Path("/"))


# --- filter and tiers -------------------------------------------------------------------


@linux
def test_no_dangerous_call_is_on_the_list() -> None:
    forbidden = """
        execve execveat fork vfork clone clone3 socket socketpair connect bind sendmsg sendto kill tkill
        tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open pidfd_send_signal pidfd_getfd ptrace kcmp
        process_vm_readv process_vm_writev mount umount2 unshare setns pivot_root chroot shmget shmat
        msgget semget mq_open memfd_create bpf perf_event_open io_uring_setup keyctl add_key request_key
        userfaultfd setuid setresuid setgid setgroups capset prctl seccomp setrlimit prlimit64 ioctl fcntl
        flock timer_create timerfd_create inotify_init1 fanotify_init mkdir mkdirat mknod mknodat unlink
        unlinkat rename link symlink chmod fchmod chown utimensat truncate ftruncate fallocate sendfile
        splice tee vmsplice personality setpriority sched_setaffinity mincore mlock swapon reboot
        init_module name_to_handle_at open_by_handle_at futex futex_waitv futex_wake futex_wait futex_requeue
        get_robust_list madvise process_madvise fadvise64 mmap remap_file_pages sysinfo membarrier
        getpgid getsid getpriority sched_getaffinity sched_getparam sched_getscheduler
    """
    assert not set(forbidden.split()) & set(allowed_calls())
    assert len(set(allowed_calls())) == len(allowed_calls())


@linux
def test_the_filter_compiles() -> None:
    program = compile_filter()
    assert len(program) % 8 == 0
    assert 50 < len(program) // 8 < 4096
    version = libseccomp_version()
    assert version is not None
    assert version.count(".") == 2


def _without(monkeypatch: pytest.MonkeyPatch, *missing: str) -> None:
    def fake(tier: str) -> tuple[tiers.MissingLayer, ...]:
        return (tiers.MissingLayer("bwrap", "not here", "get it"),) if tier in missing else ()

    monkeypatch.setattr(tiers, "missing_layers", fake)


def test_only_a_test_can_switch_a_layer_off() -> None:
    """The engine makes one value, with all layers up; a child is told the value that its grader has."""
    assert all(dataclasses.asdict(ALL_LAYERS).values())
    with pytest.raises(TypeError):
        Layers(everything=False)  # type: ignore[call-arg]
    sources = {path: path.read_text("utf-8") for path in Path(tiers.__file__).parents[1].rglob("*.py")}
    made = {
        path.name: ast.unparse(node)
        for path, source in sources.items()
        if "Layers(" in source
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "Layers"
    }
    assert made == {"layers.py": "Layers()", "lockdown.py": "Layers(**settings['layers'])"}


def test_the_strongest_tier_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    _without(monkeypatch)
    assert tiers.choose_tier(SandboxOptions()) == "T1"
    _without(monkeypatch, "T1")
    assert tiers.choose_tier(SandboxOptions()) == "T2"
    assert tiers.choose_tier(SandboxOptions(unsafe_local=True)) == "T2"


def test_the_sandbox_is_never_weakened_silently(monkeypatch: pytest.MonkeyPatch) -> None:
    _without(monkeypatch, "T1", "T2")
    for demanded in ("T1", "T2", "T3", None):
        with pytest.raises(SandboxError) as caught:
            tiers.choose_tier(SandboxOptions(demanded))
        assert caught.value.next_step
    assert tiers.choose_tier(SandboxOptions(unsafe_local=True)) == "T3"
    with pytest.raises(SandboxError, match="T1 isn't possible"):
        tiers.choose_tier(SandboxOptions("T1", unsafe_local=True))


@pytest.mark.parametrize(
    ("file", "value", "said"),
    [
        ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "AppArmor"),
        ("/proc/sys/kernel/unprivileged_userns_clone", "0", "Debian"),
        ("/proc/sys/user/max_user_namespaces", "0", "limited to 0"),
    ],
)
def test_advice_fits_the_switch(file: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(path: Path, *_: Any, **__: Any) -> str:
        if os.fspath(path) == file:
            return value + "\n"
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", read)
    assert said in tiers._how_to_get_namespaces()


def test_advice_in_a_container_asks_for_no_capability(monkeypatch: pytest.MonkeyPatch) -> None:
    """bubblewrap refuses an ordinary user who has one, and root would need two."""

    def no_file(path: Path, *_: Any, **__: Any) -> str:
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_text", no_file)
    monkeypatch.setenv("container", "podman")
    advice = tiers._how_to_get_namespaces()
    assert "as an ordinary user, without capabilities" in advice and "--cap-add" not in advice
