"""Jobs that the site does by itself."""

from __future__ import annotations

import logging
import threading

import pytest

from engine.errors import StoreError
from engine.web.background import Background, PeriodicJob, run_job
from engine.web.site import Site


def test_a_job_goes_on_after_a_fault(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    rounds: list[int] = []
    is_third = threading.Event()

    def work(served: Site) -> None:
        assert served is site
        rounds.append(1)
        if len(rounds) == 1:
            raise ValueError("Ada typed this")
        if len(rounds) == 2:
            raise StoreError("the disk is full")
        is_third.set()

    background = Background(site, [PeriodicJob("count", 0.0, work)])
    with caplog.at_level(logging.ERROR):
        background.start()
        assert is_third.wait(60)
        background.stop()
    assert "count failed" in caplog.text and "ValueError" in caplog.text
    assert "Ada" not in caplog.text
    assert "the disk is full" in caplog.text
    after = len(rounds)
    threading.Event().wait(0.05)
    assert len(rounds) == after


def test_one_round(site: Site) -> None:
    assert run_job(PeriodicJob("nothing", 1.0, lambda served: None), site)
