"""The code on each printed page: which exam, which copy, which page; nothing about its student or its key.

>>> PageCode("K7QF2MXA", copy=42, page=2, pages=3).text()
'SMK7QF2MXA/42/2/3*Q7'
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

# Crockford's alphabet: no I, L, O, U, which are taken for other signs when a person types a code.
CODE_SIGNS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
# Of codes that a person can still type, and a QR code of version 2 can hold with much redundancy.
LONGEST_EXAM = 8
MOST_COPIES = 99_999
MOST_PAGES = 99
# Says whose codes these are: a poster's or a textbook's code must not look like an unreadable one of ours.
_PREFIX = "SM"
_TEXT = re.compile(
    rf"{_PREFIX}(?P<exam>[{CODE_SIGNS}]{{1,{LONGEST_EXAM}}})/(?P<copy>[0-9]{{1,5}})/(?P<page>[0-9]{{1,2}})"
    rf"/(?P<pages>[0-9]{{1,2}})\*(?P<check>[{CODE_SIGNS}]{{2}})"
)


@dataclass(frozen=True, slots=True)
class PageCode:
    """What the code of a page says.

    Parameters
    ----------
    exam : str
        Short random name of one printing, of :data:`CODE_SIGNS`.
    copy : int
        Number of the copy, from 1; whose it is stands in the print record only.
    page : int
        From 1.
    pages : int
        How many pages the copy has.

    Raises
    ------
    ValueError
        A field is out of its range.
    """

    exam: str
    copy: int
    page: int
    pages: int

    def __post_init__(self) -> None:
        if not 1 <= len(self.exam) <= LONGEST_EXAM or set(self.exam) - set(CODE_SIGNS):
            raise ValueError(f"an exam is named by 1 to {LONGEST_EXAM} of {CODE_SIGNS}, not {self.exam!r}")
        if not 1 <= self.copy <= MOST_COPIES:
            raise ValueError(f"copies are numbered from 1 to {MOST_COPIES}, not {self.copy}")
        if not 1 <= self.page <= self.pages <= MOST_PAGES:
            raise ValueError(f"there is no page {self.page} of {self.pages}")

    def text(self) -> str:
        """Return the code as it is printed: signs of a QR code's alphanumeric mode only."""
        body = f"{_PREFIX}{self.exam}/{self.copy}/{self.page}/{self.pages}"
        return f"{body}*{_check_signs(body)}"

    @classmethod
    def parse(cls, text: str) -> PageCode | None:
        """Return what a code says, None if it isn't one of ours or its check signs don't fit."""
        match = _TEXT.fullmatch(text.strip().upper())
        if match is None or _check_signs(match[0].partition("*")[0]) != match["check"]:
            return None
        try:
            return cls(match["exam"], int(match["copy"]), int(match["page"]), int(match["pages"]))
        except ValueError:
            return None

    def words(self) -> str:
        """Return the code as people say it: ``copy 42, page 2 of 3``."""
        return f"copy {self.copy}, page {self.page} of {self.pages}"


def _check_signs(body: str) -> str:
    """Return two signs that a slip changes: ten bits, so that one wrong code in a thousand would pass.

    A QR code corrects itself; these guard codes that a person types from a page whose code is torn.
    """
    bits = zlib.crc32(body.encode("ascii"))
    return CODE_SIGNS[bits >> 5 & 31] + CODE_SIGNS[bits & 31]
