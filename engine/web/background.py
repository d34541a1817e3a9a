"""What the site does by itself, at regular times: parts of the site name jobs, and each gets a thread.

A job looks for work in the store and does what it finds. It may be killed at any moment, and several
processes may do it at once: it must be right then too. One that fails is noted in the log and tried again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.errors import SoftmarkError
from engine.web.logs import error_frames
from engine.web.site import Site

log = logging.getLogger("softmark.web")

_STOP_S = 20.0  # a job under way is waited for as long as requests are


@dataclass(frozen=True, slots=True)
class PeriodicJob:
    """Something that is done again and again while the site is served.

    Parameters
    ----------
    name : str
        For the log and the thread, such as ``end-sittings``.
    every_s : float
        Seconds from the end of one round to the beginning of the next.
    work : callable
        Does what there is to do now.
    """

    name: str
    every_s: float
    work: Callable[[Site], None]


def all_jobs() -> tuple[PeriodicJob, ...]:
    """Return the jobs of all parts of the site."""
    from engine.web import lti, sign_in
    from engine.web.student import quiz_page

    return (*sign_in.JOBS, *quiz_page.JOBS, *lti.JOBS)


class Background:
    """The threads of the jobs; started and stopped with the site.

    Parameters
    ----------
    site : Site
    jobs : sequence of PeriodicJob
    """

    def __init__(self, site: Site, jobs: Sequence[PeriodicJob]) -> None:
        self._site = site
        self._is_stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._repeat, args=(job,), name=job.name, daemon=True) for job in jobs
        ]

    def start(self) -> None:
        """Start all jobs; each begins at once."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Begin no further round, and wait until those under way are done."""
        self._is_stopping.set()
        for thread in self._threads:
            thread.join(_STOP_S)

    def _repeat(self, job: PeriodicJob) -> None:
        while not self._is_stopping.is_set():
            run_job(job, self._site)
            self._is_stopping.wait(job.every_s)


def run_job(job: PeriodicJob, site: Site) -> bool:
    """Do one round of a job; False where it failed, which the log says."""
    try:
        job.work(site)
    except SoftmarkError as error:
        log.error("%s: %s", job.name, error.what)
    except Exception as error:  # the next round must come, whatever went wrong in this one
        # Without its message, which may have something about a person in it.
        log.error("%s failed\n  %s", job.name, "\n  ".join(error_frames(error)))
    else:
        return True
    return False
