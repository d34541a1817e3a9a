"""The entries of a ZIP archive. What its directory says is not believed where it can lie."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from functools import partial
from typing import IO

from engine.intake.archives.member import Member
from engine.intake.entry_names import plain_name

__all__ = ["listed", "zip_members"]

_UTF8_FLAG = 0x800
_ENCRYPTED = 0x1 | 0x40
# LZMA asks for as much memory as the archive names.
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2}
_END = b"PK\x05\x06"
_END_64 = b"PK\x06\x06"
_LOCATOR_64 = b"PK\x06\x07"
_UNICODE_NAME = 0x7075
_LONG_RECORD = 512


def listed(file: IO[bytes]) -> int:
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


def zip_members(archive: zipfile.ZipFile) -> list[Member]:
    """Return the entries of an open archive in its order."""
    infos = archive.infolist()
    overlapping = _overlapping(infos)
    shared = "shares its data with another entry, as bombs do"
    return [
        _member(archive, info, _fault(info) or (shared if number in overlapping else None))
        for number, info in enumerate(infos)
    ]


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, fault: str | None) -> Member:
    name = plain_name(_name(info))
    return Member(name, name.endswith("/"), info.compress_size, fault, partial(archive.open, info))


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
    """Return the name of Info-ZIP's extra field, if there is one and it belongs to this name."""
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
        return "is no ordinary file"
    if info.flag_bits & _ENCRYPTED:
        return "is encrypted"
    if info.compress_type not in _METHODS:
        return "is packed by an unusual method"
    return None


def _overlapping(infos: list[zipfile.ZipInfo]) -> set[int]:
    """Return the numbers of entries whose data begins inside another's."""
    order = sorted(range(len(infos)), key=lambda number: infos[number].header_offset)
    found: set[int] = set()
    end = 0
    for number in order:
        info = infos[number]
        if info.header_offset < end:
            found.add(number)
        end = max(end, info.header_offset + 30 + info.compress_size)
    return found
