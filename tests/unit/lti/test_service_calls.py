"""Requests to a learning system: members page by page, marks, columns; and everything that can go wrong."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pylti1p3.grade import Grade

from engine.errors import LtiError, PlatformAwayError
from engine.lti import platform_http
from engine.lti.service_calls import AccessTokens, PlatformCalls, ScoreIsOlderError
from engine.lti.signing_keys import key_set, published_keys, rotate_keys, signing_key
from engine.store import Store
from engine.store.lti import LtiPlatform
from tests.live.lms import Lms, LmsFault
from tests.unit.lti.conftest import now


def grade(score: float = 7.25, at: str = "2026-11-02T08:00:00.000+00:00") -> Grade:
    mark = Grade()
    mark.set_user_id("u-ada").set_score_given(score).set_score_maximum(10.0).set_timestamp(at)
    mark.set_activity_progress("Completed").set_grading_progress("FullyGraded")
    return mark


@pytest.fixture
def column(lms: Lms) -> str:
    lms.items["1"] = {"id": f"{lms.address}/items/1", "scoreMaximum": 10, "label": "Week 1"}
    return f"{lms.address}/items/1"


def test_all_pages_of_members_are_read(lms: Lms, calls: PlatformCalls) -> None:
    members = calls.members(f"{lms.address}/members?limit=2")
    assert [member["user_id"] for member in members] == ["u-ada", "u-bob", "u-cyd"]
    assert lms.requests == ["POST /token", "GET /members", "GET /members"]


def test_a_mark_arrives_unrounded_and_the_token_is_used_again(
    lms: Lms, calls: PlatformCalls, column: str
) -> None:
    calls.put_score(column, grade(1 / 3))
    calls.put_score(column, grade(2 / 3, "2026-11-02T08:00:01.000+00:00"))
    assert [mark["scoreGiven"] for mark in lms.received] == [1 / 3, 2 / 3]
    assert lms.received[0]["scoreMaximum"] == 10.0
    assert lms.requests.count("POST /token") == 1


def test_a_mark_that_isnt_newer_is_said_to_be_so(calls: PlatformCalls, column: str) -> None:
    calls.put_score(column, grade())
    with pytest.raises(ScoreIsOlderError):
        calls.put_score(column, grade(8.0))


def test_a_column_is_made_once(lms: Lms, calls: PlatformCalls) -> None:
    first = calls.line_item_of(f"{lms.address}/items", "link-1", "Week 1", 10.0, "week-1")
    again = calls.line_item_of(f"{lms.address}/items", "link-1", "Week 1", 10.0, "week-1")
    assert first == again == f"{lms.address}/items/1"
    assert lms.items["1"]["scoreMaximum"] == 10.0 and lms.items["1"]["resourceId"] == "week-1"


def test_a_token_that_is_refused_is_fetched_again_once(lms: Lms, calls: PlatformCalls, column: str) -> None:
    calls.put_score(column, grade())
    lms.faults.append(LmsFault("/items/1/scores", 401, times=1))
    calls.put_score(column, grade(8.0, "2026-11-02T09:00:00.000+00:00"))
    assert lms.requests.count("POST /token") == 2
    lms.faults.append(LmsFault("/items/1/scores", 401))
    with pytest.raises(LtiError, match="doesn't answer about a mark") as error:
        calls.put_score(column, grade(9.0, "2026-11-02T10:00:00.000+00:00"))
    assert not isinstance(error.value, PlatformAwayError)


@pytest.mark.parametrize(
    ("fault", "is_away"),
    [
        (LmsFault("/items/1/scores", 403), False),
        (LmsFault("/items/1/scores", 403, b'"403 Forbidden (Rate Limit Exceeded)"'), True),
        (LmsFault("/items/1/scores", 404), False),
        (LmsFault("/items/1/scores", 422), False),
        (LmsFault("/items/1/scores", 429), True),
        (LmsFault("/items/1/scores", 500), True),
        (LmsFault("/items/1/scores", 503), True),
        (LmsFault("/items/1/scores", 302, headers={"Location": "http://127.0.0.1:1/"}), False),
        (LmsFault("/token", 400), False),
        (LmsFault("/token", 503), True),
        (LmsFault("/token", 200, b"<html>sign in</html>"), False),
        (LmsFault("/token", 200, b"[]"), False),
        (LmsFault("/token", 200, b'{"access_token": 7}'), False),
        (LmsFault("/token", 200, b'{"access_token": "t", "expires_in": "soon"}'), False),
        (LmsFault("/token", 200, b"[" * 100_000), False),
    ],
)
def test_each_fault_is_one_sentence_and_says_whether_waiting_helps(
    lms: Lms, calls: PlatformCalls, column: str, fault: LmsFault, is_away: bool
) -> None:
    lms.faults.append(fault)
    with pytest.raises(LtiError) as error:
        calls.put_score(column, grade())
    assert isinstance(error.value, PlatformAwayError) == is_away
    assert "\n" not in error.value.what and "ada" not in str(error.value)
    lms.faults.clear()
    calls.put_score(column, grade())  # the next one goes through


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b"17", b'{"members": 5}', b'{"members": [5]}', b"\xff\xfe", b"{"]
)
def test_garbage_in_the_place_of_members_is_said_to_be_so(
    lms: Lms, calls: PlatformCalls, body: bytes
) -> None:
    lms.faults.append(LmsFault("/members", 200, body))
    with pytest.raises(LtiError, match="about the list of members can't be read"):
        calls.members(f"{lms.address}/members")


def test_pages_of_members_without_end_or_elsewhere_are_left(lms: Lms, calls: PlatformCalls) -> None:
    link = {"Link": f'<{lms.address}/members>; rel="next"'}
    lms.faults.append(LmsFault("/members", 200, b'{"members": []}', link))
    with pytest.raises(LtiError, match="doesn't end"):
        calls.members(f"{lms.address}/members")
    lms.faults[0].headers = {"Link": "<https://elsewhere.example/members>; rel=next"}
    with pytest.raises(LtiError, match="sends us elsewhere"):
        calls.members(f"{lms.address}/members")


def test_when_to_come_back_is_heard(lms: Lms, calls: PlatformCalls, column: str) -> None:
    lms.faults.append(LmsFault("/items/1/scores", 429, headers={"Retry-After": "120"}))
    with pytest.raises(PlatformAwayError) as error:
        calls.put_score(column, grade())
    assert error.value.retry_after == 120


def test_an_answer_that_takes_too_long_or_is_too_large_is_left(
    lms: Lms, calls: PlatformCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform_http, "_READ_S", 0.2)
    lms.faults.append(LmsFault("/members", 200, b"{}", seconds=0.6))
    with pytest.raises(PlatformAwayError, match="can't be reached"):
        calls.members(f"{lms.address}/members")
    monkeypatch.setattr(platform_http, "_READ_S", 15.0)
    monkeypatch.setattr(platform_http, "_MOST_BYTES", 1000)
    lms.faults[:] = [LmsFault("/members", 200, b'{"members": [' + b" " * 200_000 + b"]}")]
    with pytest.raises(LtiError, match="is larger than"):
        calls.members(f"{lms.address}/members")


def test_nobody_at_home(store: Store, lms: Lms, platform: LtiPlatform) -> None:
    lms.close()
    away = PlatformCalls(platform, signing_key(store, now()), AccessTokens())
    with pytest.raises(PlatformAwayError) as error:
        away.members(f"{lms.address}/members")
    assert error.value.got == "it doesn't accept connections"


def test_a_new_key_is_published_at_once_signs_later_and_the_old_one_goes(store: Store, lms: Lms) -> None:
    start = now()
    old = signing_key(store, start)
    new = rotate_keys(store, start)
    assert signing_key(store, start).id == old.id
    assert {key.id for key in published_keys(store, start)} == {old.id, new.id}
    later = start + timedelta(hours=2)
    assert signing_key(store, later).id == new.id
    assert [key.id for key in published_keys(store, start + timedelta(days=8))] == [new.id]
    last = rotate_keys(store, later, at_once=True)
    assert [key.id for key in published_keys(store, later)] == [last.id]
    assert signing_key(store, later).id == last.id


def test_a_system_that_remembers_our_keys_takes_everything_while_they_change(
    store: Store, lms: Lms, platform: LtiPlatform, column: str
) -> None:
    """Systems fetch our keys from time to time: what they have is up to an hour old."""
    start = now()
    remembered = key_set(store, start)
    lms.tool_keys = lambda: remembered

    def send(score: float, after: timedelta) -> None:
        key = signing_key(store, start + after)
        at = (start + after).isoformat(timespec="milliseconds")
        PlatformCalls(platform, key, AccessTokens()).put_score(column, grade(score, at))

    send(1.0, timedelta())
    rotate_keys(store, start)
    send(2.0, timedelta(minutes=59))  # still the old key: the system doesn't know the new one yet
    remembered = key_set(store, start + timedelta(minutes=59))
    send(3.0, timedelta(minutes=61))
    remembered = key_set(store, start + timedelta(days=8))
    assert len(remembered["keys"]) == 1
    send(4.0, timedelta(days=8))
    # Withdrawn at once: what was remembered has only the withdrawn key, so a mark waits until it is fetched.
    rotate_keys(store, start + timedelta(days=9), at_once=True)
    with pytest.raises(LtiError, match="gives no access token"):
        send(5.0, timedelta(days=9, minutes=1))
    remembered = key_set(store, start + timedelta(days=9))
    send(5.0, timedelta(days=9, minutes=2))
    assert [mark["scoreGiven"] for mark in lms.received] == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_each_registration_has_tokens_of_its_own(store: Store, lms: Lms, platform: LtiPlatform) -> None:
    tokens = AccessTokens()
    first = PlatformCalls(platform, signing_key(store, now()), tokens)
    other = store.lti.add_platform({**lms.values(), "client_id": "client-2"}, by="prof", now=now())
    second = PlatformCalls(other, signing_key(store, now()), tokens)
    first.members(f"{lms.address}/members")
    second.members(f"{lms.address}/members")
    assert lms.requests.count("POST /token") == 2
