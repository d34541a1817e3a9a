"""The naive grader: the control at which every attack is shown to work.

It grades as home-made graders do: it forks a child from a process that holds the expected values,
lets it inherit environment and open files, sets no limit, waits for an answer, unpickles it.  It
shares no code with the sandbox.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import pickle
import select
import signal
import sys
import threading
import time
import traceback
import types
from typing import Any, NoReturn

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
import torch

torch.set_num_threads(1)
_FLOOD = 2**23
_own_fds: list[int] = []


def _load(source: str) -> types.ModuleType:
    module = types.ModuleType("submission")
    sys.modules["submission"] = module
    exec(compile(source, "submission.py", "exec"), module.__dict__)
    return module


def _encode_naively(value: Any) -> bool:
    """Tell whether turning the value into bytes goes wrong."""
    try:
        plain = value.contiguous().numpy() if isinstance(value, torch.Tensor) else value
        data = np.asarray(plain).tobytes()
        return len(data) != int(np.prod([int(n) for n in value.shape])) * 8
    except (Exception, MemoryError):
        return True


def _answer(request: dict[str, Any], expected: bytes) -> dict[str, Any]:
    """Do what one child does; `expected` lies in this frame, as it would in a test."""
    assert expected
    library = torch if request["torch"] else np
    answer: dict[str, Any] = {"values": [], "exceptions": []}
    for name in request["functions"]:
        module = _load(request["source"])
        for _ in range(request["calls"] if name == "softmax" else 1):
            x = library.asarray([1.0, 2.0, 3.0])
            try:
                value = getattr(module, name)(x)
            except Exception as error:
                traceback.print_exc()
                answer["exceptions"].append(error)
                continue
            answer["values"].append(value)
    if request["encode"]:
        answer = {
            "values": [],
            "exceptions": [],
            "encoding_failed": any(map(_encode_naively, answer["values"])),
        }
    return answer


def _be_child(request: dict[str, Any], results: int, output: int) -> NoReturn:
    os.setpgid(0, 0)
    for fd in (1, 2):
        os.dup2(output, fd)
    os.close(output)
    for fd in _own_fds:
        os.close(fd)
    try:
        answer = _answer(request, os.environ["ARENA_EXPECTED"].encode())
        if not request["unpickle"]:
            answer["values"] = [_simple(value) for value in answer["values"]]
            answer["exceptions"] = [str(error) for error in answer["exceptions"]]
        with open(results, "wb") as file:
            file.write(pickle.dumps(answer))
    except BaseException:
        with contextlib.suppress(BaseException):
            traceback.print_exc()
    for finish in (sys.stdout.flush, threading._shutdown, atexit._run_exitfuncs):  # type: ignore[attr-defined]
        with contextlib.suppress(BaseException):
            finish()
    os._exit(0)


def _simple(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        value = value.detach().numpy()
    return np.array(value) if isinstance(value, np.ndarray) else value


def _bytes_of(value: Any) -> bytes:
    if isinstance(value, (list, tuple)):
        return b"".join(map(_bytes_of, value))
    return np.ascontiguousarray(value).tobytes() if isinstance(value, np.ndarray) else repr(value).encode()


def _number(values: list[Any]) -> float | None:
    value = values[0] if values else None
    plain = isinstance(value, np.ndarray) and value.shape == (1,) and value.dtype.kind == "f"
    return float(value[0]) if plain else None


def _grade(request: dict[str, Any]) -> dict[str, Any]:
    """Fork a child and wait for its answer."""
    results_in, results_out = os.pipe()
    output_in, output_out = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(results_in)
        os.close(output_in)
        _be_child(request, results_out, output_out)
    os.close(results_out)
    os.close(output_out)
    report = _watch(pid, results_in, output_in, request["patience_s"])
    for fd in (results_in, output_in):
        os.close(fd)
    return report


def _watch(pid: int, results: int, output: int, patience_s: float) -> dict[str, Any]:
    data, printed, open_fds, status = b"", 0, {results, output}, None
    chunks: list[bytes] = []
    end = time.monotonic() + patience_s
    while open_fds and time.monotonic() < end:
        if status is None:
            done, code = os.waitpid(pid, os.WNOHANG)
            status = code if done else None
            if done:
                end = min(end, time.monotonic() + 0.3)
        ready, _, _ = select.select(list(open_fds), [], [], 0.02)
        for fd in ready:
            chunk = os.read(fd, 2**20)
            if not chunk:
                open_fds.discard(fd)
            elif fd == results:
                chunks.append(chunk)
            else:
                printed += len(chunk)
        if results not in open_fds and chunks:
            break
    data = b"".join(chunks)
    answered = bool(data)
    if status is None:
        stop = time.monotonic() + 0.4
        while status is None and time.monotonic() < stop:
            done, code = os.waitpid(pid, os.WNOHANG)
            status = code if done else None
            time.sleep(0.005)
    while output in open_fds and select.select([output], [], [], 0)[0]:
        chunk = os.read(output, 2**20)
        if not chunk:
            break
        printed += len(chunk)
    try:
        answer = pickle.loads(data)
    except Exception:
        answer = {"values": [], "exceptions": []}
        answered = False
    sent = b"".join(map(_bytes_of, answer["values"]))
    return {
        "pid": pid,
        "answered": answered,
        "ended": status is not None,
        "bytes": sent[:65536].hex(),
        "number": _number(answer["values"][:1]),
        "last": _number(answer["values"][-1:]),
        "flood": printed + len(data) > _FLOOD,
        "encoding_failed": bool(answer.get("encoding_failed")),
    }


def main() -> None:
    """Answer requests, one JSON line each, on descriptors of our own."""
    requests = os.fdopen(os.dup(0), "r")
    reports = os.fdopen(os.dup(1), "w")
    _own_fds.extend((requests.fileno(), reports.fileno()))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    os.dup2(os.open("/", os.O_PATH | os.O_DIRECTORY), 100)  # a folder left open, as in a sloppy grader
    secret_keys = types.ModuleType("secret_keys")
    sys.modules["secret_keys"] = secret_keys
    secret_keys.table = {"expected": os.environ["ARENA_EXPECTED"].encode(), "inputs": [1.0]}  # type: ignore[attr-defined]
    memory = os.environ["ARENA_MEMORY"].encode()
    assert memory
    assert threading.active_count() == 1
    for line in requests:
        report = _grade(json.loads(line))
        reports.write(json.dumps(report) + "\n")
        reports.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    main()
