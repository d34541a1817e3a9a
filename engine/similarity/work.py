"""The values of a comparison: files, pairs, and how alike a class is."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

__all__ = ["FilePair", "HandedInCode", "ItemComparison", "SimilaritySpread"]


@dataclass(frozen=True, slots=True)
class HandedInCode:
    """One file that somebody handed in.

    Parameters
    ----------
    who : str
        Id of the student.
    source : str
        Python source, the files that it imports at its end.
    filename : str
        Name as handed in: foreign text.
    is_earlier : bool
        Whether it comes from another year: two of those are never compared with each other.
    """

    who: str
    source: str
    filename: str = ""
    is_earlier: bool = False

    @property
    def person(self) -> tuple[bool, str]:
        """Who it is; the same id in another year may be another person."""
        return self.is_earlier, self.who


@dataclass(frozen=True, slots=True)
class FilePair:
    """Two students' files for one item.

    Parameters
    ----------
    first, second : HandedInCode
    shared : int
        Fingerprints in common.
    share_first, share_second : float
        What part of each file's fingerprints the other one has, 0 to 1, without the starter's and usual ones.
    surprise : float
        How rare what they share is in the class: the sum of ``-log2`` of each shared fingerprint's frequency
        among the others, times the larger rarity-weighted share. No probability.
    wording : float
        The same of own names, comments and texts.
    """

    first: HandedInCode
    second: HandedInCode
    shared: int
    share_first: float
    share_second: float
    surprise: float
    wording: float = 0.0

    @property
    def share(self) -> float:
        """The larger share."""
        return max(self.share_first, self.share_second)


@dataclass(frozen=True, slots=True)
class SimilaritySpread:
    """How alike pairs are: shares (the larger direction), 0 to 1, that half, 95 % and all don't exceed."""

    pairs: int
    half: float
    most: float
    highest: float


@dataclass(frozen=True, slots=True)
class ItemComparison:
    """What comparing all files of one item found.

    Parameters
    ----------
    item : str
    files, students : int
        With those of earlier years.
    pairs : tuple of FilePair
        The most surprising first; one for two students.
    by_wording : tuple of FilePair
        Those that share the rarest names, comments and texts, the rarest first.
    groups : tuple of tuple of HandedInCode
        Three or more who are linked by close pairs, the largest group first.
    usual : frozenset
        Fingerprints that don't count: of the starter, and of more than half of the class.
    spread : SimilaritySpread
        Of the class itself.
    identical : tuple of tuple of HandedInCode
        Two or more students' files that are the same but for blanks at line ends, the largest group first.
    """

    item: str
    files: int
    students: int
    pairs: tuple[FilePair, ...]
    by_wording: tuple[FilePair, ...]
    groups: tuple[tuple[HandedInCode, ...], ...]
    usual: frozenset[Hashable]
    spread: SimilaritySpread
    identical: tuple[tuple[HandedInCode, ...], ...] = ()
