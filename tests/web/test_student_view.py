"""A student's work on the pages for staff: what it shows, and marks by hand."""

from __future__ import annotations

import re
from typing import Any

import pytest

from engine.commands import run
from engine.marks.manual import ManualMarks
from engine.store import HandMark
from engine.web.site import Site
from engine.web.visit import path_segment
from tests.web.browsing import form_to
from tests.web.conftest import SignedIn
from tests.web.course_work import COLUMNS, draw_quiz, hand_in, hand_in_code
from tests.web.forms_of_pages import form_token, send_form

WORK = f"/staff/students/ada/marks/{path_segment(COLUMNS[0])}"


def test_the_same_entries_as_the_student_sees(site: Site, signed_in: SignedIn) -> None:
    quiz = draw_quiz(site)["ada"]
    hand_in(site, quiz, right=1)
    page = signed_in("ivy").get("/staff/students/ada/seen").text
    assert "As <bdi>Ada Lovelace</bdi> sees it" in page
    for question in quiz.questions:
        assert question.variant.title in page


def test_attempts_with_keys_and_code(site: Site, signed_in: SignedIn) -> None:
    quiz = draw_quiz(site)["ada"]
    hand_in(site, quiz, right=0)
    hand_in_code(site, "ada", "def softmax(z):\n    return '<script>'\n")
    browser = signed_in("mia")
    assert "Worked solution" in browser.get(WORK).text
    code = browser.get("/staff/students/ada/marks/softmax").text
    assert "&lt;script&gt;" in code and "<script>'" not in code
    assert browser.get("/staff/students/nobody/marks/softmax").status_code == 404
    assert browser.get("/staff/students/ada/marks/nothing").status_code == 404


def test_a_mark_by_hand_is_the_one_of_the_command(site: Site, signed_in: SignedIn) -> None:
    hand_in(site, draw_quiz(site)["ada"], right=0)
    answer = send_form(
        signed_in("mia"), WORK, "/set", action="set", score="0,5", comment="well argued", reason="oral"
    )
    assert answer.status_code == 303
    (mark,) = site.store.hand_marks.current().values()
    assert (mark.score, mark.comment, mark.by) == (0.5, "well argued", "Mia Marker")
    ((_, entry),) = site.store.audit.newest(5)
    assert (entry.action, entry.student, entry.details["reason"]) == ("mark.set", "ada", "oral")
    # as the command sets it for the other student
    hand_in(site, site.store.quizzes("week-1", "bob")[0], right=0)
    line = ["mark", "bob", COLUMNS[0], "--score", "0.5", "--course", str(site.folder)]
    assert run(line) == 0
    ada, bob = (next(site.results(only=[who])).row().cells[COLUMNS[0]] for who in ("ada", "bob"))
    assert ada.counted == bob.counted == 0.5


def test_two_people_at_one_mark(site: Site, signed_in: SignedIn) -> None:
    hand_in(site, draw_quiz(site)["ada"])
    mia, ivy = signed_in("mia"), signed_in("ivy")
    form = {"action": "set", "score": "0.25", "comment": ""}
    token = {"csrf": form_token(ivy, WORK), "seen": "0"}
    assert send_form(mia, WORK, "/set", **form).status_code == 303
    late = ivy.post(f"{WORK}/set", data={**form, **token, "score": "1"})
    assert late.status_code == 400 and "Somebody else has changed" in late.text
    assert [m.score for m in site.store.hand_marks.history()] == [0.25]


def test_of_two_markers_at_once_one_is_told(
    site: Site, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(site, draw_quiz(site)["ada"])
    mia, ivy = signed_in("mia"), signed_in("ivy")
    decide, hers = ManualMarks.decide, {"action": "set", "score": "0.25", "comment": ""}

    def decide_late(manual: ManualMarks, *args: Any, **more: Any) -> HandMark | None:
        monkeypatch.setattr(ManualMarks, "decide", decide)
        assert send_form(mia, WORK, "/set", **hers).status_code == 303
        return decide(manual, *args, **more)

    monkeypatch.setattr(ManualMarks, "decide", decide_late)
    late = send_form(ivy, WORK, "/set", **{**hers, "score": "1"})
    assert late.status_code == 400 and "Somebody else has changed" in late.text and "Mia" in late.text
    assert [m.score for m in site.store.hand_marks.history()] == [0.25]


def test_an_excuse_and_its_withdrawal(site: Site, signed_in: SignedIn) -> None:
    draw_quiz(site)
    browser = signed_in("ivy")
    assert send_form(browser, WORK, "/set", action="excuse", score="", comment="").status_code == 303
    assert next(iter(site.store.hand_marks.current().values())).excused
    assert send_form(browser, WORK, "/set", action="withdraw").status_code == 303
    assert not site.store.hand_marks.current()


def test_scores_that_cant_be(site: Site, signed_in: SignedIn) -> None:
    hand_in(site, draw_quiz(site)["ada"])
    for score, words in (("many", "isn&#39;t a number"), ("-1", "possible score"), ("99", "99 are more")):
        answer = send_form(signed_in("ivy"), WORK, "/set", action="set", score=score, comment="")
        assert answer.status_code == 400 and words in answer.text, score
    assert not site.store.hand_marks.history()


def test_a_sentence_is_used_again_by_its_button(site: Site, signed_in: SignedIn) -> None:
    submission = hand_in_code(site, "ada", "def softmax(z):\n    return z\n")
    place = f"/staff/students/ada/marks/softmax?line=2&submission={submission}"
    browser = signed_in("mia")
    form = form_to(browser.get(place).text, "/comment").fill("text", "Divide.").fill("keep", "yes")
    assert form.send(browser).status_code == 303
    again = form_to(browser.get(place).text, "/comment")
    assert again.send(browser, "Divide.").status_code == 303
    both = form_to(browser.get(place).text, "/comment").fill("text", "Look at the sum.")
    assert both.send(browser, "Divide.").status_code == 303
    texts = [comment.text for comment in site.store.code_comments.of("ada")]
    assert texts == ["Divide.", "Divide.", "Look at the sum.\nDivide."]


def test_a_refused_form_gives_back_what_was_entered(site: Site, signed_in: SignedIn) -> None:
    hand_in(site, draw_quiz(site)["ada"])
    browser = signed_in("mia")
    browser.headers["referer"] = f"{site.address}{WORK}?line=1"
    answer = send_form(
        browser, WORK, "/set", action="set", score="99", comment="A <b>long</b>\r\ncomment", reason="oral"
    )
    assert answer.status_code == 400
    assert "tick “Allow more than full points”" in answer.text and "--allow-extra" not in answer.text
    for text in ("99", "A &lt;b&gt;long&lt;/b&gt;", "oral"):
        assert f'<dd class="text">{text}' in answer.text
    assert f'href="{WORK}?line=1" data-back' in answer.text
    # Neither the token nor what the page itself put into the form, and no way to another site.
    assert "<dt>csrf" not in answer.text and "<dt>seen" not in answer.text
    browser.headers["referer"] = "https://elsewhere.example/form"
    answer = send_form(browser, WORK, "/set", action="set", score="99", comment="")
    assert "elsewhere" not in answer.text and "data-back" not in answer.text
    # A form that isn't known to be ours shows nothing.
    token = {"csrf": "not-the-token"}
    answer = browser.post(f"{WORK}/set", data={"score": "99", "comment": "words of a stranger", **token})
    assert answer.status_code == 403 and "words of a stranger" not in answer.text


def test_blind_markers_see_no_names(site: Site, signed_in: SignedIn) -> None:
    (site.folder / "web.yaml").write_text("blind_marking: true\n", encoding="utf-8")
    site._looked = 0.0
    hand_in(site, draw_quiz(site)["ada"])
    # as Moodle names files, and with the name in what is said about one
    file = "lovelaceada_4701_softmax.py"
    hand_in_code(site, "ada", "x = 1", score=None, filename=file, reason=f"{file}: it can't be read")
    mia = signed_in("mia")
    assert mia.get("/staff/students/ada").status_code == 404
    handle = re.findall(r'data-row="([^"]*)"', mia.get("/staff/class").text)
    pages = [f"/staff/students/{h}{end}" for h in handle for end in ("", "/seen")]
    pages += [f"/staff/students/{h}/marks/{path_segment(COLUMNS[0])}" for h in handle]
    pages += [f"/staff/students/{h}/marks/softmax" for h in handle]
    for page in pages:
        answer = mia.get(page)
        assert answer.status_code == 200
        for name in ("lovelaceada", "Ada", "Lovelace", "Moran", ">ada", "ada<", '"ada"', "/ada"):
            assert name not in answer.text, (page, name)
