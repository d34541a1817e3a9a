"""An archive file of any kind that is read here → its entries, to be read one after the other."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from engine.foreign import clean_line
from engine.intake.archives.limits import ArchiveLimits
from engine.intake.archives.member import DAMAGE, Member
from engine.intake.archives.tars import gunzip, is_tar, tar_members
from engine.intake.archives.zips import listed, zip_members

__all__ = ["RefusedError", "opened", "too_many"]

_GZIP = b"\x1f\x8b"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")


class RefusedError(Exception):
    """An archive that isn't unpacked: what is wrong with it, and what was there."""

    def __init__(self, what: str, got: str | None = None, next_step: str = "") -> None:
        super().__init__(what if got is None else f"{what} ({got})")
        self.what = what
        self.got = got
        self.next_step = next_step


@contextmanager
def opened(path: Path, spare: Path, most: int, size: int, limits: ArchiveLimits) -> Iterator[list[Member]]:
    """Open a ZIP or tar archive by what it is, whatever it is called.

    Parameters
    ----------
    path : Path
    spare : Path
        A file to be written while a compressed tar archive is read.
    most : int
        Entries; an archive that lists more is refused before they are read.
    size : int
        Bytes that a compressed tar archive may unpack to.
    limits : ArchiveLimits

    Raises
    ------
    RefusedError
        It is no such archive, is damaged, or too large.
    OSError
        The spare file can't be written.
    """
    try:
        source = path.open("rb")
    except OSError as error:
        raise RefusedError("the archive can't be read", error.strerror, "check its rights") from error
    with source as file:
        head = file.read(512)
        if head.startswith(_GZIP):
            file.seek(0)
            try:
                with spare.open("w+b") as tar:
                    _gunzip(file, tar, min(size, limits.most_of(path.stat().st_size)))
                    yield _of_tar(tar, most)
            finally:
                spare.unlink(missing_ok=True)
        elif is_tar(head):
            yield _of_tar(file, most)
        else:
            # The directory stands at the end of a ZIP archive, so something else may stand before it.
            with _as_zip(file, most, is_zip=head.startswith(_ZIP)) as members:
                yield members


def _gunzip(source: IO[bytes], target: IO[bytes], most: int) -> None:
    try:
        size = gunzip(source, target, most)
    except DAMAGE as error:
        raise _damaged(error) from error
    if size > most:
        raise RefusedError(f"the archive unpacks to more than {most // 2**20} MiB")


def _of_tar(file: IO[bytes], most: int) -> list[Member]:
    try:
        file.seek(0)
        head = file.read(512)
        # An empty archive is nothing but zeros.
        if head.strip(b"\0") and not is_tar(head):
            raise RefusedError("this is no ZIP or tar archive", "something else that is compressed")
        members = tar_members(file, most)
    except DAMAGE as error:
        raise _damaged(error) from error
    if len(members) > most:
        raise too_many(f"more than {most}", most)
    return members


@contextmanager
def _as_zip(file: IO[bytes], most: int, *, is_zip: bool) -> Iterator[list[Member]]:
    if (count := listed(file)) > most:
        raise too_many(str(count), most)
    try:
        archive = zipfile.ZipFile(file)
    except DAMAGE as error:
        if is_zip:
            raise _damaged(error) from error
        raise RefusedError("this is no ZIP or tar archive") from error
    with archive:
        members = zip_members(archive)
        if len(members) > most:
            raise too_many(str(len(members)), most)
        yield members


def too_many(count: str, most: int) -> RefusedError:
    """Return the refusal of an archive with so many entries."""
    return RefusedError(
        "the archive lists too many entries",
        f"{count}; at most {most}",
        "pack it without what nobody handed in, such as .git folders",
    )


def _damaged(error: Exception) -> RefusedError:
    return RefusedError("the archive is damaged", clean_line(str(error), 100) or None)
