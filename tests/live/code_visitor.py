"""A student who hands in code at a running site and waits for the feedback, as the page's script does."""

from __future__ import annotations

import re
import time

import httpx

from tests.live.site import LiveSite, form_token

__all__ = ["CodeVisitor"]

PATIENCE_S = 120.0


class CodeVisitor:
    """A browser in which somebody is signed in, as far as code needs one."""

    def __init__(self, site: LiveSite, person: str) -> None:
        self.client: httpx.Client = site.browser(person)
        self._token = ""

    def token(self) -> str:
        """Return what a form must carry."""
        if not self._token:
            self._token = form_token(self.client.get("/code/softmax?write=1").text)
        return self._token

    def hand_in(self, item: str, source: str, name: str = "mine.py") -> str:
        """Upload a program, and return where the site sends the browser then."""
        values = {"csrf": self.token(), "way": "files"}
        answer = self.client.post(
            f"/code/{item}/hand-in", data=values, files={"files": (name, source.encode())}
        )
        assert answer.status_code == 303, (answer.status_code, answer.text)
        return answer.headers["location"]

    def feedback(self, item: str, address: str) -> str:
        """Wait for the feedback, and return the page that has it."""
        end = time.monotonic() + PATIENCE_S
        page = self.client.get(address).text
        while 'id="result"' not in page:
            state = re.search(r'data-state="([^"]+)"', page)
            assert state is not None, page
            while self.client.get(state[1]).json()["open"]:
                assert time.monotonic() < end
                time.sleep(0.05)
            page = self.client.get(f"/code/{item}").text
        return page

    def close(self) -> None:
        self.client.close()
