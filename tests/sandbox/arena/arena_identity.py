"""Runs a command as an ordinary user who can reach our files, even where they lie in root's home.

Usage: ``arena_identity.py UID PATH... -- COMMAND...`` (as root).  In a mount namespace of its own,
each folder on the way to a PATH that other users can't walk is covered by an empty one, and the
PATH is mounted back into it.  Nothing is copied and nothing is made writable.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from pathlib import Path

NO_NAMESPACE = 97
_NEW_MOUNTS = 0x00020000
_BIND, _MOVE, _REC, _PRIVATE = 4096, 8192, 16384, 1 << 18

_libc = ctypes.CDLL(None, use_errno=True)


def _mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    if (
        _libc.mount(source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode())
        != 0
    ):
        code = ctypes.get_errno()
        raise OSError(code, f"mount {source} on {target}: {os.strerror(code)}")


def closed_folder(path: Path) -> Path | None:
    """Return the topmost folder on the way to `path` that other users can't walk."""
    for folder in reversed(path.parents):
        if not folder.stat().st_mode & 0o001:
            return folder
    return None


def open_the_way(paths: list[Path]) -> None:
    """Let other users reach the paths, in this process's mount namespace only."""
    closed: dict[Path, list[Path]] = {}
    for path in paths:
        folder = closed_folder(path)
        if folder is not None:
            closed.setdefault(folder, []).append(path)
    if not closed:
        return
    if _libc.unshare(_NEW_MOUNTS) != 0:
        raise OSError(ctypes.get_errno(), "no mount namespace")
    _mount("none", "/", "", _REC | _PRIVATE)
    for folder, inner in closed.items():
        tops = [p for p in inner if not any(q != p and q in p.parents for q in inner)]
        stages = []
        for path in tops:
            stage = tempfile.mkdtemp()
            _mount(str(path), stage, "", _BIND | _REC)
            stages.append(stage)
        _mount("none", str(folder), "tmpfs", 0, "mode=0755,size=1m")
        for path, stage in zip(tops, stages, strict=True):
            for parent in reversed([path, *path.parents]):
                if not parent.exists():
                    parent.mkdir(mode=0o755)
            _mount(stage, str(path), "", _MOVE)
            Path(stage).rmdir()


def main() -> None:
    """Open the way, become the user, run the command."""
    split = sys.argv.index("--")
    uid = int(sys.argv[1])
    os.umask(0o022)
    try:
        open_the_way([Path(p) for p in dict.fromkeys(sys.argv[2:split])])
    except OSError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(NO_NAMESPACE)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    os.chdir("/")
    os.execv(sys.argv[split + 1], sys.argv[split + 1 :])


if __name__ == "__main__":
    main()
