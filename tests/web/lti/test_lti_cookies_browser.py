"""A Chromium that blocks cookies of third parties, and a site over TLS in a learning system's page.

The site's cookie is kept apart for each learning system (``Partitioned``), which such a browser allows. One
that knows nothing of that is shown the way out: a window of the site's own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, sync_playwright

from engine.lti.signing_keys import key_set
from engine.store import Store
from engine.web.site import Site
from tests.live.browser import chromium, needs_chromium
from tests.live.lms import Lms
from tests.live.lti_site import certificate, course_with_lms
from tests.web.lti.test_lti_pages import a_quiz

pytestmark = needs_chromium
PATIENCE_MS = 30_000


def without_partitions(app: Any) -> Any:
    """Return the site as a browser sees it that doesn't know ``Partitioned``: the attribute isn't there."""

    async def changed(scope: Any, receive: Any, send: Any) -> None:
        async def answer(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = [(name, value.replace(b"; Partitioned", b"")) for name, value in message["headers"]]
                message = {**message, "headers": headers}
            await send(message)

        await app(scope, receive, answer)

    return changed


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate(tmp_path_factory.mktemp("tls"))


@contextmanager
def blocking_browser(profile: Path) -> Iterator[BrowserContext]:
    """Run a browser whose setting *Block third-party cookies* is on."""
    (profile / "Default").mkdir(parents=True)
    settings = {"profile": {"block_third_party_cookies": True, "cookie_controls_mode": 1}}
    (profile / "Default" / "Preferences").write_text(json.dumps(settings))
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=chromium(), args=["--no-sandbox"], ignore_https_errors=True
        )
        context.set_default_timeout(PATIENCE_MS)
        yield context
        context.close()


def opened_in_frame(context: BrowserContext, site: Site, lms: Lms, store: Store) -> Page:
    """Show a quiz in the learning system's page: another site than ours for the browser."""
    lms.tool_keys = lambda: key_set(store, datetime.now(UTC))
    foreign = lms.address.replace("127.0.0.1", "localhost")
    lms.launch = lambda launch: launch.set_launch_presentation_claim("iframe", f"{foreign}/course")
    first = context.new_page()
    first.goto(lms.login_url("u-ivy"))  # the instructor's launch, in a window
    first.wait_for_url("**/lti/choose/*")
    first.close()
    context.clear_cookies()
    a_quiz(store)
    store.lti.put_link(replace(store.lti.links()[0], assignment="week-1"))
    page = context.new_page()
    page.goto(f"{foreign}/course?user=u-ada&link=link-1")
    return page


@pytest.mark.parametrize(
    "wrap", [lambda app: app, without_partitions], ids=["partitioned", "not partitioned"]
)
def test_where_third_party_cookies_are_blocked(
    folder: Path, store: Store, tls: Path, tmp_path: Path, wrap: Callable[[Any], Any]
) -> None:
    with (
        course_with_lms(folder, store, tls=tls, wrap=wrap) as (site, lms),
        blocking_browser(tmp_path / "profile") as context,
    ):
        page = opened_in_frame(context, site, lms, store)
        frame = page.frame("tool")
        assert frame is not None
        if wrap is not without_partitions:
            frame.wait_for_url("**/quiz/week-1")
            assert frame.locator("h1").inner_text() == "Softmax, by hand & more"
            session = next(c for c in context.cookies() if c["name"] == "softmark-session")
            assert session.get("partitionKey"), "kept for this learning system alone"
            return
        way_out = frame.get_by_role("link", name="in a new window")
        with context.expect_page() as opened:
            way_out.click()
        window = opened.value
        window.wait_for_url("**/quiz/week-1")
        assert window.locator("h1").inner_text() == "Softmax, by hand & more"
