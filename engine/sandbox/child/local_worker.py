"""The weakest tier's process: one job, a fresh interpreter, limits where the system has them.

It runs on any operating system; nothing here stops hostile code.
"""

from __future__ import annotations

import os
import tempfile

from .modules import COMPILER, offer_only
from .serve import FrameChannel, serve, set_limits
from .wire import FrameKind


def main() -> None:
    """Serve one job on standard input and output, then end."""
    channel = FrameChannel.over_standard_streams()
    import numpy  # noqa: F401  before the limits; torch only if the job asks for it

    tempfile.tempdir = tempfile.gettempdir()  # it tries to write, which the limits will forbid
    settings = channel.receive()
    if settings is None:
        return
    os.environ.clear()
    if settings.body["torch"]:
        import torch

        torch.set_num_threads(1)
    offer_only(settings.body["packages"], beside=COMPILER if settings.body["torch"] else "numpy")
    size = _address_space()
    set_limits(
        cpu_s=settings.body["cpu_s"], address_space=size and size + settings.body["memory_mib"] * 2**20
    )
    channel.send(FrameKind.LOCKED, {})
    serve(channel)
    os._exit(0)  # not by return: student code may have registered what would run at the interpreter's end


def _address_space() -> int:
    """Return the size of the address space in bytes, 0 where that can't be read."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
