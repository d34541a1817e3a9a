"""A browser without scripts: the forms of a page as they are sent, and quizzes to answer in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from httpx import Response
from starlette.testclient import TestClient

from engine.model import Quiz
from engine.quiz import compose, read_blueprint
from engine.quiz import rules as quiz_rules
from engine.web.site import Site


@dataclass
class PageForm:
    """A form as a browser would send it: its fields in order, and the values of its buttons."""

    action: str
    method: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    buttons: list[tuple[str, str]] = field(default_factory=list)
    choices: dict[str, list[str]] = field(default_factory=dict)

    def names(self) -> set[str]:
        """Every name that a value can be given."""
        return {name for name, _ in self.fields} | set(self.choices)

    def fill(self, name: str, *values: str) -> PageForm:
        """Enter values, in place of what stands there."""
        assert name in self.names(), f"{name} isn't in the form: {sorted(self.names())}"
        for value in values:
            assert name not in self.choices or value in self.choices[name], f"{value} can't be chosen"
        self.fields = [pair for pair in self.fields if pair[0] != name] + [(name, v) for v in values]
        return self

    def send(self, browser: TestClient, button: str = "") -> Response:
        """Send it by the button with that value; by the first one, as Enter does, if none is named."""
        pressed = [pair for pair in self.buttons if pair[1] == button] if button else self.buttons[:1]
        assert pressed or not self.buttons, f"no button {button}: {self.buttons}"
        data: dict[str, list[str]] = {}
        for name, value in [*self.fields, *(pair for pair in pressed if pair[0])]:
            data.setdefault(name, []).append(value)
        return browser.post(self.action, data=data)


class _FormReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.forms: list[PageForm] = []
        self._select: tuple[str, str | None] | None = None
        self._area: tuple[str, list[str]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(PageForm(values.get("action", ""), values.get("method", "get")))
        if not self.forms:
            return
        form, name = self.forms[-1], values.get("name", "")
        if tag == "input" and name:
            if values.get("type") in ("radio", "checkbox"):
                form.choices.setdefault(name, []).append(values.get("value", "on"))
                if "checked" in values:
                    form.fields.append((name, values.get("value", "on")))
            else:
                form.fields.append((name, values.get("value", "")))
        elif tag == "button":
            form.buttons.append((name, values.get("value", "")))
        elif tag == "select":
            self._select = (name, None)
            form.choices.setdefault(name, [])
        elif tag == "option" and self._select is not None:
            form.choices[self._select[0]].append(values.get("value", ""))
            if self._select[1] is None or "selected" in values:
                self._select = (self._select[0], values.get("value", ""))
        elif tag == "textarea":
            self._area = (name, [])

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self._area[1].append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "select" and self._select is not None:
            self.forms[-1].fields.append((self._select[0], self._select[1] or ""))
            self._select = None
        elif tag == "textarea" and self._area is not None:
            # The first line end after the tag belongs to the markup.
            self.forms[-1].fields.append((self._area[0], "".join(self._area[1]).removeprefix("\n")))
            self._area = None


def forms_of(page: str) -> list[PageForm]:
    """Return the forms of a page."""
    reader = _FormReader()
    reader.feed(page)
    return reader.forms


def form_with(page: str, button: str) -> PageForm:
    """Return the form of a page that has a button with this value."""
    found = [form for form in forms_of(page) if any(value == button for _, value in form.buttons)]
    assert found, f"no form with a button {button!r} in:\n{page}"
    return found[0]


def form_to(page: str, ending: str) -> PageForm:
    """Return the first form of a page whose address ends so."""
    return next(form for form in forms_of(page) if form.action.endswith(ending))


def open_page(browser: TestClient, path: str, status: int = 200) -> str:
    """Return the text of a page, after its redirects."""
    answer = browser.get(path, follow_redirects=True)
    assert answer.status_code == status, answer.text
    return answer.text


def follow(browser: TestClient, answer: Response) -> str:
    """Return the page to which an answer leads on."""
    assert answer.status_code == 303, answer.text
    return open_page(browser, answer.headers["location"])


def draw(
    site: Site,
    blueprint: str,
    name: str = "week-1",
    students: tuple[str, ...] = ("ada", "bob"),
    is_published: bool = True,
) -> list[Quiz]:
    """Draw, store and publish a quiz for students of the site."""
    path = Path(site.folder) / "blueprints" / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(blueprint, encoding="utf-8")
    quizzes = compose(read_blueprint(path), site.bank, list(students), secret=site.course.secret(), name=name)
    site.store.save_quizzes(quizzes)
    if is_published:
        site.store.published.publish(name, "ivy", quiz_rules.now())
    return quizzes
