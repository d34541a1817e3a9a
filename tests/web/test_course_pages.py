"""The course's own files on the site: checked by the readers, saved in one step, and only by instructors."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path

import httpx2
import pytest
from starlette.testclient import TestClient

from engine.commands import run
from engine.course import Course
from engine.course.course_files import digest_of
from engine.web.site import Site
from tests.web.conftest import ROSTER, STAFF, SignedIn
from tests.web.course_work import draw_quiz, hand_in, write_blueprint
from tests.web.forms_of_pages import form_token, send_form
from tests.web.jobs_of_site import result_of

FILES = "/staff/course/files/"


def typed(page: httpx2.Response, name: str = "text") -> str:
    """Return the text of a field of several lines, as a browser has it."""
    match = re.search(rf'<textarea id="{name}"[^>]*>\n(.*?)</textarea>', page.text, re.DOTALL)
    assert match is not None
    return html.unescape(match[1])


def save(browser: TestClient, name: str, text: str, **more: str) -> httpx2.Response:
    """Send a file's form as it is opened now, with another text."""
    return send_form(browser, FILES + name, name, text=text, do="save", **more)


def entries(site: Site, action: str = "file.save") -> list[tuple[str, str, str, str]]:
    found = [entry for _, entry in site.store.audit.newest(50, action=action)]
    return [(e.by, e.subject, e.details["before"], e.details["after"]) for e in found]


def said(page: httpx2.Response) -> str:
    """Return what a page says, without its markup."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page.text)))


# --- the list ---


def test_the_list_has_each_file_with_its_state(site: Site, signed_in: SignedIn) -> None:
    write_blueprint(site.folder, "title: Faulty\nsections:\n  - itmes: [softmax-ratio]\n", "faulty")
    write_blueprint(site.folder)
    (site.folder / "web.yaml").write_text("mail: {folder: secret-place}\n", encoding="utf-8")
    page = signed_in("ivy").get("/staff/course")
    words = said(page)
    for part in (
        "roster.csv",
        "2 students",
        "staff.csv",
        "2 people",
        "course.yaml",
        "blueprints/week-1.yaml",
    ):
        assert part in words, part
    assert "blueprints/faulty.yaml:3:" in words and "1 fault" in words and words.count(" fine ") == 4
    assert "web.yaml names servers" in words and "secret-place" not in page.text
    assert f'href="{FILES}blueprints~2Ffaulty.yaml"' in page.text
    assert str(site.folder) not in page.text
    assert "several machines" not in words
    assert "edit" in signed_in("ivy").get("/staff/quizzes").text


def test_where_several_machines_serve_the_page_says_whose_files_these_are(
    site: Site, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Course, "store_place", "postgresql://db/x")
    for path in ("/staff/course", FILES + "roster.csv"):
        assert "the machine that answered" in said(signed_in("ivy").get(path))


@pytest.mark.parametrize("path", ["/staff/course", "/staff/course/new", FILES + "staff.csv"])
def test_course_files_are_for_instructors(path: str, site: Site, signed_in: SignedIn) -> None:
    for who in ("ada", "mia"):
        browser = signed_in(who)
        assert browser.get(path).status_code == 404
        token = form_token(browser, "/account")
        assert browser.post(path, data={"csrf": token, "text": "x"}).status_code in (404, 405)
    assert (site.folder / "staff.csv").read_text(encoding="utf-8") == STAFF


@pytest.mark.parametrize(
    "name", ["web.yaml", "..~2Fweb.yaml", ".softmark~2Fsecret", "blueprints~2F..~2Fweb.yaml"]
)
def test_other_files_arent_there(name: str, site: Site, signed_in: SignedIn) -> None:
    (site.folder / "web.yaml").write_text("mail: {folder: mails}\n", encoding="utf-8")
    assert signed_in("ivy").get(FILES + name).status_code == 404


# --- one file ---


def test_a_new_student_can_sign_in_at_once(site: Site, signed_in: SignedIn) -> None:
    browser = signed_in("ivy")
    text = ROSTER + "cyd,Cyd Zoë,cyd@example.edu\n"
    answer = save(browser, "roster.csv", text.replace("\n", "\r\n"))
    assert answer.status_code == 303
    assert (site.folder / "roster.csv").read_bytes() == text.encode()
    assert "cyd" in site.people.by_id
    page = browser.get(answer.headers["location"])
    assert "roster.csv is saved: 3 students" in said(page) and typed(page) == text
    digests = [digest_of(each.encode())[:16] for each in (ROSTER, text)]
    assert entries(site) == [("ivy", "roster.csv", *digests)]
    (entry,) = [e for _, e in site.store.audit.newest(5, action="file.save")]
    assert "Cyd" not in str(entry.details), "the log has no content"
    # the same once more is no save
    assert save(browser, "roster.csv", text).status_code == 303
    assert len(entries(site)) == 1


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("roster.csv", "id,name,email\nada,Ada\nada,Eve\n", "roster.csv:3:1"),
        ("staff.csv", STAFF + "max,Max,max@example.edu,boss\n", "staff.csv:4:1"),
        ("course.yaml", "title: A\npolicies: {timezone: Berlin}\n", "course.yaml:2:"),
        ("blueprints~2Fweek-1.yaml", "title: A\nsections:\n  - itmes: [x]\n", "blueprints/week-1.yaml:3:"),
        ("course.yaml", "title: A\nstore: postgresql://evil.example/x\n", "course.yaml:2:1"),
        ("course.yaml", "title: A\nmode: practice\n", "course.yaml:2:1"),
    ],
)
def test_a_fault_is_shown_by_line_and_nothing_is_saved(
    name: str, text: str, place: str, site: Site, signed_in: SignedIn
) -> None:
    path = write_blueprint(site.folder)
    before = {p: p.read_bytes() for p in (path, *site.folder.glob("*.csv"), site.folder / "course.yaml")}
    browser = signed_in("ivy")
    for do, status in (("check", 200), ("save", 400)):
        answer = send_form(browser, FILES + name, name, text=text, do=do)
        assert answer.status_code == status
        assert place in said(answer) and "This can't be saved" in said(answer)
        assert typed(answer) == text, "nothing that was typed is lost"
    assert {p: p.read_bytes() for p in before} == before and entries(site) == []


def test_a_check_saves_nothing(site: Site, signed_in: SignedIn) -> None:
    text = ROSTER + "cyd,Cyd,not an address\n"
    answer = send_form(signed_in("ivy"), FILES + "roster.csv", "roster.csv", text=text, do="check")
    assert answer.status_code == 200 and "1 warning" in said(answer) and "roster.csv:4:" in said(answer)
    assert (site.folder / "roster.csv").read_text(encoding="utf-8") == ROSTER
    # warnings keep nobody from saving
    assert save(signed_in("ivy"), "roster.csv", text).status_code == 303
    assert "roster.csv:4:" in said(signed_in("ivy").get(FILES + "roster.csv"))


def test_rules_are_checked_against_the_course_and_hold_at_once(site: Site, signed_in: SignedIn) -> None:
    browser = signed_in("ivy")
    text = (site.folder / "course.yaml").read_text(encoding="utf-8")
    rules = text.rstrip() + "\n  timezone: Europe/Berlin\n  assignments:\n    softmx: {due: 2999-01-01}\n"
    answer = save(browser, "course.yaml", rules)
    page = browser.get(answer.headers["location"])
    assert "softmx" in said(page) and "warning" in said(page)
    assert run(["course", "check", "--course", str(site.folder)]) == 1, "the command warns of the same"
    assert save(browser, "course.yaml", rules.replace("softmx", "softmax")).status_code == 303
    assert site.course.policies.timezone == "Europe/Berlin"
    assert site.course.policies.named == ("softmax",)


def test_a_blueprint_that_names_no_item_is_warned_of(site: Site, signed_in: SignedIn) -> None:
    write_blueprint(site.folder, "title: A\nsections:\n  - items: [no-such-item]\n")
    page = said(signed_in("ivy").get(FILES + "blueprints~2Fweek-1.yaml"))
    assert "no-such-item" in page and "blueprints/week-1.yaml:3:" in page and "1 warning" in page


def test_a_long_text_of_any_script_comes_through_as_the_browser_sends_it(
    site: Site, signed_in: SignedIn
) -> None:
    # In the usual form each of these letters would take six bytes, and more than a form may have.
    browser = signed_in("ivy")
    page = browser.get(FILES + "roster.csv")
    assert re.search(r'<form[^>]*enctype="multipart/form-data"[^>]*roster\.csv', page.text)
    text = ROSTER + "".join(f"s{number},{'Я' * 80},\r\n" for number in range(4000))
    data = {**hidden(page), "do": "save"}
    answer = browser.post(FILES + "roster.csv", data=data, files={"text": (None, text.encode())})
    assert answer.status_code == 303
    assert (site.folder / "roster.csv").read_text(encoding="utf-8") == text.replace("\r\n", "\n")


# --- two people, and what must not happen ---


def test_two_people_dont_overwrite_each_other(site: Site, signed_in: SignedIn) -> None:
    (site.folder / "staff.csv").write_text(STAFF + "max,Max,max@example.edu,instructor\n", encoding="utf-8")
    site.look_again()
    first, second = signed_in("ivy"), signed_in("max")
    opened = second.get(FILES + "roster.csv").text
    mine, theirs = ROSTER + "cyd,Cyd,cyd@example.edu\n", ROSTER + "dan,Dan,dan@example.edu\n"
    assert save(first, "roster.csv", theirs).status_code == 303
    digest = re.search(r'name="digest" value="([^"]*)"', opened)
    assert digest is not None
    refused = save(second, "roster.csv", mine, digest=digest[1])
    assert refused.status_code == 409
    assert "has changed since you opened it; Ivy Prof saved it" in said(refused)
    assert (typed(refused), typed(refused, "theirs")) == (mine, theirs)
    assert (site.folder / "roster.csv").read_text(encoding="utf-8") == theirs
    # the page that shows both may replace what it has shown
    shown = re.search(r'name="digest" value="([^"]*)"', refused.text)
    assert shown is not None
    both = theirs + "cyd,Cyd,cyd@example.edu\n"
    assert save(second, "roster.csv", both, digest=shown[1]).status_code == 303
    assert [entry[0] for entry in entries(site)] == ["max", "ivy"]


def test_somebody_who_is_faster_by_a_moment_isnt_overwritten(
    site: Site, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    roster, theirs = site.folder / "roster.csv", ROSTER + "dan,Dan,\n"

    def slow(site: Site) -> None:
        roster.write_text(theirs, encoding="utf-8")

    from engine.web.instructor import course_pages

    plain = course_pages.save_course_file

    def late(*arguments, **more):
        slow(site)
        return plain(*arguments, **more)

    monkeypatch.setattr(course_pages, "save_course_file", late)
    answer = save(signed_in("ivy"), "roster.csv", ROSTER + "cyd,Cyd,\n")
    assert answer.status_code == 409 and typed(answer, "theirs") == theirs
    assert roster.read_text(encoding="utf-8") == theirs and entries(site) == []


def test_an_instructor_keeps_the_own_role(site: Site, signed_in: SignedIn) -> None:
    browser = signed_in("ivy")
    for text in (STAFF.replace("instructor", "marker"), STAFF.partition("ivy,")[0], "id,role\n"):
        answer = save(browser, "staff.csv", text)
        assert answer.status_code == 400 and "your own role as instructor" in said(answer)
    assert (site.folder / "staff.csv").read_text(encoding="utf-8") == STAFF
    # also where the file was damaged meanwhile, and the site goes on with the people from before
    (site.folder / "staff.csv").write_text("id,name\n", encoding="utf-8")
    assert save(browser, "staff.csv", "id,role\nmax,instructor\n").status_code == 400
    # somebody else's role can be given and taken
    text = STAFF.replace("marker", "instructor")
    assert save(browser, "staff.csv", text).status_code == 303
    assert (
        save(
            signed_in("mia"),
            "staff.csv",
            STAFF.replace(",instructor", ",marker").replace("marker", "instructor", 1),
        ).status_code
        == 303
    )
    assert browser.get("/staff/course").status_code == 404


def test_an_id_of_the_staff_isnt_given_to_a_student(site: Site, signed_in: SignedIn) -> None:
    answer = save(signed_in("ivy"), "roster.csv", ROSTER + "mia,Eve Other,eve@example.edu\n")
    assert answer.status_code == 400 and "mia" in said(answer)
    answer = save(signed_in("ivy"), "staff.csv", STAFF + "ada,Eve Other,eve@example.edu,marker\n")
    assert answer.status_code == 400 and "ada" in said(answer)


def test_students_are_taken_out_only_when_that_is_said_twice(site: Site, signed_in: SignedIn) -> None:
    hand_in(site, draw_quiz(site)["ada"])
    browser, text = signed_in("ivy"), "id,name,email\n"
    asked = save(browser, "roster.csv", text)
    assert asked.status_code == 200
    words = said(asked)
    assert "2 students would be removed from the roster" in words and "Ada Lovelace and Bob Moran" in words
    assert "Work was handed in by Ada Lovelace. It stays in the store" in words
    assert (site.folder / "roster.csv").read_text(encoding="utf-8") == ROSTER
    agreed = re.search(r'name="agreed" value="([^"]*)"', asked.text)
    assert agreed is not None
    # what was agreed to is this text and no other
    assert save(browser, "roster.csv", "id\nbob\n", agreed=agreed[1]).status_code == 200
    assert save(browser, "roster.csv", text, agreed=agreed[1]).status_code == 303
    assert site.state.roster.students == () and site.store.students() == ["ada"]


def test_a_folder_that_cant_be_written_is_one_sentence(
    site: Site, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("engine.course.course_files.replacing", refuse)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "allowed to write to the course folder" in said(signed_in("ivy").get("/staff/course"))
    answer = save(signed_in("ivy"), "roster.csv", ROSTER + "cyd,Cyd,\n")
    assert answer.status_code == 400
    assert "Roster.csv can't be written on the server" in said(answer) and "Permission denied" in said(answer)
    assert entries(site) == []


def test_too_much_and_what_isnt_text(site: Site, signed_in: SignedIn) -> None:
    browser = signed_in("ivy")
    answer = save(browser, "roster.csv", "é" * 600_000)
    assert answer.status_code == 413 and "too large" in said(answer)
    token = form_token(browser, FILES + "roster.csv")
    digest = digest_of(ROSTER.encode())
    body = f"csrf={token}&digest={digest}&do=save&text=id%0A%FF%FE".encode()
    kind = {"content-type": "application/x-www-form-urlencoded"}
    answer = browser.post(FILES + "roster.csv", content=body, headers=kind)
    assert answer.status_code == 400 and "line 2 holds a character that was damaged" in said(answer).lower()
    assert (site.folder / "roster.csv").read_text(encoding="utf-8") == ROSTER


# --- a new blueprint ---


def test_a_new_blueprint_is_tried_drawn_and_never_replaces_another(site: Site, signed_in: SignedIn) -> None:
    browser = signed_in("ivy")
    page = browser.get("/staff/course/new")
    text = typed(page)
    assert "time_limit" in text and "items:" in text
    for name in ("", "../x", "two words"):
        refused = send_form(browser, "/staff/course/new", "/new", name=name, text="mine", do="save")
        assert refused.status_code == 400 and "can't have this name" in said(refused)
        assert typed(refused) == "mine"
    made = send_form(browser, "/staff/course/new", "/new", name="week-5", text=text, do="save")
    assert made.status_code == 303 and made.headers["location"].startswith(FILES + "blueprints~2Fweek-5.yaml")
    assert [entry[1:3] for entry in entries(site)] == [("blueprints/week-5.yaml", "")]
    edit = browser.get(made.headers["location"])
    assert "No faults and no warnings" in said(edit)
    tried = send_form(browser, FILES + "blueprints~2Fweek-5.yaml", "/check", blueprint="week-5")
    assert "Nothing is stored" in said(result_of(site, browser, tried))
    again = send_form(browser, "/staff/course/new", "/new", name="week-5", text="mine", do="save")
    assert again.status_code == 409 and "already" in said(again) and typed(again) == "mine"
    assert (site.folder / "blueprints" / "week-5.yaml").read_text(encoding="utf-8") == text


# --- a roster of a learning system ---


UPLOAD = (
    'Student,ID,SIS User ID,SIS Login ID,Section\n"Lovelace, Ada King",7,ada,ak7,A\n"Zoë, Cyd",9,cyd,cz9,A\n'
)


def upload(browser: TestClient, content: bytes, name: str = "roster.csv") -> httpx2.Response:
    token = form_token(browser, "/staff/course")
    return browser.post(
        "/staff/course/roster", data={"csrf": token}, files={"roster": (name, content, "text/csv")}
    )


def hidden(page: httpx2.Response) -> dict[str, str]:
    return {
        name: html.unescape(value)
        for name, value in re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', page.text)
    }


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_an_upload_shows_everything_before_it_is_written(
    encoding: str, site: Site, signed_in: SignedIn
) -> None:
    hand_in(site, draw_quiz(site)["bob"])
    browser = signed_in("ivy")
    shown = upload(browser, UPLOAD.encode(encoding))
    words = said(shown)
    assert shown.status_code == 200 and "2 students in roster.csv" in words
    assert "New Zoë, Cyd cyd" in words and "name: Ada Lovelace Lovelace, Ada King" in words
    assert "In the roster, but not in this file Bob Moran bob" in words
    assert "Work was handed in by Bob Moran" in words
    assert (site.folder / "roster.csv").read_text(encoding="utf-8") == ROSTER
    written = browser.post("/staff/course/roster/write", data={**hidden(shown), "missing": "keep"})
    assert written.status_code == 303
    assert "3 students, 1 new, 1 changed, 0 removed" in said(browser.get("/staff/course"))
    students = site.state.roster.by_id
    assert students["cyd"].login == "cz9" and students["ada"].email == "ada@example.edu" and "bob" in students
    (kept,) = (site.folder / ".softmark" / "rosters").iterdir()
    assert kept.read_text(encoding="utf-8") == ROSTER
    after = digest_of((site.folder / "roster.csv").read_bytes())[:16]
    assert entries(site, "roster.write") == [("ivy", "roster.csv", digest_of(ROSTER.encode())[:16], after)]


def test_students_who_arent_in_the_upload_can_be_taken_out(site: Site, signed_in: SignedIn) -> None:
    browser = signed_in("ivy")
    shown = upload(browser, UPLOAD.encode())
    browser.post("/staff/course/roster/write", data={**hidden(shown), "missing": "remove"})
    assert list(site.state.roster.by_id) == ["ada", "cyd"]


def test_an_upload_over_a_newer_roster_is_shown_again(site: Site, signed_in: SignedIn) -> None:
    browser = signed_in("ivy")
    shown = upload(browser, UPLOAD.encode())
    newer = ROSTER + "cyd,Cyd Zoë,cyd@example.edu\n"
    (site.folder / "roster.csv").write_text(newer, encoding="utf-8")
    again = browser.post("/staff/course/roster/write", data=hidden(shown))
    assert again.status_code == 200 and "The roster has changed since" in said(again)
    assert (site.folder / "roster.csv").read_text(encoding="utf-8") == newer
    assert browser.post("/staff/course/roster/write", data=hidden(again)).status_code == 303


def test_an_upload_with_faults_takes_nobody_out(site: Site, signed_in: SignedIn) -> None:
    browser = signed_in("ivy")
    shown = upload(browser, b"id,name\nada,Ada\n,Nobody\nbob,Bob,too,many\n", "list 7.csv")
    words = said(shown)
    assert "The file has faults" in words and "list 7.csv:3:" in words
    assert 'name="missing"' not in shown.text and "They stay in the roster" in words
    # nor when the roster changes meanwhile, and the differences are shown again
    (site.folder / "roster.csv").write_text(ROSTER + "cyd,Cyd,\n", encoding="utf-8")
    again = browser.post("/staff/course/roster/write", data=hidden(shown))
    assert again.status_code == 200 and 'name="missing"' not in again.text
    browser.post("/staff/course/roster/write", data={**hidden(again), "missing": "remove"})
    assert list(site.state.roster.by_id) == ["ada", "bob", "cyd"]


def test_unknown_columns_of_the_roster_are_named_before_they_are_lost(
    site: Site, signed_in: SignedIn
) -> None:
    (site.folder / "roster.csv").write_text("id,name,tutor\nada,Ada,Tom\n", encoding="utf-8")
    assert "will be lost: tutor" in said(upload(signed_in("ivy"), UPLOAD.encode()))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "No student was found"),
        (b"just,some,words\n1,2,3\n", "No student was found"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\0\0", "No student was found"),
        (b"id,name\nmia,Eve Other\n", "could see the other's work"),
    ],
)
def test_an_upload_that_cant_be_used_is_one_page(
    content: bytes, words: str, site: Site, signed_in: SignedIn
) -> None:
    browser = signed_in("ivy")
    shown = upload(browser, content)
    assert shown.status_code == 200 and words in said(shown)
    assert "/staff/course/roster/write" not in shown.text
    none = browser.post("/staff/course/roster", data={"csrf": form_token(browser, "/staff/course")})
    assert none.status_code == 400 and "no file was chosen" in said(none).lower()


def test_a_faulty_roster_is_mended_before_an_upload(site: Site, signed_in: SignedIn) -> None:
    faulty = "id,name\nada,Ada\nada,Eve\n"
    (site.folder / "roster.csv").write_text(faulty, encoding="utf-8")
    shown = upload(signed_in("ivy"), UPLOAD.encode())
    assert "roster.csv has 1 fault" in said(shown) and "/staff/course/roster/write" not in shown.text
    assert (site.folder / "roster.csv").read_text(encoding="utf-8") == faulty
