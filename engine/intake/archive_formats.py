"""Open ZIP and tar archives and list their entries.

Students hand in archives, and archives lie about themselves: about sizes, names and the number of entries.
So every claim is checked before it is acted on.
"""

from __future__ import annotations

import gzip
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

from engine.intake.download_entries import plain_name
from engine.text.words import clean_line


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
class ArchiveMember:
    """An entry as its archive lists it.

    Parameters
    ----------
    name : str
        As :func:`engine.intake.download_entries.plain_name` gives it; foreign text.
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


# Large enough to be fast, small enough that a bomb is noticed soon.
_CHUNK = 2**16
# What tarfile may read for one entry before its contents begin: a path of some KiB takes a few blocks, while
# a bomb claims a name, or the map of a sparse file, as large as the archive.
_MOST_OF_HEADERS = 2**17
_LONGEST_HEADER = 2**16
# What may come before one file: packers write one header of a few records, or two.
_MOST_HEADERS = 16
_MOST_RECORDS = 200
_TAR_FAULTS = {
    tarfile.LNKTYPE: "is a link",
    tarfile.SYMTYPE: "is a link",
    tarfile.CHRTYPE: "is a device",
    tarfile.BLKTYPE: "is a device",
    tarfile.GNUTYPE_SPARSE: "is a sparse file",  # says that it is larger than it is
}


def is_tar(head: bytes) -> bool:
    """Return whether an uncompressed file that begins with these 512 bytes is a tar archive."""
    try:
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    except tarfile.TarError:
        return False
    return True


class _MeteredFile:
    """A file from which tarfile, which takes headers into memory whole, reads at most `left` bytes."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.left: int | None = None
        self.headers = 0
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int = -1) -> bytes:
        if self.left is not None:
            if not 0 <= size <= self.left:
                raise DamagedError("a header that is too long")
            self.left -= size
        return self._file.read(size)


class _StrictTarInfo(tarfile.TarInfo):
    """An entry whose pax header is read strictly: tarfile passes over records that it can't read."""

    def _proc_pax(self, archive: Any) -> tarfile.TarInfo:
        if self.size > _LONGEST_HEADER:
            raise DamagedError("a header that is too long")
        archive.fileobj.headers += 1
        if archive.fileobj.headers > _MOST_HEADERS:
            raise DamagedError(f"more than {_MOST_HEADERS} headers before one file")
        begin = archive.fileobj.tell()
        _check_records(archive.fileobj.read(max(0, self.size)))
        archive.fileobj.seek(begin)
        return cast(tarfile.TarInfo, super()._proc_pax(archive))  # type: ignore[misc]


def _check_records(data: bytes) -> None:
    start = records = 0
    while start < len(data) and data[start] != 0:
        digits, blank, _ = data[start : start + 8].partition(b" ")
        length = int(digits) if blank and digits.isdigit() else 0
        if not len(digits) < length <= len(data) - start:
            raise DamagedError("a long header that can't be read")
        records += 1
        if records > _MOST_RECORDS:
            raise DamagedError(f"a long header of more than {_MOST_RECORDS} records")
        key, _, value = data[start + len(digits) + 1 : start + length].removesuffix(b"\n").partition(b"=")
        if key == b"size" and not value.isdigit():
            is_negative = value[:1] == b"-" and value[1:].isdigit()
            raise DamagedError("a size that is negative" if is_negative else "a size that isn't a number")
        start += length


def tar_members(file: IO[bytes], most: int) -> list[ArchiveMember]:
    """Return the entries of an open archive, in its order; at most `most` and one.

    Raises
    ------
    DamagedError
        A header that is none, or data that ends too early.
    """
    length = file.seek(0, os.SEEK_END)
    members: list[ArchiveMember] = []
    metered = _MeteredFile(file)
    try:
        file.seek(0)
        metered.left = _MOST_OF_HEADERS
        archive = tarfile.TarFile(
            fileobj=cast(Any, metered), tarinfo=_StrictTarInfo, encoding="utf-8", errors="surrogateescape"
        )
        while len(members) <= most and (info := archive.next()) is not None:
            if info.size < 0:  # tarfile would step back and read the same headers for ever
                raise DamagedError("a size that is negative")
            if info.isreg() and info.offset_data + info.size > length:
                raise DamagedError("it ends too early")
            members.append(_tar_member(archive, info))
            # It remembers every entry, and applies a global header to all that follow.
            archive.members.clear()  # type: ignore[attr-defined]
            archive.pax_headers = {}
            metered.left, metered.headers = _MOST_OF_HEADERS, 0
        metered.left = None
    except tarfile.TarError as error:
        raise DamagedError(str(error)) from error
    # tarfile takes whatever isn't a header for the archive's end
    file.seek(archive.offset)
    if len(members) <= most and file.read(tarfile.BLOCKSIZE).strip(b"\0"):
        raise DamagedError(f"no header at byte {archive.offset}")
    return members


def _tar_member(archive: tarfile.TarFile, info: tarfile.TarInfo) -> ArchiveMember:
    fault = _TAR_FAULTS.get(info.type)
    if any(key.startswith("GNU.sparse") for key in info.pax_headers):
        fault = "is a sparse file"
    elif fault is None and not info.isreg() and not info.isdir():
        fault = "isn't a regular file"
    # Headers may be as long as a file; no entry holds on to them.
    info.pax_headers, info.sparse = {}, None
    return ArchiveMember(
        name=plain_name(_text(info.name.encode("utf-8", "surrogateescape"))),
        is_folder=info.isdir() or (info.isreg() and info.name.endswith("/")),
        packed=info.size,
        fault=fault,
        open=partial(tarfile.ExFileObject, archive, info),
    )


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


# The entries of a ZIP archive. What its directory says is not believed where it can lie.

_UTF8_FLAG = 0x800
_ENCRYPTED = 0x1 | 0x40
# LZMA asks for as much memory as the archive names.
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2}
_END = b"PK\x05\x06"
_END_64 = b"PK\x06\x06"
_LOCATOR_64 = b"PK\x06\x07"
# Info-ZIP's extra field with the name in UTF-8, beside the one in a code page.
_UNICODE_NAME = 0x7075
# A directory record has 46 bytes and the name; half a KiB leaves room for any name that is used.
_LONG_RECORD = 512


def count_entries(file: IO[bytes]) -> int:
    """Return how many entries an archive lists, or can list in a directory of that size, without reading it.

    0 for what doesn't end as a ZIP archive does: whoever opens it will say so.
    """
    length = file.seek(0, os.SEEK_END)
    begin = max(0, length - 22 - 2**16)
    file.seek(begin)
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) < at + 22:
        return 0
    count, size = struct.unpack_from("<HI", tail, at + 10)
    if at >= 20 and tail[at - 20 : at - 16] == _LOCATOR_64:
        (place,) = struct.unpack_from("<Q", tail, at - 12)
        file.seek(min(place, length))
        record = file.read(56)
        if len(record) == 56 and record.startswith(_END_64):
            count, size = struct.unpack_from("<QQ", record, 32)
    # The reader goes by the size alone, so a small count must not hide a large directory.
    return int(max(count, size // _LONG_RECORD))


def zip_members(archive: zipfile.ZipFile) -> list[ArchiveMember]:
    """Return the entries of an open archive in its order."""
    infos = archive.infolist()
    overlapping = _overlapping(infos)
    shared = "shares its data with another entry, as bombs do"
    return [
        _zip_member(archive, info, _fault(info) or (shared if number in overlapping else None))
        for number, info in enumerate(infos)
    ]


def _zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, fault: str | None) -> ArchiveMember:
    name = plain_name(_name(info))
    return ArchiveMember(name, name.endswith("/"), info.compress_size, fault, partial(archive.open, info))


def _name(info: zipfile.ZipInfo) -> str:
    name = info.orig_filename if "\0" in info.orig_filename else info.filename
    if info.flag_bits & _UTF8_FLAG or name.isascii():
        return name
    # Without the flag the name is read as code page 437; macOS writes UTF-8 all the same.
    raw = name.encode("cp437", "replace")
    try:
        return _unicode_name(info, raw) or raw.decode("utf-8")
    except UnicodeDecodeError:
        return name


def _unicode_name(info: zipfile.ZipInfo, raw: bytes) -> str | None:
    extra, at = info.extra, 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        field = extra[at + 4 : at + 4 + size]
        at += 4 + size
        if kind == _UNICODE_NAME and len(field) > 5 and field[0] == 1:
            (checksum,) = struct.unpack_from("<I", field, 1)
            return field[5:].decode("utf-8") if checksum == zlib.crc32(raw) else None
    return None


def _fault(info: zipfile.ZipInfo) -> str | None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "is a link"
    if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        return "isn't a regular file"
    if info.flag_bits & _ENCRYPTED:
        return "is encrypted"
    if info.compress_type not in _METHODS:
        return "is packed by an unusual method"
    return None


def _overlapping(infos: list[zipfile.ZipInfo]) -> set[int]:
    # Bombs without nesting let many entries share one piece of data.
    order = sorted(range(len(infos)), key=lambda number: infos[number].header_offset)
    numbers: set[int] = set()
    end = 0
    for number in order:
        info = infos[number]
        if info.header_offset < end:
            numbers.add(number)
        end = max(end, info.header_offset + 30 + info.compress_size)
    return numbers


_GZIP = b"\x1f\x8b"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")


class RefusedError(Exception):
    """An archive that isn't unpacked: what is wrong with it, and what was there."""

    def __init__(self, fault: str, got: str | None = None, next_step: str = "") -> None:
        super().__init__(fault if got is None else f"{fault} ({got})")
        self.fault = fault
        self.got = got
        self.next_step = next_step


@contextmanager
def open_archive(path: Path, spare: Path, most: int, size: int) -> Iterator[list[ArchiveMember]]:
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

    Raises
    ------
    RefusedError
        It isn't such an archive, is damaged, or too large.
    OSError
        The spare file can't be written.
    """
    try:
        source = path.open("rb")
    except OSError as error:
        raise RefusedError("the archive can't be read", error.strerror, "check its permissions") from error
    with source as file:
        head = file.read(512)
        if head.startswith(_GZIP):
            file.seek(0)
            try:
                with spare.open("w+b") as tar:
                    _gunzip(file, tar, size)
                    yield _of_tar(tar, most)
            finally:
                spare.unlink(missing_ok=True)
        elif is_tar(head):
            yield _of_tar(file, most)
        else:
            # The directory is at the end of a ZIP archive, so something else may come before it.
            with _as_zip(file, most, is_zip=head.startswith(_ZIP)) as members:
                yield members


def _gunzip(source: IO[bytes], target: IO[bytes], most: int) -> None:
    size = 0
    try:
        with gzip.GzipFile(fileobj=source, mode="rb") as stream:
            # One chunk beyond the limit says that there is more; what the stream claims is not asked.
            while size <= most and (chunk := _next_chunk(stream)):
                size += len(chunk)
                target.write(chunk)
    except DAMAGE as error:
        raise _damaged(error) from error
    if size > most:
        raise RefusedError(f"the archive unpacks to more than {most // 2**20} MiB")


def _next_chunk(stream: gzip.GzipFile) -> bytes:
    try:
        return stream.read(_CHUNK)
    except gzip.BadGzipFile as error:  # an OSError, which a full disk raises too
        raise DamagedError(str(error)) from error


def _of_tar(file: IO[bytes], most: int) -> list[ArchiveMember]:
    try:
        file.seek(0)
        head = file.read(512)
        if not head:
            return []
        # An empty archive is nothing but zeros.
        if head.strip(b"\0") and not is_tar(head):
            raise RefusedError("this isn't a ZIP or tar archive", "something else that is compressed")
        members = tar_members(file, most)
    except DAMAGE as error:
        raise _damaged(error) from error
    if len(members) > most:
        raise too_many(f"more than {most}", most)
    return members


@contextmanager
def _as_zip(file: IO[bytes], most: int, *, is_zip: bool) -> Iterator[list[ArchiveMember]]:
    if (count := count_entries(file)) > most:
        raise too_many(str(count), most)
    try:
        archive = zipfile.ZipFile(file)
    except DAMAGE as error:
        if is_zip:
            raise _damaged(error) from error
        raise RefusedError("this isn't a ZIP or tar archive") from error
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
        "pack only what was handed in, without folders such as .git",
    )


def _damaged(error: Exception) -> RefusedError:
    return RefusedError("the archive is damaged", clean_line(str(error), 100) or None)
