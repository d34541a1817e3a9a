"""Marking answers in words, and comments on lines of code."""

from __future__ import annotations

import base64
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from engine.marks.rubric_marking import RubricMarking
from engine.model import QuizRules, ResultDisclosure
from engine.web.site import Site
from engine.web.visit import path_segment
from tests.unit.marks.free_text_class import hand_in, item_variant
from tests.web.conftest import SignedIn
from tests.web.course_work import hand_in_code
from tests.web.forms_of_pages import form_token, send_form
from tests.web.scanned_sheets import EXAM, TOKEN, png, print_exam

FIELD = "week-1/why-weights/reason"
PAGE = f"/staff/marking/of/{path_segment(FIELD)}"
POINTS = {"points.softmax": "1.0", "points.division": "0.5"}


@pytest.fixture
def answers(site: Site, tmp_path: Path) -> RubricMarking:
    """Two answers that say the same, of ada and bob, and another one."""
    variant = item_variant(tmp_path)
    hand_in(site.store, variant, "ada", "Softmax divides by the sum.")
    hand_in(site.store, variant, "bob", "softmax  divides by the SUM")
    hand_in(site.store, variant, "eve", "Because they are probabilities.")
    return RubricMarking(site.store, site.mode, site.course.secret())


def _of(answers: RubricMarking, student: str) -> str:
    """Return the page of a student's answer."""
    field = answers.field(FIELD)
    assert field is not None
    answer = next(answer for answer in answers.answers(field) if answer.student == student)
    return f"{PAGE}/answers/{answer.id}"


def _points(site: Site, student: str) -> list[float]:
    (attempt,) = site.store.attempts(student=student)
    return [sum(marks.points.values()) for marks in attempt.report.marking]


def test_no_name_is_shown_to_anybody(answers: RubricMarking, signed_in: SignedIn) -> None:
    for who in ("mia", "ivy"):
        browser = signed_in(who)
        for page in ("/staff/marking", PAGE, _of(answers, "ada")):
            text = browser.get(page).text
            for name in ("Ada", "Lovelace", "Moran", '"ada"', ">ada<"):
                assert name not in text, (page, name)


@pytest.mark.parametrize(
    ("level", "words"),
    [
        (ResultDisclosure.NOTHING, "neither points nor comments yet"),
        (ResultDisclosure.VERDICT, "the points at once, but neither remarks nor the comment yet"),
        (ResultDisclosure.FEEDBACK, "points, remarks and the comment at once"),
    ],
)
def test_the_page_says_what_the_student_sees(
    site: Site, tmp_path: Path, signed_in: SignedIn, level: ResultDisclosure, words: str
) -> None:
    rules = QuizRules(deadline=datetime(2126, 12, 1, tzinfo=UTC), show_before=level)
    hand_in(site.store, item_variant(tmp_path), "ada", "Softmax divides by the sum.", rules=rules)
    answer = _of(RubricMarking(site.store, site.mode, site.course.secret()), "ada")
    assert f"The student sees {words}." in signed_in("mia").get(answer).text
    fields = {**POINTS, "comment": "words for ada", "action": "stay"}
    assert send_form(signed_in("mia"), answer, "/give", **fields).status_code == 303
    # The sentence is true.
    marks = signed_in("ada").get("/marks").text
    assert ("words for ada" in marks) is (level is ResultDisclosure.FEEDBACK)
    assert ('<span class="marks">' in marks) is (level is not ResultDisclosure.NOTHING)


def test_question_by_question(site: Site, answers: RubricMarking, signed_in: SignedIn) -> None:
    browser = signed_in("mia")
    assert FIELD in browser.get("/staff/marking").text
    seen = set()
    for _ in range(3):
        place = browser.get(f"{PAGE}/next").headers["location"]
        page = browser.get(place).text
        assert "An answer that earns full marks" in page and "Names softmax." in page
        seen.add(place)
        given = send_form(browser, place, "/give", action="next", comment="", **POINTS)
        assert given.status_code == 303
    assert len(seen) == 3 and answers.waiting() == 0
    assert browser.get(f"{PAGE}/next").headers["location"] == "/staff/marking"
    assert _points(site, "ada") == _points(site, "eve") == [1.5]


def test_answers_that_say_the_same(site: Site, answers: RubricMarking, signed_in: SignedIn) -> None:
    browser, page = signed_in("mia"), _of(answers, "ada")
    (other,) = re.findall(r'name="alike" value="([^"]*)"', browser.get(page).text)
    given = send_form(
        browser, page, "/give", action="next", comment="Well said.", alike=other, keep="yes", **POINTS
    )
    assert given.status_code == 303
    assert _points(site, "ada") == _points(site, "bob") == [1.5] and _points(site, "eve") == []
    assert [s.text for s in site.store.saved_comments.of("why-weights")] == ["Well said."]
    assert [entry.action for _, entry in site.store.audit.newest(5)] == [
        *("rubric.mark", "rubric.mark", "sentence.add"),
    ]
    assert "Well said." in browser.get(_of(answers, "eve")).text


def test_a_marker_decides_nothing_about_their_own_work(
    site: Site, answers: RubricMarking, signed_in: SignedIn, tmp_path: Path
) -> None:
    hand_in(site.store, item_variant(tmp_path), "mia", "Softmax divides by the sum.")
    mia = signed_in("mia")
    own = _of(answers, "mia")
    give = {"action": "next", "comment": "", **POINTS}
    refused = send_form(mia, own, "/give", **give)
    assert refused.status_code == 403 and "this is your own work" in refused.text
    for student in ("ada", "bob", "eve"):
        assert send_form(mia, _of(answers, student), "/give", **give).status_code == 303
    assert _points(site, "mia") == [], "also not as one that says the same as another"
    left = mia.get(f"{PAGE}/next", follow_redirects=True)
    assert "it is yours" in left.text
    mark = mia.get("/staff/students/mia").text
    column = re.findall(r"/staff/students/mia/marks/([^/\"]+)", mark)[0]
    page = f"/staff/students/mia/marks/{column}"
    answer = mia.post(f"{page}/set", data={"csrf": form_token(mia, page), "seen": "", "score": "2"})
    assert answer.status_code == 403
    assert send_form(signed_in("ivy"), own, "/give", **give).status_code == 303


def test_two_markers_at_one_answer(site: Site, answers: RubricMarking, signed_in: SignedIn) -> None:
    mia, ivy, page = signed_in("mia"), signed_in("ivy"), _of(answers, "ada")
    token = form_token(ivy, page)  # ivy has opened the page
    assert send_form(mia, page, "/give", action="next", comment="", **POINTS).status_code == 303
    late = {"csrf": token, "seen": "", "action": "next", **POINTS, "points.division": "2.0"}
    answer = ivy.post(f"{page}/give", data=late)
    assert answer.status_code == 400 and "Somebody else has marked this answer" in answer.text
    assert "Mia Marker" in answer.text and _points(site, "ada") == [1.5]


def test_marks_are_changed_and_withdrawn(site: Site, answers: RubricMarking, signed_in: SignedIn) -> None:
    browser, page = signed_in("mia"), _of(answers, "ada")
    send_form(browser, page, "/give", action="stay", comment="", **POINTS)
    changed = {**POINTS, "points.division": "2.0"}
    assert send_form(browser, page, "/give", action="stay", comment="", **changed).status_code == 303
    assert _points(site, "ada") == [3.0]
    assert send_form(browser, page, "/give", action="withdraw").status_code == 303
    assert _points(site, "ada") == [] and answers.waiting() == 3


def test_points_that_cant_be_given(site: Site, answers: RubricMarking, signed_in: SignedIn) -> None:
    browser, page = signed_in("mia"), _of(answers, "ada")
    for points in ({}, {**POINTS, "points.division": "1.7"}, {**POINTS, "points.softmax": "x"}):
        assert send_form(browser, page, "/give", action="next", **points).status_code == 400
    assert _points(site, "ada") == []
    assert browser.get(f"{PAGE}/answers/0123456789ab").status_code == 404
    assert browser.get("/staff/marking/of/other").status_code == 404


def test_comments_on_lines_of_code(site: Site, signed_in: SignedIn) -> None:
    receipt = hand_in_code(site, "ada", "def softmax(z):\n    return z\n")
    browser: TestClient = signed_in("mia")
    page = "/staff/students/ada/marks/softmax"
    place = f"{page}?line=2&submission={receipt}&file="
    added = send_form(browser, place, "/comment", text="Where is the sum?", keep="yes")
    assert added.status_code == 303
    (comment,) = site.store.code_comments.of("ada")
    assert (comment.line, comment.text, comment.by) == (2, "Where is the sum?", "Mia Marker")
    assert "Where is the sum?" in browser.get(page).text
    assert [s.text for s in site.store.saved_comments.of("softmax")] == ["Where is the sum?"]
    # the sentence is offered again
    assert "Where is the sum?" in browser.get(f"{page}?line=1&submission={receipt}&file=").text
    # and with a mark by hand
    send_form(
        browser, page, "/set", action="set", score="4", comment="See below.", sentence="Where is the sum?"
    )
    (mark,) = site.store.hand_marks.current().values()
    assert mark.comment == "See below.\nWhere is the sum?"
    # another student's page can't remove it
    token = form_token(browser, page)
    data = {"csrf": token, "comment": str(comment.id)}
    assert browser.post("/staff/students/bob/marks/softmax/uncomment", data=data).status_code == 404
    assert send_form(browser, page, "/uncomment").status_code == 303
    assert site.store.code_comments.of("ada") == []


def test_comments_that_cant_be(site: Site, signed_in: SignedIn) -> None:
    receipt = hand_in_code(site, "ada", "x = 1\n")
    browser = signed_in("mia")
    page = "/staff/students/ada/marks/softmax"
    token = form_token(browser, page)
    for line, text in (("9", "there is no such line"), ("1", " "), ("1", "x" * 6000)):
        data = {"csrf": token, "submission": receipt, "file": "", "line": line, "text": text}
        assert browser.post(f"{page}/comment", data=data).status_code == 400, line
    assert site.store.code_comments.of("ada") == []


def test_an_answer_on_paper_is_shown_as_it_was_scanned(
    site: Site, tmp_path: Path, signed_in: SignedIn
) -> None:
    sheets = print_exam(site)
    sheets.scan("bob", {}, written=[TOKEN])
    place = f"{EXAM}/{sheets.copy('bob').number}/{TOKEN}/answer"
    text = "on paper: copy 2, page 6"
    hand_in(site.store, item_variant(tmp_path), "bob", text, place=place)
    hand_in(site.store, item_variant(tmp_path), "ada", text, place=f"{EXAM}/9/1/answer")
    marking = RubricMarking(site.store, site.mode, site.course.secret())
    page = signed_in("mia").get(_of(marking, "bob")).text
    (picture,) = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    assert base64.b64decode(picture) == png()
    assert "Bob" not in page and 'name="alike"' not in page and "too many" not in page
    # Where there is no picture, the page says where the answer is.
    page = signed_in("mia").get(_of(marking, "ada")).text
    assert "data:image" not in page and text in page
    assert page.count("on paper") >= 2
