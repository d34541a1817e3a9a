"""Who is signed in on the site, and the links and codes that sign somebody in once.

The store has only hashes of what is given out: a cookie, the token of a link, a code. All are random, so a
plain hash is enough; nobody guesses 256 bits.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from engine.store.database import StorePart
from engine.store.sql_tables import storable
from engine.store.web_tables import sessions

# A session is noted as seen at most this often: a write for every page would cost more than the page.
_SEEN_EVERY = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class SignedInSession:
    """A session that is valid.

    Parameters
    ----------
    id : str
        Hash of the cookie: safe to show and to log.
    person : str
    role : str or None
        As a learning system said it; None: as the course's own files say.
    name : str
        As the way of signing in said it; may be empty.
    way : str
        ``mail``, ``code``, ``oidc``, ``lti`` or ``terminal``.
    created, seen, expires : datetime
    """

    id: str
    person: str
    role: str | None
    name: str
    way: str
    created: datetime
    seen: datetime
    expires: datetime


def secret_hash(secret: str) -> str:
    """Return the hash under which the store knows a cookie, token or code."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class SessionStore(StorePart):
    """The sessions of one course's site."""

    def begin(
        self,
        person: str,
        *,
        way: str,
        now: datetime,
        lasts: timedelta,
        role: str | None = None,
        name: str = "",
    ) -> str:
        """Begin a session, and return the secret for its cookie."""
        cookie = secrets.token_urlsafe(32)
        row = {
            "id": secret_hash(cookie),
            "person": person,
            "role": role,
            "name": storable(name, 200),
            "way": way,
            "created": now,
            "seen": now,
            "expires": now + lasts,
        }
        self._database.change(lambda connection: connection.execute(sa.insert(sessions), row))
        return cookie

    def find(self, cookie: str, now: datetime) -> SignedInSession | None:
        """Return the valid session of a cookie, or None."""
        key = secret_hash(cookie)
        query = sa.select(sessions).where(
            sessions.c.id == key, sessions.c.revoked.is_(None), sessions.c.expires > now
        )
        with self._database.read() as connection:
            row = connection.execute(query).mappings().first()
        if row is None:
            return None
        if now - row["seen"] > _SEEN_EVERY:
            seen = sa.update(sessions).where(sessions.c.id == key).values(seen=now)
            self._database.change(lambda connection: connection.execute(seen))
        return _session(row)

    def of_person(self, person: str, now: datetime) -> list[SignedInSession]:
        """Return the valid sessions of a person, newest first."""
        query = (
            sa.select(sessions)
            .where(sessions.c.person == person, sessions.c.revoked.is_(None), sessions.c.expires > now)
            .order_by(sessions.c.created.desc())
        )
        with self._database.read() as connection:
            return [_session(row) for row in connection.execute(query).mappings()]

    def revoke(self, person: str, now: datetime, session: str | None = None) -> int:
        """End one session of a person, or all; return how many were ended."""
        change = sa.update(sessions).where(sessions.c.person == person, sessions.c.revoked.is_(None))
        if session is not None:
            change = change.where(sessions.c.id == session)
        return int(
            self._database.change(lambda connection: connection.execute(change.values(revoked=now)).rowcount)
        )


def _session(row: sa.RowMapping) -> SignedInSession:
    names = ("id", "person", "role", "name", "way", "created", "seen", "expires")
    return SignedInSession(**{name: row[name] for name in names})
