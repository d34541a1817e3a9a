"""Times of forms: against moments worked out by hand, never guessed between two."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from engine.intake.spreadsheet_cells import TimeColumn

BERLIN = ZoneInfo("Europe/Berlin")


def at(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-01 14:15", at(2026, 3, 1, 13, 15)),
        ("2026-03-01T14:15:30", at(2026, 3, 1, 13, 15, 30)),
        ("2026-03-01T14:15:30Z", at(2026, 3, 1, 14, 15, 30)),
        ("2026-03-01T14:15:30+05:30", at(2026, 3, 1, 8, 45, 30)),
        ("2026/03/01 2:15:30 PM GMT+1", at(2026, 3, 1, 13, 15, 30)),
        ("2026/03/01 12:05:00 AM GMT-5", at(2026, 3, 1, 5, 5)),
        ("2026/03/01 12:05:00 pm UTC", at(2026, 3, 1, 12, 5)),
        ("2026/07/01 2:15:30 PM GMT+5:30", at(2026, 7, 1, 8, 45, 30)),
        ("01.03.2026 14:15:30", at(2026, 3, 1, 13, 15, 30)),
        ("1.7.26 14:15", at(2026, 7, 1, 12, 15)),
        ("1 March 2026 2:15 PM", at(2026, 3, 1, 13, 15)),
        ("1 March 2026, 2:15 PM", at(2026, 3, 1, 13, 15)),
        ("Sunday, 1 March 2026, 2:15 PM", at(2026, 3, 1, 13, 15)),
        ("1. März 2026 14:15", at(2026, 3, 1, 13, 15)),
        ("Mar 1, 2026 2:15:00 PM", at(2026, 3, 1, 13, 15)),
        ("3/31/2026 14:15:30", at(2026, 3, 31, 12, 15, 30)),
        ("31/3/2026 14:15:30", at(2026, 3, 31, 12, 15, 30)),
        ("3/3/2026 14:15", at(2026, 3, 3, 13, 15)),
        ("2026/03/01 14:15 CET", at(2026, 3, 1, 13, 15)),
        ("2026/07/01 14:15 CEST", at(2026, 7, 1, 12, 15)),
        ("  2026-03-01   14:15 ", at(2026, 3, 1, 13, 15)),
    ],
)
def test_what_is_written(text: str, moment: datetime) -> None:
    assert TimeColumn([text], BERLIN).read(text) == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-03-01",  # a day is no moment
        "20260301",
        "3/4/2026 14:15",  # the third of April or the fourth of March
        "2026-02-30 14:15",
        "2026/13/01 14:15",
        "31/31/2026 14:15",
        "1 Marchember 2026 14:15",
        "2026/03/01 13:05 PM",
        "2026/03/01 25:05",
        "2026/03/01 14:15 EST",  # letters of a zone that isn't ours
        "2026/07/01 14:15 CET",  # in July that isn't ours either
        "2026/03/01 14:15 GMT+25",
        "46082.59",
        "x" * 10_000,
    ],
)
def test_what_could_be_anything_is_nothing(text: str) -> None:
    assert TimeColumn([text], BERLIN).read(text) is None


def test_the_column_tells_which_comes_first() -> None:
    american = TimeColumn(["3/4/2026 10:00", "3/25/2026 9:00"], UTC)
    assert american.read("3/4/2026 10:00") == at(2026, 3, 4, 10)
    english = TimeColumn(["3/4/2026 10:00", "25/4/2026 9:00"], UTC)
    assert english.read("3/4/2026 10:00") == at(2026, 4, 3, 10)


def test_responses_come_one_after_the_other() -> None:
    # As days of May this rises; as the 5th of several months it would jump back.
    texts = ["9/5/2026 10:00", "10/5/2026 9:00", "11/5/2026 9:00", "12/5/2026 9:00", "1/6/2026 9:00"]
    assert TimeColumn(texts, UTC).read(texts[0]) == at(2026, 5, 9, 10)
    both = ["3/4/2026 10:00", "4/5/2026 10:00"]
    assert TimeColumn(both, UTC).read(both[0]) is None, "rises either way"
    none = ["3/25/2026 10:00", "25/3/2026 10:00", "3/4/2026 10:00"]
    assert TimeColumn(none, UTC).read("3/4/2026 10:00") is None, "neither way fits all"


def test_an_hour_that_there_is_twice_is_the_first() -> None:
    text = "2026-10-25 02:30"
    moment = TimeColumn([text], BERLIN).read(text)
    assert moment is not None and moment.astimezone(UTC) == at(2026, 10, 25, 0, 30)


def test_any_zone_may_be_the_courses() -> None:
    text = "2026-03-01 14:15"
    assert TimeColumn([text], timezone(timedelta(hours=-3))).read(text) == at(2026, 3, 1, 17, 15)
