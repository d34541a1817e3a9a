"""The page: valid, without script and style attributes, the same every time, whatever names do."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from dataclasses import replace
from html import unescape
from pathlib import Path

import html5lib
import pytest

from engine.analysis.class_report import ItemReport
from engine.analysis.item_figures import THRESHOLDS
from engine.analysis.plots import draw
from engine.analysis.report_page import report_page, write_report
from engine.analysis.report_tables import as_json
from engine.course import StudentLabels
from engine.errors import StoreError
from engine.store import Store, open_store
from tests.unit.analysis.classes import choice, hand_in
from tests.unit.analysis.hostile import HOSTILE, fill, made

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    opened = open_store(tmp_path_factory.mktemp("page") / "store.db")
    fill(opened, 220)
    return opened


@pytest.fixture(scope="module")
def report(store: Store) -> ItemReport:
    return made(store)


@pytest.fixture(scope="module")
def page(report: ItemReport) -> str:
    return report_page(report, StudentLabels({}))


def test_it_is_valid_and_nothing_gets_out_of_its_place(page: str) -> None:
    html5lib.HTMLParser(strict=True).parse(page)
    assert "<script" not in page and "\x1b" not in page and "\u202e" not in page
    assert "{{ 7*7 }}" in page and "$x_1$" in page
    assert 'style="' not in page and "onerror=" not in page
    assert page.count("<style") == 1
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', unescape(page))
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert not re.findall(r"(?:src|href)=\"(?!#|[a-z]+\.(?:csv|json)\")", page)


def test_ids_stand_once_and_every_reference_leads_somewhere(page: str) -> None:
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    used = re.findall(r'href="#([^"]+)"', page) + re.findall(r"url\(#([^)]+)\)", page)
    assert set(used) <= set(ids)
    labels = re.findall(r'aria-labelledby="([^"]+)"', page)
    assert {label for named in labels for label in named.split()} <= set(ids)


def test_every_figure_has_its_words_and_the_colours_of_the_page(report: ItemReport, page: str) -> None:
    figures = re.findall(r"<svg [^>]*>", page)
    # each test: scores, map; the quiz: information, 6 curves, 5 families
    assert len(figures) == 2 * 2 + 1 + 6 + 5
    assert all(
        re.search(r'role="img"', figure) and re.search(r'aria-label="[^"]{20,}"', figure)
        for figure in figures
    )
    drawn = "".join(re.findall(r"<svg .*?</svg>", page, re.DOTALL))
    assert set(re.findall(r'"(#[0-9a-f]{6})"', drawn)) == set()
    assert "var(--link)" in drawn and "DejaVu" not in drawn
    assert "Scores of 220 students, mean" in page


def test_it_is_the_same_every_time(store: Store, page: str) -> None:
    assert report_page(made(store), StudentLabels({})) == page


def test_names_can_be_hidden(report: ItemReport, tmp_path: Path) -> None:
    names = {f"{HOSTILE}0": "Ada"}
    write_report(tmp_path / "open", report, StudentLabels(names), with_abilities=True)
    write_report(tmp_path / "hidden", report, StudentLabels(names, is_hidden=True), with_abilities=True)
    for name in ("index.html", "misconceptions.csv", "report.json", "abilities.csv"):
        assert "Ada" in (tmp_path / "open" / name).read_text("utf-8")
        hidden = (tmp_path / "hidden" / name).read_text("utf-8")
        assert "Ada" not in hidden and "Student 1" in hidden
        assert not re.search(r"7\*7 }}\$x_1\$\d", hidden)


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"), newline="")))


def test_tables_hold_what_the_report_holds(report: ItemReport, tmp_path: Path) -> None:
    written = write_report(tmp_path, report, StudentLabels({}))
    assert [path.name for path in written] == [
        "index.html",
        "items.csv",
        "distractors.csv",
        "misconceptions.csv",
        "checks.csv",
        "report.json",
    ]
    items = rows(tmp_path / "items.csv")
    assert [row["item"] for row in items] == [*(f"item-{n}" for n in range(5)), "steps", "softmax"]
    assert all(row["students"] == "220" for row in items)
    options = [row for row in rows(tmp_path / "distractors.csv") if row["item"] == "item-0"]
    assert [row["is_key"] for row in options] == ["yes", "no", "no", "no"]
    assert sum(int(row["chosen"]) for row in options) == 220
    for row in options:
        thirds = [int(row[name]) for name in ("lowest_third", "middle_third", "highest_third")]
        assert sum(thirds) == int(row["chosen"])
    held = rows(tmp_path / "misconceptions.csv")
    assert len(held) == len(report.mistakes[0].holders)
    assert [row["check"] for row in rows(tmp_path / "checks.csv")] == ["values", "loads"]
    document = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert document["without_figures"] == {"code/sdpa": {"ungraded": 1, "unreadable": 0, "blank_quiz": 0}}


def test_no_cell_begins_a_formula(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        one = choice("=item", "=key", {"@wrong": "m-one"})
        hand_in(store, "=HYPERLINK(1)", "+week", [(one, {"answer": "@wrong"})])
        write_report(tmp_path, made(store), StudentLabels({"=HYPERLINK(1)": "-name"}))
    for path in tmp_path.glob("*.csv"):
        for row in csv.reader(io.StringIO(path.read_text("utf-8"), newline="")):
            assert all(cell[:1] not in tuple("=+@") and not re.match(r"-[^\d]", cell) for cell in row)
    assert "'=HYPERLINK(1)" in (tmp_path / "misconceptions.csv").read_text("utf-8")


def test_a_folder_that_cannot_be_written(report: ItemReport, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="can't be written"):
        write_report(tmp_path / "file" / "out", report, StudentLabels({}))


@pytest.mark.parametrize("lacking", [("scipy",), ("matplotlib",), ("scipy", "matplotlib")])
def test_without_a_package_everything_else_is_there(
    lacking: tuple[str, ...], store: Store, report: ItemReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in lacking:
        for module in [one for one in sys.modules if one.split(".")[0] == name]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.setitem(sys.modules, name, None)
    less = made(store)
    page = report_page(less, StudentLabels({}))
    assert less.lacking == lacking
    assert 'pip install "softmark[stats]"' in unescape(page)
    assert ("<svg" in page) == ("matplotlib" not in lacking)
    assert ("Observed and expected by total score" in page) == ("scipy" not in lacking)
    whole, own = report.tests[0], less.tests[0]
    assert [item.statistics for item in own.items] == [item.statistics for item in whole.items]
    assert [item.options for item in own.items] == [item.options for item in whole.items]
    assert own.reliability.alpha == whole.reliability.alpha
    assert less.mistakes == report.mistakes
    if "scipy" in lacking:
        assert own.reliability.interval is None
        models = as_json(less, StudentLabels({}))["tests"][0]["models"]
        assert models["2pl"] == {"reason": "it needs scipy", "students": 220, "left_out": {}}


def test_ids_of_a_drawing_carry_its_name() -> None:
    drawn = draw("n1", "Two points & a line.", lambda axes: axes.plot([0, 1], [0, 1], "o-"))
    ids = re.findall(r' id="([^"]+)"', drawn)
    assert ids and all(own.startswith("n1-") for own in ids)
    assert 'aria-label="Two points &amp; a line."' in drawn


def test_the_page_in_docs_tells_every_flag() -> None:
    docs = (Path(__file__).parents[3] / "docs" / "item-analysis.md").read_text("utf-8")
    told = docs.split("### Flags")[1].split("### Files")[0]
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", told, re.MULTILINE)
    assert dict(rows[1:]) == THRESHOLDS


def test_items_that_hardly_anybody_had_do_not_fill_the_page(report: ItemReport) -> None:
    test = report.tests[0]
    first, *others = test.items
    rare = replace(first, statistics=replace(first.statistics, students=1))
    changed = replace(report, tests=(replace(test, items=(rare, *others)), *report.tests[1:]))
    page = report_page(changed, StudentLabels({}))
    html5lib.HTMLParser(strict=True).parse(page)
    assert "1 more that fewer than 5 students had" in page
    assert 'id="item-1-1"' not in page and 'id="item-1-2"' in page, "numbers stay those of the quiz"
