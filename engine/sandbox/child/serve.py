"""The life of one child: reads a job, loads it, makes its calls, ends.

At the head of the file is what zygotes and device workers do before their first job: importing torch takes
seconds, and the first operation of a kind loads libraries and reads files that the layers forbid later.
"""

from __future__ import annotations

import importlib
import itertools
import os
import sys
from typing import TYPE_CHECKING, Any, Final, Self

from . import arrays, calls
from .modules import COMPILER, DEVICE_LOST
from .wire import (
    FRAME_OVERHEAD,
    MAX_PLAN_JSON,
    FrameKind,
    FrameReader,
    TooLargeError,
    WireError,
    WireFrame,
    pack,
)

if TYPE_CHECKING:
    from .linux import SharedMemory

_MODULES: Final = """
    abc bisect collections contextlib copy dataclasses decimal enum fractions functools heapq inspect
    itertools json linecache math operator pdb random re statistics string textwrap threading time traceback
    typing unittest warnings
    numpy numpy.linalg numpy.ma numpy.random numpy.testing
"""
_TORCH_MODULES: Final = "torch torch.nn torch.nn.functional torch.optim"


def import_modules() -> None:
    """Import what submissions commonly use, but torch."""
    _import_all(_MODULES)


def import_torch(library: str = COMPILER) -> Any:
    """Import torch, with its compiler where that is the library; keep it to one thread, and return it."""
    _import_all(f"{_TORCH_MODULES} {library}")
    torch = sys.modules["torch"]
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    return torch


def _import_all(names: str) -> None:
    for name in names.split():
        importlib.import_module(name)


def run_numpy() -> None:
    """Run common operations of numpy once, so that everything it loads lazily is loaded."""
    import numpy as np

    a = np.ones((4, 4))
    np.linalg.solve(a + np.eye(4), a)
    np.einsum("ij,jk->ik", a, a)
    np.exp(a - a.max(axis=-1, keepdims=True)) @ a


def run_torch(device: str = "cpu") -> None:
    """Run each common operation of torch once, so that everything it loads lazily is loaded."""
    import torch

    # Without gradients on a GPU: the thread that computes them there must be the submission's own (see
    # `device_worker`), and nothing here may start it.
    with torch.set_grad_enabled(device == "cpu"):
        # The first operations look up what the processor can do, in a file that no child may open; without
        # it float16 fails.
        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            q = torch.ones(1, 2, 4, 8, dtype=dtype, device=device)
            torch.nn.functional.scaled_dot_product_attention(q, q, q)
            scores = torch.einsum("bhqd,bhkd->bhqk", q, q)
            scores.masked_fill(torch.ones(4, 4, device=device).triu(1) > 0, -torch.inf)
            (torch.softmax(q @ q.transpose(-1, -2), dim=-1) @ q).sum()
            torch.tanh(torch.exp(q) / q.max(dim=-1, keepdim=True).values)
            torch.nn.Linear(8, 8, dtype=dtype, device=device)(q)
        torch.linalg.solve(torch.eye(4, device=device), torch.ones(4, 4, device=device))
        torch.zeros(1, device=device).cpu()


_MAX_INPUT: Final = 2**31
_CHUNK: Final = 2**20


class FrameChannel:
    """Frames over a pair of descriptors (one socket, or two pipes)."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._reader = FrameReader(_MAX_INPUT, MAX_PLAN_JSON)

    @classmethod
    def over_standard_streams(cls) -> Self:
        """Take over the pipes at 0 and 1 and put others there, so that printing can't disturb the frames."""
        if sys.platform == "win32":
            import msvcrt

            for fd in (0, 1):
                msvcrt.setmode(fd, os.O_BINARY)
        read_fd, write_fd = os.dup(0), os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        return cls(read_fd, write_fd)

    def send(self, kind: int, body: Any, blobs: list[bytes] | tuple[bytes, ...] = ()) -> None:
        """Write one frame."""
        self.write(pack(kind, body, blobs))

    def write(self, frame: bytes) -> None:
        """Write packed bytes."""
        unsent = memoryview(frame)
        while unsent:
            unsent = unsent[os.write(self._write_fd, unsent) :]

    def receive(self) -> WireFrame | None:
        """Return the next frame, None at the end of the stream."""
        while True:
            for frame in self._reader.frames():
                return frame
            data = os.read(self._read_fd, _CHUNK)
            if not data:
                return None
            self._reader.feed(data)


def set_limits(*, cpu_s: int, address_space: int = 0, data: int = 0) -> None:
    """Set what limits there are (0 is none); a system without one of them goes without it."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = [
        (resource.RLIMIT_CPU, cpu_s, cpu_s + 1),  # SIGXCPU first, which says what it was, then SIGKILL
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_FSIZE, 0, 0),
    ]
    if address_space:
        limits.append((resource.RLIMIT_AS, address_space, address_space))
    if data:
        limits.append((resource.RLIMIT_DATA, data, data))
    for name, soft, hard in limits:
        try:
            resource.setrlimit(name, (soft, hard))
        except (OSError, ValueError):
            continue


def serve(channel: FrameChannel, memory: SharedMemory | None = None, *, repeat: bool = False) -> None:
    """Take one job from the channel and serve it; with `repeat` (tests only) more of them, until it closes.

    `memory` is where the grader puts arrays of a job's calls, if the tier has such a place.
    """
    while (frame := channel.receive()) is not None:
        _serve_job(channel, frame, memory)
        if not repeat:
            return


def _serve_job(channel: FrameChannel, frame: WireFrame, memory: SharedMemory | None) -> None:
    if frame.kind != FrameKind.LOAD:
        raise WireError("load")
    _open_output()
    job = frame.body
    source, *others = _texts(frame.blob, job["sizes"])
    modules = dict(zip(job["modules"], others, strict=True))
    loaded = calls.load(source, job["filename"], job["functions"], job["load_s"], modules)
    _flush()
    channel.send(FrameKind.LOADED, loaded.report)
    # The plan comes only now: code that runs while the file is loaded finds no arguments to read.
    plan = channel.receive() if loaded.report["status"] == "returned" else None
    if plan is not None:
        _make_calls(channel, calls.DecodedCalls(plan.body, plan.blob, memory), loaded, job)
    channel.send(FrameKind.END, {})


def _texts(blob: memoryview, sizes: list[int]) -> list[str]:
    """Cut the blob of a LOAD frame into the files' texts."""
    ends = list(itertools.accumulate(sizes))
    return [
        str(blob[end - size : end], "utf-8", "surrogatepass") for end, size in zip(ends, sizes, strict=True)
    ]


def _make_calls(
    channel: FrameChannel, plan: calls.DecodedCalls, loaded: calls.LoadedSubmission, job: dict[str, Any]
) -> None:
    bytes_left, nodes_left = job["output_bytes"], job["output_nodes"]
    for index in range(job["first"], len(plan.calls)):
        report, blobs, nodes = calls.run_call(loaded, plan, index, bytes_left, nodes_left)
        _flush()
        if arrays.device_is_lost():  # every later call would fail through no fault of its own
            os._exit(DEVICE_LOST)
        try:
            frame = pack(FrameKind.RESULT, report, blobs)
        except TooLargeError:
            frame = b""
        except MemoryError:
            report, frame = {}, pack(FrameKind.RESULT, {"index": index, "status": "out_of_memory"})
        if report.get("status") == "returned":
            spent = max(0, len(frame) - FRAME_OVERHEAD)
            if not frame or spent > bytes_left:
                frame = pack(FrameKind.RESULT, {"index": index, "status": "too_large", "code": "bytes"})
            else:
                bytes_left -= spent
                nodes_left -= nodes
        channel.write(frame)


def _open_output() -> None:
    sys.stdout = open(1, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # student code may have put anything there
            continue
