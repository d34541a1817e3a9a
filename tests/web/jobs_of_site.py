"""Follow a job from the answer that started it to the page of its result."""

from __future__ import annotations

import httpx
from starlette.testclient import TestClient

from engine.web.site import Site

_LONGEST_S = 120.0


def result_of(site: Site, browser: TestClient, started: httpx.Response) -> httpx.Response:
    """Wait for the job that an answer leads to, and return its page."""
    assert started.status_code == 303, started.text
    (job,) = [job for job in site.jobs.all() if job.id in started.headers["location"]]
    assert job.wait(_LONGEST_S), job.title
    assert job.fault is None, job.fault
    return browser.get(started.headers["location"])
