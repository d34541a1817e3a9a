"""A folder or an archive, with all archives inside → its entries. What may be graded is unpacked.

What an entry is called never decides where it is written: each gets a number in the work folder.  Sizes are
counted while unpacking, because an archive's own directory can lie.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path

from engine.errors import IntakeError
from engine.foreign import clean_line
from engine.intake.archives.limits import ArchiveLimits, Budget, Share
from engine.intake.archives.member import DAMAGE, Member
from engine.intake.archives.opening import RefusedError, opened
from engine.intake.entries import Entries, Entry, archive_suffix, is_junk, is_wanted
from engine.intake.entry_names import name_fault, name_parts
from engine.intake.folder import read_folder

__all__ = ["read_source"]

_CHUNK = 2**16
Parts = tuple[str, ...]


def read_source(path: Path, workdir: Path, limits: ArchiveLimits | None = None) -> Entries:
    """Return what a folder, an archive or a single file holds; archives inside are opened in their place.

    An archive inside is a folder of its name: ``ada.zip`` holds ``ada.zip/softmax.py``.

    Parameters
    ----------
    path : Path
    workdir : Path
        Existing folder for what is unpacked; nothing is written anywhere else.
    limits : ArchiveLimits, optional

    Raises
    ------
    IntakeError
        There is no such folder or file, it can't be read as a whole, or it lists too many entries.
    """
    where = clean_line(str(path))
    nest = _Nest(workdir, limits or ArchiveLimits())
    try:
        if path.is_dir():
            return nest.of_folder(read_folder(path))
        if not path.is_file():
            raise IntakeError("there is no such folder or archive", where=where, next_step="check the path")
        if is_wanted(path.name):
            return Entries(files=[Entry((path.name,), path)])
        return nest.of_archive(path)
    except RefusedError as error:
        raise IntakeError(
            error.what, where=where, got=error.got, next_step=error.next_step or "download it again"
        ) from error
    except OSError as error:
        raise IntakeError(
            "the archive can't be unpacked", where=where, got=error.strerror or str(error)
        ) from error


class _Nest:
    def __init__(self, workdir: Path, limits: ArchiveLimits) -> None:
        self._workdir = workdir
        self._limits = limits
        self._budget = Budget(limits)
        self._entries = Entries()
        self._number = 0
        self._names: Counter[Parts] = Counter()

    def of_folder(self, found: Entries) -> Entries:
        entries = self._entries
        entries.folders, entries.problems, entries.ignored = found.folders, found.problems, found.ignored
        own = _owner_length((), [entry.parts for entry in found.files])
        for entry in found.files:
            if entry.path is not None and archive_suffix(entry.parts[-1]):
                owner = own if own is not None and len(entry.parts) >= own else None
                self._inside(entry.path, entry.parts, 1, owner, Share(entry.path.stat().st_size))
            else:
                entries.files.append(entry)
        return entries

    def of_archive(self, path: Path) -> Entries:
        self._read(path, (), 1, None, None, self._limits.entries)
        return self._entries

    def _inside(self, path: Path, at: Parts, depth: int, owner: int | None, share: Share) -> None:
        """Read an archive that lies inside; what is wrong with it concerns nothing else."""
        most = self._limits.entries if owner is None else self._limits.inside
        before = len(self._entries.files), len(self._entries.problems), len(self._entries.ignored)
        self._entries.folders.add(at)
        try:
            self._read(path, at, depth, owner, share, most)
        except RefusedError as error:
            step = error.next_step or "ask for it again, as .zip or .tar.gz"
            self._entries.refuse("/".join(at), str(error), step)
            return
        if before == (len(self._entries.files), len(self._entries.problems), len(self._entries.ignored)):
            self._entries.refuse("/".join(at), "this archive is empty")

    def _read(
        self, path: Path, at: Parts, depth: int, owner: int | None, share: Share | None, most: int
    ) -> None:
        """Take the entries of one archive, which lies at `at`.

        `owner` says how many names of a path tell whose it is; None while one folder or archive stands
        around all others.
        """
        most = min(most, self._budget.room)
        size = self._limits.total if owner is None else self._limits.top_level
        with opened(path, self._next(".tar"), most, size, self._limits) as members:
            self._budget.admit(len(members))
            if owner is None:
                files = [name_parts(member.name) for member in members if not member.is_folder]
                owner = _owner_length(at, files)
            for member in members:
                self._take(member, at, depth, owner, share)

    def _next(self, suffix: str) -> Path:
        self._number += 1
        return self._workdir / f"{self._number:06d}{suffix}"

    def _take(self, member: Member, at: Parts, depth: int, owner: int | None, share: Share | None) -> None:
        inner = name_parts(member.name)
        parts = at + inner
        fault = (
            name_fault(member.name) or member.fault or (None if inner or member.is_folder else "has no name")
        )
        if fault is not None:
            step = "pack it again without a password" if fault == "is encrypted" else ""
            self._refuse((*at, member.name), f"{fault}; it was not unpacked", step)
        elif not inner:
            return  # the folder that the archive was made of
        elif is_junk(inner):
            self._entries.ignored.append(clean_line("/".join(parts), 300))
        elif member.is_folder:
            self._entries.folders.add(parts)
        elif suffix := archive_suffix(parts[-1]):
            self._take_archive(member, parts, suffix, depth, owner, share)
        else:
            self._take_file(member, parts, owner, share)

    def _take_file(self, member: Member, parts: Parts, owner: int | None, share: Share | None) -> None:
        self._names[parts] += 1
        if self._names[parts] == 2:
            message = "the archive holds several files of this name"
            self._entries.refuse("/".join(parts), message, "each is graded, in the order of the archive")
        path = None
        if is_wanted(parts[-1]):
            path = self._next(Path(parts[-1]).suffix.lower())
            if not self._unpack(member, path, parts, owner, share, self._limits.entry):
                return
        self._entries.files.append(Entry(parts, path))

    def _take_archive(
        self, member: Member, parts: Parts, suffix: str, depth: int, owner: int | None, share: Share | None
    ) -> None:
        if depth >= self._limits.depth:
            message = f"archives that lie more than {self._limits.depth} deep in one another are not opened"
            self._entries.refuse("/".join(parts), message, "unpack it in its place")
            return
        path = self._next(suffix)
        if self._unpack(member, path, parts, owner, share, self._limits.total):
            own = owner if owner is not None and len(parts) >= owner else None
            self._inside(path, parts, depth + 1, own, share or Share(member.packed))
            path.unlink()

    def _unpack(
        self, member: Member, path: Path, parts: Parts, owner: int | None, share: Share | None, most: int
    ) -> bool:
        """Write a member's contents to `path`; return whether they were taken, list a problem if not."""
        whose = parts[:owner] if owner is not None and len(parts) >= owner else None
        size, fault = 0, None
        try:
            with member.open() as source, path.open("wb") as target:
                while chunk := source.read(_CHUNK):
                    size += len(chunk)
                    if size > most:
                        fault = f"unpacks to more than {most // 2**20} MiB"
                    fault = fault or self._budget.size_fault(size, member.packed)
                    fault = fault or self._budget.take(len(chunk), whose, share)
                    if fault:
                        break
                    target.write(chunk)
                else:
                    return True
        except DAMAGE as error:
            fault = f"is damaged ({clean_line(str(error), 100)})"
        except OSError as error:
            if error.errno is not None:  # the disk's; a decompressor's has no number
                raise
            fault = f"is damaged ({clean_line(str(error), 100)})"
        path.unlink(missing_ok=True)
        self._refuse(parts, f"{fault}; it was not taken", "ask for it again")
        return False

    def _refuse(self, parts: Parts, fault: str, next_step: str) -> None:
        self._entries.refuse("/".join(parts), f"this entry {fault}", next_step)


def _owner_length(at: Parts, inside: Iterable[Parts]) -> int | None:
    """Return how many leading names tell whose a file is: one more than stand around all files at `at`.

    None where a single archive is all there is: what is in it will tell.
    """
    names = sorted({parts for parts in inside if not is_junk(parts)})
    if len(names) == 1 and names[0] and archive_suffix(names[0][-1]):
        return None
    # Of sorted names the first and the last have in common what all have.
    pairs = zip(names[0], names[-1], strict=False) if len(names) > 1 else iter(())
    return len(at) + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)) + 1
