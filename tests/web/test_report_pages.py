"""Reports and exports: each is the file that the command writes."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from engine.commands import run
from engine.web.instructor.staff import progress_page
from engine.web.site import Site
from tests.web.conftest import SignedIn
from tests.web.course_work import QUIZ, draw_quiz, hand_in, hand_in_code
from tests.web.forms_of_pages import form_token
from tests.web.jobs_of_site import result_of

START = "/staff/reports/make"


@pytest.fixture
def browser(site: Site, signed_in: SignedIn) -> TestClient:
    quizzes = draw_quiz(site)
    hand_in(site, quizzes["ada"], right=1)
    hand_in(site, quizzes["bob"], right=2)
    hand_in_code(site, "ada", "def softmax(z):\n    return z / z.sum()\n" * 5, score=10.0)
    hand_in_code(site, "bob", "def softmax(y):\n    return y / y.sum()\n" * 5, score=10.0)
    return signed_in("ivy")


def _made(site: Site, browser: TestClient, **fields: object) -> tuple[str, str]:
    token = form_token(browser, "/staff/reports")
    started = browser.post(START, data={"csrf": token, **fields})
    page = result_of(site, browser, started)
    return page.text, started.headers["location"]


@pytest.mark.parametrize("format_name", ["canvas", "moodle", "csv"])
def test_a_gradebook_is_the_one_of_the_command(
    format_name: str, site: Site, browser: TestClient, tmp_path: Path
) -> None:
    _, place = _made(site, browser, what="gradebook", format=format_name)
    answer = browser.get(f"{place}/gradebook-{format_name}.csv")
    assert answer.headers["content-disposition"].startswith("attachment")
    out = tmp_path / "out.csv"
    assert run(["export", format_name, "--out", str(out), "--course", str(site.folder)]) in (0, 1)
    assert answer.content == out.read_bytes()
    assert [entry.action for _, entry in site.store.audit.newest(1)] == ["export.gradebook"]


def test_a_workbook(site: Site, browser: TestClient) -> None:
    _, place = _made(site, browser, what="gradebook", format="excel")
    content = browser.get(f"{place}/gradebook-excel.xlsx").content
    assert "xl/workbook.xml" in zipfile.ZipFile(io.BytesIO(content)).namelist()


def test_settings_that_dont_fit(site: Site, browser: TestClient) -> None:
    token = form_token(browser, "/staff/reports")
    for fields in (
        {"what": "gradebook", "format": "odt"},
        {"what": "gradebook", "format": "canvas", "scale": "yes"},
        {"what": "other"},
        {"what": "keys"},
        {"what": "pages", "layout": "odd"},
        {"what": "similar", "item": "nothing"},
    ):
        assert browser.post(START, data={"csrf": token, **fields}).status_code == 400, fields


def test_similar_hand_ins(site: Site, browser: TestClient) -> None:
    text, place = _made(site, browser, what="similar", anonymous="yes")
    assert "Open the page" in text
    index = browser.get(f"{place}/index.html")
    assert "This is evidence to read" in index.text and "Ada" not in index.text
    assert "style-src" in index.headers["content-security-policy"]
    pair = next(name for name in site.jobs.newest("report")[0].result.files if name.startswith("pairs/"))
    assert browser.get(f"{place}/{pair}").status_code == 200
    assert browser.get(f"{place}/pairs/nothing.html").status_code == 404


def test_item_analysis(site: Site, browser: TestClient) -> None:
    _, place = _made(site, browser, what="analysis", quiz=QUIZ)
    assert "softmax-ratio" in browser.get(f"{place}/index.html").text
    assert browser.get(f"{place}/items.csv").status_code == 200


def test_pages_and_keys_as_archives(site: Site, browser: TestClient) -> None:
    _, place = _made(site, browser, what="pages", layout="plain")
    names = zipfile.ZipFile(io.BytesIO(browser.get(f"{place}/feedback-plain.zip").content)).namelist()
    assert names == ["ada/feedback.html", "bob/feedback.html"]
    _, place = _made(site, browser, what="keys", quiz=QUIZ)
    names = zipfile.ZipFile(io.BytesIO(browser.get(f"{place}/keys.zip").content)).namelist()
    assert names == [f"01-{QUIZ}-key.html"]


def test_others_get_nothing(site: Site, browser: TestClient, signed_in: SignedIn) -> None:
    _, place = _made(site, browser, what="keys", quiz=QUIZ)
    for who in ("ada", "mia"):
        assert signed_in(who).get(f"{place}/keys.zip").status_code == 404


def test_a_job_that_ends_while_its_progress_is_shown_leads_to_its_result(
    site: Site, browser: TestClient
) -> None:
    _, place = _made(site, browser, what="gradebook", format="csv")
    (job,) = [job for job in site.jobs.all() if job.id in place]
    # It was at work when the view looked, and is done when the page is made.
    visit = SimpleNamespace(
        route="instructor.report", path={"job": job.id}, redirect=lambda route, **path: (route, path)
    )
    assert progress_page(visit, job) == ("instructor.report", {"job": job.id})  # type: ignore[arg-type]
