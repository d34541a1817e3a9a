"""How an interpreter for student code is started, and what confines it, the seccomp filter included.

It gets one part of ``child`` and the allowed packages, and nothing else. The layers are put up inside it,
by ``child/lockdown.py``; what that must know is decided here. The filter is an allowlist of system calls,
because kernels gain calls: what is new, or was never thought of, is refused. It is compiled in the grader
so that no library for it needs to lie beside student code.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import functools
import sys
import tempfile
from dataclasses import asdict
from typing import Any

from engine.sandbox.bwrap import SandboxMounts, is_root, process_limit, walkable_by_others
from engine.sandbox.child.layers import Layers

ENVIRONMENT = {
    "HOME": "/",
    "LANG": "C.UTF-8",
    "LOGNAME": "student",
    "MALLOC_ARENA_MAX": "2",  # every further arena reserves 64 MiB of address space
    "MKL_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PATH": "",
    "PYTHONDONTWRITEBYTECODE": "1",
    "TORCHINDUCTOR_CACHE_DIR": "/",  # torch makes the folder at import: give it one that exists
}
# Folders that the child's user can't walk to are opened first and reached through /proc/self/fd.
# The folder of ``child`` leaves the path before student code comes: its modules are ours, not to be imported.
_BOOTSTRAP = """
import os, sys
part, inside, held, *path = sys.argv[1:]
if held == "held":
    for i, folder in enumerate(path):
        fd = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        os.dup2(fd, 100 + i)
        os.close(fd)
        for module in list(sys.modules.values()):
            if getattr(module, "__path__", None):
                held_at = f"/proc/self/fd/{100 + i}/"
                module.__path__ = [p.replace(folder + "/", held_at) for p in module.__path__]
    path = [f"/proc/self/fd/{100 + i}" for i in range(len(path))]
sys.path[:] = [*path, inside]
sys.path_importer_cache.clear()
sys.argv[:] = [""]
import importlib
main = importlib.import_module(part).main
sys.path.remove(inside)
main()
"""


def must_hold_folders(layout: SandboxMounts) -> bool:
    """Return whether module folders must be held open: a user of the slot's own couldn't walk to them."""
    return not all(walkable_by_others(path) for path in layout.module_path)


def interpreter_arguments(layout: SandboxMounts, part: str, *, hold_folders: bool = False) -> list[str]:
    """Return what follows the interpreter's name, and flags that isolate it, to run ``child/<part>.py``.

    With `hold_folders`, module folders are opened first and reached by descriptors from 100 on.
    """
    start = ["-S", "-c", _BOOTSTRAP, f"child.{part}", str(layout.inside.parent)]
    return [*start, "held" if hold_folders else "named", *map(str, layout.module_path)]


def confinement_settings(
    layout: SandboxMounts,
    layers: Layers,
    uid: int | None,
    *,
    namespaced: bool,
    hold_folders: bool,
    device: bool = False,
) -> dict[str, Any]:
    """Return what ``child/lockdown.py`` must know to put the layers up, as JSON values.

    Parameters
    ----------
    layout : SandboxMounts
    layers : Layers
    uid : int or None
        The user that a child becomes; None if it stays who it is.
    namespaced, hold_folders : bool
        Whether the process has namespaces of its own, and holds its module folders open.
    device : bool
        Whether the filter is to let a GPU's driver through.
    """
    return {
        "abi": landlock_abi(),
        "readable": [str(path) for path in layout.readable()],
        "packages": list(layout.package_names),
        "filter": compile_filter(device=device).hex() if layers.seccomp else "",
        "uid": uid,
        "processes": process_limit(namespaced=namespaced, root=is_root()),
        "path_fds": len(layout.module_path) if hold_folders else 0,
        "layers": asdict(layers),
    }


def landlock_abi() -> int:
    """Return the kernel's Landlock ABI; 0 without Landlock."""
    if sys.platform != "linux":
        return 0
    # landlock_create_ruleset with the flag that only asks for the version; the C library doesn't wrap it
    create, none, version = (ctypes.c_long(number) for number in (444, 0, 1))
    return max(0, int(ctypes.CDLL(None).syscall(create, None, none, version)))


# The filter: calls by what they are for.
_MEMORY = "munmap mremap mprotect brk"
_READING = (
    "read readv pread64 preadv open openat close close_range fstat stat lstat newfstatat statx lseek access "
    "faccessat readlink readlinkat getcwd getdents64 getdents statfs fstatfs dup dup2 dup3"
)
_WRITING = "write writev"  # to the output pipe and the job's socket: nothing else is open
_THREADS = "sched_yield set_robust_list rseq set_tid_address arch_prctl gettid exit exit_group getcpu"
_SIGNALS = (
    "rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending sigaltstack setitimer getitimer alarm pause "
    "restart_syscall"
)
_TIME = "nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time times getrusage"
_IDENTITY = "getpid getppid getuid geteuid getgid getegid getresuid getresgid getgroups getpgrp uname"
_OTHER = "getrandom poll ppoll select pselect6 getrlimit capget"
# asked of oneself only: of others the answer tells that they are there, which is news from another slot
_OF_ITSELF = "sched_getaffinity sched_getparam sched_getscheduler getpgid getsid"
# answered as "not there", so that a C library falls back to an older call that the list judges
_ABSENT = "clone3 openat2 faccessat2 fchmodat2 io_uring_setup io_uring_enter io_uring_register"

# what the driver of a GPU asks for besides ioctl, after its start
_DEVICE_CALLS = (
    "eventfd2 pipe2 get_mempolicy set_mempolicy mbind sched_get_priority_max sched_get_priority_min"
)
# second byte of an ioctl: NVIDIA's memory driver, control device; AMD's; rendering; Windows' host
_DEVICE_IOCTLS = (0x00, 0x46, 0x4B, 0x64, 0x47)
_IOCTL_KIND = 0xFF00
_TERMINAL_IOCTLS = 0x5400

_CLONE_THREAD = 0x00010000
_CLONE_NEW_ANYTHING = 0x7E020000
_CLONE_TRACE = 0x00802000  # CLONE_PTRACE, CLONE_UNTRACED
_FCNTL_COMMANDS = (0, 1, 2, 3, 1030)  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC
_F_SETFL = 4
_PRCTL_NAMES = (15, 16)  # PR_SET_NAME, PR_GET_NAME
_O_ASYNC = 0o20000
# A futex that isn't private is found by the page of the file behind it, and pages of libraries are one copy
# for all slots: so only private ones, and of those none that names an owner by its number (the PI ones).
# WAIT, WAKE, REQUEUE, CMP_REQUEUE, WAKE_OP, WAIT_BITSET, WAKE_BITSET
_FUTEX_COMMANDS = (0, 1, 3, 4, 5, 9, 10)
_FUTEX_WAITS = (0, 9)
_FUTEX_PRIVATE = 128
_FUTEX_OPERATION = 0xFFFFFEFF  # all bits but FUTEX_CLOCK_REALTIME
_MAP_HUGETLB = 0x40000  # huge pages come from a pool that all slots share
# MADV_NORMAL, DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE, DONTDUMP, DODUMP: those that act on one's own memory only
_ADVICE = (0, 4, 8, 14, 15, 16, 17)


def allowed_calls() -> tuple[str, ...]:
    """Return the names of the calls that are allowed whatever their arguments."""
    groups = (_MEMORY, _READING, _WRITING, _THREADS, _SIGNALS, _TIME, _IDENTITY, _OTHER)
    return tuple(" ".join(groups).split())


@functools.cache
def compile_filter(*, device: bool = False) -> bytes:
    """Return the filter as BPF, 8 bytes an instruction.

    Parameters
    ----------
    device : bool
        Let through what a process needs that holds a GPU: ``ioctl`` of the kinds that its drivers
        know (a terminal's and others still fail) and a few calls for memory and events.

    Notes
    -----
    Everything that isn't named fails with EPERM.  Calls that depend on arguments: ``clone`` makes
    threads only; ``fcntl`` knows six commands (F_SETOWN, F_SETSIG and O_ASYNC together would send
    any signal, SIGKILL included, to oneself at a chosen time); ``prctl`` names threads;
    ``prlimit64`` reads; ``ioctl`` is answered with ENOTTY, but for a device; what could carry a signal from
    one slot to another is cut: ``futex`` is private, ``madvise`` and ``mmap`` touch nothing that is shared,
    the numbers of the machine (``sysinfo``) and of other processes are hidden.  To wait for a thread's end
    the C library uses a futex that isn't private: it is answered with EAGAIN, so it looks again and again.
    A call of another architecture (32-bit ones have other numbers) ends the process.

    Raises
    ------
    RuntimeError, OSError
        Without libseccomp.
    """
    import pyseccomp as seccomp

    rules = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
    rules.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)
    for name in allowed_calls():
        _add(rules, seccomp.ALLOW, name)
    for name in _ABSENT.split():
        _add(rules, seccomp.ERRNO(errno.ENOSYS), name)
    _judge_ioctl(rules, seccomp, device=device)
    for name in _DEVICE_CALLS.split() if device else ():
        _add(rules, seccomp.ALLOW, name)
    arg = seccomp.Arg
    mask = _CLONE_THREAD | _CLONE_NEW_ANYTHING | _CLONE_TRACE
    _add(rules, seccomp.ALLOW, "clone", arg(0, seccomp.MASKED_EQ, mask, _CLONE_THREAD))
    for command in _FCNTL_COMMANDS:
        _add(rules, seccomp.ALLOW, "fcntl", arg(1, seccomp.EQ, command))
    not_async = arg(2, seccomp.MASKED_EQ, _O_ASYNC, 0)
    _add(rules, seccomp.ALLOW, "fcntl", arg(1, seccomp.EQ, _F_SETFL), not_async)
    for option in _PRCTL_NAMES:
        _add(rules, seccomp.ALLOW, "prctl", arg(0, seccomp.EQ, option))
    _add(rules, seccomp.ALLOW, "prlimit64", arg(2, seccomp.EQ, 0))
    _isolate_from_others(rules, seccomp, device=device)
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()


def _isolate_from_others(rules: object, seccomp: Any, *, device: bool) -> None:
    """Add the calls that work within the process, and would reach others with other arguments.

    A GPU's driver shares memory with the kernel and other processes, so beside one they are all open.
    """
    arg = seccomp.Arg
    if device:
        for name in f"futex mmap mmap2 madvise membarrier sysinfo getpriority {_OF_ITSELF}".split():
            _add(rules, seccomp.ALLOW, name)
        return
    for command in _FUTEX_COMMANDS:
        operation = arg(1, seccomp.MASKED_EQ, _FUTEX_OPERATION, command | _FUTEX_PRIVATE)
        _add(rules, seccomp.ALLOW, "futex", operation)
    for command in _FUTEX_WAITS:
        operation = arg(1, seccomp.MASKED_EQ, _FUTEX_OPERATION, command)
        _add(rules, seccomp.ERRNO(errno.EAGAIN), "futex", operation)
    for name in ("mmap", "mmap2"):
        _add(rules, seccomp.ALLOW, name, arg(3, seccomp.MASKED_EQ, _MAP_HUGETLB, 0))
    for advice in _ADVICE:
        _add(rules, seccomp.ALLOW, "madvise", arg(2, seccomp.EQ, advice))
    for name in _OF_ITSELF.split():
        _add(rules, seccomp.ALLOW, name, arg(0, seccomp.EQ, 0))
    _add(rules, seccomp.ALLOW, "getpriority", arg(0, seccomp.EQ, 0), arg(1, seccomp.EQ, 0))


def _judge_ioctl(rules: object, seccomp: Any, *, device: bool) -> None:
    if not device:
        _add(rules, seccomp.ERRNO(errno.ENOTTY), "ioctl")
        return
    for kind in _DEVICE_IOCTLS:
        _add(rules, seccomp.ALLOW, "ioctl", seccomp.Arg(1, seccomp.MASKED_EQ, _IOCTL_KIND, kind << 8))
    terminal = seccomp.Arg(1, seccomp.MASKED_EQ, _IOCTL_KIND, _TERMINAL_IOCTLS)
    _add(rules, seccomp.ERRNO(errno.ENOTTY), "ioctl", terminal)


def _add(rules: object, action: int, name: str, *arguments: object) -> None:
    try:
        rules.add_rule(action, name, *arguments)  # type: ignore[attr-defined]
    except OSError as error:
        if error.errno not in (errno.EFAULT, errno.EDOM):
            raise  # EFAULT, EDOM: this architecture or this libseccomp has no such call
    except ValueError:
        return  # an unknown name: denied by default


def libseccomp_version() -> str | None:
    """Return the version of libseccomp, None where it is missing."""
    name = ctypes.util.find_library("seccomp")
    if name is None:
        return None
    version = ctypes.CDLL(name).seccomp_version
    version.restype = ctypes.POINTER(ctypes.c_uint * 3)
    return ".".join(map(str, version().contents))
