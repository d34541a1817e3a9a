"""Learning systems in the store: registrations, secrets used once, keys, links, and marks on their way."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from engine.store import Store
from engine.store.lti import LinkedContext, LtiKey, LtiLink, LtiPerson
from engine.store.lti_outbox import MarkForLms, OutboxRow

NOW = datetime(2026, 11, 2, 8, 30, 0, 250_000, tzinfo=UTC)
HOUR = timedelta(hours=1)
MOODLE = {
    "issuer": "https://moodle.example.edu",
    "client_id": "c1",
    "name": "Moodle",
    "login_url": "https://moodle.example.edu/auth",
    "token_url": "https://moodle.example.edu/token",
    "keys_url": "https://moodle.example.edu/jwks",
    "audience": None,
}


@pytest.fixture
def platform(store: Store) -> int:
    return store.lti.add_platform(MOODLE, by="prof", now=NOW).id


def test_a_registration_is_one_for_issuer_and_client(store: Store, platform: int) -> None:
    again = store.lti.add_platform({**MOODLE, "name": "New name"}, by="other", now=NOW + HOUR)
    assert (again.id, again.name, again.by, again.added) == (platform, "New name", "prof", NOW)
    other = store.lti.add_platform({**MOODLE, "client_id": "c2"}, by="prof", now=NOW)
    assert [p.id for p in store.lti.platforms()] == [platform, other.id]
    store.lti.enable_platform(other.id, disabled=NOW)
    assert [p.id for p in store.lti.platforms(enabled=True)] == [platform]
    assert store.lti.add_platform({**MOODLE, "client_id": "c2"}, by="prof", now=NOW).disabled is None


def test_deployments_courses_and_frames_are_added_once(store: Store, platform: int) -> None:
    for _ in range(2):
        store.lti.add_deployment(platform, "1")
        store.lti.add_frames(platform, ["https://moodle.example.edu", "https://school.example"])
        store.lti.put_context(platform, "course-7", title="Attention", accepted=True)
    store.lti.put_context(platform, "course-8", title="Another", accepted=None)
    store.lti.put_context(platform, "course-7", title="Attention 2026", accepted=None)
    row = store.lti.platform(platform)
    assert row is not None
    assert row.deployments == ("1",)
    assert row.frames == ("https://moodle.example.edu", "https://school.example")
    assert row.contexts == {
        "course-7": LinkedContext("Attention 2026", True),
        "course-8": LinkedContext("Another", False),
    }
    assert row.accepted == ("course-7",)


def test_made_up_courses_are_remembered_up_to_a_limit(store: Store, platform: int) -> None:
    for number in range(203):
        store.lti.put_context(platform, f"c{number}", title="t", accepted=None)
    row = store.lti.platform(platform)
    assert row is not None and len(row.contexts) == 200


def test_a_secret_is_used_once_by_whoever_is_first(store: Store) -> None:
    store.lti.begin("state", "secret", {"nonce": "n"}, now=NOW, expires=NOW + HOUR)
    assert store.lti.begun("state", "secret", NOW) == ({"nonce": "n"}, False)
    assert store.lti.begun("registration", "secret", NOW) is None
    assert store.lti.begun("state", "other", NOW) is None
    winners: list[bool] = []
    threads = [
        threading.Thread(target=lambda: winners.append(store.lti.use("state", "secret", NOW)))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(winners) == [False] * 5 + [True]
    assert store.lti.begun("state", "secret", NOW) == ({}, True)


def test_an_expired_secret_is_unknown_and_swept(store: Store) -> None:
    store.lti.begin("state", "old", {}, now=NOW, expires=NOW + HOUR)
    later = NOW + HOUR
    assert store.lti.begun("state", "old", later) is None
    assert not store.lti.use("state", "old", later)
    store.lti.begin("state", "new", {}, now=later, expires=later + HOUR)
    assert store.lti.begun("state", "old", NOW) is None


def test_members_under_way_are_forgotten_in_time_and_with_any_of_them(store: Store) -> None:
    def is_there(secret: str) -> bool:
        return store.lti.begun("members", secret, NOW) is not None

    members = {"members": [{"user_id": "u", "name": "Ada Lovelace"}]}
    store.lti.begin("members", "short", members, now=NOW, expires=NOW + HOUR)
    store.lti.begin("members", "long", members, now=NOW, expires=NOW + 3 * HOUR)
    store.lti.begin("state", "login", {}, now=NOW, expires=NOW + 3 * HOUR)
    assert store.lti.forget_expired(NOW) == 0
    assert store.lti.forget_expired(NOW + HOUR) == 1
    assert (is_there("short"), is_there("long")) == (False, True)
    store.people.erase("ada")
    assert not is_there("long")
    assert store.lti.begun("state", "login", NOW) is not None


def test_only_one_first_key_is_made_and_a_new_one_retires_it_later(store: Store) -> None:
    first, second, third = (LtiKey(name, "pem", NOW + n * HOUR) for n, name in enumerate("abc"))
    store.lti.add_key(first, retire_others=None, only_first=True)
    store.lti.add_key(second, retire_others=None, only_first=True)
    assert [key.id for key in store.lti.keys(NOW)] == ["a"]
    store.lti.add_key(third, retire_others=NOW + 5 * HOUR)
    assert [key.id for key in store.lti.keys(NOW + 4 * HOUR)] == ["c", "a"]
    assert [key.id for key in store.lti.keys(NOW + 5 * HOUR)] == ["c"]


def test_people_are_found_and_forgotten(store: Store, platform: int) -> None:
    ada = LtiPerson(platform, "course-7", "u1", "ada", "Ada", "ada@x", NOW)
    store.lti.put_people([ada, replace(ada, context="course-8")])
    store.lti.put_people([replace(ada, name="Ada L.")])
    assert store.lti.person(platform, "u1") == "ada"
    assert store.lti.person(platform, "u2") is None
    assert store.lti.subjects(platform, "ada") == ["u1"]
    assert [(p.context, p.name) for p in store.lti.people(platform)] == [
        ("course-7", "Ada L."),
        ("course-8", "Ada"),
    ]
    assert store.lti.forget_person(platform, "u1") == 2
    assert store.lti.people() == []


def test_a_link_is_as_the_newest_launch_has_it(store: Store, platform: int) -> None:
    link = LtiLink(
        platform, "1", "r1", None, "course-7", "Week 1", None, "https://x/items", ("s",), None, NOW
    )
    store.lti.put_link(link)
    store.lti.put_link(replace(link, assignment="week-1", line_item="https://x/items/1"))
    assert store.lti.links() == [replace(link, assignment="week-1", line_item="https://x/items/1")]
    assert store.lti.link(platform, "1", "r1") == store.lti.links(platform)[0]
    assert store.lti.link(platform, "2", "r1") is None


def mark(platform: int, score: float | None, subject: str = "u1") -> MarkForLms:
    return MarkForLms(platform, "https://x/items/1", subject, "ada", score, 10.0)


def claim(store: Store, now: datetime) -> list[OutboxRow]:
    return store.lti_outbox.claim(now, lease=timedelta(minutes=1), most=100)


def test_the_same_mark_is_taken_in_once(store: Store, platform: int) -> None:
    assert store.lti_outbox.put([mark(platform, 7.5)], NOW) == 1
    (row,) = claim(store, NOW)
    assert row.at == NOW.replace(microsecond=0) and not row.is_sent
    store.lti_outbox.note_sent(row)
    assert store.lti_outbox.put([mark(platform, 7.5)], NOW + HOUR) == 0
    assert claim(store, NOW + HOUR) == []
    assert store.lti_outbox.rows()[0].is_sent


def test_times_of_marks_grow_though_the_clock_stands_or_goes_back(store: Store, platform: int) -> None:
    times = []
    for score, now in ((1.0, NOW), (2.0, NOW), (3.0, NOW - HOUR)):
        store.lti_outbox.put([mark(platform, score)], now)
        times.append(store.lti_outbox.rows()[0].at)
    assert times == sorted(set(times)) and len(times) == 3


def test_a_mark_is_claimed_by_one_sender_until_its_lease_ends(store: Store, platform: int) -> None:
    store.lti_outbox.put([mark(platform, 1.0)], NOW)
    first = claim(store, NOW)
    assert claim(store, NOW) == []
    # Killed after sending, before noting: the same mark goes out again with the same time.
    again = claim(store, NOW + timedelta(minutes=1))
    assert [(row.mark, row.at) for row in again] == [(row.mark, row.at) for row in first]


def test_a_newer_mark_survives_what_is_noted_of_the_older_one(store: Store, platform: int) -> None:
    store.lti_outbox.put([mark(platform, 1.0)], NOW)
    (row,) = claim(store, NOW)
    store.lti_outbox.put([mark(platform, 2.0)], NOW)
    store.lti_outbox.note_sent(row)
    store.lti_outbox.note_failed(row, "away", NOW + HOUR)
    (newer,) = claim(store, NOW)
    assert newer.mark.score == 2.0 and newer.sent == row.at and newer.reason is None
    store.lti_outbox.note_failed(newer, "away", NOW + HOUR)
    assert claim(store, NOW) == []
    assert store.lti_outbox.counts() == {"sent": 0, "waiting": 0, "failed": 1}
    assert store.lti_outbox.retry_all(NOW) == 1
    assert claim(store, NOW)[0].tries == 1


def test_a_mark_gets_a_later_time(store: Store, platform: int) -> None:
    store.lti_outbox.put([mark(platform, None), mark(platform, 2.0, "u2")], NOW)
    row = claim(store, NOW)[0]
    moved = store.lti_outbox.move_time(row, NOW)
    assert moved.at == row.at + timedelta(seconds=1)
    store.lti_outbox.note_sent(moved)
    assert store.lti_outbox.counts() == {"sent": 1, "waiting": 1, "failed": 0}
    store.lti_outbox.release(store.lti_outbox.rows(waiting=True)[0], NOW + HOUR)
    assert claim(store, NOW + HOUR)[0].mark.subject == "u2"


def test_a_name_is_held_by_one_at_a_time(store: Store) -> None:
    lease = timedelta(minutes=2)
    holders: list[bool] = []
    threads = [
        threading.Thread(target=lambda: holders.append(store.lti_outbox.hold("column", NOW, lease=lease)))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(holders) == [False] * 5 + [True]
    assert store.lti_outbox.hold("other", NOW, lease=lease)
    assert store.lti_outbox.hold("column", NOW + lease, lease=lease)
