"""Send forms as a browser does: with the hidden fields of the page."""

from __future__ import annotations

import html
import re
from typing import Any

import httpx
from starlette.testclient import TestClient

_FORM = re.compile(r"<form[^>]*action=\"([^\"]*)\"[^>]*>(.*?)</form>", re.DOTALL)
_HIDDEN = re.compile(r"<input type=\"hidden\" name=\"([^\"]*)\" value=\"([^\"]*)\">")


def send_form(browser: TestClient, page: str, address_end: str, /, **fields: Any) -> httpx.Response:
    """Send the form of `page` whose address ends in `address_end`, with its hidden fields and those given."""
    text = browser.get(page).text
    for address, body in _FORM.findall(text):
        if html.unescape(address).endswith(address_end):
            hidden = {name: html.unescape(value) for name, value in _HIDDEN.findall(body)}
            return browser.post(html.unescape(address), data={**hidden, **fields})
    raise AssertionError(f"no form on {page} goes to {address_end}: {[a for a, _ in _FORM.findall(text)]}")


def form_token(browser: TestClient, page: str) -> str:
    """Return the token that the forms of a page carry."""
    match = re.search(r'name="csrf" value="([^"]*)"', browser.get(page).text)
    assert match is not None
    return match[1]
