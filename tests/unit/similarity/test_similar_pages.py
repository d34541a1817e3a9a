"""Pages, CSV and JSON: valid, escaped, without script, and without names where they are hidden."""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape
from pathlib import Path

import html5lib
import pytest

from engine.errors import StoreError
from engine.hand_ins import IntakeProblem
from engine.similarity.answers import AnswerComparison, ClassmateMatch, MatchedAnswer
from engine.similarity.findings import SimilarityFindings, find, odds
from engine.similarity.gather import CollectedFiles, ComparedFile, FileLabels
from engine.similarity.page import answers_csv, as_json, pairs_csv, write_similarity_pages
from tests.unit.similarity.measure import solutions, starter

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e'\"&{{ 7*7 }}"


def findings(names: tuple[str, ...] = ("ada", "bob", "eve")) -> SimilarityFindings:
    sources = list(solutions("sdpa").values())
    collected = CollectedFiles()
    for i, source in enumerate(sources):
        collected.add("sdpa", ComparedFile(f"s{i}", source, f"s{i}/sdpa.py"))
    for name in names:
        collected.add("sdpa", ComparedFile(name, f"# by {HOSTILE}\n{sources[3]}", f"{name}/{HOSTILE}.py"))
    collected.add("softmax", ComparedFile("ada", "x = 1"))
    collected.problems.append(IntakeProblem(f"{HOSTILE}.py", f"this can be {names[0]} or {names[1]}"))
    found = find(collected, handouts=lambda item: [starter(item)])
    answer = MatchedAnswer("sum", "answer", "A sum", HOSTILE, "=1+1", 1e-4, 2)
    copied_answers = AnswerComparison(12, 90, (ClassmateMatch("ada", "s1", (answer,), 1e-4, 0.009),), 3)
    return SimilarityFindings(found.exercises, copied_answers, found.problems)


@pytest.fixture(scope="module")
def found() -> SimilarityFindings:
    return findings()


def pages(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_text("utf-8") for p in sorted(folder.rglob("*.html"))}


def test_every_page_is_valid_has_no_script_and_shows_what_was_found(
    found: SimilarityFindings, tmp_path: Path
) -> None:
    index = write_similarity_pages(tmp_path, found, FileLabels({"ada": f"Ada {HOSTILE}"}), title=HOSTILE)
    shown = pages(tmp_path)
    assert index == tmp_path / "index.html"
    assert "pairs/01-structure-001.html" in shown
    for page in shown.values():
        html5lib.HTMLParser(strict=True).parse(page)
        assert "<script" not in page and "\x1b" not in page and "\u202e" not in page
        assert "{{ 7*7 }}" in page or "49" not in re.findall(r"<h1>.*</h1>", page)[0]
        assert 'style="' not in page and "onerror=" not in page
        assert "not a verdict" in page
        (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', unescape(page))
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        ids = re.findall(r' id="([^"]+)"', page)
        assert len(ids) == len(set(ids))
        assert set(re.findall(r'href="#([^"]+)"', page)) <= {*ids}
    for link in re.findall(r'href="(pairs/[^"]+)"', shown["index.html"]):
        assert link in shown
    assert "stands out" in shown["index.html"]
    assert "1 in 10,000" in shown["index.html"] and "2 classmates have this key" in shown["index.html"]


def test_marked_lines_have_a_number_and_a_link_to_the_other_side(
    found: SimilarityFindings, tmp_path: Path
) -> None:
    write_similarity_pages(tmp_path, found, FileLabels(), title="Course")
    page = (tmp_path / "pairs/01-structure-001.html").read_text("utf-8")
    numbers = re.findall(
        r'<a id="a(\d+)" href="#b\1" aria-label="passage \1: go to it in the other file">\1</a>', page
    )
    assert numbers and numbers == re.findall(r'<a id="b(\d+)" href="#a\1"', page)


def test_hidden_names_are_nowhere_but_in_the_files(found: SimilarityFindings, tmp_path: Path) -> None:
    people = ("astrid-x", "bertil-x", "cecilia-x")
    hidden = findings(people)
    labels = FileLabels({name: f"Name of {name}" for name in people}, is_hidden=True)
    write_similarity_pages(tmp_path, hidden, labels, title="Course")
    texts = [p.read_text("utf-8") for p in tmp_path.rglob("*") if p.is_file()]
    texts += [p.name for p in tmp_path.rglob("*")] + [json.dumps(as_json(hidden, labels))]
    for text in texts:
        assert not any(name in text for name in people)
    assert any("Student 1 and Student 2" in re.sub(r"</?bdi>", "", text) for text in texts)


def test_pages_of_pairs_that_are_not_listed_any_more_are_removed(
    found: SimilarityFindings, tmp_path: Path
) -> None:
    write_similarity_pages(tmp_path, found, FileLabels(), title="Course")
    own = tmp_path / "pairs" / "notes.html"
    own.write_text("mine")
    before = len(pages(tmp_path))
    write_similarity_pages(tmp_path, SimilarityFindings(found.exercises[1:]), FileLabels(), title="Course")
    assert before > 3 and set(pages(tmp_path)) == {"index.html", "pairs/notes.html"}
    assert "There is no code" not in pages(tmp_path)["index.html"]
    write_similarity_pages(tmp_path, SimilarityFindings(()), FileLabels(), title="Course")
    assert "There is no code to compare" in pages(tmp_path)["index.html"]


def test_a_folder_that_cannot_be_written_is_told(found: SimilarityFindings, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(StoreError, match="the report can't be written"):
        write_similarity_pages(tmp_path / "taken", found, FileLabels(), title="Course")


def test_csv_holds_one_line_a_pair_and_no_formula(found: SimilarityFindings) -> None:
    rows = list(csv.DictReader(io.StringIO(pairs_csv(findings(("=ada", "+bob")).exercises, FileLabels()))))
    assert rows[0]["item"] == "sdpa" and rows[0]["list"] == "structure"
    assert {rows[0]["first"], rows[0]["second"]} <= {"'=ada", "'+bob", "s3"}
    assert (rows[0]["of_first"], rows[0]["of_second"], rows[0]["stands_out"]) == ("1.0", "1.0", "yes")
    (answer,) = csv.DictReader(io.StringIO(answers_csv(found, FileLabels())))
    assert (answer["answered_by"], answer["key_of"], answer["key"]) == ("ada", "s1", "'=1+1")
    assert "\x1b" not in answer["answer"] and float(answer["expected"]) == 0.009
    assert answers_csv(SimilarityFindings(()), FileLabels()).count("\n") == 1


def test_json_says_what_it_is_and_what_is_usual(found: SimilarityFindings) -> None:
    document = json.loads(json.dumps(as_json(found, FileLabels())))
    assert "not a verdict" in document["note"]
    sdpa, softmax = document["exercises"]
    assert (sdpa["item"], sdpa["students"], softmax["pairs"]) == ("sdpa", 15, [])
    assert sdpa["independent"]["highest"] == 0.4
    first = sdpa["pairs"][0]
    assert first["of_first"] == first["of_second"] == 1.0 and first["stands_out"]
    assert first["passages"][0]["tokens"] == first["longest"] or len(first["passages"]) > 1
    assert sdpa["groups"] == [["ada", "bob", "eve", "s3"]]
    assert document["answers"]["pairs"][0]["answers"][0]["chance"] == 1e-4


def test_labels() -> None:
    labels = FileLabels({"ada": "Ada Lovelace", "bob": "bob"})
    assert labels.of(ComparedFile("ada", "")) == "Ada Lovelace (ada)"
    assert labels.of(ComparedFile("ada", "", is_earlier=True)) == "ada (earlier)"
    assert labels.student("bob") == "bob"
    hidden = FileLabels({}, is_hidden=True)
    assert [hidden.student(who) for who in ("zoe", "ada", "zoe")] == ["Student 1", "Student 2", "Student 1"]
    assert hidden.of(ComparedFile("zoe", "", is_earlier=True)) == "Student 3 (earlier)"
    assert hidden.filename(ComparedFile("zoe", "", "zoe.py")) == ""


@pytest.mark.parametrize(
    ("chance", "text"),
    [(0.001, "1 in 1,000"), (1e-6, "1 in 1,000,000"), (0.75, "75 %"), (1.0, "100 %"), (0.0, "0 %")],
)
def test_odds(chance: float, text: str) -> None:
    assert odds(chance) == text
