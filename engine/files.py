"""Writing a file so that a crash leaves the old one or the new one, never half of one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = ["replace_text", "replacing"]


def replace_text(path: Path, text: str, *, durable: bool = False, private: bool = False) -> None:
    """Replace a file's text in one step.

    Parameters
    ----------
    path : Path
        Its folder must exist.
    text : str
        Written as UTF-8; what can't be (lone surrogates) becomes ``?``.
    durable : bool
        Wait until the disk has it: for what a person typed and can't be made again.
    private : bool
        Nobody but its owner may read it (mode 0600), at no moment and whatever was there before.

    Raises
    ------
    OSError
        The file is as it was.
    """
    with replacing(path, durable=durable, private=private) as file:
        file.write(text.encode("utf-8", "replace"))


@contextlib.contextmanager
def replacing(path: Path, *, durable: bool = False, private: bool = False) -> Iterator[BinaryIO]:
    """Give a new file to write; at the end of the block it takes the old one's place in one step.

    Parameters are those of :func:`replace_text`. If anything is raised, the file is as it was.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(part, "xb" if private else "wb", opener=_private if private else None) as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
