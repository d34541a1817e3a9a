"""Named places at which a test has the program killed, to see that nothing is lost there.

Only a process that really dies between two writes shows what the disk holds then.
"""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Iterator

_VARIABLE = "SOFTMARK_CRASH_AT"
_times: Iterator[int] = itertools.count(1)  # one step is atomic: threads count together


def reached(place: str) -> None:
    """Kill this process, as ``kill -9`` does, where ``SOFTMARK_CRASH_AT`` asks for it.

    Nothing happens while the variable isn't set.

    Parameters
    ----------
    place : str
        The variable is such a name, or ``name:n`` for the n-th time that it is reached.
    """
    setting = os.environ.get(_VARIABLE)
    if not setting:
        return
    name, _, times = setting.partition(":")
    if name == place and next(_times) >= int(times or 1):
        os.kill(os.getpid(), signal.SIGKILL)
