"""Items for staff: the list of the command, previews with keys, findings of lint."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.commands import run
from engine.items.bank import builtin_root
from engine.web.site import Site
from tests.unit.marks.free_text_class import ITEM
from tests.web.conftest import SignedIn
from tests.web.forms_of_pages import send_form
from tests.web.jobs_of_site import result_of


@pytest.fixture
def own_item(site: Site) -> Path:
    """An item of the course, with a fault that lint finds."""
    path = site.folder / "problems" / "why-weights.yaml"
    path.write_text(ITEM.replace('key: "1"', 'key: "1/0"'), encoding="utf-8")
    site._looked = 0.0
    return path


def test_the_list_is_the_one_of_the_command(
    site: Site, signed_in: SignedIn, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run(["list", "--topic", "softmax", "--json", "--course", str(site.folder)]) == 0
    items = [row["item"] for row in json.loads(capsys.readouterr().out)]
    browser = signed_in("ivy")
    text = (
        browser.get("/staff/items?topic=softmax").text + browser.get("/staff/items?topic=softmax&page=2").text
    )
    assert all(f'<span class="soft">{item}</span>' in text for item in items)
    assert "No item matches" in browser.get("/staff/items?find=nothing-like-it").text


def test_a_preview_has_keys(signed_in: SignedIn) -> None:
    browser = signed_in("ivy")
    for item in ("softmax-ratio", "softmax"):
        page = browser.get(f"/staff/items/of/{item}")
        assert page.status_code == 200 and "With keys" in page.text, item
        assert "<script" not in page.text
    assert browser.get("/staff/items/of/nothing").status_code == 404
    assert signed_in("mia").get("/staff/items/of/softmax").status_code == 404


def test_lint_of_the_courses_items(site: Site, own_item: Path, signed_in: SignedIn) -> None:
    browser = signed_in("ivy")
    assert "own: 1 item" in browser.get("/staff/items?course=1").text
    page = result_of(site, browser, send_form(browser, "/staff/items?course=1", "/lint"))
    assert own_item.name in page.text and "1 item checked" in page.text
    assert "0 errors" not in page.text


def test_a_file_that_cant_be_read(site: Site, signed_in: SignedIn) -> None:
    (site.folder / "problems" / "broken.yaml").write_text("id: broken\nstem: [", encoding="utf-8")
    site._looked = 0.0
    text = signed_in("ivy").get("/staff/items").text
    assert "broken.yaml" in text


def test_a_preview_leads_back_and_names_no_folder(site: Site, own_item: Path, signed_in: SignedIn) -> None:
    browser = signed_in("ivy")
    (site.folder / "problems" / "broken.yaml").write_text("id: broken\nstem: [", encoding="utf-8")
    site._looked = 0.0
    for path in ("/staff/items/of/why-weights", "/staff/items/of/softmax-ratio", "/staff/items"):
        text = browser.get(path).text
        assert 'href="/staff/items"' in text and str(site.folder) not in text, path
        assert str(builtin_root()) not in text, path
    assert "problems/why-weights.yaml" in browser.get("/staff/items/of/why-weights").text
    page = result_of(site, browser, send_form(browser, "/staff/items?course=1", "/lint"))
    assert own_item.name in page.text and str(site.folder) not in page.text
