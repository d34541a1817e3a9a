"""The few Linux calls that Python doesn't wrap, by ctypes."""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
from typing import Final

__all__ = [
    "PR_SET_DUMPABLE",
    "PR_SET_NAME",
    "PR_SET_NO_NEW_PRIVS",
    "PR_SET_PDEATHSIG",
    "SharedMemory",
    "capabilities",
    "install_filter",
    "keep_capabilities",
    "prctl",
    "set_capabilities",
    "syscall",
]

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
