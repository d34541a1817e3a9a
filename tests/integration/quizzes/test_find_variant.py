"""``grade find-variant``: whose variant it is, from numbers, a quotation or a file; never a key."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.answers import right_response

COURSE = ("--course", "course")


@pytest.fixture
def drawn(classroom, grade):
    roster = "id,name\n" + "".join(f"s{n:02d},Student {n}\n" for n in range(40))
    (classroom.folder / "roster.csv").write_text(roster, encoding="utf-8")
    classroom.plan("title: Week\nattempts: 3\nretry: new-variant\nsections:\n  - items: [t-sum, t-pick]\n")
    assert grade("quiz", "new", "week", *COURSE).code == 0
    return classroom


def test_a_quotation_in_a_file(drawn, grade) -> None:
    variant = drawn.variants("s07", 1)[0]
    Path("posted.txt").write_text(f"help!!\n{variant.stem.plain}\nthanks", encoding="utf-8")
    said = grade("find-variant", "--file", "posted.txt", "--json", *COURSE)
    assert said.code == 0
    best = said.json()["matches"][0]
    assert best["owners"] == [{"student": "s07", "quiz": "week", "question": 1, "attempt": 1}]
    assert best["certainty"] > 0.9
    plain = grade("find-variant", "--file", "posted.txt", *COURSE)
    assert "Student 7" in plain.out
    key = right_response(variant.parts[0])
    assert key not in variant.stem.plain and f" {key} " not in plain.out and f'"{key}"' not in said.out


def test_a_variant_of_a_later_attempt(drawn, grade, typing) -> None:
    typing("-1", drawn.key("s11", 2), "", "1", "", "")
    grade("quiz", "take", drawn.file("s11"))
    _, second = drawn.variants("s11", 1)
    said = grade("find-variant", *second.stem.plain.split(), "--json", *COURSE)
    owner = said.json()["matches"][0]["owners"][0]
    assert (owner["student"], owner["question"], owner["attempt"]) == ("s11", 1, 2)


def test_what_fits_nobody(drawn, grade) -> None:
    said = grade("find-variant", "-123.456", "nothing", "of", "ours", *COURSE)
    assert said.code == 1 and "matches" in said.out


@pytest.mark.parametrize(
    "arguments", [(), ("1", "--file", "x.txt"), ("--file", "missing.txt"), ("1", "--quiz", "other")]
)
def test_what_cannot_be_looked_for(drawn, grade, arguments: tuple[str, ...]) -> None:
    said = grade("find-variant", *arguments, *COURSE)
    assert said.code == 2 and "Traceback" not in said.err
