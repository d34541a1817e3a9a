"""Moments for people: one format, by the clocks of a zone."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from engine.text.times import local_text

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 12, 18, 9, 0, 59, tzinfo=UTC), "Fri 18 Dec 2026, 10:00 CET"),
        (datetime(2026, 10, 25, 0, 30, tzinfo=UTC), "Sun 25 Oct 2026, 02:30 CEST"),
        (datetime(2026, 10, 25, 1, 30, tzinfo=UTC), "Sun 25 Oct 2026, 02:30 CET"),
        (datetime(2027, 1, 1, 0, 0, tzinfo=BERLIN), "Fri 1 Jan 2027, 00:00 CET"),
    ],
)
def test_a_moment_by_local_clocks(moment: datetime, text: str) -> None:
    assert local_text(moment, BERLIN, with_zone=True) == text
    assert local_text(moment, BERLIN) == text.rpartition(" ")[0]
    assert " 20" not in local_text(moment, BERLIN, with_year=False)
