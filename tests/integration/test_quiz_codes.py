"""``grade quiz codes``: slips of paper that sign students in."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest


@pytest.fixture
def exam(grade) -> Path:
    assert grade("init", "dl").code == 0
    Path("dl/roster.csv").write_text("id,name\n007,Emmy Nöther\n7,Bob\nlate,Late\n", encoding="utf-8")
    assert grade("quiz", "new", "l16", "--course", "dl", "--student", "007", "--student", "7").code == 0
    return Path("dl")


def test_slips_to_print(grade, exam: Path) -> None:
    (exam / "web.yaml").write_text("address: https://marks.example.edu\n", encoding="utf-8")
    said = grade(
        *("quiz", "codes", "l16", "--course", "dl", "--from", "2126-12-03 10:00"),
        *("--until", "2126-12-03 12:00"),
    )
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("2 codes for l16 in l16-codes.html (mode 0600")
    path = Path("l16-codes.html")
    page = path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o777 == 0o600
    assert "Emmy Nöther" in page and "https://marks.example.edu/sign-in" in page and "Late" not in page
    assert "2126-12-03 10:00 to 12:00" in page
    assert len(re.findall(r'class="code">[A-Z0-9]{3}-[A-Z0-9]{3}-[A-Z0-9]{3}<', page)) == 2
    again = grade("quiz", "codes", "l16", "--course", "dl")
    assert again.code == 2 and "a file of that name exists" in again.err


def test_codes_for_another_program(grade, exam: Path) -> None:
    said = grade("quiz", "codes", "l16", "--course", "dl", "--student", "7", "--json").json()
    assert [entry["student"] for entry in said["codes"]] == ["7"]
    assert datetime.fromisoformat(said["until"]) - datetime.fromisoformat(said["from"]) == timedelta(hours=4)
    gone = grade("quiz", "codes", "l16", "--course", "dl", "--withdraw")
    assert gone.out == "1 unused code withdrawn\n"


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("nothing",), "quiz 'nothing' was not drawn"),
        (("l16", "--student", "late"), "no code can be made for late"),
        (("l16", "--from", "tomorrow"), "--from isn't a time"),
        (("l16", "--until", "2020-01-01 10:00"), "the codes would end before they begin"),
        (("l16", "--from", "2126-01-01 10:00", "--until", "2126-01-01 10:00"), "end before they begin"),
    ],
)
def test_what_the_command_refuses(grade, exam: Path, words: tuple[str, ...], what: str) -> None:
    said = grade("quiz", "codes", *words, "--course", "dl")
    assert said.code == 2 and what in said.err
    assert not list(Path().glob("*.html"))
