"""What is unpacked at most, and the account of what has been: one for a whole nest of archives."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

__all__ = ["ArchiveLimits", "Budget", "Share"]

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
    listed : int
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
    listed: int = 200_000
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
class Share:
    """What an archive inside another one takes up there, and what it has unpacked to so far."""

    packed: int
    unpacked: int = 0


class Budget:
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
        biggest, most = max(used.items(), key=lambda one: one[1])
        own = used[owner] if owner is not None and owner in used else 0
        return biggest if biggest != owner and most > _FAR_MORE * (own + max(entries, size)) else None

    def release(self, owner: Parts) -> int:
        """Forget what an owner has used; return how many entries that were."""
        self._total -= self._by_owner.pop(owner, 0)
        entries = self._entries_by_owner.pop(owner, 0)
        self._entries -= entries
        return entries

    def is_full(self, chunk: int) -> bool:
        """Tell whether `chunk` bytes more are more than everything may unpack to."""
        return self._total + chunk > self.limits.total

    def size_fault(self, size: int, packed: int) -> str | None:
        """Return what is wrong with a file of `size` bytes so far that takes up `packed` bytes."""
        if size > self.limits.most_of(packed):
            return f"unpacks to more than {self.limits.ratio} times its size, as bombs do"
        return None

    def take(self, chunk: int, owner: Parts | None, share: Share | None) -> str | None:
        """Count `chunk` bytes more; return which limit that breaks.

        Parameters
        ----------
        chunk : int
        owner : tuple of str or None
            The names that say whose folder it is; None while that isn't known.
        share : Share or None
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
