"""The Linux calls that Python doesn't wrap, by ctypes: prctl, capabilities, seccomp, Landlock, shared memory.

A Landlock ruleset is made once by the zygote and enforced by each child: one call instead of opening some
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

PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
_PR_SET_SECCOMP: Final = 22
_PR_CAPBSET_DROP: Final = 24
PR_SET_NO_NEW_PRIVS: Final = 38
_SECCOMP_MODE_FILTER: Final = 2
_SECCOMP_SET_MODE_FILTER: Final = 1
_SECCOMP_EVERY_THREAD: Final = 1  # SECCOMP_FILTER_FLAG_TSYNC
# numbers of system calls for which the C library has no function
_SECCOMP: Final = {"x86_64": 317, "aarch64": 277}
_CAPGET: Final = {"x86_64": 125, "aarch64": 90}
_CAPSET: Final = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3: Final = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
# without these, ctypes would cut addresses to 32 bits
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)


def _check(result: int, call: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{call}: {os.strerror(code)}")
    return result


def prctl(option: int, value: int = 0) -> int:
    """Call ``prctl(option, value, 0, 0, 0)``; raise `OSError` where it fails."""
    zero = ctypes.c_ulong(0)
    return _check(
        _libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero), f"prctl {option}"
    )


def _syscall(number: int, *args: int | ctypes.Array[ctypes.c_char] | None) -> int:
    """Call a system call by its number; raise `OSError` where it fails."""
    plain = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    return _check(int(_libc.syscall(ctypes.c_long(number), *plain)), f"syscall {number}")


def capabilities() -> int:
    """Return the union of the effective, permitted and inheritable sets as bits."""
    header = ctypes.create_string_buffer(struct.pack("<Ii", _CAPABILITY_VERSION_3, 0), 8)
    data = ctypes.create_string_buffer(24)
    _syscall(_CAPGET[os.uname().machine], header, data)
    words = struct.unpack("<6I", data.raw)  # three sets of the low 32 bits, then three of the high ones
    return int(words[0] | words[1] | words[2]) | int(words[3] | words[4] | words[5]) << 32


def keep_capabilities(bits: tuple[int, ...]) -> None:
    """Give up every capability but these, in all sets and in the bounding set."""
    for bit in range(64):
        if bit not in bits:
            try:
                prctl(_PR_CAPBSET_DROP, bit)
            except OSError:  # beyond the kernel's last capability, or no CAP_SETPCAP
                continue
    set_capabilities(sum(1 << bit for bit in bits))


def set_capabilities(bits: int) -> None:
    """Set the effective and permitted sets to `bits`, and empty the inheritable set."""
    header = ctypes.create_string_buffer(struct.pack("<Ii", _CAPABILITY_VERSION_3, 0), 8)
    data = ctypes.create_string_buffer(struct.pack("<6I", bits, bits, 0, 0, 0, 0), 24)
    _syscall(_CAPSET[os.uname().machine], header, data)


def install_filter(program: bytes, *, every_thread: bool = False) -> None:
    """Install a seccomp filter (BPF, 8 bytes an instruction); it can't be taken off again.

    It binds the calling thread and those that it starts; with `every_thread`, those that already run too.
    """

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))

    code = ctypes.create_string_buffer(program, len(program))
    head = Program(len(program) // 8, ctypes.cast(code, ctypes.c_void_p))
    if every_thread:
        pointer = ctypes.cast(ctypes.byref(head), ctypes.c_void_p).value or 0
        number = _SECCOMP[os.uname().machine]
        # a thread that can't be bound isn't an error to the kernel: it returns that thread's id
        thread = _syscall(number, _SECCOMP_SET_MODE_FILTER, _SECCOMP_EVERY_THREAD, pointer)
        if thread:
            raise OSError(f"seccomp: thread {thread} can't be bound")
        return
    zero = ctypes.c_ulong(0)
    mode = ctypes.c_ulong(_SECCOMP_MODE_FILTER)
    _check(_libc.prctl(ctypes.c_int(_PR_SET_SECCOMP), mode, ctypes.byref(head), zero, zero), "seccomp")


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
    ``buffer`` is never unmapped: arrays of student code lie in it.
    """

    def __init__(self, fd: int, size: int) -> None:
        address = _libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, fd, 0)
        if address in (None, ctypes.c_void_p(-1).value):
            raise MemoryError(f"mmap: {os.strerror(ctypes.get_errno())}")
        self.buffer = (ctypes.c_ubyte * size).from_address(address)


# landlock_create_ruleset and its kin have the same numbers on every architecture
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_PATH_BENEATH: Final = 1

_WRITE_FILE: Final = 1 << 1
_READ_FILE: Final = 1 << 2
_READ_DIR: Final = 1 << 3
_IOCTL_DEV: Final = 1 << 15
# access rights on files by the first ABI that knows them: 13 at first, REFER 2, TRUNCATE 3, IOCTL_DEV 5
_FILE_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 5: 16}
_TCP_BIND_CONNECT: Final = 0b11  # ABI 4
_SCOPE_SOCKET_SIGNAL: Final = 0b11  # ABI 6: abstract unix sockets, signals


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
    file_rights = max(count for first, count in _FILE_RIGHTS.items() if first <= abi)
    handled = struct.pack(
        "<QQQ",
        (1 << file_rights) - 1,
        _TCP_BIND_CONNECT if abi >= 4 else 0,
        _SCOPE_SOCKET_SIGNAL if abi >= 6 else 0,
    )
    size = 8 if abi < 4 else 16 if abi < 6 else 24  # an older kernel refuses a longer structure
    ruleset = _syscall(_CREATE, ctypes.create_string_buffer(handled, 24), size, 0)
    os.set_inheritable(ruleset, False)
    for path in readable:
        # the kernel refuses a right on folders for a plain file
        _allow(ruleset, path, _READ_FILE | (_READ_DIR if os.path.isdir(path) else 0))  # noqa: PTH112
    for path in writeable:
        _allow(ruleset, path, _READ_FILE | _WRITE_FILE)
    for path in devices:
        _allow(ruleset, path, _READ_FILE | _WRITE_FILE | (_IOCTL_DEV if abi >= 5 else 0))
    return ruleset


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:  # a link to what isn't mounted: then nothing is allowed
        return
    try:
        rule = ctypes.create_string_buffer(struct.pack("<Qi", rights, parent), 12)
        _syscall(_ADD, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(parent)


def enforce_ruleset(ruleset: int) -> None:
    """Enforce the ruleset on the calling thread and all that it starts; needs no_new_privs."""
    _syscall(_RESTRICT, ruleset, 0)
