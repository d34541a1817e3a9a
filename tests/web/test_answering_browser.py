"""Answering in a real browser: saving by itself, a killed server, two windows, the keyboard, the clock."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from engine.answers import right_response
from engine.course import Course
from engine.model import Mode, Quiz
from engine.quiz import compose, read_blueprint
from engine.quiz import rules as quiz_rules
from engine.store import open_store
from tests.live.axe import RULES
from tests.live.browser import chromium, needs_chromium
from tests.live.site import LiveSite, new_course

pytestmark = needs_chromium
QUIZ = """
title: Attention by hand
attempts: 2
hint_cost: 0.25
sections:
  - items: [softmax-temperature, greedy-trace-order, claims-solve-or-mitigate, history-impact, additive-score]
"""
EXAM = "title: Exam\nattempts: 1\ntime_limit: 1\nshow_before: nothing\nsections:\n  - items: [greedy-path]\n"
WAIT_MS = 30_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return new_course(tmp_path / "course")


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


def draw(folder: Path, text: str, name: str) -> Quiz:
    """Draw and publish a quiz for Ada."""
    course = Course.open(folder)
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    with course.open_store() as store:
        (quiz,) = compose(read_blueprint(path), course.bank(None), ["ada"], secret=course.secret(), name=name)
        store.save_quiz(quiz)
        store.published.publish(name, "ivy", quiz_rules.now())
    return quiz


def person_context(chrome: Any, site: LiveSite, person: str = "ada", **more: Any) -> Any:
    context = chrome.new_context(**more)
    context.set_default_timeout(WAIT_MS)
    cookie = {"name": "softmark-session", "value": site.cookie_of(person), "url": site.address}
    context.add_cookies([cookie])
    return context


def drafts(folder: Path, quiz: Quiz) -> dict[tuple[int, str], str]:
    with open_store(Course.open(folder).store_place) as store:
        return {(draft.number, draft.part): draft.text for draft in store.drafts.of_quiz(quiz)}


def saved(page: Any) -> None:
    page.locator(".saved", has_text="Saved at").wait_for()


def test_a_save_whose_answer_is_lost_is_no_other_window(folder: Path, chrome: Any) -> None:
    """The store has the text, the window doesn't know, and its person types on."""
    quiz = draw(folder, QUIZ, "week-1")
    part = quiz.questions[0].variant.parts[0].id
    with LiveSite(folder) as site:
        page = person_context(chrome, site).new_page()
        page.goto(f"{site.address}/quiz/week-1/1")

        def lose_the_answer(route: Any) -> None:
            route.fetch()
            route.abort()

        page.route("**/save", lose_the_answer, times=1)
        field = page.locator(f"[name='text.{part}']")
        field.fill("0.1")
        field.blur()
        page.locator(".saved", has_text="Not saved yet: the server").wait_for()
        assert drafts(folder, quiz)[1, part] == "0.1"
        field.fill("0.2")
        field.blur()
        saved(page)
        assert drafts(folder, quiz)[1, part] == "0.2"
        assert page.locator(".note.wrong").count() == 0


def test_what_is_typed_survives_a_killed_server_and_a_closed_browser(folder: Path, chrome: Any) -> None:
    quiz = draw(folder, QUIZ, "week-1")
    part = quiz.questions[0].variant.parts[0].id
    site = LiveSite(folder)
    port = site.port
    context = person_context(chrome, site)
    page = context.new_page()
    page.goto(f"{site.address}/quiz/week-1/1")
    field = page.locator(f"[name='text.{part}']")
    field.press_sequentially("0.1, 0.2")
    saved(page)
    assert drafts(folder, quiz)[1, part] == "0.1, 0.2"
    # Read once the field is left, though it was saved before.
    field.fill("0.1, xyz")
    page.locator(".saved", has_text="Not saved yet").wait_for()
    saved(page)
    assert page.locator(f"#fault-{part}").inner_text() == ""
    field.blur()
    page.locator(f"#fault-{part}", has_text="Letters").wait_for()
    field.fill("0.1, 0.2, 0.7")
    field.blur()
    page.locator(f"#fault-{part}:empty").wait_for(state="attached")
    field.fill("0.1, abc")
    field.blur()
    page.locator(f"#fault-{part}", has_text="Letters").wait_for()
    site.kill()
    field.fill("0.3, 0.3, 0.4")
    field.blur()
    page.locator(".saved", has_text="this browser keeps your text").wait_for()
    page.close()
    with LiveSite(folder, port=port) as again:
        assert drafts(folder, quiz)[1, part] == "0.1, abc"
        page = context.new_page()
        page.goto(f"{again.address}/quiz/week-1/1")
        saved(page)
        assert page.locator(f"[name='text.{part}']").input_value() == "0.3, 0.3, 0.4"
        assert "Read as" in page.locator(f"#reading-{part}").inner_text()
        assert drafts(folder, quiz)[1, part] == "0.3, 0.3, 0.4"
        # An open page goes on by itself once the server is back, with the form it had.
        page.locator(f"[name='text.{part}']").fill("0.5, 0.3, 0.2")
        saved(page)
        assert page.evaluate("localStorage.length") == 0
    context.close()


WORDS = """id: t-words
title: In words
source: {document: background}
difficulty: 2
bloom: understand
topics: [t-words]
stem: Explain why weights sum to 1, in at most 5 words.
answer:
  type: free_text
  max_words: 5
  rubric:
    - {id: softmax, title: the function, text: Names softmax., points: 1}
  sample: Softmax divides by the sum.
hints: [Which function makes them?]
"""


def test_what_is_saved_and_cannot_be_handed_in_is_said_at_once(folder: Path, chrome: Any) -> None:
    """In the status line, among the numbers above the question, and aloud where somebody asks for it."""
    (folder / "problems").mkdir(exist_ok=True)
    (folder / "problems" / "t-words.yaml").write_text(WORDS, encoding="utf-8")
    quiz = draw(folder, "title: W\nsections:\n  - items: [softmax-weights, t-words]\n", "words")
    numbers, text = (question.variant.parts[0].id for question in quiz.questions)
    with LiveSite(folder) as site:
        context = person_context(chrome, site, viewport={"width": 360, "height": 740})
        page = context.new_page()
        page.goto(f"{site.address}/quiz/words/1")
        status, here, spoken = (
            page.locator(".saved"),
            page.locator(".strip [aria-current]"),
            page.locator(".saved-says"),
        )
        assert here.text_content() == "1 ○ no answer yet"
        field = page.locator(f"[name='text.{numbers}']")
        field.press_sequentially("0.1, ")
        page.locator(".saved", has_text="but the answer can't be read").wait_for()
        assert here.text_content() == "1 ? can't be read"
        assert page.locator(f"#fault-{numbers}").inner_text() == ""  # one is still typing
        assert spoken.text_content() == ""
        page.get_by_role("button", name="Save", exact=True).click()
        page.locator(".saved-says", has_text="saved, but the answer can't be read.").wait_for(
            state="attached"
        )
        page.locator(f"#fault-{numbers}:not(:empty)").wait_for()
        field.fill("0.2, 0.3, 0.5")
        page.locator(".strip [aria-current]", has_text="saved, not handed in").wait_for()
        assert "read" not in status.inner_text()
        # The fault that is mended doesn't stay until the field is left.
        page.locator(f"#fault-{numbers}:empty").wait_for(state="attached")
        field.fill("")
        page.locator(".strip [aria-current]", has_text="no answer yet").wait_for()

        page.goto(f"{site.address}/quiz/words/2")
        length = page.locator(f"#length-{text}")
        assert length.inner_text() == "0 words, 5 left"
        area = page.locator(f"[name='text.{text}']")
        area.press_sequentially("Softmax – it divides by")
        assert length.inner_text() == "4 words, 1 left"
        assert spoken.text_content() == ""
        area.press_sequentially(" sums, too.")
        assert length.inner_text() == "6 words, 1 too many"
        assert spoken.text_content() == "6 words, 1 too many"
        page.locator(".saved", has_text="but the answer is too long").wait_for()
        assert here.text_content() == "2 ? is too long"
        area.blur()
        page.locator(f"#fault-{text}", has_text="This has 6 words. Expected: at most 5 words.").wait_for()
        page.reload()
        assert length.inner_text() == "6 words, 1 too many"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        context.close()


PASTE = """(cell, text) => {
  const data = new DataTransfer();
  data.setData("text", text);
  cell.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
}"""


def test_a_matrix_is_entered_in_a_grid(folder: Path, chrome: Any) -> None:
    quiz = draw(folder, "title: G\nsections:\n  - items: [softmax-weights, causal-mask-matrix]\n", "grid")
    vector, matrix = (question.variant.parts[0] for question in quiz.questions)
    rows, columns = matrix.key.shape
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    options = json.dumps({"runOnly": {"type": "tag", "values": RULES}, "resultTypes": ["violations"]})
    with LiveSite(folder) as site:
        context = person_context(chrome, site, viewport={"width": 360, "height": 740}, bypass_csp=True)
        page = context.new_page()
        page.goto(f"{site.address}/quiz/grid/1")
        text, cells = page.locator(f"[name='text.{vector.id}']"), page.locator(".cells input")
        text.fill("0.1, 0.2")
        page.get_by_role("button", name="Enter in a grid").click()
        assert "doesn't fit the grid" in page.locator(".answer .over[role=status]").inner_text()
        assert text.is_visible()
        text.fill("")
        page.get_by_role("button", name="Enter in a grid").click()
        assert not text.is_visible()
        count = vector.key.shape[0]
        assert cells.count() == count
        assert cells.nth(1).get_attribute("aria-label") == f"number 2 of {count}"
        for place in range(count):
            page.keyboard.type(f"0.{place}")
            page.keyboard.press(
                ("Enter", "ArrowRight", "Tab")[place % 3] if place < count - 1 else "ArrowLeft"
            )
        page.locator(".strip [aria-current]", has_text="saved, not handed in").wait_for()
        written = ", ".join(f"0.{place}" for place in range(count))
        assert drafts(folder, quiz)[1, vector.id] == written
        page.reload()
        assert [cells.nth(place).input_value() for place in range(count)] == written.split(", ")
        page.get_by_role("button", name="Enter as text").click()
        assert text.input_value() == written
        page.get_by_role("button", name="Enter in a grid").click()

        page.goto(f"{site.address}/quiz/grid/2")
        label = f"row 2, column {columns}"
        assert cells.nth(2 * columns - 1).get_attribute("aria-label") == label
        cells.first.evaluate(PASTE, "[[1 2 3 4 5 6 7 8 9]]")
        assert "doesn't fit" in page.locator(".answer .over[role=status]").inner_text()
        line = [str(column % 2) for column in range(columns)]
        printed = "array([" + ",\n       ".join(f"[{', '.join(line)}]" for _ in range(rows)) + "])"
        for pasted in (printed, "\n".join(["\t".join(line)] * rows), "\n".join([" ".join(line)] * rows)):
            for place in range(rows * columns):
                cells.nth(place).fill("")
            cells.first.evaluate(PASTE, pasted)
            assert [cells.nth(place).input_value() for place in range(rows * columns)] == line * rows
        cells.first.focus()
        page.keyboard.press("ArrowDown")
        assert page.evaluate("document.activeElement.ariaLabel") == "row 2, column 1"
        page.locator(".strip [aria-current]", has_text="partly answered").wait_for()
        assert drafts(folder, quiz)[2, matrix.id] == "\n".join([", ".join(line)] * rows)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.evaluate(axe + ";0")
        found = page.evaluate(f"axe.run(document, {options})")
        assert [violation["id"] for violation in found["violations"]] == []
        context.close()


def test_two_windows_show_both_texts_and_one_is_chosen(folder: Path, chrome: Any) -> None:
    quiz = draw(folder, QUIZ, "week-1")
    part = quiz.questions[0].variant.parts[0].id
    with LiveSite(folder) as site:
        context = person_context(chrome, site)
        first, second = context.new_page(), context.new_page()
        for page in (first, second):
            page.goto(f"{site.address}/quiz/week-1/1")
        first.locator(f"[name='text.{part}']").fill("0.1, 0.9")
        saved(first)
        second.locator(f"[name='text.{part}']").fill("0.2, 0.8")
        note = second.locator(".note.wrong[role=alert]")
        note.wait_for()
        assert "0.1, 0.9" in note.inner_text()
        assert drafts(folder, quiz)[1, part] == "0.1, 0.9"
        note.get_by_role("button", name="Keep the text here").click()
        saved(second)
        assert drafts(folder, quiz)[1, part] == "0.2, 0.8"
        context.close()


def test_a_page_goes_on_after_signing_in_again_and_never_for_somebody_else(folder: Path, chrome: Any) -> None:
    quiz = draw(folder, QUIZ, "week-1")
    part = quiz.questions[0].variant.parts[0].id
    with LiveSite(folder) as site:
        context = person_context(chrome, site)
        page = context.new_page()
        page.goto(f"{site.address}/quiz/week-1/1")
        field = page.locator(f"[name='text.{part}']")
        field.fill("0.1")
        saved(page)
        context.clear_cookies()  # as when the session has ended
        field.fill("0.2")
        page.locator(".saved", has_text="you aren't signed in any more").wait_for()
        # Somebody else signs in at this browser: nothing of Ada's is sent, offered or shown to Bob.
        cookie = {"name": "softmark-session", "value": site.cookie_of("bob"), "url": site.address}
        context.add_cookies([cookie])
        page.wait_for_timeout(6000)
        assert "you aren't signed in any more" in page.locator(".saved").inner_text()
        # Ada again, in another window: this page goes on by itself.
        context.add_cookies([cookie | {"value": site.cookie_of("ada")}])
        saved(page)
        assert drafts(folder, quiz)[1, part] == "0.2"
        context.add_cookies([cookie])
        field.fill("0.3")
        page.get_by_role("button", name="Save and go to question 2").click()
        page.get_by_text("out of date").wait_for()
        assert "0.3" not in page.locator("main").inner_text()
        assert drafts(folder, quiz)[1, part] == "0.2"


def test_a_quiz_is_answered_by_the_keyboard_alone(folder: Path, chrome: Any) -> None:
    quiz = draw(folder, QUIZ, "week-1")
    order = quiz.questions[1].variant.parts[0]
    with LiveSite(folder) as site:
        context = person_context(chrome, site)
        page = context.new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.goto(f"{site.address}/quiz/week-1/2")
        # Each card is moved up to its place, from the first to the last.
        for place, letter in enumerate(order.key_ids):
            button = page.get_by_role("button", name=f"Move ({letter}) up")
            button.focus()
            letters = page.locator(".arrange li").evaluate_all("rows => rows.map(row => row.dataset.letter)")
            for _ in range(letters.index(letter) - place):
                page.keyboard.press("Enter")
        if page.get_by_role("button", name="This order is my answer").is_visible():
            page.get_by_role("button", name="This order is my answer").press("Enter")
        saved(page)
        assert drafts(folder, quiz)[2, order.id].split(", ") == list(order.key_ids)
        page.get_by_role("button", name="Hand in this question").press("Enter")
        page.get_by_text("Question 2 is handed in.").wait_for()
        assert "right" in page.locator(".result .badge").first.inner_text()
        choice = quiz.questions[0].variant.parts[1]
        page.goto(f"{site.address}/quiz/week-1/1")
        page.locator(f"[name='pick.{choice.id}']").last.focus()
        page.keyboard.press("ArrowUp")
        saved(page)
        assert drafts(folder, quiz)[1, choice.id] == choice.options[-1].id
        text = quiz.questions[0].variant.parts[0]
        page.locator(f"[name='text.{text.id}']").fill(right_response(text))
        page.locator(f"[name='text.{text.id}']").press("Enter")  # saves, and stays where one types
        saved(page)
        assert page.evaluate("document.activeElement.name") == f"text.{text.id}"
        assert complaints == []
        context.close()


def test_a_sitting_ends_by_itself_with_what_was_typed_last(folder: Path, chrome: Any) -> None:
    quiz = draw(folder, EXAM, "exam")
    (part,) = quiz.questions[0].variant.parts
    with LiveSite(folder) as site:
        with open_store(Course.open(folder).store_place) as store:
            begun = quiz_rules.now() - timedelta(seconds=42)
            store.timed.begin(quiz, begun, begun + timedelta(minutes=1))
        context = person_context(chrome, site)
        page = context.new_page()
        page.goto(f"{site.address}/quiz/exam/1")
        page.locator(".timer.soon").wait_for()
        page.locator(f"[name='text.{part.id}']").press_sequentially(right_response(part), delay=50)
        # Nobody types into a field whose text isn't taken any more.
        page.locator("form.answers[inert] .note", has_text="Time is up.").wait_for()
        assert "Time is up." in page.locator(".timer").inner_text()
        page.wait_for_url(f"{site.address}/quiz/exam")
        assert "The quiz is over" in page.inner_text("main")
        with open_store(Course.open(folder).store_place) as store:
            (attempt,) = store.attempts(student="ada", mode=Mode.MARKS)
        assert attempt.report.score == quiz.questions[0].points
        context.close()


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_pages_fit_and_axe_finds_nothing(folder: Path, chrome: Any, width: int, scheme: str) -> None:
    draw(folder, QUIZ, "week-1")
    draw(folder, EXAM, "exam")
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    options = json.dumps({"runOnly": {"type": "tag", "values": RULES}, "resultTypes": ["violations"]})
    with LiveSite(folder) as site:
        context = person_context(
            chrome,
            site,
            viewport={"width": width, "height": 800},
            color_scheme=scheme,
            bypass_csp=True,
            has_touch=width < 500,
        )
        page = context.new_page()
        places = [
            *("/work", "/marks", "/requests", "/quiz/exam", "/quiz/week-1", "/quiz/week-1/hand-in"),
            *(f"/quiz/week-1/{number}" for number in range(1, 6)),
        ]
        for place in places:
            page.goto(site.address + place)
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), place
            page.evaluate(axe + ";0")
            violations = page.evaluate(f"axe.run(document, {options}).then(result => result.violations)")
            assert [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in violations] == [], (
                place
            )
        context.close()
