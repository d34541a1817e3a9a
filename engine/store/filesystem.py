"""Whether a folder lies on a file system where SQLite's WAL is safe."""

from __future__ import annotations

import platform
import re
import subprocess
from pathlib import Path
from typing import Any

__all__ = ["is_local", "mount_type"]

# WAL needs memory that all processes share, which no network file system gives.
_LOCAL = {
    "apfs", "bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "fuseblk", "hfs", "jfs", "msdos", "exfat",
    "ntfs", "ntfs3", "overlay", "ramfs", "reiserfs", "tmpfs", "ufs", "vfat", "xfs", "zfs", "erofs", "aufs",
}  # fmt: skip


def mount_type(folder: Path, mountinfo: str) -> str | None:
    """Return the type of the file system that `folder` lies on.

    Parameters
    ----------
    folder : Path
        Absolute and resolved.
    mountinfo : str
        Text in the form of ``/proc/self/mountinfo``; of several mounts on one point the last counts.
    """
    best: tuple[int, str] | None = None
    for line in mountinfo.splitlines():
        mounted, _, rest = line.partition(" - ")
        fields = mounted.split()
        if len(fields) < 5 or not rest:
            continue
        point = Path(re.sub(r"\\([0-7]{3})", lambda escape: chr(int(escape.group(1), 8)), fields[4]))
        if folder.is_relative_to(point) and (best is None or len(point.parts) >= best[0]):
            best = (len(point.parts), rest.split()[0])
    return best[1] if best else None


def is_local(folder: Path) -> bool:
    """Return whether `folder` is known to be on a local disk; what isn't known counts as network."""
    folder = folder.resolve()
    kind = platform.system()
    if kind == "Linux":
        return _linux(folder)
    if kind == "Windows":
        return _windows(folder)
    return _bsd(folder)


def _linux(folder: Path) -> bool:
    try:
        kind = mount_type(folder, Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return False
    return kind in _LOCAL


def _windows(folder: Path) -> bool:
    import ctypes

    kernel: Any = ctypes.__dict__["windll"].kernel32  # there on Windows only
    remote = 4
    return not folder.drive.startswith("\\\\") and kernel.GetDriveTypeW(folder.anchor) != remote


def _bsd(folder: Path) -> bool:
    # A line of macOS reads: /dev/disk3s1 on /System/Volumes/Data (apfs, local, journaled)
    try:
        shown = subprocess.run(["/sbin/mount"], capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    best: tuple[int, bool] = (-1, False)
    for line in shown.splitlines():
        place, _, options = line.rpartition(" (")
        point = Path(place.partition(" on ")[2])
        if place and folder.is_relative_to(point) and len(point.parts) >= best[0]:
            best = (len(point.parts), "local" in options.rstrip(")").split(", "))
    return best[1]
