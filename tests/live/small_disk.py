"""A disk of a few megabytes, which a test fills to the last byte."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["SmallDisk", "small_disk"]

_PIECES = (1 << 20, 1 << 16, 4096, 1)


class SmallDisk:
    """A file system of its own, mounted on a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ballast = folder / "ballast"

    def fill(self) -> None:
        """Take all room that is left."""
        with self._ballast.open("ab", buffering=0) as file:
            for size in _PIECES:
                try:
                    while True:
                        file.write(b"\xff" * size)
                except OSError as error:
                    assert error.errno == errno.ENOSPC

    def make_room(self) -> None:
        """Give the room back."""
        self._ballast.unlink(missing_ok=True)


@contextmanager
def small_disk(folder: Path, mib: int) -> Iterator[SmallDisk]:
    """Mount a disk of so many MiB; the test is skipped where this user may not mount any."""
    folder.mkdir()
    options = f"size={mib}m,mode=0700,uid={os.getuid()}"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "softmark-test", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip(f"no disk can be mounted here: {mounted.stderr.strip()}")
    try:
        yield SmallDisk(folder)
    finally:
        # Lazily: what still has a file open there must not keep it for ever.
        subprocess.run(["umount", "-l", str(folder)], check=True)
