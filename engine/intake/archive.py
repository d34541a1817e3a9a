"""A ZIP archive of hand-ins. What an entry is called never decides where it is written.

Every file that may be graded is copied into the work folder under a number; sizes are
counted while unpacking, because the archive's own directory can lie.
"""

from __future__ import annotations

import re
import stat
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from engine.errors import IntakeError
from engine.foreign import clean_line
from engine.intake.entries import WANTED, Entries, Entry, is_junk, plain_name

__all__ = ["ArchiveLimits", "read_archive"]

_CHUNK = 2**16
_UTF8_FLAG = 0x800
_ENCRYPTED = 0x1 | 0x40
# LZMA asks for as much memory as the archive names.
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2}
_DRIVE = re.compile(r"^[A-Za-z]:")


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """What is unpacked at most; sizes in bytes.

    ``top_level`` bounds what one student's folder unpacks to, so that nobody's bomb takes
    another's place; ``ratio`` counts from `ratio_from` bytes on.
    """

    entries: int = 50_000
    entry: int = 16 * 2**20
    top_level: int = 64 * 2**20
    total: int = 4 * 2**30
    ratio: int = 200
    ratio_from: int = 2**20


def read_archive(path: Path, workdir: Path, limits: ArchiveLimits | None = None) -> Entries:
    """Unpack what may be graded into `workdir` and list the rest.

    Raises
    ------
    IntakeError
        It is no ZIP archive, is damaged as a whole, or lists too many entries.
    """
    where = clean_line(str(path))
    try:
        with zipfile.ZipFile(path) as archive:
            return _Unpacking(archive, workdir, limits or ArchiveLimits(), where).run()
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise IntakeError(
            "the archive is damaged or no ZIP archive",
            where=where,
            got=clean_line(str(error)),
            next_step="download it again",
        ) from error
    except OSError as error:
        raise IntakeError(
            "the archive can't be unpacked", where=where, got=error.strerror or str(error)
        ) from error


class _Unpacking:
    def __init__(self, archive: zipfile.ZipFile, workdir: Path, limits: ArchiveLimits, where: str) -> None:
        self._archive = archive
        self._workdir = workdir
        self._limits = limits
        self._where = where
        self._entries = Entries()
        self._unpacked: Counter[str] = Counter()
        self._names: Counter[tuple[str, ...]] = Counter()

    def run(self) -> Entries:
        infos = self._archive.infolist()
        if len(infos) > self._limits.entries:
            raise IntakeError(
                "the archive lists too many entries",
                where=self._where,
                expected=f"at most {self._limits.entries}",
                got=str(len(infos)),
            )
        overlapping = _overlapping(infos)
        for number, info in enumerate(infos):
            name = _name(info)
            fault = _name_fault(info, name) or _kind_fault(info)
            if not fault and number in overlapping:
                fault = "shares its data with another entry, as bombs do"
            if fault:
                self._entries.refuse(name, f"this entry {fault}; it was not unpacked")
                continue
            self._take(
                number, info, tuple(part for part in plain_name(name).split("/") if part not in {"", "."})
            )
        return self._entries

    def _take(self, number: int, info: zipfile.ZipInfo, parts: tuple[str, ...]) -> None:
        if not parts:
            return
        if is_junk(parts):
            self._entries.ignored.append(clean_line("/".join(parts), 300))
            return
        if info.is_dir():
            self._entries.folders.add(parts)
            return
        self._names[parts] += 1
        if self._names[parts] == 2:
            self._entries.refuse(
                "/".join(parts),
                "the archive holds several files of this name",
                "each is graded, the best counts",
            )
        suffix = Path(parts[-1]).suffix.lower()
        path = None
        if suffix in WANTED:
            path = self._workdir / f"{number:06d}{suffix}"
            if not self._unpack(info, path, parts):
                return
        self._entries.files.append(Entry(parts, path))

    def _unpack(self, info: zipfile.ZipInfo, path: Path, parts: tuple[str, ...]) -> bool:
        name, limits = "/".join(parts), self._limits
        size = 0
        try:
            with self._archive.open(info) as source, path.open("wb") as target:
                while chunk := source.read(_CHUNK):
                    size += len(chunk)
                    self._unpacked[parts[0]] += len(chunk)
                    fault = self._size_fault(size, info, parts[0], limits)
                    if fault:
                        break
                    target.write(chunk)
                else:
                    return True
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            NotImplementedError,
            RuntimeError,
            ValueError,
        ) as error:
            fault = f"is damaged ({clean_line(str(error), 100)})"
        path.unlink(missing_ok=True)
        self._entries.refuse(name, f"this entry {fault}; it was not taken", "ask for it again")
        return False

    def _size_fault(self, size: int, info: zipfile.ZipInfo, top: str, limits: ArchiveLimits) -> str | None:
        if size > limits.entry:
            return f"unpacks to more than {limits.entry // 2**20} MiB"
        if size > limits.ratio_from and size > limits.ratio * max(1, info.compress_size):
            return f"unpacks to more than {limits.ratio} times its size, as bombs do"
        if self._unpacked[top] > limits.top_level:
            return f"brings its folder over {limits.top_level // 2**20} MiB"
        if self._unpacked.total() > limits.total:
            return f"brings the archive over {limits.total // 2**20} MiB"
        return None


def _name(info: zipfile.ZipInfo) -> str:
    name = info.orig_filename if "\0" in info.orig_filename else info.filename
    if info.flag_bits & _UTF8_FLAG or name.isascii():
        return name
    # Without the flag the name is read as code page 437; macOS writes UTF-8 all the same.
    try:
        return name.encode("cp437").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return name


def _name_fault(info: zipfile.ZipInfo, name: str) -> str | None:
    if any(not c.isprintable() for c in name):
        return "has control characters in its name"
    if "\\" in name or "\\" in info.orig_filename:
        return "has backslashes in its name"
    if name.startswith("/") or _DRIVE.match(name):
        return "has an absolute path as its name"
    if ".." in name.split("/"):
        return "has a name that leads out of the archive"
    if len(name) > 1000 or name.count("/") > 32:
        return "has too long a name"
    return None


def _kind_fault(info: zipfile.ZipInfo) -> str | None:
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
