"""Learning systems (LTI 1.3): who they are, our keys, launches under way, their users, and their links.

A launch begins with a *state* that we make and ends with a message that carries it back; both are random, so
the store has only a hash, and it is used once.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, TypeVar

import sqlalchemy as sa

from engine.store.database import StorePart
from engine.store.sessions import secret_hash
from engine.store.sql_tables import storable
from engine.store.web_tables import lti_keys, lti_links, lti_nonces, lti_people, lti_platforms

_MOST_CONTEXTS = 200  # courses of one learning system that are remembered, accepted or not
_MOST_FRAMES = 20


@dataclass(frozen=True, slots=True)
class LinkedContext:
    """A course of a learning system.

    Parameters
    ----------
    title : str
    accepted : bool
        Whether its people may come in: anybody's course can have a link to us.
    """

    title: str
    accepted: bool


@dataclass(frozen=True, slots=True)
class LtiPlatform:
    """A registered learning system.

    Parameters
    ----------
    id : int
    issuer, client_id : str
        Together they name the registration.
    name : str
        For people.
    deployments : tuple of str
        Deployment ids that are accepted; while there are none, an instructor's first launch adds its own.
    contexts : mapping of str to LinkedContext
        The system's courses by id.
    frames : tuple of str
        Origins of its pages, which may show ours in a frame.
    login_url, token_url, keys_url : str
    audience : str or None
        Of access tokens, where it isn't the token URL.
    added : datetime
    by : str
        Who registered it.
    disabled : datetime or None
    """

    id: int
    issuer: str
    client_id: str
    name: str
    deployments: tuple[str, ...]
    contexts: Mapping[str, LinkedContext]
    frames: tuple[str, ...]
    login_url: str
    token_url: str
    keys_url: str
    audience: str | None
    added: datetime
    by: str
    disabled: datetime | None = None

    @property
    def accepted(self) -> tuple[str, ...]:
        """Ids of the courses whose people may come in."""
        return tuple(key for key, context in self.contexts.items() if context.accepted)


@dataclass(frozen=True, slots=True)
class LtiKey:
    """A signing key of ours: the newest signs, the others are still published until they are retired."""

    id: str
    private: str
    created: datetime
    retired: datetime | None = None


@dataclass(frozen=True, slots=True)
class LtiPerson:
    """A user of a learning system, and who that is here."""

    platform: int
    context: str
    subject: str
    person: str
    name: str
    email: str
    seen: datetime


@dataclass(frozen=True, slots=True)
class LtiLink:
    """A link in a course of a learning system.

    Parameters
    ----------
    platform : int
    deployment, link, context : str
        Ids of the learning system.
    assignment : str or None
        The quiz or exercise that it opens; None while nobody has chosen one.
    title : str
    line_item, line_items : str or None
        Address of its column of marks, and where columns are made.
    scopes : tuple of str
        What we may do there.
    members_url : str or None
        Address of the list of members.
    seen : datetime
    is_fixed : bool
        Whether the link says itself what it opens, each time: nothing else can be chosen here.
    """

    platform: int
    deployment: str
    link: str
    assignment: str | None
    context: str
    title: str
    line_item: str | None
    line_items: str | None
    scopes: tuple[str, ...]
    members_url: str | None
    seen: datetime
    is_fixed: bool = False


# Stands among the scopes of a link that says itself what it opens; no learning system grants one so named.
_FIXED = "softmark:says-what-it-opens"


class LtiStore(StorePart):
    """Learning systems of one course."""

    # --- registrations ---

    def platforms(self, *, enabled: bool = False) -> list[LtiPlatform]:
        """Return all registrations, or those that aren't disabled, oldest first."""
        query = sa.select(lti_platforms).order_by(lti_platforms.c.id)
        if enabled:
            query = query.where(lti_platforms.c.disabled.is_(None))
        with self._database.read() as connection:
            return [_platform(row) for row in connection.execute(query).mappings()]

    def platform(self, number: int) -> LtiPlatform | None:
        """Return the registration of that number, disabled or not."""
        query = sa.select(lti_platforms).where(lti_platforms.c.id == number)
        with self._database.read() as connection:
            row = connection.execute(query).mappings().first()
        return None if row is None else _platform(row)

    def add_platform(self, values: Mapping[str, Any], *, by: str, now: datetime) -> LtiPlatform:
        """Register a learning system, or give its registration new addresses and enable it again.

        Parameters
        ----------
        values : mapping
            ``issuer``, ``client_id``, ``name``, ``login_url``, ``token_url``, ``keys_url``, ``audience`` and
            ``deployments``.
        by : str
        now : datetime
        """
        row = {**values, "deployments": json.dumps(list(values.get("deployments", ())))}
        same = (lti_platforms.c.issuer == row["issuer"]) & (lti_platforms.c.client_id == row["client_id"])

        def put(connection: sa.Connection) -> int:
            number = connection.execute(sa.select(lti_platforms.c.id).where(same)).scalar()
            if number is None:
                new = {**row, "contexts": "{}", "frames": "[]", "added": now, "by": by, "disabled": None}
                result = connection.execute(sa.insert(lti_platforms), new)
                assert result.inserted_primary_key is not None
                return int(result.inserted_primary_key[0])
            connection.execute(sa.update(lti_platforms).where(same).values({**row, "disabled": None}))
            return int(number)

        platform = self.platform(self._database.change(put))
        assert platform is not None
        return platform

    def enable_platform(self, number: int, *, disabled: datetime | None) -> None:
        """Disable a registration from a moment on, or enable it again."""
        change = sa.update(lti_platforms).where(lti_platforms.c.id == number).values(disabled=disabled)
        self._database.change(lambda connection: connection.execute(change))

    def add_deployment(self, number: int, deployment: str) -> None:
        """Accept a further deployment of a registration."""
        self._update_list(number, "deployments", [deployment], 1000)

    def add_frames(self, number: int, origins: Collection[str]) -> None:
        """Remember origins whose pages may show ours in a frame."""
        self._update_list(number, "frames", origins, _MOST_FRAMES)

    def _update_list(self, number: int, column: str, entries: Collection[str], most: int) -> None:
        mine = lti_platforms.c.id == number

        def put(connection: sa.Connection) -> None:
            query = sa.select(lti_platforms.c[column]).where(mine).with_for_update()
            stored = json.loads(connection.execute(query).scalar_one())
            merged = list(dict.fromkeys([*stored, *entries]))[-most:]
            connection.execute(sa.update(lti_platforms).where(mine).values({column: json.dumps(merged)}))

        self._database.change(put)

    def put_context(self, number: int, context: str, *, title: str | None, accepted: bool | None) -> None:
        """Remember a course of a learning system; None leaves title or decision as they are."""
        mine = lti_platforms.c.id == number

        def put(connection: sa.Connection) -> None:
            query = sa.select(lti_platforms.c.contexts).where(mine).with_for_update()
            contexts: dict[str, dict[str, Any]] = json.loads(connection.execute(query).scalar_one())
            if context not in contexts and len(contexts) >= _MOST_CONTEXTS:
                return  # somebody makes up courses: those that wait are enough to decide
            entry = contexts.setdefault(context, {"title": "", "accepted": False})
            if title is not None:
                entry["title"] = storable(title, 200)
            if accepted is not None:
                entry["accepted"] = accepted
            text = json.dumps(contexts)
            connection.execute(sa.update(lti_platforms).where(mine).values(contexts=text))

        self._database.change(put)

    # --- our keys ---

    def keys(self, now: datetime) -> list[LtiKey]:
        """Return the keys that aren't retired, newest first."""
        query = (
            sa.select(lti_keys)
            .where(sa.or_(lti_keys.c.retired.is_(None), lti_keys.c.retired > now))
            .order_by(lti_keys.c.created.desc(), lti_keys.c.id)
        )
        with self._database.read() as connection:
            return [_value(LtiKey, row) for row in connection.execute(query).mappings()]

    def add_key(self, key: LtiKey, *, retire_others: datetime | None, only_first: bool = False) -> None:
        """Add a key, and say when those before it are retired.

        With `only_first` nothing is added where there is a key: another process was faster.
        """
        row = {"id": key.id, "private": key.private, "created": key.created, "retired": None}

        def put(connection: sa.Connection) -> None:
            if only_first and connection.execute(sa.select(lti_keys.c.id).limit(1)).scalar() is not None:
                return
            if retire_others is not None:
                stays = sa.or_(lti_keys.c.retired.is_(None), lti_keys.c.retired > retire_others)
                connection.execute(sa.update(lti_keys).where(stays).values(retired=retire_others))
            connection.execute(sa.insert(lti_keys), row)

        self._database.change(put)

    # --- launches and registrations under way ---

    def begin(
        self, kind: str, secret: str, data: Mapping[str, Any], *, now: datetime, expires: datetime
    ) -> None:
        """Remember what belongs to a secret that is used once: a login's state, or a registration link."""
        row = {"id": secret_hash(secret), "kind": kind, "data": json.dumps(data), "expires": expires}

        def put(connection: sa.Connection) -> None:
            connection.execute(sa.delete(lti_nonces).where(lti_nonces.c.expires <= now))
            connection.execute(sa.insert(lti_nonces), {**row, "used": None})

        self._database.change(put)

    def begun(self, kind: str, secret: str, now: datetime) -> tuple[Mapping[str, Any], bool] | None:
        """Return what belongs to a secret and whether it was used; None where it is unknown or expired."""
        query = sa.select(lti_nonces).where(
            lti_nonces.c.id == secret_hash(secret), lti_nonces.c.kind == kind, lti_nonces.c.expires > now
        )
        with self._database.read() as connection:
            row = connection.execute(query).mappings().first()
        return None if row is None else (json.loads(row["data"]), row["used"] is not None)

    def use(self, kind: str, secret: str, now: datetime) -> bool:
        """Use a secret; False where it was used before, by whichever process, or has expired.

        What belonged to it is forgotten: it can be about people.
        """
        change = sa.update(lti_nonces).where(
            lti_nonces.c.id == secret_hash(secret),
            lti_nonces.c.kind == kind,
            lti_nonces.c.used.is_(None),
            lti_nonces.c.expires > now,
        )
        count = self._database.change(
            lambda connection: connection.execute(change.values(used=now, data="{}")).rowcount
        )
        return bool(count == 1)

    def forget_expired(self, now: datetime) -> int:
        """Delete what was under way and has expired, and return how much: it can be about people."""
        change = sa.delete(lti_nonces).where(lti_nonces.c.expires <= now)
        return self._database.change(lambda connection: connection.execute(change).rowcount)

    # --- people ---

    def person(self, platform: int, subject: str) -> str | None:
        """Return who a user of a learning system is here; None where that isn't known."""
        query = sa.select(lti_people.c.person).where(
            lti_people.c.platform == platform, lti_people.c.subject == subject
        )
        with self._database.read() as connection:
            return connection.execute(query.limit(1)).scalar()

    def subjects(self, platform: int, person: str) -> list[str]:
        """Return the users of a learning system who are this person."""
        query = sa.select(lti_people.c.subject).where(
            lti_people.c.platform == platform, lti_people.c.person == person
        )
        with self._database.read() as connection:
            return sorted(set(connection.execute(query).scalars()))

    def people(self, platform: int | None = None) -> list[LtiPerson]:
        """Return the users who are known, of one learning system or all."""
        query = sa.select(lti_people).order_by(
            lti_people.c.platform, lti_people.c.person, lti_people.c.context
        )
        if platform is not None:
            query = query.where(lti_people.c.platform == platform)
        with self._database.read() as connection:
            return [_value(LtiPerson, row) for row in connection.execute(query).mappings()]

    def put_people(self, people: Sequence[LtiPerson]) -> None:
        """Remember who users are, all in one transaction."""

        def put(connection: sa.Connection) -> None:
            for entry in people:
                row = {f.name: getattr(entry, f.name) for f in fields(LtiPerson)}
                row |= {"name": storable(entry.name, 200), "email": storable(entry.email, 300)}
                _upsert(connection, lti_people, row)

        self._database.change(put)

    def forget_person(self, platform: int, subject: str) -> int:
        """Forget who a user is; return how many rows that were."""
        change = sa.delete(lti_people).where(
            lti_people.c.platform == platform, lti_people.c.subject == subject
        )
        return int(self._database.change(lambda connection: connection.execute(change).rowcount))

    # --- links ---

    def link(self, platform: int, deployment: str, link: str) -> LtiLink | None:
        """Return a link."""
        query = sa.select(lti_links).where(
            lti_links.c.platform == platform, lti_links.c.deployment == deployment, lti_links.c.link == link
        )
        with self._database.read() as connection:
            row = connection.execute(query).mappings().first()
        return None if row is None else _link(row)

    def links(self, platform: int | None = None) -> list[LtiLink]:
        """Return all links, of one learning system or all."""
        query = sa.select(lti_links).order_by(
            lti_links.c.platform, lti_links.c.context, lti_links.c.title, lti_links.c.link
        )
        if platform is not None:
            query = query.where(lti_links.c.platform == platform)
        with self._database.read() as connection:
            return [_link(row) for row in connection.execute(query).mappings()]

    def put_link(self, link: LtiLink) -> None:
        """Remember a link as the newest launch has it."""
        row = {f.name: getattr(link, f.name) for f in fields(LtiLink) if f.name != "is_fixed"}
        scopes = [*link.scopes, *([_FIXED] if link.is_fixed else [])]
        row |= {"scopes": json.dumps(scopes), "title": storable(link.title, 300)}
        self._database.change(lambda connection: _upsert(connection, lti_links, row))


def _upsert(connection: sa.Connection, table: sa.Table, row: Mapping[str, Any]) -> None:
    same = sa.and_(*(column == row[column.name] for column in table.primary_key))
    if connection.execute(sa.update(table).where(same).values(row)).rowcount == 0:
        connection.execute(sa.insert(table), row)


T = TypeVar("T")


def _value(kind: type[T], row: sa.RowMapping, **changed: Any) -> T:
    names = kind.__dataclass_fields__.keys() - changed  # type: ignore[attr-defined]
    return kind(**{name: row[name] for name in names}, **changed)


def _platform(row: sa.RowMapping) -> LtiPlatform:
    contexts = json.loads(row["contexts"])
    return _value(
        LtiPlatform,
        row,
        deployments=tuple(json.loads(row["deployments"])),
        contexts={key: LinkedContext(**context) for key, context in contexts.items()},
        frames=tuple(json.loads(row["frames"])),
    )


def _link(row: sa.RowMapping) -> LtiLink:
    scopes = json.loads(row["scopes"])
    granted = tuple(scope for scope in scopes if scope != _FIXED)
    return _value(LtiLink, row, scopes=granted, is_fixed=_FIXED in scopes)
