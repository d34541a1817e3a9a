"""Unpack ZIP and tar archives, also inside one another; nothing is written outside the work folder.

What an entry is called never decides where it is written: each gets a number in the work folder. Sizes are
counted while unpacking, because an archive's own list can lie. Everybody's hand-in has a share of what may be
unpacked, so that one student's archive bomb can't use up the others' budget: one :class:`UnpackBudget` counts
what a whole nest of archives unpacks to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from engine.errors import INTERNAL_FAULT_STEP, IntakeError, internal_fault
from engine.intake.archive_formats import (
    DAMAGE,
    ArchiveMember,
    RefusedError,
    open_archive,
    too_many,
)
from engine.intake.download_entries import (
    FileEntry,
    FoundEntries,
    archive_suffix,
    common_length,
    is_junk,
    is_listing,
    is_wanted,
    name_fault,
    name_parts,
    read_folder,
)
from engine.text.words import agree, clean_line, count_noun

# Limits are checked after each chunk, so that a bomb writes at most this much too much.
_CHUNK = 2**16
Parts = tuple[str, ...]
_MIB = 2**20
# Nobody is left out for a classmate who needs about as much.
_FAR_MORE = 4


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """What is unpacked at most; sizes in bytes.

    Parameters
    ----------
    entries : int
        Over all archives together. Beyond it, those who have by far the most are left out first.
    download_entries : int
        Entries of the download itself; one that lists more is refused unread.
    owner_entries : int
        What one student's folder holds, with all archives in it.
    inside : int
        Entries of one archive that lies inside a student's hand-in.
    depth : int
        How deep archives may lie in one another.
    entry, listing : int
        Size of a file, and of a system's own list of all hand-ins.
    top_level : int
        What one student's folder unpacks to, so that nobody's bomb takes another's place.
    total : int
        What everything unpacks to.
    ratio, ratio_from : int
        How many times its size in the archive something unpacks to, once that is `ratio_from` bytes.
    """

    entries: int = 50_000
    download_entries: int = 200_000
    owner_entries: int = 10_000
    inside: int = 2_000
    depth: int = 3
    entry: int = 16 * _MIB
    listing: int = 64 * _MIB
    top_level: int = 64 * _MIB
    total: int = 4 * 2**30
    ratio: int = 200
    ratio_from: int = _MIB

    def most_of(self, packed: int) -> int:
        """Return how many bytes `packed` bytes may unpack to."""
        return max(self.ratio_from, self.ratio * packed)


@dataclass(slots=True)
class ArchiveShare:
    """What an archive inside another one takes up there, and what it has unpacked to so far."""

    packed: int
    unpacked: int = 0


class UnpackBudget:
    """Counts what is unpacked; says which limit a further chunk would break.

    Parameters
    ----------
    limits : ArchiveLimits
    """

    def __init__(self, limits: ArchiveLimits) -> None:
        self.limits = limits
        self._entries = 0
        self._total = 0
        self._by_owner: Counter[Parts] = Counter()
        self._entries_by_owner: Counter[Parts] = Counter()

    @property
    def room(self) -> int:
        """How many more entries are read."""
        return max(0, self.limits.entries - self._entries)

    def room_of(self, owner: Parts | None) -> int:
        """How many more entries of one owner are read."""
        return self.limits.owner_entries - self._entries_by_owner[owner] if owner is not None else self.room

    def admit(self, entries: int, owner: Parts | None) -> None:
        """Count entries of one owner; None while that isn't known."""
        self._entries += entries
        if owner is not None:
            self._entries_by_owner[owner] += entries

    def spender(self, owner: Parts | None, *, entries: int = 0, size: int = 0) -> Parts | None:
        """Return who is left out so that this owner has room: somebody with far more, None for nobody.

        Parameters
        ----------
        owner : tuple of str or None
        entries, size : int
            What the owner needs, of one or the other.
        """
        used = self._by_owner if size else self._entries_by_owner
        if not used:
            return None
        biggest, most = max(used.items(), key=lambda entry: entry[1])
        owners_use = used[owner] if owner is not None and owner in used else 0
        return biggest if biggest != owner and most > _FAR_MORE * (owners_use + max(entries, size)) else None

    def release(self, owner: Parts) -> int:
        """Forget what an owner has used; return how many entries that were."""
        self._total -= self._by_owner.pop(owner, 0)
        entries = self._entries_by_owner.pop(owner, 0)
        self._entries -= entries
        return entries

    def is_full(self, chunk: int) -> bool:
        """Return whether `chunk` bytes more are more than everything may unpack to."""
        return self._total + chunk > self.limits.total

    def size_fault(self, size: int, packed: int) -> str | None:
        """Return what is wrong with a file of `size` bytes so far that takes up `packed` bytes."""
        if size > self.limits.most_of(packed):
            return f"unpacks to more than {self.limits.ratio} times its size, as bombs do"
        return None

    def take(self, chunk: int, owner: Parts | None, share: ArchiveShare | None) -> str | None:
        """Count `chunk` bytes more; return which limit that breaks.

        Parameters
        ----------
        chunk : int
        owner : tuple of str or None
            The names that say whose folder it is; None while that isn't known.
        share : ArchiveShare or None
            Of the outermost archive inside; None for what lies in the download itself.
        """
        limits = self.limits
        self._total += chunk
        if self._total > limits.total:
            return f"brings all hand-ins over {limits.total // _MIB} MiB"
        if owner is not None:
            self._by_owner[owner] += chunk
            if self._by_owner[owner] > limits.top_level:
                return f"brings its folder over {limits.top_level // _MIB} MiB"
        if share is not None:
            share.unpacked += chunk
            if share.unpacked > limits.most_of(share.packed):
                return f"brings its archive over {limits.ratio} times its size, as bombs do"
        return None


def read_source(path: Path, workdir: Path, limits: ArchiveLimits | None = None) -> FoundEntries:
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
            return FoundEntries(files=[FileEntry((path.name,), path)])
        return nest.of_archive(path)
    except RefusedError as error:
        raise IntakeError(
            error.fault, where=where, got=error.got, next_step=error.next_step or "download it again"
        ) from error
    except OSError as error:
        raise IntakeError(
            "the archive can't be unpacked", where=where, got=error.strerror or str(error)
        ) from error
    except IntakeError:
        raise
    except Exception as error:
        raise IntakeError(
            "the archive can't be unpacked",
            where=where,
            got=internal_fault(error),
            next_step=INTERNAL_FAULT_STEP,
        ) from error


@dataclass(frozen=True, slots=True)
class _Archive:
    """An archive on its way to its entries.

    ``at`` is where it lies, ``depth`` how deep in others. ``owner`` says how many names of a path say whose
    an entry is; None while one folder or archive surrounds all others.
    """

    path: Path
    at: Parts
    depth: int
    owner: int | None
    share: ArchiveShare | None

    def whose(self, parts: Parts) -> Parts | None:
        """Return the names that say whose an entry is, None where nothing does."""
        return parts[: self.owner] if self.owner is not None and len(parts) >= self.owner else None


class _Nest:
    def __init__(self, workdir: Path, limits: ArchiveLimits) -> None:
        self._workdir = workdir
        self._limits = limits
        self._budget = UnpackBudget(limits)
        self._entries = FoundEntries()
        self._number = 0
        self._names: Counter[Parts] = Counter()
        # What isn't looked at: entries of an owner beyond their share, and owners who took all others' room.
        self._beyond: Counter[Parts] = Counter()
        self._left_out: set[Parts] = set()

    def _finished(self) -> FoundEntries:
        for owner, count in self._beyond.items():
            name = "/".join(owner)
            message = f"… and {count_noun(count, 'more entry', ',')}, not looked at"
            most = self._limits.owner_entries
            self._entries.refuse(name, message, f"hand in the files that count, at most {most:,} of them")
        return self._entries

    def of_folder(self, listing: FoundEntries) -> FoundEntries:
        entries = self._entries
        entries.folders, entries.problems, entries.ignored = (
            listing.folders,
            listing.problems,
            listing.ignored,
        )
        owner = _owner_length((), [entry.parts for entry in listing.files])
        # Files first: whoever's archives need more than is left, what lies open is looked at.
        for entry in sorted(listing.files, key=lambda entry: bool(archive_suffix(entry.parts[-1]))):
            whose = entry.parts[:owner] if owner is not None and len(entry.parts) >= owner else None
            if not self._admitted(whose):
                continue
            if entry.path is not None and archive_suffix(entry.parts[-1]):
                owner_parts = owner if owner is not None and len(entry.parts) >= owner else None
                self._inside(
                    _Archive(entry.path, entry.parts, 1, owner_parts, ArchiveShare(_size(entry.path)))
                )
            elif entry.path is None or self._fits(entry.parts, entry.path, whose):
                entries.files.append(entry)
        return self._finished()

    def _fits(self, parts: Parts, path: Path, owner: Parts | None) -> bool:
        """Return whether an unpacked file is read: all of it is, so sizes count as in archives.

        A file of no real size on the disk (a sparse one) can be as long as its owner likes.
        """
        size = _size(path)
        most = self._limits.listing if is_listing(parts[-1]) else self._limits.entry
        fault = f"is larger than {most // _MIB} MiB" if size > most else self._spend(size, owner, None)
        if fault:
            self._entries.refuse("/".join(parts), f"this file {fault}; it was not read", "ask for it again")
        return fault is None

    def of_archive(self, path: Path) -> FoundEntries:
        self._read(_Archive(path, (), 1, None, None), self._limits.download_entries)
        return self._finished()

    def _admitted(self, owner: Parts | None, entries: int = 1) -> bool:
        # Those beyond a share are reported once, not one by one.
        if owner is not None and owner in self._left_out:
            return False
        if self._budget.room_of(owner) < entries or not self._has_room(owner, entries):
            self._beyond[owner or ()] += entries
            return False
        self._budget.admit(entries, owner)
        return True

    def _has_room(self, owner: Parts | None, entries: int) -> bool:
        while self._budget.room < entries:
            spender = self._budget.spender(owner, entries=entries)
            if spender is None:
                return False
            self._leave_out(spender)
        return True

    def _leave_out(self, owner: Parts) -> None:
        # With it the class's work would be more than is read, so that one student costs nobody else a place.
        self._left_out.add(owner)
        count = self._budget.release(owner)
        length = len(owner)
        for entry in self._entries.files:
            if (
                entry.parts[:length] == owner
                and entry.path is not None
                and self._workdir in entry.path.parents
            ):
                entry.path.unlink(missing_ok=True)
        self._entries.files = [entry for entry in self._entries.files if entry.parts[:length] != owner]
        self._beyond.pop(owner, None)
        self._entries.refuse(
            "/".join(owner),
            f"all hand-ins together are more than is read, and this one is by far the largest: "
            f"its {count_noun(count, 'entry', ',')} {agree(count, 'are')} left out",
            "ask for the files that count alone",
        )

    def _inside(self, archive: _Archive) -> None:
        # What is wrong with an inner archive concerns nothing else.
        name = "/".join(archive.at)
        before = self._entries.count
        self._entries.folders.add(archive.at)
        try:
            self._read(
                archive, self._limits.download_entries if archive.owner is None else self._limits.inside
            )
        except RefusedError as error:
            self._entries.refuse(name, str(error), error.next_step or "ask for it again, as .zip or .tar.gz")
            return
        except OSError as error:
            if error.errno is not None:  # the disk's, which concerns everybody
                raise
            self._entries.refuse(name, f"not read: {internal_fault(error)}", INTERNAL_FAULT_STEP)
            return
        except Exception as error:  # one archive never stops the others
            self._entries.refuse(name, f"not read: {internal_fault(error)}", INTERNAL_FAULT_STEP)
            return
        if before == self._entries.count:
            self._entries.refuse(name, "this archive is empty")

    def _read(self, archive: _Archive, most: int) -> None:
        whose = archive.whose(archive.at)
        if whose is not None:
            most = min(most, max(0, self._budget.room_of(whose)))
        size = self._limits.total if archive.owner is None else self._limits.top_level
        size = min(size, self._limits.most_of(_size(archive.path)))
        spare = self._next(".tar")
        with open_archive(archive.path, spare, most, size) as members:
            self._entries.written += _size(spare)
            if whose is not None and not self._has_room(whose, len(members)):
                raise too_many(str(len(members)), self._budget.room)
            if archive.owner is None:
                files = [name_parts(member.name) for member in members if not member.is_folder]
                archive = replace(archive, owner=_owner_length(archive.at, files))
            for member in members:
                if self._admitted(archive.whose(archive.at + name_parts(member.name))):
                    self._take(member, archive)

    def _next(self, suffix: str) -> Path:
        self._number += 1
        return self._workdir / f"{self._number:06d}{suffix}"

    def _take(self, member: ArchiveMember, archive: _Archive) -> None:
        inner = name_parts(member.name)
        parts = archive.at + inner
        fault = name_fault(member.name) or member.fault
        if not fault and not inner and not member.is_folder:
            fault = "has no name"
        if fault:
            step = "pack it again without a password" if fault == "is encrypted" else ""
            self._refuse((*archive.at, member.name), f"{fault}; it was not unpacked", step)
        elif not inner:
            return  # the folder that the archive was made of
        elif is_junk(inner):
            self._entries.ignored.append(clean_line("/".join(parts), 300))
        elif member.is_folder:
            self._entries.folders.add(parts)
        elif archive_suffix(parts[-1]):
            self._take_archive(member, parts, archive)
        else:
            self._take_file(member, parts, archive)

    def _take_file(self, member: ArchiveMember, parts: Parts, archive: _Archive) -> None:
        self._names[parts] += 1
        if self._names[parts] == 2:
            message = "the archive holds several files of this name"
            self._entries.refuse("/".join(parts), message, "each is graded, in the order of the archive")
        path = None
        if is_wanted(parts[-1]):
            path = self._next(Path(parts[-1]).suffix.lower())
            most = self._limits.listing if is_listing(parts[-1]) else self._limits.entry
            if not self._unpack(member, path, parts, archive, most):
                return
        self._entries.files.append(FileEntry(parts, path))

    def _take_archive(self, member: ArchiveMember, parts: Parts, archive: _Archive) -> None:
        if archive.depth >= self._limits.depth:
            message = f"archives that lie more than {self._limits.depth} deep in one another are not opened"
            self._entries.refuse("/".join(parts), message, "unpack it in its place")
            return
        path = self._next(archive_suffix(parts[-1]))
        if self._unpack(member, path, parts, archive, self._limits.total):
            owner = archive.owner if archive.whose(parts) else None
            share = archive.share or ArchiveShare(member.packed)
            self._inside(_Archive(path, parts, archive.depth + 1, owner, share))
            path.unlink()

    def _unpack(self, member: ArchiveMember, path: Path, parts: Parts, archive: _Archive, most: int) -> bool:
        size, fault = 0, None
        try:
            with member.open() as source, path.open("wb") as target:
                while chunk := source.read(_CHUNK):
                    size += len(chunk)
                    if size > most:
                        fault = f"unpacks to more than {most // _MIB} MiB"
                    fault = fault or self._budget.size_fault(size, member.packed)
                    fault = fault or self._spend(len(chunk), archive.whose(parts), archive.share)
                    self._entries.written += len(chunk)
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

    def _spend(self, chunk: int, owner: Parts | None, share: ArchiveShare | None) -> str | None:
        """Count a chunk, leaving out who has far more where room ends; return which limit it breaks."""
        while (
            self._budget.is_full(chunk) and (spender := self._budget.spender(owner, size=chunk)) is not None
        ):
            self._leave_out(spender)
        return self._budget.take(chunk, owner, share)

    def _refuse(self, parts: Parts, fault: str, next_step: str) -> None:
        self._entries.refuse("/".join(parts), f"this entry {fault}", next_step)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # whoever opens it will say why
        return 0


def _owner_length(at: Parts, inside: Iterable[Parts]) -> int | None:
    """Return how many leading names say whose a file is: one more than surround all files at `at`.

    None where a single archive is all there is: what is in it will tell.
    """
    names = sorted({parts for parts in inside if not is_junk(parts)})
    if len(names) == 1 and names[0] and archive_suffix(names[0][-1]):
        return None
    # Of sorted names the first and the last have in common what all have.
    return len(at) + (common_length(names[0], names[-1]) if len(names) > 1 else 0) + 1
