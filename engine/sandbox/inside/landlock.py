"""Landlock by its three system calls.

The ruleset is made once by the zygote and enforced by each child: one call instead of opening some
forty paths again.  The calls are direct because the wrappers at hand can't prepare a ruleset
ahead, take no TCP rules without a supervisor, and would bring a 12 MB library beside student code.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable
from typing import Final

from .linux import syscall

__all__ = ["abi_version", "make_ruleset", "restrict"]

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
