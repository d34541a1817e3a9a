"""Several processes that serve one course on one socket; a PostgreSQL store holds what they share.

The first process only looks after the others: it begins a new one for each that died, and passes on the
signal to stop. It has no threads and no open store, so that the others can be forked from it.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType

from engine.errors import EngineError, SoftmarkError
from engine.web.logs import error_frames

log = logging.getLogger("softmark.web")

_PAUSE_S = 1.0  # between the death of a process and its successor
_SOON_S = 5.0  # one that dies so soon won't be helped by being begun again
_MOST_SOON = 5
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def serve_in_processes(count: int, serve: Callable[[bool], None]) -> None:
    """Run `serve` in several processes until SIGINT or SIGTERM, and wait until all have finished.

    Parameters
    ----------
    count : int
    serve : callable
        Serves until its process gets SIGTERM. Its argument says whether this is the first of all, which
        tells people the address.

    Raises
    ------
    EngineError
        Processes die again and again as soon as they have begun.
    """
    _Processes(count, serve).run()


class _Processes:
    def __init__(self, count: int, serve: Callable[[bool], None]) -> None:
        self._count = count
        self._serve = serve
        self._began: dict[int, float] = {}
        self._is_stopping = False
        self._died_soon = 0

    def run(self) -> None:
        # Held open by this process alone: at its end, however it comes, the others read the end of it.
        self._alive, self._holding = os.pipe()
        for kind in _SIGNALS:
            signal.signal(kind, self._stop)
        try:
            for number in range(self._count):
                self._begin(is_first=number == 0)
            while self._began:
                self._wait()
        finally:
            self._end_all()
        if self._died_soon >= _MOST_SOON:
            raise EngineError(
                "the processes of the site end as soon as they have started",
                next_step="see the lines above, and run grade serve --check",
            )

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._is_stopping = True
        self._end_all()

    def _end_all(self) -> None:
        # After Ctrl-C too, which the others got from the terminal: a second SIGINT would cut them off.
        for process in list(self._began):
            os.kill(process, signal.SIGTERM)

    def _begin(self, *, is_first: bool = False) -> None:
        # A signal that comes while there are two of us waits until each has its own answer to it.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        process = os.fork()
        if process:
            self._began[process] = time.monotonic()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            return
        code = 3
        try:
            for kind in _SIGNALS:
                signal.signal(kind, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            os.close(self._holding)
            threading.Thread(target=self._end_with_parent, daemon=True).start()
            self._serve(is_first)
            code = 0
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 1
        except SoftmarkError as error:
            sys.stderr.write(f"{error}\n")
        except Exception as error:
            sys.stderr.write("\n".join(error_frames(error)) + "\n")
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _end_with_parent(self) -> None:
        os.read(self._alive, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _wait(self) -> None:
        process, status = os.waitpid(-1, 0)
        began = self._began.pop(process, None)
        if began is None or self._is_stopping:
            return
        log.error("a process of the site ended with status %s; another takes its place", status)
        if time.monotonic() - began < _SOON_S:
            self._died_soon += 1
            if self._died_soon >= _MOST_SOON:
                self._is_stopping = True
                self._end_all()
                return
        else:
            self._died_soon = 0
        time.sleep(_PAUSE_S)
        if not self._is_stopping:
            self._begin()
