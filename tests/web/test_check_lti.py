"""What ``grade serve --check`` says about learning systems."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from engine.course import Course
from engine.lti.signing_keys import published_keys
from engine.quiz.rules import now
from engine.store import Store, open_store
from engine.store.lti import LtiKey
from engine.store.lti_outbox import MarkForLms
from engine.web.lti.lti_checks import check_learning_systems
from tests.live.lms import Lms, LmsFault, learning_system
from tests.live.site import new_course
from tests.web.test_operation import checks

TEXTS = ("our signing key is 0 days old", "0 marks sent, 0 waiting")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return new_course(tmp_path / "course")


@pytest.fixture
def place(course: Path) -> str | Path:
    return Course.open(course).store_place


@pytest.fixture
def store(place: str | Path) -> Iterator[Store]:
    with open_store(place) as opened:
        yield opened


@pytest.fixture
def lms(store: Store) -> Iterator[Lms]:
    with learning_system("http://localhost") as running:
        store.lti.add_platform(running.values(), by="ivy", now=now())
        yield running


def said(place: str | Path) -> list[tuple[str, bool, bool]]:
    """Return text, whether it is a fault, and whether there is something to do, of each finding."""
    return [(each.text, each.is_fault, bool(each.next_step)) for each in check_learning_systems(place, now())]


def test_lines_of_the_check(course: Path, store: Store, lms: Lms) -> None:
    published_keys(store, now())
    platform = store.lti.platforms()[0]
    store.lti.put_context(platform.id, "c1", title="Attention", accepted=True)
    code, lines = checks(course)
    assert code == 0
    assert lines["lti"] == [("ok", text) for text in (*TEXTS, "Test LMS: 1 public key can be fetched")]


def test_none_is_registered(place: str | Path, store: Store) -> None:
    assert said(place) == [("no learning system is registered", False, False)]


def test_nothing_is_made_by_looking(place: str | Path, store: Store, lms: Lms) -> None:
    texts = said(place)
    assert texts[0] == ("our signing key is made when a learning system first asks for it", False, False)
    assert texts[-1] == ("Test LMS: none of its courses is accepted yet", False, True)
    assert store.lti.keys(now()) == []


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (LmsFault("/jwks", status=500), "can't be fetched (status 500)"),
        (LmsFault("/jwks", body=b"<html>"), "can't be read"),
        (LmsFault("/jwks", body=b'{"keys": []}'), "can't be read"),
    ],
    ids=["fails", "garbage", "empty"],
)
def test_its_keys_cant_be_had(
    place: str | Path, store: Store, lms: Lms, fault: LmsFault, sentence: str
) -> None:
    lms.faults.append(fault)
    text, is_fault, _ = said(place)[-1]
    assert text.startswith("Test LMS: ") and sentence in text and is_fault


def test_systems_that_dont_answer(course: Path, place: str | Path, store: Store, lms: Lms) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]  # nobody listens
        for number in range(3):
            values = lms.values() | {
                "client_id": f"c{number}",
                "name": f"System {number}",
                "keys_url": f"http://localhost:{port}/jwks",
            }
            store.lti.add_platform(values, by="ivy", now=now())
        code, lines = checks(course)
    assert code == 1
    away = [text for state, text in lines["lti"] if state == "fault"]
    assert len(away) == 3 and all("can't be reached" in text for text in away)


def test_a_disabled_one_isnt_asked(place: str | Path, store: Store, lms: Lms) -> None:
    store.lti.enable_platform(store.lti.platforms()[0].id, disabled=now())
    lms.faults.append(LmsFault("/jwks", status=500))
    assert said(place)[-1] == ("Test LMS: disabled", False, True)


def test_an_address_that_cant_be_one(place: str | Path, store: Store, lms: Lms) -> None:
    store.lti.add_platform({**lms.values(), "token_url": "ftp://nowhere"}, by="ivy", now=now())
    text, is_fault, _ = said(place)[-1]
    assert is_fault and "the address of its access tokens can't be used" in text


def test_keys_that_are_old_or_damaged(place: str | Path, store: Store, lms: Lms) -> None:
    (key,) = published_keys(store, now() - timedelta(days=400))
    assert said(place)[0] == ("our signing key is 400 days old", False, True)
    store.lti.add_key(LtiKey("damaged", key.private[:100], now()), retire_others=None)
    assert said(place)[0] == ("a signing key of ours can't be read", True, True)


def test_marks_that_wait_or_werent_taken(place: str | Path, store: Store, lms: Lms) -> None:
    number = store.lti.platforms()[0].id
    marks = [MarkForLms(number, f"{lms.address}/c", f"u{n}", f"s{n}", 1.0, 2.0) for n in range(3)]
    store.lti_outbox.put(marks, now())
    (row,) = store.lti_outbox.claim(now(), lease=timedelta(), most=1)
    store.lti_outbox.note_failed(row, "it doesn't allow us to: status 403", now())
    (row, *_) = store.lti_outbox.claim(now(), lease=timedelta(), most=3)
    store.lti_outbox.note_sent(row)
    ((text, is_fault, has_step),) = [each for each in said(place) if "sent" in each[0]]
    assert text == "1 mark sent, 1 waiting, 1 not taken: it doesn't allow us to: status 403"
    assert not is_fault and has_step


def test_a_registration_that_cant_be_read(course: Path, place: str | Path, store: Store, lms: Lms) -> None:
    database = sa.create_engine(f"sqlite:///{place}")
    with database.begin() as connection:
        connection.execute(sa.text("UPDATE lti_platforms SET contexts = '{'"))
    database.dispose()
    code, lines = checks(course)
    assert code == 1
    assert [state for state, _ in lines["lti"]] == ["fault"] and "damaged" in lines["lti"][0][1]
