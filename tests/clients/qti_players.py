"""Two QTI players that others wrote, in a headless Chromium, which answer items as candidates do."""

from __future__ import annotations

import functools
import http.server
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

from tests.live.browser import chromium

__all__ = ["PLAYERS", "Answered", "Player", "needs_players", "players"]

HERE = Path(__file__).parent
MODULES = HERE.parents[1] / ".clients" / "node_modules"
# name: its page
PLAYERS = {"qti3-item-player": "amp_player.html", "qti-components": "citolab_player.html"}
PATIENCE_MS = 60_000
# Without a graphics card a second process draws what nobody sees.
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-software-rasterizer"]

needs_players = pytest.mark.skipif(
    not os.environ.get("CI") and (chromium() is None or not MODULES.is_dir()),
    reason="the players aren't installed: make browser clients",
)


@dataclass(frozen=True)
class Answered:
    """What a player made of one response."""

    score: float | None
    outcomes: Mapping[str, Any]
    responses: Mapping[str, Any]
    shown: tuple[str, ...]
    problems: tuple[str, ...]


class _Files(http.server.SimpleHTTPRequestHandler):
    """The players, their pages, and everything else from the folder of an unpacked package."""

    def __init__(self, *arguments: Any, package: Path, **more: Any) -> None:
        self._package = package
        super().__init__(*arguments, **more)

    def translate_path(self, path: str) -> str:
        path = path.split("?")[0].lstrip("/")
        for prefix, folder in (("node_modules/", MODULES), ("clients/", HERE)):
            if path.startswith(prefix):
                return str(folder / path.removeprefix(prefix))
        if path.endswith("_player.html"):  # beside the item, so that its pictures are found
            return str(HERE / path.rpartition("/")[2])
        return str(self._package / path)

    def log_message(self, *_arguments: Any, **_more: Any) -> None:
        pass


class Player:
    """One player in a page of its own."""

    def __init__(self, name: str, page: Page) -> None:
        self.name = name
        self.page = page

    def answer(self, item: str, responses: Sequence[Mapping[str, Any]]) -> list[Answered]:
        """Return what it makes of responses, each given to the fresh item.

        Parameters
        ----------
        item : str
            The XML text of the item.
        responses : sequence of mapping
            What goes into each interaction, by response identifier: a text, the identifiers to click, or the
            identifier for each place of an order (None leaves it empty).
        """
        results = self.page.evaluate(
            "([xml, responses]) => answerAll(xml, responses)", [item, [dict(one) for one in responses]]
        )
        return [
            Answered(
                None if one["score"] is None else float(one["score"]),
                one["outcomes"],
                one["responses"],
                tuple(one["shown"]),
                tuple(one["problems"]),
            )
            for one in results
        ]


@contextmanager
def players(
    package: Path, place: str = "items/", names: Sequence[str] = tuple(PLAYERS)
) -> Iterator[list[Player]]:
    """Open the players beside the items of a package.

    Parameters
    ----------
    package : Path
        Folder of the unpacked package.
    place : str
        Folder in it where the items lie, so that relative addresses of pictures work.
    names : sequence of str
        Of :data:`PLAYERS`.
    """
    handler = functools.partial(_Files, package=package)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=_ARGUMENTS)
            opened = []
            for name in names:
                page = browser.new_page(viewport={"width": 820, "height": 900})
                page.set_default_timeout(PATIENCE_MS)
                page.goto(f"http://127.0.0.1:{server.server_port}/{place}{PLAYERS[name]}")
                opened.append(Player(name, page))
            yield opened
            browser.close()
    finally:
        server.shutdown()
        server.server_close()
