"""Signing in without passwords: links by mail, codes on paper, an OpenID provider, and the terminal's link.

Each way ends in :func:`~engine.web.sign_in.begin.begin_session`. Nobody gets in who isn't in the roster or
in ``staff.csv``, and no answer says who is. The ways in of learning systems are in ``engine/web/lti/``.
"""

from __future__ import annotations

from datetime import timedelta

from engine.web.background import PeriodicJob
from engine.web.routes import WebRoute
from engine.web.sign_in import account, links_and_codes, oidc
from engine.web.site import Site

__all__ = ["JOBS", "ROUTES"]

ROUTES: tuple[WebRoute, ...] = (*links_and_codes.ROUTES, *oidc.ROUTES, *account.ROUTES)


def _forget_old(site: Site) -> None:
    from engine.quiz.rules import now

    site.store.sessions.forget_old(now())


JOBS: tuple[PeriodicJob, ...] = (
    PeriodicJob("mail", 0.5, lambda site: site.outbox.work(site)),
    PeriodicJob("forget-old-sessions", timedelta(hours=6).total_seconds(), _forget_old),
)
