"""Places of scanned sheets: listed with pictures, decided by several markers, undone, and handed in."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from engine.commands import run
from engine.course import Course
from engine.errors import StoreError
from engine.model import Mode, Outcome
from engine.paper.print_record import PrintedExams, write_record
from engine.quiz.rules import now
from engine.scanning.sheet_hand_ins import ScannedCourse
from engine.store.scans import ScanDecision
from engine.web.application import application
from engine.web.site import Site
from engine.web.visit import SESSION_COOKIE, path_segment
from tests.live.postgres import server
from tests.live.site import new_course
from tests.web.conftest import ADDRESS, SignedIn
from tests.web.forms_of_pages import form_token, send_form
from tests.web.scanned_sheets import (
    EXAM,
    MATCHING,
    MULTIPLE,
    NUMBER,
    SINGLE,
    SPARE,
    TOKEN,
    ScannedClass,
    print_exam,
)

LIST = "/staff/marking/scans"


def place(copy: int, number: int, part: str = "answer") -> str:
    return f"{LIST}/of/{EXAM}/{path_segment(f'{copy}/{number}/{part}')}"


def wrong_letter(sheets: ScannedClass, student: str, number: int = SINGLE) -> str:
    part = sheets.quizzes[student].questions[number - 1].variant.parts[0]
    return next(option.id for option in part.options if not option.correct)


@pytest.fixture
def sheets(site: Site) -> ScannedClass:
    """ada's sheet has an unsure choice and a word in a box; bob's has an unsure choice of several."""
    printed = print_exam(site)
    answers = printed.right("ada")
    printed.scan("ada", answers, unsure={SINGLE: wrong_letter(printed, "ada")}, written=[TOKEN])
    answers = {n: text for n, text in printed.right("bob").items() if n != MULTIPLE}
    printed.scan("bob", {**answers, MULTIPLE: "a"}, unsure={MULTIPLE: "b"})
    return printed


def outcomes(site: Site, student: str) -> dict[str, Outcome]:
    return {a.item: a.report.outcome for a in site.store.attempts(student=student, mode=Mode.MARKS)}


def decide(browser: TestClient, copy: int, number: int, **fields: object) -> int:
    return send_form(browser, place(copy, number), "/decide", **fields).status_code


def test_places_are_listed_with_picture_reason_and_question(
    site: Site, sheets: ScannedClass, signed_in: SignedIn
) -> None:
    browser = signed_in("mia")
    assert LIST in browser.get("/staff/marking").text
    page = browser.get(LIST).text
    assert "3 of 3 left" in page and page.count("<article") == 3
    assert f"unclear whether {wrong_letter(sheets, 'ada')} is filled" in page
    assert "something is written here" in page and "Ada Lovelace" in page
    stem = sheets.quizzes["ada"].questions[SINGLE - 1].variant.stem.plain
    assert " ".join(stem.split())[:60] in page.replace("&#39;", "'")
    pictures = re.findall(r'<img src="([^"]+)"', page)
    assert len(pictures) == 3
    for address in pictures:
        answer = browser.get(address)
        assert answer.headers["content-type"] == "image/png" and answer.content.startswith(b"\x89PNG")
    assert browser.get(pictures[0].rpartition("/")[0] + "/2").status_code == 404
    item = sheets.quizzes["ada"].questions[TOKEN - 1].variant.item
    assert browser.get(LIST, params={"item": item}).text.count("<article") == 1
    assert browser.get(LIST, params={"print": "OTHER"}).text.count("<article") == 0


def test_a_sheet_is_marked_with_its_last_decision_as_the_command_marks_it(
    site: Site, sheets: ScannedClass, signed_in: SignedIn
) -> None:
    browser, right = signed_in("mia"), sheets.right("ada")
    assert decide(browser, 1, SINGLE, **{"row.0": right[SINGLE]}, action="next") == 303
    assert outcomes(site, "ada") == {}, "a word is still open"
    assert "2 of 3 left" in browser.get(LIST).text
    given = send_form(browser, place(1, TOKEN), "/decide", answer="", blank="yes", action="next")
    assert given.status_code == 303
    marks = outcomes(site, "ada")
    assert marks.pop("greedy-path") is Outcome.WRONG and set(marks.values()) == {Outcome.RIGHT}
    after = browser.get(given.headers["location"], follow_redirects=True).text
    assert "copy 1 is open: it is handed in" in after
    decisions = site.store.scans.decisions(EXAM)
    assert [(d.field, d.text, d.by, d.student) for d in decisions] == [
        (f"{SINGLE}/answer", right[SINGLE], "Mia Marker", "ada"),
        (f"{TOKEN}/answer", "", "Mia Marker", "ada"),
    ]
    actions = [entry.action for _, entry in site.store.audit.newest(9)]
    assert actions == ["scan.hand_in", "scan.decide", "scan.decide"]
    assert "1 of 3 left" in browser.get(LIST).text


def test_several_bubbles_start_from_what_is_certain(
    site: Site, sheets: ScannedClass, signed_in: SignedIn
) -> None:
    browser = signed_in("mia")
    page = browser.get(place(2, MULTIPLE)).text
    assert re.findall(r'type="checkbox" name="row.0" value="(\w)"[^>]* checked', page) == ["a"]
    assert decide(browser, 2, MULTIPLE, **{"row.0": ["b", "a"]}, action="list") == 303
    (decision,) = site.store.scans.decisions(EXAM)
    assert decision.text == "a, b" and len(outcomes(site, "bob")) == 5


def test_rows_are_decided_row_by_row(site: Site, signed_in: SignedIn) -> None:
    printed = print_exam(site)
    right = printed.right("ada")
    rows = dict(re.findall(r"(\d+)-([a-z])", right[MATCHING]))
    first = f"1-{next(letter for letter in 'abcdef' if letter != rows['1'])}"
    printed.scan("ada", right, unsure={MATCHING: first})
    browser = signed_in("mia")
    names = printed.layout("ada").questions[MATCHING - 1].rows
    fields = {f"row.{n}": rows[name] for n, name in enumerate(names)}
    # Rows that are certain are picked already, the one that isn't is left to the marker.
    text = browser.get(place(1, MATCHING)).text
    picked = re.findall(r'name="(row\.\d)" value="([a-z-])"[^>]* checked', text)
    assert dict(picked) == {name: letter for name, letter in fields.items() if name != "row.0"}
    assert decide(browser, 1, MATCHING, **{**fields, "row.0": ""}) == 400
    assert decide(browser, 1, MATCHING, **{**fields, "row.0": "z"}) == 400
    assert decide(browser, 1, MATCHING, **{k: v for k, v in fields.items() if k != "row.1"}) == 400
    assert decide(browser, 1, MATCHING, **fields) == 303
    assert outcomes(site, "ada")["who-introduced"] is Outcome.RIGHT


def test_what_the_questions_reader_refuses_is_no_decision(
    site: Site, sheets: ScannedClass, signed_in: SignedIn
) -> None:
    browser = signed_in("mia")
    assert decide(browser, 1, TOKEN, answer="x" * 6000) == 400
    assert decide(browser, 1, TOKEN, answer="  ") == 400
    assert decide(browser, 1, TOKEN, answer="word", blank="yes") == 400
    assert decide(browser, 1, SINGLE, **{"row.0": "zebra"}) == 400
    assert site.store.scans.decisions(EXAM) == []


def test_the_second_of_two_markers_is_told(site: Site, sheets: ScannedClass, signed_in: SignedIn) -> None:
    mia, ivy, page = signed_in("mia"), signed_in("ivy"), place(1, SINGLE)
    token = form_token(ivy, page)
    right = sheets.right("ada")[SINGLE]
    assert decide(mia, 1, SINGLE, **{"row.0": right}) == 303
    late = ivy.post(f"{page}/decide", data={"csrf": token, "seen": "", "row.0": wrong_letter(sheets, "ada")})
    assert late.status_code == 400 and "omebody else has decided this place" in late.text
    assert f"{right}, by Mia Marker" in late.text
    assert len(site.store.scans.decisions(EXAM)) == 1
    # Also once its sheet is handed in.
    token = form_token(ivy, place(1, TOKEN))
    assert decide(mia, 1, TOKEN, blank="yes", answer="") == 303 and outcomes(site, "ada")
    late = ivy.post(f"{place(1, TOKEN)}/decide", data={"csrf": token, "seen": "", "answer": "word"})
    assert late.status_code == 400 and "left empty, by Mia Marker" in late.text


def test_a_decision_is_undone_until_its_sheet_is_handed_in(
    site: Site, sheets: ScannedClass, signed_in: SignedIn
) -> None:
    browser, right = signed_in("mia"), sheets.right("ada")[SINGLE]
    assert decide(browser, 1, SINGLE, **{"row.0": wrong_letter(sheets, "ada")}) == 303
    decided = browser.get(f"{LIST}?show=decided").text
    assert decided.count("<article") == 1 and "by <bdi>Mia Marker</bdi>" in decided
    assert send_form(browser, f"{LIST}?show=decided", "/undo").status_code == 303
    assert "3 of 3 left" in browser.get(LIST).text
    assert decide(browser, 1, SINGLE, **{"row.0": right}) == 303
    token = form_token(browser, place(1, SINGLE))
    seen = re.search(r'name="seen" value="([^"]+)"', browser.get(place(1, SINGLE)).text)
    assert seen is not None
    assert decide(browser, 1, TOKEN, blank="yes", answer="") == 303
    late = browser.post(f"{place(1, SINGLE)}/undo", data={"csrf": token, "seen": seen[1]})
    assert late.status_code == 404 and "handed in already" in late.text
    assert [d.withdrawn for d in site.store.scans.decisions(EXAM)] == [False, True, False, False]
    assert outcomes(site, "ada")["softmax-stability"] is Outcome.RIGHT
    assert "scan.undo" in [entry.action for _, entry in site.store.audit.newest(9)]


def test_the_command_and_the_site_see_each_others_decisions(
    site: Site, sheets: ScannedClass, signed_in: SignedIn
) -> None:
    browser, right = signed_in("mia"), sheets.right("ada")
    command = ["scan", "--course", str(site.folder), "--by", "prof", "--decide"]
    assert run([*command, f"{EXAM}/1/{SINGLE}/answer={right[SINGLE]}"]) == 1
    assert "2 of 3 left" in browser.get(LIST).text
    assert "by <bdi>prof</bdi>" in browser.get(f"{LIST}?show=decided").text
    undo = ["scan", "--course", str(site.folder), "--undo"]
    assert run([*undo, f"{EXAM}/1/{SINGLE}/answer"]) == 1
    assert "3 of 3 left" in browser.get(LIST).text
    for wrong in (f"{EXAM}/1/{SINGLE}/answer", f"{EXAM}/9/1/answer", "K7/1/1/answer", "x"):
        assert run([*undo, wrong]) == 2
    assert run([*command, f"{EXAM}/1/{SINGLE}/answer={right[SINGLE]}"]) == 1
    assert send_form(browser, place(1, SINGLE), "/undo").status_code == 303
    # What was undone is open for the command too.
    scans = ScannedCourse(site.store, PrintedExams(site.folder), site.state.roster, site.mode).scans(EXAM)
    assert [f.name for f in scans.copies[0].open_fields] == [f"{SINGLE}/answer", f"{TOKEN}/answer"]
    assert decide(browser, 1, SINGLE, **{"row.0": right[SINGLE]}) == 303
    assert run([*command, f"{EXAM}/1/{TOKEN}/answer=-"]) == 1  # bob's sheet still waits
    assert len(outcomes(site, "ada")) == 5
    assert run([*undo, f"{EXAM}/1/{TOKEN}/answer"]) == 2, "it is handed in"
    page = Path(site.folder, "prints", EXAM, "scans.html").read_text(encoding="utf-8")
    assert "Mia Marker" in page
    assert "1 of 3 left" in browser.get(LIST).text


def test_markers_go_from_place_to_place(site: Site, sheets: ScannedClass, signed_in: SignedIn) -> None:
    browser = signed_in("mia")
    visited = []
    after = browser.get(f"{LIST}/next").headers["location"]
    for _ in range(3):
        visited.append(after)
        skip = re.search(r'data-rubric="([^"]+)"', browser.get(after).text)
        assert skip is not None
        after = browser.get(skip[1].replace("&amp;", "&")).headers["location"]
    assert len(set(visited)) == 3 and after == visited[0], "round and round"
    item = sheets.quizzes["ada"].questions[TOKEN - 1].variant.item
    only = browser.get(f"{LIST}/next", params={"item": item}).headers["location"]
    assert only.startswith(place(1, TOKEN)) and f"item={item}" in only
    for number, fields in ((SINGLE, {"row.0": "a"}), (TOKEN, {"blank": "yes", "answer": ""})):
        assert decide(browser, 1, number, **fields) == 303
    assert decide(browser, 2, MULTIPLE, **{"row.0": "a"}) == 303
    assert browser.get(f"{LIST}/next").headers["location"] == LIST
    assert "Nothing waits for a decision" in browser.get(LIST).text


def test_a_marker_decides_nothing_about_their_own_sheet(
    site: Site, sheets: ScannedClass, signed_in: SignedIn
) -> None:
    staff = site.folder / "staff.csv"
    staff.write_text(staff.read_text(encoding="utf-8") + "bob,Bob Moran,b@example.edu,marker\n", "utf-8")
    site.look_again()
    bob = signed_in("bob")
    assert "your own sheet" in bob.get(LIST).text
    assert "data-rubric" not in bob.get(place(2, MULTIPLE)).text
    token = form_token(bob, place(1, SINGLE))
    refused = bob.post(f"{place(2, MULTIPLE)}/decide", data={"csrf": token, "seen": "", "row.0": "a"})
    assert refused.status_code == 403 and site.store.scans.decisions(EXAM) == []
    for number in "159":
        after = bob.get(f"{LIST}/next", params={"after": f"{EXAM}/1/{number}/answer"})
        assert after.headers["location"] in (place(1, SINGLE), place(1, TOKEN))


def test_names_are_hidden_where_the_course_marks_blind(
    site: Site, sheets: ScannedClass, signed_in: SignedIn
) -> None:
    (site.folder / "web.yaml").write_text("blind_marking: true\n", encoding="utf-8")
    site.look_again()
    for page in (LIST, place(1, SINGLE)):
        assert "Lovelace" not in signed_in("mia").get(page).text
        assert "Lovelace" in signed_in("ivy").get(page).text


def test_no_address_leads_anywhere_else(site: Site, sheets: ScannedClass, signed_in: SignedIn) -> None:
    browser = signed_in("mia")
    for exam in ("..", "~2E~2E", "..~2F..~2Froster.csv", "NOPRINT", ".softmark"):
        for name in ("1~2F1~2Fanswer", "..~2F..~2Fprint.json", "x"):
            for end in ("", "/picture/1"):
                assert browser.get(f"{LIST}/of/{exam}/{name}{end}").status_code == 404
    assert browser.get(f"{place(1, NUMBER)}").status_code == 404, "nothing of it is unclear"
    assert signed_in("ada").get(f"{place(1, SINGLE)}/picture/1").status_code == 404


def test_whose_a_spare_copy_is_an_instructor_decides(site: Site, signed_in: SignedIn) -> None:
    printed = print_exam(site, spare=True)
    # Nobody in the roster has the number 123.
    printed.scan(SPARE, {0: "123", **printed.right(SPARE)})
    where = f"{LIST}/of/{EXAM}/3~2Fstudent"
    mia, ivy = signed_in("mia"), signed_in("ivy")
    assert "nobody in the roster has the student number 123" in mia.get(LIST).text
    assert "an instructor decides" in mia.get(where).text
    data = {"csrf": form_token(mia, "/account"), "seen": "", "answer": "bob"}
    refused = mia.post(f"{where}/decide", data=data)
    assert refused.status_code == 403 and "an instructor decides" in refused.text
    assert send_form(ivy, where, "/decide", answer="nobody at all").status_code == 400
    assert send_form(ivy, where, "/decide", answer="Bob Moran").status_code == 303
    marks = outcomes(site, "bob")
    assert len(marks) == 5 and set(marks.values()) == {Outcome.RIGHT, Outcome.WRONG}  # its box was left empty
    assert site.store.scans.owners(EXAM) == {3: "bob"}
    (decision,) = site.store.scans.decisions(EXAM)
    assert (decision.field, decision.text, decision.by) == ("student", "bob", "Ivy Prof")


def test_whose_a_copy_is_cant_be_undone_once_its_quiz_is_that_students(
    site: Site, signed_in: SignedIn
) -> None:
    printed = print_exam(site, spare=True)
    printed.scan(SPARE, {0: "123"}, unsure={SINGLE: "a"})
    ivy, where = signed_in("ivy"), f"{LIST}/of/{EXAM}/3~2Fstudent"
    assert send_form(ivy, where, "/decide", answer="bob").status_code == 303
    refused = send_form(ivy, where, "/undo")
    assert refused.status_code == 400 and "can&#39;t be undone" in refused.text


def test_of_two_sheets_of_one_student_one_is_void_until_that_is_undone(
    site: Site, signed_in: SignedIn
) -> None:
    roster = site.folder / "roster.csv"
    roster.write_text("id,name,email\n101,Ada Lovelace,ada@example.edu\nbob,Bob,b@example.edu\n", "utf-8")
    site.look_again()
    printed = print_exam(site, spare=True)
    copies = (replace(printed.record.copies[0], student="101"), *printed.record.copies[1:])
    quiz = replace(printed.quizzes["ada"], student="101")
    site.store.save_quizzes([quiz])
    printed.record = replace(printed.record, copies=copies)
    write_record(site.folder / "prints" / EXAM, printed.record)
    printed.quizzes["101"] = quiz
    printed.scan("101", printed.right("101"))
    printed.scan(SPARE, {0: "101", **printed.right(SPARE)})
    browser = signed_in("ivy")
    page = browser.get(LIST).text
    assert page.count("<article") == 2 and "handed in copy 3 too" in page and "handed in copy 1 too" in page
    where = f"{LIST}/of/{EXAM}/3~2Fcopy"
    assert send_form(browser, where, "/decide", answer="other").status_code == 400
    assert send_form(browser, where, "/decide", answer="void").status_code == 303
    assert len(outcomes(site, "101")) == 5, "the other copy is handed in at once"
    assert browser.get(LIST).text.count("<article") == 0
    # Undone, it waits again, beside the one that is handed in.
    assert send_form(browser, f"{LIST}?show=decided", "/undo").status_code == 303
    assert "handed in copy 1 too" in browser.get(LIST).text and len(outcomes(site, "101")) == 5


def test_a_decision_and_what_follows_are_one_transaction(
    site: Site, sheets: ScannedClass, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = signed_in("mia")
    token, log = form_token(browser, place(2, MULTIPLE)), len(site.store.audit.newest(50))

    def fails(*_arguments: object, **_more: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr("engine.scanning.sheet_hand_ins.hand_in", fails)
    data = {"csrf": token, "seen": "", "row.0": "a"}
    assert browser.post(f"{place(2, MULTIPLE)}/decide", data=data).status_code >= 500
    assert site.store.scans.decisions(EXAM) == [] and len(site.store.audit.newest(50)) == log
    monkeypatch.undo()
    assert browser.post(f"{place(2, MULTIPLE)}/decide", data=data).status_code == 303
    assert len(outcomes(site, "bob")) == 5


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_of_markers_at_the_same_moment_one_decides(kind: str, tmp_path: Path) -> None:
    place_of_store = server().new_store() if kind == "postgresql" else ""
    folder = new_course(tmp_path / "course", store=place_of_store)
    with Course.open(folder).open_store() as store:
        site = Site(folder, store, ADDRESS)
        sheets = print_exam(site)
        sheets.scan("ada", {}, unsure={SINGLE: "a"}, written=[TOKEN])
        letters = [option.id for option in sheets.quizzes["ada"].questions[0].variant.parts[0].options]
        browsers = []
        for _ in range(4):
            cookie = store.sessions.begin("mia", way="mail", now=now(), lasts=timedelta(hours=1))
            browsers.append(TestClient(application(site), base_url=ADDRESS, follow_redirects=False))
            browsers[-1].cookies.set(SESSION_COOKIE, cookie)
        tokens = [form_token(browser, place(1, SINGLE)) for browser in browsers]

        def send(number: int) -> int:
            data = {"csrf": tokens[number], "seen": "", "row.0": letters[number]}
            return browsers[number].post(f"{place(1, SINGLE)}/decide", data=data).status_code

        with ThreadPoolExecutor(4) as threads:
            statuses = list(threads.map(send, range(4)))
        assert sorted(statuses) == [303, 400, 400, 400]
        (decision,) = store.scans.decisions(EXAM)
        assert decision.text == letters[statuses.index(303)]


def test_words_on_a_spare_copy_of_nobody_need_no_decision(site: Site, signed_in: SignedIn) -> None:
    blueprint = "title: M\nsections:\n  - items: [softmax-stability, why-scaled-scores, greedy-path]\n"
    printed = print_exam(site, blueprint, spare=True)
    printed.scan(SPARE, {0: "123"}, written=[2, 3])
    ivy = signed_in("ivy")
    page = ivy.get(LIST).text
    # Whose it is, and the token; the words wait for their marker.
    assert page.count("<article") == 2 and "2 of 2 left" in page
    assert send_form(ivy, f"{LIST}/of/{EXAM}/3~2Fstudent", "/decide", answer="bob").status_code == 303
    assert decide(ivy, 3, 3, answer="", blank="yes") == 303
    assert outcomes(site, "bob")["why-scaled-scores"] is Outcome.UNGRADED
    assert "1</td>" in ivy.get("/staff/marking").text


def test_what_was_undone_while_the_command_ran_isnt_handed_in(
    site: Site, sheets: ScannedClass, signed_in: SignedIn
) -> None:
    course = ScannedCourse(site.store, PrintedExams(site.folder), site.state.roster, site.mode)
    browser = signed_in("mia")
    for number, text in ((SINGLE, "a"), (TOKEN, "")):
        decision = ScanDecision(EXAM, 1, "ada", f"{number}/answer", text, "prof", now())
        site.store.scans.decide(decision)
    (ready, _) = course.scans(EXAM).copies  # as the command has read it
    assert ready.is_ready
    assert send_form(browser, place(1, SINGLE), "/undo").status_code == 303
    with site.store.one_transaction():
        sheet = course.hand_in(EXAM, ready, now(), None)
    assert not sheet.is_new and "just now" in str(sheet.reason) and outcomes(site, "ada") == {}
