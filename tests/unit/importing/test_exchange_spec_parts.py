"""Ids, titles, topics, scoring rules and YAML: the parts of a problem file."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice, product

import pytest

from engine.authoring.importing.foreign_question import read_decimal, read_share
from engine.authoring.importing.imported_answers import moodle_score, nearest_policy
from engine.authoring.importing.question_texts import candidates, slug, title_of, topics_of
from engine.authoring.importing.yaml_writer import WrittenNumber, yaml_text
from engine.text.words import percent
from engine.text.yaml import read_yaml


@pytest.mark.parametrize(
    ("name", "item"),
    [
        ("Softmax: why?", "softmax-why"),
        ("Überraschung, Größe α_ij", "uberraschung-grosse-alpha-ij"),
        ("Łódź, O'Brien", "lodz-obrien"),
        ("../../etc/passwd", "etc-passwd"),
        ("C:\\windows\\x", "c-windows-x"),
        ("3 things", "q-3-things"),
        ("con", "con-item"),
        ("Misconceptions", "misconceptions-item"),  # other files of a bank have these names
        ("syllabus", "syllabus-item"),
        ("日本", ""),
        ("\u202e", ""),
        ("word " * 40, "word-" * 10 + "word"),
        ("x" * 200, "x" * 56),
    ],
)
def test_ids(name: str, item: str) -> None:
    assert slug(name) == item


def test_ids_of_one_name_are_numbered() -> None:
    assert list(islice(candidates("a b", 7), 3)) == ["a-b", "a-b-2", "a-b-3"]
    assert list(islice(candidates("", 7), 2)) == ["question-7", "question-7-2"]


@pytest.mark.parametrize(
    ("name", "words", "title"),
    [
        (" A\n name\u202e ", "", "A name"),
        ("", "First words\nof it", "First words of it"),
        ("Q1", "", "Question Q1"),
        ("", "", "Question"),
        ("long " * 60, "", ("long " * 60)[:119].rstrip() + "…"),
    ],
)
def test_titles(name: str, words: str, title: str) -> None:
    assert title_of(name, words) == title


@pytest.mark.parametrize(
    ("category", "tags", "topics"),
    [
        ("$course$/top/Default for X/Attention/Soft//hard", ["Shift"], ["attention", "soft-hard", "shift"]),
        ("", [], ["imported"]),
        ("top", ["a", "A"], ["a"]),
        ("$system$/../..", [], ["imported"]),
    ],
)
def test_topics(category: str, tags: list[str], topics: list[str]) -> None:
    assert topics_of(category, tags) == topics


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("100", 1),
        ("33.33333", Fraction(1, 3)),
        ("-16.66667", Fraction(-1, 6)),
        ("12.5", Fraction(1, 8)),
        ("37", Fraction(37, 100)),
        ("0", 0),
        ("100.1", None),
        ("", None),
        ("33,3", None),
        ("1e999", None),
    ],
)
def test_shares(text: str, share: Fraction | None) -> None:
    assert read_share(text) == share


def test_numbers_and_percentages_as_people_write_them() -> None:
    assert str(read_decimal("\u22122.50")) == "-2.50"
    assert read_decimal("nan") is None
    assert read_decimal("0x1") is None
    assert [percent(Fraction(1, 3)), percent(Fraction(-1, 2))] == ["33.3 %", "-50 %"]


# --- scoring rules: an independent count over all choices ---


def ours(policy: str, right: list[bool], picked: tuple[bool, ...]) -> Fraction:
    hits = sum(p and r for p, r in zip(picked, right, strict=True))
    false = sum(p and not r for p, r in zip(picked, right, strict=True))
    c, n = sum(right), len(right)
    return {
        "exact": Fraction(int(hits == c and not false)),
        "net-correct": max(Fraction(0), Fraction(hits - false, c)),
        "each-answer": Fraction(n - (c - hits) - false, n),
        "coverage": Fraction(hits, c) * Fraction(hits, hits + false),
    }[policy]


SHARES = [
    ["1/2", "1/2", "-1/2", "-1/2"],
    ["1/2", "1/2", "0", "0"],
    ["1/2", "1/2", "-1", "-1"],
    ["1/3", "1/3", "1/3", "-1"],
    ["1/2", "1/4", "1/4", "-1/2", "0"],
    ["1", "0", "0"],
]


@pytest.mark.parametrize("written", SHARES, ids=" ".join)
def test_the_nearest_rule_differs_least(written: list[str]) -> None:
    shares = [Fraction(share) for share in written]
    right = [share > 0 for share in shares]
    choices = [picked for picked in product([False, True], repeat=len(shares)) if any(picked)]

    def theirs(picked: tuple[bool, ...]) -> Fraction:
        return min(
            Fraction(1),
            max(Fraction(0), sum((s for s, p in zip(shares, picked, strict=True) if p), Fraction(0))),
        )

    off = {
        policy: sum(abs(theirs(p) - ours(policy, right, p)) for p in choices)
        for policy in ("net-correct", "exact", "coverage", "each-answer")
    }
    found = nearest_policy(shares)
    assert off[found.policy] == min(off.values())
    assert found.difference == max(abs(theirs(p) - ours(found.policy, right, p)) for p in choices)
    shown = tuple(i in found.picked for i in range(len(shares)))
    assert not found.difference or (found.theirs, found.ours) == (
        theirs(shown),
        ours(found.policy, right, shown),
    )


def test_rules_that_are_the_same_differ_nowhere() -> None:
    found = nearest_policy([Fraction(1, 2), Fraction(1, 2), Fraction(-1, 2)])
    assert (found.policy, found.difference) == ("net-correct", 0)


def test_many_options_take_no_longer() -> None:
    assert nearest_policy([Fraction(1, 13)] * 13 + [Fraction(-1, 13)] * 13).difference == 0


def test_moodle_never_goes_below_nothing_or_beyond_everything() -> None:
    assert moodle_score([Fraction(1), Fraction(1)]) == 1
    assert moodle_score([Fraction(-1)]) == 0


# --- YAML ---


def test_yaml_reads_well() -> None:
    data = {
        "id": "a-b",
        "title": "Why: a title?",
        "topics": ["a", "b c", "no"],
        "points": 2,
        "stem": "one\n\n  two",
        "answer": {
            "type": "number",
            "tolerance": WrittenNumber("0.0010"),
            "flag": False,
            "options": [{"text": "yes", "n": 1}],
        },
    }
    text = yaml_text(data, {"": ["x\ny"], "answer": ["before it"]})
    assert text == (
        "# x y\n"
        "id: a-b\n"
        "title: 'Why: a title?'\n"
        "topics: [a, 'b c', no]\n"
        "points: 2\n"
        "stem: |-\n  one\n\n    two\n"
        "# before it\n"
        "answer:\n"
        "  type: number\n"
        "  tolerance: 0.0010\n"
        "  flag: false\n"
        "  options:\n"
        "    - text: yes\n"
        "      n: 1\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "true",
        "~",
        "1e3",
        "0x1",
        "- a",
        "a: b",
        "a #b",
        "'",
        '"',
        "!!python/object:x",
        "&a",
        "*a",
        "{a}",
        "[a",
        "|",
        ">",
        "%YAML",
        "---",
        "...",
        "@a",
        "`a",
        "? a",
        "a:",
        " a",
        "# a",
        "<<",
        "=",
        "12:30",
        "\\tanh",
        "ä: ö",
    ],
)
def test_no_text_becomes_anything_else(text: str) -> None:
    data = {"a": text, "b": [text, f"{text}\n{text}"], "c": {"d": f"{text}\n\n{text}"}}
    assert read_yaml(yaml_text(data, {"b": [f"{text}\nid: x"]}), "x").data == data
