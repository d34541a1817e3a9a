"""What signs somebody in once: links, and codes on paper for an exam room without mail.

Both are bound to the course secret. The token of a link is signed under a key made of it, with its time of
expiry: whatever else is tried as a link is refused without a look into the store. A code is short enough to
be typed: nine letters and digits that can't be mistaken for one another. The store has it hashed under
another key made of the secret, so that whoever reads the store alone can't find codes by trying all.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.store import Store

# Without 0 and O, 1, I and L, 5 and S, 2 and Z, 8 and B, U and V.
_ALPHABET = "34679ACDEFGHJKMNPQRTWXY"
_LENGTH = 9  # 23^9 are 1.8e12: with 500 codes out, one guess in 3.6e9 is right

_RANDOM, _TIME, _SIGNATURE = 18, 6, 18  # bytes: nobody guesses 144 bits, be they random or signed
# Together a multiple of three, so that no two texts stand for the same bytes.
_TOKEN = re.compile(rf"[A-Za-z0-9_-]{{{(_RANDOM + _TIME + _SIGNATURE) * 4 // 3}}}")


def new_link_token(secret: bytes, expires: datetime) -> str:
    """Return a random token for a link, signed with its time of expiry.

    Parameters
    ----------
    secret : bytes
        The course secret: every machine that has it takes the link.
    expires : datetime
    """
    body = secrets.token_bytes(_RANDOM) + int(expires.timestamp()).to_bytes(_TIME, "big")
    return base64.urlsafe_b64encode(body + _link_signature(secret, body)).decode("ascii")


def is_link_token(secret: bytes, token: str, now: datetime) -> bool:
    """Return whether a token was signed for this course and hasn't expired; the store knows if it is used."""
    if not _TOKEN.fullmatch(token):
        return False
    parts = base64.urlsafe_b64decode(token)
    body, signature = parts[:-_SIGNATURE], parts[-_SIGNATURE:]
    if not hmac.compare_digest(signature, _link_signature(secret, body)):
        return False
    return now.timestamp() < int.from_bytes(body[_RANDOM:], "big")


def _link_signature(secret: bytes, body: bytes) -> bytes:
    key = hmac.digest(secret, b"softmark: links that sign somebody in", "sha256")
    return hmac.digest(key, body, "sha256")[:_SIGNATURE]


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
