"""The whole story of a class in a learning system: from the registration to marks that arrive, once."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from engine.answers import right_responses
from engine.course import Course
from engine.model import Quiz
from engine.store import Store
from engine.web.site import Site
from tests.live.lms import INSTRUCTOR, Lms, LmsFault, LmsMember, learning_system
from tests.live.lti_site import Browser, forms
from tests.live.site import PATIENCE_S, LiveSite, new_course
from tests.web.browsing import draw, form_with
from tests.web.lti.conftest import LTI

pytestmark = pytest.mark.slow
# Points that are no whole numbers.
BLUEPRINT = (
    "title: Week 1\nattempts: 2\nsections:\n  - {items: [softmax-ratio, alignment-read], points: 1.25}\n"
)
RIGHT = Path(__file__).parents[3] / "problems" / "code" / "softmax"


@dataclass
class Story:
    """The running server and the learning system, with what the latter has made of the choices."""

    site: LiveSite
    lms: Lms
    store: Store
    quizzes: dict[str, Quiz]
    open: Callable[[Browser], Browser]
    links: dict[str, dict[str, str]] = field(default_factory=dict)

    def register(self) -> None:
        """Register by a link that the instructor makes and the system's administrator opens."""
        with self.site.browser("ivy") as ivy:
            page = ivy.get("/staff/lms").text
            form = next(f for f in forms(page) if f.action.endswith("/staff/lms/invite"))
            made = ivy.post(form.action, data=form.fields).text
        (url,) = re.findall(r'value="(\S+/lti/register/[^"]+)"', made)
        parameters = {
            "openid_configuration": f"{self.lms.address}/configuration",
            "registration_token": "registration-token",
        }
        with Browser() as admin:
            (form,) = forms(admin.get(url, params=parameters).text)
            assert "Registered" in admin.post(url, data=form.fields).text

    def choose(self, name: str, link: str) -> None:
        """Have the instructor add a link to the course by deep linking, with its column."""
        self.lms.launch = lambda launch: launch.set_dl(f"{self.lms.address}/deep-link")
        with Browser() as ivy:
            chooser = ivy.follow(ivy.click(self.lms, "u-ivy"))
            token = forms(chooser.text)[-1].fields
            handed = ivy.post(str(chooser.url), data={**token, "name": name})
            form = next(f for f in forms(handed.text) if f.action.endswith("/deep-link"))
            assert ivy.post(form.action, data=form.fields).status_code == 200
        item = self.lms.chosen[-1]
        number = str(len(self.lms.items) + 1)
        self.lms.items[number] = {**item["lineItem"], "id": f"{self.lms.address}/items/{number}"}
        self.links[link] = {"item": number, **item["custom"]}
        self.lms.launch = lambda launch: None

    def student(self, link: str) -> Browser:
        """Return the browser of a student who has clicked a link, and where that leads."""
        chosen = self.links[link]
        item = f"{self.lms.address}/items/{chosen['item']}"
        self.lms.launch = lambda launch: launch.set_ags(f"{self.lms.address}/items", item)
        custom = {f"{LTI}custom": {"assignment": chosen["assignment"]}}
        self.lms.token = lambda body: self.lms.sign({**body, **custom})
        browser = self.open(Browser())
        browser.base_url = self.site.address  # type: ignore[assignment]  # httpx takes a text
        answer = browser.click(self.lms, "u-ada", link)
        assert chosen["assignment"] in answer.headers["location"], answer.headers
        return browser

    def received(self, link: str) -> list[tuple[float | None, float, str]]:
        """Return the marks that have arrived in a link's column, in their order."""
        number = self.links[link]["item"]
        stamped = {(m["userId"], m["timestamp"]) for (item, _), m in self.lms.marks.items() if item == number}
        ours = [m for m in self.lms.received if m["scoreMaximum"] == self.lms.items[number]["scoreMaximum"]]
        assert stamped <= {(m["userId"], m["timestamp"]) for m in ours}
        return [(m.get("scoreGiven"), m["scoreMaximum"], m["gradingProgress"]) for m in ours]


def until(what: str, holds: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.2)


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    folder = new_course(tmp_path / "course")
    with Course.open(folder).open_store() as store:
        quizzes = {quiz.student: quiz for quiz in draw(Site(folder, store, "http://localhost"), BLUEPRINT)}
        with LiveSite(folder) as site, learning_system(site.address) as lms, ExitStack() as opened:
            lms.members["u-ada"] = LmsMember("u-ada", "Ada Lovelace", "ada@example.edu")
            lms.members["u-ivy"] = LmsMember("u-ivy", "Ivy Prof", "ivy@example.edu", (INSTRUCTOR,))
            yield Story(site, lms, store, quizzes, opened.enter_context)


def test_from_the_registration_to_marks_that_arrive_once(story: Story) -> None:
    story.register()
    assert story.lms.client_id == "registered-1"
    with Browser() as ivy:  # the first launch accepts the course
        assert ivy.click(story.lms, "u-ivy").status_code == 303
    story.choose("week-1", "link-quiz")
    story.choose("softmax", "link-code")
    assert [item["scoreMaximum"] for item in story.lms.items.values()] == [2.5, 10.0]

    ada = story.student("link-quiz")
    first = story.quizzes["ada"].questions[0]
    page = ada.get("/quiz/week-1/1")
    form = form_with(page.text, "hand_in")
    for part in first.variant.parts:
        form.fill(f"text.{part.id}", right_responses(part)[0])
    fields = [*form.fields, ("do", "hand_in")]
    answer = ada.post(form.action, data=dict(fields))
    assert answer.status_code == 303, answer.text
    until("the mark of the quiz arrives", lambda: story.received("link-quiz"))
    assert story.received("link-quiz") == [(1.25, 2.5, "FullyGraded")]
    assert story.lms.grade("u-ada", "1") == 1.25

    # The learning system goes away, and two programs are graded meanwhile: the better mark counts.
    away = LmsFault("/(items/.*|token)", 503)
    story.lms.faults.append(away)
    coder = story.student("link-code")
    for source in (
        "def softmax(x):\n    return x\n",
        (RIGHT / "solution_numpy.py").read_text(encoding="utf-8"),
    ):
        shown = coder.get("/code/softmax?write=1")
        token = next(f.fields["csrf"] for f in forms(shown.text) if "csrf" in f.fields)
        files = {"files": ("mine.py", source.encode())}
        sent = coder.post("/code/softmax/hand-in", data={"csrf": token, "way": "files"}, files=files)
        assert sent.status_code == 303, sent.text
    until("both are graded", lambda: len(list(story.store.attempts(student="ada", item="softmax"))) == 2)
    until("the mark is tried", lambda: story.store.lti_outbox.counts()["failed"] == 1)
    assert story.received("link-code") == []
    story.site.kill()  # and the server dies with it

    away.times = 0
    with LiveSite(story.site.folder, port=story.site.port) as again:
        with again.browser("ivy") as ivy:
            page = ivy.get("/staff/lms").text
            form = next(f for f in forms(page) if f.action.endswith("/staff/lms/send"))
            assert ivy.post(form.action, data=form.fields).status_code == 303
        until("the mark arrives", lambda: story.received("link-code"))
        time.sleep(12)  # two more rounds of the site
        assert story.received("link-code") == [(10.0, 10.0, "FullyGraded")]
        assert story.received("link-quiz") == [(1.25, 2.5, "FullyGraded")]
        assert story.store.lti_outbox.counts() == {"sent": 2, "waiting": 0, "failed": 0}
