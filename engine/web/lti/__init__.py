"""Learning systems on the site (LTI 1.3): launches, choices of what links open, registrations, members.

What needs no browser is in :mod:`engine.lti`, which ``grade lti`` uses as well.
"""

from __future__ import annotations

from engine.web.background import PeriodicJob
from engine.web.lti import choosing, launch, lms_pages, member_pages, registering
from engine.web.lti.site_lti import send_marks
from engine.web.routes import WebRoute
from engine.web.site import Site

__all__ = ["JOBS", "ROUTES"]

ROUTES: tuple[WebRoute, ...] = (
    *launch.ROUTES,
    *choosing.ROUTES,
    *registering.ROUTES,
    *lms_pages.ROUTES,
    *member_pages.ROUTES,
)


def _send(site: Site) -> None:
    send_marks(site)


def _forget_expired(site: Site) -> None:
    from engine.quiz.rules import now

    site.store.lti.forget_expired(now())


JOBS: tuple[PeriodicJob, ...] = (
    PeriodicJob("lti-marks", 5.0, _send),
    PeriodicJob("lti-forget-expired", 600.0, _forget_expired),
)
