"""Quizzes for staff: from a blueprint to a published quiz with its key and deadlines."""

from __future__ import annotations

import threading
from datetime import UTC
from pathlib import Path

import pytest

from engine.commands import run
from engine.quiz import compose, read_blueprint
from engine.web.jobs import JobState
from engine.web.site import Site
from tests.web.conftest import SignedIn
from tests.web.course_work import QUIZ, draw_quiz, write_blueprint
from tests.web.forms_of_pages import form_token, send_form
from tests.web.jobs_of_site import result_of

PAGE = f"/staff/quizzes/of/{QUIZ}"


def test_a_faulty_blueprint_is_listed_with_its_line(site: Site, signed_in: SignedIn) -> None:
    write_blueprint(site.folder, "title: Faulty\nsections:\n  - itmes: [softmax-ratio]\n", "faulty")
    page = signed_in("ivy").get("/staff/quizzes").text
    assert "faulty.yaml:3:" in page and "itmes" in page
    assert "built in" in page


def test_drawing_in_the_background_is_the_draw_of_the_command(site: Site, signed_in: SignedIn) -> None:
    write_blueprint(site.folder)
    browser = signed_in("ivy")
    tried = send_form(browser, "/staff/quizzes", "/check", blueprint=QUIZ)
    page = result_of(site, browser, tried)
    assert "softmax-ratio" in page.text and "Nothing is stored" in page.text
    assert "Different keys" in page.text and "how many other right answers" in page.text
    assert "Earned before" not in page.text  # nobody has answered these items yet
    assert site.store.quiz_names() == []
    drawn = send_form(browser, "/staff/quizzes", "/draw", blueprint=QUIZ, name=QUIZ)
    page = result_of(site, browser, drawn).text
    assert "2 students have it." in page and "Nobody sees it until you publish it" in page
    stored = site.store.quizzes(QUIZ)
    assert [quiz.student for quiz in stored] == ["ada", "bob"]
    # the command finds everything as it would draw it, and a second draw changes nothing
    assert run(["quiz", "new", QUIZ, "--course", str(site.folder)]) == 0
    again = send_form(browser, "/staff/quizzes", "/draw", blueprint=QUIZ, name=QUIZ)
    assert "0 drawn now" in result_of(site, browser, again).text
    assert site.store.quizzes(QUIZ) == stored
    assert [entry.action for _, entry in site.store.audit.newest(5)] == ["quiz.draw", "quiz.draw"]


def test_a_site_with_workers_says_who_drew(site: Site, signed_in: SignedIn) -> None:
    """Two students aren't worth the queue; its server isn't even asked."""
    write_blueprint(site.folder)
    site.hand_in_desk.queue_address = "postgresql://nobody@127.0.0.1:1/nothing"
    drawn = send_form(signed_in("ivy"), "/staff/quizzes", "/draw", blueprint=QUIZ, name=QUIZ)
    page = result_of(site, signed_in("ivy"), drawn).text
    assert "2 students have it." in page and "drawn on this machine sooner than handed over" in page


def test_students_who_came_later(site: Site, signed_in: SignedIn) -> None:
    draw_quiz(site, ("ada",))
    browser = signed_in("ivy")
    assert "1 student of the roster has no quiz yet" in browser.get(PAGE).text
    started = send_form(browser, PAGE, "/draw", blueprint=QUIZ)
    assert "1 drawn now" in result_of(site, browser, started).text


def test_publishing(site: Site, signed_in: SignedIn) -> None:
    draw_quiz(site)
    browser = signed_in("ivy")
    assert send_form(browser, PAGE, "/publish").status_code == 303
    assert list(site.store.published.all()) == [QUIZ]
    assert "</bdi>; <bdi>" in browser.get(PAGE).text, "names may have commas"
    assert send_form(browser, PAGE, "/publish").status_code == 303
    assert list(site.store.published.all()) == []
    assert [e.action for _, e in site.store.audit.newest(5)] == ["quiz.withdraw", "quiz.publish"]


def test_preview_has_no_key_and_the_key_has(site: Site, signed_in: SignedIn) -> None:
    quiz = draw_quiz(site)["ada"]
    browser = signed_in("ivy")
    for query in ("", "&question=2", "&paper=1"):
        preview = browser.get(f"{PAGE}/preview?student=ada{query}")
        question = quiz.questions[1 if "=2" in query else 0]
        assert question.variant.title in preview.text and "Key:" not in preview.text, query
        assert "Worked solution" not in preview.text and "Ada Lovelace" in preview.text
    assert browser.get(f"{PAGE}/preview?question=9").status_code == 404
    key = browser.get(f"{PAGE}/key?student=ada")
    assert "Key" in key.text and "Bob" not in key.text
    assert key.headers["cache-control"] == "no-store"
    assert browser.get(f"{PAGE}/key?student=nobody").status_code == 404


def test_the_preview_is_of_the_newest_draw(site: Site, signed_in: SignedIn) -> None:
    first = draw_quiz(site)["ada"]
    plan = read_blueprint(site.folder / "blueprints" / f"{QUIZ}.yaml")
    (second,) = compose(
        plan, site.bank, ["ada"], secret=site.course.secret(), name=QUIZ, attempt=1, stored=[first]
    )
    site.store.save_quizzes([second])
    page = signed_in("ivy").get(f"{PAGE}/preview?student=ada").text
    assert second.questions[0].variant.stem.html in page
    assert first.questions[0].variant.stem.html not in page


@pytest.mark.parametrize("path", ["", "/preview", "/key"])
def test_quizzes_are_for_instructors(path: str, site: Site, signed_in: SignedIn) -> None:
    draw_quiz(site)
    for who in ("ada", "mia"):
        assert signed_in(who).get(PAGE + path).status_code == 404


@pytest.mark.parametrize(
    ("typed", "moment"),
    [
        ("2026-10-25T02:30", "2026-10-25T01:30"),  # clocks show it twice: the later one counts
        ("2027-03-28T02:30", "2027-03-28T01:30"),  # clocks never show it: it is the time that they show then
        ("2026-10-25T04:00", "2026-10-25T03:00"),
        ("2026-07-01T12:00", "2026-07-01T10:00"),
        ("2026-07-01T12:00-05:00", "2026-07-01T17:00"),
    ],
)
def test_a_deadline_in_the_hours_in_which_clocks_change(
    folder: Path, site: Site, signed_in: SignedIn, typed: str, moment: str
) -> None:
    course = folder / "course.yaml"
    text = course.read_text(encoding="utf-8").replace("# timezone: ", "timezone: ")
    course.write_text(text, encoding="utf-8")
    site._looked = -1e9
    assert site.policies().timezone == "Europe/Berlin"
    draw_quiz(site)
    browser = signed_in("ivy")
    assert send_form(browser, PAGE, "/deadline", deadline=typed, students="").status_code == 303
    deadline = site.store.quizzes(QUIZ)[0].rules.deadline
    assert deadline is not None and deadline.astimezone(UTC).isoformat() == f"{moment}:00+00:00"


def test_moving_the_deadline(site: Site, signed_in: SignedIn) -> None:
    draw_quiz(site)
    browser = signed_in("ivy")
    moved = send_form(browser, PAGE, "/deadline", deadline="2027-01-02T12:00", students="ada", reason="ill")
    assert moved.status_code == 303
    ada, bob = site.store.quizzes(QUIZ)
    assert ada.rules.deadline is not None and bob.rules.deadline is None
    assert ada.rules.deadline.isoformat() == "2027-01-02T12:00:00+00:00"
    ((_, entry),) = site.store.audit.newest(5)
    assert (entry.student, entry.details["reason"]) == ("ada", "ill")
    refused = ("tomorrow", "", "9999-12-31T23:59", "0001-01-01T00:00", "20270102T1200-0500x")
    for text, students in (*((text, "") for text in refused), ("2027-01-02T12:00", "no")):
        answer = send_form(browser, PAGE, "/deadline", deadline=text, students=students)
        assert answer.status_code == 400, text
    assert send_form(browser, PAGE, "/deadline", deadline="none", students="").status_code == 303
    assert site.store.quizzes(QUIZ)[0].rules.deadline is None
    both = send_form(browser, PAGE, "/deadline", deadline="2027-01-02T12:00", students="ada, bob", reason="x")
    assert both.status_code == 303
    entries = [entry for _, entry in site.store.audit.newest(2)]
    assert {entry.student for entry in entries} == {"ada", "bob"}
    site.store.people.erase("ada")  # what is about several people is about each of them
    assert not any("ada" in str(entry) for _, entry in site.store.audit.newest(9))


def test_a_job_shows_its_progress_and_can_be_stopped(site: Site, signed_in: SignedIn) -> None:
    go_on = threading.Event()

    def work(job):  # type: ignore[no-untyped-def]
        step = job.expect(3)
        step()
        go_on.wait(120)
        step()

    job = site.jobs.start("check", "Trying something", "Ivy", work, {"page": "instructor.quiz.checked"})
    browser = signed_in("ivy")
    page = browser.get(f"/staff/quizzes/checked/{job.id}")
    assert "Trying something" in page.text and 'http-equiv="refresh"' in page.text
    assert browser.get(f"/staff/jobs/{job.id}").json()["total"] == 3
    # another one of its kind waits
    draw = send_form(browser, "/staff/quizzes", "/check", blueprint="l16")
    assert draw.status_code == 400 and "still running" in draw.text
    send_form(browser, f"/staff/quizzes/checked/{job.id}", "/stop")
    go_on.set()
    assert job.wait(120) and job.state is JobState.STOPPED
    assert "It was stopped" in browser.get(f"/staff/quizzes/checked/{job.id}").text


def test_a_job_that_fails_says_why(site: Site, signed_in: SignedIn) -> None:
    def work(job):  # type: ignore[no-untyped-def]
        raise ValueError("<secret>")

    job = site.jobs.start("check", "Trying something", "Ivy", work, {})
    assert job.wait(120)
    page = signed_in("ivy").get(f"/staff/quizzes/checked/{job.id}")
    assert "noted in the server" in page.text and "secret" not in page.text
    assert signed_in("ivy").get("/staff/quizzes/checked/other").status_code == 404


def test_whose_variant(site: Site, signed_in: SignedIn) -> None:
    quizzes = draw_quiz(site)
    stem = quizzes["bob"].questions[0].variant.stem.plain
    browser = signed_in("ivy")
    page = browser.post(
        "/staff/quizzes/whose",
        data={"csrf": form_token(browser, "/staff/quizzes/whose"), "text": stem, "quiz": ""},
    ).text
    assert "Bob Moran" in page and "compared" in page
    assert signed_in("mia").get("/staff/quizzes/whose").status_code == 404


@pytest.mark.parametrize("name", ["a~00b", "x" * 5000, "~", "~2F..~2Fetc"])
def test_addresses_that_are_nothing(name: str, signed_in: SignedIn) -> None:
    browser = signed_in("ivy")
    for path in (f"/staff/quizzes/of/{name}", f"/staff/assignments/{name}", f"/staff/students/{name}"):
        assert browser.get(path).status_code in (400, 404), path
