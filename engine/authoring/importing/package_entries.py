"""The files of what somebody else packed: a ZIP or tar archive, or the folder that was made of one.

Nothing is unpacked to the disk: the entries that are wanted are read one by one, each counted while it is
read, because an archive's own list can lie about sizes. A name never decides about a place.
"""

from __future__ import annotations

import io
import os
import posixpath
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.authoring.importing.foreign_question import FileFaults, SourceText, decode_source
from engine.authoring.importing.xml_tree import TreeBounds, XmlElement, read_tree
from engine.errors import ExchangeError
from engine.intake.archive_formats import DAMAGE, ArchiveMember, RefusedError, open_archive
from engine.intake.download_entries import plain_name
from engine.text.files import read_bytes
from engine.text.words import clean_line

MIB = 2**20
_CHUNK = 2**16
MOST_ENTRIES = 30_000
"""Of a package with every variant of a bank; pictures are entries, too."""
MAX_PACKAGE = 256 * MIB
_MAX_TOTAL = 128 * MIB
MAX_ELEMENTS = 5_000_000
"""Of all files of a package: 5,000 questions have a third of them. To read them takes a minute or two."""
# A file of text shrinks to a twentieth; bombs shrink to a thousandth.
_RATIO, _RATIO_FROM = 200, MIB
_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b")
# where a tar archive says what it is
_TAR_AT, _TAR = 257, b"ustar"
_AGAIN = "export the package again"

Watch = Callable[[int], AbstractContextManager[Callable[[], None]]]
"""Gives, for a number of questions, a function that is called after each of them."""


def is_package(path: Path) -> bool:
    """Return whether a path is a folder, or a file that begins as a ZIP or tar archive does."""
    try:
        if path.is_dir():
            return True
        if not path.is_file():
            return False
        with path.open("rb") as file:
            head = file.read(_TAR_AT + len(_TAR))
    except OSError:
        return False  # whoever reads it says why it can't be read
    return head.startswith(_STARTS) or head[_TAR_AT:] == _TAR


@dataclass
class PackageEntries:
    """The files of a package by their names.

    Parameters
    ----------
    where : str
        The package, as messages show it.
    members : mapping of str to ArchiveMember
    """

    where: str
    members: Mapping[str, ArchiveMember]
    _total: int = 0
    _elements: int = 0

    def nearest(self, name: str) -> str:
        """Return where a file of this name lies that is at the top or one folder below; empty for nowhere.

        Some tools pack the folder instead of what is in it.
        """
        names = [member for member in self.members if posixpath.basename(member) == name]
        first = min(names, key=lambda n: (n.count("/"), n), default="")
        return first if first.count("/") <= 1 else ""

    def place_of(self, name: str) -> str:
        """Return how messages call a file."""
        return f"{self.where}/{clean_line(name, 200)}"

    def source(self, name: str, most: int) -> SourceText:
        """Return a file of text.

        Parameters
        ----------
        name : str
        most : int
            Bytes that it may have.

        Raises
        ------
        ExchangeError
            It is damaged, larger than it may be, or no text.
        """
        return decode_source(self._content(self.members[name], most), self.place_of(name))

    def tree(self, source: SourceText, faults: FileFaults, bounds: TreeBounds) -> XmlElement | None:
        """Return the root element of a file, as :func:`engine.authoring.importing.xml_tree.read_tree`.

        Raises
        ------
        ExchangeError
            The files of the package hold too many elements together.
        """
        root = read_tree(source, faults, bounds)
        self._elements += sum(1 for _ in root.inside()) if root is not None else 0
        if self._elements > MAX_ELEMENTS:
            message = f"its files hold more than {MAX_ELEMENTS:,} elements together"
            raise ExchangeError(message, where=self.where, next_step="export fewer questions at a time")
        return root

    def _content(self, member: ArchiveMember, most: int) -> bytes:
        """Return an entry, counted while it is read."""
        where = self.place_of(member.name)
        if member.fault is not None:
            raise ExchangeError(f"this entry {member.fault}", where=where, next_step=_AGAIN)
        pieces: list[bytes] = []
        size = 0
        try:
            with member.open() as stream:
                while chunk := stream.read(_CHUNK):
                    size += len(chunk)
                    self._total += len(chunk)
                    self._check_size(size, member.packed, most, where)
                    pieces.append(chunk)
        except (*DAMAGE, OSError) as problem:
            if isinstance(problem, ExchangeError):
                raise
            got = clean_line(str(problem), 100) or None
            raise ExchangeError("this entry is damaged", where=where, got=got, next_step=_AGAIN) from None
        return b"".join(pieces)

    def _check_size(self, size: int, packed: int, most: int, where: str) -> None:
        fault = ""
        if size > most:
            fault = f"this entry is larger than {most // MIB} MiB"
        elif size > max(_RATIO_FROM, _RATIO * packed):
            fault = f"this entry unpacks to more than {_RATIO} times its size, as bombs do"
        elif self._total > _MAX_TOTAL:
            fault = f"the items are larger than {_MAX_TOTAL // MIB} MiB together"
        if fault:
            raise ExchangeError(fault, where=where, next_step="export fewer questions at a time")


@contextmanager
def open_entries(path: Path) -> Iterator[PackageEntries]:
    """Open a package or a folder.

    Raises
    ------
    ExchangeError
        It can't be read, is damaged, or lists more entries than any package.
    """
    where = clean_line(str(path), 300)
    try:
        if path.is_dir():
            yield PackageEntries(where, {member.name: member for member in _folder_members(path, where)})
            return
        # as every foreign file: bounded, and never waiting for a pipe
        read_bytes(path, MAX_PACKAGE, ExchangeError)
        with (
            TemporaryDirectory() as spare,
            open_archive(path, Path(spare) / "spare", MOST_ENTRIES, _MAX_TOTAL) as members,
        ):
            yield PackageEntries(where, {m.name: m for m in members if not m.is_folder})
    except RefusedError as problem:
        raise ExchangeError(problem.fault, where=where, got=problem.got, next_step=_AGAIN) from None


def _folder_members(root: Path, where: str) -> Iterator[ArchiveMember]:
    """Yield the files of a folder and of those in it; links aren't followed."""
    count = 0
    for folder, folders, names in os.walk(root):
        # so that the same course gives the same report on every machine
        folders.sort()
        for name in sorted(names):
            count += 1
            if count > MOST_ENTRIES:
                message = f"the folder holds more than {MOST_ENTRIES:,} files"
                raise ExchangeError(message, where=where, next_step="name the folder of the course itself")
            file = Path(folder, name)
            # of the entry itself: a link into another folder is no file of the course
            try:
                status = file.lstat()
            except OSError:
                continue  # deleted since
            fault = "is a link" if stat.S_ISLNK(status.st_mode) else None
            inner = plain_name(file.relative_to(root).as_posix())

            def opened(file: Path = file) -> io.BytesIO:
                return io.BytesIO(read_bytes(file, MAX_PACKAGE, ExchangeError, may_be_empty=True))

            yield ArchiveMember(inner, False, status.st_size, fault, opened)
