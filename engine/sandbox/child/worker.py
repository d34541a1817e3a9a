"""The weakest tier's process: one job, a fresh interpreter, limits where the system has them.

It runs on any operating system; nothing here stops hostile code.
"""

from __future__ import annotations

import os
import sys
import tempfile

from .child import FrameChannel, serve
from .modules import offer_only
from .wire import FrameKind

__all__ = ["limit", "main", "take_channel"]


def main() -> None:
    """Serve one job on standard input and output, then end."""
    read_fd, write_fd = take_channel()
    channel = FrameChannel(read_fd, write_fd)
    import numpy  # noqa: F401  before the limits; torch only if the job asks for it

    tempfile.tempdir = tempfile.gettempdir()  # it tries to write, which the limits will forbid
    settings = channel.receive()
    if settings is None:
        return
    os.environ.clear()
    if settings.body["torch"]:
        import torch

        torch.set_num_threads(1)
    offer_only(settings.body["packages"])
    size = _address_space()
    limit(cpu_s=settings.body["cpu_s"], address_space=size and size + settings.body["memory_mib"] * 2**20)
    channel.send(FrameKind.LOCKED, {})
    serve(channel)
    os._exit(0)


def take_channel() -> tuple[int, int]:
    """Move the pipes away from 0 and 1, so that printing can't disturb them."""
    if sys.platform == "win32":
        import msvcrt

        for fd in (0, 1):
            msvcrt.setmode(fd, os.O_BINARY)
    read_fd, write_fd = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return read_fd, write_fd


def limit(*, cpu_s: int, address_space: int = 0, data: int = 0) -> None:
    """Set what limits there are (0 is none); a system without one of them goes without it."""
    try:
        import resource
    except ImportError:  # Windows
        return
    wanted = [
        (resource.RLIMIT_CPU, cpu_s, cpu_s + 1),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_FSIZE, 0, 0),
    ]
    if address_space:
        wanted.append((resource.RLIMIT_AS, address_space, address_space))
    if data:
        wanted.append((resource.RLIMIT_DATA, data, data))
    for name, soft, hard in wanted:
        try:
            resource.setrlimit(name, (soft, hard))
        except (OSError, ValueError):
            continue


def _address_space() -> int:
    """Return the size of the address space in bytes, 0 where that can't be read."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
