"""The entries of a tar archive: ordinary files and folders, read where they lie.

Not the standard library's reader: it takes long headers into memory whole and follows links.  Formats: V7,
ustar, pax and GNU long names.  A sparse file says that it is larger than it is, and isn't taken.
"""

from __future__ import annotations

import gzip
import io
import os
from functools import partial
from typing import IO

from engine.intake.archives.member import DamagedError, Member
from engine.intake.entry_names import plain_name

__all__ = ["gunzip", "is_tar", "tar_members"]

_BLOCK = 512
_LONGEST_HEADER = 2**16
# What may stand before one file: packers write one header of a few records, or two.
_MOST_HEADERS = 16
_MOST_RECORDS = 200
_CHUNK = 2**16
_KINDS = {
    b"1": "is a link",
    b"2": "is a link",
    b"3": "is a device",
    b"4": "is a device",
    b"S": "is a sparse file",
}
_FILES = {b"0", b"\0", b"7"}
_FOLDER = b"5"
# Links, devices, folders and pipes have no data, whatever size they name.
_WITHOUT_DATA = b"123456"
# What comes before a file's own header and says more of it; or of all, or of a link.
_MORE, _OF_OTHERS = b"xL", b"gK"


def is_tar(head: bytes) -> bool:
    """Return whether an uncompressed file that begins with these 512 bytes is a tar archive."""
    return len(head) == _BLOCK and head.strip(b"\0") != b"" and _checksum_fits(head)


def gunzip(source: IO[bytes], target: IO[bytes], most: int) -> int:
    """Unpack a gzip stream; stops once it has more than `most` bytes.

    Returns
    -------
    int
        Bytes that it has unpacked to: more than `most` says that there was more.

    Raises
    ------
    DamagedError, EOFError, zlib.error
        The stream is damaged or ends too early.
    """
    size = 0
    with gzip.GzipFile(fileobj=source, mode="rb") as stream:
        while size <= most:
            try:
                chunk = stream.read(_CHUNK)
            except gzip.BadGzipFile as error:  # an OSError, which a full disk raises too
                raise DamagedError(str(error)) from error
            if not chunk:
                break
            size += len(chunk)
            target.write(chunk)
    return size


def tar_members(file: IO[bytes], most: int) -> list[Member]:
    """Return the entries of an open archive, in its order; at most `most` and one.

    Raises
    ------
    DamagedError
        A header that is none, or data that ends too early.
    """
    length = file.seek(0, os.SEEK_END)
    members: list[Member] = []
    about: dict[str, str] = {}  # what the headers before a file's own one say of it
    headers = 0
    at = 0
    while len(members) <= most:
        head = _read(file, at, _BLOCK)
        if not head.strip(b"\0"):
            break
        if len(head) < _BLOCK or not _checksum_fits(head):
            raise DamagedError(f"no header at byte {at}")
        kind = head[156:157]
        is_header = kind in _MORE + _OF_OTHERS
        size = _number(head[124:136] if is_header else about.get("size", head[124:136]))
        size = 0 if kind in _WITHOUT_DATA else size
        begin = at + _BLOCK + (_sparse_blocks(file, at + _BLOCK, head) if kind == b"S" else 0)
        at = begin + -(-size // _BLOCK) * _BLOCK
        if begin + size > length:
            raise DamagedError("it ends too early")
        headers = headers + 1 if is_header else 0
        if headers > _MOST_HEADERS:
            raise DamagedError(f"more than {_MOST_HEADERS} headers before one file")
        if kind in _MORE:
            about |= _long_header(_read(file, begin, size, _LONGEST_HEADER), kind)
        elif not is_header:
            members.append(_member(file, head, about, begin, size))
            about = {}
    return members


def _member(file: IO[bytes], head: bytes, about: dict[str, str], begin: int, size: int) -> Member:
    kind, name = head[156:157], about.get("path") or _own_name(head)
    fault = _KINDS.get(kind)
    if any(key.startswith("GNU.sparse") for key in about):
        fault = "is a sparse file"
    elif fault is None and kind not in _FILES | {_FOLDER}:
        fault = "is no ordinary file"
    return Member(
        name=plain_name(name),
        is_folder=kind == _FOLDER or (kind in _FILES and name.endswith("/")),
        packed=size,
        fault=fault,
        open=partial(_slice, file, begin, size),
    )


def _own_name(head: bytes) -> str:
    name = _text(head[:100])
    prefix = _text(head[345:500]) if head[257:263] == b"ustar\0" else ""
    return f"{prefix}/{name}" if prefix else name


def _text(field: bytes) -> str:
    raw = field.partition(b"\0")[0]
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def _number(field: bytes | str) -> int:
    """Return a header's number: octal, or binary where the first bit is set; decimal from a pax header."""
    try:
        if isinstance(field, str):
            value = int(field)
        elif field[0] & 0x80:
            value = int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big")
        else:
            value = int(field.partition(b"\0")[0].strip() or b"0", 8)
    except ValueError:
        raise DamagedError("a size that is no number") from None
    if value < 0:
        raise DamagedError("a size that is negative")
    return value


def _checksum_fits(head: bytes) -> bool:
    try:
        claimed = _number(head[148:156])
    except DamagedError:
        return False
    return claimed == sum(head[:148]) + 8 * 32 + sum(head[156:])


def _long_header(data: bytes, kind: bytes) -> dict[str, str]:
    """Return what the header before a file's own one says: its path, its size, whether it is sparse."""
    if kind == b"L":
        return {"path": _text(data)}
    found: dict[str, str] = {}
    at = records = 0
    while at < len(data) and data[at] != 0:
        digits, blank, _ = data[at : at + 8].partition(b" ")
        length = int(digits) if blank and digits.isdigit() else 0
        if not len(digits) < length <= len(data) - at:
            raise DamagedError("a long header that can't be read")
        records += 1
        if records > _MOST_RECORDS:
            raise DamagedError(f"a long header of more than {_MOST_RECORDS} records")
        key, _, value = data[at + len(digits) + 1 : at + length].removesuffix(b"\n").partition(b"=")
        found[_text(key)] = value.decode("utf-8", "replace")
        at += length
    return found


def _sparse_blocks(file: IO[bytes], at: int, head: bytes) -> int:
    """Return the length of the blocks that go on with a GNU sparse file's map, which isn't wanted."""
    length, goes_on = 0, head[482]
    while goes_on:
        block = _read(file, at + length, _BLOCK)
        if len(block) < _BLOCK:
            raise DamagedError("it ends too early")
        goes_on = block[504]
        length += _BLOCK
    return length


def _read(file: IO[bytes], at: int, size: int, most: int = _BLOCK) -> bytes:
    if size > most:
        raise DamagedError("a header that is too long")
    file.seek(at)
    data = file.read(size)
    if len(data) < size and data.strip(b"\0"):
        raise DamagedError("it ends too early")
    return data


def _slice(file: IO[bytes], begin: int, size: int) -> IO[bytes]:
    return io.BufferedReader(_Slice(file, begin, size))


class _Slice(io.RawIOBase):
    """A part of a file, read as a file."""

    def __init__(self, file: IO[bytes], begin: int, size: int) -> None:
        self._file = file
        self._at = begin
        self._end = begin + size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self._file.seek(self._at)
        data = self._file.read(min(len(buffer), self._end - self._at))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
