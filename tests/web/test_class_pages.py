"""The class table: what it shows, how it is filtered, and that it follows the store."""

from __future__ import annotations

import html
import re

import pytest

from engine.marks.class_table import class_table
from engine.quiz.rules import now
from engine.store import HandMark
from engine.web.instructor.live_table import live_table
from engine.web.site import Site
from engine.web.visit import path_segment
from tests.web.conftest import SignedIn
from tests.web.course_work import COLUMNS, QUIZ, draw_quiz, hand_in, hand_in_code
from tests.web.forms import token_of

JSON = {"accept": "application/json"}


def test_marks_of_the_class(site: Site, signed_in: SignedIn) -> None:
    quizzes = draw_quiz(site)
    hand_in(site, quizzes["ada"], right=1)
    page = signed_in("mia").get("/staff/class")
    assert page.status_code == 200
    assert "Ada Lovelace" in page.text and "Bob Moran" in page.text
    assert f"/staff/assignments/{QUIZ}" in page.text
    # bob is in the roster and has handed in nothing
    missing = signed_in("ivy").get(f"/staff/assignments/{QUIZ}?show=missing")
    assert "Bob Moran" in missing.text and "Ada Lovelace" not in missing.text


def test_an_empty_class(site: Site, signed_in: SignedIn) -> None:
    assert "Marks of 2 students" in signed_in("ivy").get("/staff/class").text
    (site.folder / "roster.csv").write_text("id,name,email\n", encoding="utf-8")
    site._looked = 0.0
    assert "No students yet" in signed_in("ivy").get("/staff/class").text


def test_rows_that_changed(site: Site, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.web.instructor.live_table._LOOK_EVERY_S", 0.0)
    quizzes = draw_quiz(site)
    hand_in(site, quizzes["ada"])
    hand_in(site, quizzes["bob"], right=0)
    browser = signed_in("ivy")
    mark = browser.get("/staff/class?since=x", headers=JSON).json()
    assert mark["reload"]
    nothing = browser.get(f"/staff/class?since={mark['mark']}", headers=JSON).json()
    assert nothing["rows"] == {}
    site.store.hand_marks.add(HandMark("bob", COLUMNS[0], 0.5, False, "", "ivy", now()))
    changed = browser.get(f"/staff/class?since={mark['mark']}", headers=JSON).json()
    assert list(changed["rows"]) == ["bob"]
    assert "set by hand" in changed["rows"]["bob"]


def test_many_open_pages_ask_the_store_once(
    site: Site, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw_quiz(site)
    browser = signed_in("ivy")
    mark = browser.get("/staff/class?since=x", headers=JSON).json()["mark"]
    monkeypatch.setattr(site.store.activity, "since", lambda *_: pytest.fail("asked again"))
    for _ in range(3):
        assert browser.get(f"/staff/class?since={mark}", headers=JSON).json()["rows"] == {}


def test_the_live_table_is_the_table_of_the_commands(site: Site) -> None:
    quizzes = draw_quiz(site)
    live_table(site)
    hand_in(site, quizzes["ada"], right=1)
    hand_in_code(site, "bob", "x = 1\n")
    hand_in_code(site, "stranger", "x = 2\n", score=None)
    state = live_table(site)
    assert state.table == class_table(site.course.title, site.results())
    assert state.columns_version == state.version


def test_sorting_and_finding(site: Site, signed_in: SignedIn) -> None:
    quizzes = draw_quiz(site)
    hand_in(site, quizzes["ada"], right=0)
    hand_in(site, quizzes["bob"], right=2)
    browser = signed_in("ivy")
    for query, first in (("sort=total", "ada"), ("sort=total&down=1", "bob"), ("down=1", "bob"), ("", "ada")):
        text = browser.get(f"/staff/class?{query}").text
        other = "bob" if first == "ada" else "ada"
        assert text.index(f'data-row="{first}"') < text.index(f'data-row="{other}"'), query
    assert 'data-row="ada"' not in browser.get("/staff/class?find=moran").text


def _totals(page: str) -> list[tuple[str, str]]:
    return re.findall(r"<strong>([\d.]+)</strong> <span class=\"soft\">of ([\d.]+)</span>", page)


def test_totals_on_the_page_of_an_assignment_are_its_own(
    site: Site, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.web.instructor.live_table._LOOK_EVERY_S", 0.0)
    quizzes = draw_quiz(site)
    for student, right, code in (("ada", 1, 3.0), ("bob", 2, 0.5)):
        hand_in(site, quizzes[student], right=right)
        hand_in_code(site, student, f"x = {right}\n", score=code)
    browser = signed_in("ivy")
    of_code = browser.get("/staff/assignments/softmax").text
    full = f"{site.bank.code_points('softmax'):g}"
    assert _totals(of_code) == [("3", full), ("0.5", full)]
    # By all points, bob would come first.
    down = browser.get("/staff/assignments/softmax?sort=total&down=1").text
    assert down.index('data-row="ada"') < down.index('data-row="bob"')
    # What changes while the page is open has the same total.
    mark = browser.get("/staff/assignments/softmax?since=x", headers=JSON).json()["mark"]
    site.store.hand_marks.add(HandMark("bob", "softmax", 1.5, False, "", "ivy", now()))
    rows = browser.get(f"/staff/assignments/softmax?since={mark}", headers=JSON).json()["rows"]
    assert _totals(rows["bob"]) == [("1.5", full)]
    # An assignment in which nobody has done anything yet has no total.
    assert _totals(browser.get("/staff/assignments/masked-softmax").text) == []


@pytest.mark.parametrize("path", ["/staff/class", "/staff/log", "/staff/jobs/1"])
def test_students_see_no_staff_pages(path: str, signed_in: SignedIn) -> None:
    assert signed_in("ada").get(path).status_code == 404


def test_the_log_is_for_instructors(signed_in: SignedIn) -> None:
    assert signed_in("mia").get("/staff/log").status_code == 404
    assert signed_in("ivy").get("/staff/log").status_code == 200


def test_blind_markers_see_no_names(site: Site, signed_in: SignedIn) -> None:
    (site.folder / "web.yaml").write_text("blind_marking: true\n", encoding="utf-8")
    site._looked = 0.0
    draw_quiz(site)
    text = signed_in("mia").get("/staff/class").text
    for name in ("Ada", "Lovelace", "Bob", '"ada"', "/ada", ">ada<", "/bob"):
        assert name not in text, name
    assert "Ada Lovelace" in signed_in("ivy").get("/staff/class").text


def test_blind_markers_learn_no_names_by_errors_files_or_sessions(site: Site, signed_in: SignedIn) -> None:
    (site.folder / "web.yaml").write_text("blind_marking: true\n", encoding="utf-8")
    site._looked = 0.0
    draw_quiz(site, ("bob",))
    file = "lovelace_123_softmax.py"
    reason = f"{file} of ada can't be graded"
    hand_in_code(site, "ada", "# ?\n", score=None, filename=file, reason=reason)
    mia = signed_in("mia")
    links = re.findall(r'href="(/staff/students/\w+)"', mia.get("/staff/class").text)
    (page,) = {
        text for text in (mia.get(link).text for link in links) if "can't be graded" in html.unescape(text)
    }
    assert file not in page and "ada" not in page.replace("metadata", "")
    token = token_of(mia.get("/account"))
    for address in links:
        for column, action in (("softmax", "withdraw"), ("week-1/none", "set"), ("softmax", "set")):
            values = {"csrf": token, "seen": "0", "action": action, "score": "999"}
            refused = mia.post(f"{address}/marks/{path_segment(column)}/set", data=values)
            assert refused.status_code == 400
            assert not re.search(r"\bada\b|\bbob\b", refused.text), refused.text
    for person, status in (("mia", 404), ("ivy", 200)):
        browser = signed_in(person)
        assert browser.get("/people/ada/sessions").status_code == status
        sent = {"csrf": token_of(browser.get("/account"))}
        assert (browser.post("/people/ada/sessions/end", data=sent).status_code == 404) is (status == 404)


def test_a_quiz_has_a_head_and_a_sum(site: Site, signed_in: SignedIn) -> None:
    quizzes = draw_quiz(site)
    hand_in(site, quizzes["ada"], right=1)
    hand_in(site, quizzes["bob"], right=2)
    hand_in_code(site, "ada", "def softmax(x): return x", score=0.0)
    browser = signed_in("ivy")
    page = browser.get("/staff/class").text
    head = page.split("<thead>")[-1].split("</thead>")[0]
    assert 'scope="colgroup" colspan="3"' in head and "Week 1</a>" in head and "Sum</a>" in head
    ada = page.split('id="s-ada"')[1].split("</tr>")[0]
    assert re.findall(r"<strong>(\d+)</strong>", ada) == ["1", "1"]  # the total, and the quiz's
    # sorted by the sum
    by_sum = browser.get("/staff/class", params={"sort": f"of:{QUIZ}", "down": "1"}).text
    assert by_sum.index('id="s-bob"') < by_sum.index('id="s-ada"')
    # beside one assignment alone the total is the sum
    assert "colgroup" not in browser.get(f"/staff/assignments/{QUIZ}").text
    row = browser.get(f"/staff/class?since={live_table(site).token}-0", headers=JSON).json()
    assert row.get("reload") or row["rows"]["ada"].count("<td") == ada.count("<td")


def test_figures_of_the_class(site: Site, signed_in: SignedIn) -> None:
    quizzes = draw_quiz(site)
    browser = signed_in("ivy")
    nothing = browser.get("/staff/class").text
    assert "Nothing has been handed in yet." in nothing and 'href="/staff/quizzes"' in nothing
    hand_in(site, quizzes["ada"], right=2)
    hand_in(site, quizzes["bob"], right=1)
    for path in ("/staff/class", f"/staff/assignments/{QUIZ}"):
        text = browser.get(path).text
        assert "mean mark so far, median 83 %" in text or "median" in text, path
        assert "<b>2</b> <span>handed" in text, path


def test_what_waits_stands_behind_the_class(signed_in: SignedIn) -> None:
    page = signed_in("ivy").get("/staff/class").text
    assert page.index(">Class</a>") < page.index(">Waiting</a>")
