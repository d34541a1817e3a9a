"""Who is signed in on the site, and the links and codes that sign somebody in once.

The store has only hashes of what is given out: a cookie, the token of a link, a code. Cookies and tokens are
random, so a plain hash is enough: nobody guesses 256 bits. A code is short, because somebody types it, and so
is hashed under a key that isn't in the store.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from engine.store.database import StorePart
from engine.store.sql_tables import storable
from engine.store.web_tables import sessions, sign_in_secrets

# A session is noted as seen at most this often: a write for every page would cost more than the page.
SEEN_EVERY = timedelta(minutes=5)
# How long one can still see that there was a session, or that a link was used.
_REMEMBERED = timedelta(days=30)


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
    device : str
        For the person to recognise it: ``Firefox on Linux``; may be empty.
    created, seen : datetime
    expires : datetime
        It ends then at the latest, or earlier without a visit.
    """

    id: str
    person: str
    role: str | None
    name: str
    way: str
    device: str
    created: datetime
    seen: datetime
    expires: datetime


def secret_hash(secret: str) -> str:
    """Return the hash under which the store knows a cookie or token."""
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
        device: str = "",
    ) -> str:
        """Begin a session, and return the secret for its cookie."""
        cookie = secrets.token_urlsafe(32)
        row = {
            "id": secret_hash(cookie),
            "person": person,
            "role": role,
            "name": storable(name, 200),
            "way": way,
            "device": storable(device, 100),
            "created": now,
            "seen": now,
            "expires": now + lasts,
        }
        self._database.change(lambda connection: connection.execute(sa.insert(sessions), row))
        return cookie

    def find(self, cookie: str, now: datetime, *, idle: timedelta | None = None) -> SignedInSession | None:
        """Return the valid session of a cookie, or None.

        Parameters
        ----------
        cookie : str
            Its secret.
        now : datetime
        idle : timedelta, optional
            A session that wasn't seen for so long has ended.
        """
        key = secret_hash(cookie)
        with self._database.read() as connection:
            row = connection.execute(_BY_COOKIE, {"key": key}).mappings().first()
        if row is None or row["expires"] <= now:
            return None
        # It may have been seen later than the store says, by as much as isn't written.
        if idle is not None and row["seen"] <= now - idle - SEEN_EVERY:
            return None
        if now - row["seen"] > SEEN_EVERY:
            seen = sa.update(sessions).where(sessions.c.id == key).values(seen=now)
            self._database.change(lambda connection: connection.execute(seen))
        return _session(row)

    def extend(self, session: str, expires: datetime) -> None:
        """Let a session end later; one that was ended by somebody stays ended."""
        change = (
            sa.update(sessions)
            .where(sessions.c.id == session, sessions.c.expires < expires)
            .values(expires=expires)
        )
        self._database.change(lambda connection: connection.execute(change))

    def of_person(
        self, person: str, now: datetime, *, idle: timedelta | None = None
    ) -> list[SignedInSession]:
        """Return the valid sessions of a person, newest first."""
        query = (
            sa.select(sessions)
            .where(sessions.c.person == person, *_valid(now, idle))
            .order_by(sessions.c.created.desc(), sessions.c.id)
        )
        with self._database.read() as connection:
            return [_session(row) for row in connection.execute(query).mappings()]

    def revoke(
        self, person: str, now: datetime, session: str | None = None, *, but: str | None = None
    ) -> int:
        """End one session of a person, or all but one; return how many were ended."""
        change = sa.update(sessions).where(sessions.c.person == person, sessions.c.revoked.is_(None))
        if session is not None:
            change = change.where(sessions.c.id == session)
        if but is not None:
            change = change.where(sessions.c.id != but)
        return int(
            self._database.change(lambda connection: connection.execute(change.values(revoked=now)).rowcount)
        )

    def forget_old(self, now: datetime) -> int:
        """Delete sessions, links and codes that ended a month ago; return how many."""
        old = now - _REMEMBERED

        def forget(connection: sa.Connection) -> int:
            tables = (sessions, sign_in_secrets)
            return sum(connection.execute(sa.delete(t).where(t.c.expires < old)).rowcount for t in tables)

        return self._database.change(forget)


# Built once: each request asks it.
_BY_COOKIE = sa.select(sessions).where(sessions.c.id == sa.bindparam("key"), sessions.c.revoked.is_(None))


def _valid(now: datetime, idle: timedelta | None) -> list[sa.ColumnElement[bool]]:
    conditions = [sessions.c.revoked.is_(None), sessions.c.expires > now]
    # It may have been seen later than the store says, by as much as isn't written.
    return conditions if idle is None else [*conditions, sessions.c.seen > now - idle - SEEN_EVERY]


def _session(row: sa.RowMapping) -> SignedInSession:
    names = ("id", "person", "role", "name", "way", "device", "created", "seen", "expires")
    return SignedInSession(**{name: row[name] for name in names})


@dataclass(frozen=True, slots=True)
class SignInSecret:
    """A link or a code that signs somebody in once.

    Parameters
    ----------
    id : str
        Its hash.
    person : str
    kind : str
        ``mail`` or ``terminal`` for a link, ``code``.
    assignment : str or None
        The quiz for which a code was made.
    begins : datetime or None
    expires : datetime
    used : datetime or None
    """

    id: str
    person: str
    kind: str
    assignment: str | None
    begins: datetime | None
    expires: datetime
    used: datetime | None

    def is_open(self, now: datetime) -> bool:
        """Return whether it signs somebody in now."""
        return self.used is None and now < self.expires and (self.begins is None or self.begins <= now)


_SECRET_FIELDS = ("id", "person", "kind", "assignment", "begins", "expires", "used")


class SignInSecrets(StorePart):
    """The links and codes of one course's site."""

    def add(
        self,
        secrets_by_person: Sequence[tuple[str, str]],
        *,
        kind: str,
        now: datetime,
        expires: datetime,
        begins: datetime | None = None,
        assignment: str | None = None,
    ) -> None:
        """Store hashes of links or codes; a code replaces the person's unused codes for the same quiz.

        Parameters
        ----------
        secrets_by_person : sequence of (str, str)
            The person, and the hash of what they get.
        kind : str
        now, expires : datetime
        begins : datetime, optional
        assignment : str, optional
        """
        rows = [
            {
                "id": key,
                "person": person,
                "kind": kind,
                "assignment": assignment,
                "created": now,
                "begins": begins,
                "expires": expires,
            }
            for person, key in secrets_by_person
        ]

        def store(connection: sa.Connection) -> None:
            if kind == "code":  # a slip of paper that was lost must not be worth anything
                people = [person for person, _ in secrets_by_person]
                connection.execute(sa.delete(sign_in_secrets).where(*_unused_codes(assignment, people)))
            if rows:
                connection.execute(sa.insert(sign_in_secrets), rows)

        self._database.change(store)

    def find(self, key: str) -> SignInSecret | None:
        """Return the link or code of a hash, valid or not."""
        query = sa.select(sign_in_secrets).where(sign_in_secrets.c.id == key)
        with self._database.read() as connection:
            row = connection.execute(query).mappings().first()
        return None if row is None else SignInSecret(**{name: row[name] for name in _SECRET_FIELDS})

    def use(self, key: str, now: datetime) -> SignInSecret | None:
        """Use up a link or code that is valid now, and return it; None for any other."""
        secret = self.find(key)
        if secret is None or not secret.is_open(now):
            return None
        change = (
            sa.update(sign_in_secrets)
            .where(sign_in_secrets.c.id == key, sign_in_secrets.c.used.is_(None))
            .values(used=now)
        )
        # Of two that come at once one changes the row, and the other nothing.
        count = self._database.change(lambda connection: connection.execute(change).rowcount)
        return secret if count == 1 else None

    def codes(self, assignment: str) -> list[SignInSecret]:
        """Return the codes that were made for a quiz, by person."""
        query = (
            sa.select(sign_in_secrets)
            .where(sign_in_secrets.c.kind == "code", sign_in_secrets.c.assignment == assignment)
            .order_by(sign_in_secrets.c.person, sign_in_secrets.c.created)
        )
        with self._database.read() as connection:
            rows = connection.execute(query).mappings().all()
        return [SignInSecret(**{name: row[name] for name in _SECRET_FIELDS}) for row in rows]

    def withdraw_codes(self, assignment: str) -> int:
        """Delete the unused codes for a quiz; return how many."""
        change = sa.delete(sign_in_secrets).where(*_unused_codes(assignment, None))
        return int(self._database.change(lambda connection: connection.execute(change).rowcount))


def _unused_codes(assignment: str | None, people: Collection[str] | None) -> list[sa.ColumnElement[bool]]:
    table = sign_in_secrets
    conditions = [table.c.kind == "code", table.c.assignment == assignment, table.c.used.is_(None)]
    return conditions if people is None else [*conditions, table.c.person.in_(people)]
