"""The life of one child: reads a job, loads it, makes its calls, ends."""

from __future__ import annotations

import itertools
import os
import sys
from typing import TYPE_CHECKING, Any, Final

from . import arrays as leaves
from . import calls
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
    from . import landlock as linux

__all__ = ["DEVICE_LOST", "OUR_FAULT", "FrameChannel", "serve"]


# ----------------------------------------------------------------------------------------------------
# Exit statuses that the child uses itself.

OUR_FAULT: Final = 71
DEVICE_LOST: Final = 72  # an error after which a GPU answers nothing in this process

_MAX_INPUT = 2**31
_CHUNK = 2**20


class FrameChannel:
    """Frames over a pair of descriptors (one socket, or two pipes)."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._reader = FrameReader(_MAX_INPUT, MAX_PLAN_JSON)

    def send(self, kind: int, body: Any, blobs: list[bytes] | tuple[bytes, ...] = ()) -> None:
        """Write one frame."""
        self.write(pack(kind, body, blobs))

    def write(self, frame: bytes) -> None:
        """Write packed bytes."""
        left = memoryview(frame)
        while left:
            left = left[os.write(self._write_fd, left) :]

    def receive(self) -> WireFrame | None:
        """Return the next frame, None at the end of the stream."""
        while True:
            for frame in self._reader.frames():
                return frame
            data = os.read(self._read_fd, _CHUNK)
            if not data:
                return None
            self._reader.feed(data)


def serve(channel: FrameChannel, memory: linux.SharedMemory | None = None, *, again: bool = False) -> None:
    """Take jobs from the channel until it ends; one job only, unless `again` (a test's wish).

    `memory` is where the grader puts arrays of a job's calls, if the tier has such a place.
    """
    while True:
        frame = channel.receive()
        if frame is None:
            return
        _serve_one(channel, frame, memory)
        if not again:
            return


def _serve_one(channel: FrameChannel, frame: WireFrame, memory: linux.SharedMemory | None) -> None:
    if frame.kind != FrameKind.LOAD:
        raise WireError("load")
    _open_output()
    job = frame.body
    source, *others = _texts(frame.blob, job["sizes"])
    modules = dict(zip(job["modules"], others, strict=True))
    loaded = calls.load(source, job["filename"], job["functions"], job["load_s"], modules)
    _flush()
    channel.send(FrameKind.LOADED, loaded.report)
    planned = channel.receive() if loaded.report["status"] == "returned" else None
    if planned is not None:
        _make_calls(channel, calls.DecodedCalls(planned.body, planned.blob, memory), loaded, job)
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
    left, nodes_left = job["output_bytes"], job["output_nodes"]
    for index in range(job["first"], len(plan.calls)):
        report, blobs, nodes = calls.run_call(loaded, plan, index, left, nodes_left)
        _flush()
        if leaves.device_is_lost():  # every later call would fail through no fault of its own
            os._exit(DEVICE_LOST)
        try:
            frame = pack(FrameKind.RESULT, report, blobs)
        except TooLargeError:
            frame = b""
        except MemoryError:
            report, frame = {}, pack(FrameKind.RESULT, {"index": index, "status": "out_of_memory"})
        if report.get("status") == "returned":
            spent = max(0, len(frame) - FRAME_OVERHEAD)
            if not frame or spent > left:
                frame = pack(FrameKind.RESULT, {"index": index, "status": "too_large", "code": "bytes"})
            else:
                left -= spent
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
