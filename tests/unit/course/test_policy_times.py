"""Local times: days end by the clock on the wall, whatever the clocks do; the C library is the oracle."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from engine.course.policies import LocalTime, days_late, hours_late, local_time

# POSIX rules (IEEE 1003.1, TZ): the C library computes with these alone, without any zone file.
RULES = {
    "Europe/Berlin": "CET-1CEST,M3.5.0,M10.5.0/3",
    "America/New_York": "EST5EDT,M3.2.0,M11.1.0",
    "Australia/Sydney": "AEST-10AEDT,M10.1.0,M4.1.0/3",
    "Australia/Lord_Howe": "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",  # half an hour
    "America/Havana": "CST5CDT,M3.2.0/0,M11.1.0/1",  # at midnight: none in spring, two in autumn
    "Asia/Kolkata": "IST-5:30",
}
# Around the days of 2026 on which clocks change in these zones, in both directions.
CHANGES = {
    "Europe/Berlin": ("2026-03-29", "2026-10-25"),
    "America/New_York": ("2026-03-08", "2026-11-01"),
    "Australia/Sydney": ("2026-10-04", "2026-04-05"),
    "Australia/Lord_Howe": ("2026-10-04", "2026-04-05"),
    "America/Havana": ("2026-03-08", "2026-11-01"),
    "Asia/Kolkata": ("2026-05-01", "2026-09-01"),
}
CASES = [(zone, day) for zone, days in CHANGES.items() for day in days]


@pytest.fixture
def clock() -> Iterator[None]:
    before = os.environ.get("TZ")
    yield
    if before is None:
        os.environ.pop("TZ", None)
    else:
        os.environ["TZ"] = before
    time.tzset()


def wall(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(seconds))


def stamp(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the C library's zones")
@pytest.mark.parametrize(("zone", "day"), CASES)
def test_a_day_ends_when_the_clock_shows_it_for_the_last_time(clock, zone: str, day: str) -> None:
    os.environ["TZ"] = RULES[zone]
    time.tzset()
    for shift in range(-2, 3):
        date = f"{datetime.fromisoformat(day) + timedelta(days=shift):%Y-%m-%d}"
        shows = [t for t in range(stamp(date) - 90_000, stamp(date) + 180_000, 60) if wall(t)[:10] == date]
        due = local_time(date)
        assert due.ends(ZoneInfo(zone)).timestamp() == shows[-1] + 60
        assert due.begins(ZoneInfo(zone)).timestamp() == shows[0]


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the C library's zones")
@pytest.mark.parametrize(("zone", "day"), CASES)
def test_late_days_are_the_dates_that_the_clock_went_on_to(clock, zone: str, day: str) -> None:
    os.environ["TZ"] = RULES[zone]
    time.tzset()
    due = int((local_time(day).later(timedelta(days=-1)).ends(ZoneInfo(zone))).timestamp())
    dates = [wall(due - 1)[:10]]
    for t in range(due, due + 4 * 86_400, 1800):
        if wall(t)[:10] not in dates:
            dates.append(wall(t)[:10])
        at = datetime.fromtimestamp(t, UTC)
        assert days_late(datetime.fromtimestamp(due, UTC), at, ZoneInfo(zone)) == len(dates) - 1
    assert len(dates) >= 4


BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("due", "handed", "days"),
    [
        ("2026-11-06", "2026-11-06T23:59:59", 0),
        ("2026-11-06", "2026-11-07T00:00:00", 1),
        ("2026-11-06", "2026-11-08T00:00:00", 2),
        # A time to the minute goes on until that minute is over.
        ("2026-11-06T17:00", "2026-11-06T17:00:59", 0),
        ("2026-11-06T17:00:00", "2026-11-06T17:00:59", 1),
        ("2026-11-06T17:00", "2026-11-06T17:01:00", 1),
        ("2026-11-06T17:00", "2026-11-07T23:59:59", 1),
        ("2026-11-06T17:00", "2026-11-08T00:00:00", 2),
        # 23 and 25 hours long days are days.
        ("2026-03-28T12:00", "2026-03-29T23:59:00", 1),
        ("2026-03-28T12:00", "2026-03-30T00:00:00", 2),
        ("2026-10-24", "2026-10-25T23:59:59", 1),
        ("2026-10-24", "2026-10-26T00:00:00", 2),
    ],
)
def test_days_late_by_the_calendar_of_the_course(due: str, handed: str, days: int) -> None:
    at = datetime.fromisoformat(handed).replace(tzinfo=BERLIN).astimezone(UTC)
    assert days_late(local_time(due).ends(BERLIN), at, BERLIN) == days


def test_the_same_moment_is_another_day_elsewhere() -> None:
    due, handed = local_time("2026-11-06"), datetime(2026, 11, 7, 4, 30, tzinfo=UTC)
    assert days_late(due.ends(BERLIN), handed, BERLIN) == 1
    new_york = ZoneInfo("America/New_York")
    assert days_late(due.ends(new_york), handed, new_york) == 0


@given(st.integers(-10_000, 400_000))
def test_every_begun_hour_counts(seconds: int) -> None:
    due = datetime(2026, 10, 24, 22, tzinfo=UTC)
    brute = 0
    while seconds >= 0 and 3600 * brute <= seconds:
        brute += 1
    assert hours_late(due, due + timedelta(seconds=seconds)) == brute


def test_times_that_clocks_skip_or_repeat_are_told() -> None:
    skipped, repeated = local_time("2026-03-29T02:30"), local_time("2026-10-25T02:30")
    assert skipped.trouble(BERLIN) == (
        "clocks are put forward: there is no 2026-03-29 02:30 on this day, 03:30 counts"
    )
    assert (
        repeated.trouble(BERLIN)
        == "clocks are put back: they show 2026-10-25 02:30 twice, the later one counts"
    )
    assert local_time("2026-03-29").trouble(BERLIN) is local_time("2026-03-30T02:30").trouble(BERLIN) is None
    # 03:30 summer time is 01:30 in UTC; the later of two half past twos is 01:30 in UTC.
    for odd in (skipped, repeated):
        assert odd.ends(BERLIN).strftime("%H:%M") == "01:31"
    assert repeated.begins(BERLIN).strftime("%H:%M") == "00:30"


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("2026-02-30", "there is no such date: 2026-02-30"),
        ("2026-13-01", "there is no such date: 2026-13-01"),
        ("2026-11-06T24:01", "there is no such time: 2026-11-06T24:01"),
        ("2026-11-06T18:00+01:00", "leave out the offset: times are those of the course's `timezone`"),
        ("2026-11-06T18:00Z", "leave out the offset: times are those of the course's `timezone`"),
        ("1066-10-14", "a year from 1970 to 2999 was expected, not 1066"),
        *(
            (
                odd,
                "a date such as 2026-11-06, or a date and time such as 2026-11-06T18:00 was expected, not "
                + said,
            )
            for odd, said in (
                ("6.11.2026", "the text '6.11.2026'"),
                ("20261106", "the text '20261106'"),
                ("2026-W45-5", "the text '2026-W45-5'"),
                (20261106, "the number 20261106"),
                (None, "nothing"),
            )
        ),
    ],
)
def test_what_is_no_time_says_why(written: object, message: str) -> None:
    with pytest.raises(PydanticCustomError) as caught:
        local_time(written)
    assert caught.value.message() == message


@pytest.mark.parametrize("text", ["2026-11-06", "2026-11-06 18:00", "2026-11-06T18:00"])
def test_times_are_shown_as_they_are_written(text: str) -> None:
    assert str(local_time(text)) == text.replace("T", " ")
    assert isinstance(local_time(text), LocalTime)
