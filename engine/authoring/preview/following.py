"""Follows the file in a thread: a look at every save, and what lint says of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from engine.authoring.preview.look import Look, Source, check, look_at
from engine.spec.schema import CodeAnswer
from engine.wakes import folders_of, wakes

__all__ = ["Follower"]

_ENDINGS = (".yaml", ".yml", ".py")
_PATIENCE_S = 0.3
_PAUSE_S = 0.01
_JOIN_S = 5.0
# (modified in ns, size, inode): None for a file that isn't there
Stamp = tuple[int, int, int] | None


class Follower:
    """Makes a look of every save and hands it on.

    Parameters
    ----------
    source : Source
    told : callable
        Called with every new look, from this object's own thread.
    """

    def __init__(self, source: Source, told: Callable[[Look], None]) -> None:
        self._source = source
        self._told = told
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="preview", daemon=True)
        self._stamps = self._now(None)
        self.look = look_at(source, None)

    def start(self) -> None:
        """Begin to follow; the first look is there already."""
        self._thread.start()

    def stop(self) -> None:
        """End it; what is under way is waited for, but not for long."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(_JOIN_S)

    def _follow(self) -> None:
        self._lint()
        for _ in wakes(self._folders(), _ENDINGS, self._stop):
            if self._stop.is_set():
                return
            stamps = self._settled()
            if stamps == self._stamps:
                continue
            self._stamps = stamps
            self._show(look_at(self._source, self.look))
            self._stamps = self._now(self.look, stamps)
            self._lint()

    def _show(self, look: Look) -> None:
        self.look = look
        self._told(look)

    def _lint(self) -> None:
        if self.look.findings is None:
            self._show(replace(self.look, findings=check(self._source, self.look)))

    # --- which files

    def _folders(self) -> set[Path]:
        folders: set[Path] = set()
        for path in self._files(self.look):
            folders |= {folder for folder in folders_of(path) if folder.is_dir()}
        return folders

    def _files(self, look: Look | None) -> list[Path]:
        """Return what the page depends on: the item, the registries, the files of a code exercise."""
        path = self._source.path
        found = [path, *self._source.registries]
        answer = look.spec.answer if look is not None and look.spec is not None else None
        if isinstance(answer, CodeAnswer):
            names = (answer.starter, *answer.solutions, *(mutant.file for mutant in answer.mutants))
            found += [path.parent / name for name in names]
        return found

    def _now(self, look: Look | None, known: Mapping[Path, Stamp] | None = None) -> dict[Path, Stamp]:
        """Return the stamps of all files; of those in `known` as they were then."""
        before = known or {}
        return {path: before[path] if path in before else _stamp(path) for path in self._files(look)}

    def _settled(self) -> dict[Path, Stamp]:
        """Return the stamps; a file that an editor has emptied or moved is waited for, but not for long."""
        end = time.monotonic() + _PATIENCE_S
        while True:
            stamps = self._now(self.look)
            own = stamps[self._source.path]
            if (own is not None and own[1] > 0) or time.monotonic() > end or self._stop.is_set():
                return stamps
            time.sleep(_PAUSE_S)


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
