"""What every page of the site has in common."""

from __future__ import annotations

import base64
import errno
import os
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from engine.errors import StoreError
from engine.quiz import rules as quiz_rules
from engine.web.application import application
from engine.web.forms import Form
from engine.web.site import Site
from engine.web.visit import NOTICE_COOKIE, Visit, segment_text
from tests.web.conftest import ADDRESS, SignedIn


def test_the_first_page(client: TestClient, signed_in: SignedIn) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert "Sign in" in page.text
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "Ada Lovelace" in signed_in("ada").get("/", follow_redirects=True).text


def test_an_address_that_isnt_there(client: TestClient) -> None:
    page = client.get("/nothing/here")
    assert page.status_code == 404
    assert "There is no such page" in page.text
    assert page.headers["x-content-type-options"] == "nosniff"
    assert client.post("/health").status_code == 405


@pytest.mark.parametrize(
    "forged", ["[" * 40_000, "[" * 400 + "]" * 400, '{"a": 1}', '[7, "Saved."]', "1" * 9000]
)
def test_a_forged_notice_harms_nobody(client: TestClient, forged: str) -> None:
    client.cookies.set(NOTICE_COOKIE, base64.urlsafe_b64encode(forged.encode()).decode())
    page = client.get("/")
    assert page.status_code == 200 and page.headers["content-security-policy"]
    assert ("Saved." in page.text) is ("Saved." in forged)


def test_health(client: TestClient) -> None:
    assert client.get("/health").json() == {"status": "ok"}


def test_static_files(client: TestClient) -> None:
    assert ".bar" in client.get("/static/site.css").text
    assert client.get("/static/page.js").headers["content-type"].startswith("text/javascript")
    assert client.get("/static/../application.py").status_code == 404


def test_a_changed_course_folder(client: TestClient, site: Site, folder: Path, signed_in: SignedIn) -> None:
    browser = signed_in("ivy")
    settings = folder / "course.yaml"
    good = settings.read_text(encoding="utf-8")
    settings.write_text(good.replace("Attention", "More attention"), encoding="utf-8")
    site._looked = 0.0
    assert "More attention" in client.get("/").text
    settings.write_text("title: [", encoding="utf-8")
    site._looked = 0.0
    assert "More attention" in client.get("/").text
    pages = {who: signed_in(who).get("/staff/class").text for who in ("ivy", "mia")}
    assert all("has a fault" in page for page in pages.values())
    # an instructor can mend it there
    assert (">Course files</a>" in pages["ivy"], ">Course files</a>" in pages["mia"]) == (True, False)
    settings.write_text(good, encoding="utf-8")
    site._looked = 0.0
    assert "has a fault" not in browser.get("/staff/class").text


_RULES = "policies:\n  assignments:\n    attn-weights-one-query: {due: 2026-12-18}\n"


@pytest.mark.parametrize("cause", ["due: 2026-13-18", "due: 2026-12-18, opns: 2026-12-01"])
def test_with_a_fault_in_the_rules_the_last_good_rules_go_on(
    site: Site, signed_in: SignedIn, cause: str
) -> None:
    settings = site.folder / "course.yaml"
    title = "title: Attention\n"
    settings.write_text(title + _RULES, encoding="utf-8")
    site._looked = 0.0
    assert site.policies().named
    settings.write_text(title + _RULES.replace("due: 2026-12-18", cause), encoding="utf-8")
    site._looked = 0.0
    page = signed_in("ivy").get("/staff/class").text
    assert "the site uses what it read before" in page and "course.yaml:4" in page
    assert site.policies().named and not site.course.rule_faults
    assert "has a fault" not in signed_in("ada").get("/work").text
    settings.write_text(title + _RULES, encoding="utf-8")
    site._looked = 0.0
    assert site.policies().named and site.fault is None


def test_rules_that_are_faulty_at_the_start_are_shown_to_staff(site: Site, signed_in: SignedIn) -> None:
    settings = site.folder / "course.yaml"
    settings.write_text("title: Attention\n" + _RULES.replace("12-18", "13-18"), encoding="utf-8")
    started = Site(site.folder, site.store, site.address)
    with TestClient(application(started), base_url=started.address) as browser:
        browser.cookies.update(signed_in("ivy").cookies)
        page = browser.get("/staff/class").text
    assert "none of them apply" in page and "course.yaml:4" in page
    # What else changes is read: there are no better rules to go on with.
    with (site.folder / "roster.csv").open("a", encoding="utf-8") as roster:
        roster.write("eve,Eve,eve@example.edu\n")
    started._looked = 0.0
    assert "eve" in started.people.by_id and started.fault is not None


def test_a_faulty_roster_signs_nobody_out(site: Site, signed_in: SignedIn) -> None:
    ada, ivy = signed_in("ada"), signed_in("ivy")
    path = site.folder / "roster.csv"
    good = path.read_text(encoding="utf-8")
    for fault in ("ada,Ada Twice,twice@example.edu\n", ",Nobody,\n"):
        path.write_text(good + fault, encoding="utf-8")
        site._looked = -1e9
        assert ada.get("/work").status_code == 200
        page = ivy.get("/staff/class").text
        assert "the site uses what it read before" in page and "roster.csv:4" in page
    # A site that is started with it has nothing better, and says so.
    started = Site(site.folder, site.store, site.address)
    with TestClient(application(started), base_url=started.address) as browser:
        browser.cookies.update(ivy.cookies)
        assert "The roster has a fault" in browser.get("/staff/class").text
    path.write_text(good + "eve,Eve,eve@example.edu\n", encoding="utf-8")
    site._looked = started._looked = -1e9
    assert "eve" in site.people.by_id and site.fault is None
    assert "eve" in started.people.by_id and started.fault is None


def test_names_of_any_kind_stay_one_piece_of_an_address(site: Site) -> None:
    visit = Visit(
        site, None, None, quiz_rules.now(), {}, {}, Form(), "GET", "", "/nlp", "", "",
        routes={"student": "/class/{student}/work"},
    )  # fmt: skip
    address = visit.url("student", student="a/b?~é", page=2, x=None)
    assert address == "/nlp/class/a~2Fb~3F~7E~C3~A9/work?page=2"
    assert segment_text("a~2Fb~3F~7E~C3~A9") == "a/b?~é"
    assert visit.full_url("student", student="1").startswith("http://testserver/class/1/work")


def test_while_the_store_is_away_every_page_says_so(
    site: Site, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = signed_in("ada")

    def away(*_args: object, **_more: object) -> None:
        raise StoreError("the database server can't be reached", next_step="wait a moment")

    with monkeypatch.context() as patch:
        patch.setattr(site.store.sessions, "find", away)
        for address in ("/", "/nothing"):
            page = browser.get(address)
            assert page.status_code == 503
            assert "The database server can&#39;t be reached" in page.text
            assert page.headers["content-security-policy"]
    assert browser.get("/", follow_redirects=True).status_code == 200


def test_forms_of_open_pages_are_valid_after_a_restart(site: Site, folder: Path) -> None:
    assert Site(folder, site.store, ADDRESS).form_secret == site.form_secret


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_a_sentence(
    number: int, signed_in: SignedIn, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = signed_in("ada")

    def full(*_args: object, **_more: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr("engine.web.application.tempfile.TemporaryDirectory", full)
        page = browser.post("/code/softmax/hand-in", data={"way": "typed", "code": "x"})
    assert page.status_code == 503
    assert "disk is full" in page.text and "nothing that was saved before is lost" in page.text
    assert page.headers["content-security-policy"]
    with monkeypatch.context() as patch:
        patch.setattr(site.store.sessions, "of_person", full)
        assert browser.get("/account").status_code == 503
    assert browser.get("/account").status_code == 200


@pytest.mark.parametrize(
    ("person", "path", "main"),
    [("ivy", "/staff/students/ada", "/staff/class"), ("ada", "/code/softmax", "/work")],
)
def test_a_page_beside_its_main_page_marks_that(
    signed_in: SignedIn, person: str, path: str, main: str
) -> None:
    assert f'href="{main}" aria-current="true"' in signed_in(person).get(path).text
