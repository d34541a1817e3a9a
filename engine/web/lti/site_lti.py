"""What a site keeps of its learning systems while it is served: their keys, our tokens, who may frame us."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from engine.lti.grade_sender import GradeSender, SentMarks
from engine.lti.id_token import PlatformKeys
from engine.lti.marks_for_lms import MarkCollector, MarkSource
from engine.lti.platform_http import is_local, origin_of
from engine.lti.registrations import ToolAddresses
from engine.quiz import rules as quiz_rules
from engine.store.lti import LtiPlatform

if TYPE_CHECKING:
    from engine.web.site import Site
    from engine.web.visit import Visit

_FRAMES_LAST = timedelta(seconds=10)  # asked for at each page of a framed session
_MOST_FRAMES = 100  # browsers and proxies limit the length of a header


class SiteLti:
    """Learning systems of one site; safe to use from several threads.

    Parameters
    ----------
    site : Site
    """

    def __init__(self, site: Site) -> None:
        self._store = site.store
        self.local = is_local(site.address)
        self.keys = PlatformKeys()
        self.sender = GradeSender(site.store, clock=lambda: quiz_rules.now())
        # Without a rest a class of 300 would keep the process busy for seconds.
        self.collector = MarkCollector(pause_s=0.02)
        self._frames: tuple[str, ...] = ()
        self._frames_until: datetime | None = None

    def frames(self, now: datetime, *, fresh: bool = False) -> tuple[str, ...]:
        """Return the origins whose pages may show ours: those of the systems that are registered.

        They are kept for some seconds, unless `fresh` ones are asked for.
        """
        is_kept = self._frames_until is not None and now < self._frames_until <= now + _FRAMES_LAST
        if fresh or not is_kept:
            platforms = self._store.lti.platforms(enabled=True)
            origins = dict.fromkeys(origin for p in platforms for origin in frames_of(p))
            self._frames, self._frames_until = tuple(origins)[:_MOST_FRAMES], now + _FRAMES_LAST
        return self._frames


def frames_of(platform: LtiPlatform) -> list[str]:
    """Return the origins of a learning system's pages."""
    known = [origin_of(platform.issuer), origin_of(platform.login_url), *platform.frames]
    return [origin for origin in known if origin is not None]


_OF_SITES: WeakKeyDictionary[Site, SiteLti] = WeakKeyDictionary()
_LOCK = threading.Lock()


def site_lti(site: Site) -> SiteLti:
    """Return what a site keeps, made when it is first asked for."""
    with _LOCK:
        if site not in _OF_SITES:
            _OF_SITES[site] = SiteLti(site)
        return _OF_SITES[site]


def tool_addresses(visit: Visit) -> ToolAddresses:
    """Return our addresses as learning systems are given them."""
    return ToolAddresses(
        title=visit.site.course.title,
        home=visit.full_url("home"),
        login=visit.full_url("lti.login"),
        launch=visit.full_url("lti.launch"),
        keys=visit.full_url("lti.keys"),
    )


def mark_source(site: Site) -> MarkSource:
    """Return where marks for learning systems come from: the same results as on every page."""
    return MarkSource(
        store=site.store,
        mode=site.mode,
        results=lambda only: site.results(only=only),
        code_points=site.bank.code_points,
        title_of=lambda name: assignment_title(site, name),
    )


def assignment_title(site: Site, name: str) -> str:
    """Return what people call a quiz or exercise."""
    return site.store.sittings.quiz_titles().get(name) or site.bank.title_of(name)


def send_marks(site: Site) -> SentMarks:
    """Send the marks that have changed, and those that weren't taken before."""
    lti = site_lti(site)
    source = mark_source(site)
    lti.sender.find_columns(source)
    try:
        lti.collector.collect(source, site.course.policies, quiz_rules.now())
    finally:  # a row that can't be read holds up nothing that waits already
        outcome = lti.sender.send()
    return outcome
