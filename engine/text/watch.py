"""Says when something in a folder was saved.

Editors save in many ways: they write in place, empty the file first, or write another file and rename it.
So folders are watched and not files.  Twice a second it is time for a look without any event, for network
folders that give none.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Iterator
from pathlib import Path

__all__ = ["LOOK_EVERY_MS", "file_changes", "folders_of"]

LOOK_EVERY_MS = 500
"""How often files are looked at without any event."""
# Events closer together than this are one save; one or two of it are added to every answer.
_STEP_MS = 4
_PAUSE_S = 0.1


def folders_of(path: Path) -> set[Path]:
    """Return the folders to watch for a file: that of the link and that of what it leads to."""
    return {path.absolute().parent, path.resolve().parent}


def file_changes(
    folders: Collection[Path], endings: tuple[str, ...], stop: threading.Event | None = None
) -> Iterator[bool]:
    """Yield True when a file was saved, False when it is time for a look anyway.

    Parameters
    ----------
    folders : collection of Path
        Watched without the folders in them.
    endings : tuple of str
        What the names of the files end in.
    stop : threading.Event, optional
        Ends the iteration; without it there is no end.
    """
    from watchfiles import watch  # imported here: a compiled library that only this needs

    logging.getLogger("watchfiles").setLevel(logging.ERROR)
    try:
        for changes in watch(
            *folders,
            watch_filter=lambda _, name: name.endswith(endings),
            step=_STEP_MS,
            debounce=4 * _STEP_MS,
            rust_timeout=LOOK_EVERY_MS,
            yield_on_timeout=True,
            recursive=False,
            stop_event=stop,
        ):
            yield bool(changes)
    except (OSError, RuntimeError):
        # no events here (too many watches, a folder that may not be listed): look often instead
        while stop is None or not stop.is_set():
            time.sleep(_PAUSE_S)
            yield False
