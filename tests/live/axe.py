"""axe-core in a page: what it finds wrong for people who see, hear or move otherwise."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from tests.live.browser import Browser

__all__ = ["RULES", "violations"]

RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")


def violations(browser: Browser) -> list[str]:
    """Return what axe-core finds wrong in the open page, one line per element."""
    # evaluated over the pipe, so the page's own policy, which forbids every script, stays in force
    browser.run(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8") + ";0")
    options = {"runOnly": {"type": "tag", "values": RULES}, "resultTypes": ["violations"]}
    found: list[dict[str, Any]] = browser.run(
        f"axe.run(document, {json.dumps(options)}).then(result => result.violations)"
    )
    return [
        f"{rule['id']} ({rule['impact']}): {node['target']} {node['failureSummary']}"
        for rule in found
        for node in rule["nodes"]
    ]
