"""Forms of a page, as a browser reads and sends them."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

import httpx2
from starlette.testclient import TestClient

__all__ = ["PageForm", "forms_of", "send", "token_of"]


@dataclass
class PageForm:
    """A form with the fields that it is sent with if nobody types anything."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[PageForm] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(PageForm(values.get("action", ""), values.get("method", "get").lower()))
        elif tag in ("input", "textarea", "button", "select") and self.forms and "name" in values:
            is_sent = values.get("type") not in ("radio", "checkbox", "file") or "checked" in values
            if is_sent:
                self.forms[-1].fields.setdefault(values["name"], values.get("value", ""))


def forms_of(page: httpx2.Response) -> list[PageForm]:
    """Return the forms of a page."""
    reader = _Reader()
    reader.feed(page.text)
    return reader.forms


def token_of(page: httpx2.Response) -> str:
    """Return the token that the page's forms carry."""
    return next(form.fields["csrf"] for form in forms_of(page) if "csrf" in form.fields)


def send(browser: TestClient, page: httpx2.Response, action: str, **fields: str) -> httpx2.Response:
    """Send the page's form whose address ends with `action`, with some fields filled in."""
    form = next(f for f in forms_of(page) if f.method == "post" and f.action.endswith(action))
    return browser.post(form.action, data={**form.fields, **fields})
