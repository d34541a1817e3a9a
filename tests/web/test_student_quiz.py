"""A quiz on the site: answered, saved, handed in and tried again, without any script."""

from __future__ import annotations

import html
import importlib
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.answers import right_response, wrong_responses
from engine.errors import StoreError
from engine.marks.class_table import columns_of_quiz
from engine.model import Mode, Part, Quiz
from engine.quiz import compose, read_blueprint
from engine.store import HandMark
from engine.store.drafts import DraftField
from engine.text.words import points_text
from engine.web.site import Site
from engine.web.student.quiz_page import SittingWatch
from tests.timing import clock_from
from tests.web.browsing import PageForm, draw, follow, form_to, form_with, open_page
from tests.web.conftest import SignedIn
from tests.web.course_work import quiz_of

# The package has a function of that name.
hand_in_module = importlib.import_module("engine.quiz.hand_in")

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
PLAIN = """
title: Week 1
attempts: 2
credit: [1, 0.5]
hint_cost: 0.25
sections:
  - title: All
    items: [softmax-temperature, greedy-trace-order, scale-symbol, claims-solve-or-mitigate]
"""
EXAM = """
title: Exam
attempts: 1
time_limit: 30
show_before: nothing
sections:
  - title: All
    items: [greedy-path, chain-rule-probability]
"""


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch):
    return clock_from(monkeypatch, NOW)


def test_a_number_is_saved_handed_in_and_shown(site: Site, signed_in: SignedIn, at) -> None:
    quiz = quiz_of(draw(site, PLAIN), "ada")
    browser = signed_in("ada")
    part = quiz.questions[0].variant.parts[0]
    page = open_page(browser, "/quiz/week-1")
    assert "no answer yet" in page
    page = open_page(browser, "/quiz/week-1/1")
    form = form_with(page, "save").fill(f"text.{part.id}", "certainly not numbers")
    page = follow(browser, form.send(browser))
    assert "Saved." in page
    assert 'aria-invalid="true"' in page
    other = quiz.questions[0].variant.parts[1]
    form = form_with(page, "save").fill(f"text.{part.id}", right_response(part))
    form.fill(f"pick.{other.id}", right_response(other))
    page = follow(browser, form.send(browser, "hand_in"))
    assert "Question 1 is handed in." in page
    assert "✓ right" in page
    (attempt,) = site.store.attempts(student="ada", mode=Mode.MARKS)
    assert attempt.report.score == quiz.questions[0].points
    assert attempt.handed == NOW


def test_what_was_saved_comes_back_as_it_was_typed(site: Site, signed_in: SignedIn, at) -> None:
    part = quiz_of(draw(site, PLAIN), "ada").questions[0].variant.parts[0]
    browser, name = signed_in("ada"), f"text.{part.id}"
    # A mark of the writing direction comes along when numbers are pasted from some pages.
    pasted = right_response(part) + "\u200e"
    form = form_with(open_page(browser, "/quiz/week-1/1"), "save").fill(name, pasted)
    page = follow(browser, form.send(browser))
    again = form_with(page, "save")
    fields = dict(again.fields)
    assert (fields[name], fields[f"before.{part.id}"]) == (pasted, pasted)
    assert 'aria-invalid="true"' not in follow(browser, again.fill(name, f" {pasted}").send(browser))


def test_blank_parts_are_named_before(site: Site, signed_in: SignedIn, at) -> None:
    quiz = quiz_of(draw(site, PLAIN), "ada")
    browser = signed_in("ada")
    part = quiz.questions[0].variant.parts[0]
    page = open_page(browser, "/quiz/week-1/1")
    page = follow(browser, form_with(page, "save").send(browser, "hand_in"))
    assert "There is no answer to hand in yet." in page
    answer = form_with(page, "save").fill(f"text.{part.id}", right_response(part)).send(browser, "hand_in")
    assert answer.status_code == 200
    assert "with a blank answer?" in answer.text
    assert not list(site.store.attempts(student="ada"))
    page = follow(browser, form_with(answer.text, "hand_in.sure").send(browser))
    assert "◐ partly right" in page


@pytest.mark.parametrize("rule", ["", "attempts: 1\n"])
def test_the_only_attempt_is_named_before_it_is_used(site: Site, signed_in: SignedIn, at, rule: str) -> None:
    plan = f"title: Week 1\n{rule}sections:\n  - items: [softmax-temperature, scale-symbol]\n"
    quiz = quiz_of(draw(site, plan), "ada")
    browser = signed_in("ada")
    page = open_page(browser, "/quiz/week-1")
    assert "One attempt at each question." in page
    assert "Begin with question 1" in page and "counts only once it is handed in" in page
    page = open_page(browser, "/quiz/week-1/1")
    assert "One attempt: what you hand in is final" in page
    form = form_with(page, "save")
    for part in quiz.questions[0].variant.parts:
        enter(form, part, right_response(part))
    follow(browser, form.send(browser))
    assert "Go on with question 2" in open_page(browser, "/quiz/week-1")
    page = open_page(browser, "/quiz/week-1/hand-in")
    assert "what you hand in is final" in page
    follow(browser, form_to(page, "/hand-in").send(browser))
    page = open_page(browser, "/quiz/week-1/1")
    assert "1 of 1 attempt used" in page and "is final" not in page


def test_a_second_attempt_has_a_new_variant_of_a_choice(site: Site, signed_in: SignedIn, at) -> None:
    quiz = quiz_of(draw(site, PLAIN), "ada")
    browser = signed_in("ada")
    part = quiz.questions[2].variant.parts[0]
    page = open_page(browser, "/quiz/week-1/3")
    page = follow(
        browser,
        form_with(page, "save").fill(f"pick.{part.id}", wrong_responses(part)[0][0]).send(browser, "hand_in"),
    )
    assert "✗ not right" in page
    page = follow(browser, form_with(page, "again").send(browser))
    form = form_with(page, "save")
    assert ("retry", "1") in form.fields
    variant = site.store.sittings.variants(quiz, 3)[1]
    page = follow(
        browser,
        form.fill(f"pick.{part.id}", right_response(variant.parts[0])).send(browser, "hand_in"),
    )
    assert "2 of 2 attempts used" in page
    assert [a.report.score for a in site.store.attempts(student="ada")] == [0.0, quiz.questions[2].points / 2]


def test_each_attempt_stands_with_its_own_variant(site: Site, signed_in: SignedIn, at) -> None:
    rules = PLAIN.replace("credit: [1, 0.5]", "credit: [1, 0.7]\nretry: new-variant")
    quiz = quiz_of(draw(site, rules), "ada")
    browser = signed_in("ada")
    first = quiz.questions[0].variant
    form = form_with(open_page(browser, "/quiz/week-1/1"), "save")
    number, choice = first.parts
    form.fill(f"text.{number.id}", right_response(number))
    form.fill(f"pick.{choice.id}", wrong_responses(choice)[0][0])
    page = follow(browser, form.send(browser, "hand_in"))
    assert "◐ partly right" in page and "earlier attempt" not in page
    page = follow(browser, form_with(page, "again").send(browser))
    # The new variant is asked, and the old answer stands with the old one.
    second = site.store.sittings.variants(quiz, 1)[1]
    question, earlier = page.split("Your earlier attempt</h2>")
    assert second.stem.html in question and first.stem.html not in question
    assert "partly right" not in question.partition('<div class="stem"')[2]
    assert "Attempt 1, with another variant:" in earlier
    assert first.stem.html in earlier and right_response(number) in earlier
    form = form_with(page, "save")
    form.fill(f"text.{second.parts[0].id}", wrong_responses(second.parts[0])[0][0])
    form.fill(f"pick.{second.parts[1].id}", wrong_responses(second.parts[1])[0][0])
    page = follow(browser, form.send(browser, "hand_in"))
    last, earlier = page.split("Your earlier attempt</h2>")
    assert "Your last attempt" in last and "✗ not right" in last
    counts = '<span class="badge right">counts</span>'
    assert counts not in last and counts in earlier


def test_hints_cost_and_are_shown_again(site: Site, signed_in: SignedIn, at) -> None:
    quiz = quiz_of(draw(site, PLAIN), "ada")
    number = next(q.number for q in quiz.questions if q.variant.hints)
    browser = signed_in("ada")
    page = open_page(browser, f"/quiz/week-1/{number}")
    hint = quiz.questions[number - 1].variant.hints[0]
    assert "With it, this attempt can earn at most" in page
    form = form_with(page, "hint.1")
    page = follow(browser, form.send(browser, "hint.1"))
    assert "Hint 1:" in page
    assert hint.html in page
    follow(browser, form.send(browser, "hint.1"))  # the back button, and again
    assert site.store.sittings.hints(quiz, Mode.MARKS) == {number: 1}
    # What isn't taken isn't logged, whatever a forged form says.
    for do in ("hint.0", "hint." + "x" * 100_000, "hint"):
        form.buttons = [("do", do)]
        follow(browser, form.send(browser))
    (entry,) = [entry for _, entry in site.store.audit.newest(10, action="quiz.hint")]
    assert entry.details == {"hint": 1}


def test_every_field_comes_back_as_it_was_saved(site: Site, signed_in: SignedIn, at) -> None:
    draw(site, PLAIN)
    browser = signed_in("ada")
    page = open_page(browser, "/quiz/week-1/2")
    form = form_with(page, "save")
    places = sorted(name for name in form.choices if name.startswith("place."))
    form.fill(places[0], "b")
    form.fill(places[2], "a")
    page = follow(browser, form.send(browser))
    assert "is missing" in page
    form = form_with(page, "save")
    assert (places[0], "b") in form.fields
    assert (places[1], "") in form.fields
    assert (places[2], "a") in form.fields
    page = open_page(browser, "/quiz/week-1/4")
    form = form_with(page, "save")
    pairs = sorted(name for name in form.choices if name.startswith("pair."))
    page = follow(browser, form.fill(pairs[1], "b").send(browser))
    assert (pairs[1], "b") in form_with(page, "save").fields


def test_two_windows_keep_both_texts(site: Site, signed_in: SignedIn, at) -> None:
    quiz = quiz_of(draw(site, PLAIN), "ada")
    part = quiz.questions[0].variant.parts[0]
    browser = signed_in("ada")
    page = open_page(browser, "/quiz/week-1/1")
    first, second = form_with(page, "save"), form_with(page, "save")
    follow(browser, first.fill(f"text.{part.id}", "0.1, 0.9").send(browser))
    answer = second.fill(f"text.{part.id}", "0.2, 0.8").send(browser)
    assert answer.status_code == 409
    assert "another window saved a different answer" in answer.text
    assert "0.1, 0.9" in answer.text
    again = form_with(answer.text, "save")
    assert (f"text.{part.id}", "0.2, 0.8") in again.fields
    page = follow(browser, again.send(browser))
    assert (f"text.{part.id}", "0.2, 0.8") in form_with(page, "save").fields


@pytest.mark.parametrize("limit", ["", "attempts: 1\n"])
def test_two_windows_at_the_same_moment_have_one_attempt(
    site: Site, signed_in: SignedIn, at, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    plan = f"title: Week 1\n{limit}sections:\n  - items: [scale-symbol, claims-solve-or-mitigate]\n"
    quiz = quiz_of(draw(site, plan), "ada")
    part = quiz.questions[0].variant.parts[0]
    letters = [right_response(part), wrong_responses(part)[0][0]]
    first, second = signed_in("ada"), signed_in("ada")
    form = form_with(open_page(first, "/quiz/week-1/1"), "save").fill(f"pick.{part.id}", letters[1])
    read, pages = hand_in_module.read_answers, []

    def read_answers(*arguments, **more):
        result = read(*arguments, **more)
        if not pages:  # the first window has read its answer, and hasn't recorded it yet
            pages.append("")
            other = form_with(open_page(second, "/quiz/week-1/1"), "save").fill(f"pick.{part.id}", letters[0])
            pages[0] = follow(second, other.send(second, "hand_in"))
        return result

    monkeypatch.setattr(hand_in_module, "read_answers", read_answers)
    page = follow(first, form.send(first, "hand_in"))
    assert "Question 1 is handed in." in pages[0]
    assert "Question 1 was handed in from another window meanwhile." in page
    (attempt,) = site.store.attempts(student="ada")
    assert attempt.response is not None and dict(attempt.response.answers) == {part.id: letters[0]}


REDRAWN = "title: Week 1\nattempts: 1\ndeadline: 2026-11-02T10:00Z\nsections:\n  - items: [greedy-path]\n"


def draw_again(site: Site, quiz: Quiz) -> Quiz:
    plan = read_blueprint(Path(site.folder) / "blueprints" / "week-1.yaml")
    (again,) = compose(
        plan, site.bank, [quiz.student], secret=site.course.secret(), name="week-1", attempt=1, stored=[quiz]
    )
    site.store.save_quizzes([again])
    return again


def save_right(site: Site, quiz: Quiz) -> None:
    part = quiz.questions[0].variant.parts[0]
    site.store.drafts.save(
        quiz, [DraftField(1, part.id, right_response(part), 0)], now=NOW, ends=quiz.rules.deadline
    )


def test_of_a_quiz_drawn_twice_the_newer_answers_are_handed_in_first(
    site: Site, signed_in: SignedIn, at
) -> None:
    (first, *_) = draw(site, REDRAWN)
    second = draw_again(site, first)
    save_right(site, first)
    save_right(site, second)
    at(NOW + timedelta(hours=1, seconds=20))
    SittingWatch()(site)
    by_quiz = {attempt.quiz: attempt.report.score for attempt in site.store.attempts(student="ada")}
    assert by_quiz == {second.id: second.questions[0].points}


def test_what_was_saved_before_a_second_draw_is_handed_in_where_the_newer_is_blank(
    site: Site, signed_in: SignedIn, at
) -> None:
    (first, *_) = draw(site, REDRAWN)
    save_right(site, first)
    draw_again(site, first)
    at(NOW + timedelta(hours=1, seconds=20))
    SittingWatch()(site)
    by_quiz = {attempt.quiz: attempt.report.score for attempt in site.store.attempts(student="ada")}
    assert by_quiz == {first.id: first.questions[0].points}


def test_a_page_of_an_earlier_draw_answers_nothing(site: Site, signed_in: SignedIn, at) -> None:
    (first, *_) = draw(site, REDRAWN)
    browser = signed_in("ada")
    part = first.questions[0].variant.parts[0]
    form = form_with(open_page(browser, "/quiz/week-1/1"), "save")
    name = next(name for name in form.names() if name.endswith(part.id) and "." in name and "re" not in name)
    second = draw_again(site, first)
    save_right(site, second)
    page = follow(browser, form.send(browser, "hand_in"))  # as it was, without an answer
    assert "drawn again since" in page
    refused = form.fill(name, right_response(part)).send(browser, "hand_in")
    assert refused.status_code == 409 and "answer to the earlier one" in refused.text
    assert not list(site.store.attempts(student="ada"))
    (draft,) = site.store.drafts.of_quiz(second)
    assert draft.text == right_response(second.questions[0].variant.parts[0])
    fields = dict(form.fields)
    saved = browser.post("/quiz/week-1/1/save", data=fields)
    assert [field["state"] for field in saved.json()["fields"]] == ["closed"]


def test_handing_in_everything_names_blanks(site: Site, signed_in: SignedIn, at) -> None:
    quiz = quiz_of(draw(site, PLAIN), "ada")
    browser = signed_in("ada")
    for question in quiz.questions[:3]:
        page = open_page(browser, f"/quiz/week-1/{question.number}")
        form = form_with(page, "save")
        for part in question.variant.parts:
            enter(form, part, right_response(part))
        page = follow(browser, form.send(browser, f"save.{question.number + 1}"))
    page = open_page(browser, "/quiz/week-1/hand-in")
    assert "Not fully answered" in page
    page = follow(browser, form_to(page, "/hand-in").send(browser))
    assert "3 answers handed in." in page
    assert sum(a.report.score or 0 for a in site.store.attempts(student="ada")) == sum(
        q.points for q in quiz.questions[:3]
    )


def test_pairs_without_a_letter_are_named_before(site: Site, signed_in: SignedIn, at) -> None:
    quiz = quiz_of(draw(site, PLAIN), "ada")
    browser = signed_in("ada")
    (part,) = quiz.questions[3].variant.parts
    form = form_with(open_page(browser, "/quiz/week-1/4"), "save")
    first, *others = part.prompts
    page = follow(browser, form.fill(f"pair.{part.id}.{first.id}", "b").send(browser))
    assert "partly answered" in page
    answer = form_with(page, "save").send(browser, "hand_in")
    assert answer.status_code == 200
    assert "with a blank answer?" in answer.text
    assert all(prompt.text.html in answer.text for prompt in others)
    assert first.text.html not in answer.text
    for question in quiz.questions[:3]:
        form = form_with(open_page(browser, f"/quiz/week-1/{question.number}"), "save")
        for other in question.variant.parts:
            enter(form, other, right_response(other))
        follow(browser, form.send(browser))
    page = open_page(browser, "/quiz/week-1/hand-in")
    assert "Everything is answered." not in page
    assert "Not fully answered yet:" in page
    assert 'href="/quiz/week-1/4"' in page and 'href="/quiz/week-1/1"' not in page
    assert not list(site.store.attempts(student="ada"))
    page = follow(browser, form_to(page, "/hand-in").send(browser))
    assert "4 answers handed in." in page


def test_a_question_without_an_answer_is_not_wrong_before_the_end(
    site: Site, signed_in: SignedIn, at
) -> None:
    quiz = quiz_of(draw(site, PLAIN + "deadline: 2026-11-02T09:10+00:00\n"), "ada")
    browser = signed_in("ada")
    part = quiz.questions[2].variant.parts[0]
    form = form_with(open_page(browser, "/quiz/week-1/3"), "save")
    follow(browser, form.fill(f"pick.{part.id}", right_response(part)).send(browser))
    page = follow(browser, form_to(open_page(browser, "/quiz/week-1/hand-in"), "/hand-in").send(browser))
    assert "1 answer handed in." in page
    assert "no answer yet" in page
    assert [a.item for a in site.store.attempts(student="ada")] == ["scale-symbol"]
    assert "not right" not in open_page(browser, "/marks")
    at(NOW + timedelta(minutes=11))
    SittingWatch()(site)
    (results,) = site.results(["ada"])
    assert sorted(result.report.score or 0 for result in results.items) == [0, 0, 0, 1]
    assert "1 of 4 questions handed in" in open_page(browser, "/work")
    # A blank earns nothing, and isn't called a wrong answer.
    page = open_page(browser, "/marks")
    assert page.count("○ left blank") == 6  # in the table of contents and above each
    assert 'badge wrong">✗ not right' not in page


def enter(form: PageForm, part: Part, text: str) -> None:
    if f"text.{part.id}" in form.names():
        form.fill(f"text.{part.id}", text)
    elif f"pick.{part.id}" in form.choices:
        form.fill(f"pick.{part.id}", *text.replace(" ", "").split(","))
    elif part.prompts:
        for pair in text.split(", "):
            number, letter = pair.split("-")
            form.fill(f"pair.{part.id}.{number}", letter)
    else:
        for place, letter in enumerate(text.split(), start=1):
            form.fill(f"place.{part.id}.{place}", letter)


def test_an_exam_begins_ends_by_itself_and_hides_results(site: Site, signed_in: SignedIn, at) -> None:
    quiz = quiz_of(draw(site, EXAM, "exam"), "ada")
    browser = signed_in("ada")
    assert browser.get("/quiz/exam/1").status_code == 404
    page = open_page(browser, "/quiz/exam")
    assert "30 minutes" in page
    page = follow(browser, form_to(page, "/begin").send(browser))
    assert "Time left" in page
    assert 'data-seconds="1800"' in page
    part = quiz.questions[0].variant.parts[0]
    stale = form_with(page, "save")
    follow(browser, stale.fill(f"text.{part.id}", right_response(part)).send(browser))
    at(NOW + timedelta(minutes=31))
    SittingWatch()(site)
    attempts = list(site.store.attempts(student="ada", mode=Mode.MARKS))
    assert [a.report.score for a in attempts if a.item == quiz.questions[0].variant.item] == [
        quiz.questions[0].points
    ]
    page = open_page(browser, "/quiz/exam/1")
    assert "isn't shown now" in page
    assert "✓ right" not in page
    answer = stale.fill(f"text.{part.id}", "too late").send(browser)
    assert answer.status_code == 409
    assert "too late" in answer.text
    assert "The quiz is over" in answer.text
    assert "The quiz is over" in open_page(browser, "/quiz/exam/hand-in")


def test_the_deadline_between_two_clicks(site: Site, signed_in: SignedIn, at) -> None:
    text = PLAIN.replace("sections:", "deadline: 2026-11-02T09:30+00:00\nsections:")
    quiz = quiz_of(draw(site, text), "ada")
    browser = signed_in("ada")
    part = quiz.questions[0].variant.parts[0]
    form = form_with(open_page(browser, "/quiz/week-1/1"), "save")
    page = follow(browser, form.fill(f"text.{part.id}", "0.1, 0.2, 0.7").send(browser))
    form = form_with(page, "save")
    at(NOW + timedelta(minutes=40))
    page = follow(browser, form.send(browser, "hand_in"))
    assert "This quiz was open until" in page
    assert "What was saved by then is handed in." in page
    assert sum(not attempt.is_blank for attempt in site.store.attempts(student="ada")) == 1
    assert "Your attempt" in page


@pytest.mark.parametrize("release", ["immediately", "after closes"])
def test_nothing_tells_an_answer_while_one_is_still_taken(
    site: Site, folder: Path, signed_in: SignedIn, at, release: str
) -> None:
    if release != "immediately":
        path = folder / "course.yaml"
        rule = f"  assignments:\n    week-1: {{closes: 2026-11-02T09:30, release: {release}}}\n"
        path.write_text(path.read_text(encoding="utf-8") + rule, encoding="utf-8")
        site._looked = -1e9
    rules = "attempts: 2\ndeadline: 2026-11-02T09:30:59Z\nshow_before: nothing\nshow_after: solution\n"
    plan = f"title: Week 1\n{rules}sections:\n  - items: [chain-rule-probability]\n"
    quiz = quiz_of(draw(site, plan), "ada")
    browser, variant = signed_in("ada"), quiz.questions[0].variant
    part = variant.parts[0]
    form = form_with(open_page(browser, "/quiz/week-1/1"), "save")
    (name,) = {name for name in form.names() if name in (f"text.{part.id}", f"pick.{part.id}")}
    follow(browser, form.fill(name, wrong_responses(part)[0][0]).send(browser, "hand_in"))
    end = NOW + timedelta(minutes=31)
    pages = ("/quiz/week-1/1", "/quiz/week-1", "/marks", "/work")
    for late, is_shown in ((5, False), (12, True)):
        at(end + timedelta(seconds=late))
        texts = [open_page(browser, path) for path in pages]
        assert ('value="hand_in"' in texts[0]) != is_shown
        for text in (texts[0], texts[2]):
            assert ("Worked solution" in text) == is_shown
            assert ("not right" in text) == is_shown


def test_nobody_with_all_points_is_asked_again(site: Site, signed_in: SignedIn, at) -> None:
    quiz = quiz_of(draw(site, PLAIN), "ada")
    browser = signed_in("ada")
    form = form_with(open_page(browser, "/quiz/week-1/3"), "save")
    part = quiz.questions[2].variant.parts[0]
    page = follow(browser, form.fill(f"pick.{part.id}", right_response(part)).send(browser, "hand_in"))
    assert "1 of 2 attempts used" in page
    assert "Try again" not in page


def test_another_students_quiz_is_not_there(site: Site, signed_in: SignedIn, at) -> None:
    draw(site, PLAIN, students=("bob",))
    browser = signed_in("ada")
    for path in ("/quiz/week-1", "/quiz/week-1/1", "/quiz/week-1/hand-in", "/quiz/nothing"):
        assert browser.get(path).status_code == 404


def test_autosave_answers_in_json(site: Site, signed_in: SignedIn, at) -> None:
    quiz = quiz_of(draw(site, PLAIN), "ada")
    part = quiz.questions[0].variant.parts[0]
    browser = signed_in("ada")
    (token,) = [v for n, v in form_with(open_page(browser, "/quiz/week-1/1"), "save").fields if n == "csrf"]
    headers = {"x-csrf-token": token, "accept": "application/json"}

    def save(text: str, revision: int):
        data = {f"revision.{part.id}": str(revision), f"text.{part.id}": text, "retry": "0"}
        return browser.post("/quiz/week-1/1/save", data=data, headers=headers)

    first = save("0.1", 0).json()
    (field,) = first["fields"]
    assert {name: field[name] for name in ("part", "state", "revision", "text")} == {
        "part": part.id, "state": "saved", "revision": 1, "text": "0.1"
    }  # fmt: skip
    assert first["saved"] == "09:00:00"
    # One number of several: saved, and not readable, which is known before the field is left.
    assert (field["trouble"], first["question"]["words"]) == ("can't be read", "can't be read")
    read = save("1/8, x", 1).json()["fields"][0]
    assert read["revision"] == 2
    assert "aren't part of a number" in read["fault"]
    right = save(right_response(part), 2).json()["fields"][0]
    assert right["fault"] == ""
    assert len(right["numbers"][0]) == part.key.shape[0]
    conflict = save("something else", 1).json()["fields"][0]
    assert conflict["state"] == "conflict"
    assert conflict["text"] == right_response(part)
    assert browser.post("/quiz/week-1/1/save", data={}).status_code == 403
    assert browser.post("/quiz/nothing/1/save", data={}, headers=headers).status_code == 404
    odd = browser.post("/quiz/week-1/1/save", data={"revision.zzz": "0", "text.zzz": "1"}, headers=headers)
    assert odd.status_code == 400
    assert "no field" in odd.json()["error"]


def test_a_deadline_that_was_moved_forward_ends_sittings_too(site: Site, signed_in: SignedIn, at) -> None:
    students = tuple(f"s{n}" for n in range(25))
    quizzes = draw(site, EXAM, "exam", students)
    for quiz in quizzes:
        site.store.timed.begin(quiz, NOW, NOW + timedelta(minutes=30))
    site.store.sittings.move_deadline("exam", NOW + timedelta(minutes=5))
    at(NOW + timedelta(minutes=6))
    SittingWatch()(site)
    assert site.store.timed.not_handed_in() == [], "one of them is looked at, and then all of its class"


def test_a_moved_deadline_is_seen_soon_beside_many_other_sittings(
    site: Site, signed_in: SignedIn, at
) -> None:
    students = tuple(f"s{n}" for n in range(25))
    for name in ("exam", "other"):
        for quiz in draw(site, EXAM, name, students):
            site.store.timed.begin(quiz, NOW, NOW + timedelta(minutes=30))
    site.store.sittings.move_deadline("other", NOW + timedelta(minutes=5), ["s3"])
    at(NOW + timedelta(minutes=6))
    watch = SittingWatch()
    for _ in range(5):
        watch(site)
    left = {(sitting.quiz_id, sitting.student) for sitting in site.store.timed.not_handed_in()}
    (theirs,) = site.store.quizzes("other", "s3")
    assert len(left) == 49 and (theirs.id, "s3") not in left


def test_a_window_that_knows_an_older_deadline_opens_nothing_again(
    site: Site, signed_in: SignedIn, at
) -> None:
    """For some seconds saving goes by the rules that it has read; a sitting that is closed stays so."""
    quiz = quiz_of(draw(site, PLAIN), "ada")
    part = quiz.questions[0].variant.parts[0]
    browser = signed_in("ada")
    (token,) = [v for n, v in form_with(open_page(browser, "/quiz/week-1/1"), "save").fields if n == "csrf"]
    headers = {"x-csrf-token": token, "accept": "application/json"}

    def save(text: str, revision: int) -> str:
        data = {f"revision.{part.id}": str(revision), f"text.{part.id}": text, "retry": "0"}
        answer = browser.post("/quiz/week-1/1/save", data=data, headers=headers)
        return answer.json()["fields"][0]["state"]

    assert save("0.1", 0) == "saved"
    site.store.sittings.move_deadline("week-1", NOW + timedelta(minutes=5))
    at(NOW + timedelta(minutes=6))
    SittingWatch()(site)
    assert site.store.timed.not_handed_in() == []
    assert save(right_response(part), 1) == "closed"
    assert site.store.timed.not_handed_in() == []
    (draft,) = site.store.drafts.of_quiz(quiz)
    assert draft.text == "0.1"


WORDS = """id: t-words
title: In words
source: {document: background}
difficulty: 2
bloom: understand
topics: [t-words]
stem: Explain why weights sum to 1.
answer:
  type: free_text
  max_words: 40
  rubric:
    - {id: softmax, title: the function, text: Names softmax., points: 1}
    - {id: division, title: what it does, text: Says that it divides by the sum., points: 2}
  sample: Softmax divides each exponential by their sum.
hints: [Which function makes them?]
"""


def test_words_wait_for_a_person(site: Site, folder: Path, signed_in: SignedIn, at) -> None:
    (folder / "problems").mkdir(exist_ok=True)
    (folder / "problems" / "t-words.yaml").write_text(WORDS, encoding="utf-8")
    site._looked = 0.0
    quiz = quiz_of(draw(site, "title: W\nattempts: 2\nsections:\n  - items: [t-words]\n", "words"), "ada")
    browser = signed_in("ada")
    page = open_page(browser, "/quiz/words/1")
    assert "At most 40 words" in page or "at most 40 words" in page
    assert "the function (1 point)" in page
    part = quiz.questions[0].variant.parts[0]
    text = "Softmax:\r\nit divides <b>by</b> the sum."
    form = form_with(page, "save").fill(f"text.{part.id}", text)
    page = follow(browser, form.send(browser))
    assert "Softmax:\nit divides &lt;b&gt;by&lt;/b&gt; the sum.</textarea>" in page
    page = follow(browser, form_with(page, "save").send(browser, "hand_in"))
    assert "to be marked" in page
    assert "divides each exponential" not in page
    page = open_page(browser, "/quiz/words")
    assert "to be marked" in page
    assert "… / 3" in page and "0 / 3" not in page


def test_words_are_counted_and_too_many_are_refused_until_the_end(
    site: Site, folder: Path, signed_in: SignedIn, at
) -> None:
    (folder / "problems").mkdir(exist_ok=True)
    (folder / "problems" / "t-words.yaml").write_text(WORDS, encoding="utf-8")
    site._looked = 0.0
    plan = "title: W\nattempts: 1\ntime_limit: 30\nsections:\n  - items: [t-words]\n"
    quiz = quiz_of(draw(site, plan, "words"), "ada")
    (part,) = quiz.questions[0].variant.parts
    browser = signed_in("ada")
    follow(browser, form_to(open_page(browser, "/quiz/words"), "/begin").send(browser))
    page = open_page(browser, "/quiz/words/1")
    assert ">0 words, 40 left</p>" in page
    form = form_with(page, "save").fill(f"text.{part.id}", "Softmax divides.")
    assert ">2 words, 38 left</p>" in follow(browser, form.send(browser))
    form = form_with(open_page(browser, "/quiz/words/1"), "save").fill(f"text.{part.id}", "word " * 42)
    page = follow(browser, form.send(browser))
    assert "42 words, 2 too many" in page
    assert "This has 42 words. Expected: at most 40 words." in page
    assert '<span class="hidden"> is too long</span>' in page
    page = follow(browser, form_with(page, "save").send(browser, "hand_in"))
    assert "Nothing is handed in yet" in page
    assert list(site.store.attempts(student="ada")) == []
    page = follow(browser, form_to(open_page(browser, "/quiz/words/hand-in"), "/hand-in").send(browser))
    assert "the answer to question 1 is too long." in page
    # At the end nobody can shorten it any more: a person marks it, and sees how long it is.
    at(NOW + timedelta(minutes=31))
    open_page(browser, "/quiz/words")
    (attempt,) = site.store.attempts(student="ada")
    assert attempt.report.needs_person
    assert "Your answer has 42 words; at most 40 were asked for." in attempt.report.notes


def test_a_save_says_how_the_question_stands(site: Site, signed_in: SignedIn, at) -> None:
    plan = "title: W\nattempts: 2\nsections:\n  - items: [softmax-weights, softmax-ratio]\n"
    quiz = quiz_of(draw(site, plan), "ada")
    number, part = 1, quiz.questions[0].variant.parts[0]
    browser = signed_in("ada")
    form = form_with(open_page(browser, f"/quiz/week-1/{number}"), "save")
    headers = {"x-csrf-token": dict(form.fields)["csrf"], "accept": "application/json"}
    revision = 0

    def save(text: str) -> tuple[str, str]:
        nonlocal revision
        data = {f"revision.{part.id}": str(revision), f"text.{part.id}": text, "retry": "0"}
        answer = browser.post(f"/quiz/week-1/{number}/save", data=data, headers=headers).json()
        revision = answer["fields"][0]["revision"]
        return answer["question"]["sign"], answer["question"]["words"]

    def shown() -> str:
        return strip_of(open_page(browser, f"/quiz/week-1/{number}"))[number]

    for text, words in (
        ("0.1, x", "can't be read"),
        (right_response(part), "saved, not handed in"),
        (" ", "no answer yet"),
        (wrong_responses(part)[0][0], "saved, not handed in"),
    ):
        assert save(text)[1] == words
        assert words in shown()
    follow(browser, form_with(open_page(browser, f"/quiz/week-1/{number}"), "save").send(browser, "hand_in"))
    handed = shown()
    # Another attempt is open: what is typed for it isn't handed in, what stood there before is.
    assert save("0.5, y")[1] == "can't be read"
    sign, words = save(wrong_responses(part)[0][0])
    assert f"{sign} {words}" in handed


def test_another_windows_newer_text_is_not_handed_in_unseen(site: Site, signed_in: SignedIn, at) -> None:
    plan = "title: W\nattempts: 1\nsections:\n  - items: [softmax-weights]\n"
    part = quiz_of(draw(site, plan), "ada").questions[0].variant.parts[0]
    browser, name = signed_in("ada"), f"text.{part.id}"
    wrong = wrong_responses(part)[0][0]
    follow(browser, form_with(open_page(browser, "/quiz/week-1/1"), "save").fill(name, wrong).send(browser))
    first = form_with(open_page(browser, "/quiz/week-1/1"), "save")
    other = form_with(open_page(browser, "/quiz/week-1/1"), "save")
    follow(browser, other.fill(name, right_response(part)).send(browser))
    # The first window shows the older text, unchanged: neither text is handed in before its student chooses.
    refused = first.send(browser, "hand_in")
    assert refused.status_code == 409
    assert right_response(part) in refused.text and wrong in refused.text
    assert list(site.store.attempts(student="ada")) == []
    follow(browser, form_with(refused.text, "save").send(browser, "hand_in"))
    (attempt,) = site.store.attempts(student="ada")
    assert attempt.response is not None and attempt.response.answers == {part.id: wrong}


def test_what_a_blank_is_confirmed_for_is_what_is_handed_in(site: Site, signed_in: SignedIn, at) -> None:
    quiz = quiz_of(draw(site, PLAIN), "ada")
    part = quiz.questions[0].variant.parts[0]
    browser, name = signed_in("ada"), f"text.{part.id}"
    form = form_with(open_page(browser, "/quiz/week-1/1"), "save").fill(name, right_response(part))
    asked = form.send(browser, "hand_in").text
    other = form_with(open_page(browser, "/quiz/week-1/1"), "save")
    follow(browser, other.fill(name, wrong_responses(part)[0][0]).send(browser))
    sure = form_with(asked, "hand_in.sure").send(browser, "hand_in.sure")
    assert sure.status_code == 409
    assert list(site.store.attempts(student="ada")) == []


def test_a_text_that_is_not_handed_in_is_shown(
    site: Site, signed_in: SignedIn, at, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = "title: W\nattempts: 1\nsections:\n  - items: [softmax-weights]\n"
    quiz = quiz_of(draw(site, plan), "ada")
    part = quiz.questions[0].variant.parts[0]
    browser, name = signed_in("ada"), f"text.{part.id}"
    wrong, record = wrong_responses(part)[0][0], site.store.record_quiz

    def record_later(*details, **more):
        (draft,) = site.store.drafts.of_quiz(quiz)
        newer = DraftField(1, part.id, right_response(part), draft.revision)
        assert [str(done.state) for done in site.store.drafts.save(quiz, [newer], now=NOW)] == ["saved"]
        return record(*details, **more)

    monkeypatch.setattr(site.store, "record_quiz", record_later)
    form = form_with(open_page(browser, "/quiz/week-1/1"), "save").fill(name, wrong)
    page = follow(browser, form.send(browser, "hand_in"))
    (attempt,) = site.store.attempts(student="ada")
    assert attempt.response is not None and attempt.response.answers == {part.id: wrong}
    assert "This was saved in another window, and isn&#39;t handed in" in page or (
        "This was saved in another window, and isn't handed in" in page
    )
    assert right_response(part) in page
    assert "a later text isn" in strip_of(page)[1]


def strip_of(page: str) -> dict[int, str]:
    """Return what stands beside each number above a question, seen and spoken."""
    nav = page[page.index('<nav class="strip"') :].partition("</nav>")[0]
    links = re.findall(r"<a [^>]*data-number=\"(\d+)\"[^>]*>(.*?)</a>", nav)
    return {int(number): html.unescape(re.sub("<[^>]*>", "", inner)) for number, inner in links}


def test_the_total_alone_shows_no_question(site: Site, signed_in: SignedIn, at) -> None:
    quiz = quiz_of(draw(site, PLAIN + "show_before: score\n"), "ada")
    browser = signed_in("ada")
    part = quiz.questions[2].variant.parts[0]
    form = form_with(open_page(browser, "/quiz/week-1/3"), "save")
    page = follow(browser, form.fill(f"pick.{part.id}", right_response(part)).send(browser, "hand_in"))
    assert "handed in" in page
    assert "✓ right" not in page
    assert "Try again" in page  # an offer that wasn't made would tell
    page = open_page(browser, "/quiz/week-1")
    assert "<strong>1</strong> of" in page
    assert "✓ right" not in page
    assert "1 / 1" not in page


def test_the_back_button_after_handing_in_changes_nothing(site: Site, signed_in: SignedIn, at) -> None:
    quiz = quiz_of(draw(site, PLAIN), "ada")
    browser = signed_in("ada")
    part = quiz.questions[2].variant.parts[0]
    form = form_with(open_page(browser, "/quiz/week-1/3"), "save")
    follow(browser, form.fill(f"pick.{part.id}", wrong_responses(part)[0][0]).send(browser, "hand_in"))
    page = follow(browser, form.send(browser, "hand_in"))
    assert "handed in already" in page
    stale = form.fill(f"pick.{part.id}", right_response(part)).send(browser, "hand_in")
    assert stale.status_code == 409
    assert "You have already handed in your answer, so this wasn" in stale.text
    page = follow(browser, form_with(stale.text, "again").send(browser))
    stale = form.fill(f"pick.{part.id}", "a").send(browser)
    assert stale.status_code == 409
    assert "has a new variant" in stale.text
    assert len(list(site.store.attempts(student="ada"))) == 1


def test_what_cannot_be_read_at_the_end_is_shown(site: Site, signed_in: SignedIn, at) -> None:
    quiz = quiz_of(draw(site, EXAM.replace("show_before: nothing", "show_before: feedback"), "exam"), "ada")
    browser = signed_in("ada")
    follow(browser, form_to(open_page(browser, "/quiz/exam"), "/begin").send(browser))
    number, part = 2, quiz.questions[1].variant.parts[0]
    form = form_with(open_page(browser, f"/quiz/exam/{number}"), "save")
    page = follow(browser, form.fill(f"text.{part.id}", "a half").send(browser))
    page = follow(browser, form_to(open_page(browser, "/quiz/exam/hand-in"), "/hand-in").send(browser))
    assert "Nothing is handed in yet: the answer to question 2 can&#39;t be read." in page
    at(NOW + timedelta(minutes=31))
    page = open_page(browser, f"/quiz/exam/{number}")
    assert "What you handed in" in page
    assert "a half" in page
    assert "unreadable" in page


def test_what_cannot_be_read_is_no_attempt(site: Site, signed_in: SignedIn, at) -> None:
    rules = "attempts: 3\ntime_limit: 30\nshow_before: verdict\n"
    plan = f"title: W\n{rules}sections:\n  - items: [softmax-weights]\n"
    (part,) = quiz_of(draw(site, plan), "ada").questions[0].variant.parts
    browser = signed_in("ada")
    follow(browser, form_to(open_page(browser, "/quiz/week-1"), "/begin").send(browser))
    form = form_with(open_page(browser, "/quiz/week-1/1"), "save").fill(f"text.{part.id}", "a half")
    page = follow(browser, form.send(browser, "hand_in"))
    assert "Attempt 1 of 3; an answer that can&#39;t be read uses none" in page
    at(NOW + timedelta(minutes=31))
    page = open_page(browser, "/quiz/week-1/1")
    assert "0 of 3 attempts used" in page
    assert "Attempt 1" not in page


FIXED = """id: t-fixed
title: Fixed numbers
source: {document: background}
difficulty: 1
bloom: apply
topics: [t-fixed]
stem: How much is 3 times 4?
answer: {type: number, key: "12", decimals: 0}
solution: It is 12.
"""


def test_numbers_of_a_single_variant_are_answered_again(
    site: Site, folder: Path, signed_in: SignedIn, at
) -> None:
    (folder / "problems").mkdir(exist_ok=True)
    (folder / "problems" / "t-fixed.yaml").write_text(FIXED, encoding="utf-8")
    site._looked = 0.0
    text = "title: F\nattempts: 2\nretry: new-variant\nsections:\n  - items: [t-fixed]\n"
    part = quiz_of(draw(site, text, "fixed"), "ada").questions[0].variant.parts[0]
    browser = signed_in("ada")
    form = form_with(open_page(browser, "/quiz/fixed/1"), "save").fill(f"text.{part.id}", "13")
    page = follow(browser, form.send(browser, "hand_in"))
    assert "✗ not right" in page and "with a new variant" not in page
    form = form_with(page, "save").fill(f"text.{part.id}", "12")
    page = follow(browser, form.send(browser, "hand_in"))
    assert "✓ right" in page and "2 of 2 attempts used" in page


def test_a_further_attempt_that_can_earn_no_more_is_explained(site: Site, signed_in: SignedIn, at) -> None:
    quiz = quiz_of(draw(site, PLAIN.replace("[1, 0.5]", "[1, 0.25]")), "ada")
    browser = signed_in("ada")
    part = quiz.questions[0].variant.parts[0]
    form = form_with(open_page(browser, "/quiz/week-1/1"), "save").fill(
        f"text.{part.id}", right_response(part)
    )
    answer = form.send(browser, "hand_in")
    page = follow(browser, form_with(answer.text, "hand_in.sure").send(browser))
    assert "◐ partly right" in page
    assert "1 of 2 attempts used; another could earn" in page
    assert "which is no more than you have" in page


def test_a_question_without_another_variant_says_so(site: Site, signed_in: SignedIn, at) -> None:
    quiz = quiz_of(draw(site, PLAIN), "ada")
    browser = signed_in("ada")
    part = quiz.questions[1].variant.parts[0]
    form = form_with(open_page(browser, "/quiz/week-1/2"), "save")
    enter(form, part, wrong_responses(part)[0][0])
    page = follow(browser, form.send(browser, "hand_in"))
    assert "there is no other variant, so this was the last" in page
    assert "Try again" not in page


def test_a_sitting_that_cannot_be_handed_in_is_noted_once_and_tried_again(
    site: Site, signed_in: SignedIn, at, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    quiz = quiz_of(draw(site, EXAM, "exam"), "ada")
    site.store.timed.begin(quiz, NOW, NOW + timedelta(minutes=30))
    at(NOW + timedelta(minutes=31))
    watch = SittingWatch()

    def away(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(site.store, "record_quiz", away)
        watch(site)
        watch(site)
    assert caplog.text.count("the disk is full") == 1
    watch(site)
    assert site.store.timed.not_handed_in() == []


def test_a_mark_by_hand_counts_on_the_pages_of_the_quiz(site: Site, signed_in: SignedIn, at) -> None:
    quiz = quiz_of(draw(site, PLAIN), "ada")
    browser = signed_in("ada")
    first, second, *_ = quiz.questions
    part = first.variant.parts[0]
    form = form_with(open_page(browser, "/quiz/week-1/1"), "save")
    form.fill(f"text.{part.id}", right_response(part))
    form_with(form.send(browser, "hand_in").text, "hand_in.sure").send(browser, "hand_in.sure")
    columns = columns_of_quiz(quiz)
    for column, score, excused in ((columns[0], 1.5, False), (columns[1], None, True)):
        site.store.hand_marks.add(HandMark("ada", column.id, score, excused, "well argued", "ivy", NOW))
    page = open_page(browser, "/quiz/week-1")
    total = sum(question.points for question in quiz.questions) - second.points
    assert f"<strong>1.5</strong> of {points_text(total)}" in page
    assert f"1.5 / {first.points:g}" in page and "✎ set by hand" in page and "– excused" in page
    page = open_page(browser, "/quiz/week-1/1")
    assert f"What counts: 1.5 of {first.points:g}" in page and "well argued" in page
    assert "You are excused" in open_page(browser, "/quiz/week-1/2")
    assert f"What counts: 1.5 of {first.points:g}" in open_page(browser, "/marks")


def test_a_mark_by_hand_is_hidden_with_the_result(site: Site, signed_in: SignedIn, at) -> None:
    hidden = PLAIN.replace("credit: [1, 0.5]", "show_before: nothing\ndeadline: 2026-12-01T18:00Z")
    quiz = quiz_of(draw(site, hidden), "ada")
    site.store.hand_marks.add(
        HandMark("ada", columns_of_quiz(quiz)[0].id, 1.25, False, "well argued", "ivy", NOW)
    )
    browser = signed_in("ada")
    for path in ("/quiz/week-1", "/quiz/week-1/1"):
        page = open_page(browser, path)
        assert "1.25" not in page and "well argued" not in page and "set by hand" not in page
