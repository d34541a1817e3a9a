"""What forms and spreadsheets write into a cell: times, and what they made of an answer.

What could be meant in two ways is never guessed: ``3/4/2026`` is in March or in April, and ``01.Feb`` was
perhaps 1/2. A wrong guess would cost a student marks, and nobody would notice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from engine.text.words import clean_line

# Names of months, as forms and spreadsheets write them in a few languages.

_NAMES = (
    "january jan januar janvier janv",
    "february feb februar février févr",
    "march mar märz mrz mars",
    "april apr avril avr",
    "may mai",
    "june jun juni juin",
    "july jul juli juillet juil",
    "august aug août",
    "september sep sept septembre",
    "october oct oktober okt octobre",
    "november nov novembre",
    "december dec dezember dez décembre déc",
)
# Small letters → 1 to 12.
MONTHS = {name: number for number, names in enumerate(_NAMES, start=1) for name in names.split()}

_CLOCK = r",?\s+(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?"
_REST = r"\s*(?P<half>[AP]\.?M\.?)?\s*(?P<zone>Z|[A-Z]{2,5}(?:[+-]\d{1,2}(?::?\d{2})?)?|[+-]\d{2}:?\d{2})?"
_NUMBERS = re.compile(
    rf"(?P<a>\d{{1,4}})(?P<mark>[./-])(?P<b>\d{{1,2}})(?P=mark)(?P<c>\d{{2,4}}){_CLOCK}{_REST}", re.IGNORECASE
)
_DAY_FIRST = re.compile(
    rf"(?:\w+,\s+)?(?P<day>\d{{1,2}})\.?\s+(?P<month>[^\W\d_]+)\.?\s+(?P<year>\d{{4}}){_CLOCK}{_REST}",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    rf"(?:\w+,\s+)?(?P<month>[^\W\d_]+)\.?\s+(?P<day>\d{{1,2}}),?\s+(?P<year>\d{{4}}){_CLOCK}{_REST}",
    re.IGNORECASE,
)
# The patterns backtrack over letters and blanks; no form writes a time in more characters.
_LONGEST = 100
_OFFSET = re.compile(r"(?:GMT|UTC)?([+-])(\d{1,2}):?(\d{2})?", re.IGNORECASE)


class TimeColumn:
    """Reads the times of one column.

    Parameters
    ----------
    texts : sequence of str
        All of the column: whether ``3/4/2026`` is in March or in April shows by the others.
    zone : tzinfo
        Of times that name none.
    """

    def __init__(self, texts: Sequence[str], zone: tzinfo) -> None:
        self._zone = zone
        self._day_first = self._order(texts)

    def read(self, text: str) -> datetime | None:
        """Return the moment, with its zone; None where it can't be read or could be two."""
        written = _one_line(text)
        try:
            moment = datetime.fromisoformat(written)
        except ValueError:
            moment = None
        # A day alone isn't a moment.
        if moment is not None and len(written) > 10:
            return moment if moment.tzinfo is not None else moment.replace(tzinfo=self._zone)
        for pattern in (_NUMBERS, _DAY_FIRST, _MONTH_FIRST):
            match = pattern.fullmatch(written)
            if match is not None:
                return self._moment(match, self._day_first)
        return None

    def _order(self, texts: Sequence[str]) -> bool | None:
        # ``3/4/2026`` shows by the other rows of its column whether days come first.
        ways = {way for way in (True, False) if self._fits(texts, way)}
        if len(ways) == 2:
            # Responses are in the order in which they came, so that the wrong reading jumps about.
            ways = {way for way in ways if self._rises(texts, way)}
        return ways.pop() if len(ways) == 1 else None

    def _fits(self, texts: Sequence[str], day_first: bool) -> bool:
        return all(
            self._moment(match, day_first) is not None
            for text in texts
            if (match := _NUMBERS.fullmatch(_one_line(text))) is not None
        )

    def _rises(self, texts: Sequence[str], day_first: bool) -> bool:
        matches = (_NUMBERS.fullmatch(_one_line(text)) for text in texts)
        read = (self._moment(match, day_first) for match in matches if match is not None)
        moments = [moment for moment in read if moment is not None]
        return moments == sorted(moments)

    def _moment(self, match: re.Match[str], day_first: bool | None) -> datetime | None:
        date = _date_of(match, day_first)
        if date is None:
            return None
        hour, half = int(match["hour"]), (match["half"] or "").replace(".", "").upper()
        if half and not 1 <= hour <= 12:
            return None
        if half:
            hour = hour % 12 + 12 * (half == "PM")
        try:
            naive = datetime(*date, hour, int(match["minute"]), int(match["second"] or 0))
        except ValueError:
            return None
        zone = _zone(match["zone"] or "", self._zone, naive)
        return None if zone is None else naive.replace(tzinfo=zone)


def _one_line(text: str) -> str:
    # Longer than any time is written: the patterns don't have to look at it.
    return " ".join(text.split()) if len(text) <= _LONGEST else ""


def _date_of(match: re.Match[str], day_first: bool | None) -> tuple[int, int, int] | None:
    groups = match.groupdict()
    if "month" in groups:
        month = MONTHS.get(groups["month"].casefold())
        return None if month is None else (int(groups["year"]), month, int(groups["day"]))
    first, second, third = (int(groups[name]) for name in "abc")
    if len(groups["a"]) == 4:
        return first, second, third
    year = third + 2000 if len(groups["c"]) == 2 else third
    if len(groups["a"]) > 2 or len(groups["c"]) == 3:
        return None
    if groups["mark"] == "." or first == second:
        return year, second, first
    if day_first is None:
        return None
    return (year, second, first) if day_first else (year, first, second)


def _zone(written: str, default: tzinfo, naive: datetime) -> tzinfo | None:
    # Letters such as CET are believed only where the course's own zone is called so at that time: IST has
    # three meanings.
    if not written:
        return default
    if written.upper() in ("Z", "UTC", "GMT"):
        return UTC
    offset = _OFFSET.fullmatch(written)
    if offset is None:
        return default if default.tzname(naive.replace(tzinfo=default)) == written.upper() else None
    minutes = int(offset[2]) * 60 + int(offset[3] or 0)
    if minutes > 14 * 60:
        return None
    return timezone(timedelta(minutes=minutes if offset[1] == "+" else -minutes))


# What spreadsheets make of answers: dates of fractions, sums of formulas, rounded numbers.

_MONTH = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\.?"
_DATE = re.compile(
    rf"\d{{1,2}}[. /-]{{1,2}}{_MONTH}([. /-]{{1,2}}\d{{2,4}})?"
    rf"|{_MONTH}[. /-]{{1,2}}\d{{1,4}}"
    r"|\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2})?)?"
    r"|(\d{1,2})([./])\d{1,2}\5(\d{4}|\d{2})( \d{1,2}:\d{2}(:\d{2})?)?",
    re.IGNORECASE,
)
_TIME = re.compile(r"\d{1,2}:\d{2}(:\d{2})?( ?[AP]M)?")
# A spreadsheet shortens large and tiny numbers only: 1.35E+01 was typed.
_ROUNDED = re.compile(r"-?\d([.,]\d+)?E[+-](?:0[5-9]|[1-9]\d|\d{3})")
_NO_FORMULA = re.compile(
    r"=\s*+[+\-−–]?\s*+(?:[0-9]++(?:[.,][0-9]++)?|[.,][0-9]++)"
)  # "= 0.5": nothing in it to compute
_ERROR = re.compile(r"#(DIV/0!|N/A|NAME\?|NULL!|NUM!|REF!|VALUE!|SPILL!|CALC!|WERT!|BEZUG!|NV)")


def damage(text: str) -> str | None:
    """Return what a spreadsheet has made of an answer, None where it looks as somebody typed it.

    ``01.Feb`` was perhaps 1/2, and nobody can know it: such an answer isn't marked.
    """
    label = clean_line(text, 40)
    if text.startswith("=") and not _NO_FORMULA.fullmatch(text):
        return f"the cell holds a formula ({label}): formulas aren't computed"
    if _ERROR.fullmatch(text):
        return f"the cell holds an error of the spreadsheet ({label})"
    if _DATE.fullmatch(text) or _TIME.fullmatch(text):
        return f"a spreadsheet has made a date or time of it ({label})"
    if _ROUNDED.fullmatch(text):
        return f"a spreadsheet has shortened the number to {label}"
    return None
