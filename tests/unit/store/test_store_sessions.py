"""Sessions, links and codes, on both kinds of database."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest

from engine.store import Store
from engine.store.sessions import SignInSecret, secret_hash

pytestmark = pytest.mark.slow

NOW = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_the_store_has_a_hash_of_the_cookie_alone(store: Store) -> None:
    cookie = store.sessions.begin("ada", way="mail", now=NOW, lasts=HOUR, device="Firefox on Linux")
    session = store.sessions.find(cookie, NOW)
    assert session is not None and session.id == secret_hash(cookie) != cookie
    assert (session.person, session.device, session.expires) == ("ada", "Firefox on Linux", NOW + HOUR)
    with store._database.read() as connection:
        assert cookie not in str(connection.exec_driver_sql("SELECT * FROM sessions").all())
    for other in (cookie[:-1], cookie + "x", "", session.id, "\0", "\ud800"):
        assert store.sessions.find(other, NOW) is None


def test_the_end_of_a_session(store: Store) -> None:
    cookie = store.sessions.begin("ada", way="mail", now=NOW, lasts=10 * HOUR)
    assert store.sessions.find(cookie, NOW + 2 * HOUR, idle=3 * HOUR) is not None
    assert store.sessions.find(cookie, NOW + 4 * HOUR, idle=3 * HOUR) is not None, "it was seen in between"
    assert store.sessions.find(cookie, NOW + 8 * HOUR, idle=3 * HOUR) is None
    assert store.sessions.find(cookie, NOW + 8 * HOUR) is not None
    assert store.sessions.find(cookie, NOW + 10 * HOUR) is None


def test_ending_sessions(store: Store) -> None:
    cookies = [store.sessions.begin("ada", way="mail", now=NOW, lasts=HOUR) for _ in range(3)]
    others = store.sessions.begin("bob", way="mail", now=NOW, lasts=HOUR)
    ids = [secret_hash(cookie) for cookie in cookies]
    assert store.sessions.revoke("ada", NOW, secret_hash(others)) == 0, "bob's isn't ada's"
    assert store.sessions.revoke("ada", NOW, ids[0]) == 1
    assert store.sessions.revoke("ada", NOW, but=ids[1]) == 1
    assert [s.id for s in store.sessions.of_person("ada", NOW)] == [ids[1]]
    assert store.sessions.revoke("ada", NOW) == 1
    assert store.sessions.find(others, NOW) is not None


def test_of_many_that_use_a_link_at_once_one_is_let_in(store: Store) -> None:
    store.sign_in_secrets.add([("ada", "hash")], kind="mail", now=NOW, expires=NOW + HOUR)
    barrier = threading.Barrier(8)
    let_in: list[SignInSecret] = []

    def use() -> None:
        barrier.wait()
        secret = store.sign_in_secrets.use("hash", NOW)
        if secret is not None:
            let_in.append(secret)

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [secret.person for secret in let_in] == ["ada"]
    stored = store.sign_in_secrets.find("hash")
    assert stored is not None and stored.used == NOW


def test_when_a_link_is_valid(store: Store) -> None:
    add, use = store.sign_in_secrets.add, store.sign_in_secrets.use
    add([("ada", "early")], kind="mail", now=NOW, begins=NOW + HOUR, expires=NOW + 2 * HOUR)
    assert use("early", NOW) is None and use("none", NOW) is None
    assert use("early", NOW + 2 * HOUR) is None
    assert use("early", NOW + HOUR) is not None


def test_a_new_code_ends_the_persons_unused_one_for_that_quiz(store: Store) -> None:
    secrets, later = store.sign_in_secrets, NOW + HOUR
    secrets.add([("ada", "a1"), ("bob", "b1")], kind="code", now=NOW, expires=later, assignment="exam")
    secrets.add([("ada", "a2")], kind="code", now=NOW, expires=later, assignment="quiz")
    secrets.add([("ada", "link")], kind="mail", now=NOW, expires=later)
    assert secrets.use("b1", NOW) is not None
    secrets.add([("ada", "a3"), ("bob", "b3")], kind="code", now=NOW, expires=later, assignment="exam")
    assert [s.id for s in secrets.codes("exam")] == ["a3", "b1", "b3"], "a used one stays as a record"
    assert [s.id for s in secrets.codes("quiz")] == ["a2"]
    assert secrets.find("a1") is None and secrets.find("link") is not None
    assert secrets.withdraw_codes("exam") == 2
    assert [s.id for s in secrets.codes("exam")] == ["b1"]


def test_what_ended_a_month_ago_is_forgotten(store: Store) -> None:
    store.sessions.begin("ada", way="mail", now=NOW, lasts=HOUR)
    kept = store.sessions.begin("ada", way="mail", now=NOW, lasts=timedelta(days=20))
    store.sign_in_secrets.add([("ada", "h")], kind="mail", now=NOW, expires=NOW + HOUR)
    assert store.sessions.forget_old(NOW + timedelta(days=30)) == 0
    assert store.sessions.forget_old(NOW + timedelta(days=31)) == 2
    assert store.sessions.find(kept, NOW) is not None
