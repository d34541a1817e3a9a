"""Codes on paper that sign students in once, for an exam room without mail.

A code is short enough to be typed: eight letters and digits that can't be mistaken for one another. The
store has them hashed under a key made of the course secret, so that whoever reads the store alone can't find
them by trying all.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.store import Store

# Without 0 and O, 1, I and L, 5 and S, 2 and Z, 8 and B, U and V.
_ALPHABET = "34679ACDEFGHJKMNPQRTWXY"
_LENGTH = 9  # 23^9 are 1.8e12: with 500 codes out, one guess in 3.6e9 is right


def new_code() -> str:
    """Return a random code, ``K7Q-F9M-XRT``."""
    text = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
    return "-".join(text[start : start + 3] for start in range(0, _LENGTH, 3))


def plain_code(text: str) -> str:
    """Return a code as it was typed without case and what separates its groups."""
    return "".join(c for c in text.upper() if c.isalnum())[:50]


def is_code(text: str) -> bool:
    """Return whether a plain code can be one of ours."""
    return len(text) == _LENGTH and all(c in _ALPHABET for c in text)


def code_hash(secret: bytes, code: str) -> str:
    """Return the hash under which the store knows a code.

    Parameters
    ----------
    secret : bytes
        The course secret.
    code : str
        In any spelling.
    """
    key = hmac.digest(secret, b"softmark: codes that sign somebody in", "sha256")
    return hmac.new(key, plain_code(code).encode(), hashlib.sha256).hexdigest()


def issue_codes(
    store: Store,
    secret: bytes,
    people: Sequence[str],
    *,
    quiz: str,
    now: datetime,
    begins: datetime | None,
    expires: datetime,
) -> dict[str, str]:
    """Make a code for each person, and return them by person; unused codes of theirs for that quiz end.

    Parameters
    ----------
    store : Store
    secret : bytes
        The course secret.
    people : sequence of str
        Ids.
    quiz : str
        Its name.
    now : datetime
    begins : datetime or None
        When the codes begin to sign in; None: at once.
    expires : datetime
        When they end, and the sessions that they begin, unless a sitting lasts longer.
    """
    codes = {person: new_code() for person in people}
    hashes = [(person, code_hash(secret, code)) for person, code in codes.items()]
    store.sign_in_secrets.add(hashes, kind="code", now=now, begins=begins, expires=expires, assignment=quiz)
    return codes
