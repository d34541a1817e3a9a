"""The first process of a host (tests/live/hosts.py): it starts what is asked for, and all ends with it.

Requests and answers are lines of JSON on standard input and output. When standard input ends, because the
test did, this process ends, and with the first process of their namespace the kernel ends all others.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Any

EVERYTHING = -1  # to a signal: all processes of this namespace but the first
# Short beside every time-out of ours, long beside a tick of the scheduler.
_BEAT_S = 0.04
_COLLECT_EVERY_S = 0.1

_ended: dict[int, int] = {}
_share = 1.0
_share_changed = threading.Event()
# Starting a program waits until the new process runs it; stopped before that, it would be waited for always.
_starting = threading.Lock()


def _collect() -> None:
    """Note how processes ended; orphans come to the first process too."""
    while True:
        try:
            number, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if number == 0:
            return
        _ended[number] = os.waitstatus_to_exitcode(status)


def _send(number: int, what: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(number, what)


def _slow_down() -> None:
    """Stop everything again and again, so that it runs for a share of the time only."""
    while True:
        _share_changed.wait()
        _share_changed.clear()
        while _share < 1:
            with _starting:
                _send(EVERYTHING, signal.SIGSTOP)
            time.sleep(_BEAT_S * (1 - _share))
            if _share > 0:
                _send(EVERYTHING, signal.SIGCONT)
                time.sleep(_BEAT_S * _share)
        _send(EVERYTHING, signal.SIGCONT)


def _start(request: dict[str, Any]) -> int:
    with open(request["log"], "ab") as log, _starting:
        process = subprocess.Popen(
            request["command"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=request["environment"],
            cwd=request["folder"],
            start_new_session=True,
            **request["user"],
        )
    process.returncode = 0  # `_collect` waits for it
    return process.pid


def _answer(request: dict[str, Any]) -> Any:
    global _share
    match request["do"]:
        case "start":
            return _start(request)
        case "poll":
            return _ended.get(request["number"])
        case "signal":
            _send(request["number"], request["signal"])
        case "share":
            _share = request["share"]
            if _share == 0:  # at once
                _send(EVERYTHING, signal.SIGSTOP)
            _share_changed.set()
        case other:
            raise ValueError(other)
    return None


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main() -> None:
    socket.sethostname(sys.argv[1])
    threading.Thread(target=_slow_down, daemon=True).start()
    rest = b""
    _say({"value": None})
    while True:
        if select.select([0], [], [], _COLLECT_EVERY_S)[0]:
            piece = os.read(0, 1 << 16)
            if not piece:
                return
            *lines, rest = (rest + piece).split(b"\n")
        else:
            lines = []
        _collect()
        for line in lines:
            try:
                answer = {"value": _answer(json.loads(line))}
            except Exception as error:
                answer = {"error": f"{type(error).__name__}: {error}"}
            _say(answer)


main()
