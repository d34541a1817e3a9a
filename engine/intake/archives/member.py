"""One entry of an archive, whatever kind of archive it is."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

__all__ = ["DAMAGE", "DamagedError", "Member"]


class DamagedError(ValueError):
    """An archive that breaks its own format."""


# What the readers of the standard library raise for data that isn't what it claims.
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    struct.error,
)


@dataclass(frozen=True, slots=True)
class Member:
    """An entry as its archive lists it.

    Parameters
    ----------
    name : str
        As :func:`engine.intake.entry_names.plain_name` gives it; foreign text.
    is_folder : bool
    packed : int
        Bytes that it takes up in the archive.
    fault : str or None
        Why it isn't taken, whatever it is called.
    open : callable
        Gives its contents.  Call it while the archive is open.
    """

    name: str
    is_folder: bool
    packed: int
    fault: str | None
    open: Callable[[], IO[bytes]]
