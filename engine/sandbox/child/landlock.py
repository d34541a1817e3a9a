"""Landlock by its three system calls.

The ruleset is made once by the zygote and enforced by each child: one call instead of opening some
forty paths again.  The calls are direct because the wrappers at hand can't prepare a ruleset
ahead, take no TCP rules without a supervisor, and would bring a 12 MB library beside student code.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
from collections.abc import Iterable
from typing import Final

__all__ = [
    "PR_SET_DUMPABLE",
    "PR_SET_NAME",
    "PR_SET_NO_NEW_PRIVS",
    "PR_SET_PDEATHSIG",
    "SharedMemory",
    "abi_version",
    "capabilities",
    "install_filter",
    "keep_capabilities",
    "make_ruleset",
    "prctl",
    "restrict",
    "set_capabilities",
    "syscall",
]


# ----------------------------------------------------------------------------------------------------
# The few Linux calls that Python doesn't wrap, by ctypes.

PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_SET_NAME: Final = 15
PR_SET_SECCOMP: Final = 22
PR_CAPBSET_DROP: Final = 24
PR_SET_NO_NEW_PRIVS: Final = 38
_SECCOMP_MODE_FILTER = 2
_SECCOMP_SET_MODE_FILTER = 1
_SECCOMP_EVERY_THREAD = 1
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_CAPABILITY_VERSION_3 = 0x20080522
_CAPGET = {"x86_64": 125, "aarch64": 90}
_CAPSET = {"x86_64": 126, "aarch64": 91}

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
)


def _check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def prctl(option: int, value: int = 0) -> int:
    """Call ``prctl(option, value, 0, 0, 0)``; raise `OSError` where it fails."""
    zero = ctypes.c_ulong(0)
    return _check(
        _libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero), f"prctl {option}"
    )


def syscall(number: int, *args: int | ctypes.Array[ctypes.c_char] | None) -> int:
    """Call a system call by its number; raise `OSError` where it fails."""
    plain = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    return _check(int(_libc.syscall(ctypes.c_long(number), *plain)), f"syscall {number}")


def capabilities() -> int:
    """Return the union of the effective, permitted and inheritable sets as bits."""
    header = ctypes.create_string_buffer(struct.pack("<Ii", _CAPABILITY_VERSION_3, 0), 8)
    data = ctypes.create_string_buffer(24)
    syscall(_CAPGET[os.uname().machine], header, data)
    low, high = struct.unpack("<3I3I", data.raw)[:3], struct.unpack("<3I3I", data.raw)[3:]
    return int(low[0] | low[1] | low[2]) | int(high[0] | high[1] | high[2]) << 32


def keep_capabilities(kept: tuple[int, ...]) -> None:
    """Give up every capability but `kept`, in all sets and in the bounding set."""
    for bit in range(64):
        if bit not in kept:
            try:
                prctl(PR_CAPBSET_DROP, bit)
            except OSError:  # beyond the kernel's last capability, or no CAP_SETPCAP
                continue
    set_capabilities(sum(1 << bit for bit in kept))


def set_capabilities(bits: int) -> None:
    """Set the effective and permitted sets to `bits`, and empty the inheritable set."""
    header = ctypes.create_string_buffer(struct.pack("<Ii", _CAPABILITY_VERSION_3, 0), 8)
    data = ctypes.create_string_buffer(struct.pack("<6I", bits, bits, 0, 0, 0, 0), 24)
    syscall(_CAPSET[os.uname().machine], header, data)


def install_filter(program: bytes, *, every_thread: bool = False) -> None:
    """Install a seccomp filter (BPF, 8 bytes an instruction); it can't be taken off again.

    It binds the calling thread and what that starts; with `every_thread` those that run already too.
    """

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))

    code = ctypes.create_string_buffer(program, len(program))
    head = Program(len(program) // 8, ctypes.cast(code, ctypes.c_void_p))
    if every_thread:
        pointer = ctypes.cast(ctypes.byref(head), ctypes.c_void_p).value or 0
        number = _SECCOMP[os.uname().machine]
        refused = syscall(number, _SECCOMP_SET_MODE_FILTER, _SECCOMP_EVERY_THREAD, pointer)
        if refused:
            raise OSError(f"seccomp: thread {refused} can't be bound")
        return
    zero = ctypes.c_ulong(0)
    result = _libc.prctl(
        ctypes.c_int(PR_SET_SECCOMP), ctypes.c_ulong(_SECCOMP_MODE_FILTER), ctypes.byref(head), zero, zero
    )
    _check(result, "seccomp")


class SharedMemory:
    """The memory in which the grader puts the arrays of a plan's calls, and looks at them afterwards.

    Parameters
    ----------
    fd : int
        Its descriptor, which isn't needed any more once this object is made: Python's own ``mmap`` would keep
        a copy of it open beside student code.
    size : int

    Notes
    -----
    ``buffer`` is never unmapped: arrays of student code lie in it.  ``bounds`` are its addresses.
    """

    def __init__(self, fd: int, size: int) -> None:
        place = _libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, fd, 0)
        if place in (None, ctypes.c_void_p(-1).value):
            raise MemoryError(f"mmap: {os.strerror(ctypes.get_errno())}")
        self.buffer = (ctypes.c_ubyte * size).from_address(place)
        self.bounds = place, place + size


_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_VERSION_FLAG = 1
_PATH_BENEATH = 1

WRITE_FILE: Final = 1 << 1
READ_FILE: Final = 1 << 2
READ_DIR: Final = 1 << 3
IOCTL_DEV: Final = 1 << 15
# access rights on files by the first ABI that knows them: 13 at first, REFER 2, TRUNCATE 3, IOCTL_DEV 5
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
_TCP_BIND_CONNECT = 0b11  # ABI 4
_SCOPE_SOCKET_SIGNAL = 0b11  # ABI 6: abstract unix sockets, signals


def abi_version() -> int:
    """Return the kernel's Landlock ABI, 0 where there is none."""
    try:
        return syscall(_CREATE, None, 0, _VERSION_FLAG)
    except OSError:
        return 0


def make_ruleset(
    abi: int, readable: Iterable[str], writeable: Iterable[str] = (), devices: Iterable[str] = ()
) -> int:
    """Return a ruleset that denies every access known to `abi` but reading below `readable`.

    Parameters
    ----------
    abi : int
        At least 1.
    readable : iterable of str
        Folders and files.
    writeable : iterable of str
        Devices that may be read and written: /dev/null.
    devices : iterable of str
        Devices that may be driven by ``ioctl`` too: those of a GPU.

    Returns
    -------
    int
        A file descriptor.

    Raises
    ------
    OSError
        Where the kernel refuses.
    """
    files = max(count for first, count in _FILE_RIGHTS.items() if first <= abi)
    handled = struct.pack(
        "<QQQ",
        (1 << files) - 1,
        _TCP_BIND_CONNECT if abi >= 4 else 0,
        _SCOPE_SOCKET_SIGNAL if abi >= 6 else 0,
    )
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    ruleset = syscall(_CREATE, ctypes.create_string_buffer(handled, 24), size, 0)
    os.set_inheritable(ruleset, False)
    for path in readable:
        rights = READ_FILE | (READ_DIR if os.path.isdir(path) else 0)  # noqa: PTH112
        _allow(ruleset, path, rights)
    for path in writeable:
        _allow(ruleset, path, READ_FILE | WRITE_FILE)
    for path in devices:
        _allow(ruleset, path, READ_FILE | WRITE_FILE | (IOCTL_DEV if abi >= 5 else 0))
    return ruleset


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:  # a link to what isn't mounted: then nothing is allowed
        return
    try:
        rule = ctypes.create_string_buffer(struct.pack("<Qi", rights, parent), 12)
        syscall(_ADD, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(parent)


def restrict(ruleset: int) -> None:
    """Enforce the ruleset on the calling thread and all that it starts; needs no_new_privs."""
    syscall(_RESTRICT, ruleset, 0)
