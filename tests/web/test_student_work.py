"""My work, my marks and requests, as a student sees them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.answers import right_response, wrong_responses
from engine.model import Outcome
from engine.store.allowances import Allowance, AllowanceKind
from engine.web.site import Site
from tests.timing import clock_from
from tests.web.browsing import draw, follow, form_to, form_with, forms_of, open_page
from tests.web.conftest import SignedIn
from tests.web.course_work import hand_in_code

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
QUIZ = "title: Week 1\nattempts: 1\nsections:\n  - items: [greedy-path]\n"
RULES = """policies:
  timezone: Europe/Berlin
  assignments:
    week-1: {due: 2026-11-03, closes: 2026-11-05}
    softmax: {opens: 2026-11-10, due: 2026-11-20T12:00}
"""


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch):
    return clock_from(monkeypatch, NOW)


@pytest.fixture
def folder(folder: Path) -> Path:
    settings = folder / "course.yaml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text[: text.index("policies:")] + RULES, encoding="utf-8")
    return folder


def test_exercises_of_an_exam_are_there_when_it_is(site: Site, signed_in: SignedIn, clock) -> None:
    path = Path(site.folder) / "course.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "    exam: {opens: 2026-11-09}\n", encoding="utf-8")
    site._looked = 0.0
    exam = QUIZ.replace("sections:", "exercises: [layer-norm]\nsections:")
    draw(site, exam, "exam", is_published=False)
    page = "/code/layer-norm"

    def is_there() -> bool:
        browser = signed_in("ada")
        sent = dict(form_to(browser.get("/requests").text, "/requests").fields)["csrf"]
        values = {"csrf": sent, "way": "typed", "code": ""}
        statuses = {browser.get(page).status_code, browser.get(f"{page}/starter/py").status_code}
        taken = browser.post(f"{page}/hand-in", data=values).status_code != 404
        is_listed = page in open_page(browser, "/work")
        assert statuses == ({200} if is_listed else {404}) and taken is is_listed
        return is_listed

    assert not is_there(), "drawn, and not published"
    site.store.published.publish("exam", "ivy", NOW)
    assert not is_there(), "published, and not open"
    clock(NOW + timedelta(days=7))
    assert is_there()
    site.store.published.withdraw("exam")
    assert not is_there()


def test_work_stands_in_its_list_with_its_times(site: Site, signed_in: SignedIn, clock) -> None:
    draw(site, QUIZ)
    draw(site, QUIZ, "secret", is_published=False)
    browser = signed_in("ada")
    page = open_page(browser, "/work")
    assert page.index("Open now") < page.index("Week 1") < page.index("Later") < page.index("softmax")
    assert "Due <time" in page
    assert "Tue 3 Nov 2026, 23:59" in page
    assert "due soon" in page
    assert "Tue 10 Nov 2026, 00:00" in page
    assert browser.get("/quiz/secret").status_code == 404
    clock(NOW + timedelta(days=2))
    browser = signed_in("ada")
    assert "late" in open_page(browser, "/work")
    site.store.allowances.add(
        Allowance("ada", AllowanceKind.DEADLINE, "ivy", NOW, assignment="week-1", days=2)
    )
    page = open_page(browser, "/work")
    assert "extended for you" in page
    assert "Thu 5 Nov 2026, 23:59" in page
    site.store.allowances.add(Allowance("ada", AllowanceKind.EXCUSE, "ivy", NOW, assignment="week-1"))
    assert "excused" in open_page(browser, "/work")
    assert "excused" not in open_page(signed_in("bob"), "/work")


def work_card(page: str, title: str) -> str:
    """Return the card of one piece of work, and the list it stands in."""
    before, _, after = page.partition(f">{title}</a></h3>")
    assert after, page
    return before.rpartition("<h2")[2].partition("<")[0] + "|" + after.partition("</li>")[0]


LIMITED = RULES.replace("{opens: 2026-11-10, due: 2026-11-20T12:00}", "{RULE}")


@pytest.mark.parametrize(
    ("rules", "said", "offers"),
    [
        ("attempts: {count: 3}", "1 of 3 hand-ins that count is left.", True),
        ("attempts: {count: 2}", "All 2 hand-ins that count are made.", False),
        ("limits: {per_day: 3}", "1 of 3 hand-ins is left today.", True),
        ("limits: {per_day: 2}", "the next one is possible from Tue 3 Nov 2026, 00:00 on", False),
        ("due: 2026-11-20", "Handed in", True),
        ("closes: 2026-11-01", "Handed in", False),
    ],
)
def test_an_exercise_with_hand_ins_left_can_be_handed_in_again(
    site: Site, folder: Path, signed_in: SignedIn, clock, rules: str, said: str, offers: bool
) -> None:
    settings = folder / "course.yaml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text[: text.index("policies:")] + LIMITED.replace("RULE", rules), encoding="utf-8")
    site._looked = 0.0
    for source in ("a = 1\n", "b = 1\n"):
        hand_in_code(site, "ada", source)
    # What can't be read uses up none of them.
    hand_in_code(site, "ada", "c = \n", outcome=Outcome.FORMAT_ERROR)
    title = site.bank.title_of("softmax")
    card = work_card(open_page(signed_in("ada"), "/work"), title)
    assert ">Done" in card.partition("|")[0]
    assert said in card
    assert ("Hand in again" in card) is offers
    page = open_page(signed_in("ada"), "/code/softmax")
    assert ("You have made 2 hand-ins" in page) is ("count" in rules)


def test_a_quiz_with_attempts_left_can_be_answered_again(site: Site, signed_in: SignedIn) -> None:
    plan = QUIZ.replace("attempts: 1", "attempts: 2").replace("greedy-path", "softmax-weights")
    quiz = next(quiz for quiz in draw(site, plan) if quiz.student == "ada")
    (part,) = quiz.questions[0].variant.parts
    browser = signed_in("ada")
    for text, offers in ((wrong_responses(part)[0][0], True), (right_response(part), False)):
        form = form_with(open_page(browser, "/quiz/week-1/1"), "save").fill(f"text.{part.id}", text)
        follow(browser, form.send(browser, "hand_in"))
        card = work_card(open_page(browser, "/work"), "Week 1")
        assert ">Done" in card.partition("|")[0]
        assert ("Another attempt is possible at 1 question." in card) is offers
        assert ("Answer again" in card) is offers


def test_nothing_to_do_is_said(site: Site, folder: Path, signed_in: SignedIn) -> None:
    (folder / "course.yaml").write_text("title: Attention\n", encoding="utf-8")
    site._looked = 0.0
    browser = signed_in("ada")
    assert "Nothing to do yet" in open_page(browser, "/work")
    assert "No marks yet" in open_page(browser, "/marks")
    assert "No requests yet" in open_page(browser, "/requests")


def test_marks_come_with_reasons_and_receipts(site: Site, signed_in: SignedIn, clock) -> None:
    quiz = next(quiz for quiz in draw(site, QUIZ) if quiz.student == "ada")
    browser = signed_in("ada")
    (part,) = quiz.questions[0].variant.parts
    page = open_page(browser, "/quiz/week-1/1")
    follow(
        browser,
        form_with(page, "save").fill(f"text.{part.id}", right_response(part)).send(browser, "hand_in"),
    )
    page = open_page(browser, "/marks")
    assert "✓ right" in page
    assert 'data-receipt="answer"' in page
    assert "1 of 1 point" in page
    assert "<bdi>Week 1, question 1</bdi>" in page  # the title, as on all other pages of the student
    assert "week-1, question 1" not in page
    assert "✓ right" not in open_page(signed_in("bob"), "/marks")


def test_a_request_is_asked_once_and_withdrawn(site: Site, signed_in: SignedIn, clock) -> None:
    draw(site, QUIZ)
    browser = signed_in("ada")
    page = open_page(browser, "/requests?kind=extension&subject=week-1")
    (form,) = [form for form in forms_of(page) if ("kind", "extension") in form.fields]
    answer = form.fill("text", "   ").send(browser)
    assert answer.status_code == 400
    assert "The request says nothing" in answer.text
    form.fill("text", "I was ill.\r\n<b>Two days</b>")
    page = follow(browser, form.send(browser))
    follow(browser, form.send(browser))  # a double click
    assert "&lt;b&gt;Two days" in page
    assert "waiting for an answer" in page
    (request,) = site.store.requests.of_student("ada")
    other = signed_in("bob")
    token = dict(form_to(open_page(other, "/requests"), "").fields)["csrf"]
    assert other.post(f"/requests/{request.id}/withdraw", data={"csrf": token}).status_code == 404
    withdraw = form_to(open_page(browser, "/requests"), "/withdraw")
    page = follow(browser, withdraw.send(browser))
    assert "withdrawn by you" in page
    assert withdraw.send(browser).status_code == 400
    odd = form.fill("subject", "week-1")
    odd.fields = [(n, v) for n, v in odd.fields if n != "subject"] + [("subject", "another")]
    assert odd.send(browser).status_code == 400


def test_results_wait_for_their_release(site: Site, folder: Path, signed_in: SignedIn, clock) -> None:
    settings = folder / "course.yaml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(
        text.replace("closes: 2026-11-05}", "closes: 2026-11-05, release: after closes}"), encoding="utf-8"
    )
    site._looked = 0.0
    quiz = next(quiz for quiz in draw(site, QUIZ + "show_before: solution\n") if quiz.student == "ada")
    browser = signed_in("ada")
    (part,) = quiz.questions[0].variant.parts
    form = form_with(open_page(browser, "/quiz/week-1/1"), "save")
    pages = [follow(browser, form.fill(f"text.{part.id}", right_response(part)).send(browser, "hand_in"))]
    pages += [open_page(browser, path) for path in ("/quiz/week-1", "/work", "/marks")]
    for page in pages:
        assert "✓ right" not in page
        assert "1 of 1 point" not in page
    clock(NOW + timedelta(days=4))
    browser = signed_in("ada")
    for path in ("/quiz/week-1/1", "/quiz/week-1", "/marks"):
        assert "✓ right" in open_page(browser, path)
    # Who has answered nothing sees the solution, once it may be shown.
    assert "Worked solution" in open_page(signed_in("bob"), "/quiz/week-1/1")
