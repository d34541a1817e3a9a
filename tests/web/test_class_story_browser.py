"""A class from its roster to its gradebook, in browsers alone: an instructor and two students at once.

Played twice: with the site's script on a desk, and without any script on a phone.
"""

from __future__ import annotations

import csv
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.answers import right_response
from engine.course import Course
from engine.model import Mode
from tests.live.browser import chromium, needs_chromium
from tests.live.site import LiveSite, new_course

pytestmark = [needs_chromium, pytest.mark.slow]

WAIT_MS = 60_000
PATIENCE_S = 120.0
QUIZ = """title: Attention by hand
attempts: 1
sections:
  - items: [softmax-ratio, greedy-trace-order]
"""
EXAM = """title: Exam
attempts: 1
time_limit: 1
show_before: nothing
sections:
  - items: [softmax-ratio]
"""
RULES = """
  assignments:
    softmax: {due: 2999-01-01}
"""
WRONG = """import numpy as np

def softmax(x, axis=-1):
    e = np.exp2(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
RIGHT = WRONG.replace("exp2", "exp")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    course = new_course(tmp_path / "course")
    (course / "web.yaml").write_text("mail: {folder: mails}\n", encoding="utf-8")
    settings = course / "course.yaml"
    settings.write_text(settings.read_text(encoding="utf-8").rstrip() + RULES, encoding="utf-8")
    for name, text in (("week-1", QUIZ), ("exam", EXAM)):
        (course / "blueprints" / f"{name}.yaml").write_text(text, encoding="utf-8")
    return course


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


def until(is_so: Callable[[], object], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, what
        time.sleep(0.1)


class Story:
    """The class and its site; each step is what one person does in a browser."""

    def __init__(self, folder: Path, chrome: Any, *, has_script: bool) -> None:
        self.folder = folder
        self.has_script = has_script
        self.site = LiveSite(folder)
        size = {"width": 1280, "height": 900} if has_script else {"width": 360, "height": 740}
        self._new = lambda: chrome.new_context(viewport=size, java_script_enabled=has_script)

    def window(self) -> Any:
        context = self._new()
        context.set_default_timeout(WAIT_MS)
        return context.new_page()

    def press(self, page: Any, name: str, number: int = 0) -> None:
        page.get_by_role("button", name=name, exact=True).nth(number).click()

    def go(self, page: Any, path: str) -> None:
        page.goto(self.site.address + path)

    def sign_in_by_terminal(self, page: Any) -> None:
        link = re.search(r"http\S+/sign-in/link/\S+", self.site.printed)
        assert link
        page.goto(link[0])
        self.press(page, "Sign in as Ivy Prof")
        page.wait_for_url("**/staff/class")

    def sign_in_by_mail(self, page: Any, address: str) -> None:
        mails = self.folder / "mails"
        before = set(mails.glob("*"))
        self.go(page, "/")
        page.get_by_role("link", name="Sign in").click()
        page.get_by_label("Your email address").fill(address)
        self.press(page, "Send me a link")
        until(lambda: set(mails.glob("*")) - before, "no mail came")
        (mail,) = set(mails.glob("*")) - before
        text = mail.read_text(encoding="utf-8").replace("=\n", "").replace("=3D", "=")
        link = re.search(r"http\S+/sign-in/link/[\w-]+", text)
        assert link, text
        page.goto(link[0])
        page.get_by_role("button", name="Sign in as").click()
        page.wait_for_url("**/work")

    def draw_and_publish(self, page: Any, name: str) -> None:
        self.go(page, "/staff/quizzes")
        page.locator(f'form:has(input[value="{name}"]) button', has_text="Draw").click()
        course = Course.open(self.folder)

        def is_drawn() -> bool:
            with course.open_store() as store:
                return len(store.quizzes(name)) == 2

        until(is_drawn, "the quiz isn't drawn")
        self.go(page, f"/staff/quizzes/of/{name}")
        page.get_by_role("button", name=re.compile("^Put it on the site|^Publish")).click()
        page.get_by_text("On the site since").wait_for()

    def answer(self, name: str, student: str, number: int) -> tuple[str, str]:
        """Return the first part's id, and the right answer."""
        with Course.open(self.folder).open_store() as store:
            (quiz,) = store.quizzes(name, student)
            part = quiz.questions[number - 1].variant.parts[0]
        return part.id, right_response(part)

    def scores(self, student: str, item: str) -> list[float | None]:
        with Course.open(self.folder).open_store() as store:
            return [a.report.score for a in store.attempts(student=student, item=item, mode=Mode.MARKS)]

    def restart(self) -> None:
        """End the server as a crash would, and start it again at the same address."""
        port = self.site.port
        self.site.kill()
        self.site = LiveSite(self.folder, port=port)


@pytest.mark.parametrize("has_script", [True, False], ids=["script", "no-script-phone"])
def test_a_class_from_its_roster_to_its_gradebook(folder: Path, chrome: Any, has_script: bool) -> None:
    story = Story(folder, chrome, has_script=has_script)
    try:
        play(story)
    finally:
        story.site.stop()
    assert "Traceback" not in story.site.complaints()


def play(story: Story) -> None:
    ivy, ada, bob = story.window(), story.window(), story.window()
    story.sign_in_by_terminal(ivy)
    story.draw_and_publish(ivy, "week-1")
    story.draw_and_publish(ivy, "exam")

    # Bob begins the exam, types, and closes the window: it has to end by itself.
    story.sign_in_by_mail(bob, "bob@example.edu")
    story.go(bob, "/quiz/exam")
    story.press(bob, "Start the quiz")
    part, right = story.answer("exam", "bob", 1)
    story.go(bob, "/quiz/exam/1")
    bob.locator(f"[name='text.{part}']").fill(right)
    if story.has_script:
        bob.locator(".saved", has_text="Saved at").wait_for()
    else:
        story.press(bob, "Save")
    bob.context.close()

    # Ada answers; the server dies while she types.
    story.sign_in_by_mail(ada, "ada@example.edu")
    part, right = story.answer("week-1", "ada", 1)
    story.go(ada, "/quiz/week-1/1")
    field = ada.locator(f"[name='text.{part}']")
    field.fill("0.111")
    if story.has_script:
        ada.locator(".saved", has_text="Saved at").wait_for()
        story.site.kill()
        field.fill(right)
        ada.locator(".saved", has_text="this browser keeps your text").wait_for()
        story.site = LiveSite(story.folder, port=story.site.port)
        ada.locator(".saved", has_text="Saved at").wait_for()
    else:
        story.press(ada, "Save")
        story.restart()
        story.go(ada, "/quiz/week-1/1")
        assert ada.locator(f"[name='text.{part}']").input_value() == "0.111"
        ada.locator(f"[name='text.{part}']").fill(right)
    story.press(ada, "Hand in this question")
    ada.get_by_text("✓ right").first.wait_for()

    # A wrong program is named for what it is, and the right one gets all points.
    story.go(ada, "/code/softmax")
    ada.get_by_label("Your code").fill(WRONG)
    story.press(ada, "Hand in this code")
    ada.locator("#result").wait_for()
    assert "powers of 2" in ada.locator("#result").inner_text()
    ada.get_by_label("Your code").fill(RIGHT)
    story.press(ada, "Hand in this code")
    ada.locator("#result", has_text="10 of 10 points").wait_for()
    assert sorted(story.scores("ada", "softmax"))[-1] == 10.0

    # She asks for another look, and the instructor grants it with a mark by hand.
    story.go(ada, "/requests?kind=regrade&subject=week-1/softmax-ratio")
    ada.locator("#regrade-text").fill("My calculation was right too.")
    story.press(ada, "Send the request", 0)
    ada.get_by_text("My calculation was right too.").first.wait_for()
    story.go(ivy, "/staff/requests")
    ivy.get_by_label("Answer to the student").fill("Yes, half a point more.")
    story.press(ivy, "Grant")
    story.go(ivy, "/staff/students/ada/marks/week-1~2Fsoftmax-ratio")
    ivy.get_by_label(re.compile("^Score, of")).fill("0.5")
    ivy.get_by_label("Reason, for the log").fill("The request.")
    story.press(ivy, "Save the mark")
    story.go(ada, "/requests")
    ada.get_by_text("Yes, half a point more.").first.wait_for()
    story.go(ada, "/marks")
    assert "set by hand" in ada.locator("main").inner_text()

    # The exam has ended by itself, with what Bob had saved.
    until(lambda: story.scores("bob", "softmax-ratio"), "the exam didn't end")
    assert story.scores("bob", "softmax-ratio")[0]

    export(story, ivy)
    story.go(ivy, "/staff/log")
    log = ivy.locator("main tbody").first.inner_text()
    assert all(words in log for words in ("put a quiz on the site", "set a mark by hand", "made a gradebook"))


def export(story: Story, ivy: Any) -> None:
    """Export the gradebook: the mark by hand stands in it."""
    story.go(ivy, "/staff/reports")
    ivy.get_by_label("Format").select_option("csv")
    ivy.locator("form:has(#format) button").last.click()
    link = ivy.get_by_role("link", name=re.compile("gradebook-csv"))
    link.wait_for()
    address = link.get_attribute("href")
    cookie = {c["name"]: c["value"] for c in ivy.context.cookies()}["softmark-session"]
    with story.site.browser() as client:
        text = client.get(address, headers={"cookie": f"softmark-session={cookie}"}).text
    rows = {row["student"]: row for row in csv.DictReader(text.lstrip("\ufeff").splitlines())}
    assert any("softmax-ratio" in head and value == "0.5" for head, value in rows["ada"].items()), rows
