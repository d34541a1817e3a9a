"""Moments as people read them: ``Fri 18 Dec 2026, 10:00``, by the clocks of one zone.

Every page, message and table that shows a time gets it here, in the course's zone, which is named once beside
it. What programs read (JSON, CSV, ``<time datetime>``) is ISO 8601 with its offset.
"""

from __future__ import annotations

from datetime import datetime, tzinfo

# Not strftime's names: those are the machine's language, and the sentence around them is English.
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def local_text(
    moment: datetime,
    zone: tzinfo,
    *,
    with_year: bool = True,
    with_zone: bool = False,
    with_seconds: bool = False,
) -> str:
    """Return a moment to the minute, or to the second, as clocks in a zone show it.

    Parameters
    ----------
    moment : datetime
        With its zone.
    zone : tzinfo
    with_year : bool
    with_zone : bool
        Name the zone, where nothing around the text does.
    with_seconds : bool

    Examples
    --------
    >>> from datetime import UTC, timedelta, timezone
    >>> local_text(datetime(2026, 12, 18, 9, 5, tzinfo=UTC), timezone(timedelta(hours=1)))
    'Fri 18 Dec 2026, 10:05'
    """
    local = moment.astimezone(zone)
    year = f" {local.year}" if with_year else ""
    name = f" {local.tzname()}" if with_zone else ""
    time = f"{local:%H:%M:%S}" if with_seconds else f"{local:%H:%M}"
    return f"{_DAYS[local.weekday()]} {local.day} {_MONTHS[local.month - 1]}{year}, {time}{name}"
