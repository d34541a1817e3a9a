"""Times as a course writes them: by the clock on the wall, in the course's time zone.

``due: 2026-11-06`` means the whole day, ``2026-11-06T18:00`` the whole minute: work is late when what was
written is over. Where clocks are put back a time comes twice, and where they are put forward it doesn't
exist; students always get the later moment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from engine.text.schema_errors import describe
from engine.text.words import did_you_mean

_EXAMPLE = "a date such as 2026-11-06, or a date and time such as 2026-11-06T18:00"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?")
_OFFSET = re.compile(r".*:\d{2}\s*(Z|[+-]\d{2}(:?\d{2})?)$")
_DAY, _MINUTE, _SECOND = timedelta(days=1), timedelta(minutes=1), timedelta(seconds=1)


@dataclass(frozen=True, slots=True, order=True)
class LocalTime:
    """A local time without a zone, as far as it was written.

    Parameters
    ----------
    wall : datetime
        What the clock shows at its beginning, without a zone.
    lasts : timedelta
        How long it goes on, by how precisely it was written: a day, a minute or a second.
    """

    wall: datetime
    lasts: timedelta = _MINUTE

    def begins(self, zone: tzinfo) -> datetime:
        """Return its first moment in UTC; the earlier one where the clock shows it twice."""
        return _instants(self.wall, zone)[0]

    def ends(self, zone: tzinfo) -> datetime:
        """Return the moment in UTC at which it is over; the later one where the clock shows it twice."""
        if self.lasts < _DAY:
            return _instants(self.wall, zone)[1] + self.lasts
        first, last = _instants(self.wall + self.lasts, zone)
        # A midnight that comes twice: the later one ends this day only if the hour before it still belongs to
        # it.
        return last if _day(last - timedelta(microseconds=1), zone) <= self.wall.date() else first

    def later(self, by: timedelta) -> LocalTime:
        """Return the time that the clock on the wall shows `by` later."""
        return LocalTime(self.wall + by, self.lasts)

    def trouble(self, zone: tzinfo) -> str | None:
        """Return what is odd about it if clocks are put forward or back then; None for whole days."""
        first, last = _instants(self.wall, zone)
        if self.lasts >= _DAY:
            return None
        actual = last.astimezone(zone).replace(tzinfo=None)
        if actual != self.wall:
            return f"clocks are put forward: there is no {self} on this day, {actual:%H:%M} counts"
        return f"clocks are put back: they show {self} twice, the later one counts" if first < last else None

    def __str__(self) -> str:
        return f"{self.wall:%Y-%m-%d}" if self.lasts >= _DAY else f"{self.wall:%Y-%m-%d %H:%M}"


def _instants(wall: datetime, zone: tzinfo) -> tuple[datetime, datetime]:
    """Return the first and the last moment at which the clock shows `wall`.

    Where it never does because clocks are put forward, both are the moment that it would have been.
    """
    # fold tells the first from the second time that the clock shows the same.
    first, second = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    return (first, second) if first <= second else (first, first)


def _day(instant: datetime, zone: tzinfo) -> date:
    return instant.astimezone(zone).date()


def days_late(due: datetime, handed: datetime, zone: tzinfo) -> int:
    """Return how many calendar days a hand-in is late: at least 1 if it is late at all.

    Parameters
    ----------
    due : datetime
        The moment from which it is late, with its zone.
    handed : datetime
        With its zone.
    zone : tzinfo
        Whose calendar counts. A day on which clocks change is a day like any other.
    """
    if handed < due:
        return 0
    # Work due until midnight is due on the day that ends then, so step back before asking for the date.
    last = _day(due.astimezone(UTC) - timedelta(microseconds=1), zone)
    return max(1, (_day(handed, zone) - last).days)


def hours_late(due: datetime, handed: datetime) -> int:
    """Return how many hours a hand-in is late; every hour begun counts."""
    return (handed - due) // timedelta(hours=1) + 1 if handed >= due else 0


def _fault(message: str) -> PydanticCustomError:
    return PydanticCustomError("rule_here", "{text}", {"text": message})


def local_time(value: Any) -> Any:
    """Return the time that a text of ``course.yaml`` stands for, or raise a :class:`PydanticCustomError`."""
    if isinstance(value, LocalTime):
        return value
    text = value.strip() if isinstance(value, str) else ""
    if _OFFSET.fullmatch(text):
        raise _fault("leave out the offset: times are those of the course's `timezone`")
    match = _TIME.fullmatch(text)
    if match is None and not _DATE.fullmatch(text):
        raise _fault(f"{_EXAMPLE} was expected, not {describe(value)}")
    try:
        if match is None:
            local = LocalTime(datetime.combine(date.fromisoformat(text), time()), _DAY)
        else:
            wall = datetime.fromisoformat(f"{match[1]}T{match[2]}{match[3] or ''}")
            local = LocalTime(wall, _SECOND if match[3] else _MINUTE)
    except ValueError:
        raise _fault(f"there is no such {'date' if match is None else 'time'}: {text}") from None
    # Arithmetic with extensions stays within what datetime can represent; other years are slips of the pen.
    if not 1970 <= local.wall.year <= 2999:
        raise _fault(f"a year from 1970 to 2999 was expected, not {local.wall.year}")
    return local


def zone_named(name: str) -> tzinfo:
    """Return the time zone of that name, or raise a :class:`PydanticCustomError`."""
    from zoneinfo import ZoneInfo, available_timezones

    try:
        # ZoneInfo itself refuses names such as ../../etc/passwd, which lead out of its folder.
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        near = did_you_mean(name, sorted(available_timezones()), ", such as Europe/Berlin")
        raise _fault(f"'{name[:40]}' is no time zone{near}") from None


def _known_zone(name: Any) -> Any:
    if not isinstance(name, str):
        raise _fault(f"the name of a time zone, such as Europe/Berlin, was expected, not {describe(name)}")
    zone_named(name)
    return name


Moment = Annotated[LocalTime, BeforeValidator(local_time)]
TimeZone = Annotated[str, BeforeValidator(_known_zone)]
